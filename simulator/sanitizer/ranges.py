"""Byte ranges of operands, interned, with a table of which of them overlap.

Two ranges overlap when they share at least one byte; strided and masked accesses are compared byte
by byte. The table grows when a range is seen for the first time, so that a check of a repeated
call is a few list look-ups. Ranges are looked up by 512-byte cells of their span, so that many
small ranges stay cheap; global memory has wider cells.
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

_CELL: Final = 512
_WIDE_CELL: Final = 1 << 16

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
    overlaps : list of list of int
        For each range the ids of all ranges that share a byte with it, itself included.
    """

    def __init__(self) -> None:
        self.accesses: list[Accesses] = []
        self.overlaps: list[list[int]] = []
        self._ids: dict[tuple[Hashable, Accesses], int] = {}
        self._cells: dict[tuple[Hashable, int], list[int]] = {}
        self._touches: dict[Plan, list[Touch]] = {}

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
        if is_dense(accesses):
            low, high = span(accesses)
            accesses = (Access(low, high - low),)
        rid = self._ids.get((space, accesses))
        if rid is not None:
            return rid
        rid = self._ids[space, accesses] = len(self.accesses)
        self.accesses.append(accesses)
        low, high = span(accesses)
        near: dict[int, None] = {}
        size = _CELL if space == "UB" else _WIDE_CELL
        for number in range(low // size, -(-high // size)):
            cell = self._cells.setdefault((space, number), [])
            near.update(dict.fromkeys(cell))
            cell.append(rid)
        mine = [other for other in near if share_bytes(accesses, self.accesses[other])]
        for other in mine:
            self.overlaps[other].append(rid)
        self.overlaps.append([*mine, rid] if low < high else [])
        return rid


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
