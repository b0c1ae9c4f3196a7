"""Which call stands for a row of cycles of one tile operation."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kernels.validation.one_call import Call
from kernels.validation.tile_pieces import pieces_of

if TYPE_CHECKING:
    from kernels.validation.rows import MeasuredRow

STREAMED_910B: Final = "910B (pto-isa st suite, 2201)"
FITTED_950: Final = "A5 / 950 (pto-isa st_a5_fit)"

_CALLS_910B: Final = {
    "TAbs": "Abs",
    "TAdd": "Add",
    "TAddS": "Adds",
    "TCvt": "Cast",
    "TDiv": "Div",
    "TExp": "Exp",
    "TMins": "Mins",
    "TMul": "Mul",
    "TMulS": "Muls",
    "TRsqrt": "Rsqrt",
    "TSqrt": "Sqrt",
    "TSub": "Sub",
}
_CALLS_950: Final = {
    "TAdd": "Add",
    "TCVT": "Cast",
    "TDIVS": "Divs",
    "TEXP": "Exp",
    "TMINS": "Mins",
    "TMul": "Mul",
    "TNEG": "Muls",
    "TRECIP": "Reciprocal",
    "TRSQRT": "Rsqrt",
    "TSEL": "Select",
    "TSQRT": "Sqrt",
    "TSub": "Sub",
}
_TYPES: Final = {
    "BFloat16": "bfloat16_t",
    "Half": "half",
    "Float": "float",
    "Float8E4M3": "fp8_e4m3fn_t",
    "Float8E5M2": "fp8_e5m2_t",
    "HFloat8": "hifloat8_t",
    "Float4E2M1": "fp4x2_e2m1_t",
    "Float4E1M2": "fp4x2_e1m2_t",
}
_SHAPE: Final = re.compile(r"(\d+)x(\d+)(?: of \d+x(\d+))?$")
_PRECISE: Final = "PRECISION_1ULP_FTZ_FALSE"


def platform_of(row: MeasuredRow) -> str:
    """Profile of the chip that a row of calls was measured on; empty for other rows."""
    return {STREAMED_910B: "910b1", FITTED_950: "950pr"}.get(row.chip, "")


def call_of(row: MeasuredRow) -> Call | None:
    """Return the call of a row, or None if AscendC has none for what was measured."""
    operation = row.kernel.removeprefix("pto ")
    if row.chip == STREAMED_910B:
        return _call_910b(row, operation)
    if row.chip == FITTED_950:
        return _call_950(row, operation)
    return None


def _call_910b(row: MeasuredRow, operation: str) -> Call | None:
    name = _CALLS_910B.get(operation)
    if name is None:
        return None
    sizes = [part.strip() for part in row.shape.split(",")]
    numbers = [int(part) for part in sizes if part.isdigit()]
    if name == "Cast":
        call = Call(name, f"{sizes[0]}:{row.dtype}", numbers[0], numbers[1], numbers[1])
    elif operation in ("TAddS", "TMulS"):
        # Rows of the tile, valid rows, columns of the tile, valid columns.
        rows, _, pitch, columns = numbers
        call = Call(name, row.dtype, rows, columns, pitch)
    else:
        call = Call(name, row.dtype, numbers[0], numbers[1], numbers[1])
    return replace(call, pieces=pieces_of(call))


def _call_950(row: MeasuredRow, operation: str) -> Call | None:
    found = _SHAPE.match(row.shape)
    if found is None:
        return None
    rows, columns, pitch = int(found[1]), int(found[2]), int(found[3] or found[2])
    name = _CALLS_950[operation]
    parts = [_TYPES.get(part, part.lower()) for part in row.dtype.split("->")]
    if any(part not in (*_TYPES.values(), "float", "half") for part in parts):
        return None
    algorithm = _PRECISE if "high_precision" in row.variant else ""
    return Call(name, ":".join(parts), rows, columns, pitch, algorithm)
