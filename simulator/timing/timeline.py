"""When everything in a run happened: blocks on cores, instructions on pipes.

Blocks with the same instruction stream are scheduled once. Blocks beyond the number of cores run in
further rounds on the same cores.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from simulator.timing.cost_model import (
    CROSS_SET,
    CROSS_WAIT,
    Cost,
    CostModel,
    Shares,
    whole,
)
from simulator.timing.global_memory import (
    READ_PIPE,
    Demand,
    Request,
    classify,
    is_global_copy,
    requests_of,
)
from simulator.timing.polling import POLL, Store, awaited_stores
from simulator.timing.schedule import FINISHED, START_UP, Scheduler, Stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulator.core import Entry
    from simulator.instruction import Plan
    from simulator.platforms import Platform

    Awaited = Mapping[int, Sequence[Store]]


class PlacedBlock(NamedTuple):
    """A block with its core, the cycle its work starts at, and its schedule."""

    block: int
    core: int
    start: int
    stream: Stream

    @property
    def end(self) -> int:
        """Cycle its work ends at."""
        return self.start + self.stream.total


class Timeline:
    """Schedule of all blocks of a run.

    Attributes
    ----------
    blocks : list of PlacedBlock
        In block order; cycles count from the launch on the device.
    cycles : int
        Cycles of the busiest core, start-up of its blocks included.
    cores : int
        Cores that got work.
    start_cycles : int
        Start-up of one block.
    memory : Demand
        Bytes asked of L2 and of memory.
    unmeasured : list of str
        Calls charged by the default cost for want of a published figure.
    """

    def __init__(
        self,
        platform: Platform,
        records: Sequence[Sequence[Entry]],
        *,
        auto_sync: bool,
        course: Sequence[tuple[int, int]] = (),
    ) -> None:
        self.platform = platform
        self.cores = min(len(records), platform.chip.aiv)
        timing = platform.timing
        self.start_cycles = whole(timing.cycles(timing.block_start_ns))
        rounds = [
            range(first, min(first + self.cores, len(records)))
            for first in range(0, len(records), self.cores or 1)
        ]
        kinds = _Kinds()
        bodies: dict[tuple[Plan, ...], _Body] = {}
        program = [_Program(record, bodies, kinds) for record in records]
        self.memory: Demand
        self.memory, special = classify(
            [[program[block].requests for block in group] for group in rounds], platform
        )
        for one, found in zip(program, special, strict=True):
            one.special = found
        model = CostModel(platform, self.memory, auto_sync=auto_sync)
        streams: list[Stream] = []
        awaited: list[dict[int, list[Store]]] = [{} for _ in records]
        if any(one.body.polls for one in program):
            awaited = awaited_stores(
                [one.body.polls for one in program], [one.requests for one in program], course
            )
        for group in rounds:
            streams += run_together(
                [program[block] for block in group], model, _among(group, awaited)
            )
        self.distinct_streams = len({id(stream) for stream in streams})
        ready = [0] * self.cores
        self.blocks: list[PlacedBlock] = []
        for number in range(len(records)):
            core = number % self.cores
            start = ready[core] + self.start_cycles
            self.blocks.append(PlacedBlock(number, core, start, streams[number]))
            ready[core] = start + streams[number].total
        self.cycles = max(ready, default=0)
        self.unmeasured = sorted(f"{name} {dtype}" for name, dtype in model.unmeasured)

    @property
    def microseconds(self) -> float:
        """Time of the busiest core in microseconds."""
        return self.platform.timing.nanoseconds(self.cycles) / 1000.0

    @property
    def task_microseconds(self) -> float:
        """``microseconds`` plus the launch of the task."""
        timing = self.platform.timing
        launch = timing.launch_ns + timing.launch_per_block_ns * len(self.blocks)
        return self.microseconds + launch / 1000.0

    def busy(self, pipe: int) -> int:
        """Busy cycles of ``pipe`` over all cores."""
        return sum(b.stream.busy[pipe] for b in self.blocks)

    def instructions(self, pipe: int) -> int:
        """Instructions of ``pipe`` over all cores."""
        return sum(b.stream.count[pipe] for b in self.blocks)

    def waits(self, pipe: int) -> dict[str, int]:
        """Idle cycles of ``pipe`` by reason over all cores, longest first.

        With :meth:`busy` they add up to ``cycles * cores`` exactly.
        """
        total: dict[str, int] = {}
        for block in self.blocks:
            total[START_UP] = total.get(START_UP, 0) + self.start_cycles
            for reason, cycles in block.stream.waits[pipe].items():
                total[reason] = total.get(reason, 0) + cycles
        used = sum(b.stream.total + self.start_cycles for b in self.blocks)
        if idle := self.cycles * self.cores - used:
            total[FINISHED] = total.get(FINISHED, 0) + idle
        return dict(sorted(((k, v) for k, v in total.items() if v), key=lambda kv: -kv[1]))

    def utilisation(self, pipe: int) -> float:
        """``busy / (cycles * cores)`` of a pipe, 0..1."""
        whole = self.cycles * self.cores
        return self.busy(pipe) / whole if whole else 0.0


def _among(group: range, awaited: Sequence[dict[int, list[Store]]]) -> list[Awaited]:
    """Return the stores awaited within a round of blocks, which are numbered from 0 then."""
    return [
        {
            poll: [Store(s.block - group.start, s.position) for s in stores if s.block in group]
            for poll, stores in awaited[block].items()
        }
        for block in group
    ]


class _Kinds(dict["Plan", int]):
    """What an instruction's cost hangs on besides its plan: one of these, or nothing."""

    COPIED = 1
    LOCKED = 2
    POLLED = 3

    def __missing__(self, plan: Plan) -> int:
        kind = 0
        if is_global_copy(plan):
            kind = self.COPIED
        elif plan.form == "lock":
            kind = self.LOCKED
        elif plan.form == POLL:
            kind = self.POLLED
        self[plan] = kind
        return kind


class _Body:
    """The plans that equal blocks share: where the copies and mutex calls are, and what moves."""

    def __init__(self, plans: tuple[Plan, ...], kinds: _Kinds) -> None:
        self.plans = plans
        marked = [(i, kind) for i, plan in enumerate(plans) if (kind := kinds[plan])]
        self.copies = [i for i, kind in marked if kind == _Kinds.COPIED]
        self.locks = [i for i, kind in marked if kind == _Kinds.LOCKED]
        self.polls = [i for i, kind in marked if kind == _Kinds.POLLED]
        copied = [plans[i] for i in self.copies]
        self.read = sum(plan.work.nbytes for plan in copied if plan.pipe == READ_PIPE)
        self.written = sum(plan.work.nbytes for plan in copied) - self.read


class _Program:
    """One block: its body, where its copies go, and which turn of a mutex each Lock waits for."""

    def __init__(
        self, record: Sequence[Entry], bodies: dict[tuple[Plan, ...], _Body], kinds: _Kinds
    ) -> None:
        plans = tuple([entry[0] for entry in record])
        body = bodies.get(plans)
        if body is None:
            body = bodies[plans] = _Body(plans, kinds)
        self.body = body
        self.special: dict[int, tuple[bool, int]] = {}
        self.requests: list[Request] = requests_of(record, body.copies)
        self.locks = [(i, int(record[i][3][0])) for i in body.locks]

    def costs(self, model: CostModel, known: _Known, shares: Shares) -> list[Cost]:
        """Return the cost of every instruction."""
        costs = known.of(self.body).copy()
        copies = model.copies(shares)
        if self.special:
            for number, request in enumerate(self.requests):
                costs[request.position] = copies.cost(request, self.special.get(number))
        else:
            for request in self.requests:
                costs[request.position] = copies.cost(request, None)
        for position, number in self.locks:
            costs[position] = model.ticket(self.body.plans[position], number)
        if model.fuses:
            model.fuse(costs)
        return costs


class _Known(dict["Plan", Cost]):
    """Costs of instructions; a copy from or to GM has a stand-in."""

    def __init__(self, model: CostModel) -> None:
        super().__init__()
        self.model = model
        self._bodies: dict[_Body, list[Cost]] = {}

    def __missing__(self, plan: Plan) -> Cost:
        self[plan] = cost = self.model.instruction(plan)
        return cost

    def of(self, body: _Body) -> list[Cost]:
        """Return the costs of a body, copies included as stand-ins."""
        found = self._bodies.get(body)
        if found is None:
            found = self._bodies[body] = [self[plan] for plan in body.plans]
        return found


def run_together(
    programs: Sequence[_Program], model: CostModel, awaited: Sequence[Awaited]
) -> list[Stream]:
    """Return the schedules of blocks that run at the same time, one on each core."""
    moved = [(program.body.read, program.body.written) for program in programs]
    reading = competitors([read for read, _ in moved])
    writing = competitors([written for _, written in moved])
    known = _Known(model)
    streams = [
        tuple(program.costs(model, known, Shares(reading[read], writing[written])))
        for program, (read, written) in zip(programs, moved, strict=True)
    ]
    schedulers: list[Scheduler]
    if any(awaited) or _needs_neighbours(known):
        schedulers = [Scheduler(stream, model) for stream in streams]
    else:
        folded = {stream: Scheduler(stream, model) for stream in dict.fromkeys(streams)}
        schedulers = [folded[stream] for stream in streams]
    for scheduler, polls in zip(schedulers, awaited, strict=True):
        for poll, stores in polls.items():
            scheduler.awaited[poll] = [(schedulers[s.block], s.position) for s in stores]
    _advance(schedulers, model)
    return [scheduler.out for scheduler in schedulers]


def competitors(moved: Sequence[int]) -> dict[int, float]:
    """Return, by the bytes that a core moves, how many cores share the memory while it does.

    ``sum(min(bytes of core j, own bytes)) / own bytes``: a core with less to move is there for a
    part of the time only.
    """
    counts = sorted(Counter(moved).items())
    found: dict[int, float] = {0: 1.0}
    below = 0
    left = len(moved)
    for nbytes, times in counts:
        if nbytes:
            found[nbytes] = below / nbytes + left
        below += nbytes * times
        left -= times
    return found


def _needs_neighbours(known: _Known) -> bool:
    """Whether a block waits for some cores only, so that equal streams may differ in time."""
    return any(
        cost.kind in (CROSS_SET, CROSS_WAIT) and plan.details["mode"] != 0
        for plan, cost in known.items()
    )


def _advance(schedulers: list[Scheduler], model: CostModel) -> None:
    """Run all streams to their ends, handing cross-core flags over as they are complete."""
    waiting = list(dict.fromkeys(schedulers))
    handed: dict[tuple[int, int, int], int] = {}
    while True:
        before = {scheduler: scheduler.at for scheduler in waiting}
        waiting = [scheduler for scheduler in waiting if not scheduler.advance()]
        if not waiting:
            return
        moved = len(waiting) < len(before) or any(s.at > before[s] for s in waiting)
        if not _hand_over(schedulers, handed, model) and not moved:
            # The record holds nothing that these waits could hear of, as when it was edited.
            for scheduler in waiting:
                scheduler.release_all()


def _hand_over(
    schedulers: list[Scheduler], handed: dict[tuple[int, int, int], int], model: CostModel
) -> bool:
    """Deliver every cross-core flag that all members of its group have set; False if none is."""
    delivered = False
    flags = {key for scheduler in schedulers for key in scheduler.reports}
    for mode, flag in sorted(flags):
        size = len(schedulers) if mode == 0 else 2
        for first in range(0, len(schedulers), size):
            members = schedulers[first : first + size]
            distinct = list(dict.fromkeys(members))
            reports = [member.reports.get((mode, flag), []) for member in distinct]
            complete = min(map(len, reports))
            done = handed.get((mode, flag, first), 0)
            for turn in range(done, complete):
                when = max(report[turn] for report in reports) + model.cross_hop
                for member in distinct:
                    member.release(flag, when)
                delivered = True
            handed[mode, flag, first] = max(done, complete)
    return delivered
