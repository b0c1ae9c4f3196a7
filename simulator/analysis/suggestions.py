"""What would make a run faster, each with the gain that scheduling it anew predicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from simulator.analysis.barriers import removable
from simulator.analysis.edits import Plans, buffer_groups
from simulator.analysis.what_if import what_if
from simulator.errors import ConfigError
from simulator.instruction import CopyWork, locate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.core import Entry
    from simulator.errors import SourceLocation
    from simulator.run import Run

MOST: Final = 3
"""Suggestions of one report."""

WORTH: Final = 0.02
"""Least share of the time that a suggestion must save."""

LARGEST_TILE: Final = 8


@dataclass(frozen=True)
class Suggestion:
    """One change of the kernel.

    Attributes
    ----------
    kind : str
        ``double buffer``, ``larger tile``, ``aligned copies``, ``fewer barriers`` or
        ``core count``.
    text : str
        What to do, in one sentence.
    changes : dict
        The same for :func:`simulator.analysis.what_if.what_if`.
    cycles : int
        Cycles of the run with the change.
    gain : float
        Share of the time that it saves, 0..1.
    location : SourceLocation, optional
        Line that it concerns.
    """

    kind: str
    text: str
    changes: dict[str, int]
    cycles: int
    gain: float
    location: SourceLocation | None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        place = self.location
        return {
            "kind": self.kind,
            "text": self.text,
            "changes": self.changes,
            "cycles": self.cycles,
            "gain": self.gain,
            "file": place.file if place else None,
            "line": place.line if place else None,
        }


@dataclass(frozen=True)
class _Candidate:
    kind: str
    changes: dict[str, int]
    text: str
    location: SourceLocation | None = None


def suggestions(run: Run) -> list[Suggestion]:
    """Return at most three suggestions, the one with the largest gain first.

    Of several changes of one kind the best counts. A change that does not fit the kernel (no loop
    over tiles, no room in UB) is not suggested.
    """
    best: dict[str, Suggestion] = {}
    plans = Plans(run)
    for candidate in _candidates(run):
        try:
            answer = what_if(run, candidate.changes, plans)
        except ConfigError:
            # The change does not apply to this kernel, so there is nothing to suggest.
            continue
        if answer.gain < WORTH:
            continue
        found = best.get(candidate.kind)
        if found is None or answer.gain > found.gain:
            best[candidate.kind] = Suggestion(
                candidate.kind,
                candidate.text,
                candidate.changes,
                answer.after,
                answer.gain,
                candidate.location,
            )
    return sorted(best.values(), key=lambda s: (-s.gain, s.kind))[:MOST]


def _candidates(run: Run) -> Iterator[_Candidate]:
    if not run.blocks:
        return
    busiest = max(run.timeline.blocks, key=lambda placed: placed.stream.total)
    entries = run.blocks[busiest.block].entries
    yield from _buffers(entries)
    factor = 2
    while factor <= LARGEST_TILE:
        yield _Candidate("larger tile", {"tile": factor}, f"make the tiles {factor} times as large")
        factor *= 2
    yield from _alignment(run, entries)
    yield from _barriers(entries)
    yield from _cores(run)


def _buffers(entries: list[Entry]) -> Iterator[_Candidate]:
    single = [group for group in buffer_groups(entries) if group.buffers == 1]
    if single:
        yield _Candidate(
            "double buffer",
            {"buffers": 2},
            "give the queues that have one buffer a second one, so that copies overlap with work",
            _place(entries[single[0].pairs[0].waiter]),
        )


def _alignment(run: Run, entries: list[Entry]) -> Iterator[_Candidate]:
    full = run.platform.timing.full_rate_alignment_bytes
    odd = [e for e in entries if isinstance(e[0].work, CopyWork) and e[0].work.gm_alignment < full]
    if odd:
        yield _Candidate(
            "aligned copies",
            {"aligned": 1},
            f"let the copies start at multiples of {full} bytes in global memory "
            f"({len(odd)} of a block do not)",
            _place(odd[0]),
        )


def _barriers(entries: list[Entry]) -> Iterator[_Candidate]:
    found = removable(entries)
    if found:
        yield _Candidate(
            "fewer barriers",
            {"barriers": 0},
            f"replace PipeBarrier(PIPE_ALL) ({len(found)} in a block) by flags between the pipes "
            "that need its order, or leave it to the queues",
            _place(entries[found[0]]),
        )


def _cores(run: Run) -> Iterator[_Candidate]:
    cores = run.platform.chip.aiv
    if run.block_dim == cores:
        return
    why = "so that every core has work" if run.block_dim < cores else "so that no core starts twice"
    yield _Candidate(
        "core count",
        {"blocks": cores},
        f"launch {cores} blocks instead of {run.block_dim}, {why}",
    )


def _place(entry: Entry) -> SourceLocation:
    return locate(entry[1], entry[2])
