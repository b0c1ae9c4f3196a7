"""``ascsim compare``: the same kernel on several platforms, side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.padding import Padding
from rich.table import Table

from simulator.analysis.hotspots import hotspots
from simulator.errors import ConfigError
from tools.console import print_json, show
from tools.diff_command import runs_of
from tools.progress import progress
from tools.report import facts, title

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import RenderableType

    from simulator.run import Run
    from tools.targets import TargetRequest


def compare(request: TargetRequest, platforms: Sequence[str], *, as_json: bool) -> int:
    """Run the target on every platform of comma-separated lists; return the exit code.

    Raises
    ------
    ConfigError
        If there are fewer than two platforms, or the target does not run on one.
    """
    names = [name.strip() for name in ",".join(platforms).split(",") if name.strip()]
    if len(names) < 2:
        raise ConfigError(
            "a comparison needs two platforms or more",
            got=", ".join(names),
            legal="names separated by commas, such as 910b,950",
        )
    runs = {}
    with progress(f"running {request.target}") as say:
        for name in names:
            say(f"running {request.target} on {name}")
            runs[name] = runs_of(replace(request, platform=name))
    if as_json:
        print_json(
            {
                "target": request.target,
                "platforms": {
                    name: [run.summary.as_dict() for run in found] for name, found in runs.items()
                },
            }
        )
        return 0
    show("", comparison_report(request.target, list(runs.values())))
    return 0


def comparison_report(target: str, sides: Sequence[Sequence[Run]]) -> RenderableType:
    """Return the report: one column for each platform, figures of the longest launch in it."""
    longest = [max(runs, key=lambda run: run.cycles) for runs in sides]
    made = Table(box=box.SIMPLE_HEAD, header_style="head", pad_edge=False, padding=(0, 2, 0, 0))
    made.add_column("")
    for run in longest:
        made.add_column(f"{run.platform.name} ({run.platform.soc_version})", justify="right")
    if any(len(runs) > 1 for runs in sides):
        made.add_row("launches", *(str(len(runs)) for runs in sides))
        made.add_row(
            "all launches, us", *(f"{sum(r.microseconds for r in runs):,.2f}" for runs in sides)
        )
    for label, value in _ROWS:
        made.add_row(label, *(value(run) for run in longest))
    for number, pipe in enumerate(longest[0].summary.pipes):
        made.add_row(
            f"{pipe.name} busy", *(f"{r.summary.pipes[number].utilisation:.1%}" for r in longest)
        )
    made.add_row("bound", *(run.summary.bound for run in longest))
    made.add_row("hottest line", *(_hottest(run) for run in longest))
    rows = [(run.platform.name, run.summary.bottleneck) for run in longest]
    rows += [(run.platform.name, f"accuracy: {run.summary.accuracy}") for run in longest]
    notes = [(run.platform.name, note) for run in longest for note in run.summary.notes()]
    return Group(title(f"{target}, side by side"), Padding(made, (0, 0, 0, 1)), facts(rows + notes))


_ROWS: tuple[tuple[str, Callable[[Run], str]], ...] = (
    ("kernel", lambda run: run.name),
    ("blocks", lambda run: f"{run.block_dim:,}"),
    ("cores", lambda run: f"{run.timeline.cores} of {run.platform.chip.aiv}"),
    ("cycles", lambda run: f"{run.cycles:,}"),
    ("time, us", lambda run: f"{run.microseconds:,.2f}"),
    ("task, us", lambda run: f"{run.timeline.task_microseconds:,.2f}"),
    ("start-up, cycles", lambda run: f"{run.summary.start_cycles:,}"),
    ("instructions", lambda run: f"{len(run.instructions):,}"),
    ("bytes read", lambda run: f"{run.summary.traffic.read_bytes:,}"),
    ("bytes written", lambda run: f"{run.summary.traffic.written_bytes:,}"),
)


def _hottest(run: Run) -> str:
    found = hotspots(run)
    if not found:
        return "-"
    place = found[0].location
    return f"{', '.join(found[0].names)} at {PurePath(place.file).name}:{place.line}"
