"""The byte ranges of one instruction stream in regions that share no byte with each other.

A region is what hangs together by overlaps: as a rule a buffer. Whether anything has happened in a
region is known without looking at its ranges, however many there are; which of them overlap is
worked out when somebody asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from simulator.sanitizer.ranges import Ranges

    Numbers = NDArray[np.int64]


class Regions:
    """Regions of the ranges with the given ids.

    Attributes
    ----------
    of : dict of int to int
        Region of each range.
    count : int
        Number of regions.
    """

    def __init__(self, ranges: Ranges, rids: Iterable[int]) -> None:
        self.ranges = ranges
        self.of: dict[int, int] = {}
        self._members: list[list[int]] = []
        self._hulls: list[tuple[int, int]] = []
        self._edges: dict[int, tuple[Numbers, Numbers, Numbers]] = {}
        self._overlapping: dict[int, list[int]] = {}
        spans, spaces = ranges.spans, ranges.spaces
        before, reach = -1, 0
        for space, (low, high), rid in sorted([(spaces[r], spans[r], r) for r in set(rids)]):
            if space != before or low >= reach:
                self._members.append([])
                self._hulls.append((low, high))
                before, reach = space, high
            elif high > reach:
                reach = high
                self._hulls[-1] = (self._hulls[-1][0], high)
            self._members[-1].append(rid)
            self.of[rid] = len(self._members) - 1
        self.count = len(self._members)

    def hull(self, region: int) -> tuple[int, int]:
        """Return the lowest byte of a region and one past its highest."""
        return self._hulls[region]

    def overlapping(self, rid: int) -> list[int]:
        """Return the ranges that share a byte with one of them, itself included, by id."""
        found = self._overlapping.get(rid)
        if found is None:
            members, lows, highs = self._edges_of(self.of[rid])
            low, high = self.ranges.spans[rid]
            near = members[np.maximum(lows, low) < np.minimum(highs, high)]
            overlap = self.ranges.overlap
            found = self._overlapping[rid] = [n for n in near.tolist() if overlap(rid, n)]
        return found

    def crossing(self, rid: int, slack: int) -> list[int]:
        """Return the unbroken ranges that share bytes with one without one holding the other.

        A range that starts inside and reaches out by less than ``slack`` bytes does not count.
        """
        region = self.of[rid]
        if not self.ranges.dense[rid] or self._is_nested(region):
            return []
        members, lows, highs = self._edges_of(region)
        low, high = self.ranges.spans[rid]
        below = (lows < low) & (low < highs) & (highs < high)
        above = (low < lows) & (lows < high) & (highs >= high + slack)
        dense = self.ranges.dense
        return [number for number in members[below | above].tolist() if dense[number]]

    def _is_nested(self, region: int) -> bool:
        """Whether all ranges of a region start at one byte, as prefixes of one buffer do."""
        members, spans = self._members[region], self.ranges.spans
        return spans[members[0]][0] == spans[members[-1]][0]

    def _edges_of(self, region: int) -> tuple[Numbers, Numbers, Numbers]:
        """Return ids, lowest bytes and ends of the ranges of a region, by id."""
        edges = self._edges.get(region)
        if edges is None:
            members = sorted(self._members[region])
            spans = np.array([self.ranges.spans[rid] for rid in members], np.int64)
            edges = self._edges[region] = (np.array(members), spans[:, 0], spans[:, 1])
        return edges
