"""In which order the instructions of a record took effect.

A pipe that waits for a flag holds its later instructions back while the scalar unit goes on, so the
order of effects is not always that of the record. The rules are those of
:class:`simulator.core.AICore`; here they are applied to entries that exist already.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from simulator.blocks import Blocks
from simulator.enums import PipeID
from simulator.stalls import CROSS, MUTEX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simulator.core import Entry
    from simulator.memory import LocalMemory
    from simulator.run import Run

S: Final = int(PipeID.PIPE_S)
NEVER: Final = 2**62
"""Cycle and count of what has not happened."""


class Turn(NamedTuple):
    """A stretch in which one block ran: its steps, and how much it had issued at both ends."""

    block: int
    first_step: int
    end_step: int
    first_issue: int
    end_issue: int


class BlockOrder(NamedTuple):
    """Order of effects of one block.

    Attributes
    ----------
    steps : array
        Positions in the record, in the order in which they took effect.
    issued : array
        For each step, how many instructions the block had issued by then.
    step_of : array
        For each position in the record its step; -1 if it never took effect.
    """

    steps: NDArray[np.int64]
    issued: NDArray[np.int64]
    step_of: NDArray[np.int64]

    def steps_before(self, issued: int) -> int:
        """Return how many steps were complete when instruction ``issued`` was about to issue."""
        return int(np.searchsorted(self.issued, issued, "right"))


class _Core:
    """A core while its record is followed."""

    def __init__(self, index: int, entries: Sequence[Entry], blocks: Blocks) -> None:
        self.index = index
        self.entries = entries
        self.blocks = blocks
        self.at = 0
        self.pending: int | None = None
        self.stalled: dict[int, deque[int]] = {}
        self.flags: set[int] = set()
        self.released: dict[int, int] = {}
        self.steps: list[int] = []
        self.issued: list[int] = []

    def turn(self, until: int) -> None:
        """Go on until ``until`` instructions are issued."""
        self._resume()
        entries, steps, issued = self.entries, self.steps, self.issued
        for index in range(self.at, until):
            if self.pending is not None:
                return
            self.at = index + 1
            plan = entries[index][0]
            if plan.event < 0 and not self.stalled:
                steps.append(index)
                issued.append(index + 1)
            elif plan.form == "barrier" and plan.pipe == S:
                self.pending = index
                self._resume()
            else:
                self._dispatch(index)

    def _resume(self) -> None:
        self._pump()
        index = self.pending
        if index is None:
            return
        plan = self.entries[index][0]
        if plan.event < 0 and self.stalled:
            return
        if plan.event >= 0 and not self._take(index):
            return
        self.pending = None
        self._done(index)
        self._pump()

    def _done(self, index: int) -> None:
        self.steps.append(index)
        self.issued.append(self.at)

    def _dispatch(self, index: int) -> None:
        pipe = self.entries[index][0].pipe
        queue = self.stalled.get(pipe)
        if queue is not None:
            queue.append(index)
        else:
            self._execute(index)
            self._pump()

    def _execute(self, index: int) -> None:
        plan = self.entries[index][0]
        if plan.event >= 0 and plan.form in ("wait", "cross wait", "lock"):
            if not self._take(index):
                if plan.pipe == S:
                    self.pending = index
                else:
                    self.stalled[plan.pipe] = deque((index,))
                return
        elif plan.form == "set":
            if plan.flag in self.flags:
                return
            self.flags.add(plan.flag)
        elif plan.form == "cross set":
            self.blocks.arrive(self.index, plan)
        elif plan.form == "unlock":
            self.released[plan.flag] = self.released.get(plan.flag, 0) + 1
        self._done(index)

    def _take(self, index: int) -> bool:
        """Pass a wait if what it waits for has happened."""
        plan, params = self.entries[index][0], self.entries[index][3]
        if plan.event == CROSS:
            counters = self.blocks.counters(self.index)
            if not counters[plan.flag]:
                return False
            counters[plan.flag] -= 1
            return True
        if plan.event == MUTEX:
            return bool(self.released.get(plan.flag, 0) == params[0])
        if plan.flag not in self.flags:
            return False
        self.flags.discard(plan.flag)
        return True

    def _pump(self) -> None:
        moved = True
        while moved and self.stalled:
            moved = False
            for pipe, queue in list(self.stalled.items()):
                if not self._take(queue[0]):
                    continue
                moved = True
                self._done(queue.popleft())
                del self.stalled[pipe]
                while queue and pipe not in self.stalled:
                    self._execute(queue.popleft())
                if queue:
                    self.stalled[pipe].extend(queue)

    def order(self) -> BlockOrder:
        """Return the order as arrays."""
        steps = np.array(self.steps, np.int64)
        step_of = np.full(len(self.entries), -1, np.int64)
        step_of[steps] = np.arange(len(steps))
        return BlockOrder(steps, np.array(self.issued, np.int64), step_of)


class Order:
    """Order of effects of a whole run.

    Parameters
    ----------
    count : int
        Blocks of the launch; those that a failed launch has not started included.

    Attributes
    ----------
    blocks : list of BlockOrder
        By place in ``run.blocks``.
    turns : list of Turn
        In the order in which blocks ran.
    """

    def __init__(self, run: Run, local: LocalMemory, count: int) -> None:
        place = {block.index: n for n, block in enumerate(run.blocks)}
        flags = Blocks(local, count, run.platform.chip.aiv, run.task_ratio)
        cores = [_Core(block.index, block.entries, flags) for block in run.blocks]
        course = [(place[b], n) for b, n in run.course if b in place]
        # What the last turns of a launch that failed issued has no entry in the course.
        course += [(n, len(block.entries)) for n, block in enumerate(run.blocks)]
        self.turns: list[Turn] = []
        for number, until in course:
            core = cores[number]
            first_step, first_issue = len(core.steps), core.at
            core.turn(until)
            if len(core.steps) > first_step or core.at > first_issue:
                self.turns.append(Turn(number, first_step, len(core.steps), first_issue, core.at))
        self.blocks = [core.order() for core in cores]
