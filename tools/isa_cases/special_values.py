"""Special values (zeros, infinities, NaN, extremes) of every vector call, in both numeric modes.

The file is a CSV table with one input combination a row, the result in INF/NAN mode and the result
in saturation mode. Rows of one call, form and element types run together in the lanes of one call.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from simulator.errors import ConfigError, SimulatorError
from tools.isa_cases.calls import set_numeric_mode
from tools.isa_cases.probe import PLATFORM_OF_ARCH, run_probe
from tools.isa_cases.results import SPECIAL_VALUE, IsaCaseResult
from tools.isa_cases.special_calls import Group, batch
from tools.isa_cases.tokens import dtype_named, expand, same

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from simulator.dtypes import DType

    Row = Mapping[str, str]

COLUMNS: Final = ("id", "arch", "api", "form", "src_dtypes", "dst_dtype", "operands", "inputs")
MODES: Final = {"infnan": False, "sat": True}
"""Column suffix and whether the core saturates."""

_OUTSIDE: Final = ("above the type maximum", "is not a half value")
"""Words of a note about an input that the element type cannot hold."""


def is_special_values(path: str | Path) -> bool:
    """Whether a file is a table of special values, by its header."""
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            header = next(csv.reader(file), [])
    except (OSError, ValueError):
        return False
    return set(COLUMNS) <= set(header)


def read_rows(path: str | Path) -> list[Row]:
    """Return the rows of a table.

    Raises
    ------
    ConfigError
        If the file has other columns.
    """
    if not is_special_values(path):
        raise ConfigError(f"{path} is no table of special values", legal=", ".join(COLUMNS))
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@dataclass(frozen=True)
class _Checked:
    """The columns of a row that can be checked, or why none can."""

    row: Row
    modes: tuple[str, ...]
    reason: str = ""


def run_special_values(
    path: str | Path, keep: Callable[[Row], bool] | None = None
) -> list[IsaCaseResult]:
    """Run every row of a table of special values.

    Parameters
    ----------
    path : path
        The CSV file.
    keep : callable, optional
        Chooses rows; all run when omitted.

    Returns
    -------
    list of IsaCaseResult
        One result a row, in the order of the file. A row whose figure is doubtful in one mode is
        checked in the other; it is skipped when doubtful in both.
    """
    rows = [row for row in read_rows(path) if keep is None or keep(row)]
    checked = [_judgeable(row) for row in rows]
    groups: dict[tuple[str, ...], list[int]] = {}
    results: dict[int, IsaCaseResult] = {}
    for index, item in enumerate(checked):
        if item.reason:
            results[index] = _result(item.row, message=item.reason, skipped=True)
        else:
            groups.setdefault(_key(item.row), []).append(index)
    for members in groups.values():
        found = _run_group([checked[i] for i in members])
        results.update(zip(members, found, strict=True))
    return [results[i] for i in range(len(rows))]


def _key(row: Row) -> tuple[str, ...]:
    # Patterns of different lengths cannot share a call.
    size = row["inputs"].partition("(")[2].partition(":")[0]
    return (*(row[c] for c in COLUMNS[1:7]), size)


def _judgeable(row: Row) -> _Checked:
    present = tuple(m for m in MODES if row[f"out_{m}"])
    note = row.get("note", "")
    if "suspect" in note:
        doubtful = [m for m in MODES if row.get(f"likely_{m}")]
        if not doubtful or any(words in note for words in _OUTSIDE):
            return _Checked(row, (), note)
        present = tuple(m for m in present if m not in doubtful)
    return _Checked(row, present, "" if present else note or "the table gives no result")


def _run_group(items: Sequence[_Checked]) -> list[IsaCaseResult]:
    first = items[0].row
    try:
        group = _group([item.row for item in items])
    except (SimulatorError, KeyError, ValueError) as error:
        return [_failure(item.row, error) for item in items]
    got: dict[str, list[Any]] = {}
    for mode, saturating in MODES.items():
        if any(mode in item.modes for item in items):
            got[mode] = _compute(group, first["arch"], saturating)
    return [
        _judge(item, group.dst_dtype, {m: got[m][i] for m in item.modes})
        for i, item in enumerate(items)
    ]


def _group(rows: Sequence[Row]) -> Group:
    first = rows[0]
    sources = tuple(dtype_named(name) for name in first["src_dtypes"].split(";"))
    return Group(
        first["arch"],
        first["api"],
        first["form"],
        sources,
        dtype_named(first["dst_dtype"]),
        tuple(first["operands"].split(";")),
        tuple(tuple(row["inputs"].split(";")) for row in rows),
    )


def _compute(group: Group, arch: str, saturating: bool) -> list[Any]:
    """Return for each row its result elements, or the error that came instead."""
    try:
        plan = batch(group)

        def body(t: Any) -> None:
            set_numeric_mode(arch, saturating)
            plan.body(t)

        done = run_probe(body, plan.tensors, platform=PLATFORM_OF_ARCH[arch])
        values: list[Any] = list(plan.read(done))
    except Exception as error:
        return [error] * len(group.rows)
    for index, reason in plan.errors.items():
        values[index] = reason
    return values


def _judge(item: _Checked, dtype: DType, got: Mapping[str, Any]) -> IsaCaseResult:
    wrong = []
    for mode, values in got.items():
        if isinstance(values, Exception):
            return _failure(item.row, values)
        printed = item.row[f"out_{mode}"]
        wanted = [v for token in printed.split(";") for v in expand(token, dtype)]
        tol = float(item.row.get("tol") or 0)
        if len(wanted) != len(values) or not all(map(lambda g, w: same(g, w, tol), values, wanted)):
            wrong.append(f"{mode}: expected {printed}, got {_shown(values)}")
    shown = {mode: _shown(values) for mode, values in got.items()}
    return _result(item.row, got=shown, message="; ".join(wrong), passed=not wrong)


def _shown(values: Sequence[int | float]) -> str:
    return ";".join(map(str, values[:8])) + (" …" if len(values) > 8 else "")


def _failure(row: Row, error: Exception) -> IsaCaseResult:
    text = str(error).splitlines()[0] if str(error) else ""
    return _result(row, message=f"{type(error).__name__}: {text}")


def _result(
    row: Row, *, got: Any = None, message: str = "", passed: bool = False, skipped: bool = False
) -> IsaCaseResult:
    return IsaCaseResult(
        row["id"],
        passed,
        {
            "form": row["form"],
            "src": row["src_dtypes"],
            "dst": row["dst_dtype"],
            "inputs": row["inputs"],
        },
        {mode: row[f"out_{mode}"] for mode in MODES},
        got,
        message,
        SPECIAL_VALUE,
        row["api"],
        row["arch"],
        skipped,
    )
