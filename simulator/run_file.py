"""Runs in files: ``Run.save`` and ``Run.load``; the format is described in docs/run-file.md.

A file holds the record of a launch, not its readings: timeline, findings and reports are computed
anew from the record on the platform that stands in the file.
"""

from __future__ import annotations

import json
import zipfile
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.arguments import describe_argument, struct_fields
from simulator.dtypes import BY_NAME, DType
from simulator.enums import PipeID
from simulator.errors import ConfigError
from simulator.instruction import (
    Access,
    CopyWork,
    InstructionSpec,
    Operand,
    Plan,
    VectorWork,
    locate,
)  # fmt: skip
from simulator.memory import Allocation, GlobalAddress
from simulator.platforms import Figure, Platform
from simulator.run import Block, Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike
    from types import CodeType

    from numpy.typing import NDArray

FORMAT: Final = "ascsim-run"
VERSION: Final = 1

_HEADER: Final = "run.json"
_SOURCE: Final = "saved run"


class SavedCode(NamedTuple):
    """Stand-in for the code object of a saved call: enough to find file, line and function."""

    co_filename: str
    co_firstlineno: int
    co_name: str
    places: tuple[tuple[int, int], ...]

    def co_lines(self) -> Iterator[tuple[int, int, int]]:
        """Yield (first, end, line) for every saved position, as code objects do."""
        for lasti, line in self.places:
            yield lasti, lasti + 1, line


# -- writing -----------------------------------------------------------------------------------


class _Table:
    """Values that are written once and referred to by number."""

    def __init__(self, describe: Callable[[Any], Any]) -> None:
        self._numbers: dict[Any, int] = {}
        self._describe = describe
        self.rows: list[Any] = []

    def number(self, value: Any) -> int:
        """Return the number of a hashable value; it is described when it first occurs."""
        found = self._numbers.get(value)
        if found is None:
            found = self._numbers[value] = len(self.rows)
            self.rows.append(self._describe(value))
        return found


class _Writer:
    def __init__(self, run: Run) -> None:
        self.run = run
        self.allocations = _Table(
            lambda a: {"address": a.address, "bytes": len(a.data), "name": a.name}
        )
        self.plans = _Table(_plan_row)
        self.places: dict[CodeType, dict[int, int]] = {}
        self.codes: dict[CodeType, int] = {}
        self.params: list[Any] = []

    def write(self, path: str | PathLike[str]) -> None:
        arrays: dict[str, NDArray[Any]] = {}
        blocks = []
        for block in self.run.blocks:
            arrays[f"entries/{block.index}"] = self._entries(block)
            blocks.append({"index": block.index, "output": block.output})
        for allocation, content in self.run.initial.items():
            arrays[f"initial/{self.allocations.number(allocation)}"] = content
        header = {
            "format": FORMAT,
            "version": VERSION,
            "name": self.run.name,
            "auto_sync": self.run.auto_sync,
            "task_ratio": self.run.task_ratio,
            "course": [list(turn) for turn in self.run.course],
            "platform": _platform_row(self.run.platform),
            "arguments": [[name, self._argument(value)] for name, value in self.run.arguments],
            "blocks": blocks,
            "plans": self.plans.rows,
            "codes": self._code_rows(),
            "params": self.params,
            "allocations": self.allocations.rows,
        }
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            _add(archive, _HEADER, json.dumps(header, default=str, ensure_ascii=False).encode())
            for name, array in arrays.items():
                buffer = BytesIO()
                np.save(buffer, array, allow_pickle=False)
                _add(archive, f"{name}.npy", buffer.getvalue())

    def _entries(self, block: Block) -> NDArray[np.int32]:
        """Rows of plan, code, position in the code and parameters (-1 for none)."""
        rows = np.empty((len(block.entries), 4), np.int32)
        for number, (plan, code, lasti, params) in enumerate(block.entries):
            index = self.codes.get(code)
            if index is None:
                index = self.codes[code] = len(self.codes)
                self.places[code] = {}
            self.places[code].setdefault(lasti, -1)
            saved = -1
            if params:
                saved = len(self.params)
                self.params.append([self._param(value) for value in params])
            rows[number] = self.plans.number(plan), index, lasti, saved
        return rows

    def _param(self, value: Any) -> Any:
        if isinstance(value, GlobalAddress):
            return {"gm": [self.allocations.number(value.allocation), value.offset, value.end]}
        return _plain(value)

    def _argument(self, value: Any) -> Any:
        fields = struct_fields(value)
        if fields is not None:
            return {
                "type": type(value).__name__,
                "fields": {k: _plain(v) for k, v in fields.items()},
            }
        return {"text": describe_argument(value)}

    def _code_rows(self) -> list[Any]:
        return [
            {
                "file": code.co_filename,
                "line": code.co_firstlineno,
                "function": code.co_name,
                "places": [[at, locate(code, at).line] for at in sorted(self.places[code])],
            }
            for code in self.codes
        ]


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    # A fixed date, so that equal runs give equal files.
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, content)


def _plain(value: Any) -> Any:
    """Return a value that JSON can hold and that reads back equal, or else its text."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _plan_row(plan: Plan) -> dict[str, Any]:
    work = plan.work
    kind = {VectorWork: "vector", CopyWork: "copy"}.get(type(work))
    return {
        "name": plan.spec.name,
        "family": plan.spec.family,
        "cost_key": plan.spec.cost_key,
        "form": plan.form,
        "pipe": plan.pipe,
        "flag": plan.flag,
        "event": plan.event,
        "work": None if work is None else [kind, *work],
        "details": dict(plan.details),
        "operands": [
            [op.name, op.role, op.space, op.dtype.name, [list(a) for a in op.accesses]]
            for op in plan.operands
        ],
    }


def _platform_row(platform: Platform) -> dict[str, Any]:
    return {
        "name": platform.name,
        "description": platform.description,
        "provisional_timing": platform.provisional_timing,
        "figures": {
            key: [f.value, f.unit, f.source, f.confidence, f.note]
            for key, f in platform.figures.items()
        },
    }


def save(run: Run, path: str | PathLike[str]) -> None:
    """Write ``run`` to a file; equal runs give equal files.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    _Writer(run).write(path)


# -- reading -----------------------------------------------------------------------------------


def is_run_file(path: str | PathLike[str]) -> bool:
    """Return whether ``path`` is a file that :func:`save` may have written."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _HEADER in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def load(path: str | PathLike[str]) -> Run:
    """Read a run that :func:`save` wrote.

    Its instructions cannot be executed again; all readings of the record work.

    Raises
    ------
    ConfigError
        If the file cannot be read, is no saved run, or has a version of the format that this
        simulator does not know.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read(_HEADER))
            arrays = {
                name.removesuffix(".npy"): np.load(BytesIO(archive.read(name)), allow_pickle=False)
                for name in archive.namelist()
                if name.endswith(".npy")
            }
    except OSError as error:
        raise ConfigError(f"{str(path)!r} cannot be read: {error.strerror or error}") from None
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise ConfigError(
            f"{str(path)!r} is no saved run: {error}", fix="write one with run.save(path)"
        ) from None
    if header.get("format") != FORMAT or header.get("version") != VERSION:
        raise ConfigError(
            f"{str(path)!r} has a format that this simulator does not know",
            got=f"{header.get('format')} version {header.get('version')}",
            legal=f"{FORMAT} version {VERSION}",
        )
    return _Reader(header, arrays).run()


class SavedStruct:
    """A struct argument of a saved run: its fields by name."""

    def __init__(self, name: str, fields: dict[str, Any]) -> None:
        self._name = name
        self._fields = fields

    def as_dict(self) -> dict[str, Any]:
        """Return the fields."""
        return dict(self._fields)

    def __repr__(self) -> str:
        return f"{self._name}({', '.join(f'{k}={v}' for k, v in self._fields.items())})"


class _Reader:
    def __init__(self, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self.header = header
        self.arrays = arrays
        self.allocations = [
            Allocation(row["address"], np.zeros(row["bytes"], np.uint8), row["name"])
            for row in header["allocations"]
        ]
        self.plans = [_plan(row) for row in header["plans"]]
        self.codes: list[Any] = [
            SavedCode(
                row["file"], row["line"], row["function"],
                tuple((at, line) for at, line in row["places"]),
            )
            for row in header["codes"]
        ]  # fmt: skip
        self.params = [tuple(self._param(v) for v in values) for values in header["params"]]

    def run(self) -> Run:
        header = self.header
        initial = {
            self.allocations[int(name.partition("/")[2])]: content
            for name, content in self.arrays.items()
            if name.startswith("initial/")
        }
        return Run(
            header["name"],
            _platform(header["platform"]),
            [
                Block(row["index"], self._entries(row["index"]), row["output"])
                for row in header["blocks"]
            ],
            arguments=[(name, _argument(row)) for name, row in header["arguments"]],
            initial=initial,
            auto_sync=header["auto_sync"],
            task_ratio=header["task_ratio"],
            course=[(block, issued) for block, issued in header["course"]],
        )

    def _entries(self, block: int) -> list[Any]:
        plans, codes, params = self.plans, self.codes, self.params
        return [
            (plans[plan], codes[code], lasti, params[saved] if saved >= 0 else ())
            for plan, code, lasti, saved in self.arrays[f"entries/{block}"].tolist()
        ]

    def _param(self, value: Any) -> Any:
        if isinstance(value, dict):
            number, offset, end = value["gm"]
            return GlobalAddress(self.allocations[number], offset, end - offset)
        return value


def _plan(row: dict[str, Any]) -> Plan:
    spec = InstructionSpec(
        name=row["name"],
        family=row["family"],
        pipe=PipeID(row["pipe"]),
        dtypes={},
        operands=(),
        source=_SOURCE,
        cost_key=row["cost_key"],
    )
    plan = Plan(
        spec,
        row["form"],
        [
            Operand(name, role, space, _dtype(dtype), tuple(_access(a) for a in accesses))
            for name, role, space, dtype, accesses in row["operands"]
        ],
        _refuse,
        pipe=PipeID(row["pipe"]),
        work=_work(row["work"]),
        details=row["details"],
    )
    plan.flag, plan.event = row["flag"], row["event"]
    return plan


def _refuse(*_: Any) -> None:
    raise ConfigError(
        "the instructions of a saved run cannot be executed again",
        fix="launch the kernel again to replay it",
    )


def _dtype(name: str) -> DType:
    return BY_NAME[name]


def _access(row: list[Any]) -> Access:
    start, inner, dims, lanes = row
    return Access(
        start,
        inner,
        tuple((count, stride) for count, stride in dims),
        None if lanes is None else tuple(lanes),
    )


def _work(row: list[Any] | None) -> Any:
    if row is None:
        return None
    kind, *values = row
    return {"vector": VectorWork, "copy": CopyWork}[kind](*values)


def _platform(row: dict[str, Any]) -> Platform:
    figures = {key: Figure(*values) for key, values in row["figures"].items()}
    return Platform.from_figures(
        row["name"], row["description"], row["provisional_timing"], figures
    )


def _argument(row: dict[str, Any]) -> Any:
    if "fields" in row:
        return SavedStruct(row["type"], row["fields"])
    return row["text"]
