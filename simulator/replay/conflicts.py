"""Which pipe pairs hardware or compiler order by themselves, and whether two calls share bytes.

The rule is the one that the race check uses; see :mod:`simulator.sanitizer.classes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.sanitizer.classes import V, exempt_pairs
from simulator.sanitizer.place import is_written_there
from simulator.sanitizer.ranges import Ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.core import Entry
    from simulator.enums import Arch
    from simulator.instruction import Plan


_CELL: Final = 512
"""Bytes of one part of the unified buffer."""


class Conflicts:
    """Order of the accesses to the unified buffer that needs no flag.

    Attributes
    ----------
    before : dict of int to tuple of int
        For each pipe those whose earlier conflicting accesses are complete before it accesses.
    """

    def __init__(self, arch: Arch, *, auto_sync: bool, pipes: tuple[int, ...]) -> None:
        self.exempt = exempt_pairs(arch, auto_sync=auto_sync)
        self.before = {
            later: tuple(earlier for earlier in pipes if (earlier, later) in self.exempt)
            for later in pipes
        }
        self._ranges = Ranges()
        self._known: dict[tuple[Plan, Plan], bool] = {}
        self._hulls: dict[Plan, tuple[int, int]] = {}
        self._cells: dict[Plan, tuple[int, ...]] = {}

    def library_sites(self, entries: Sequence[Entry]) -> list[object]:
        """Return, by position, the site of calls that a library call is made of, else None.

        A library call keeps the order of its own steps. Empty where V orders itself anyway.
        """
        if (V, V) in self.exempt:
            return []
        inner: dict[tuple[object, int], object] = {}
        for entry in entries:
            site = (entry[1], entry[2])
            if site not in inner:
                inner[site] = None if is_written_there(entry) else site
        return [inner[entry[1], entry[2]] for entry in entries]

    def between(self, earlier: Plan, later: Plan) -> bool:
        """Whether two calls share bytes of the unified buffer and one of them writes."""
        (low, high), (first, behind) = self._hull(earlier), self._hull(later)
        if low >= behind or first >= high:
            return False
        key = (earlier, later)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._share(earlier, later)
        return known

    def cells(self, plan: Plan) -> tuple[int, ...]:
        """Return the numbers of the parts of the unified buffer that a call touches."""
        known = self._cells.get(plan)
        if known is None:
            spans = [self._ranges.spans[touch.rid] for touch in self._ranges.touches(plan)]
            found = {n for low, high in spans for n in range(low // _CELL, -(-high // _CELL))}
            known = self._cells[plan] = tuple(sorted(found))
        return known

    def _hull(self, plan: Plan) -> tuple[int, int]:
        known = self._hulls.get(plan)
        if known is None:
            spans = [self._ranges.spans[touch.rid] for touch in self._ranges.touches(plan)]
            low, high = min((s[0] for s in spans), default=0), max((s[1] for s in spans), default=0)
            known = self._hulls[plan] = (low, high)
        return known

    def _share(self, earlier: Plan, later: Plan) -> bool:
        overlap = self._ranges.overlap
        mine = self._ranges.touches(later)
        return any(
            (theirs.writes or touch.writes) and overlap(theirs.rid, touch.rid)
            for theirs in self._ranges.touches(earlier)
            for touch in mine
        )
