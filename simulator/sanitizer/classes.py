"""Access classes: which bytes, by which pipe, how; and for each class the ones that conflict.

An instruction stream repeats few classes many times. What can race with what is worked out when a
class is first seen, so that a repeated call is compared with a handful of numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.enums import Arch, PipeID
from simulator.sanitizer.ranges import common

if TYPE_CHECKING:
    from simulator.instruction import Operand, Plan
    from simulator.sanitizer.ranges import Ranges

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
    rivals : list of list of int
        For each class those it conflicts with and that nothing orders by itself.
    followed : list of list of int
        For each class of the scalar unit those that the compiler orders before it.
    """

    def __init__(self, ranges: Ranges, exempt: frozenset[tuple[int, int]]) -> None:
        self.ranges = ranges
        self.exempt = exempt
        self.table: list[Access] = []
        self.pipes: list[int] = []
        self.rivals: list[list[int]] = []
        self.followed: list[list[int]] = []
        self._ids: dict[tuple[int, int, int], int] = {}
        self._of_range: dict[int, list[int]] = {}

    def of_plan(self, plan: Plan) -> list[int]:
        """Return the classes of the UB operands of a plan."""
        found = []
        for touch in self.ranges.touches(plan):
            if touch.reads:
                found.append(self.of(touch.rid, plan.pipe, READS, touch.operand))
            if touch.writes:
                found.append(self.of(touch.rid, plan.pipe, WRITES, touch.operand))
        return found

    def of(self, rid: int, pipe: int, kind: int, operand: Operand) -> int:
        """Return the number of a class."""
        known = self._ids.get((rid, pipe, kind))
        if known is not None:
            return known
        number = self._ids[rid, pipe, kind] = len(self.table)
        self.table.append(Access(rid, pipe, kind, operand))
        self.pipes.append(pipe)
        self.rivals.append([])
        self.followed.append([])
        self._of_range.setdefault(rid, []).append(number)
        for overlapping in self.ranges.overlaps[rid]:
            for other in self._of_range.get(overlapping, ()):
                self._relate(number, other)
                if other != number:
                    self._relate(other, number)
        return number

    def _relate(self, later: int, earlier: int) -> None:
        kinds = (self.table[later].kind, self.table[earlier].kind)
        if kinds in ((READS, READS), (COMBINES, COMBINES)):
            return
        if (self.pipes[earlier], self.pipes[later]) not in self.exempt:
            self.rivals[later].append(earlier)
        elif self.pipes[later] == S and self.pipes[earlier] != S:
            self.followed[later].append(earlier)

    def common(self, one: int, other: int) -> tuple[int, int]:
        """Return the hull of the bytes that two classes share."""
        accesses = self.ranges.accesses
        return common(accesses[self.table[one].rid], accesses[self.table[other].rid])
