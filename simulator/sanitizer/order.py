"""Happens-before inside one block: accesses of two pipes, or of one, that nothing orders.

Every pipe has a vector clock that says how much of each pipe is complete before its next
instruction. Flags, barriers and mutexes raise it; what the scalar unit knows holds for everything
it issues later. A conflicting access beyond the clock is a race. A call is compared first with the
latest accesses to its region of memory, by pipe and kind, and with the single classes there only
when one of these is beyond the clock. Source of the rules:
mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/同步控制/核内同步 (关键特性说明.md,
SetFlag-WaitFlag(ISASI).md, PipeBarrier(ISASI).md).
"""

# ruff: noqa: PLR1730 - a call of max() would double the cost of a flag

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.sanitizer.classes import MTE2, MTE3, READS, S, V
from simulator.sanitizer.order_steps import (
    ALL,
    BARRIER,
    CROSS_SET,
    LOCK,
    SET,
    UNLOCK,
    WAIT,
    WAITS,
    Slots,
    Step,
)
from simulator.sanitizer.regions import Regions
from simulator.stalls import CROSS, MUTEX

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulator.core import Entry
    from simulator.instruction import Plan
    from simulator.sanitizer.classes import Classes

_WIDTH: Final = WAITS + 1

_WITH_OWN: Final = (0, 1)
"""Modes of a cross-core flag in which a wait needs the set of the waiting block as well."""

Clock = list[int]


class Passed(NamedTuple):
    """A flag that a pipe has waited for; ``idle`` if its source pipe had done nothing new."""

    set_index: int
    wait_index: int
    plan: Plan
    idle: bool


class Conflict:
    """Two accesses to shared bytes without order between them, and how often that happened.

    ``first`` and ``second`` are positions in program order of the first occurrence; the classes say
    which bytes and how. ``flag`` is a wait that stands between the two and orders neither.
    ``matters`` is False for two writes to bytes of UB that nothing ever reads.
    """

    __slots__ = ("count", "first", "first_class", "flag", "matters", "second", "second_class")

    def __init__(
        self, first: int, second: int, first_class: int, second_class: int, flag: Passed | None
    ) -> None:
        self.first = first
        self.second = second
        self.first_class = first_class
        self.second_class = second_class
        self.flag = flag
        self.matters = True
        self.count = 1


class Leftover(NamedTuple):
    """A flag that is up at the end of the block, and where it was set."""

    plan: Plan
    at: int


class Moment(NamedTuple):
    """What is known where an instruction starts: its pipe, its number there and the clock."""

    at: int
    pipe: int
    seq: int
    clock: Clock

    def follows(self, other: Moment) -> bool:
        """Whether ``other`` is complete before this starts, both being of one block."""
        return other.seq <= self.clock[other.pipe]


class OrderReport(NamedTuple):
    """What the order check found in one instruction stream.

    ``sets`` and ``waits`` are the calls that order blocks; the clock of a set says what of its
    block is complete when it takes effect. ``moments`` are those of the watched entries.
    ``course`` is the order in which the calls take effect, empty if it is that of the program.
    """

    conflicts: list[Conflict]
    leftovers: list[Leftover]
    sets: list[Moment]
    waits: list[Moment]
    moments: dict[int, Moment]
    course: list[int]


class Watch(NamedTuple):
    """Entries that matter to other blocks.

    Attributes
    ----------
    moments : set of int
        Entries whose :class:`Moment` is wanted.
    signals : set of int
        Entries that report to other blocks although they are no cross-core flags.
    words : set of int
        Stores that other blocks poll for: they report what is complete before they start.
    looks : set of int
        Reads that a loop has gone on with.
    """

    moments: frozenset[int] = frozenset()
    signals: frozenset[int] = frozenset()
    words: frozenset[int] = frozenset()
    looks: frozenset[int] = frozenset()


NOTHING: Final = Watch()


class OrderCheck:
    """Happens-before check of one instruction stream.

    Parameters
    ----------
    entries : sequence
        The record of a block.
    classes : Classes
        Shared by all blocks of a run.
    distinct : sequence of Plan
        Plans of the record, each once.
    regions : Regions, optional
        Of the ranges of the plans in the unified buffer, if they are known already.
    more : mapping of int to list of int
        Further classes of single entries, such as their accesses to global memory.
    watch : Watch
        Entries of interest to other blocks.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        classes: Classes,
        distinct: Sequence[Plan],
        regions: Regions | None = None,
        *,
        more: Mapping[int, list[int]] | None = None,
        watch: Watch = NOTHING,
    ) -> None:
        self.entries = entries
        self.classes = classes
        self.more = more or {}
        self.watch = watch
        self.watched = watch.moments | watch.signals | watch.words | watch.looks
        self.issued = [0] * _WIDTH
        self.known: list[Clock] = [[0] * _WIDTH for _ in range(WAITS)]
        self.version = 0
        self.seen = [0] * WAITS
        self.flags: dict[int, tuple[int, Clock, bool]] = {}
        self.last_set: dict[int, int] = {}
        self.passed: dict[int, tuple[int, int, Plan, bool]] = {}
        self.mutexes: dict[int, Clock] = {}
        self.own_sets: dict[int, deque[Clock]] = {}
        self.conflicts: dict[tuple[object, ...], Conflict] = {}
        self.report = OrderReport([], [], [], [], {}, [])
        self._steps = {plan: Step(plan, classes) for plan in distinct}
        if regions is None:
            numbers = [n for step in self._steps.values() for n in step.classes]
            numbers += [n for found in self.more.values() for n in found]
            regions = Regions(classes.ranges, [classes.table[n].rid for n in numbers])
        self.regions = regions
        self.latest = self._prepare(regions)
        self.seq = [0] * len(classes.table)
        self.at = [-1] * len(classes.table)
        self._rivals: dict[int, list[int]] = {}
        self._followed: dict[int, list[int]] = {}

    def _prepare(self, regions: Regions) -> list[int]:
        """Lay out the slots of the steps; return the numbers of the latest accesses: none yet."""
        slots = Slots(self.classes, regions)
        users = [step for step in self._steps.values() if step.classes]
        for step in users:
            step.slots = slots.of(step.classes)
        for step in users:
            step.checks, step.follows = slots.rivals(step.slots)
        return [0] * slots.count

    def run(self) -> OrderReport:  # noqa: PLR0912 - one loop without calls: it sees every call
        """Check the whole stream."""
        waiting: dict[int, deque[tuple[int, Step, Clock]]] = {}
        steps, known, issued, seq, at = self._steps, self.known, self.issued, self.seq, self.at
        latest, seen = self.latest, self.seen
        course, deviates = self.report.course, False
        special = bool(self.more or self.watched)
        for index, entry in enumerate(self.entries):
            step = steps[entry[0]]
            pipe = step.pipe
            if waiting and pipe in waiting:
                waiting[pipe].append((index, step, list(known[S])))
                continue
            if deviates:
                course.append(index)
            clock = known[pipe]
            if seen[pipe] != self.version:
                self._learn(clock, known[S])
                seen[pipe] = self.version
            if step.kind:
                if not self._control(index, step, clock):
                    waiting[pipe] = deque(((index, step, list(known[S])),))
                    if deviates:
                        course.pop()
                    else:
                        course.extend(range(index))
                        deviates = True
                elif waiting and step.kind in (SET, UNLOCK):
                    self._resume(waiting)
                continue
            # The body of _operate, without its call: this is every call of every kernel.
            number = issued[pipe] = issued[pipe] + 1
            if special and index in self.more:
                self._compare(index, step, clock)
            else:
                for slot, other in step.checks:
                    if latest[slot] > clock[other]:
                        self._compare(index, step, clock)
                        break
            if step.follows:
                self._follow(step, clock)
            for mine in step.classes:
                seq[mine] = number
                at[mine] = index
            for slot in step.slots:
                latest[slot] = number
            if special:
                self._watch(index, pipe, number, clock)
        for conflict in self.conflicts.values():
            conflict.matters = self._matters(conflict)
        self.report.conflicts.extend(self.conflicts.values())
        self.report.leftovers.extend(
            Leftover(self.entries[index][0], index) for index, _, _ in self.flags.values()
        )
        return self.report

    def _matters(self, conflict: Conflict) -> bool:
        table = self.classes.table
        both = (table[conflict.first_class], table[conflict.second_class])
        if any(access.kind == READS or access.operand.space != "UB" for access in both):
            return True
        near = {rid for access in both for rid in self.regions.overlapping(access.rid)}
        return any(
            access.kind == READS and access.rid in near and self.at[number] >= 0
            for number, access in enumerate(table[: len(self.at)])
        )

    @staticmethod
    def _learn(clock: Clock, more: Clock) -> None:
        # The slots in use, written out: this is half of the work of a flag.
        scalar, vector, fetched, stored, waits = (
            more[S],
            more[V],
            more[MTE2],
            more[MTE3],
            more[WAITS],
        )
        if scalar > clock[S]:
            clock[S] = scalar
        if vector > clock[V]:
            clock[V] = vector
        if fetched > clock[MTE2]:
            clock[MTE2] = fetched
        if stored > clock[MTE3]:
            clock[MTE3] = stored
        if waits > clock[WAITS]:
            clock[WAITS] = waits

    def _operate(self, index: int, step: Step, clock: Clock) -> None:
        pipe = step.pipe
        number = self.issued[pipe] = self.issued[pipe] + 1
        self._compare(index, step, clock)
        if step.follows:
            self._follow(step, clock)
        for mine in step.classes:
            self.seq[mine] = number
            self.at[mine] = index
        for slot in step.slots:
            self.latest[slot] = number
        self._watch(index, pipe, number, clock)

    def _follow(self, step: Step, clock: Clock) -> None:
        """Let the scalar unit wait for what the compiler orders before its accesses."""
        if not any(self.latest[slot] > clock[other] for slot, other in step.follows):
            return
        for mine in step.classes:
            followed = self._followed.get(mine)
            if followed is None:
                followed = self._followed[mine] = self.classes.followed(mine, self.regions)
            for earlier in followed:
                slot = self.classes.pipes[earlier]
                if self.seq[earlier] > clock[slot]:
                    clock[slot] = self.seq[earlier]
                    self.version += 1

    def _compare(self, index: int, step: Step, clock: Clock) -> None:
        """Compare a call with the single classes of its regions."""
        mine = (*step.classes, *self.more.get(index, ()))
        hits = [hit for number in mine for hit in self._hits(number, clock)]
        if hits:
            self._conflict(hits, index)

    def _hits(self, mine: int, clock: Clock) -> list[tuple[int, int]]:
        """Return the classes, each with ``mine``, whose latest access is beyond the clock."""
        rivals = self._rivals.get(mine)
        if rivals is None:
            rivals = self._rivals[mine] = self.classes.rivals(mine, self.regions)
        seq, pipes = self.seq, self.classes.pipes
        return [(rival, mine) for rival in rivals if seq[rival] > clock[pipes[rival]]]

    def _watch(self, index: int, pipe: int, number: int, clock: Clock) -> None:
        for mine in self.more.get(index, ()):
            self.seq[mine] = number
            self.at[mine] = index
        if index in self.watched:
            moment = Moment(index, pipe, number, list(clock))
            self.report.moments[index] = moment
            if index in self.watch.signals:
                taken = list(clock)
                taken[pipe] = number
                self.report.sets.append(moment._replace(clock=taken))
            elif index in self.watch.words:
                self.report.sets.append(moment)
            if index in self.watch.looks:
                # What follows was issued by the scalar unit when it knew the value.
                passed = len(self.report.waits) + 1
                self.known[S][WAITS] = clock[WAITS] = passed
                self.report.waits.append(moment)
                self.version += 1

    def _conflict(self, hits: list[tuple[int, int]], index: int) -> None:
        """Note races, and go on as if they had been mended.

        A flag behind the latest of several accesses of one pipe orders all of them, and what their
        pipe has waited for itself, so that the latest stands for all.
        """
        pipes, seq, table = self.classes.pipes, self.seq, self.classes.table
        latest: dict[int, tuple[int, int]] = {}
        for rival, mine in hits:
            if self.at[rival] != index:
                slot = pipes[rival]
                known = latest.get(slot)
                # Of equals the read counts: a call in place reads before it writes.
                if (
                    known is None
                    or seq[rival] > seq[known[0]]
                    or (seq[rival] == seq[known[0]] and table[mine].kind == READS)
                ):
                    latest[slot] = (rival, mine)
        for slot, (rival, mine) in sorted(latest.items(), key=lambda hit: -self.at[hit[1][0]]):
            first, pipe = self.at[rival], pipes[mine]
            if seq[rival] <= self.known[pipe][slot]:
                continue
            site, other = self.entries[index], self.entries[first]
            key = (other[1], other[2], site[1], site[2], slot, pipe)
            found = self.conflicts.get(key)
            if found is None:
                passed = self.passed.get(pipe)
                flag = Passed(*passed) if passed is not None else None
                if flag is not None and (flag.set_index < first or not flag.idle or slot == pipe):
                    flag = None
                self.conflicts[key] = Conflict(first, index, rival, mine, flag)
            else:
                found.count += 1
            if slot != pipe:
                self._learn(self.known[pipe], self.known[slot])
            self.known[pipe][slot] = max(self.known[pipe][slot], seq[rival])
            self._told(pipe)

    # -- flags, barriers, mutexes ------------------------------------------------------------------

    def _resume(self, waiting: dict[int, deque[tuple[int, Step, Clock]]]) -> None:
        progress = True
        while progress and waiting:
            progress = False
            for pipe in list(waiting):
                queue = waiting[pipe]
                while queue:
                    index, step, scalar = queue[0]
                    clock = self.known[pipe]
                    self._learn(clock, scalar)
                    if not step.kind:
                        self._operate(index, step, clock)
                    elif not self._control(index, step, clock):
                        break
                    queue.popleft()
                    self.report.course.append(index)
                    progress = True
                if not queue:
                    del waiting[pipe]

    def _control(self, index: int, step: Step, clock: Clock) -> bool:
        """Take a call that orders; False when it waits for something that has not happened."""
        plan, kind, pipe = step.plan, step.kind, step.pipe
        if kind == SET:
            taken = list(clock)
            taken[pipe] = self.issued[pipe]
            event = plan.event
            idle = self.last_set.get(event, 0) == taken[pipe]
            self.last_set[event] = taken[pipe]
            # One bit: a launch in which it is set twice has been refused.
            self.flags[step.flag] = (index, taken, idle)
        elif kind == WAIT:
            pending = self.flags.pop(step.flag, None)
            if pending is None:
                return False
            self._learn(clock, pending[1])
            self.passed[pipe] = (pending[0], index, plan, pending[2])
            self._told(pipe)
        elif kind == BARRIER:
            if step.barred == ALL:
                self._all_idle()
            elif step.barred < WAITS:
                self.known[step.barred][step.barred] = self.issued[step.barred]
        elif kind == UNLOCK:
            taken = list(clock)
            taken[pipe] = self.issued[pipe]
            self.mutexes[plan.flag] = taken
        elif kind == LOCK:
            self._learn(clock, self.mutexes.get(plan.flag, clock))
            self._told(pipe)
        elif kind == CROSS_SET:
            taken = list(clock)
            taken[pipe] = self.issued[pipe]
            self.report.sets.append(Moment(index, pipe, self.issued[pipe], taken))
            if plan.details["mode"] in _WITH_OWN:
                self.own_sets.setdefault(plan.flag, deque()).append(taken)
        else:
            if own := self.own_sets.get(plan.flag):
                self._learn(clock, own.popleft())
            clock[WAITS] = len(self.report.waits) + 1
            self.report.waits.append(Moment(index, pipe, self.issued[pipe], list(clock)))
            self._told(pipe)
        return True

    def _told(self, pipe: int) -> None:
        if pipe == S:
            self.version += 1

    def _all_idle(self) -> None:
        waits = max(clock[WAITS] for clock in self.known)
        for clock in self.known:
            clock[:] = self.issued
            clock[WAITS] = waits


def flag_of(plan: Plan, ids: int = 8) -> tuple[str, int]:
    """Return event name and id of a SetFlag or WaitFlag."""
    from simulator.enums import HardEvent

    return HardEvent(plan.event).name, plan.flag % ids


def is_cross(plan: Plan) -> bool:
    """Whether a call orders blocks."""
    return plan.event == CROSS or plan.form == "poll"


def is_mutex(plan: Plan) -> bool:
    """Whether a call locks or unlocks a mutex."""
    return plan.event == MUTEX
