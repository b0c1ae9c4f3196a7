"""Findings about order: races inside a block and between blocks, flags left up, cross-core flags.

The instruction streams are checked by ``order``; what shares bytes of global memory is found by
``global_order``; ``race_findings`` says it in words, with the statements that mend it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from simulator.sanitizer.block_order import BlockOrder, Exchange, unbalanced, uses_cross_core
from simulator.sanitizer.catalog import ERROR, WARNING
from simulator.sanitizer.classes import READS, Classes, exempt_pairs
from simulator.sanitizer.global_order import Layout, by_allocation, meetings_between, met_inside
from simulator.sanitizer.handshakes import Handshakes, works
from simulator.sanitizer.order import NOTHING, OrderCheck, Watch
from simulator.sanitizer.place import is_written_there, same_line, same_site
from simulator.sanitizer.race_findings import (
    drift_finding,
    leftover_finding,
    meeting_finding,
    race_finding,
)
from simulator.sanitizer.streams import Use, same_place, uses_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulator.memory import Allocation
    from simulator.run import Block, Run
    from simulator.sanitizer.finding import Finding
    from simulator.sanitizer.global_order import Meeting
    from simulator.sanitizer.order import Conflict, Moment, OrderReport
    from simulator.sanitizer.ranges import Ranges
    from simulator.sanitizer.streams import Stream

    Ordered = Callable[[Use, Use], bool]


class Races:
    """The order of a run's accesses, checked on demand: one instance a run."""

    def __init__(self, run: Run, streams: Sequence[Stream], ranges: Ranges) -> None:
        self.run = run
        self.streams = streams
        exempt = exempt_pairs(run.platform.arch, auto_sync=run.auto_sync)
        self.classes = Classes(ranges, exempt)
        self.findings: list[Finding] = []
        self.layouts: dict[Allocation, Layout] = {}
        self._merged: dict[Any, Finding] = {}
        self.courses: dict[int, list[int]] = {}
        self._exchanges: dict[int, Exchange] = {}

    def find(self) -> list[Finding]:
        """Return all findings about order."""
        cross = uses_cross_core(self.streams)
        copies = [u for u in uses_of(list(self.streams)) if not cross or not self._is_inner(u)]
        layouts = self.layouts = {a: Layout(uses) for a, uses in by_allocation(copies).items()}
        more, again = self._global_classes(layouts)
        memo = f"order {self.run.auto_sync}"
        for stream in self.streams:
            plain = [b for b in stream.blocks if b.index not in again]
            if plain and not stream.is_clean(memo):
                report = OrderCheck(
                    plain[0].entries,
                    self.classes,
                    stream.distinct,
                    stream.regions(self.classes.ranges),
                ).run()
                self._tell(plain[0], report, len(plain))
                self.courses[stream.first.index] = report.course
                if not (report.conflicts or report.leftovers or report.course):
                    stream.note_clean(memo)
            for block in stream.blocks:
                if block.index in again:
                    report = self._report(block, more.get(block.index, {}))
                    self._tell(block, report, 1)
                    self.courses[stream.first.index] = report.course
        self._between(layouts, cross, more)
        for drift in unbalanced(self.run, self.streams):
            self._add(drift_finding(self.run, drift))
        return self.findings

    # -- inside a block ----------------------------------------------------------------------------

    def _global_classes(
        self, layouts: dict[Allocation, Layout]
    ) -> tuple[dict[int, dict[int, list[int]]], set[int]]:
        """Return, by block, the classes of copies that meet others of their block in GM."""
        more: dict[int, dict[int, list[int]]] = {}
        for allocation, layout in layouts.items():
            for number in sorted(met_inside(layout)):
                use = layout.uses[number]
                operand = use.access.operand
                moved = tuple(a._replace(start=a.start + use.offset) for a in operand.accesses)
                rid = self.classes.ranges.intern(moved, ("GM", use.block, allocation.address))
                found = self.classes.of(rid, use.access.plan.pipe, use.access.kind, operand)
                more.setdefault(use.block, {}).setdefault(use.access.at, []).append(found)
        return more, set(more)

    def _report(
        self,
        block: Block,
        more: dict[int, list[int]],
        watch: Watch = NOTHING,
    ) -> OrderReport:
        distinct = list(dict.fromkeys([entry[0] for entry in block.entries]))
        return OrderCheck(block.entries, self.classes, distinct, more=more, watch=watch).run()

    def _tell(self, block: Block, report: OrderReport, blocks: int) -> None:
        for conflict in report.conflicts:
            if self._is_of_one_call(block, conflict):
                continue
            finding = race_finding(self.run, self.classes, block, conflict)
            finding.count *= blocks
            self._add(finding)
        for leftover in report.leftovers:
            finding = leftover_finding(self.run, block, leftover)
            finding.count = blocks
            self._add(finding)

    @staticmethod
    def _is_of_one_call(block: Block, conflict: Conflict) -> bool:
        """Whether both instructions belong to one library call, which keeps its own order."""
        first, second = block.entries[conflict.first], block.entries[conflict.second]
        if not same_site(first, second):
            return False
        named = is_written_there(first) + is_written_there(second)
        between = block.entries[conflict.first : conflict.second]
        return not named or (named == 1 and all(same_site(entry, second) for entry in between))

    def _add(self, finding: Finding) -> None:
        key = (finding.location, finding.other, finding.api, finding.details.get("event"))
        found = self._merged.get(key)
        if found is None:
            self._merged[key] = finding
            self.findings.append(finding)
        else:
            found.count += finding.count

    # -- between blocks ----------------------------------------------------------------------------

    @cached_property
    def handshakes(self) -> Handshakes:
        """The loops of the kernel that poll global memory."""
        return Handshakes(self.run)

    def _exchange(self, block: Block) -> Exchange:
        found = self._exchanges.get(block.index)
        if found is None:
            found = self._exchanges[block.index] = Exchange(block)
        return found

    def _is_inner(self, use: Use) -> bool:
        return use.access.at in self._exchange(self.run.blocks[use.block]).inner

    def _between(
        self,
        layouts: dict[Allocation, Layout],
        cross: bool,
        more: dict[int, dict[int, list[int]]],
    ) -> None:
        ordered: Ordered | None = None
        groups: dict[Any, list[Meeting]] = {}
        for layout in layouts.values():
            if ordered is None:
                if not any(True for _ in meetings_between(layout, _never)):
                    continue
                cross = cross or bool(self.handshakes)
                ordered = self._block_order(layouts, more) if cross else _never
            for meeting in meetings_between(layout, ordered):
                sites = [
                    self.run.blocks[u.block].entries[u.access.at][1:3]
                    for u in (meeting.first, meeting.second)
                ]
                groups.setdefault(tuple(sorted(sites, key=repr)), []).append(meeting)
        polling = {pair for ms in groups.values() for m in ms for pair in self._polled(m)}
        for meetings in groups.values():
            pairs = {frozenset((m.first.block, m.second.block)) for m in meetings}
            finding = meeting_finding(self.run, meetings, ordered_by_sync=cross)
            if pairs <= polling and finding.severity == ERROR:
                finding.severity = WARNING
                finding.message += (
                    "; one of the two polls global memory: what a handshake of the kernel's own "
                    "orders is not followed"
                )
            self._add(finding)

    def _polled(self, meeting: Meeting) -> list[frozenset[int]]:
        """Return the two blocks if one of them reads the shared bytes again and again.

        What is known to be a loop that waits is followed, and says nothing about other reads.
        """
        first, second = meeting.first, meeting.second
        if self.handshakes.connect(first.block, second.block):
            return []
        for use in (first, second):
            if use.access.kind == READS and self._repeats(use):
                return [frozenset((first.block, second.block))]
        return []

    def _repeats(self, use: Use) -> bool:
        """Whether the block has read the same bytes before and done nothing since but look."""
        entries = self.run.blocks[use.block].entries
        mine = entries[use.access.at]
        looked = False
        for entry in entries:
            if entry[0] is mine[0] and same_place(entry, mine) and same_line(entry, mine):
                if looked:
                    return True
                looked = True
            elif looked and works(entry):
                looked = False
        return False

    def _is_word(self, read: Use, store: Use) -> bool:
        """Whether one use polls the word that the other stores."""
        if read.access.kind != READS:
            return False
        entry = self.run.blocks[read.block].entries[read.access.at]
        return self.handshakes.is_word(read.block, entry, store.block)

    def _block_order(
        self, layouts: dict[Allocation, Layout], more: dict[int, dict[int, list[int]]]
    ) -> Ordered:
        watched: dict[int, set[int]] = {}
        for layout in layouts.values():
            for use in layout.uses:
                watched.setdefault(use.block, set()).add(use.access.at)
        reports = []
        hands = self.handshakes
        for block in self.run.blocks:
            exchange = self._exchange(block)
            words = hands.sends.get(block.index, {})
            looks = hands.waits.get(block.index, {})
            watch = Watch(
                frozenset(watched.get(block.index, ())),
                frozenset(exchange.sends),
                frozenset(words),
                frozenset(looks),
            )
            reports.append(self._report(block, more.get(block.index, {}), watch))
            exchange.sends.update(words)
            exchange.waits.update(looks)
        order = BlockOrder(self.run, reports, [self._exchange(b) for b in self.run.blocks])
        moments: list[dict[int, Moment]] = [r.moments for r in reports]

        def ordered(one: Use, two: Use) -> bool:
            if self._is_word(one, two) or self._is_word(two, one):
                return True
            first = moments[one.block].get(one.access.at)
            second = moments[two.block].get(two.access.at)
            if first is None or second is None:
                return False
            return order.ordered(one.block, first, two.block, second) or order.ordered(
                two.block, second, one.block, first
            )

        return ordered


def _never(one: Use, two: Use) -> bool:
    return False
