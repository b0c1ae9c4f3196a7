"""Cost rows of the vector instructions, read from the CSV files in ``costs/``.

``load_costs(arch).find("Exp", "float")`` is the row of one call, or ``None`` when nobody has
published a figure for that API and element type. A missing row is never replaced by that of a
similar type: the caller charges ``.default`` and reports the call as unmeasured.

Columns and provenance: ``costs/README.md``.
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Generic, TypeVar, overload

from simulator.enums import Arch
from simulator.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Literal

_FOLDER: Final = Path(__file__).parent / "costs"

SHORT_LOOPS: Final = 32
"""Loops of a 950 vector function that run at ``s1``; further ones take ``s2``.

Source: fit of hw-native-sys/pto-isa include/pto/costmodel/a5/formula_costmodel/formula_params.csv
and of whole kernels in mirror-cann/asc-devkit
examples/01_simd_cpp_api/05_best_practices/00_vector_compute/add_high_performance/README_en.md.
"""

ROW_START: Final = 5.0
"""Cycles that a further row of several loops takes besides one for each loop, if its loops do not
take longer: fit of the rows of ten calls in hw-native-sys/pto-isa tests/costmodel/st_a5_fit.
"""

ALIASES: Final = MappingProxyType({"Compares": "CompareScalar", "ReducePairElem": "PairReduceSum"})
"""Newer AscendC names of calls that are the same instruction."""


@dataclass(frozen=True)
class VectorCost910:
    """``head + slope * repeats + tail`` cycles of a 910B vector call (910 uses the same form).

    Attributes
    ----------
    api, dtype : str
        AscendC's names; a conversion has ``source:destination`` types. ``api@form`` is a form of
        the call with a cost of its own.
    cce_name : str
        Instruction of the compiler that the figures were taken from.
    head, tail : float
        Cycles before the first and after the last repeat; only their sum is measured.
    slope, slope_conflict : float
        Cycles a repeat of 256 bytes, and with all sources in one bank group.
    stream_min : float
        Least cycles of a call that is queued behind another.
    stream_slope, doc_slope : float or None
        Cycles a repeat as seen in streams (sources in one bank group), and as documented.
    status : str
        ``measured``, ``documented``, ``fitted`` or ``assumed``: the weakest part of the row.
    basis, note, source : str
        Where the figures come from, and what speaks against them.
    """

    api: str
    cce_name: str
    dtype: str
    head: float
    slope: float
    tail: float
    slope_conflict: float
    stream_min: float
    stream_slope: float | None
    doc_slope: float | None
    status: str
    basis: str
    note: str
    source: str

    @property
    def fixed(self) -> float:
        """``head + tail``."""
        return self.head + self.tail

    def isolated(self, repeats: int) -> float:
        """``head + slope * repeats + tail``: cycles of a call that nothing overlaps."""
        return self.head + self.slope * repeats + self.tail

    def streamed(self, repeats: int) -> float:
        """``max(stream_min, slope * repeats)``: cycles of a call that follows another."""
        return max(self.stream_min, self.slope * repeats)


@dataclass(frozen=True)
class RowProgram:
    """Cycles of a 950 call on rows whose vector function is another than that of one run.

    Conversions that change the number of elements in a register load, mask and store rows in
    another way than one run.

    Attributes
    ----------
    fixed : float
        Cycles outside the rows.
    once : float
        Cycles of a row whose loop runs once; nothing is left of the inner loop then.
    loop, start : float
        Cycles of a loop and of a row, if there are several loops in a row.
    """

    fixed: float
    once: float
    loop: float
    start: float

    def cycles(self, loops: int, rows: int) -> float:
        """Cycles of ``rows`` rows of ``loops`` loops each."""
        row = self.once if loops == 1 else self.start + self.loop * loops
        return self.fixed + row * rows


@dataclass(frozen=True)
class VectorCost950:
    """``fixed + s1 * min(n, 32) + s2 * max(0, n - 32)`` cycles of a 950 call of n loops.

    Attributes
    ----------
    api, dtype : str
        As in :class:`VectorCost910`.
    vf_body : str
        Instructions of the loop of the vector function.
    fixed : float
        Cycles outside the loop: 47 and the latency of the arithmetic.
    s1, s2 : float
        Cycles a loop of 256 bytes, up to and beyond 32 loops.
    latency : float or None
        Cycles of the arithmetic instruction, where published.
    by_row : RowProgram or None
        The law of calls on rows, if it is not that of :meth:`cycles`.
    status, basis, note, source : str
        As in :class:`VectorCost910`.
    """

    api: str
    vf_body: str
    dtype: str
    fixed: float
    s1: float
    s2: float
    latency: float | None
    by_row: RowProgram | None
    status: str
    basis: str
    note: str
    source: str

    def cycles(self, loops: int, rows: int = 1) -> float:
        """Cycles of one call on ``rows`` rows of ``loops`` loops each; calls do not overlap.

        Rows whose loop runs once are the loops of one run. Of longer rows, the first costs what a
        run costs, and each further one its loops at ``s2``, or one cycle a loop and five for the
        row where that is more.
        """
        if rows > 1 and self.by_row is not None:
            return self.by_row.cycles(loops, rows)
        if loops == 1:
            loops, rows = rows, 1
        further = max(ROW_START + loops, self.s2 * loops)
        return (
            self.fixed
            + self.s1 * min(loops, SHORT_LOOPS)
            + self.s2 * max(0, loops - SHORT_LOOPS)
            + further * (rows - 1)
        )


Row = TypeVar("Row", VectorCost910, VectorCost950)


class CostTable(Generic[Row]):
    """Cost rows of one architecture by API and element type.

    Attributes
    ----------
    arch : Arch
    default : VectorCost910 or VectorCost950
        The row that a call without one of its own is charged with. 910B: head and tail 10 and 14
        as measured for Add, one cycle a repeat. 950: the law of Add, the commonest two-source
        call. Its status is ``assumed``; a report must list the call as unmeasured.
    """

    def __init__(self, arch: Arch, rows: tuple[Row, ...], default: Row) -> None:
        self.arch = arch
        self.default: Row = default
        self._rows: dict[tuple[str, str], Row] = {(row.api, row.dtype): row for row in rows}
        if len(self._rows) != len(rows):
            keys = Counter((row.api, row.dtype) for row in rows)
            twice = [key for key, times in keys.items() if times > 1]
            raise InternalError(f"cost rows of {arch.family} are given twice: {twice}")

    def find(self, api: str, dtype_key: str) -> Row | None:
        """Return the row of ``api`` with exactly ``dtype_key``, or None: no figure is published."""
        return self._rows.get((ALIASES.get(api, api), dtype_key))

    @property
    def rows(self) -> Mapping[tuple[str, str], Row]:
        """All rows by (API, element type), in the order of the file."""
        return MappingProxyType(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows.values())

    def __repr__(self) -> str:
        return f"<cost table of {self.arch.family}: {len(self)} rows>"


_DEFAULT_NOTE: Final = "no figure published for this call"

_DEFAULT_910: Final = VectorCost910(
    api="",
    cce_name="",
    dtype="",
    head=10.0,
    slope=1.0,
    tail=14.0,
    slope_conflict=2.0,
    stream_min=3.0,
    stream_slope=None,
    doc_slope=None,
    status="assumed",
    basis="row of Add float",
    note=_DEFAULT_NOTE,
    source="simulator/timing/costs/vector_910b.csv",
)

_DEFAULT_950: Final = VectorCost950(
    api="",
    vf_body="",
    dtype="",
    fixed=55.07,
    s1=1.247,
    s2=1.95,
    latency=None,
    by_row=None,
    status="assumed",
    basis="row of Add float",
    note=_DEFAULT_NOTE,
    source="simulator/timing/costs/vector_950.csv",
)


@overload
def load_costs(
    arch: Literal[Arch.DAV_1001, Arch.DAV_2201],
) -> CostTable[VectorCost910]: ...
@overload
def load_costs(arch: Literal[Arch.DAV_3510]) -> CostTable[VectorCost950]: ...
@overload
def load_costs(arch: Arch) -> CostTable[VectorCost910] | CostTable[VectorCost950]: ...
@cache
def load_costs(arch: Arch) -> CostTable[VectorCost910] | CostTable[VectorCost950]:
    """Return the cost table of an architecture; the file is read on the first call.

    910 has no published table: it gets the rows of 910B with status ``assumed``.
    """
    if arch is Arch.DAV_3510:
        return CostTable(arch, _rows_950(), _DEFAULT_950)
    rows = _rows_910b()
    if arch is Arch.DAV_1001:
        rows = tuple(replace(row, status="assumed", basis="row of 910B") for row in rows)
    return CostTable(arch, rows, _DEFAULT_910)


def _rows_910b() -> tuple[VectorCost910, ...]:
    return tuple(
        VectorCost910(
            api=row["api"],
            cce_name=row["cce_name"],
            dtype=row["dtype"],
            head=float(row["head"]),
            slope=float(row["slope"]),
            tail=float(row["tail"]),
            slope_conflict=float(row["slope_conflict"]),
            stream_min=float(row["stream_min"]),
            stream_slope=_optional(row["stream_slope"]),
            doc_slope=_optional(row["doc_slope"]),
            status=row["status"],
            basis=row["basis"],
            note=row["note"],
            source=row["source"],
        )
        for row in _read("vector_910b.csv")
    )


def _rows_950() -> tuple[VectorCost950, ...]:
    return tuple(
        VectorCost950(
            api=row["api"],
            vf_body=row["vf_body"],
            dtype=row["dtype"],
            fixed=float(row["fixed"]),
            s1=float(row["s1"]),
            s2=float(row["s2"]),
            latency=_optional(row["latency"]),
            by_row=_row_program(row),
            status=row["status"],
            basis=row["basis"],
            note=row["note"],
            source=row["source"],
        )
        for row in _read("vector_950.csv")
    )


def _row_program(row: dict[str, str]) -> RowProgram | None:
    if not row["rows_fixed"]:
        return None
    return RowProgram(*(float(row[f"rows_{name}"]) for name in ("fixed", "once", "loop", "start")))


def _optional(text: str) -> float | None:
    return float(text) if text else None


def _read(name: str) -> list[dict[str, str]]:
    with (_FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
