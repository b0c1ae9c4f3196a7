"""Where the blocks of a run meet in global memory, so that it matters who comes first."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from simulator.replay.steps import CROSS_SET, CROSS_WAIT, POLL, pointer_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulator.memory import Allocation
    from simulator.replay.steps import Step
    from simulator.run import Block, Run


class _Use(NamedTuple):
    """An access: the bytes from the first to the last that it touches."""

    low: int
    high: int
    block: int
    at: int
    writes: bool


class Sharing:
    """Accesses of one block that meet those of another, at least one of them a write.

    What lies between two SyncAll is an epoch of its own: accesses of different epochs are ordered.

    Attributes
    ----------
    meetings : set of (int, int)
        Block and position in the record of each such access.
    matters : bool
        Whether the blocks of the run have anything to do with each other.
    polls : bool
        Whether blocks may wait for what others write, by looking at it.
    """

    def __init__(self, run: Run, steps_of: Callable[[Block], Sequence[Step]]) -> None:
        self._writers: dict[Allocation, set[int]] = {}
        self._uses: dict[tuple[Allocation, int], list[_Use]] = {}
        self._reach: dict[Step, tuple[int, int, bool]] = {}
        kinds: set[int] = set()
        scalar = False
        single = len(run.blocks) == 1
        for block in run.blocks if not single else ():
            steps = steps_of(block)
            distinct = set(steps)
            kinds |= {step.kind for step in distinct}
            scalar = scalar or any(step.is_scalar_global for step in distinct)
            at = [i for i, step in enumerate(steps) if step.touches_global]
            epochs = _epochs_of(steps)
            for i in at:
                self._note(block, i, steps[i], epochs[i] if epochs else 0)
        self.meetings: set[tuple[int, int]] = set()
        for (allocation, _), uses in self._uses.items():
            if allocation in self._writers:
                self.meetings |= _meeting(uses)
        ordered = not kinds.isdisjoint((CROSS_SET, CROSS_WAIT, POLL))
        self.matters = not single and (ordered or bool(self.meetings))
        self.polls = POLL in kinds or (scalar and bool(self.meetings))

    def _note(self, block: Block, index: int, step: Step, epoch: int) -> None:
        pointer = pointer_of(block.entries[index][3])
        if pointer is None:
            return
        known = self._reach.get(step)
        if known is None:
            parts = [op for op in step.plan.operands if op.space == "GM"]
            hulls = [a.span() for op in parts for a in op.accesses]
            writes = any(op.role != "read" for op in parts)
            known = min(h[0] for h in hulls), max(h[1] for h in hulls), writes
            self._reach[step] = known
        low, high, writes = known
        allocation = pointer.allocation
        if writes:
            self._writers.setdefault(allocation, set()).add(block.index)
        self._uses.setdefault((allocation, epoch), []).append(
            _Use(low + pointer.offset, high + pointer.offset, block.index, index, writes)
        )

    def is_written_by_others(self, allocation: Allocation, block: int) -> bool:
        """Whether a block other than ``block`` writes to an allocation."""
        return bool(self._writers.get(allocation, set()) - {block})


def _epochs_of(steps: Sequence[Step]) -> list[int]:
    """Return for each instruction how many SyncAll lie before it; empty without any."""
    syncs = {
        step
        for step in set(steps)
        if step.kind in (CROSS_WAIT, POLL) and step.plan.spec.name == "SyncAll"
    }
    return list(accumulate(step in syncs for step in steps)) if syncs else []


def _meeting(uses: list[_Use]) -> set[tuple[int, int]]:
    """Return block and index of the uses that meet a use of another block, one of them a write."""
    if not _blocks_overlap(uses):
        return set()
    stores = _Reach([use for use in uses if use.writes])
    every = _Reach(uses)
    return {
        (use.block, use.at) for use in uses if (every if use.writes else stores).meets_other(use)
    }


def _blocks_overlap(uses: list[_Use]) -> bool:
    """Whether the whole ranges of two blocks overlap: a quick test, sometimes wrongly yes."""
    spans: dict[int, tuple[int, int]] = {}
    for low, high, block, _, _ in uses:
        before = spans.get(block)
        spans[block] = (min(low, before[0]), max(high, before[1])) if before else (low, high)
    reach = -1
    for low, high in sorted(spans.values()):
        if low < reach:
            return True
        reach = high
    return False


class _Reach:
    """Uses sorted by their first byte, with the furthest ends of two blocks before each."""

    def __init__(self, uses: list[_Use]) -> None:
        ordered = sorted(uses)
        self.lows = [use.low for use in ordered]
        self.best: list[tuple[int, int, int]] = []
        end, owner, second = -1, -1, -1
        for use in ordered:
            if use.block == owner:
                end = max(end, use.high)
            elif use.high > end:
                end, owner, second = use.high, use.block, end
            else:
                second = max(second, use.high)
            self.best.append((end, owner, second))

    def meets_other(self, use: _Use) -> bool:
        """Whether a use of another block shares bytes with ``use``."""
        at = bisect_left(self.lows, use.high)
        if not at:
            return False
        end, owner, second = self.best[at - 1]
        return (second if owner == use.block else end) > use.low
