"""Writes that nothing reads, and tensors that another one's writes damage, in program order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.isa.results import ResultPlan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulator.instruction import Operand, Plan
    from simulator.sanitizer.ranges import Ranges
    from simulator.sanitizer.regions import Regions
    from simulator.sanitizer.streams import Stream


_REPEAT: Final = 256


class DeadWrite:
    """A write, and the one that replaces it before anything has read it.

    ``matters`` is False if nothing ever reads these bytes.
    """

    __slots__ = ("again", "index", "matters", "operand", "rid", "times")

    def __init__(self, index: int, again: int, operand: Operand, rid: int) -> None:
        self.rid = rid
        self.matters = True
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
        self.reads = tuple([t.rid for t in touches if t.reads])
        self.writes = tuple([(t.rid, t.operand) for t in touches if t.writes])
        # Further written operands are work space of the call; what is left there is nobody's.
        plain = bool(touches) and touches[0].writes and not touches[0].reads
        plain = plain and not _depends_on_values(plan)
        self.target = touches[0].rid if plain and touches[0].operand is plan.operands[0] else -1
        self.operand = touches[0].operand if touches else None


def _depends_on_values(plan: Plan) -> bool:
    """Whether values decide which elements a call writes, so that it may leave most as they are."""
    return plan.spec.name == "Scatter" or (
        isinstance(plan, ResultPlan) and plan.form != "fixed pattern"
    )


class Lifetimes:
    """When each range was last read and written; one instance follows the streams of a run."""

    def __init__(self, ranges: Ranges) -> None:
        self.ranges = ranges
        self._known: dict[Plan, _Step | None] = {}

    def follow(
        self, stream: Stream, course: Sequence[int] = ()
    ) -> tuple[list[DeadWrite], list[Damage]]:
        """Return dead writes and damaged tensors, each place once.

        ``course`` is the order of the calls, that of the program by default.
        """
        steps = {plan: step for plan in stream.distinct if (step := self._step(plan)) is not None}
        one = _Stream(self.ranges, stream.regions(self.ranges))
        if not course:
            return one.follow(stream.plans, steps)
        dead, damages = one.follow([stream.plans[i] for i in course], steps)
        for write in dead:
            write.index, write.again = course[write.index], course[write.again]
        for damage in damages:
            damage.written, damage.by = course[damage.written], course[damage.by]
            damage.read = course[damage.read]
        return dead, damages

    def _step(self, plan: Plan) -> _Step | None:
        """Return what a plan does to the unified buffer; None for nothing."""
        if plan not in self._known:
            step = _Step(plan, self.ranges)
            self._known[plan] = step if step.reads or step.writes else None
        return self._known[plan]


class _Stream:
    """Follows one stream."""

    def __init__(self, ranges: Ranges, regions: Regions) -> None:
        self.ranges = ranges
        self.regions = regions
        self._read: list[int] = [-1] * len(ranges.accesses)
        self._written: list[int] = [-1] * len(ranges.accesses)
        self._operands: dict[int, Operand] = {}
        self._dead: dict[Any, DeadWrite] = {}
        self._damages: dict[Any, Damage] = {}

    def follow(
        self, plans: Sequence[Plan], steps: Mapping[Plan, _Step]
    ) -> tuple[list[DeadWrite], list[Damage]]:
        """Return dead writes and damaged tensors, each place once."""
        read, written = self._read, self._written
        crossing = self._crossing(steps)
        for index, plan in enumerate(plans):
            step = steps.get(plan)
            if step is None:
                continue
            for rid in step.reads:
                read[rid] = index
            if crossing:
                for rid in step.reads:
                    if rid in crossing:
                        self._damage(plans, rid, crossing[rid], index)
            target = step.target
            if target >= 0:
                at = written[target]
                if at >= 0 and read[target] <= at and step.operand is not None:
                    self._dead_write(plans, target, at, index, step.operand)
            for rid, operand in step.writes:
                if written[rid] < 0:
                    self._operands[rid] = operand
                written[rid] = index
        for write in self._dead.values():
            write.matters = any(read[other] >= 0 for other in self.regions.overlapping(write.rid))
        return list(self._dead.values()), list(self._damages.values())

    def _crossing(self, steps: Mapping[Plan, _Step]) -> dict[int, list[int]]:
        """Return, for each range that is read, those that reach into it and out of it.

        A range that starts inside and reaches out by less than a repeat is a tail rounded up.
        """
        found = {}
        for rid in {rid for step in steps.values() for rid in step.reads}:
            crossing = self.regions.crossing(rid, _REPEAT)
            if crossing:
                found[rid] = crossing
        return found

    def _dead_write(
        self, plans: Sequence[Plan], rid: int, at: int, index: int, operand: Operand
    ) -> None:
        if any(self._read[o] > at for o in self.regions.overlapping(rid)):
            return
        key = (plans[at], plans[index])
        found = self._dead.get(key)
        if found is None:
            self._dead[key] = DeadWrite(at, index, plans[at].operands[0], rid)
        else:
            found.times += 1

    def _damage(self, plans: Sequence[Plan], rid: int, crossing: list[int], index: int) -> None:
        at = self._written[rid]
        if at < 0:
            return
        for other in crossing:
            by = self._written[other]
            in_place = by >= 0 and self._read[other] == by
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
        spans = self.ranges.spans
        mine, theirs = spans[rid], spans[other]
        low, high = max(mine[0], theirs[0]), min(mine[1], theirs[1])
        for third in self.regions.overlapping(rid):
            start, stop = spans[third]
            if self._written[third] > by and start <= low and high <= stop:
                return True
        return False
