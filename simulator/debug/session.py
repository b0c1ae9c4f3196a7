"""A debugging session over a run: where it stands, and moving from there in both directions."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.debug.breakpoints import Breakpoint, moments
from simulator.debug.history import History, inputs_of
from simulator.debug.moment import Moment
from simulator.debug.order import NEVER
from simulator.debug.position import MACHINE, PROGRAM, Position, Stop
from simulator.debug.recorder import Launch
from simulator.debug.trace import LINE
from simulator.debug.view import BlockView
from simulator.enums import PipeID
from simulator.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simulator.run import Run


class Session:
    """Reads a run as a debugger does.

    Parameters
    ----------
    launch : Launch or Run
        What :func:`~simulator.debug.recorder.record_for_debug` recorded, or a plain run: then lines
        that issue nothing, locals and queue states are not known, and the arrays that the kernel
        read must still hold what they held.

    Attributes
    ----------
    run : Run
    clock : str
        ``program`` or ``machine``.
    position : Position
    breakpoints : list of Breakpoint
    bookmarks : dict of str to (Position, clock)
    """

    def __init__(self, launch: Launch | Run) -> None:
        if not isinstance(launch, Launch):
            launch = Launch(launch, {}, inputs_of(launch), len(launch.blocks), {})
        self.launch = launch
        self.run = launch.run
        if not self.run.blocks:
            raise ConfigError("the launch ended before any block began; there is nothing to show")
        self.history = History(self.run, launch.inputs, launch.block_count)
        self.clock = PROGRAM
        self.breakpoints: list[Breakpoint] = []
        self.bookmarks: dict[str, tuple[Position, str]] = {}
        self._views: dict[int, BlockView] = {}
        self._hits: dict[tuple[Breakpoint, int], list[tuple[int, int]]] = {}
        self._next_number = 1
        self.position = self._initial()

    # -- what there is -------------------------------------------------------------------------

    @property
    def error(self) -> Exception | None:
        """What ended the launch, if it failed."""
        return self.launch.error

    @cached_property
    def findings(self) -> list[Any]:
        """What the checks found; none for a launch that failed."""
        return [] if self.error is not None else list(self.run.findings)

    def view(self, place: int) -> BlockView:
        """Return a block by its place in the run."""
        found = self._views.get(place)
        if found is None:
            trace = self.launch.traces.get(self.run.blocks[place].index)
            found = self._views[place] = BlockView(
                self.run, place, trace, self.history.order.blocks[place],
                self.history.touches, (),
            )  # fmt: skip
        return found

    @property
    def here(self) -> BlockView:
        """The block that the session stands in."""
        return self.view(self.position.block)

    @property
    def moment(self) -> Moment:
        """The state at the position, in the clock of the session."""
        return Moment(self, self.position, self.clock)

    def moment_at(self, position: Position, clock: str | None = None) -> Moment:
        """Return the state at any position."""
        return Moment(self, position, clock or self.clock)

    def place_of(self, index: int) -> int:
        """Return the place of block ``index`` in the run.

        Raises
        ------
        ConfigError
            If it has not run.
        """
        for place, block in enumerate(self.run.blocks):
            if block.index == index:
                return place
        ran = [block.index for block in self.run.blocks]
        raise ConfigError(f"block {index} has not run", got=index, legal=f"{min(ran)}..{max(ran)}")

    def _initial(self) -> Position:
        error = self.launch.error
        if error is None:
            return self.position_in_program(0, 0, 0)
        fields = getattr(error, "fields", {})
        index = fields.get("block")
        if index is None or index not in {b.index for b in self.run.blocks}:
            index = self.run.blocks[-1].index
        place = self.place_of(index)
        view = self.view(place)
        trace, line = view.trace, self.launch.location
        events = [
            k for k in range(len(trace.at) - 1, -1, -1)
            if line is not None and view.location(k) == line
        ]  # fmt: skip
        event = events[0] if events else max(0, len(trace.at) - 1)
        return self.position_in_program(place, len(view), event)

    def failing(self) -> Stop:
        """Return the stop at the call that ended the launch."""
        self.position = self._initial()
        text = "the launch ends here" if self.error is None else str(self.error).splitlines()[0]
        return self.stop("error", text)

    # -- positions -----------------------------------------------------------------------------

    def position_in_program(self, place: int, issued: int, event: int | None = None) -> Position:
        """Return where a block is about to issue instruction ``issued``."""
        view = self.view(place)
        issued = min(max(issued, 0), len(view))
        if event is None:
            event = view.event_at(issued)
        return Position(place, issued, event, view.pipes.cycle_of(issued))

    def position_at_cycle(self, place: int, cycle: int) -> Position:
        """Return where a block is at a cycle; outside its work it stands still."""
        view = self.view(place)
        cycle = min(max(cycle, view.placed.start), view.placed.end)
        issued = view.pipes.issued_at(cycle)
        return Position(place, issued, view.event_at(issued), cycle)

    def stop(self, reason: str, text: str = "", number: int | None = None) -> Stop:
        """Return where the session stands."""
        position, view = self.position, self.here
        index = position.issued
        return Stop(
            reason,
            text,
            view.index,
            index,
            position.cycle,
            self.clock,
            view.location(position.event),
            view.entries[index][0].spec.name if index < len(view) else "",
            number,
        )

    def _move(self, position: Position, reason: str, text: str = "") -> Stop:
        self.position = position
        return self.stop(reason, text)

    # -- jumping -------------------------------------------------------------------------------

    def set_clock(self, clock: str) -> Stop:
        """Switch between ``program`` and ``machine``; the source line stays."""
        if clock not in (PROGRAM, MACHINE):
            raise ConfigError("there is no such clock", got=clock, legal=f"{PROGRAM}, {MACHINE}")
        self.clock = clock
        if clock == PROGRAM:
            place, issued, event, _ = self.position
            self.position = self.position_in_program(place, issued, event)
        return self.stop("jump", f"{clock} clock")

    def to_instruction(self, index: int, block: int | None = None) -> Stop:
        """Go to where instruction ``index`` of a block is about to issue.

        In machine time: to the cycle at which it starts on its pipe.
        """
        place = self.position.block if block is None else self.place_of(block)
        view = self.view(place)
        if not 0 <= index <= len(view):
            raise ConfigError(
                f"the block has {len(view)} instructions", got=index, legal=f"0..{len(view)}"
            )
        return self._move(self._moment_position(place, index, view.event_at(index)), "jump")

    def to_cycle(self, cycle: int) -> Stop:
        """Go to a cycle, in machine time."""
        self.clock = MACHINE
        return self._move(self.position_at_cycle(self.position.block, cycle), "jump")

    def to_block(self, index: int) -> Stop:
        """Go to a block: to the same cycle in machine time, else to its start."""
        place = self.place_of(index)
        if self.clock == MACHINE:
            return self._move(self.position_at_cycle(place, self.position.cycle), "jump")
        return self._move(self.position_in_program(place, 0, 0), "jump")

    def to_start(self) -> Stop:
        """Go to the start of the block."""
        return self._move(
            self.position_in_program(self.position.block, 0, 0), "start", "start of the block"
        )

    def to_end(self) -> Stop:
        """Go to the end of the block."""
        return self._end_of(self.position.block)

    def to(self, position: Position, clock: str) -> Stop:
        """Go to a position that was noted before."""
        self.clock = clock
        return self._move(position, "jump")

    def _end_of(self, place: int) -> Stop:
        view = self.view(place)
        last = len(view.trace.at)
        if self.clock == MACHINE:
            position = self.position_at_cycle(place, view.placed.end)
        else:
            position = self.position_in_program(place, len(view), last)
        return self._move(position, "end", "end of the block")

    def _moment_position(self, place: int, issued: int, event: int) -> Position:
        """Return the position of a program moment in the clock of the session."""
        view = self.view(place)
        if self.clock == MACHINE and issued < len(view):
            start = int(view.pipes.start[issued])
            if start < NEVER:
                return self.position_at_cycle(place, start)
        return self.position_in_program(place, issued, event)

    # -- stepping by line ----------------------------------------------------------------------

    def step_into(self, *, back: bool = False) -> Stop:
        """Go to the next source line, or the one before."""
        return self._step_line(None, back=back)

    def step_over(self, *, back: bool = False) -> Stop:
        """Go to the next line of this function or its callers, past what it calls."""
        return self._step_line(self.here.depth(self.position.event), back=back)

    def step_out(self, *, back: bool = False) -> Stop:
        """Go on until this function returns; back: to the line that called it."""
        view, event = self.here, self.position.event
        depth = view.depth(event)
        if depth == 0:
            return self.to_start() if back else self._end_of(self.position.block)
        if back:
            trace = view.trace
            frame = trace.frame[min(event, len(trace.at) - 1)]
            caller = trace.frames[frame].called_at
            return self._to_event(caller)
        found = view.next_back(event, depth - 1)
        return self._end_of(self.position.block) if found is None else self._to_event(found)

    def _step_line(self, depth: int | None, *, back: bool) -> Stop:
        view, event = self.here, self.position.event
        if back:
            # Between two lines the start of the present one is the line before.
            trace = view.trace
            if (
                self.clock == PROGRAM
                and event < len(trace.at)
                and trace.kind[event] == LINE
                and self.position.issued > trace.at[event]
            ):
                return self._to_event(event)
            found = view.previous_line(event, depth)
            return self.to_start() if found is None else self._to_event(found)
        found = view.next_line(event, depth)
        return self._end_of(self.position.block) if found is None else self._to_event(found)

    def _to_event(self, event: int) -> Stop:
        view = self.here
        place = self.position.block
        issued = view.trace.at[event]
        position = self.position_in_program(place, issued, event)
        return self._move(position, "step")

    # -- stepping by instruction and cycle -------------------------------------------------------

    def next_instruction(self, pipe: str | None = None, *, back: bool = False) -> Stop:
        """Go to the next instruction, of one pipe when it is named.

        In program order it is about to issue there; in machine time it starts there.
        """
        view, pipes = self.here, self.here.pipes
        mine = np.ones(len(view), bool) if pipe is None else pipes.pipe == pipe_number(pipe)
        if self.clock == MACHINE:
            starts = np.unique(pipes.start[mine & (pipes.start < NEVER)])
            return self._to_neighbour(starts, back=back)
        at = self.position.issued
        found = np.flatnonzero(mine)
        found = found[found < at][::-1] if back else found[found > at]
        if not len(found):
            return self.to_start() if back else self._end_of(self.position.block)
        index = int(found[0])
        return self._move(self.position_in_program(self.position.block, index), "step")

    def next_change(self, *, back: bool = False) -> Stop:
        """Go to the next cycle at which an instruction issues, starts or ends."""
        self.clock = MACHINE
        return self._to_neighbour(self.here.pipes.cycles, back=back)

    def _to_neighbour(self, cycles: Any, *, back: bool) -> Stop:
        now = self.position.cycle
        found = cycles[cycles < now][::-1] if back else cycles[cycles > now]
        place = self.position.block
        if not len(found):
            if back:
                return self._move(self.position_at_cycle(place, 0), "start", "start of the block")
            return self._end_of(place)
        return self._move(self.position_at_cycle(place, int(found[0])), "step")

    # -- breakpoints ---------------------------------------------------------------------------

    def add_breakpoint(
        self, kind: str, *, condition: str = "", once: bool = False, **where: Any
    ) -> Breakpoint:
        """Set a breakpoint; see :class:`Breakpoint` for ``kind`` and ``where``."""
        if condition:
            compile(condition, "<condition>", "eval")
        point = Breakpoint(self._next_number, kind, where, condition, once=once)
        self._next_number += 1
        self.breakpoints.append(point)
        return point

    def delete_breakpoint(self, number: int | None = None) -> list[Breakpoint]:
        """Delete one breakpoint, or all; return what was deleted."""
        gone = [p for p in self.breakpoints if number in (None, p.number)]
        if number is not None and not gone:
            raise ConfigError(
                f"there is no breakpoint {number}",
                legal=", ".join(str(p.number) for p in self.breakpoints) or "none is set",
            )
        self.breakpoints = [p for p in self.breakpoints if p not in gone]
        return gone

    def hits(self, point: Breakpoint, place: int) -> list[tuple[int, int]]:
        """Return (issued, event) of every place in a block where a breakpoint may stop."""
        key = (point, place)
        found = self._hits.get(key)
        if found is None:
            view = self.view(place)
            if point.kind == "finding":
                view.findings = [f for f in self.findings if f.block == view.index]
            found = self._hits[key] = moments(point, view)
        return found

    def run_on(self, *, back: bool = False, until: Breakpoint | None = None) -> Stop:
        """Go on to the next breakpoint in any block, or to the end; back: the other way."""
        points = [until] if until is not None else [p for p in self.breakpoints if p.enabled]
        search = self._search_cycles if self.clock == MACHINE else self._search_program
        for position, index, point in search(points, back):
            if self._holds(point, position):
                self.position = position
                text = f"{point}{self._started(index)}"
                if point is until:
                    return self.stop("step", text)
                return self.stop("breakpoint", text, point.number)
        return self._out_of_hits(back)

    def _started(self, index: int) -> str:
        """Return which instruction starts at a stop in machine time."""
        if self.clock == PROGRAM or index >= len(self.here):
            return ""
        entry = self.run.instructions.of_block(self.position.block, index)
        return f": #{entry.index} {entry.name} of line {entry.location.line} starts on {entry.pipe}"

    def run_to(self, kind: str, *, back: bool = False, **where: Any) -> Stop:
        """Go on to a place as if a breakpoint were there, past all others."""
        return self.run_on(back=back, until=Breakpoint(0, kind, where))

    def _out_of_hits(self, back: bool) -> Stop:
        if back:
            place = self.history.order.turns[0].block if self.history.order.turns else 0
            self.position = (
                self.position_at_cycle(place, 0)
                if self.clock == MACHINE
                else self.position_in_program(place, 0, 0)
            )
            return self.stop("start", "start of the launch")
        if self.error is not None:
            return self.failing()
        turns = self.history.order.turns
        self._end_of(turns[-1].block if turns else 0)
        return self.stop("end", "end of the launch")

    def _search_program(
        self, points: list[Breakpoint], back: bool
    ) -> Iterator[tuple[Position, int, Breakpoint]]:
        """Yield hits behind (or before) the position in the order in which blocks ran."""
        turns = self.history.order.turns
        here = (self.position.issued, self.position.event)
        current = self._turn_of(self.position.block, self.position.issued)
        numbers = range(current, -1, -1) if back else range(current, len(turns))
        for number in numbers:
            turn = turns[number]
            last = number == self._turn_of(turn.block, len(self.view(turn.block)))
            found = []
            for point in points:
                for moment in self.hits(point, turn.block):
                    inside = turn.first_issue <= moment[0] and (moment[0] < turn.end_issue or last)
                    if not inside or (number == current and not _passes(moment, here, back)):
                        continue
                    found.append((moment, point))
            found.sort(key=_by_moment, reverse=back)
            for moment, point in found:
                yield self.position_in_program(turn.block, *moment), moment[0], point

    def _turn_of(self, place: int, issued: int) -> int:
        mine = [n for n, t in enumerate(self.history.order.turns) if t.block == place]
        for number in mine:
            if issued < self.history.order.turns[number].end_issue:
                return number
        return mine[-1] if mine else 0

    def _search_cycles(
        self, points: list[Breakpoint], back: bool
    ) -> Iterator[tuple[Position, int, Breakpoint]]:
        """Yield hits after (or before) the cycle, over all blocks."""
        found = []
        now = (self.position.cycle, self.position.block)
        for place in range(len(self.run.blocks)):
            for point in points:
                for issued, event in self.hits(point, place):
                    position = self._moment_position(place, issued, event)
                    key = (position.cycle, place)
                    if key < now if back else key > now:
                        found.append((key, position, issued, point))
        found.sort(key=_by_key, reverse=back)
        for _, position, issued, point in found:
            yield position, issued, point

    def _holds(self, point: Breakpoint, position: Position) -> bool:
        if not point.condition:
            return True
        try:
            return bool(Moment(self, position, self.clock).evaluate(point.condition))
        except NameError:
            # The name does not exist yet at this moment.
            return False

    # -- bookmarks -----------------------------------------------------------------------------

    def bookmark(self, name: str) -> None:
        """Keep the position under a name."""
        self.bookmarks[name] = (self.position, self.clock)

    def bookmarked(self, name: str) -> Moment:
        """Return the state at a bookmark.

        Raises
        ------
        ConfigError
            If there is none of that name.
        """
        if name not in self.bookmarks:
            raise ConfigError(
                f"there is no bookmark {name!r}",
                legal=", ".join(self.bookmarks) or "none is set",
                fix="bookmark NAME keeps the present moment",
            )
        return Moment(self, *self.bookmarks[name])


def pipe_number(name: str) -> PipeID:
    """Return a pipe by its short name.

    Raises
    ------
    ConfigError
        If the vector core has no such pipe.
    """
    legal = ("S", "V", "MTE2", "MTE3")
    if name.upper() not in legal:
        raise ConfigError("there is no such pipe", got=name, legal=", ".join(legal))
    return PipeID[f"PIPE_{name.upper()}"]


def _passes(moment: tuple[int, int], here: tuple[int, int], back: bool) -> bool:
    return moment < here if back else moment > here


_by_moment: Callable[[Any], Any] = lambda found: found[0]  # noqa: E731
_by_key: Callable[[Any], Any] = lambda found: found[0]  # noqa: E731
