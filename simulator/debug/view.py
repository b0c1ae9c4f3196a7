"""One block of a run for the debugger: its record, its source and its pipes side by side."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.debug.effects import pointer_of
from simulator.debug.pipes import Pipes
from simulator.debug.trace import BACK, LINE, Trace, trace_of_record
from simulator.errors import SourceLocation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.core import Entry
    from simulator.debug.effects import Touches
    from simulator.debug.order import BlockOrder
    from simulator.run import Run


class BlockView:
    """A block: everything about it that does not depend on the moment.

    Attributes
    ----------
    place : int
        Place of the block in the run.
    findings : list
        Findings whose call is in this block.
    has_source : bool
        Whether lines, locals and queue states were recorded.
    """

    def __init__(
        self,
        run: Run,
        place: int,
        trace: Trace | None,
        order: BlockOrder,
        touches: Touches,
        findings: Sequence[Any],
    ) -> None:
        block = run.blocks[place]
        self.place = place
        self.index = block.index
        self.entries: list[Entry] = block.entries
        self.order = order
        self.touches = touches
        self.findings = [f for f in findings if f.block == block.index]
        self.has_source = trace is not None
        self.trace = trace_of_record(block.entries) if trace is None else trace
        self.placed = run.timeline.blocks[place]

    @cached_property
    def pipes(self) -> Pipes:
        """Pipes and flags of the block."""
        return Pipes(self.entries, self.placed, self.order)

    def __len__(self) -> int:
        return len(self.entries)

    # -- source --------------------------------------------------------------------------------

    def event_at(self, issued: int) -> int:
        """Return the event whose line issues instruction ``issued``."""
        return max(0, bisect_right(self.trace.at, issued) - 1)

    def location(self, event: int) -> SourceLocation | None:
        """Return the source line of an event."""
        trace = self.trace
        if not trace.at:
            return None
        event = min(event, len(trace.at) - 1)
        code = trace.frames[trace.frame[event]].code
        return SourceLocation(code.co_filename, trace.line[event], code.co_name)

    def next_line(self, event: int, depth: int | None = None) -> int | None:
        """Return the next line event, not deeper than ``depth`` when that is given."""
        trace = self.trace
        for number in range(event + 1, len(trace.at)):
            if trace.kind[number] == LINE and (
                depth is None or self._depths[trace.frame[number]] <= depth
            ):
                return number
        return None

    def previous_line(self, event: int, depth: int | None = None) -> int | None:
        """Return the line event before, not deeper than ``depth`` when that is given."""
        trace = self.trace
        for number in range(event - 1, -1, -1):
            if trace.kind[number] == LINE and (
                depth is None or self._depths[trace.frame[number]] <= depth
            ):
                return number
        return None

    def next_back(self, event: int, depth: int) -> int | None:
        """Return the event at which a frame not deeper than ``depth`` goes on."""
        trace = self.trace
        for number in range(event + 1, len(trace.at)):
            if self._depths[trace.frame[number]] <= depth and trace.kind[number] in (LINE, BACK):
                return number
        return None

    def depth(self, event: int) -> int:
        """Return how many frames are below that of an event."""
        frames = self.trace.frame
        return self._depths[frames[min(event, len(frames) - 1)]] if frames else 0

    @cached_property
    def _depths(self) -> list[int]:
        depths: list[int] = []
        for frame in self.trace.frames:
            depths.append(0 if frame.parent < 0 else depths[frame.parent] + 1)
        return depths

    @cached_property
    def line_cycles(self) -> dict[tuple[str, int], int]:
        """Busy cycles of the pipes by source line: (file, line) to cycles."""
        pipes, total = self.pipes, dict[tuple[str, int], int]()
        places: dict[tuple[Any, int], tuple[str, int]] = {}
        from simulator.instruction import locate

        for index, (_, code, lasti, _) in enumerate(self.entries):
            place = places.get((code, lasti))
            if place is None:
                found = locate(code, lasti)
                place = places[code, lasti] = (found.file, found.line)
            if self.order.step_of[index] >= 0:
                spent = int(pipes.end[index] - pipes.start[index])
                total[place] = total.get(place, 0) + spent
        return total

    # -- writers -------------------------------------------------------------------------------

    @cached_property
    def _ub_writes(self) -> tuple[Any, Any]:
        """Lowest and highest UB byte that each instruction writes; an empty range for none."""
        known: dict[Any, tuple[int, int]] = {}
        low, high = np.zeros(len(self.entries), np.int64), np.zeros(len(self.entries), np.int64)
        for index, entry in enumerate(self.entries):
            plan = entry[0]
            span = known.get(plan)
            if span is None:
                spans = [t for t in self.touches.of(plan) if t.writes and not t.is_global]
                span = known[plan] = (
                    min((t.low for t in spans), default=0),
                    max((t.high for t in spans), default=0),
                )
            low[index], high[index] = span
        return low, high

    def last_writer(self, done: Any, low: int, high: int) -> int | None:
        """Return the last of the instructions ``done`` (a mask) that wrote to UB ``low..high``."""
        lows, highs = self._ub_writes
        hits = np.flatnonzero(done & (lows < high) & (highs > low))
        for index in hits[::-1]:
            plan = self.entries[index][0]
            if any(
                t.writes and not t.is_global and t.meets(low, high) for t in self.touches.of(plan)
            ):
                return int(index)
        return None

    def global_writers(self, done: Any, low: int, high: int) -> list[int]:
        """Return the instructions ``done`` that wrote to global addresses ``low..high``."""
        found = []
        for index in map(int, np.flatnonzero(done)):
            plan, _, _, params = self.entries[index]
            pointer = pointer_of(params)
            if pointer is not None and any(
                t.writes and t.is_global and t.meets(low, high, pointer.address)
                for t in self.touches.of(plan)
            ):
                found.append(index)
        return found
