"""``ascsim cases``: run operator case files and show the cases that fail."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from tools.console import print_json, show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType
    from rich.text import Text

    from host.cases import CaseResult

SHOWN_CHARACTERS: Final = 400
"""Longest text of an input or value in the report; --json has all of it."""


def cases(files: Sequence[str], *, as_json: bool) -> int:
    """Run case files and print the failures, then ``N passed, N failed``; return the exit code.

    Raises
    ------
    ConfigError
        If a file is not a case file.
    """
    results = {file: _run(file) for file in dict.fromkeys(files)}
    every = [result for of_file in results.values() for result in of_file]
    passed = sum(result.passed for result in every)
    skipped = sum(_skipped(result) for result in every)
    failed = len(every) - passed - skipped
    if as_json:
        print_json(
            {
                "passed": passed,
                "failed": failed,
                "skipped": skipped,
                "files": {
                    file: [_as_dict(result) for result in of_file]
                    for file, of_file in results.items()
                },
            }
        )
    else:
        for file, of_file in results.items():
            failures = [_failure(r) for r in of_file if not r.passed and not _skipped(r)]
            if failures:
                show(f"{file}: {len(failures)} of {len(of_file)} failed", *failures, "")
        if skipped:
            show(f"{skipped} skipped: figures that their table marks as doubtful")
        # Scripts read the last line, so nothing else stands on it.
        show(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def _run(file: str) -> Sequence[CaseResult]:
    """Run a file with the runner of its kind: operator cases, or figures of the instructions."""
    from host.cases import run_file
    from tools.isa_cases import holds_isa_cases, run_cases

    return run_cases(file) if holds_isa_cases(file) else run_file(file)


def _skipped(result: CaseResult) -> bool:
    from tools.isa_cases import IsaCaseResult

    return isinstance(result, IsaCaseResult) and result.skipped


def _as_dict(result: CaseResult) -> dict[str, Any]:
    common = {"id": result.id, "passed": result.passed}
    if result.passed:
        return common
    return {
        **common,
        "message": result.message,
        "input": result.input,
        "expected": result.expected,
        "got": result.got,
    }


def _failure(result: CaseResult) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    from tools.report import facts

    rows: list[tuple[str, str | Text]] = [
        ("why", Text(shortened(result.message), style="bad")),
        ("input", _text(result.input)),
        ("expected", _text(result.expected)),
    ]
    # A case that could not be run has nothing to show here.
    if result.got is not None:
        rows.append(("got", _text(result.got)))
    return Group(Text(result.id, style="label"), facts(rows))


def _text(value: Any) -> Text:
    from rich.text import Text

    return Text(shortened(json.dumps(value, default=str, ensure_ascii=False)))


def shortened(text: str, limit: int = SHOWN_CHARACTERS) -> str:
    """Return ``text``, its middle cut out when it is longer than ``limit`` characters."""
    if len(text) <= limit:
        return text
    half = (limit - 20) // 2
    return f"{text[:half]} … {len(text) - 2 * half:,} more … {text[-half:]}"
