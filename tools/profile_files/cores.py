"""The cores of a run with everything that each of them did, in the launch's cycles."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from simulator.analysis.lanes import SharesOf

if TYPE_CHECKING:
    from simulator.run import Run
    from tools.profile_files.program import Program, Site


class Event(NamedTuple):
    """One executed instruction: its share of its pipe's time, and its full duration."""

    end: int
    start: int
    site: Site
    full_start: int
    full_end: int


class Core(NamedTuple):
    """One vector core; ``events`` are in order of end and program counter."""

    number: int
    events: list[Event]

    @property
    def name(self) -> str:
        """Name in files, ``core<i>.veccore<j>``: two vector cores make an AI Core."""
        return f"core{self.number // 2}.veccore{self.number % 2}"


def cores_of(run: Run, program: Program, shares: SharesOf | None = None) -> list[Core]:
    """Return the cores that got work; block b runs on core b modulo their number."""
    shares_of = shares or SharesOf(run)
    found: dict[int, list[Event]] = {}
    for placed in run.timeline.blocks:
        own, stream, at = shares_of(placed), placed.stream, placed.start
        found.setdefault(placed.core, []).extend(
            Event(end + at, start + at, program(entry), full_start + at, full_end + at)
            for entry, start, end, full_start, full_end in zip(
                run.blocks[placed.block].entries,
                own.start,
                own.end,
                stream.start,
                stream.end,
                strict=True,
            )
        )
    for events in found.values():
        events.sort(key=_end_and_pc)
    return [Core(number, found[number]) for number in sorted(found)]


def _end_and_pc(event: Event) -> tuple[int, int]:
    return event.end, event.site.pc
