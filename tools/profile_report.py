"""The report of ``ascsim profile``: where the time of one launch went, and what would help."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from rich import box
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from simulator.analysis.activity import activity, covered
from simulator.analysis.bandwidth import bandwidths
from simulator.analysis.hotspots import hotspots
from simulator.analysis.suggestions import suggestions
from tools.html_report.occupancy import occupancy
from tools.html_report.roofline import roofline
from tools.html_report.streams import Streams
from tools.report import Spark, facts, launch_rows, pipe_table, title, verdict_rows

if TYPE_CHECKING:
    from rich.console import RenderableType

    from simulator.run import Run

    Row = tuple[str, RenderableType]

BINS: Final = 48
"""Stretches of a timeline."""

CORE_BINS: Final = 16
"""Stretches of a core's timeline; a divisor of ``BINS``."""

MOST_LINES: Final = 8
MOST_CORES: Final = 6


def profile_report(run: Run, heading: str) -> RenderableType:
    """Return the report of one launch."""
    cores = activity(run, BINS)
    return Group(
        title(heading),
        facts(launch_rows(run.summary)),
        _section("pipes"),
        Padding(pipe_table(run.summary), (0, 0, 0, 1)),
        _section(f"timeline, {run.microseconds:.2f} us from left to right, mean of the cores"),
        facts(_timelines(run, cores)),
        _section("cores"),
        Padding(_core_table(run, cores), (0, 0, 0, 1)),
        facts([("balance", _balance(run))]),
        _section("hottest lines, all cores"),
        Padding(_line_table(run), (0, 0, 0, 1)),
        facts([("path", _path(run))]),
        _section("limits"),
        facts([*_bandwidth_rows(run), ("roofline", _roofline(run)), *verdict_rows(run.summary)]),
        _section("suggestions, each scheduled anew"),
        facts(_suggestion_rows(run)),
    )


def profile_dict(run: Run) -> dict[str, Any]:
    """Return the same as plain values for JSON."""
    cores = activity(run, BINS)
    line = roofline(Streams(run), run.summary)
    used, held = _held(run)
    return {
        **run.summary.as_dict(),
        "activity": {str(core): pipes for core, pipes in cores.items()},
        "ub": {"bytes": run.platform.memory.ub_bytes, "used": used, "held": held},
        "lines": [use.as_dict() for use in hotspots(run)],
        "critical_path": run.critical_path.as_dict(),
        "bandwidth": [one.as_dict() for one in bandwidths(run)],
        "roofline": None if line is None else {**line._asdict(), "limit": line.limit},
        "suggestions": [one.as_dict() for one in suggestions(run)],
    }


def _section(text: str) -> Text:
    return Text(f"\n  {text}", style="head")


def _timelines(run: Run, cores: dict[int, dict[str, list[float]]]) -> list[Row]:
    rows: list[Row] = []
    for pipe in run.summary.pipes:
        mean = np.mean([core[pipe.name] for core in cores.values()], axis=0).tolist()
        rows.append((pipe.name, Spark(mean)))
    used, held = _held(run)
    whole = run.platform.memory.ub_bytes
    rows.append(("UB", Spark([h / whole for h in held])))
    text = f"{used:,} of {whole:,} bytes used ({used / whole:.0%}), block 0"
    if held:
        text += f"; at most {max(held):,.0f} bytes hold data at once in a stretch"
    rows.append(("", text))
    return rows


def _held(run: Run) -> tuple[int, list[float]]:
    """Bytes of UB that block 0 uses, and those that hold data, mean in every stretch."""
    if not run.blocks:
        return 0, []
    placed = run.timeline.blocks[0]
    found = occupancy(run.blocks[0], placed.stream)
    edges = np.linspace(0.0, run.cycles, BINS + 1)
    held = np.zeros(BINS)
    used = 0
    for buffer, lives in zip(found.buffers, found.lives, strict=True):
        if lives:
            used += buffer.length
            held += covered(lives, edges - placed.start) * buffer.length
    width = run.cycles / BINS or 1.0
    return used, (held / width).tolist()


def _core_table(run: Run, cores: dict[int, dict[str, list[float]]]) -> Table:
    made = _table("cores", "busy until", "S", "V", "MTE2", "MTE3", "busiest pipe over time")
    groups: dict[tuple[int, ...], list[int]] = {}
    streams: dict[int, list[int]] = {}
    for placed in run.timeline.blocks:
        streams.setdefault(placed.core, []).append(id(placed.stream))
    for core, ids in sorted(streams.items()):
        groups.setdefault(tuple(ids), []).append(core)
    ends = {placed.core: placed.end for placed in run.timeline.blocks}
    order = sorted(groups.values(), key=lambda members: -ends[members[0]])
    for members in order[:MOST_CORES]:
        pipes = cores[members[0]]
        shares = {name: sum(bins) / BINS for name, bins in pipes.items()}
        busiest = max(shares, key=shares.__getitem__)
        made.add_row(
            _ranges(members), f"{ends[members[0]]:,}",
            *(f"{shares[name]:.1%}" for name in ("S", "V", "MTE2", "MTE3")),
            Spark(np.reshape(pipes[busiest], (CORE_BINS, -1)).mean(axis=1).tolist()),
        )  # fmt: skip
    hidden = sum(len(members) for members in order[MOST_CORES:])
    if hidden:
        made.add_row(f"{hidden} more")
    return made


def _balance(run: Run) -> str:
    ends = {placed.core: placed.end for placed in run.timeline.blocks}
    mean = sum(ends.values()) / len(ends)
    share = mean / run.cycles if run.cycles else 0.0
    text = f"the cores are busy for {share:.1%} of the busiest one's time on average"
    unused = run.platform.chip.aiv - len(ends)
    if unused > 0:
        text += f"; {unused} of {run.platform.chip.aiv} cores have no block"
    return text


def _ranges(numbers: list[int]) -> str:
    """``0-3, 7``: numbers as ranges, cut off after four."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    told = [f"{a}-{b}" if a != b else str(a) for a, b in parts[:4]]
    return ", ".join(told) + (", …" if len(parts) > 4 else "")


def _line_table(run: Run) -> Table:
    made = _table("line", "calls", "pipe", "times", "busy cycles", "bytes", "critical path")
    for column in (made.columns[0], made.columns[1]):
        column.overflow = "fold"
        column.no_wrap = False
    busy = [use for use in hotspots(run) if use.cycles]
    for use in busy[:MOST_LINES]:
        made.add_row(
            f"{PurePath(use.location.file).name}:{use.location.line}", ", ".join(use.names),
            use.pipe, f"{use.calls:,}", f"{use.cycles:,}", f"{use.nbytes:,}" if use.nbytes else "-",
            f"{use.path / run.cycles:.1%}" if use.path else "-",
        )  # fmt: skip
    return made


def _path(run: Run) -> str:
    kinds = run.critical_path.kinds()
    parts = ", ".join(f"{kind} {cycles:,}" for kind, cycles in kinds.items() if cycles)
    return f"the critical path of {run.cycles:,} cycles: {parts}"


def _table(*names: str) -> Table:
    made = Table(box=box.SIMPLE_HEAD, header_style="head", pad_edge=False, padding=(0, 1, 0, 0))
    left = ("cores", "line", "calls", "pipe", "busiest pipe over time")
    for name in names:
        made.add_column(name, justify="left" if name in left else "right", no_wrap=True)
    return made


def _bandwidth_rows(run: Run) -> list[Row]:
    return [
        (
            one.pipe,
            f"{one.while_busy:.1f} of {one.core_limit:.1f} GB/s a core while it copies "
            f"({one.while_busy / one.core_limit:.0%}), {one.overall:,.1f} of {one.limit:,.1f} GB/s "
            f"over the working time; {one.bound_by} is the limit; a copy moves "
            f"{one.mean_bytes:,.0f} B on average",
        )
        for one in bandwidths(run)
    ]


def _roofline(run: Run) -> str:
    line = roofline(Streams(run), run.summary)
    if line is None:
        return "the kernel computes nothing, or copies nothing"
    return line.sentence()


def _suggestion_rows(run: Run) -> list[Row]:
    rows: list[Row] = []
    for one in suggestions(run):
        text = Text(f"{one.gain:.1%} faster ({one.cycles:,} cycles): ", style="ok")
        text.append(one.text, style="default")
        if one.location is not None:
            place = f" ({PurePath(one.location.file).name}:{one.location.line})"
            text.append(place, style="default")
        rows.append((one.kind, text))
    return rows or [("none", "no change that is known here makes it 2% faster")]
