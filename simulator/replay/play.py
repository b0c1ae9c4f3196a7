"""A block that runs through its record in an order worked out beforehand."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from simulator.replay.device import Player
from simulator.replay.steps import CROSS_WAIT, POLL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simulator.replay.device import Device
    from simulator.replay.sequence import Order
    from simulator.replay.steps import Step
    from simulator.run import Block

    Numbers = NDArray[np.int64]


class SequencePlayer(Player):
    """Plays whole instructions in a given order.

    It stops where other blocks come in: at cross-core calls and, when blocks share bytes, at each
    access to them.
    """

    def __init__(
        self, block: Block, steps: Sequence[Step], device: Device, order: Order, start: int
    ) -> None:
        super().__init__(block, steps, device)
        self.order = order
        self.start = start
        positions = order.positions.tolist()
        entries = self.entries
        self.positions: list[int] = positions
        self.sequence = [entries[i] for i in positions]
        self.at = 0
        self.turn = -1
        self.meetings = device.sharing.meetings
        self.stops = [at for at, i in enumerate(positions) if self._stops_at(i)]
        self._left: Numbers | None = None

    def _stops_at(self, index: int) -> bool:
        step = self.steps[index]
        return step.is_special or (step.touches_global and (self.index, index) in self.meetings)

    @property
    def next_key(self) -> int:
        """Cycle at which the next instruction takes effect."""
        done = self.at == len(self.positions)
        return self.start + (0 if done else int(self.order.keys[self.at]))

    def can_go(self) -> bool:
        """Whether other blocks let the next instruction pass."""
        if self.at == len(self.positions):
            return True
        index = self.positions[self.at]
        return self.device.may_pass(self, index, self.steps[index])

    def advance(self) -> None:
        """Run to the next place where another block may come in."""
        positions, stops = self.positions, self.stops
        at = bisect_left(stops, self.at)
        while at < len(stops):
            self._run(stops[at])
            index = positions[self.at]
            step = self.steps[index]
            if at != self.turn and (
                step.kind in (CROSS_WAIT, POLL) or (self.index, index) in self.meetings
            ):
                self.turn = at
                return
            if step.is_special and not self.device.may_pass(self, index, step):
                return
            self.perform(index, step)
            self.at += 1
            at += 1
        self._run(len(positions))
        self.finished = True

    def _run(self, until: int) -> None:
        if self.device.observer is not None:
            for index in self.positions[self.at : until]:
                self.perform(index, self.steps[index])
            self.at = until
            return
        for plan, _, _, params in self.sequence[self.at : until]:
            plan.run(*params)
        self.at = until

    def waits_at(self) -> int:
        """Return the position in the record of the instruction that is next."""
        return self.positions[self.at] if self.at < len(self.positions) else len(self.positions)

    def shown(self, index: int) -> bool:
        """Whether an instruction has been executed."""
        return index not in self.positions[self.at :]

    def completed(self, count: int) -> bool:
        """Whether the first ``count`` instructions of the record have been executed."""
        if self.at == len(self.positions):
            return True
        if self._left is None:
            self._left = np.minimum.accumulate(self.order.positions[::-1])[::-1]
        reached = count - 1 if self.stands_at_wait(self.waits_at(), count) else count
        return int(self._left[self.at]) >= reached
