"""One pass over the instructions of a block that gives each its start and end cycle.

The scalar unit issues in program order, one instruction at a time, and stops when a pipe's queue is
full. A pipe starts its instructions in order; a WaitFlag holds it back until the flag of the
matching SetFlag has arrived. Every idle cycle of a pipe is given a reason, so that busy cycles and
waits add up to the total.

All times are sums and maxima of earlier ones in an order that does not depend on them, so more
bytes, repeats or waits never make a block end sooner.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING, Final

from simulator.enums import Arch, HardEvent, PipeID
from simulator.timing.cost_model import (
    BARRIER,
    COPY,
    CROSS_SET,
    CROSS_WAIT,
    LOCK,
    POLLING,
    SCALAR,
    SET,
    UNLOCK,
    VECTOR,
    WAIT,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.timing.cost_model import Cost, CostModel

S: Final = int(PipeID.PIPE_S)
ALL_PIPES: Final = (S, int(PipeID.PIPE_V), int(PipeID.PIPE_MTE2), int(PipeID.PIPE_MTE3))

ISSUE: Final = "issue"
QUEUE_FULL: Final = "queue full"
BARRIER_WAIT: Final = "barrier"
AUTO_SYNC: Final = "auto sync"
OTHER_CORES: Final = "other cores"
START_UP: Final = "start-up"
FINISHED: Final = "finished"


RETURNED: Final = 46
"""Per cent of the memory share that a core has left unused which come back to it later.

Cores that do not copy in step find the memory free more often than in step. Fitted on kernels whose
load, compute and store do not overlap; 33 to 50 fit nearly as well.
"""

_SCALAR_REASONS: Final = {
    BARRIER: BARRIER_WAIT,
    CROSS_WAIT: OTHER_CORES,
    POLLING: OTHER_CORES,
    SCALAR: AUTO_SYNC,
}


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
    costs : sequence of Cost
        What each instruction was charged.
    """

    __slots__ = (
        "busy", "costs", "count", "end", "issued", "reason", "start", "total", "wait", "waits",
    )  # fmt: skip

    def __init__(self, costs: Sequence[Cost]) -> None:
        size = len(costs)
        self.costs = costs
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
        "busy", "busy_until", "data_free", "deferred", "engine_free", "held_reason", "held_until",
        "next_free", "number", "recent", "share_free", "starts", "waits",
    )  # fmt: skip

    def __init__(self, number: int, depth: int) -> None:
        self.number = number
        self.next_free = 0
        self.busy_until = 0
        self.data_free = 0
        self.engine_free = 0
        self.share_free = 0
        self.held_until = 0
        self.held_reason = ""
        self.starts: deque[int] = deque([0] * depth, depth)
        self.deferred: deque[int] | None = None
        self.recent: deque[tuple[int, Cost]] = deque()
        self.busy = 0
        self.waits: dict[str, int] = {}


def schedule(costs: Sequence[Cost], model: CostModel) -> Stream:
    """Return the schedule of a stream that needs no other core."""
    scheduler = Scheduler(costs, model)
    while not scheduler.advance():
        scheduler.release_all()
    return scheduler.out


class Scheduler:
    """Schedule of one stream under way; it stops where it must hear from other cores.

    Attributes
    ----------
    reports : dict
        Times of the cross-core sets by (mode, flag), in order.
    awaited : dict
        Stores of other streams that polls wait for, as (scheduler, position), by position of the
        poll.
    out : Stream
    """

    def __init__(self, costs: Sequence[Cost], model: CostModel) -> None:
        self.costs = costs
        self.model = model
        # A queue that holds the whole stream is as good as any longer one.
        depth = min(model.platform.timing.queue_depth, len(costs) + 1)
        self.pipes = {number: _Pipe(number, depth) for number in ALL_PIPES}
        self.flags: defaultdict[int, deque[int]] = defaultdict(deque)
        self.released: defaultdict[int, deque[int]] = defaultdict(deque)
        self.unlocked: defaultdict[int, list[int]] = defaultdict(list)
        self.reports: dict[tuple[int, int], list[int]] = {}
        self.awaited: dict[int, list[tuple[Scheduler, int]]] = {}
        self.out = Stream(costs)
        self.now = 0
        self.at = 0
        self.kinds = Counter(costs)
        self.deferring = 0
        self.resumed: deque[int] = deque()
        in_order = model.platform.arch is Arch.DAV_3510
        scalar = any(cost.kind == SCALAR and any(cost.touched) for cost in self.kinds)
        streaming = any(cost.kind == VECTOR and not cost.alone for cost in self.kinds)
        self.watching = model.auto_sync and scalar
        self.ordering = model.auto_sync and streaming and not in_order
        self._depends: dict[tuple[Cost, Cost], bool] = {}

    def advance(self) -> bool:  # noqa: PLR0912, PLR0915 - see below
        """Go on to the end (True) or until a pipe or the scalar unit needs another core (False)."""
        # One loop with everything a tile needs in it, and comparisons instead of max(): a call for
        # each instruction would cost as much again as the schedule itself.
        costs, pipes, resumed, flags = self.costs, self.pipes, self.resumed, self.flags
        issued, starts, ends = self.out.issued, self.out.start, self.out.end
        scalar, hop, remember = pipes[S], self.model.hop, self.watching or self.ordering
        now, at, size = self.now, self.at, len(costs)
        while True:
            if resumed:
                index = resumed.popleft()
                cost = costs[index]
                pipe = pipes[cost.pipe]
                start = issued[index]
            elif at < size:
                index = at
                cost = costs[index]
                if cost.pipe == S:
                    self.now = now
                    if not self._on_scalar(index, cost):
                        break
                    now = self.now
                    at += 1
                    continue
                at += 1
                now += cost.issue
                pipe = pipes[cost.pipe]
                start = pipe.starts[0]
                if start > now:
                    scalar.waits[QUEUE_FULL] = scalar.waits.get(QUEUE_FULL, 0) + start - now
                    now = start
                issued[index] = start = now
                if pipe.deferred is not None:
                    pipe.deferred.append(index)
                    continue
            else:
                break
            if start < pipe.next_free:  # noqa: PLR1730
                start = pipe.next_free
            kind = cost.kind
            if kind == VECTOR:
                busy_until = pipe.busy_until
                if start < busy_until:
                    if cost.alone:
                        start = busy_until
                    elif self.ordering:
                        start = self._after(cost, pipe, start)
                    end = start + cost.duration
                    if end > busy_until:
                        pipe.busy += end - busy_until
                        pipe.busy_until = end
                else:
                    end = start + cost.duration
                    if start > busy_until:
                        self._idle(index, pipe, start)
                    pipe.busy += cost.duration
                    pipe.busy_until = end
                pipe.next_free = start + cost.occupy
            elif kind == SET:
                if start < pipe.busy_until:  # noqa: PLR1730
                    start = pipe.busy_until
                end = start + cost.occupy
                flags[cost.flag].append(start + hop)
                if self.deferring:
                    self._wake(WAIT, cost.flag)
            elif kind == WAIT:
                arrived = flags[cost.flag]
                if not arrived:
                    self._defer(index, pipe)
                    continue
                end = arrived.popleft()
                if end > start:
                    if end > pipe.held_until:
                        pipe.held_until = end
                        pipe.held_reason = cost.reason
                else:
                    end = start
                pipe.next_free = end
            elif kind == COPY:
                # Three limits: the core's own data path; its share of the memory, most of what it
                # leaves unused being lost to it; and the engine that starts the copies.
                first = start + cost.latency
                end = (first if first > pipe.data_free else pipe.data_free) + cost.duration
                pipe.data_free = end
                share = pipe.share_free
                if first > share:
                    share = first - (first - share) * RETURNED // 100
                pipe.share_free = share = share + cost.shared
                engine = (start if start > pipe.engine_free else pipe.engine_free) + cost.own
                pipe.engine_free = engine
                if end < share:  # noqa: PLR1730
                    end = share
                if end < engine:  # noqa: PLR1730
                    end = engine
                pipe.next_free = start + cost.occupy
                busy_until = pipe.busy_until
                if start > busy_until:
                    self._idle(index, pipe, start)
                    busy_until = start
                if end > busy_until:
                    pipe.busy += end - busy_until
                    pipe.busy_until = end
            elif kind == BARRIER:
                end = pipe.busy_until if pipe.busy_until > start else start
                pipe.next_free = end
            else:
                done = self._synchronise(index, cost, pipe, start)
                if done is None:
                    continue
                start, end = done
            pipe.starts.append(start)
            starts[index] = start
            ends[index] = end
            if remember and kind <= COPY:
                recent = pipe.recent
                while recent and recent[0][0] <= issued[index]:
                    recent.popleft()
                recent.append((end, cost))
        self.now, self.at = now, at
        if at < size or self.deferring:
            return False
        self._close()
        return True

    def _idle(self, index: int, pipe: _Pipe, start: int) -> None:
        """Give the idle cycles of a pipe before ``start`` their reasons."""
        out, waits = self.out, pipe.waits
        busy_until = pipe.busy_until
        gap = start - busy_until
        out.wait[index] = gap
        until = pipe.held_until
        held = (until if until < start else start) - busy_until
        if held > 0:
            waits[pipe.held_reason] = waits.get(pipe.held_reason, 0) + held
            gap -= held
            out.reason[index] = pipe.held_reason
        if gap:
            waits[ISSUE] = waits.get(ISSUE, 0) + gap
            if held <= gap:
                out.reason[index] = ISSUE

    # -- order between calls -----------------------------------------------------------------------

    def _after(self, cost: Cost, pipe: _Pipe, start: int) -> int:
        """Return when a vector call may start behind those it depends on (automatic barriers)."""
        for end, earlier in pipe.recent:
            if end > start and self._dependent(cost, earlier):
                start = end
        return start

    def _dependent(self, cost: Cost, earlier: Cost) -> bool:
        key = (cost, earlier)
        known = self._depends.get(key)
        if known is None:
            known = self._depends[key] = cost.depends_on(earlier)
        return known

    def _last_conflict(self, cost: Cost) -> int:
        """Return when the calls on other pipes that a scalar access depends on have ended."""
        latest = 0
        for pipe in self.pipes.values():
            for end, earlier in pipe.recent:
                if end > latest and self._dependent(cost, earlier):
                    latest = end
        return latest + self.model.hop if latest else 0

    # -- scalar unit -------------------------------------------------------------------------------

    def _must_hear_first(self, index: int, cost: Cost) -> bool:
        """Whether the scalar unit stops at something that only another core or pipe can bring."""
        kind = cost.kind
        if kind == POLLING:
            return not all(other.out.end[store] for other, store in self.awaited.get(index, ()))
        if kind == BARRIER:
            return self.deferring > 0
        if kind == WAIT:
            return self.deferring > 0 and not self.flags[cost.flag]
        if kind == CROSS_WAIT:
            return not self.released[cost.flag]
        return kind == LOCK and len(self.unlocked[cost.flag]) < cost.ticket

    def _on_scalar(self, index: int, cost: Cost) -> bool:
        """Execute an instruction of the scalar pipe; False when it needs another core."""
        kind = cost.kind
        if self._must_hear_first(index, cost):
            return False
        out, pipe = self.out, self.pipes[S]
        start = self.now
        issued = until = start + cost.issue
        if kind == SET:
            self._raise(cost.flag, issued)
        elif kind == CROSS_SET:
            self._report(cost, issued)
        elif kind == UNLOCK:
            self._unlock(cost, issued)
        else:
            until = self._wait_ends(index, cost, issued)
        if until > issued:
            reason = _SCALAR_REASONS.get(kind, cost.reason)
            pipe.waits[reason] = pipe.waits.get(reason, 0) + until - issued
            out.wait[index] = until - issued
            out.reason[index] = reason
        else:
            until = issued
        if kind == SCALAR and cost.occupy > cost.issue:
            until += cost.occupy - cost.issue
        out.issued[index] = issued
        out.start[index] = start
        out.end[index] = self.now = until
        return True

    def _wait_ends(self, index: int, cost: Cost, issued: int) -> int:
        """Return when what an instruction of the scalar pipe waits for has come."""
        kind = cost.kind
        if kind == WAIT:
            arrived = self.flags[cost.flag]
            return arrived.popleft() if arrived else issued
        if kind == BARRIER:
            return max(p.busy_until for p in self.pipes.values())
        if kind == SCALAR:
            return self._last_conflict(cost) if self.watching else issued
        if kind == CROSS_WAIT:
            return self.released[cost.flag].popleft()
        if kind == POLLING:
            stores = self.awaited.get(index, ())
            return max((other.out.end[store] for other, store in stores), default=issued)
        return self._unlock_time(cost) if kind == LOCK else issued

    # -- what pipes and cores wait for -------------------------------------------------------------

    def _synchronise(
        self, index: int, cost: Cost, pipe: _Pipe, start: int
    ) -> tuple[int, int] | None:
        """Place a cross-core flag or a mutex call of a pipe; None when it must wait for others."""
        kind = cost.kind
        if kind in (CROSS_SET, UNLOCK):
            start = max(start, pipe.busy_until)
            if kind == CROSS_SET:
                self._report(cost, start)
            else:
                self._unlock(cost, start)
            return start, start + cost.occupy
        if kind == CROSS_WAIT:
            if not self.released[cost.flag]:
                self._defer(index, pipe)
                return None
            ready = self.released[cost.flag].popleft()
        else:
            if len(self.unlocked[cost.flag]) < cost.ticket:
                self._defer(index, pipe)
                return None
            ready = self._unlock_time(cost)
        if ready > start and ready > pipe.held_until:
            pipe.held_until = ready
            pipe.held_reason = _SCALAR_REASONS.get(kind, cost.reason)
        pipe.next_free = max(ready, start)
        return start, pipe.next_free

    def _raise(self, flag: int, when: int) -> None:
        self.flags[flag].append(when + self.model.hop)
        if self.deferring:
            self._wake(WAIT, flag)

    def _unlock(self, cost: Cost, when: int) -> None:
        self.unlocked[cost.flag].append(when + self.model.hop)
        if self.deferring:
            self._wake(LOCK, cost.flag)

    def _unlock_time(self, cost: Cost) -> int:
        return self.unlocked[cost.flag][cost.ticket - 1] if cost.ticket else 0

    def _report(self, cost: Cost, when: int) -> None:
        details = cost.plan.details
        self.reports.setdefault((details["mode"], details["flagId"]), []).append(when)

    def release(self, flag: int, when: int) -> None:
        """Deliver a cross-core flag."""
        self.released[flag].append(when)
        self._wake(CROSS_WAIT, flag)

    def release_all(self) -> None:
        """Let every wait that nothing in the record explains pass at once."""
        waiting = [self.costs[p.deferred[0]] for p in self.pipes.values() if p.deferred]
        if self.at < len(self.costs):
            waiting.append(self.costs[self.at])
            self.awaited.pop(self.at, None)
        for cost in waiting:
            if cost.kind == CROSS_WAIT:
                self.release(cost.flag, 0)
            elif cost.kind == LOCK:
                self._unlock(cost, 0)
            elif cost.kind == WAIT:
                self._raise(cost.flag, 0)

    def _defer(self, index: int, pipe: _Pipe) -> None:
        """Stop a pipe at a wait; what is behind it stays behind it."""
        behind = [i for i in self.resumed if self.costs[i].pipe == pipe.number]
        for i in behind:
            self.resumed.remove(i)
        pipe.deferred = deque((index, *behind))
        self.deferring += 1

    def _wake(self, kind: int, flag: int) -> None:
        """Let the pipes go on that stop at a wait of this kind for this flag."""
        for pipe in self.pipes.values():
            if pipe.deferred:
                first = self.costs[pipe.deferred[0]]
                if first.kind == kind and first.flag == flag:
                    self.resumed.extend(pipe.deferred)
                    pipe.deferred = None
                    self.deferring -= 1

    def _close(self) -> None:
        out, pipes = self.out, self.pipes
        # A SetFlag or Unlock behind the last work of its pipe ends after everything else.
        total = max(self.now, *out.end, *(p.next_free for p in pipes.values()))
        out.total = total
        for cost, times in self.kinds.items():
            out.count[cost.pipe] += times
        scalar = pipes[S]
        scalar.busy = scalar.busy_until = self.now
        scalar.busy -= sum(scalar.waits.values())
        for number, pipe in pipes.items():
            if total > pipe.busy_until:
                pipe.waits[FINISHED] = total - pipe.busy_until
            out.busy[number] = pipe.busy
            out.waits[number] = pipe.waits
