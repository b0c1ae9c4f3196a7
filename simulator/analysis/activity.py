"""How busy something is over the time of a run, in equal stretches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.analysis.lanes import SYNC_FORMS, SharesOf, executing_pipe
from simulator.enums import PipeID
from simulator.timing.schedule import ALL_PIPES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.run import Run
    from simulator.timing.timeline import PlacedBlock

_S = int(PipeID.PIPE_S)


def covered(intervals: list[tuple[int, int]], edges: NDArray[Any]) -> NDArray[Any]:
    """Cycles of disjoint, ordered ``intervals`` between each two neighbouring ``edges``."""
    if not intervals:
        return np.zeros(len(edges) - 1)
    starts, ends = np.array(intervals, float).T
    before = np.concatenate(([0.0], np.cumsum(ends - starts)))
    index = np.searchsorted(starts, edges, "right")
    last = np.concatenate(([0.0], ends))[index]
    reached: NDArray[Any] = before[index] - np.where(index > 0, np.maximum(0.0, last - edges), 0.0)
    return np.diff(reached)


def activity(run: Run, bins: int) -> dict[int, dict[str, list[float]]]:
    """Busy share (0..1) of every pipe of every core in ``bins`` equal stretches of the run.

    The first stretch begins with the launch, so it shows the start-up.
    """
    edges = np.linspace(0.0, run.cycles, bins + 1)
    shares_of = SharesOf(run)
    known: dict[tuple[int, int], dict[int, NDArray[Any]]] = {}
    found: dict[int, dict[int, NDArray[Any]]] = {}
    for placed in run.timeline.blocks:
        key = id(placed.stream), placed.start
        if key not in known:
            busy = _busy(run, placed, shares_of)
            known[key] = {p: covered(busy[p], edges - placed.start) for p in ALL_PIPES}
        core = found.setdefault(placed.core, {p: np.zeros(bins) for p in ALL_PIPES})
        for pipe, cycles in known[key].items():
            core[pipe] = core[pipe] + cycles
    width = run.cycles / bins or 1.0
    return {
        core: {
            PipeID(pipe).label: np.clip(cycles / width, 0.0, 1.0).tolist()
            for pipe, cycles in pipes.items()
        }
        for core, pipes in sorted(found.items())
    }


def _busy(run: Run, placed: PlacedBlock, shares_of: SharesOf) -> dict[int, list[tuple[int, int]]]:
    """Busy intervals of every pipe; issuing keeps the scalar unit busy."""
    shares, stream = shares_of(placed), placed.stream
    busy: dict[int, list[tuple[int, int]]] = {pipe: [] for pipe in ALL_PIPES}
    for index, entry in enumerate(run.blocks[placed.block].entries):
        pipe = executing_pipe(entry[0])
        if pipe != _S:
            busy[_S].append(
                (stream.issued[index] - stream.costs[index].issue, stream.issued[index])
            )
        if pipe == _S or entry[0].form not in SYNC_FORMS:
            busy[pipe].append((shares.start[index], shares.end[index]))
    return busy
