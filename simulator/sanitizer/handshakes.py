"""Handshakes of a kernel's own: words in global memory that one block polls and another one stores.

A loop that reads global memory until it holds what another block stores there orders the two, as
IBSet and IBWait do: what that block had completed before the store comes before what follows the
loop. A block that loops for a word as often as another one stores it waits for the first store the
first time, for the second the second time and so on; else, for the last store before it went on.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from simulator.sanitizer.block_order import Signal
from simulator.sanitizer.classes import MTE3, V
from simulator.sanitizer.place import is_in_polling_loop, place
from simulator.sanitizer.ranges import span
from simulator.sanitizer.streams import pointer_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.core import Entry
    from simulator.errors import SourceLocation
    from simulator.instruction import Plan
    from simulator.memory import Allocation
    from simulator.run import Block, Run

    Site = tuple[object, int]


class _Access(NamedTuple):
    """Bytes of global memory that an entry reads or stores."""

    at: int
    allocation: Allocation
    low: int
    high: int


class Handshakes:
    """The loops of a run that poll, and what let each of them go on; of None there are none.

    Attributes
    ----------
    sends : dict of int to dict of int to Signal
        By block and position, the stores that loops have waited for.
    waits : dict of int to dict of int to list of Signal
        By block and position, the reads of loops, and what each waited for.
    """

    def __init__(self, run: Run | None) -> None:
        self.blocks = run.blocks if run is not None else []
        self.course = run.course if run is not None else []
        self.sends: dict[int, dict[int, Signal]] = {}
        self.waits: dict[int, dict[int, list[Signal]]] = {}
        # By line: the condition of a loop is compiled twice.
        self._pairs: set[tuple[int, SourceLocation, int]] = set()
        self._reach: dict[Plan, tuple[bool, int, int] | None] = {}
        self._polling: dict[Site, bool] = {}
        if len(self.blocks) < 2 or not self.course:
            return
        looks = {b.index: found for b in self.blocks if (found := list(self._looks(b)))}
        if looks:
            self._match(looks)

    def __bool__(self) -> bool:
        """Whether any loop has waited for another block."""
        return bool(self.waits)

    def is_word(self, reader: int, entry: Entry, writer: int) -> bool:
        """Whether a read is that of a loop which waits for a store of ``writer`` there."""
        return bool(self._pairs) and (reader, place(entry), writer) in self._pairs

    def connect(self, one: int, other: int) -> bool:
        """Whether a loop of one of two blocks has waited for the other."""
        return any({one, other} == {reader, writer} for reader, _, writer in self._pairs)

    def _looks(self, block: Block) -> Iterator[_Access]:
        for index, entry in enumerate(block.entries):
            reach = self._reach_of(entry[0])
            if reach is None or reach[0] or entry[0].form == "poll":
                continue
            if self._polls(entry) and (found := self._access(index, entry)) is not None:
                yield found

    def spins(self, entry: Entry) -> bool:
        """Whether a call belongs to a loop that waits, which may read other values on its way."""
        return bool(self.waits) and self._polls(entry)

    def _polls(self, entry: Entry) -> bool:
        site = (entry[1], entry[2])
        polls = self._polling.get(site)
        if polls is None:
            polls = is_in_polling_loop(place(entry), entry[0].spec.name)
            self._polling[site] = polls
        return polls

    def _match(self, looks: dict[int, list[_Access]]) -> None:
        wanted = {look.allocation for found in looks.values() for look in found}
        stores = {b.index: list(self._stores(b, wanted)) for b in self.blocks}
        turns = self._turns()
        for block, found in looks.items():
            words: dict[tuple[Allocation, int, int], list[_Access]] = {}
            for look in found:
                words.setdefault(look[1:], []).append(look)
            for word, reads in words.items():
                ends = self._ends(block, reads)
                for other, candidates in stores.items():
                    told = [store for store in candidates if _share(word, store)]
                    if told and other != block:
                        pairs = _paired(ends, told, turns[block], turns[other])
                        self._note(block, other, reads, pairs)

    def _ends(self, block: int, reads: list[_Access]) -> list[_Access]:
        """Return the last read of each loop for one word."""
        entries = self.blocks[block].entries
        return [
            look
            for look, following in zip(reads, [*reads[1:], None], strict=True)
            if following is None or any(map(works, entries[look.at + 1 : following.at]))
        ]

    def _note(
        self, block: int, other: int, reads: list[_Access], pairs: list[tuple[_Access, _Access]]
    ) -> None:
        for look, store in pairs:
            signal = Signal(("word", other, store.at), 1)
            self.sends.setdefault(other, {})[store.at] = signal
            self.waits.setdefault(block, {}).setdefault(look.at, []).append(signal)
        if pairs:
            entries = self.blocks[block].entries
            self._pairs.update((block, place(entries[look.at]), other) for look in reads)

    def _stores(self, block: Block, wanted: set[Allocation]) -> Iterator[_Access]:
        for index, entry in enumerate(block.entries):
            reach = self._reach_of(entry[0])
            if reach is not None and reach[0]:
                found = self._access(index, entry)
                if found is not None and found.allocation in wanted:
                    yield found

    def _reach_of(self, plan: Plan) -> tuple[bool, int, int] | None:
        """Return whether a plan stores to global memory, and its bytes there; None for neither."""
        if plan not in self._reach:
            operands = [op for op in plan.operands if op.space == "GM" and op.accesses]
            if _cleans(plan):
                # It brings on a store that the record has before it, or drops a line.
                operands = []
            spans = [span(op.accesses) for op in operands]
            self._reach[plan] = (
                (
                    any(op.role != "read" for op in operands),
                    min(low for low, _ in spans),
                    max(high for _, high in spans),
                )
                if spans
                else None
            )
        return self._reach[plan]

    def _access(self, index: int, entry: Entry) -> _Access | None:
        reach, pointer = self._reach_of(entry[0]), pointer_of(entry)
        if reach is None or pointer is None:
            return None
        _, low, high = reach
        return _Access(index, pointer.allocation, low + pointer.offset, high + pointer.offset)

    def _turns(self) -> dict[int, list[tuple[int, int]]]:
        """Return, for each block, (instructions issued at its end, number) of its turns."""
        turns: dict[int, list[tuple[int, int]]] = {b.index: [] for b in self.blocks}
        for number, (block, until) in enumerate(self.course):
            turns[block].append((until, number))
        return turns


def _turn_of(turns: list[tuple[int, int]], index: int) -> int:
    """Return the number of the turn in which an instruction was issued, at least the last."""
    at = bisect_right(turns, index, key=lambda turn: turn[0])
    return turns[min(at, len(turns) - 1)][1] if turns else -1


def _paired(
    ends: list[_Access],
    stores: list[_Access],
    mine: list[tuple[int, int]],
    theirs: list[tuple[int, int]],
) -> list[tuple[_Access, _Access]]:
    """Return the last reads of loops, each with the store that it waited for."""
    pairs = []
    for number, look in enumerate(ends):
        # A loop that had to wait reads once more in the turn that it goes on with.
        turn = _turn_of(mine, look.at + 1)
        before = [store for store in stores if _turn_of(theirs, store.at) < turn]
        if before:
            each = len(ends) == len(stores) and number < len(before)
            pairs.append((look, before[number] if each else before[-1]))
    return pairs


def _share(word: tuple[Allocation, int, int], store: _Access) -> bool:
    allocation, low, high = word
    return store.allocation is allocation and store.low < high and low < store.high


def works(entry: Entry) -> bool:
    """Whether a call does something else than loading and synchronising inside a block."""
    plan = entry[0]
    touches = any(op.space == "GM" and op.role != "read" for op in plan.operands)
    return plan.pipe in (V, MTE3) or plan.form == "poll" or (touches and not _cleans(plan))


def _cleans(plan: Plan) -> bool:
    return plan.spec.name == "DataCacheCleanAndInvalid"
