"""Several steps in one call: multiply-add, and sums or products that are rectified or converted.

On 910B every step is rounded (and clamped in saturation mode); on 950 multiply-adds are rounded
once. Sources: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/复合计算,
impl/basic_api/dav_3510/kernel_operator_vec_binary_continuous_impl.h and
kernel_operator_vec_vconv_impl.h, and the special value tables in docs/zh/api/附录.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from simulator.dtypes import bfloat16_t, float32, half, int8_t, int16_t
from simulator.enums import Arch, RoundMode
from simulator.instruction import UPDATE
from simulator.isa.algorithms import flush_in_place
from simulator.isa.families import binary, vector_scalar
from simulator.isa.multiply_add import multiply_add, rounded_product
from simulator.isa.rules import Context, Rule, integer_or, using
from simulator.isa.saturation import SATURATE_FLOAT, TRUNCATE_CAST
from simulator.isa.selection import rectify
from simulator.numerics import caster, narrow_integer

_PAGE: Final = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/复合计算/{}.md"

_B64: Final = "int64_t uint64_t"


# -- multiply-add ------------------------------------------------------------------------------


def _axpy_sum(context: Context) -> Rule:
    # On 950 Axpy of bfloat16_t is a product and a sum (kernel_operator_vec_ternary_scalar_impl.h).
    return (rounded_product if context.dst is bfloat16_t else multiply_add)(context)


@vector_scalar(
    {
        Arch.DAV_2201: "half float float:half",
        Arch.DAV_3510: f"half float float:half bfloat16_t {_B64}",
    },
    _PAGE.format("Axpy"),
    count_only={Arch.DAV_3510: _B64},
    dst_role=UPDATE,
    build=using(_axpy_sum),
)
def Axpy(add_product: Rule, out: Any, src: Any, scalar: Any) -> None:
    """``dst[i] = scalarValue * src[i] + dst[i]``; half sources may add to a float tensor."""
    add_product(out, src, scalar, out)


@binary(
    {
        Arch.DAV_2201: "half float float:half:half",
        Arch.DAV_3510: f"half float float:half:half {_B64}",
    },
    _PAGE.format("MulAddDst"),
    count_only={Arch.DAV_3510: _B64},
    dst_role=UPDATE,
    build=using(multiply_add),
)
def MulAddDst(add_product: Rule, out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = src0[i] * src1[i] + dst[i]``; half sources may add to a float tensor."""
    add_product(out, src0, src1, out)


@binary(
    {Arch.DAV_2201: "half float", Arch.DAV_3510: f"half bfloat16_t float {_B64}"},
    _PAGE.format("FusedMulAdd"),
    count_only={Arch.DAV_3510: _B64},
    dst_role=UPDATE,
    build=using(multiply_add),
)
def FusedMulAdd(add_product: Rule, out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = src0[i] * dst[i] + src1[i]``."""
    add_product(out, src0, out, src1)


@binary(
    {Arch.DAV_2201: "half float", Arch.DAV_3510: f"half float {_B64}"},
    _PAGE.format("MulAddRelu"),
    count_only={Arch.DAV_3510: _B64},
    dst_role=UPDATE,
    build=using(multiply_add),
)
def MulAddRelu(add_product: Rule, out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = max(0, src0[i] * dst[i] + src1[i])``; also named FusedMulAddRelu."""
    add_product(out, src0, out, src1)
    rectify(out, out)


FusedMulAddRelu = MulAddRelu


# -- sum or difference, rectified --------------------------------------------------------------


def _sum(context: Context) -> Rule:
    return integer_or("add")(_add, context)


def _difference(context: Context) -> Rule:
    return integer_or("sub")(_subtract, context)


def _add(out: Any, left: Any, right: Any) -> None:
    np.add(left, right, out)


def _subtract(out: Any, left: Any, right: Any) -> None:
    np.subtract(left, right, out)


@binary(
    {Arch.DAV_2201: "int16_t half float", Arch.DAV_3510: f"int16_t half float {_B64}"},
    _PAGE.format("AddRelu"),
    count_only={Arch.DAV_3510: _B64},
    build=using(_sum),
)
def AddRelu(add: Rule, out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = max(0, src0[i] + src1[i])``."""
    add(out, src0, src1)
    rectify(out, out)


@binary(
    {Arch.DAV_2201: "int16_t half float", Arch.DAV_3510: f"int16_t half float {_B64}"},
    _PAGE.format("SubRelu"),
    count_only={Arch.DAV_3510: _B64},
    build=using(_difference),
)
def SubRelu(subtract: Rule, out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = max(0, src0[i] - src1[i])``."""
    subtract(out, src0, src1)
    rectify(out, out)


# -- conversion of the result ------------------------------------------------------------------


def _convert(context: Context) -> Rule:
    """Return ``rule(out, values)``: values of the source type, nearest even, to the destination."""
    src, dst = context.src, context.dst
    if (src, dst) == (int16_t, int8_t):
        return lambda out, values: narrow_integer(values, out)
    whole = src.kind == dst.kind == "i"
    convert = caster(
        context.arch,
        src,
        dst,
        RoundMode.CAST_NONE if whole else RoundMode.CAST_RINT,
        nonsaturating=not context.mode & SATURATE_FLOAT,
        cast_truncate=bool(context.mode & TRUNCATE_CAST),
    )
    return lambda out, values: convert(values, out)


def _in_source_type(step: Any) -> Any:
    """Return the primitive ``rule(left, right) -> values`` in the type of the sources."""

    def make(context: Context) -> Any:
        inner = context._replace(dtypes=context.dtypes[1:])
        if inner.dst is int16_t and context.arch is Arch.DAV_2201:
            # The special value table of 910B clamps int16_t sums here, in either mode.
            inner = inner._replace(mode=inner.mode | SATURATE_FLOAT)
        rule = step(inner)

        def compute(left: Any, right: Any) -> Any:
            values = np.empty(np.broadcast_shapes(left.shape, right.shape), left.dtype)
            rule(values, left, right)
            return values

        return compute

    return make


_NARROWING: Final = {
    Arch.DAV_2201: "half:float:float int8_t:half:half int8_t:int16_t:int16_t",
    Arch.DAV_3510: "half:float:float int8_t:half:half int8_t:int16_t:int16_t "
    "float:int64_t:int64_t int32_t:int64_t:int64_t",
}
_B64_CONVERTED: Final = {
    Arch.DAV_3510: "float:int64_t:int64_t int32_t:int64_t:int64_t",
}


@binary(
    _NARROWING,
    _PAGE.format("AddReluCast"),
    count_only=_B64_CONVERTED,
    build=using(_in_source_type(_sum), _convert),
)
def AddReluCast(add: Any, convert: Rule, out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = cast(max(0, src0[i] + src1[i]))``, to nearest even."""
    values = add(src0, src1)
    rectify(values, values)
    convert(out, values)


@binary(
    _NARROWING,
    _PAGE.format("SubReluCast"),
    count_only=_B64_CONVERTED,
    build=using(_in_source_type(_difference), _convert),
)
def SubReluCast(subtract: Any, convert: Rule, out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = cast(max(0, src0[i] - src1[i]))``, to nearest even."""
    values = subtract(src0, src1)
    rectify(values, values)
    convert(out, values)


def _product(context: Context) -> Rule:
    return integer_or("mul")(_multiply, context)


def _multiply(out: Any, left: Any, right: Any) -> None:
    np.multiply(left, right, out)


@binary(
    {
        Arch.DAV_2201: "int8_t:half:half uint8_t:half:half",
        Arch.DAV_3510: "int8_t:half:half uint8_t:half:half "
        "float:int64_t:int64_t int32_t:int64_t:int64_t",
    },
    _PAGE.format("MulCast"),
    count_only=_B64_CONVERTED,
    build=using(_in_source_type(_product), _convert),
)
def MulCast(multiply: Any, convert: Rule, out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = cast(src0[i] * src1[i])``; the product is rounded to its type first."""
    convert(out, multiply(src0, src1))


# -- 950 only ----------------------------------------------------------------------------------


@binary(
    {Arch.DAV_3510: "half float"},
    _PAGE.format("AbsSub(ISASI)"),
    forms=("count",),
    build=using(_difference),
)
def AbsSub(subtract: Rule, out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = |src0[i] - src1[i]|``; also named FusedAbsSub."""
    subtract(out, src0, src1)
    np.absolute(out, out)


FusedAbsSub = AbsSub


@binary(
    {Arch.DAV_3510: "float float:half:half"},
    _PAGE.format("ExpSub(ISASI)"),
    forms=("count",),
)
def ExpSub(out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = e ** (src0[i] - src1[i])``; half sources are widened first.

    The difference is rounded to float. Subnormal results are flushed, as in Exp. Also named
    FusedExpSub.
    """
    difference = np.subtract(src0, src1, dtype=np.float32)
    np.copyto(out, np.exp(difference.astype(np.float64)), casting="unsafe")
    flush_in_place(out)


FusedExpSub = ExpSub


def _rounded_to_half(context: Context) -> Rule:
    convert = caster(
        context.arch,
        float32,
        half,
        RoundMode.CAST_ROUND,
        nonsaturating=not context.mode & SATURATE_FLOAT,
    )
    return lambda out, values: convert(values, out)


@vector_scalar(
    {Arch.DAV_3510: "half:float"},
    _PAGE.format("MulsCast(ISASI)"),
    forms=("count",),
    build=using(_rounded_to_half),
    flexible=True,
)
def MulsCast(convert: Rule, out: Any, left: Any, right: Any) -> None:
    """``dst[i] = half(src[i] * scalarValue)``: a float product, then to half, ties away from zero.

    Also named FusedMulsCast.
    """
    convert(out, np.multiply(left, right))


FusedMulsCast = MulsCast
