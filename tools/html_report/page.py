"""From runs to one HTML file: figures for the template, packed timelines for its script."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from simulator.analysis.verdict import PIPE_MEANINGS
from simulator.enums import PipeID
from simulator.errors import ConfigError
from simulator.timing.schedule import ALL_PIPES
from tools.html_report.pack import pack
from tools.html_report.roofline import chart, roofline
from tools.html_report.sources import source_files
from tools.html_report.streams import Streams

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from jinja2 import Template

    from simulator.analysis.summary import Summary
    from simulator.run import Run
    from simulator.sanitizer.finding import Finding
    from tools.html_report.roofline import Chart, Roofline
    from tools.html_report.sources import SourceFile

MAX_ROWS: Final = 400_000
"""Rows of all timelines of a page, which keep it below 10 MB."""

MAX_LAUNCHES: Final = 30
"""Different launches in a page; the first ones are shown."""


@dataclass(frozen=True)
class CoreShare:
    """How busy the pipes of one core are, 0..1, in the order of the pipe table."""

    core: int
    blocks: int
    shares: list[float]


@dataclass(frozen=True)
class Launch:
    """Everything that the template shows of one launch."""

    number: int
    title: str
    summary: Summary
    cores: list[CoreShare]
    findings: list[dict[str, Any]]
    roofline: Roofline | None
    chart: Chart | None
    files: list[SourceFile]
    resolution: int
    packed: str


def write_html(runs: Sequence[Run], path: str | PathLike[str], *, title: str = "") -> Path:
    """Write the report of ``runs`` to ``path`` and return it; launches that are alike are one.

    Raises
    ------
    ConfigError
        If there is no run, or the file cannot be written.
    """
    target = Path(path)
    text = render(runs, title=title)
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"the report {str(target)!r} cannot be written: {error.strerror}"
        ) from None
    return target


def render(runs: Sequence[Run], *, title: str = "") -> str:
    """Return the report of ``runs`` as the text of an HTML file.

    Raises
    ------
    ConfigError
        If there is no run.
    """
    if not runs:
        raise ConfigError("no kernel was launched, so there is nothing to report")
    groups: list[tuple[str, Run]] = []
    number = 1
    for summary, alike in groupby(runs, key=lambda run: run.summary):
        members = list(alike)
        last = number + len(members) - 1
        which = f"launch {number}" if last == number else f"launches {number} to {last}, all alike"
        groups.append((f"{which}: {summary.kernel}", members[0]))
        number = last + 1
    shown = groups[:MAX_LAUNCHES]
    sizes = [len(run.instructions) for _, run in shown]
    launches = [
        _launch(index, name, run, MAX_ROWS * max(1, size) // max(1, sum(sizes)))
        for index, ((name, run), size) in enumerate(zip(shown, sizes, strict=True))
    ]
    return _template().render(
        title=title or shown[0][1].name,
        launches=launches,
        left_out=len(groups) - len(shown),
        css=_part("report.css"),
        js=_part("report.js"),
        pipes=[(PipeID(p).label, PIPE_MEANINGS[PipeID(p).label]) for p in ALL_PIPES],
        version=version("ascsim"),
    )


def _launch(number: int, title: str, run: Run, budget: int) -> Launch:
    streams = Streams(run)
    summary = run.summary
    files: dict[str, int] = {}
    path = run.critical_path
    sources = source_files(streams, path, files)
    line = roofline(streams, summary)
    findings = [_finding(run, finding) for finding in run.findings]
    for found in findings:
        found["file_number"] = files.get(found["file"], -1)
    shown = {(f.number, line.number) for f in sources for line in f.lines}
    for found in findings:
        found["linked"] = (found["file_number"], found["line"]) in shown
    streams.thin(budget)
    marks = [
        {k: found[k] for k in ("core", "cycle", "pipe", "severity", "code", "message")}
        for found in findings
    ]
    return Launch(
        number, title, summary, _cores(run), findings, line,
        None if line is None else chart(line), sources, streams.resolution,
        pack(streams, files, marks, path),
    )  # fmt: skip


def _cores(run: Run) -> list[CoreShare]:
    timeline = run.timeline
    busy = [[0] * len(ALL_PIPES) for _ in range(timeline.cores)]
    blocks = [0] * timeline.cores
    for placed in timeline.blocks:
        blocks[placed.core] += 1
        for column, pipe in enumerate(ALL_PIPES):
            busy[placed.core][column] += placed.stream.busy[pipe]
    whole = timeline.cycles or 1
    return [
        CoreShare(core, blocks[core], [cycles / whole for cycles in row])
        for core, row in enumerate(busy)
    ]


def _finding(run: Run, finding: Finding) -> dict[str, Any]:
    placed = run.timeline.blocks[finding.block]
    ends = placed.stream.end
    cycle = ends[finding.index] if finding.index < len(ends) else placed.stream.total
    return {**finding.as_dict(), "core": placed.core, "cycle": placed.start + cycle}


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("tools.html_report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["whole"] = lambda value: f"{value:,.0f}"
    made.filters["percent"] = lambda value: f"{value:.1%}"
    return made


def _template() -> Template:
    return _environment().get_template("report.html.j2")


def _part(name: str) -> str:
    """Return a file beside this one as it stands."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
