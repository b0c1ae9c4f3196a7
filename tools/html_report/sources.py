"""The kernel's source with what every line costs."""

from __future__ import annotations

import linecache
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.enums import PipeID
from simulator.timing.schedule import ALL_PIPES

if TYPE_CHECKING:
    from simulator.analysis.critical_path import CriticalPath
    from tools.html_report.streams import Streams

CONTEXT: Final = 25
"""Lines shown around a line that issued instructions."""


class Line(NamedTuple):
    """One source line; the figures are sums over all blocks, None where it issued nothing."""

    number: int
    text: str
    cycles: int | None
    heat: float
    waits: int
    calls: int
    critical: int
    nbytes: int
    pipes: str
    gap: bool


class SourceFile(NamedTuple):
    """A file with its shown lines; ``number`` makes the anchors of its lines."""

    number: int
    path: str
    name: str
    readable: bool
    lines: list[Line]


def source_files(streams: Streams, path: CriticalPath, files: dict[str, int]) -> list[SourceFile]:
    """Return the files that issued instructions, most cycles first.

    Parameters
    ----------
    files : dict
        Number of each file of the page; files met for the first time are added.
    """
    figures = _figures(streams, path)
    hottest = max((f.busy for f in figures.values()), default=0.0) or 1.0
    by_file: dict[str, dict[int, _Figures]] = {}
    for (name, number), values in figures.items():
        by_file.setdefault(name, {})[number] = values
    order = sorted(by_file, key=lambda name: -sum(f.busy for f in by_file[name].values()))
    return [_file(name, by_file[name], hottest, files) for name in order]


@dataclass
class _Figures:
    """Sums of one line."""

    busy: float = 0.0
    waits: float = 0.0
    calls: float = 0.0
    nbytes: float = 0.0
    critical: int = 0
    pipes: set[int] = field(default_factory=set)


def _figures(streams: Streams, path: CriticalPath) -> dict[tuple[str, int], _Figures]:
    busy, waits, calls = (streams.per_kind(c) for c in ("busy", "wait", "count"))
    found: dict[tuple[str, int], _Figures] = {}
    for number, kind in enumerate(streams.kinds):
        own = found.setdefault((kind.location.file, kind.location.line), _Figures())
        own.busy += busy[number]
        own.waits += waits[number]
        own.calls += calls[number]
        own.nbytes += calls[number] * kind.nbytes
        own.pipes.add(kind.pipe)
    for share in path.lines():
        found[share.location.file, share.location.line].critical += share.cycles
    return found


def _file(
    path: str, figures: dict[int, _Figures], hottest: float, files: dict[str, int]
) -> SourceFile:
    text = linecache.getlines(path)
    if text:
        shown = sorted(
            {
                n
                for hit in figures
                for n in range(max(1, hit - CONTEXT), min(len(text), hit + CONTEXT) + 1)
            }
            | set(figures)
        )
    else:
        shown = sorted(figures)
    lines, before = [], 0
    for number in shown:
        content = text[number - 1].rstrip() if 0 < number <= len(text) else ""
        gap = number > before + 1 and before > 0
        lines.append(_line(number, content, figures.get(number), hottest, gap=gap))
        before = number
    number = files.setdefault(path, len(files))
    return SourceFile(number, path, Path(path).name, bool(text), lines)


def _line(number: int, text: str, figures: _Figures | None, hottest: float, *, gap: bool) -> Line:
    if figures is None:
        return Line(number, text, None, 0.0, 0, 0, 0, 0, "", gap)
    return Line(
        number,
        text,
        int(figures.busy),
        figures.busy / hottest,
        int(figures.waits),
        int(figures.calls),
        figures.critical,
        int(figures.nbytes),
        " ".join(PipeID(p).label for p in ALL_PIPES if p in figures.pipes),
        gap,
    )
