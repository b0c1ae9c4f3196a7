"""What replay needs to know of a plan: how it takes part in order, and which bytes it writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simulator.enums import PipeID
from simulator.isa.results import ResultPlan
from simulator.memory import DataCache, GlobalAddress
from simulator.sanitizer.ranges import is_dense, span, touched_bytes
from simulator.stalls import CROSS, MUTEX

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from simulator.instruction import Access, Plan
    from simulator.memory import Bytes

    Where = slice | NDArray[np.int64]

OPERATION: Final = 0
SET: Final = 1
WAIT: Final = 2
BARRIER: Final = 3
CROSS_SET: Final = 4
CROSS_WAIT: Final = 5
LOCK: Final = 6
UNLOCK: Final = 7
POLL: Final = 8

_FLAG_KINDS: Final = {"set": SET, "wait": WAIT}
_CROSS_KINDS: Final = {"cross set": CROSS_SET, "cross wait": CROSS_WAIT}
_MUTEX_KINDS: Final = {"lock": LOCK, "unlock": UNLOCK}
_OTHER_KINDS: Final = {"barrier": BARRIER, "poll": POLL}

S: Final = int(PipeID.PIPE_S)
_ALL: Final = PipeID.PIPE_ALL.name


class Spot(NamedTuple):
    """Bytes that one operand writes: positions in UB, or behind a pointer into global memory."""

    is_global: bool
    where: Where


class Write(NamedTuple):
    """Bytes that an instruction has computed and that are not visible yet."""

    memory: Bytes
    where: Where
    new: Bytes


class Step:
    """A plan as replay sees it.

    Attributes
    ----------
    kind : int
        OPERATION, or what it does to the order of others.
    waits_for_all : bool
        A barrier of all pipes.
    spots : list of Spot
        Bytes that it writes.
    uses_register : bool
        It reads or writes the compare mask, which hardware keeps in the order of the program.
    is_scalar_global : bool
        Scalar access to global memory or to the data cache.
    scalar : (int, int) or None
        UB bytes that the scalar unit reads.
    """

    __slots__ = (
        "event", "flag", "is_scalar_global", "kind", "pipe", "plan", "result", "run", "scalar",
        "spots", "touches_global", "uses_register", "waits_for_all",
    )  # fmt: skip

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.run = plan.run
        self.pipe = plan.pipe
        self.flag = plan.flag
        self.event = plan.event
        self.kind = _kind(plan)
        self.waits_for_all = self.kind == BARRIER and plan.details["pipe"] == _ALL
        self.spots: list[Spot] = []
        self.scalar: tuple[int, int] | None = None
        self.touches_global = any(op.space == "GM" and op.accesses for op in plan.operands)
        self.uses_register = any(op.space == "CMPMASK" for op in plan.operands)
        self.result = plan.result if isinstance(plan, ResultPlan) else None
        self.is_scalar_global = plan.pipe == S and (
            self.touches_global or plan.spec.family == "cache"
        )
        if self.kind != OPERATION:
            return
        for op in plan.operands:
            if op.role != "read" and op.accesses and op.space in ("UB", "GM"):
                self.spots.append(Spot(op.space == "GM", _where(op.accesses)))
        if plan.spec.name == "LocalTensor.GetValue":
            self.scalar = plan.operands[0].accesses[0].span()

    @property
    def is_special(self) -> bool:
        """Whether executing it takes more than ``run(*params)``."""
        return (
            self.kind in (CROSS_SET, CROSS_WAIT, POLL)
            or self.is_scalar_global
            or self.scalar is not None
            or self.result is not None
        )


def _kind(plan: Plan) -> int:
    if plan.event == CROSS:
        return _CROSS_KINDS[plan.form]
    if plan.event == MUTEX:
        return _MUTEX_KINDS[plan.form]
    if plan.event >= 0:
        return _FLAG_KINDS[plan.form]
    return _OTHER_KINDS.get(plan.form, OPERATION)


def _where(accesses: tuple[Access, ...]) -> Where:
    if is_dense(accesses):
        low, high = span(accesses)
        return slice(low, high)
    return touched_bytes(accesses)


class Steps:
    """The steps of plans, made when they are first asked for."""

    def __init__(self) -> None:
        self._known: dict[Plan, Step] = {}

    def __getitem__(self, plan: Plan) -> Step:
        step = self._known.get(plan)
        if step is None:
            step = self._known[plan] = Step(plan)
        return step

    def of(self, plans: Sequence[Plan]) -> list[Step]:
        """Return the step of each plan."""
        known = self._known
        for plan in dict.fromkeys(plans):
            if plan not in known:
                known[plan] = Step(plan)
        return [known[plan] for plan in plans]


def pointer_of(params: tuple[Any, ...]) -> GlobalAddress | None:
    """Return the address in global memory that a recorded call works from."""
    for param in params:
        if param.__class__ is GlobalAddress:
            found: GlobalAddress = param
            return found
    return None


def run_hidden(step: Step, params: tuple[Any, ...], ub: Bytes) -> list[Write]:
    """Execute a step, take what it wrote away again and return it."""
    targets: list[tuple[Bytes, Where]] = []
    for spot in step.spots:
        if not spot.is_global:
            targets.append((ub, spot.where))
            continue
        pointer = pointer_of(params)
        if pointer is not None:
            targets.append((pointer.allocation.data, _moved(spot.where, pointer.offset)))
    old = [memory[where].copy() for memory, where in targets]
    step.run(*params)
    writes = [Write(memory, where, memory[where].copy()) for memory, where in targets]
    for (memory, where), before in zip(targets, old, strict=True):
        memory[where] = before
    return writes


def _moved(where: Where, offset: int) -> Where:
    if isinstance(where, slice):
        return slice(where.start + offset, where.stop + offset)
    return where + offset


def with_cache(params: tuple[Any, ...], cache: DataCache) -> tuple[Any, ...]:
    """Return the parameters of a call with the data cache of the replayed block."""
    return tuple(cache if p.__class__ is DataCache else p for p in params)
