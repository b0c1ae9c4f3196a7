"""The instructions of a run as one compressed text that a page's script unpacks.

Layout before compression: the length of the JSON header in four bytes, the header padded with
blanks to a multiple of four, then 32-bit columns, little-endian. Columns are stored as differences,
which compress well; ``report.js`` undoes them.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.analysis.critical_path import ISSUE, QUEUE, START_UP
from simulator.analysis.lanes import executing_pipe
from simulator.enums import PipeID
from simulator.errors import ConfigError
from simulator.timing.schedule import ALL_PIPES
from tools.html_report.occupancy import occupancy
from tools.html_report.streams import COLUMNS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.analysis.critical_path import CriticalPath
    from simulator.run import Run
    from tools.html_report.streams import Column, Kind, Rows, Streams

MAX_CYCLES: Final = 2**31 - 1
MAX_LIVES: Final = 100_000
"""Spans of buffers in a page; beyond them the occupancy of a stream is left out, and named."""


def pack(
    streams: Streams,
    files: dict[str, int],
    marks: list[dict[str, Any]],
    path: CriticalPath,
) -> str:
    """Return the packed timeline of a run.

    Parameters
    ----------
    files : dict
        Number of each source file in the page.
    marks : list of dict
        Findings with their core and cycle.
    path : CriticalPath

    Raises
    ------
    ConfigError
        If the run has more cycles than fit a column.
    """
    run = streams.run
    timeline = run.timeline
    if timeline.cycles > MAX_CYCLES:
        raise ConfigError(
            "the run is too long for a page", got=f"{timeline.cycles:,} cycles",
            legal=f"<= {MAX_CYCLES:,} cycles",
        )  # fmt: skip
    data: list[Column] = []
    heads = [_stream(streams, number, data) for number in range(len(streams.rows))]
    data.append(_deltas(np.array([b.start for b in timeline.blocks], np.int64)))
    data.append(np.array([b.core for b in timeline.blocks], np.int64))
    data.append(np.array(streams.stream_of, np.int64))
    steps = np.array(critical_spans(streams.run, path), np.int64).reshape(-1, 4)
    data += [steps[:, column] for column in range(4)]
    header = {
        "cycles": timeline.cycles,
        "cores": timeline.cores,
        "clock": run.platform.timing.clock_mhz,
        "ub": run.platform.memory.ub_bytes,
        "resolution": streams.resolution,
        "instructions": len(run.instructions),
        "reasons": streams.reasons,
        "kinds": [_kind(kind, files) for kind in streams.kinds],
        "streams": heads,
        "blocks": len(timeline.blocks),
        "critical": len(steps),
        "marks": marks,
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    raw = len(text).to_bytes(4, "little") + text
    raw += b"".join(np.ascontiguousarray(c, "<i4").tobytes() for c in data)
    return base64.b64encode(zlib.compress(raw, 6)).decode()


def critical_spans(run: Run, path: CriticalPath) -> list[tuple[int, int, int, int]]:
    """Return the critical path as (core, lane, start, end) in cycles, neighbours on a lane united.

    Lanes count as in ``ALL_PIPES``; what the scalar unit does to issue is on its own.
    """
    lanes = {int(pipe): number for number, pipe in enumerate(ALL_PIPES)}
    spans: list[tuple[int, int, int, int]] = []
    for step in path.steps:
        core = run.timeline.blocks[step.block].core
        lane = 0
        if step.kind not in (START_UP, ISSUE, QUEUE):
            lane = lanes[executing_pipe(run.blocks[step.block].entries[step.number][0])]
        if spans and spans[-1][:2] == (core, lane) and spans[-1][3] == step.start:
            spans[-1] = (core, lane, spans[-1][2], step.end)
        else:
            spans.append((core, lane, step.start, step.end))
    return spans


def _stream(streams: Streams, number: int, data: list[Column]) -> dict[str, Any]:
    rows = streams.rows[number]
    data += _columns(rows)
    block = rows.blocks[0]
    placed = streams.run.timeline.blocks[block]
    found = occupancy(streams.run.blocks[block], placed.stream)
    spans = sum(map(len, found.lives))
    kept = spans <= MAX_LIVES // len(streams.rows)
    if kept:
        for lives in found.lives:
            pairs = np.array(lives, np.int64).reshape(-1, 2)
            data += [_deltas(pairs[:, 0]), pairs[:, 1] - pairs[:, 0]]
    return {
        "total": rows.total,
        "rows": len(rows.columns["start"]),
        "lanes": {PipeID(pipe).label: span for pipe, span in rows.lanes.items()},
        "buffers": [
            [b.name, b.queue, b.start, b.length, len(lives)]
            for b, lives in zip(found.buffers, found.lives, strict=True)
        ]
        if kept
        else None,
    }


def _columns(rows: Rows) -> list[Column]:
    c = rows.columns
    stored = {
        **c,
        "start": _deltas(c["start"]),
        "end": c["end"] - c["start"],
        "first": c["start"] - c["first"],
        "last": c["last"] - c["end"],
        "issued": c["start"] - c["issued"],
        "index": _deltas(c["index"]),
        "busy": c["end"] - c["start"] - c["busy"],
    }
    return [stored[name] for name in COLUMNS]


def _deltas(values: Column) -> NDArray[np.int64]:
    return np.diff(values, prepend=0)


def _kind(kind: Kind, files: dict[str, int]) -> list[Any]:
    plan = kind.plan
    details = ", ".join(f"{k} {v}" for k, v in plan.details.items())
    return [
        plan.spec.name, plan.form, PipeID(kind.pipe).label, files[kind.location.file],
        kind.location.line, kind.location.function, details, kind.operand_texts(),
        int(kind.is_sync), kind.nbytes, kind.elements,
    ]  # fmt: skip
