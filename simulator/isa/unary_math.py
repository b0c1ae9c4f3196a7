"""One tensor: Abs, Neg, Relu, Exp, Ln, Sqrt, Rsqrt, Reciprocal and Truncate.

Results are correctly rounded, to nearest even, except Rsqrt and Reciprocal on 910B, which are
estimates (``simulator.isa.estimates``). The device is as exact for Abs, Neg and Relu; Exp, Ln, Sqrt
and Reciprocal are specified within one ulp on 950. Sources: mirror-cann/asc-devkit
docs/zh/api/附录 (Memory矢量计算接口边界值汇总.md, Reg矢量计算接口精度标准汇总.md).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.enums import Arch, RoundMode
from simulator.errors import ArgumentError
from simulator.instruction import READ, WRITE
from simulator.isa.algorithms import flushing
from simulator.isa.arithmetic import PAGE, divide_integers
from simulator.isa.complex_math import complex_absolute
from simulator.isa.estimates import estimate_inverse_root, estimate_reciprocal
from simulator.isa.families import (
    also,
    declare,
    fail_unless_tensor,
    plan_count,
    publish,
    spec_for,
    unary,
)
from simulator.isa.rules import Context, ElementRule, Rule, saturated
from simulator.isa.selection import rectify
from simulator.numerics import truncator

if TYPE_CHECKING:
    from collections.abc import Callable

_HALF_FLOAT: Final = {Arch.DAV_2201: "half float", Arch.DAV_3510: "half float"}

_FAST_INVERSE_LIMIT: Final = 2.0**126
"""Largest input of the FAST_INVERSE algorithms; beyond it Sqrt gives 0 and Rsqrt infinity."""


def in_double(function: Callable[..., Any], out: Any, src: Any) -> None:
    """``out = function(src)`` computed in double and rounded once to the type of ``out``."""
    np.copyto(out, function(src.astype(np.float64)), casting="unsafe")


def _absolute(rule: Rule, context: Context) -> Rule:
    if context.src.kind == "c":
        return saturated(complex_absolute(context), context)
    return saturated(rule, context)


@unary(
    {
        Arch.DAV_2201: "half float",
        Arch.DAV_3510: "int8_t int16_t half int32_t float int64_t half:complex32 float:complex64",
    },
    PAGE.format("Abs"),
    count_only={Arch.DAV_3510: "int8_t int64_t half:complex32 float:complex64"},
    build=_absolute,
)
def Abs(out: Any, src: Any) -> None:
    """``dst[i] = |src[i]|``; ``|-0|`` is ``+0``, NaN stays NaN, the least integer stays itself."""
    np.absolute(src, out)


@unary(
    {Arch.DAV_3510: "int8_t int16_t half int32_t float int64_t"},
    PAGE.format("Neg(ISASI)"),
    forms=("count",),
)
def Neg(out: Any, src: Any) -> None:
    """``dst[i] = -src[i]``; the sign bit flips, the least integer stays itself."""
    np.negative(src, out)


@unary(
    {Arch.DAV_2201: "half float int32_t", Arch.DAV_3510: "half int32_t float int64_t"},
    PAGE.format("Relu"),
    count_only={Arch.DAV_3510: "int64_t"},
)
def Relu(out: Any, src: Any) -> None:
    """``dst[i] = max(0, src[i])``; NaN stays NaN, ``-0`` becomes ``+0``."""
    rectify(out, src)


@unary(_HALF_FLOAT, PAGE.format("Exp"), build=flushing)
def Exp(out: Any, src: Any) -> None:
    """``dst[i] = e ** src[i]``; on 950 ``config=ExpConfig(...)`` chooses the algorithm."""
    in_double(np.exp, out, src)


@unary(_HALF_FLOAT, PAGE.format("Ln"), build=flushing)
def Ln(out: Any, src: Any) -> None:
    """``dst[i] = ln(src[i])``; ``ln(±0)`` is ``-inf``, of a negative number NaN."""
    in_double(np.log, out, src)


def _square_root(rule: Rule, context: Context) -> Rule:
    usual = flushing(rule, context)
    if not _fast_inverse(context):
        return usual

    def limited(out: Any, src: Any) -> None:
        beyond = np.greater(src, _FAST_INVERSE_LIMIT) & np.isfinite(src)
        usual(out, src)
        np.copyto(out, out.dtype.type(0), where=beyond)

    return limited


def _fast_inverse(context: Context) -> bool:
    name = "" if context.algo is None else context.algo.name
    return name in ("FAST_INVERSE", "PRECISION_0ULP_FTZ_FALSE")


@unary(_HALF_FLOAT, PAGE.format("Sqrt"), build=_square_root)
def Sqrt(out: Any, src: Any) -> None:
    """``dst[i] = sqrt(src[i])``; ``sqrt(-0)`` is ``-0``, of a negative number NaN.

    On 950 the FAST_INVERSE algorithms give 0 for finite inputs above ``2**126``.
    """
    np.sqrt(src, out)


@unary({Arch.DAV_2201: "half float"}, PAGE.format("Rsqrt"))
def Rsqrt(out: Any, src: Any) -> None:
    """``dst[i] = 1 / sqrt(src[i])``; ``±0`` gives ``±inf``, a negative number NaN.

    On 910B an estimate with a relative error up to 0.4 %: use Div and Sqrt for more.
    """
    estimate_inverse_root(out, src)


def _inverse_root(rule: Rule, context: Context) -> Rule:
    if _fast_inverse(context):

        def limited(out: Any, src: Any) -> None:
            beyond = np.greater(src, _FAST_INVERSE_LIMIT) & np.isfinite(src)
            in_double(lambda values: 1 / np.sqrt(values), out, src)
            np.copyto(out, out.dtype.type(np.inf), where=beyond)

        return limited
    return flushing(rule, context)


@also(Rsqrt, {Arch.DAV_3510: "half float"}, build=_inverse_root)
def _rsqrt_950(out: Any, src: Any) -> None:
    """On 950 the root and its inverse are rounded one after the other.

    The FAST_INVERSE algorithms round once and give infinity for finite inputs above ``2**126``.
    """
    np.divide(out.dtype.type(1), np.sqrt(src), out)


def _inverse(rule: Rule, context: Context) -> Rule:
    if context.dst.kind in "iu":
        one = context.dst.numpy.type(1)
        return lambda out, src: divide_integers(out, one, src)
    return flushing(rule, context)


@unary(
    {Arch.DAV_2201: "half float"},
    PAGE.format("Reciprocal"),
    count_only={Arch.DAV_3510: "int64_t uint64_t"},
)
def Reciprocal(out: Any, src: Any) -> None:
    """``dst[i] = 1 / src[i]``; ``±0`` gives ``±inf``.

    On 910B an estimate with a relative error up to 0.4 %: use Div for more.
    """
    estimate_reciprocal(out, src)


@also(Reciprocal, {Arch.DAV_3510: "half float int64_t uint64_t"}, build=_inverse)
def _reciprocal_950(out: Any, src: Any) -> None:
    """On 950 a quotient rounded once; integers as in Div."""
    np.divide(out.dtype.type(1), src, out)


# -- Truncate ----------------------------------------------------------------------------------


def _truncate_rule() -> None:
    """``dst[i]`` = ``src[i]`` rounded to an integral value of the same type by ``roundMode``."""


def _truncation(_: Rule, context: Context) -> Rule:
    convert = truncator(context.arch, context.dst, context.algo)
    return lambda out, src: convert(src, out)


_TRUNCATE = declare(
    ElementRule(_truncate_rule, _truncation),
    "unary",
    (("dst", WRITE), ("src", READ)),
    {Arch.DAV_3510: "half float bfloat16_t"},
    PAGE.replace("基础算术", "类型转换").format("Truncate(ISASI)"),
    forms=("count",),
    name="Truncate",
)


def Truncate(dst: Any, src: Any, count: Any, *, roundMode: Any) -> None:
    """``dst[i]`` = ``src[i]`` rounded to an integral value of the same type by ``roundMode``."""
    try:
        core = dst._core
        key = ("Truncate", dst._key, src._key, count, roundMode)
    except AttributeError as error:
        raise fail_unless_tensor(error, "Truncate", dst, src) from None
    plan = core.plans.get(key)
    if plan is None:
        spec = spec_for("Truncate", core)
        if roundMode not in tuple(RoundMode):
            raise ArgumentError(
                "roundMode is no rounding mode",
                api="Truncate",
                argument="roundMode",
                got=repr(roundMode),
                legal="RoundMode.CAST_RINT, CAST_FLOOR, CAST_CEIL, CAST_ROUND or CAST_TRUNC",
                source=spec.source,
            )
        plan = plan_count(core, spec, (dst, src), count, algo=RoundMode(roundMode))
        core.plans[key] = plan
    core.issue(plan, (), sys._getframe(1))


publish(Truncate, _TRUNCATE)
