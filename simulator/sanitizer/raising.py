"""The exception for a run whose checks found errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.errors import DataRaceError, FindingError, LeftoverFlagError, StaleDataError

if TYPE_CHECKING:
    from simulator.run import Run

_CLASSES: Final = {
    "race.": DataRaceError,
    "que.role": DataRaceError,
    "flag.wrong_pipe": DataRaceError,
    "core.": DataRaceError,
    "flag.pair": LeftoverFlagError,
    "sync.balance": LeftoverFlagError,
    "ub.": StaleDataError,
    "copy.": StaleDataError,
    "vec.tail_lanes": StaleDataError,
    "sel.mask_unit": StaleDataError,
    "cache.": StaleDataError,
}
"""Exception by the beginning of a code; :class:`FindingError` itself for all others."""


def error_of(run: Run) -> FindingError | None:
    """Return the exception for the first error of a run; None if it has no errors."""
    errors = [finding for finding in run.findings if finding.is_error]
    if not errors:
        return None
    first = errors[0]
    more = len(errors) - 1
    tail = f" ({more} more {'error' if more == 1 else 'errors'})" if more else ""
    chosen = next(
        (c for start, c in _CLASSES.items() if first.code.startswith(start)), FindingError
    )
    return chosen(
        first.message + tail,
        code=first.code,
        findings=run.findings,
        api=first.api or None,
        fix=first.fix or None,
        source=first.source,
        location=first.location,
        other=first.other,
        block=first.block,
        pipe=first.pipe or None,
        check=first.code,
    )
