"""Byte ranges of operands, interned once for all instruction streams of a run.

Two ranges overlap when they share at least one byte; strided and masked accesses are compared byte
by byte. Which ranges of one stream do is the business of ``regions``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from simulator.instruction import Access

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from simulator.instruction import Operand, Plan

    Accesses = tuple[Access, ...]

_WORK_TENSORS: Final = frozenset({"sharedTmpBuffer"})


class Touch:
    """One operand of a plan as the checks see it: an interned range and how it is used."""

    __slots__ = ("operand", "reads", "rid", "writes")

    def __init__(self, operand: Operand, rid: int) -> None:
        self.operand = operand
        self.rid = rid
        # A call writes its work tensor before it reads it.
        self.reads = operand.role != "write" and operand.name not in _WORK_TENSORS
        self.writes = operand.role != "read"


class Ranges:
    """Interned byte ranges of the unified buffer and, where they matter, of global memory.

    Attributes
    ----------
    accesses : list of tuple of Access
        Access pattern of each range id.
    spans : list of (int, int)
        Lowest byte of each range and one past its highest.
    dense : list of bool
        Whether a range is one unbroken run of bytes.
    spaces : list of int
        Number of the address space of each range; ranges of different ones share nothing.
    """

    def __init__(self) -> None:
        self.accesses: list[Accesses] = []
        self.spans: list[tuple[int, int]] = []
        self.dense: list[bool] = []
        self.spaces: list[int] = []
        self._ids: dict[tuple[Hashable, Accesses], int] = {}
        self._space_ids: dict[Hashable, int] = {}
        self._touches: dict[Plan, list[Touch]] = {}
        self._shared: dict[tuple[int, int], bool] = {}

    def touches(self, plan: Plan) -> list[Touch]:
        """Return the UB operands of ``plan`` with their range ids; empty operands are left out."""
        found = self._touches.get(plan)
        if found is None:
            found = self._touches[plan] = [
                Touch(op, self.intern(op.accesses))
                for op in plan.operands
                if op.space == "UB" and _is_some(op.accesses)
            ]
        return found

    def intern(self, accesses: Accesses, space: Hashable = "UB") -> int:
        """Return the id of an access pattern in an address space.

        However an unbroken run is described, it has one id.
        """
        known = self._ids.get((space, accesses))
        if known is not None:
            return known
        given = accesses
        low, high = span(accesses)
        dense = is_dense(accesses)
        if dense:
            accesses = (Access(low, high - low),)
        rid = self._ids.get((space, accesses))
        if rid is None:
            rid = self._ids[space, accesses] = len(self.accesses)
            self.accesses.append(accesses)
            self.spans.append((low, high))
            self.dense.append(dense)
            self.spaces.append(self._space_ids.setdefault(space, len(self._space_ids)))
        self._ids[space, given] = rid
        return rid

    def overlap(self, one: int, other: int) -> bool:
        """Whether two ranges share a byte."""
        if self.spaces[one] != self.spaces[other]:
            return False
        (a, b), (c, d) = self.spans[one], self.spans[other]
        if (a if a > c else c) >= (b if b < d else d):
            return False
        if self.dense[one] and self.dense[other]:
            return True
        key = (one, other) if one < other else (other, one)
        known = self._shared.get(key)
        if known is None:
            known = self._shared[key] = share_bytes(self.accesses[one], self.accesses[other])
        return known


def _is_some(accesses: Accesses) -> bool:
    low, high = span(accesses)
    return low < high


def span(accesses: Accesses) -> tuple[int, int]:
    """Return the lowest byte and one past the highest of an access pattern."""
    spans = [s for s in (a.span() for a in accesses) if s[0] < s[1]]
    if not spans:
        return 0, 0
    return min(s[0] for s in spans), max(s[1] for s in spans)


def is_dense(accesses: Accesses) -> bool:
    """Whether the pattern is one unbroken run of bytes."""
    if len(accesses) != 1 or accesses[0].lanes is not None:
        return False
    size = accesses[0].inner
    for count, stride in reversed(accesses[0].dims):
        if count > 1 and stride != size:
            return False
        size *= count
    return True


def common(left: Accesses, right: Accesses) -> tuple[int, int]:
    """Return the hull of the bytes that two patterns share; ``(0, 0)`` when they share none."""
    (a, b), (c, d) = span(left), span(right)
    low, high = max(a, c), min(b, d)
    if low >= high:
        return 0, 0
    if is_dense(left) and is_dense(right):
        return low, high
    parts = [part for one in left for other in right if (part := _shared(one, other))]
    return (min(p[0] for p in parts), max(p[1] for p in parts)) if parts else (0, 0)


def share_bytes(left: Accesses, right: Accesses) -> bool:
    """Whether two access patterns have a byte in common."""
    low, high = common(left, right)
    return low < high


def _shared(one: Access, other: Access) -> tuple[int, int] | None:
    """Return the hull of the bytes that the runs of two accesses share."""
    if not one.inner or not other.inner:
        return None
    runs, against = np.sort(one.run_starts()), np.sort(other.run_starts())
    # Runs of one access are equally long, so those that meet a run of the other are neighbours.
    first = np.searchsorted(runs, against - one.inner, side="right")
    behind = np.searchsorted(runs, against + other.inner, side="left")
    met = np.flatnonzero(first < behind)
    if not len(met):
        return None
    begin, end = met[0], met[-1]
    return (
        int(max(runs[first[begin]], against[begin])),
        int(min(runs[behind[end] - 1] + one.inner, against[end] + other.inner)),
    )


def touched_bytes(accesses: Accesses) -> NDArray[np.int64]:
    """Return the byte addresses of an access pattern in the order of its lanes."""
    parts = [
        (a.run_starts()[:, None] + np.arange(a.inner, dtype=np.int64)).reshape(-1)
        for a in accesses
        if a.inner
    ]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def fillers_of(plan: Plan) -> list[tuple[str, Accesses]]:
    """Return kind and bytes of what a copy fills up with.

    A plan of a saved run holds plain lists.
    """
    found: list[tuple[str, Accesses]] = []
    for kind, (start, inner, dims, lanes) in plan.details.get("filler", ()):
        steps = tuple((int(count), int(stride)) for count, stride in dims)
        chosen = None if lanes is None else tuple(lanes)
        found.append((kind, (Access(start, inner, steps, chosen),)))
    return found


def touched_runs(accesses: Accesses) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return start and end of every run of an access pattern."""
    starts = [a.run_starts() for a in accesses if a.inner]
    stops = [s + a.inner for s, a in zip(starts, (a for a in accesses if a.inner), strict=True)]
    if not starts:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return np.concatenate(starts), np.concatenate(stops)
