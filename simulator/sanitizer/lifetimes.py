"""Writes that nothing reads, and tensors that another one's writes damage, in program order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.sanitizer.ranges import is_dense, span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.instruction import Operand, Plan
    from simulator.sanitizer.ranges import Ranges


_REPEAT: Final = 256


class DeadWrite:
    """A write, and the one that replaces it before anything has read it."""

    __slots__ = ("again", "index", "operand", "times")

    def __init__(self, index: int, again: int, operand: Operand) -> None:
        self.index = index
        self.again = again
        self.operand = operand
        self.times = 1


class Damage:
    """A tensor that is written, overwritten in part by one that reaches out of it, and read."""

    __slots__ = ("by", "by_operand", "operand", "read", "times", "written")

    def __init__(
        self, written: int, by: int, read: int, operand: Operand, by_operand: Operand
    ) -> None:
        self.written = written
        self.by = by
        self.read = read
        self.operand = operand
        self.by_operand = by_operand
        self.times = 1


class _Step:
    """What one plan reads, and its destination if the call has one."""

    __slots__ = ("operand", "reads", "target", "writes")

    def __init__(self, plan: Plan, ranges: Ranges) -> None:
        touches = ranges.touches(plan)
        self.reads = tuple(t.rid for t in touches if t.reads)
        self.writes = tuple((t.rid, t.operand) for t in touches if t.writes)
        # Further written operands are work space of the call; what is left there is nobody's.
        plain = bool(touches) and touches[0].writes and not touches[0].reads
        self.target = touches[0].rid if plain and touches[0].operand is plan.operands[0] else -1
        self.operand = touches[0].operand if touches else None


class Lifetimes:
    """Follows one stream: when each range was last read and written."""

    def __init__(self, ranges: Ranges) -> None:
        self.ranges = ranges
        self._read: dict[int, int] = {}
        self._written: dict[int, int] = {}
        self._operands: dict[int, Operand] = {}
        self._partial: dict[int, tuple[int, list[int]]] = {}
        self._dead: dict[Any, DeadWrite] = {}
        self._damages: dict[Any, Damage] = {}

    def follow(
        self, plans: Sequence[Plan], course: Sequence[int] = ()
    ) -> tuple[list[DeadWrite], list[Damage]]:
        """Return dead writes and damaged tensors, each place once.

        ``course`` is the order of the calls, that of the program by default.
        """
        if course:
            dead, damages = self.follow([plans[i] for i in course])
            for write in dead:
                write.index, write.again = course[write.index], course[write.again]
            for damage in damages:
                damage.written, damage.by = course[damage.written], course[damage.by]
                damage.read = course[damage.read]
            return dead, damages
        steps: dict[Plan, _Step] = {}
        read, written, overlaps = self._read, self._written, self.ranges.overlaps
        crossing = self._partial
        for index, plan in enumerate(plans):
            step = steps.get(plan)
            if step is None:
                step = steps[plan] = _Step(plan, self.ranges)
            for rid in step.reads:
                read[rid] = index
                known = crossing.get(rid)
                if known is None or known[0] != len(overlaps[rid]):
                    known = self._find_crossing(rid)
                if known[1]:
                    self._damage(plans, rid, known[1], index)
            target = step.target
            if target >= 0:
                at = written.get(target, -1)
                if at >= 0 and read.get(target, -1) <= at and step.operand is not None:
                    self._dead_write(plans, target, at, index, step.operand)
            for rid, operand in step.writes:
                written[rid] = index
                self._operands[rid] = operand
        return list(self._dead.values()), list(self._damages.values())

    def _dead_write(
        self, plans: Sequence[Plan], rid: int, at: int, index: int, operand: Operand
    ) -> None:
        if any(self._read.get(o, -1) > at for o in self.ranges.overlaps[rid]):
            return
        key = (plans[at], plans[index])
        found = self._dead.get(key)
        if found is None:
            self._dead[key] = DeadWrite(at, index, plans[at].operands[0])
        else:
            found.times += 1

    def _find_crossing(self, rid: int) -> tuple[int, list[int]]:
        """Return the dense ranges that share bytes with one without one holding the other.

        A range that starts inside and reaches out by less than a repeat is a tail rounded up.
        """
        accesses, overlaps = self.ranges.accesses, self.ranges.overlaps[rid]
        low, high = span(accesses[rid])
        found = []
        if is_dense(accesses[rid]):
            for other in overlaps:
                start, stop = span(accesses[other])
                inside = low <= start and stop <= high
                around = start <= low and high <= stop
                rounded = low <= start < high and stop - high < _REPEAT
                if is_dense(accesses[other]) and not (inside or around or rounded):
                    found.append(other)
        known = self._partial[rid] = (len(overlaps), found)
        return known

    def _damage(self, plans: Sequence[Plan], rid: int, crossing: list[int], index: int) -> None:
        at = self._written.get(rid, -1)
        if at < 0:
            return
        for other in crossing:
            by = self._written.get(other, -1)
            in_place = by >= 0 and self._read.get(other, -1) == by
            if at < by < index and not in_place and not self._rewritten(rid, other, by):
                key = (plans[at], plans[by])
                found = self._damages.get(key)
                if found is None:
                    self._damages[key] = Damage(
                        at, by, index, self._operands[rid], self._operands[other]
                    )
                else:
                    found.times += 1

    def _rewritten(self, rid: int, other: int, by: int) -> bool:
        """Whether a write inside ``rid`` has replaced what ``other`` left there."""
        accesses = self.ranges.accesses
        mine, theirs = span(accesses[rid]), span(accesses[other])
        low, high = max(mine[0], theirs[0]), min(mine[1], theirs[1])
        for third in self.ranges.overlaps[rid]:
            start, stop = span(accesses[third])
            if self._written.get(third, -1) > by and start <= low and high <= stop:
                return True
        return False
