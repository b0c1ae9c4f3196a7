"""Element-wise arithmetic: two tensors, tensor and scalar, and one tensor.

Floating-point results are rounded once, to nearest even, in the element type; integers wrap.
Special values: mirror-cann/asc-devkit docs/zh/api/附录/Memory矢量计算接口边界值汇总.md (910B) and
Reg矢量计算接口边界值汇总.md (950).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.enums import Arch
from simulator.isa.families import binary, unary, vector_scalar

_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/基础算术/{}.md"

_REAL = "half float int16_t int32_t"
_WIDE = "int8_t uint8_t int16_t uint16_t half bfloat16_t int32_t uint32_t float int64_t uint64_t"
_B8_B64 = "int8_t uint8_t int64_t uint64_t"


def _both_zero(left: Any, right: Any) -> Any:
    """Return where both operands are zero, or None when that happens nowhere."""
    zeros = np.equal(left, 0) & np.equal(right, 0)
    return zeros if zeros.any() else None


def maximum(out: Any, left: Any, right: Any) -> None:
    """``out = max(left, right)``: NaN in either gives NaN, ``max(+0, -0)`` is ``+0``."""
    if out.dtype.kind in "iu":
        np.maximum(left, right, out)
        return
    zeros = _both_zero(left, right)
    positive = None if zeros is None else np.add(left, right)
    np.maximum(left, right, out)
    if zeros is not None:
        np.copyto(out, positive, where=zeros)


def minimum(out: Any, left: Any, right: Any) -> None:
    """``out = min(left, right)``: NaN in either gives NaN, ``min(+0, -0)`` is ``-0``."""
    if out.dtype.kind in "iu":
        np.minimum(left, right, out)
        return
    zeros = _both_zero(left, right)
    negative = None if zeros is None else np.negative(np.subtract(np.negative(left), right))
    np.minimum(left, right, out)
    if zeros is not None:
        np.copyto(out, negative, where=zeros)


def in_double(function: Any, out: Any, src: Any) -> None:
    """``out = function(src)`` computed in double and rounded once to the type of ``out``."""
    np.copyto(out, function(src.astype(np.float64)), casting="unsafe")


@binary(
    {Arch.DAV_2201: _REAL, Arch.DAV_3510: _WIDE},
    _PAGE.format("Add"),
    count_only={Arch.DAV_3510: _B8_B64},
)
def Add(out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = src0[i] + src1[i]``; integers wrap."""
    np.add(src0, src1, out)


@binary(
    {Arch.DAV_2201: _REAL, Arch.DAV_3510: _WIDE},
    _PAGE.format("Sub"),
    count_only={Arch.DAV_3510: _B8_B64},
)
def Sub(out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = src0[i] - src1[i]``; integers wrap."""
    np.subtract(src0, src1, out)


@binary(
    {
        Arch.DAV_2201: _REAL,
        Arch.DAV_3510: "int16_t uint16_t half bfloat16_t int32_t uint32_t float int64_t uint64_t",
    },
    _PAGE.format("Mul"),
    count_only={Arch.DAV_3510: "int64_t uint64_t"},
)
def Mul(out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = src0[i] * src1[i]``; integers keep the low bits."""
    np.multiply(src0, src1, out)


@binary({Arch.DAV_2201: "half float", Arch.DAV_3510: "half float"}, _PAGE.format("Div"))
def Div(out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = src0[i] / src1[i]``; ``x/0`` is a signed infinity, ``0/0`` NaN."""
    np.divide(src0, src1, out)


@binary(
    {Arch.DAV_2201: _REAL, Arch.DAV_3510: _WIDE},
    _PAGE.format("Max"),
    count_only={Arch.DAV_3510: _B8_B64},
)
def Max(out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = max(src0[i], src1[i])``; NaN in either gives NaN, ``max(+0, -0)`` is ``+0``."""
    maximum(out, src0, src1)


@binary(
    {Arch.DAV_2201: _REAL, Arch.DAV_3510: _WIDE},
    _PAGE.format("Min"),
    count_only={Arch.DAV_3510: _B8_B64},
)
def Min(out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = min(src0[i], src1[i])``; NaN in either gives NaN, ``min(+0, -0)`` is ``-0``."""
    minimum(out, src0, src1)


_SCALAR_WIDE = "int8_t uint8_t int16_t half bfloat16_t int32_t float int64_t uint64_t"


@vector_scalar(
    {Arch.DAV_2201: _REAL, Arch.DAV_3510: _SCALAR_WIDE},
    _PAGE.format("Adds"),
    count_only={Arch.DAV_3510: _B8_B64},
)
def Adds(out: Any, src: Any, scalar: Any) -> None:
    """``dst[i] = src[i] + scalarValue``; integers wrap."""
    np.add(src, scalar, out)


@vector_scalar(
    {
        Arch.DAV_2201: _REAL,
        Arch.DAV_3510: "int16_t half bfloat16_t int32_t float int64_t uint64_t",
    },
    _PAGE.format("Muls"),
    count_only={Arch.DAV_3510: "int64_t uint64_t"},
)
def Muls(out: Any, src: Any, scalar: Any) -> None:
    """``dst[i] = src[i] * scalarValue``; integers keep the low bits."""
    np.multiply(src, scalar, out)


@vector_scalar(
    {Arch.DAV_2201: _REAL, Arch.DAV_3510: _SCALAR_WIDE},
    _PAGE.format("Maxs"),
    count_only={Arch.DAV_3510: _B8_B64},
)
def Maxs(out: Any, src: Any, scalar: Any) -> None:
    """``dst[i] = max(src[i], scalarValue)``; NaN as in Max."""
    maximum(out, src, scalar)


@vector_scalar(
    {Arch.DAV_2201: _REAL, Arch.DAV_3510: _SCALAR_WIDE},
    _PAGE.format("Mins"),
    count_only={Arch.DAV_3510: _B8_B64},
)
def Mins(out: Any, src: Any, scalar: Any) -> None:
    """``dst[i] = min(src[i], scalarValue)``; NaN as in Min."""
    minimum(out, src, scalar)


@unary(
    {Arch.DAV_2201: "half float", Arch.DAV_3510: "int8_t int16_t half int32_t float int64_t"},
    _PAGE.format("Abs"),
    count_only={Arch.DAV_3510: "int8_t int64_t"},
)
def Abs(out: Any, src: Any) -> None:
    """``dst[i] = |src[i]|``; ``|-0|`` is ``+0`` and NaN stays NaN."""
    np.absolute(src, out)


@unary({Arch.DAV_2201: "half float", Arch.DAV_3510: "half float"}, _PAGE.format("Exp"))
def Exp(out: Any, src: Any) -> None:
    """``dst[i] = e ** src[i]``, correctly rounded."""
    in_double(np.exp, out, src)


@unary({Arch.DAV_2201: "half float", Arch.DAV_3510: "half float"}, _PAGE.format("Ln"))
def Ln(out: Any, src: Any) -> None:
    """``dst[i] = ln(src[i])``, correctly rounded; ``ln(±0)`` is ``-inf``, of a negative NaN."""
    in_double(np.log, out, src)


@unary({Arch.DAV_2201: "half float", Arch.DAV_3510: "half float"}, _PAGE.format("Sqrt"))
def Sqrt(out: Any, src: Any) -> None:
    """``dst[i] = sqrt(src[i])``, correctly rounded; ``sqrt(-0)`` is ``-0``, of a negative NaN."""
    np.sqrt(src, out)


@unary(
    {Arch.DAV_2201: "half float int32_t", Arch.DAV_3510: "half int32_t float int64_t"},
    _PAGE.format("Relu"),
    count_only={Arch.DAV_3510: "int64_t"},
)
def Relu(out: Any, src: Any) -> None:
    """``dst[i] = max(0, src[i])``; NaN stays NaN, ``-0`` becomes ``+0``."""
    np.maximum(src, 0, out)
    np.add(out, 0, out)
