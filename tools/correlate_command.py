"""``ascsim correlate``: a run beside the counters that a board's profiler wrote for the kernel."""

from __future__ import annotations

import csv
import math
import re
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich import box
from rich.padding import Padding
from rich.table import Table

from simulator.analysis.lanes import SharesOf
from simulator.errors import ConfigError
from tools.console import print_json, show
from tools.diff_command import runs_of
from tools.profile_files.counters import counter_rows, reason_for_na
from tools.report import facts, title
from tools.validate_command import signed_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from simulator.run import Run
    from tools.targets import TargetRequest

KEYS: Final = ("block_id", "sub_block_id")
NOTHING: Final = "NA"
_FILE: Final = re.compile(r"PipeUtilization(_\d{17})?\.csv")
_CUBE: Final = "aic_"
_RATIO: Final = ("_ratio", "_rate", "_rate(%)")
"""Endings of columns that hold shares; they are compared by difference, not by ratio."""


@dataclass(frozen=True)
class BoardFile:
    """A counter file: columns, and a row of values for each vector block.

    A value is None where the profiler had none.
    """

    path: Path
    columns: tuple[str, ...]
    rows: tuple[dict[str, float | None], ...]
    places: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Column:
    """One column: the means over the blocks on both sides.

    Attributes
    ----------
    name : str
    measured, simulated : float
        Means over the blocks that have a value.
    spread : tuple of two float
        Least and greatest measured value.
    worst : float or None
        Error of the block that is off most, if the blocks are the same on both sides.
    is_share : bool
        Whether errors are differences of shares (0..1) instead of ratios.
    """

    name: str
    measured: float
    simulated: float
    spread: tuple[float, float]
    worst: float | None
    is_share: bool

    @property
    def error(self) -> float | None:
        """``simulated / measured - 1``, or the difference of shares; None if nothing compares."""
        return _error(self.measured, self.simulated, self.is_share)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "measured": self.measured,
            "measured_least": self.spread[0],
            "measured_greatest": self.spread[1],
            "simulated": self.simulated,
            "error": self.error,
            "error_is": "difference" if self.is_share else "relative",
            "worst_block_error": self.worst,
        }


def _error(measured: float, simulated: float, is_share: bool) -> float | None:
    if is_share:
        return simulated - measured
    if not measured:
        return 0.0 if not simulated else None
    return simulated / measured - 1.0


def correlate(request: TargetRequest, path: str, launch: int | None, *, as_json: bool) -> int:
    """Compare a launch of the target with a profiler's counter file; return the exit code.

    Raises
    ------
    ConfigError
        If the file or the target cannot be read, or ``launch`` does not choose one launch.
    """
    board = read_board_file(path)
    runs = runs_of(request)
    run = _chosen(runs, launch, request.target)
    columns, left_out = compare_columns(run, board)
    if not columns:
        raise ConfigError(
            f"{board.path.name} has no value that the simulator has, too",
            legal="PipeUtilization.csv of msprof op, with values for vector blocks",
        )
    if as_json:
        print_json(
            {
                "file": str(board.path),
                "kernel": run.name,
                "platform": run.platform.name,
                "blocks": {"measured": len(board.rows), "simulated": run.block_dim},
                "columns": {column.name: column.as_dict() for column in columns},
                "left_out": left_out,
            }
        )
        return 0
    show(*_report(run, board, columns, left_out))
    return 0


def _chosen(runs: Sequence[Run], launch: int | None, target: str) -> Run:
    if launch is None and len(runs) == 1:
        return runs[0]
    if launch is None or not 1 <= launch <= len(runs):
        raise ConfigError(
            f"{target} has {len(runs)} launches, and the file is about one",
            legal=f"--launch 1 to {len(runs)}",
        )
    return runs[launch - 1]


def read_board_file(path: str) -> BoardFile:
    """Read a counter file, or the ``PipeUtilization.csv`` in a profiler's folder.

    Raises
    ------
    ConfigError
        If there is no such file, it is not a counter file, or it has no vector block.
    """
    file = _find(Path(path))
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise ConfigError(f"{path!r} cannot be read: {reason}") from None
    lines = [[cell.strip() for cell in line] for line in csv.reader(text.splitlines()) if line]
    if not lines or any(key not in lines[0] for key in KEYS):
        raise ConfigError(
            f"{file.name} is not a counter file of the profiler",
            legal=f"a CSV file with the columns {', '.join(KEYS)}, such as PipeUtilization.csv",
        )
    columns = tuple(lines[0])
    rows, places = [], []
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(columns):
            raise ConfigError(
                f"line {number} of {file.name} has {len(line)} values, not {len(columns)}"
            )
        cells = dict(zip(columns, line, strict=True))
        place = cells["block_id"], cells["sub_block_id"]
        if not place[1].startswith("cube"):
            places.append(place)
            rows.append(
                {name: _value(cells[name], name, number) for name in columns if name not in KEYS}
            )
    if not rows:
        raise ConfigError(f"{file.name} has no row of a vector block")
    return BoardFile(file, columns, tuple(rows), tuple(places))


def _find(path: Path) -> Path:
    if not path.is_dir():
        return path
    found = sorted(p for p in path.rglob("*.csv") if _FILE.fullmatch(p.name))
    if len(found) != 1:
        raise ConfigError(
            f"there are {len(found)} files PipeUtilization.csv under {str(path)!r}",
            legal="a folder with one, or the path of the file",
        )
    return found[0]


def _value(cell: str, column: str, line: int) -> float | None:
    if cell in (NOTHING, "N/A", ""):
        return None
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ConfigError(
            f"{cell!r} in line {line} under {column} is not a number",
            legal=f"a number or {NOTHING}",
        )
    return value


def compare_columns(run: Run, board: BoardFile) -> tuple[list[Column], dict[str, str]]:
    """Return the columns that both sides have, and why the others are left out."""
    simulated = counter_rows(run, SharesOf(run))
    ours = {(str(row["block_id"]), str(row["sub_block_id"])): row for row in simulated}
    same = set(ours) == set(board.places)
    columns: list[Column] = []
    left_out: dict[str, str] = {}
    for name in board.columns:
        if name in KEYS:
            continue
        measured = [value for row in board.rows if (value := row[name]) is not None]
        predicted = [float(row[name]) for row in simulated if row.get(name) is not None]
        if not measured:
            left_out[name] = "no value in the file"
        elif not predicted:
            left_out[name] = reason_for_na(name)
        else:
            is_share = name.endswith(_RATIO)
            worst = None
            if same:
                pairs = zip(board.rows, board.places, strict=True)
                worst = _worst(
                    [
                        _error(value, float(own), is_share)
                        for row, place in pairs
                        if (value := row[name]) is not None
                        and (own := ours[place].get(name)) is not None
                    ]
                )
            means = statistics.fmean(measured), statistics.fmean(predicted)
            spread = min(measured), max(measured)
            columns.append(Column(name, *means, spread, worst, is_share))
    return columns, left_out


def _worst(errors: Sequence[float | None]) -> float | None:
    known = [error for error in errors if error is not None]
    return max(known, key=abs) if known else None


# -- report ----------------------------------------------------------------------------------------


def _report(
    run: Run, board: BoardFile, columns: Sequence[Column], left_out: dict[str, str]
) -> list[RenderableType]:
    made = Table(box=box.SIMPLE_HEAD, header_style="head", pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("column", "measured", "least", "greatest", "simulated", "error", "worst block"):
        made.add_column(name, justify="left" if name == "column" else "right", no_wrap=True)
    for one in columns:
        made.add_row(
            one.name, _text(one.measured), *map(_text, one.spread), _text(one.simulated),
            _shown(one.error, one.is_share), _shown(one.worst, one.is_share),
        )  # fmt: skip
    rows = [
        ("launch", run.summary.headline()),
        ("file", f"{board.path.name}, {len(board.rows)} vector blocks"),
    ]
    if any(one.worst is None for one in columns):
        rows.append(("blocks", "not the same on both sides, so only means are compared"))
    rows.append(("accuracy", run.summary.accuracy))
    parts: list[RenderableType] = [
        title(f"{run.name} on {run.platform.name} beside {board.path.name}"),
        facts(rows),
        Padding(made, (0, 0, 0, 1)),
    ]
    by_reason: dict[str, list[str]] = {}
    cube = [name for name in left_out if name.startswith(_CUBE)]
    for name, reason in left_out.items():
        if name not in cube:
            by_reason.setdefault(reason, []).append(name)
    if cube:
        by_reason["cube core"] = [f"{len(cube)} columns {_CUBE}…"]
    if by_reason:
        parts.append(facts([(reason, ", ".join(names)) for reason, names in by_reason.items()]))
    return parts


def _text(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _shown(error: float | None, is_share: bool) -> Any:
    if error is None:
        return "-"
    return f"{error:+.3f}" if is_share else signed_share(error)
