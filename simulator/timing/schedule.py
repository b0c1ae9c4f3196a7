"""One pass over the instructions of a block that gives each its start and end cycle.

The scalar unit issues in program order, one instruction at a time, and stops when a pipe's queue is
full. A pipe starts its instructions in order; a WaitFlag holds it back until the flag of the
matching SetFlag has arrived. Every idle cycle of a pipe is given a reason, so that busy cycles and
waits add up to the total.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from simulator.enums import HardEvent, PipeID
from simulator.timing.cost_model import BARRIER, COPY, SET, VECTOR, WAIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.instruction import Plan
    from simulator.timing.cost_model import Cost, CostModel

S: Final = int(PipeID.PIPE_S)
ALL_PIPES: Final = (S, int(PipeID.PIPE_V), int(PipeID.PIPE_MTE2), int(PipeID.PIPE_MTE3))

ISSUE: Final = "issue"
QUEUE_FULL: Final = "queue full"
BARRIER_WAIT: Final = "barrier"
START_UP: Final = "start-up"
FINISHED: Final = "finished"


def flag_reason(event: int) -> str:
    """Name of the wait for an event flag."""
    return f"flag {HardEvent(event).name}"


class Stream:
    """Schedule of one instruction stream, in cycles from the start of its work.

    Attributes
    ----------
    issued, start, end, wait : list of int
        Per instruction in program order.
    reason : list of str
        What the pipe waited for before the instruction; empty when it did not wait.
    busy, count : dict
        Busy cycles and instructions per pipe.
    waits : dict
        Idle cycles per pipe and reason; with ``busy`` they add up to ``total``.
    """

    __slots__ = ("busy", "count", "end", "issued", "reason", "start", "total", "wait", "waits")

    def __init__(self, size: int) -> None:
        self.issued = [0] * size
        self.start = [0] * size
        self.end = [0] * size
        self.wait = [0] * size
        self.reason = [""] * size
        self.busy: dict[int, int] = dict.fromkeys(ALL_PIPES, 0)
        self.count: dict[int, int] = dict.fromkeys(ALL_PIPES, 0)
        self.waits: dict[int, dict[str, int]] = {pipe: {} for pipe in ALL_PIPES}
        self.total = 0


class _Pipe:
    """Clock of one pipe while a stream is scheduled."""

    __slots__ = (
        "busy_until", "data_free", "deferred", "held_reason", "held_until", "next_free", "starts",
    )  # fmt: skip

    def __init__(self, depth: int) -> None:
        self.next_free = 0
        self.busy_until = 0
        self.data_free = 0
        self.held_until = 0
        self.held_reason = ""
        self.starts: deque[int] = deque(maxlen=depth)
        self.deferred: deque[int] | None = None


def schedule(plans: Sequence[Plan], model: CostModel) -> Stream:
    """Return the schedule of ``plans`` under ``model``."""
    return _Scheduler(plans, model).run()


class _Scheduler:
    def __init__(self, plans: Sequence[Plan], model: CostModel) -> None:
        self.plans = plans
        self.model = model
        depth = model.platform.timing.queue_depth
        self.pipes = {pipe: _Pipe(depth) for pipe in ALL_PIPES}
        self.depth = depth
        self.flags: dict[int, deque[int]] = {}
        self.out = Stream(len(plans))
        self.now = 0

    def run(self) -> Stream:
        out, model, pipes, issue = self.out, self.model, self.pipes, self.model.issue
        scalar_busy = 0
        for index, plan in enumerate(self.plans):
            cost = model(plan)
            pipe = pipes[cost.pipe]
            self.now += issue
            scalar_busy += issue
            starts = pipe.starts
            if cost.pipe != S and len(starts) == self.depth and starts[0] > self.now:
                self._stall(starts[0], QUEUE_FULL)
            out.issued[index] = self.now
            out.count[cost.pipe] += 1
            if pipe.deferred is not None:
                pipe.deferred.append(index)
            elif cost.pipe == S:
                scalar_busy += self._on_scalar(index, plan, cost, issue)
            else:
                self._execute(index, plan, cost, self.now)
        out.busy[S] = scalar_busy
        self._close()
        return out

    def _stall(self, until: int, reason: str) -> None:
        if until > self.now:
            waits = self.out.waits[S]
            waits[reason] = waits.get(reason, 0) + until - self.now
            self.now = until

    def _on_scalar(self, index: int, plan: Plan, cost: Cost, issue: int) -> int:
        """Execute an instruction of the scalar pipe; return busy cycles beyond its issue."""
        out, before = self.out, self.now
        if cost.kind == WAIT:
            arrived = self.flags.get(plan.flag)
            if arrived:
                self._stall(arrived.popleft(), flag_reason(plan.event))
        elif cost.kind == BARRIER:
            self._stall(max(p.busy_until for p in self.pipes.values()), BARRIER_WAIT)
        elif cost.kind == SET:
            self._raise(plan, self.now)
        extra = max(0, cost.occupy - issue) if cost.kind > WAIT else 0
        out.start[index] = self.now - issue
        out.wait[index] = self.now - before
        if self.now > before:
            out.reason[index] = flag_reason(plan.event) if cost.kind == WAIT else BARRIER_WAIT
        self.now += extra
        out.end[index] = self.now
        return extra

    def _execute(self, index: int, plan: Plan, cost: Cost, issued: int) -> bool:
        """Schedule an instruction of another pipe; False when its flag has not been set yet."""
        pipe = self.pipes[cost.pipe]
        kind = cost.kind
        out = self.out
        start = issued if issued > pipe.next_free else pipe.next_free
        if kind in (VECTOR, COPY):
            first = start + cost.latency
            if kind == COPY and cost.latency and first < pipe.data_free:
                first = pipe.data_free
            end = first + cost.duration
            pipe.data_free = end
            pipe.next_free = start + cost.occupy
            self._account(index, pipe, cost.pipe, start, end)
        elif kind == SET:
            done = pipe.busy_until if pipe.busy_until > start else start
            self._raise(plan, done)
            start, end = done, done + cost.occupy
        elif kind == WAIT:
            arrived = self.flags.get(plan.flag)
            if not arrived:
                pipe.deferred = deque((index,))
                return False
            ready = arrived.popleft()
            if ready > pipe.held_until:
                pipe.held_until = ready
                pipe.held_reason = flag_reason(plan.event)
            end = ready if ready > start else start
            pipe.next_free = end
        else:
            end = pipe.busy_until if pipe.busy_until > start else start
            pipe.next_free = end
        pipe.starts.append(start)
        out.start[index] = start
        out.end[index] = end
        return True

    def _account(self, index: int, pipe: _Pipe, number: int, start: int, end: int) -> None:
        out = self.out
        busy_until = pipe.busy_until
        gap = start - busy_until
        if gap > 0:
            waits = out.waits[number]
            out.wait[index] = gap
            held = min(pipe.held_until, start) - busy_until
            if held > 0:
                waits[pipe.held_reason] = waits.get(pipe.held_reason, 0) + held
                gap -= held
                out.reason[index] = pipe.held_reason
            if gap:
                waits[ISSUE] = waits.get(ISSUE, 0) + gap
                if held <= gap:
                    out.reason[index] = ISSUE
            busy_until = start
        if end > busy_until:
            out.busy[number] += end - busy_until
            pipe.busy_until = end

    def _raise(self, plan: Plan, when: int) -> None:
        self.flags.setdefault(plan.flag, deque()).append(when + self.model.hop)
        for pipe in self.pipes.values():
            if pipe.deferred and self.plans[pipe.deferred[0]].flag == plan.flag:
                self._resume(pipe)

    def _resume(self, pipe: _Pipe) -> None:
        queue: deque[int] = pipe.deferred or deque()
        pipe.deferred = None
        while queue:
            index = queue.popleft()
            plan = self.plans[index]
            if not self._execute(index, plan, self.model(plan), self.out.issued[index]):
                self.pipes[plan.pipe].deferred = deque((index, *queue))
                return

    def _close(self) -> None:
        out = self.out
        total = max(self.now, *(p.busy_until for p in self.pipes.values()))
        total = max(total, *(p.next_free for p in self.pipes.values()))
        out.total = total
        for number, pipe in self.pipes.items():
            ended = self.now if number == S else pipe.busy_until
            if total > ended:
                out.waits[number][FINISHED] = total - ended
