"""When everything in a run happened: blocks on cores, instructions on pipes.

Blocks with the same instruction stream are scheduled once. Blocks beyond the number of cores run in
further rounds on the same cores.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from simulator.timing.cost_model import CostModel
from simulator.timing.schedule import FINISHED, START_UP, Stream, schedule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.instruction import Plan
    from simulator.platforms import Platform


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
    unmeasured : list of str
        Calls charged by the default cost for want of a published figure.
    """

    def __init__(
        self, platform: Platform, streams: Sequence[Sequence[Plan]], *, auto_sync: bool
    ) -> None:
        self.platform = platform
        self.cores = min(len(streams), platform.chip.aiv)
        timing = platform.timing
        self.start_cycles = ceil(timing.cycles(timing.block_start_ns))
        model = CostModel(platform, self.cores, auto_sync=auto_sync)
        folded: dict[tuple[Plan, ...], Stream] = {}
        ready = [0] * self.cores
        self.blocks: list[PlacedBlock] = []
        for number, plans in enumerate(streams):
            key = tuple(plans)
            stream = folded.get(key)
            if stream is None:
                stream = folded[key] = schedule(key, model)
            core = number % self.cores
            start = ready[core] + self.start_cycles
            self.blocks.append(PlacedBlock(number, core, start, stream))
            ready[core] = start + stream.total
        self.distinct_streams = len(folded)
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
