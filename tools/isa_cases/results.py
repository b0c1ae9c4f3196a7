"""What came of one published figure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from host.cases import CaseResult

if TYPE_CHECKING:
    from collections.abc import Iterable

SPECIAL_VALUE: Final = "special_value"
PAGE_EXAMPLE: Final = "page_example"


@dataclass(frozen=True)
class IsaCaseResult(CaseResult):
    """Result of one published figure.

    Attributes
    ----------
    kind : str
        ``special_value`` or ``page_example``.
    api, arch : str
        The call, and the architectures it ran on.
    skipped : bool
        Whether the file marks the figure as doubtful, so that it was not checked: it has neither
        passed nor failed.
    """

    kind: str = ""
    api: str = ""
    arch: str = ""
    skipped: bool = False


def summary(results: Iterable[IsaCaseResult]) -> str:
    """Return ``"N passed, N failed"``, with ``", N skipped"`` when cases were skipped."""
    counts = Counter(
        "passed" if r.passed else "skipped" if r.skipped else "failed" for r in results
    )
    text = f"{counts['passed']} passed, {counts['failed']} failed"
    return f"{text}, {counts['skipped']} skipped" if counts["skipped"] else text


def listing(results: Iterable[IsaCaseResult], *, each: int = 5) -> list[str]:
    """Return lines that list the failures of every api.

    Cases that fail for the same reason share a line; of different values, ``each`` are shown.
    """
    by_api: dict[tuple[str, str], list[IsaCaseResult]] = {}
    for result in results:
        by_api.setdefault((result.api, result.arch), []).append(result)
    lines = []
    for (api, arch), group in sorted(by_api.items()):
        failed = [r for r in group if not r.passed and not r.skipped]
        if not failed:
            continue
        lines.append(f"{api} on {arch}: {summary(group)}")
        reasons: dict[str, list[IsaCaseResult]] = {}
        for result in failed:
            reasons.setdefault(result.message, []).append(result)
        for reason, same in list(reasons.items())[:each]:
            more = f" and {len(same) - 1} more" if len(same) > 1 else ""
            lines.append(f"  {same[0].id}{more}: {_described(same[0])}{reason}")
        if len(reasons) > each:
            hidden = sum(len(same) for same in list(reasons.values())[each:])
            lines.append(f"  and {hidden} more for {len(reasons) - each} other reasons")
    return lines


def _described(result: IsaCaseResult) -> str:
    given = result.input
    if not isinstance(given, dict) or "inputs" not in given or result.got is None:
        return ""
    return f"{given['form']} {given['src']} -> {given['dst']} of {given['inputs']}: "
