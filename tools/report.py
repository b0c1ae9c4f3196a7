"""Reports for people: a :class:`Summary` and what surrounds it, as rich renderables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich import box
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from simulator.analysis.summary import PipeSummary, Summary
    from tools.accuracy import Agreement

    Row = tuple[str, RenderableType]

BAR_CELLS: Final = 10
LABEL_WIDTH: Final = 10
"""Columns of the labels, so that the parts of a report line up."""
_UNITS: Final = {
    "S": "scalar",
    "V": "vector",
    "MTE2": "GM to UB",
    "MTE3": "UB to GM",
}

NOTHING_LAUNCHED: Final = (
    "none: the tensors are empty, so phase 1 returns success with a workspace of 0 bytes and an "
    "executor without tasks, and the device has nothing to do"
)


class Bar:
    """A share (0..1) as a bar; plain ``#`` where the output has no block characters."""

    def __init__(self, share: float, cells: int = BAR_CELLS) -> None:
        self.filled = min(cells, round(share * cells))
        self.cells = cells

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the bar."""
        full, empty = ("#", ".") if options.ascii_only else ("█", "░")
        yield Text.assemble(
            (full * self.filled, "busy"), (empty * (self.cells - self.filled), "faint")
        )

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> object:
        """Give the width of the bar."""
        from rich.measure import Measurement

        return Measurement(self.cells, self.cells)


class Spark:
    """Shares (0..1) over time as a line of small columns; plain characters where needed."""

    def __init__(self, shares: Sequence[float]) -> None:
        self.shares = shares

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the line; any activity at all shows as more than a blank."""
        steps = " .:-=+*#@" if options.ascii_only else " ▁▂▃▄▅▆▇█"
        highest = len(steps) - 1
        yield Text(
            "".join(
                steps[max(min(highest, round(share * highest)), int(share > 0))]
                for share in self.shares
            ),
            style="busy",
        )

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> object:
        """Give the width of the line."""
        from rich.measure import Measurement

        return Measurement(len(self.shares), len(self.shares))


def title(text: str) -> Text:
    """Return a report's first line."""
    return Text(text, style="name")


def facts(rows: Iterable[Row]) -> RenderableType:
    """Return label-and-text rows, long texts wrapped below themselves."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="label", no_wrap=True, min_width=LABEL_WIDTH)
    table.add_column(overflow="fold")
    for label, text in rows:
        table.add_row(label, text)
    return Padding(table, (0, 0, 0, 2))


def launch_rows(summary: Summary) -> list[Row]:
    """Return the rows that describe one launch: kernel, arguments, time, traffic."""
    return [
        ("launch", summary.headline()),
        *summary.argument_rows(),
        ("time", summary.time_line()),
        ("memory", summary.traffic_line()),
    ]


def pipe_table(summary: Summary) -> Table:
    """Return the table of pipes: how busy, how many instructions, what they waited for."""
    table = Table(box=box.SIMPLE_HEAD, header_style="head", pad_edge=False, padding=0)
    table.add_column("pipe", no_wrap=True)
    table.add_column("unit", no_wrap=True, style="faint")
    table.add_column("busy", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("cycles", justify="right", no_wrap=True)
    table.add_column("instr.", justify="right", no_wrap=True)
    table.add_column("waits (mean cycles a core)", overflow="fold")
    for pipe in summary.pipes:
        table.add_row(*_pipe_row(summary, pipe))
    return table


def _pipe_row(summary: Summary, pipe: PipeSummary) -> Sequence[RenderableType]:
    busiest = pipe.name == summary.busiest
    return (
        Text(pipe.name, style="label" if busiest else ""),
        _UNITS[pipe.name],
        Text(f"{pipe.utilisation:.1%}", style="label" if busiest else ""),
        Bar(pipe.utilisation),
        f"{pipe.busy / summary.cores:,.0f}",
        f"{pipe.instructions:,}",
        summary.waits_text(pipe),
    )


def verdict_rows(summary: Summary) -> list[Row]:
    """Return the bottleneck, how far the time may be off, and the notes."""
    rows: list[Row] = [("bottleneck", summary.bottleneck), ("accuracy", summary.accuracy)]
    return rows + [("note", Text(note, style="warn")) for note in summary.notes()]


def launch_report(summary: Summary, heading: str) -> RenderableType:
    """Return the report of one launch."""
    return Group(title(heading), *_launch_parts(summary))


def operator_report(
    name: str,
    inputs: str,
    agreements: Mapping[str, Agreement],
    summaries: Sequence[Summary],
) -> RenderableType:
    """Return the report of an operator call: agreement of its outputs, then every launch."""
    rows: list[Row] = [("inputs", inputs)]
    for output, agreement in agreements.items():
        style = "ok" if agreement.equal else "bad"
        rows.append((output, Text(agreement.sentence(), style=style)))
    if not summaries:
        rows.append(("launch", NOTHING_LAUNCHED))
    parts = [part for summary in summaries for part in _launch_parts(summary)]
    return Group(title(name), facts(rows), *parts)


def _launch_parts(summary: Summary) -> tuple[RenderableType, ...]:
    return (
        facts(launch_rows(summary)),
        Padding(pipe_table(summary), (0, 0, 0, 1)),
        facts(verdict_rows(summary)),
    )
