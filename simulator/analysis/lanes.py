"""Which part of a pipe's time belongs to which instruction, so that nothing is counted twice.

A pipe starts an instruction before the last one has finished: copies queue behind each other's
latency and vector calls behind each other's tail. Every such cycle is given to the earlier
instruction, so the shares of a pipe's instructions are disjoint and add up to its busy cycles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.enums import PipeID

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.core import Entry
    from simulator.instruction import Plan
    from simulator.run import Run
    from simulator.timing.schedule import Stream
    from simulator.timing.timeline import PlacedBlock

SYNC_FORMS: Final = frozenset({"set", "wait", "barrier"})
"""Forms that order pipes and keep none of them busy."""

_S: Final = int(PipeID.PIPE_S)


def executing_pipe(plan: Plan) -> int:
    """Pipe whose time an instruction takes; state writes without work run on the scalar unit."""
    if plan.form in SYNC_FORMS or plan.work is not None:
        return plan.pipe
    return _S


class Shares(NamedTuple):
    """Disjoint intervals of one stream, by position in program order; one pipe's never overlap.

    A SetFlag or barrier has the last cycle before its end, a WaitFlag its waiting time, as far as
    the pipe has no work in these cycles.
    """

    start: list[int]
    end: list[int]


def shares(plans: Sequence[Plan], stream: Stream) -> Shares:
    """Return the share of every instruction of a stream.

    For V, MTE2 and MTE3 the shares of instructions other than flags and barriers add up to
    ``stream.busy``.
    """
    start, end = list(stream.start), list(stream.end)
    by_pipe: dict[int, list[int]] = {}
    for index, plan in enumerate(plans):
        by_pipe.setdefault(executing_pipe(plan), []).append(index)
    for indices in by_pipe.values():
        _clip_work(indices, plans, start, end)
        _clip_sync(indices, plans, start, end)
    return Shares(start, end)


def _clip_work(indices: list[int], plans: Sequence[Plan], start: list[int], end: list[int]) -> None:
    free = 0
    for index in indices:
        if plans[index].form not in SYNC_FORMS:
            start[index] = max(start[index], free)
            end[index] = free = max(end[index], start[index])


def _clip_sync(indices: list[int], plans: Sequence[Plan], start: list[int], end: list[int]) -> None:
    following: dict[int, int] = {}
    limit = max((end[index] for index in indices), default=0)
    for index in reversed(indices):
        if plans[index].form in SYNC_FORMS:
            following[index] = limit
        else:
            limit = start[index]
    cursor = 0
    for index in indices:
        form = plans[index].form
        if form in SYNC_FORMS:
            limit = following[index]
            first = start[index] if form == "wait" else end[index] - 1
            start[index] = min(max(first, cursor), limit)
            end[index] = max(start[index], min(end[index], limit))
        cursor = end[index]


def queue_stalls(entries: Sequence[Entry], stream: Stream) -> dict[int, int]:
    """Cycles that the scalar unit stood before the full queue of each pipe."""
    stalls: dict[int, int] = {}
    now = 0
    for index, entry in enumerate(entries):
        pipe = executing_pipe(entry[0])
        if pipe == _S:
            now = stream.end[index]
            continue
        waited = stream.issued[index] - now - stream.costs[index].issue
        if waited > 0:
            stalls[pipe] = stalls.get(pipe, 0) + waited
        now = stream.issued[index]
    return stalls


class SharesOf:
    """Shares of the blocks of a run; blocks with one schedule are computed once."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._known: dict[int, Shares] = {}

    def __call__(self, placed: PlacedBlock) -> Shares:
        """Return the shares of a block, in cycles from the start of its work."""
        key = id(placed.stream)
        if key not in self._known:
            plans = [entry[0] for entry in self._run.blocks[placed.block].entries]
            self._known[key] = shares(plans, placed.stream)
        return self._known[key]


def union(intervals: list[tuple[int, int]]) -> int:
    """Cycles covered by at least one of ``intervals``."""
    covered, until = 0, None
    for start, end in sorted(intervals):
        if until is None or start > until:
            covered += end - start
            until = end
        elif end > until:
            covered += end - until
            until = end
    return covered
