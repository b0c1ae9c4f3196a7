"""What determines the end of a run: the chain of instructions and waits, and everybody's slack.

Every instruction has three moments: issue, begin and end. They are joined by what must come first:
program order on the scalar unit, order on the pipe, flags, barriers and the depth of the queues.
Walking back from the last end along the connections without slack gives the critical path; passing
the slack of consumers back along all connections gives the slack of every instruction. Times are
those of the timeline, so both follow whatever it models.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simulator.analysis.lanes import executing_pipe
from simulator.enums import PipeID
from simulator.instruction import locate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.errors import SourceLocation
    from simulator.instruction import Plan
    from simulator.platforms import Timing
    from simulator.run import Run
    from simulator.timing.cost_model import Cost
    from simulator.timing.schedule import Stream

START_UP: Final = "start-up"
WORK: Final = "work"
FLAG: Final = "flag"
ISSUE: Final = "issue"
QUEUE: Final = "queue"

_S: Final = int(PipeID.PIPE_S)
_MOMENTS: Final = 3
_ISSUE, _BEGIN, _END = range(_MOMENTS)


class Step(NamedTuple):
    """A stretch of the critical path.

    Attributes
    ----------
    kind : str
        ``work`` on a pipe, ``flag`` (from a SetFlag to the release of the WaitFlag), ``issue`` (the
        scalar unit issues), ``queue`` (it stands before a full queue) or ``start-up`` of a block.
    block, number : int
        Instruction of the block that the time belongs to; -1 for the start-up.
    start, end : int
        Cycles since the launch.
    """

    kind: str
    block: int
    number: int
    start: int
    end: int

    @property
    def cycles(self) -> int:
        """Length of the stretch."""
        return self.end - self.start


@dataclass(frozen=True)
class LineShare:
    """What one source line has of the critical path: cycles by kind of step."""

    location: SourceLocation
    cycles: int
    kinds: dict[str, int]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "file": self.location.file,
            "line": self.location.line,
            "cycles": self.cycles,
            "kinds": self.kinds,
        }


class CriticalPath:
    """The critical path of a run.

    Attributes
    ----------
    steps : tuple of Step
        From the launch to the end of the busiest core, without gaps: the cycles of all steps add up
        to ``run.cycles``.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._graphs: dict[int, _Graph] = {}
        self.steps = tuple(self._walk())

    def _graph(self, block: int) -> _Graph:
        stream = self._run.timeline.blocks[block].stream
        graph = self._graphs.get(id(stream))
        if graph is None:
            plans = [entry[0] for entry in self._run.blocks[block].entries]
            graph = _Graph(plans, stream, self._run.platform.timing)
            self._graphs[id(stream)] = graph
        return graph

    def _walk(self) -> list[Step]:
        timeline = self._run.timeline
        if not timeline.blocks:
            return []
        core = max(timeline.blocks, key=lambda placed: placed.end).core
        steps: list[Step] = []
        now = 0
        for placed in timeline.blocks:
            if placed.core != core:
                continue
            steps.append(Step(START_UP, placed.block, -1, now, placed.start))
            steps += [
                Step(kind, placed.block, index, placed.start + start, placed.start + end)
                for kind, index, start, end in self._graph(placed.block).path()
            ]
            now = placed.end
        return steps

    def slack(self, block: int) -> list[int]:
        """Cycles by which each instruction of a block could end later and the run end as before.

        Instructions on the critical path have none.
        """
        placed = self._run.timeline.blocks[block]
        last = max(b.end for b in self._run.timeline.blocks if b.core == placed.core)
        spare = self._run.timeline.cycles - last
        return [spare + own for own in self._graph(block).slack]

    def kinds(self) -> dict[str, int]:
        """Cycles of the path by kind of step, longest first."""
        total: dict[str, int] = {}
        for step in self.steps:
            total[step.kind] = total.get(step.kind, 0) + step.cycles
        return dict(sorted(total.items(), key=lambda kv: -kv[1]))

    def lines(self) -> list[LineShare]:
        """Source lines of the path, the one with most cycles first."""
        kinds: dict[SourceLocation, dict[str, int]] = {}
        for step in self.steps:
            if step.number >= 0 and step.cycles:
                _, code, lasti, _ = self._run.blocks[step.block].entries[step.number]
                own = kinds.setdefault(locate(code, lasti), {})
                own[step.kind] = own.get(step.kind, 0) + step.cycles
        shares = [LineShare(place, sum(own.values()), own) for place, own in kinds.items()]
        return sorted(shares, key=lambda s: (-s.cycles, s.location.file, s.location.line))

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON: cycles by kind and by source line."""
        return {"kinds": self.kinds(), "lines": [line.as_dict() for line in self.lines()]}

    def __repr__(self) -> str:
        return f"<critical path of {self._run.name}: {len(self.steps)} steps>"


class _Edge(NamedTuple):
    source: int
    slack: int
    kind: str


class _Graph:
    """Moments of one stream: node ``3 * index + moment``, with what each one waits for."""

    def __init__(self, plans: Sequence[Plan], stream: Stream, timing: Timing) -> None:
        self.plans = plans
        self.stream = stream
        self.hop = ceil(timing.flag_hop_cycles)
        self.depth = timing.queue_depth
        self.times: list[int] = []
        self.before: list[list[_Edge]] = []
        self._build()
        self.order = self._sorted()
        self.slack = self._slack()

    # -- connections -----------------------------------------------------------------------------

    def _build(self) -> None:
        stream = self.stream
        for index, plan in enumerate(self.plans):
            issued = stream.issued[index]
            begin = issued if executing_pipe(plan) == _S else stream.start[index]
            self.times += (issued, begin, stream.end[index])
        self.before = [[] for _ in self.times]
        last_work: dict[int, int] = {}
        sets: dict[int, deque[int]] = {}
        queued: dict[int, deque[int]] = {}
        held: dict[int, list[int]] = {}
        # Flags first: a WaitFlag may precede its SetFlag in program order.
        for index, plan in enumerate(self.plans):
            if plan.form == "set":
                sets.setdefault(plan.flag, deque()).append(index)
        shortest = self._shortest()
        previous = -1
        for index, plan in enumerate(self.plans):
            pipe = executing_pipe(plan)
            self._issue(index, previous, queued.setdefault(pipe, deque(maxlen=self.depth)))
            if pipe != _S:
                queued[pipe].append(index)
            self._link(3 * index + _BEGIN, 3 * index + _ISSUE, ISSUE)
            # A wait or barrier lasts as long as others make it; everything else takes its time.
            lag = (
                0 if plan.form in ("wait", "barrier") else shortest[self._size(stream.costs[index])]
            )
            self._link(3 * index + _END, 3 * index + _BEGIN, WORK, lag)
            if plan.form == "wait":
                self._flag(index, sets)
                self._behind(index, last_work.get(pipe, -1))
                held.setdefault(pipe, []).append(index)
            elif plan.form in ("set", "barrier"):
                everyone = plan.form == "barrier" and pipe == _S
                for other in last_work if everyone else {pipe}:
                    self._after(index, last_work.get(other, -1))
            else:
                self._work(index, last_work.get(pipe, -1), held.pop(pipe, []))
                last_work[pipe] = index
            previous = index

    @staticmethod
    def _size(cost: Cost) -> tuple[Any, ...]:
        plan = cost.plan
        return plan.spec.name, plan.form, plan.pipe, plan.work, cost.duration

    def _shortest(self) -> dict[tuple[Any, ...], int]:
        """Least duration of each kind of instruction.

        One that queues behind another lasts longer, and may begin later without ending later.
        """
        shortest: dict[tuple[Any, ...], int] = {}
        for index, cost in enumerate(self.stream.costs):
            size = self._size(cost)
            lasted = self.times[3 * index + _END] - self.times[3 * index + _BEGIN]
            shortest[size] = min(shortest.get(size, lasted), lasted)
        return shortest

    def _link(self, node: int, source: int, kind: str, lag: int = 0) -> None:
        """Connect two moments if the earlier one is not later than allowed."""
        slack = self.times[node] - self.times[source] - lag
        if slack >= 0:
            self.before[node].append(_Edge(source, slack, kind))

    def _issue(self, index: int, previous: int, queue: deque[int]) -> None:
        node = 3 * index + _ISSUE
        if previous >= 0:
            on_scalar = executing_pipe(self.plans[previous]) == _S
            source = 3 * previous + (_END if on_scalar else _ISSUE)
            self._link(node, source, ISSUE, self.stream.costs[index].issue)
        if len(queue) == self.depth:
            self._link(node, 3 * queue[0] + _BEGIN, QUEUE)

    def _flag(self, index: int, sets: dict[int, deque[int]]) -> None:
        setters = sets.get(self.plans[index].flag)
        if setters:
            self._link(3 * index + _END, 3 * setters.popleft() + _BEGIN, FLAG, self.hop)

    def _after(self, index: int, work: int) -> None:
        """A set or barrier takes effect after the last work of its pipe."""
        if work >= 0:
            moment = _END if self.plans[index].form == "barrier" else _BEGIN
            self._link(3 * index + moment, 3 * work + _END, WORK)

    def _behind(self, index: int, work: int) -> None:
        """A wait stands in the queue of its pipe until the last work there lets the next one in."""
        if work >= 0:
            begin, source, lag = 3 * index + _BEGIN, 3 * work + _END, 0
            if self.times[begin] < self.times[source]:
                source = 3 * work + _BEGIN
                lag = self.times[begin] - self.times[source]
            self._link(begin, source, WORK, lag)

    def _work(self, index: int, earlier: int, waits: list[int]) -> None:
        begin, end = 3 * index + _BEGIN, 3 * index + _END
        for wait in waits:
            self._link(begin, 3 * wait + _END, WORK)
        if earlier < 0:
            return
        if self.times[begin] >= self.times[3 * earlier + _END]:
            self._link(begin, 3 * earlier + _END, WORK)
            return
        # Two instructions share the pipe: the later one ends after the earlier one, and begins
        # when it does because of it, unless something else explains the moment.
        self._link(end, 3 * earlier + _END, WORK, self.times[end] - self.times[3 * earlier + _END])
        if all(edge.slack for edge in self.before[begin]):
            lag = self.times[begin] - self.times[3 * earlier + _BEGIN]
            self._link(begin, 3 * earlier + _BEGIN, WORK, lag)

    # -- readings --------------------------------------------------------------------------------

    def _sorted(self) -> list[int]:
        """Moments, each after everything that it waits for."""
        order: list[int] = []
        seen = bytearray(len(self.times))
        for root in range(len(self.times)):
            stack = [root]
            while stack:
                node = stack[-1]
                if seen[node] == 0:
                    seen[node] = 1
                    stack += [e.source for e in self.before[node] if not seen[e.source]]
                    continue
                stack.pop()
                if seen[node] == 1:
                    seen[node] = 2
                    order.append(node)
        return order

    def _slack(self) -> list[int]:
        total = self.stream.total
        late = [total - time for time in self.times]
        for node in reversed(self.order):
            own = late[node]
            for source, slack, _ in self.before[node]:
                late[source] = min(late[source], own + slack)
        return late[_END::_MOMENTS]

    def path(self) -> list[tuple[str, int, int, int]]:
        """Return the steps (kind, index, start, end) from cycle 0 to the end of the stream."""
        if not self.times:
            return []
        node = max(range(_END, len(self.times), _MOMENTS), key=self.times.__getitem__)
        now = self.stream.total
        steps: list[tuple[str, int, int, int]] = []
        while True:
            index = node // _MOMENTS
            # The last cause counts; of several, the flag or the work, because issue is always one.
            causes = self.before[node]
            if not causes:
                kind = ISSUE if node % _MOMENTS == _ISSUE else WORK
                steps.append((kind, index, 0, now))
                break
            cause = min(causes, key=lambda e: (e.slack, -self.times[e.source], e.kind == ISSUE))
            then = min(now, self.times[cause.source])
            if then < now:
                steps.append((self._kind(node, cause), index, then, now))
            node, now = cause.source, then
        return _merged(steps[::-1])

    def _kind(self, node: int, cause: _Edge) -> str:
        if node % _MOMENTS == _ISSUE:
            return cause.kind
        return FLAG if cause.kind == FLAG else WORK


def _merged(steps: list[tuple[str, int, int, int]]) -> list[tuple[str, int, int, int]]:
    """Join neighbouring steps of one kind and instruction; drop empty ones."""
    merged: list[tuple[str, int, int, int]] = []
    for kind, index, start, end in steps:
        if start == end:
            continue
        if merged and merged[-1][:2] == (kind, index):
            merged[-1] = (kind, index, merged[-1][2], end)
        else:
            merged.append((kind, index, start, end))
    return merged
