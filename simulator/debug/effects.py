"""Which bytes an instruction reads and writes, as places that can be copied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simulator.instruction import READ, WRITE
from simulator.memory import GlobalAddress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.instruction import Access, Plan

    Where = slice | NDArray[np.int64]


class Touch(NamedTuple):
    """Bytes of one operand: in UB, or relative to the pointer of the call in global memory."""

    is_global: bool
    reads: bool
    writes: bool
    low: int
    high: int
    accesses: tuple[Access, ...]

    @property
    def where(self) -> Where:
        """The bytes as a slice if they are one run, and else one by one."""
        places = np.unique(touched(self.accesses))
        if len(places) == self.high - self.low:
            return slice(self.low, self.high)
        return places

    def meets(self, low: int, high: int, offset: int = 0) -> bool:
        """Whether a byte of ``low..high`` is among them; ``offset`` is where the pointer points."""
        if self.low + offset >= high or self.high + offset <= low:
            return False
        for access in self.accesses:
            starts = access.run_starts() + offset
            if bool(np.any((starts < high) & (starts + access.inner > low))):
                return True
        return False


def touched(accesses: tuple[Access, ...]) -> NDArray[np.int64]:
    """Return the address of every byte of some accesses."""
    parts = [
        (a.run_starts()[:, None] + np.arange(a.inner, dtype=np.int64)).reshape(-1)
        for a in accesses
        if a.inner
    ]
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


class Touches:
    """The touches of plans, worked out when they are first asked for."""

    def __init__(self) -> None:
        self._known: dict[Plan, tuple[Touch, ...]] = {}
        self._written: dict[Plan, tuple[tuple[bool, Where], ...]] = {}

    def of(self, plan: Plan) -> tuple[Touch, ...]:
        """Return one touch per operand with bytes in UB or global memory."""
        known = self._known.get(plan)
        if known is None:
            known = self._known[plan] = tuple(_touches(plan))
        return known

    def written(self, plan: Plan) -> tuple[tuple[bool, Where], ...]:
        """Return (is in global memory, where) for every operand that is written."""
        known = self._written.get(plan)
        if known is None:
            known = tuple((t.is_global, t.where) for t in self.of(plan) if t.writes)
            self._written[plan] = known
        return known


def _touches(plan: Plan) -> list[Touch]:
    found = []
    for op in plan.operands:
        if op.space not in ("UB", "GM"):
            continue
        spans = [a.span() for a in op.accesses]
        spans = [s for s in spans if s[0] < s[1]]
        if spans:
            found.append(
                Touch(
                    op.space == "GM", op.role != WRITE, op.role != READ,
                    min(s[0] for s in spans), max(s[1] for s in spans), op.accesses,
                )
            )  # fmt: skip
    return found


def pointer_of(params: tuple[Any, ...]) -> GlobalAddress | None:
    """Return the address in global memory that a recorded call works from."""
    for param in params:
        if param.__class__ is GlobalAddress:
            found: GlobalAddress = param
            return found
    return None


def moved(where: Where, offset: int) -> Where:
    """Return the same bytes ``offset`` further on."""
    if isinstance(where, slice):
        return slice(where.start + offset, where.stop + offset)
    return where + offset
