"""All findings of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.sanitizer.cache_lines import find_cache
from simulator.sanitizer.calls import find_calls
from simulator.sanitizer.catalog import ERROR, INFO, WARNING
from simulator.sanitizer.contents import find_contents
from simulator.sanitizer.globals import (
    find_atomic_order,
    find_gaps,
    find_misdeclared,
    find_stale_tiling,
)
from simulator.sanitizer.races import Races
from simulator.sanitizer.ranges import Ranges
from simulator.sanitizer.streams import streams_of

if TYPE_CHECKING:
    from simulator.run import Run
    from simulator.sanitizer.finding import Finding

_RANKS: Final = {ERROR: 0, WARNING: 1, INFO: 2}


def find(run: Run) -> list[Finding]:
    """Return what the checks say about a run: errors first, then by block and program order.

    Findings of severity ``info`` are among them; ``run.findings`` leaves them out.
    """
    streams = streams_of(run)
    ranges = Ranges()
    races = Races(run, streams, ranges)
    found = races.find()
    found += find_contents(run, streams, ranges, races.courses)
    found += find_calls(run, streams, ranges)
    found += find_misdeclared(run, streams)
    found += find_gaps(run, races.layouts)
    found += find_atomic_order(run, races.layouts)
    found += find_cache(run, streams, races)
    found += find_stale_tiling(run)
    return sorted(_merged(found), key=_rank)


def _merged(findings: list[Finding]) -> list[Finding]:
    """Count findings of one kind at one pair of lines as one."""
    merged: dict[tuple[object, ...], Finding] = {}
    for finding in findings:
        key = (
            finding.code, finding.location, finding.other, finding.api,
            finding.details.get("event_id"), finding.details.get("flag"),
        )  # fmt: skip
        known = merged.get(key)
        if known is None:
            merged[key] = finding
        else:
            known.count += finding.count
    return list(merged.values())


def _rank(finding: Finding) -> tuple[int, int, int]:
    return _RANKS[finding.severity], finding.block, finding.index
