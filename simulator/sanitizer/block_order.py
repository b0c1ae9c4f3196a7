"""Happens-before between blocks: cross-core flags, SyncAll, IBSet and IBWait, ordered blocks.

The n-th wait of a block for a flag is released by the n-th set of every block that takes part; the
calls that exchange words in global memory are treated as flags named by the place of the word. What
a block knows after a wait is, for every other block, how many of its sets have taken effect; an
access is ordered before another block's when a set that covers it is among them.
"""

from __future__ import annotations

import linecache
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simulator.sanitizer.classes import MTE2, MTE3
from simulator.sanitizer.order_steps import WAITS
from simulator.sanitizer.place import place, same_site
from simulator.sanitizer.streams import pointer_of
from simulator.stalls import CROSS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simulator.core import Entry
    from simulator.instruction import Plan
    from simulator.run import Block, Run
    from simulator.sanitizer.order import Moment, OrderReport
    from simulator.sanitizer.streams import Stream

    Known = NDArray[np.int64]

Key = tuple[Any, ...]


class Signal(NamedTuple):
    """A report to other blocks (or a wait for one): which flag, and the how-many-th of it."""

    key: Key
    number: int


class Exchange:
    """Calls of a block that exchange words in global memory.

    Attributes
    ----------
    inner : frozenset of int
        Entries that such calls are made of; their accesses are not the kernel's.
    sends : dict of int to Signal
        Stores that report to other blocks.
    waits : dict of int to list of Signal
        Polls, and what each waits for.
    """

    def __init__(self, block: Block) -> None:
        self.sends: dict[int, Signal] = {}
        self.waits: dict[int, list[Signal]] = {}
        polls = [i for i, entry in enumerate(block.entries) if entry[0].form == "poll"]
        if not polls:
            self.inner: frozenset[int] = frozenset()
            return
        sites = {entry[1:3]: i for i in polls for entry in (block.entries[i],)}
        turns = any(block.entries[i][0].spec.name == "WaitPreBlock" for i in polls)
        self._numbers: dict[Key, count[int]] = {}
        inner = []
        for index, entry in enumerate(block.entries):
            poll = sites.get(entry[1:3])
            if poll is not None:
                inner.append(index)
                self._exchange(block, index, entry, block.entries[poll][0].spec.name)
            elif turns and _names(entry, "NotifyNextBlock"):
                inner.append(index)
                if entry[0].pipe == MTE3 and pointer_of(entry) is not None:
                    self.sends[index] = self._next(("turn",))
            elif turns and _names(entry, "InitDetermineComputeWorkspace"):
                inner.append(index)
        self.inner = frozenset(inner)

    def _next(self, key: Key) -> Signal:
        return Signal(key, next(self._numbers.setdefault(key, count(1))))

    def _exchange(self, block: Block, index: int, entry: Entry, name: str) -> None:
        plan = entry[0]
        if plan.form == "poll":
            self.waits[index] = self._awaited(block, index, name)
        elif plan.pipe == MTE3 and (pointer := pointer_of(entry)) is not None:
            if name == "SyncAll":
                self.sends[index] = self._next(("soft", pointer.allocation))
            elif name in ("IBSet", "IBWait"):
                where = (pointer.allocation, pointer.offset)
                self.sends[index] = self._next((name, *where))

    def _awaited(self, block: Block, index: int, name: str) -> list[Signal]:
        pointer = None
        for entry in block.entries[index + 1 :]:
            if not same_site(entry, block.entries[index]):
                break
            if entry[0].pipe == MTE2:
                pointer = pointer_of(entry)
                break
        if pointer is None:
            return []
        where = (pointer.allocation, pointer.offset)
        if name == "SyncAll":
            return [self._wait_number(("soft", pointer.allocation))]
        if name == "IBWait":
            return [self._wait_number(("IBSet", *where))]
        if name == "IBSet":
            # A slot can be set again when the one before has been taken.
            before = self._wait_number(("IBWait", *where))
            return [Signal(before.key, before.number - 1)] if before.number > 1 else []
        return [self._wait_number(("turn",))]

    def _wait_number(self, key: Key) -> Signal:
        signal = self._next(("wait", *key))
        return Signal(key, signal.number)


def _names(entry: Entry, name: str) -> bool:
    where = place(entry)
    return name in linecache.getline(where.file, where.line)


class BlockOrder:
    """What each block knows of the others at each of its waits."""

    def __init__(
        self, run: Run, reports: Sequence[OrderReport], exchanges: Sequence[Exchange]
    ) -> None:
        self.reports = reports
        self.count = len(reports)
        self._ratio = run.task_ratio
        self._sets: list[list[Signal]] = []
        self._waits: list[list[list[Signal]]] = []
        for block, report, exchange in zip(run.blocks, reports, exchanges, strict=True):
            report.sets.sort(key=lambda moment: moment.at)
            numbers: dict[Key, count[int]] = {}
            plans = [entry[0] for entry in block.entries]
            self._sets.append(
                [
                    exchange.sends.get(m.at) or _numbered(numbers, set_key(plans[m.at]))
                    for m in report.sets
                ]
            )
            self._waits.append(
                [
                    exchange.waits[m.at]
                    if m.at in exchange.waits
                    else [_numbered(numbers, ("wait", plans[m.at].flag))]
                    for m in report.waits
                ]
            )
        self._where = [{signal: at for at, signal in enumerate(signals)} for signals in self._sets]
        self._known: list[list[Known]] = [[] for _ in range(self.count)]
        self._released: dict[Signal, Known] = {}
        self._solve()

    def _solve(self) -> None:
        progress = True
        while progress:
            progress = False
            for block in range(self.count):
                while len(self._known[block]) < len(self._waits[block]):
                    known = self._after_wait(block, len(self._known[block]))
                    if known is None:
                        break
                    self._known[block].append(known)
                    progress = True

    def _after_wait(self, block: int, number: int) -> Known | None:
        before = self._known[block]
        known = before[-1] if before else np.zeros(self.count, np.int64)
        for signal in self._waits[block][number]:
            told = self._released.get(signal)
            if told is None:
                told = self._told_by(block, signal)
                if told is None:
                    return None
                if signal.key[0] == "soft":
                    self._released[signal] = told
            known = np.maximum(known, told)
        return known

    def _told_by(self, block: int, signal: Signal) -> Known | None:
        """Return what the sets tell that a wait of ``block`` stands for; None if not known yet."""
        common = True
        known = np.zeros(self.count, np.int64)
        for other in range(self.count):
            for key, number, shared in self._sources(block, other, signal):
                at = self._where[other].get(Signal(key, number))
                if at is None:
                    continue
                common = common and shared
                told = self.reports[other].sets[at].clock[WAITS]
                if told > len(self._known[other]):
                    return None
                if told:
                    known = np.maximum(known, self._known[other][told - 1])
                known[other] = max(known[other], at + 1)
        if common and signal.key[0] == "wait":
            self._released[signal] = known
        return known

    def _sources(self, block: int, other: int, signal: Signal) -> list[tuple[Key, int, bool]]:
        """Return (flag, number, same for all blocks) of what ``other`` sets for a wait."""
        key, number = signal
        if key[0] == "turn":
            # A block waits for the lower ones in its turn, and for all in the turn before.
            return [(key, number if other < block else number - 1, False)]
        if key[0] != "wait":
            return [(key, number, True)]
        sources = [(("flag", mode, key[1]), number, True) for mode in (0, 2, 4)]
        if other // self._ratio == block // self._ratio:
            sources.append((("flag", 1, key[1]), number, False))
        return sources

    def ordered(self, first_block: int, first: Moment, second_block: int, second: Moment) -> bool:
        """Whether an access of one block is complete before that of another one starts."""
        waits = second.clock[WAITS]
        if not waits or waits > len(self._known[second_block]):
            return False
        known = int(self._known[second_block][waits - 1][first_block])
        sets = self.reports[first_block].sets
        return any(sets[at].clock[first.pipe] >= first.seq for at in range(known - 1, -1, -1))


def set_key(plan: Plan) -> Key:
    """Return what names the flag of a cross-core set."""
    return ("flag", plan.details["mode"], plan.flag)


def _numbered(numbers: dict[Key, count[int]], key: Key) -> Signal:
    return Signal(key, next(numbers.setdefault(key, count(1))))


class Unbalanced(NamedTuple):
    """A cross-core flag that stays up: its last set, and how often it was set and waited for."""

    block: Block
    at: int
    flag: int
    sets: int
    waits: int


def unbalanced(run: Run, streams: Sequence[Stream]) -> list[Unbalanced]:
    """Return the cross-core flags of modes 0 and 1 that are set more often than waited for."""
    counts: list[dict[Key, list[int]]] = [{} for _ in run.blocks]
    waits: list[dict[int, int]] = [{} for _ in run.blocks]
    for stream in streams:
        places = stream.places({p for p in stream.distinct if p.event == CROSS})
        for index in places:
            plan = stream.plans[index]
            for block in stream.blocks:
                if plan.form == "cross set":
                    counts[block.index].setdefault(set_key(plan), []).append(index)
                else:
                    waits[block.index][plan.flag] = waits[block.index].get(plan.flag, 0) + 1
    found = []
    for block in run.blocks:
        first = block.index - block.index % run.task_ratio
        for key, places in counts[block.index].items():
            if key[1] not in (0, 1):
                continue
            members = range(first, first + run.task_ratio) if key[1] else range(len(run.blocks))
            complete = min(len(counts[m].get(key, ())) for m in members)
            taken = waits[block.index].get(key[2], 0)
            if complete > taken:
                found.append(Unbalanced(block, places[complete - 1], key[2], complete, taken))
    return found


def uses_cross_core(streams: Sequence[Stream]) -> bool:
    """Whether any block orders itself with others."""
    return any(
        plan.event == CROSS or plan.form == "poll" for stream in streams for plan in stream.distinct
    )
