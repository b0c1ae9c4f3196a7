"""``ascsim diff``: what changed between two runs, and why."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from rich import box
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from simulator.analysis.comparison import Comparison, compare
from simulator.errors import ConfigError
from tools.console import print_json, show
from tools.progress import progress
from tools.report import facts, title
from tools.targets import TargetRequest, launches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from simulator.run import Run

MOST_LINES: Final = 12


def diff(before: TargetRequest, after: TargetRequest, *, as_json: bool) -> int:
    """Compare the launches of two targets; return the exit code.

    Raises
    ------
    ConfigError
        If a target does not run, or their launches do not correspond.
    """
    with progress("running both"):
        pairs = _pairs(runs_of(before), runs_of(after))
    comparisons = [compare(a, b) for a, b in pairs]
    if as_json:
        print_json({"launches": [c.as_dict() for c in comparisons]})
        return 0
    for number, comparison in enumerate(comparisons, 1):
        of = f" (launch {number} of {len(pairs)})" if len(pairs) > 1 else ""
        names = " and ".join(dict.fromkeys([comparison.before.name, comparison.after.name]))
        show("", diff_report(comparison, f"{names}{of}"))
    return 0


def runs_of(request: TargetRequest) -> Sequence[Run]:
    """Return the launches of a target that must end well and launch something.

    Raises
    ------
    ConfigError
        If it does not.
    """
    found = launches(request, stdout_to_stderr=True)
    if found.error is not None:
        raise ConfigError(f"{request.target} ends with an error: {found.error.message}")
    if not found.runs:
        raise ConfigError(f"{request.target} launches no kernel")
    return found.runs


def _pairs(before: Sequence[Run], after: Sequence[Run]) -> list[tuple[Run, Run]]:
    if len(before) != len(after):
        raise ConfigError(
            f"there are {len(before)} launches on one side and {len(after)} on the other",
            fix="save the runs that correspond (run.save) and compare the files",
        )
    return list(zip(before, after, strict=True))


def diff_report(comparison: Comparison, heading: str) -> RenderableType:
    """Return the report of one comparison."""
    before, after = comparison.before, comparison.after
    rows: list[tuple[str, str | Text]] = [
        ("before", _time(before)),
        ("after", _time(after)),
        ("result", Text(comparison.sentence(), style="ok" if comparison.change <= 0 else "bad")),
    ]
    if comparison.facts:
        rows.append(("different", "; ".join(comparison.facts[:8])))
    return Group(
        title(f"{heading}: before and after"),
        facts(rows),
        Padding(_pipes(comparison), (0, 0, 0, 1)),
        Padding(_lines(comparison), (0, 0, 0, 1)),
    )


def _time(run: Run) -> str:
    return f"{run.cycles:,} cycles = {run.microseconds:.2f} us on {run.platform.name}"


def _table(*columns: tuple[str, str]) -> Table:
    made = Table(box=box.SIMPLE_HEAD, header_style="head", pad_edge=False, padding=(0, 1, 0, 0))
    for name, side in columns:
        made.add_column(
            name, justify="right" if side == "right" else "left", no_wrap=side == "right",
            overflow="fold",
        )  # fmt: skip
    return made


def _pipes(comparison: Comparison) -> Table:
    made = _table(
        ("pipe", "left"), ("busy before", "right"), ("after", "right"), ("change", "right"),
        ("waits that changed most (mean cycles a core)", "left"),
    )  # fmt: skip
    for pipe in comparison.pipes:
        changed = sorted(pipe.waits.items(), key=lambda kv: -abs(kv[1][1] - kv[1][0]))
        told = [f"{why} {b - a:+,.0f}" for why, (a, b) in changed if round(b - a)][:3]
        made.add_row(
            pipe.name, f"{pipe.busy[0]:,.0f}", f"{pipe.busy[1]:,.0f}",
            signed(pipe.busy[1] - pipe.busy[0]), ", ".join(told) or "-",
        )  # fmt: skip
    return made


def _lines(comparison: Comparison) -> Table:
    made = _table(
        ("line", "left"), ("calls", "left"), ("cycles before", "right"), ("after", "right"),
        ("change", "right"), ("on the path", "right"),
    )  # fmt: skip
    changed = [c for c in comparison.lines if c.change or c.path_change]
    for change in changed[:MOST_LINES]:
        one = change.after or change.before
        if one is not None:
            made.add_row(
                f"{PurePath(one.location.file).name}:{one.location.line}", ", ".join(one.names),
                f"{change.before.cycles:,}" if change.before else "-",
                f"{change.after.cycles:,}" if change.after else "-",
                signed(change.change), signed(change.path_change),
            )  # fmt: skip
    if len(changed) > MOST_LINES:
        made.add_row(f"{len(changed) - MOST_LINES} more lines")
    if not changed:
        made.add_row("no line changed", "", "", "", "", "")
    return made


def signed(value: float) -> Text:
    """Return a difference with its sign, coloured by whether it is a gain."""
    number = round(value)
    style = "ok" if number < 0 else "bad" if number > 0 else "faint"
    return Text(f"{number:+,}" if number else "=", style=style)
