"""Whether two blocks write the same values, found by executing the record once more."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulator.memory import Saved
    from simulator.run import Run
    from simulator.sanitizer.global_order import Meeting

_MOST: Final = 10_000


def same_values(run: Run, meetings: Sequence[Meeting]) -> bool:
    """Whether in every meeting both blocks write the same bytes.

    The launch is repeated from its record in the course it took, and global memory is put back as
    it is. False for what cannot be repeated: very many meetings, or a record without memory.
    """
    if len(meetings) > _MOST or any(block.local is None for block in run.blocks):
        return False
    wanted: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for number, meeting in enumerate(meetings):
        for use in (meeting.first, meeting.second):
            wanted.setdefault((use.block, use.access.at), []).append(
                (number, meeting.low, meeting.high)
            )
    seen: list[list[bytes]] = [[] for _ in meetings]
    with ExitStack() as stack:
        stack.enter_context(np.errstate(all="ignore"))
        for local in {block.local for block in run.blocks if block.local is not None}:
            stack.enter_context(local.lock)
        for allocation, data in run.initial.items():
            stack.callback(allocation.data.__setitem__, slice(None), allocation.data.copy())
            allocation.data[:] = data
        for block, index in _execute(run):
            for number, low, high in wanted.get((block, index), ()):
                data = meetings[number].first.allocation.data
                seen[number].append(data[low:high].tobytes())
    return all(len(set(values)) == 1 for values in seen)


def _execute(run: Run) -> Iterator[tuple[int, int]]:
    """Execute the record; yield (block, entry) behind each call."""
    course = run.course or [(block.index, len(block.entries)) for block in run.blocks]
    reached: dict[int, int] = {}
    aside: dict[int, Saved] = {}
    for number, stop in course:
        block = run.blocks[number]
        local = block.local
        if local is None:
            return
        if number in aside:
            local.restore(aside.pop(number))
        elif number not in reached:
            local.reset()
        for index in range(reached.get(number, 0), stop):
            plan, _, _, params = block.entries[index]
            plan.run(*params)
            yield number, index
        reached[number] = stop
        if stop < len(block.entries):
            aside[number] = local.save()
