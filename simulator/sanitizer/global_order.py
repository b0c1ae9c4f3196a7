"""Accesses to global memory that share bytes: inside a block, and between blocks.

Accesses are laid out as runs of bytes and sorted, so that strided ones are compared byte by byte
and a run without any shared byte costs a sort. What meets is then judged: inside a block by flags
and barriers, between blocks by cross-core synchronisation. Source:
mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/同步控制 (核间同步) and 原子操作.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simulator.sanitizer.classes import READS, conflicting
from simulator.sanitizer.ranges import is_dense, span, touched_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from simulator.instruction import Plan
    from simulator.memory import Allocation
    from simulator.sanitizer.streams import Use

    Numbers = NDArray[np.int64]


class Meeting(NamedTuple):
    """Two uses that share bytes ``low..high`` of their allocation."""

    first: Use
    second: Use
    low: int
    high: int


class Layout:
    """The runs of bytes of some uses of one allocation, sorted by address."""

    def __init__(self, uses: Sequence[Use]) -> None:
        self.uses = uses
        shapes: dict[tuple[Plan, str], tuple[int, int] | tuple[Numbers, Numbers]] = {}
        lows: list[int] = []
        highs: list[int] = []
        owners: list[int] = []
        scattered: list[tuple[Numbers, Numbers, int]] = []
        for number, use in enumerate(uses):
            operand = use.access.operand
            key = (use.access.plan, operand.name)
            shape = shapes.get(key)
            if shape is None:
                dense = is_dense(operand.accesses)
                shape = span(operand.accesses) if dense else touched_runs(operand.accesses)
                shapes[key] = shape
            start, stop = shape
            if isinstance(start, np.ndarray) and isinstance(stop, np.ndarray):
                scattered.append((start + use.offset, stop + use.offset, number))
            else:
                lows.append(int(start) + use.offset)
                highs.append(int(stop) + use.offset)
                owners.append(number)
        starts = [np.array(lows, np.int64), *(s for s, _, _ in scattered)]
        stops = [np.array(highs, np.int64), *(s for _, s, _ in scattered)]
        owner = [np.array(owners, np.int64), *(np.full(len(s), n) for s, _, n in scattered)]
        order = np.argsort(np.concatenate(starts), kind="stable")
        self.starts: Numbers = np.concatenate(starts)[order]
        self.stops: Numbers = np.concatenate(stops)[order]
        self.owners: Numbers = np.concatenate(owner)[order]

    def clusters(self) -> Iterator[tuple[int, int]]:
        """Yield (first, behind the last) of runs that hang together by shared bytes."""
        if len(self.starts) < 2:
            return
        reach = np.maximum.accumulate(self.stops)[:-1]
        borders = np.flatnonzero(self.starts[1:] >= reach) + 1
        if len(borders) == len(self.starts) - 1:
            return
        edges = np.concatenate(([0], borders, [len(self.starts)]))
        for at in np.flatnonzero(np.diff(edges) > 1):
            yield int(edges[at]), int(edges[at + 1])

    def extent(self) -> tuple[int, int]:
        """Return the lowest byte and one past the highest."""
        return int(self.starts[0]), int(self.stops.max())


def by_allocation(uses: Sequence[Use]) -> dict[Allocation, list[Use]]:
    """Group uses by allocation; each group in block and program order."""
    groups: dict[Allocation, list[Use]] = {}
    for use in uses:
        groups.setdefault(use.allocation, []).append(use)
    for group in groups.values():
        group.sort(key=_position)
    return groups


def _position(use: Use) -> tuple[int, int]:
    return use.block, use.access.at


def met_inside(layout: Layout) -> set[int]:
    """Return the numbers of the uses that meet another use of their block, one of them a write."""
    found: set[int] = set()
    for first, behind in layout.clusters():
        members = layout.owners[first:behind].tolist()
        blocks: dict[int, list[int]] = {}
        for number in dict.fromkeys(members):
            blocks.setdefault(layout.uses[number].block, []).append(number)
        for numbers in blocks.values():
            if len(numbers) > 1 and any(layout.uses[n].access.kind != READS for n in numbers):
                found.update(numbers)
    return found


def meetings_between(layout: Layout, ordered: Callable[[Use, Use], bool]) -> Iterator[Meeting]:
    """Yield pairs of uses of different blocks that share bytes without order.

    Each use is paired with one other party only: one finding is enough to look at the place.
    """
    uses = layout.uses
    for first, behind in layout.clusters():
        if len({uses[n].block for n in layout.owners[first:behind].tolist()}) < 2:
            continue
        writes: list[tuple[int, int]] = []
        reads: list[tuple[int, int]] = []
        for at in range(first, behind):
            low, high = int(layout.starts[at]), int(layout.stops[at])
            number = int(layout.owners[at])
            kind = uses[number].access.kind
            writes = [w for w in writes if w[0] > low]
            reads = [r for r in reads if r[0] > low]
            rivals = writes if kind == READS else [*writes, *reads]
            for stop, other in rivals:
                one, two = sorted((uses[other], uses[number]), key=_position)
                if (
                    one.block != two.block
                    and conflicting(one.access.kind, two.access.kind)
                    and not ordered(one, two)
                ):
                    yield Meeting(one, two, low, min(stop, high))
                    break
            (reads if kind == READS else writes).append((high, number))
