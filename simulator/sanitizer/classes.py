"""Access classes: which bytes, by which pipe, how; and what conflicts with what.

An instruction stream repeats few classes many times, so that what concerns a class is worked out
once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.enums import Arch, PipeID
from simulator.sanitizer.ranges import common

if TYPE_CHECKING:
    from simulator.instruction import Operand, Plan
    from simulator.sanitizer.ranges import Ranges
    from simulator.sanitizer.regions import Regions

S: Final = int(PipeID.PIPE_S)
V: Final = int(PipeID.PIPE_V)
MTE2: Final = int(PipeID.PIPE_MTE2)
MTE3: Final = int(PipeID.PIPE_MTE3)

READS: Final = 0
WRITES: Final = 1
COMBINES: Final = 2
"""An atomic store; two of them do not conflict."""


def exempt_pairs(arch: Arch, *, auto_sync: bool) -> frozenset[tuple[int, int]]:
    """Return the pipe pairs that hardware or compiler order for UB operands.

    The scalar unit is ordered with itself, and on 950 V with itself. The compiler's automatic
    synchronisation adds V after V and everything between the scalar unit and another pipe. Source:
    mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/同步控制/核内同步/关键特性说明.md.
    """
    pairs = {(S, S)}
    if arch is Arch.DAV_3510:
        pairs.add((V, V))
    if auto_sync:
        pairs.add((V, V))
        for pipe in (V, MTE2, MTE3):
            pairs |= {(S, pipe), (pipe, S)}
    return frozenset(pairs)


def conflicting(one: int, other: int) -> bool:
    """Whether two kinds of access to the same bytes need an order."""
    return not (one == other and one in (READS, COMBINES))


class Access(NamedTuple):
    """A class: interned range, pipe, kind (READS, WRITES or COMBINES) and an operand of it."""

    rid: int
    pipe: int
    kind: int
    operand: Operand


class Classes:
    """The access classes of a run.

    Attributes
    ----------
    table : list of Access
        Classes by number.
    pipes : list of int
        Pipe of each class.
    """

    def __init__(self, ranges: Ranges, exempt: frozenset[tuple[int, int]]) -> None:
        self.ranges = ranges
        self.exempt = exempt
        self.table: list[Access] = []
        self.pipes: list[int] = []
        self._ids: dict[tuple[int, int, int], int] = {}
        self._of_range: dict[int, list[int]] = {}
        self._of_plan: dict[Plan, tuple[int, ...]] = {}

    def of_plan(self, plan: Plan) -> tuple[int, ...]:
        """Return the classes of the UB operands of a plan."""
        known = self._of_plan.get(plan)
        if known is None:
            found = []
            for touch in self.ranges.touches(plan):
                if touch.reads:
                    found.append(self.of(touch.rid, plan.pipe, READS, touch.operand))
                if touch.writes:
                    found.append(self.of(touch.rid, plan.pipe, WRITES, touch.operand))
            known = self._of_plan[plan] = tuple(found)
        return known

    def of(self, rid: int, pipe: int, kind: int, operand: Operand) -> int:
        """Return the number of a class."""
        known = self._ids.get((rid, pipe, kind))
        if known is None:
            known = self._ids[rid, pipe, kind] = len(self.table)
            self.table.append(Access(rid, pipe, kind, operand))
            self.pipes.append(pipe)
            self._of_range.setdefault(rid, []).append(known)
        return known

    def rivals(self, number: int, regions: Regions) -> list[int]:
        """Return the classes that a class conflicts with and that nothing orders by itself."""
        pipe, exempt = self.pipes[number], self.exempt
        return [n for n in self._meet(number, regions) if (self.pipes[n], pipe) not in exempt]

    def followed(self, number: int, regions: Regions) -> list[int]:
        """Return the classes that the compiler orders before a class of the scalar unit."""
        exempt = self.exempt
        return [
            n
            for n in self._meet(number, regions)
            if self.pipes[n] != S and (self.pipes[n], S) in exempt
        ]

    def _meet(self, number: int, regions: Regions) -> list[int]:
        """Return the classes of a stream with bytes of a class, unless both only read or combine.

        The class itself is among them if it writes.
        """
        kind = self.table[number].kind
        table, of_range = self.table, self._of_range
        return sorted(
            other
            for rid in regions.overlapping(table[number].rid)
            for other in of_range[rid]
            if conflicting(kind, table[other].kind)
        )

    def common(self, one: int, other: int) -> tuple[int, int]:
        """Return the hull of the bytes that two classes share."""
        accesses = self.ranges.accesses
        return common(accesses[self.table[one].rid], accesses[self.table[other].rid])
