"""Sums, differences, products, extremes and quotients of two tensors.

Floating-point results are rounded once, to nearest even, in the element type. Integers wrap, or
clamp in saturation mode. Special values: mirror-cann/asc-devkit docs/zh/api/附录/
Memory矢量计算接口边界值汇总.md (910B) and Reg矢量计算接口边界值汇总.md (950).
"""

from __future__ import annotations

import sys
from typing import Any, Final

import numpy as np

from simulator.enums import Arch
from simulator.instruction import READ, WRITE
from simulator.isa.algorithms import flushing
from simulator.isa.complex_math import (
    complex_add,
    complex_divide,
    complex_multiply,
    complex_subtract,
)
from simulator.isa.families import (
    binary,
    declare,
    fail_unless_tensor,
    plan_count,
    publish,
    spec_for,
)
from simulator.isa.rules import Context, ElementRule, Rule, integer_or
from simulator.isa.selection import negative_or

PAGE: Final = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/基础算术/{}.md"

REAL: Final = "half float int16_t int32_t"
WIDE: Final = (
    "int8_t uint8_t int16_t uint16_t half bfloat16_t int32_t uint32_t float int64_t uint64_t"
)
B8_B64: Final = "int8_t uint8_t int64_t uint64_t"
COMPLEX: Final = "complex32 complex64"


def maximum(out: Any, left: Any, right: Any) -> None:
    """``out = max(left, right)``: NaN in either gives NaN, ``max(+0, -0)`` is ``+0``."""
    if out.dtype.kind in "iu" or (np.ndim(right) == 0 and right):
        np.maximum(left, right, out=out)
        return
    result = np.maximum(left, right)
    zero = np.equal(result, 0)
    if zero.any():
        zero &= np.equal(left, right)
        np.copyto(result, np.add(left, right), where=zero)
    np.copyto(out, result)


def minimum(out: Any, left: Any, right: Any) -> None:
    """``out = min(left, right)``: NaN in either gives NaN, ``min(+0, -0)`` is ``-0``."""
    if out.dtype.kind in "iu" or (np.ndim(right) == 0 and right):
        np.minimum(left, right, out=out)
        return
    result = np.minimum(left, right)
    zero = np.equal(result, 0)
    if zero.any():
        zero &= np.equal(left, right)
        np.copyto(result, np.negative(np.subtract(np.negative(left), right)), where=zero)
    np.copyto(out, result)


@binary(
    {Arch.DAV_2201: REAL, Arch.DAV_3510: f"{WIDE} {COMPLEX}"},
    PAGE.format("Add"),
    count_only={Arch.DAV_3510: f"{B8_B64} {COMPLEX}"},
    build=integer_or("add", complex_add),
)
def Add(out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = src0[i] + src1[i]``; integers wrap, or clamp in saturation mode."""
    np.add(src0, src1, out)


@binary(
    {Arch.DAV_2201: REAL, Arch.DAV_3510: f"{WIDE} {COMPLEX}"},
    PAGE.format("Sub"),
    count_only={Arch.DAV_3510: f"{B8_B64} {COMPLEX}"},
    build=integer_or("sub", complex_subtract),
)
def Sub(out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = src0[i] - src1[i]``; integers wrap, or clamp in saturation mode."""
    np.subtract(src0, src1, out)


@binary(
    {
        Arch.DAV_2201: REAL,
        Arch.DAV_3510: "int16_t uint16_t half bfloat16_t int32_t uint32_t float int64_t uint64_t "
        + COMPLEX,
    },
    PAGE.format("Mul"),
    count_only={Arch.DAV_3510: f"int64_t uint64_t {COMPLEX}"},
    build=integer_or("mul", complex_multiply),
)
def Mul(out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = src0[i] * src1[i]``; integers keep the low bits, or clamp in saturation mode."""
    np.multiply(src0, src1, out)


def divide_integers(out: Any, left: Any, right: Any) -> None:
    """``out = left / right`` towards zero; division by zero gives all ones.

    All ones is what the 64-bit software sequence of the 950 returns (DivS64Impl and DivU64Impl in
    mirror-cann/asc-devkit kernel_reg_compute_vec_binary_impl.h); the narrower types follow it.
    """
    left, right = np.broadcast_arrays(left, right)
    zero = np.equal(right, 0)
    divisor = np.where(zero, out.dtype.type(1), right)
    quotient = np.floor_divide(left, divisor)
    if out.dtype.kind == "i":
        inexact = np.not_equal(left, np.multiply(quotient, divisor))
        quotient += inexact & (np.less(left, 0) != np.less(divisor, 0))
    np.copyto(quotient, np.invert(out.dtype.type(0)), where=zero)
    np.copyto(out, quotient)


def quotient_rule(rule: Rule, context: Context) -> Rule:
    """Build of Div and Divs: integers towards zero, complex part by part, floats flushed on 950."""
    if context.dst.kind in "iu":
        return divide_integers
    if context.dst.kind == "c":

        def divide_complex(out: Any, left: Any, right: Any) -> None:
            complex_divide(context, out, left, right)

        return divide_complex
    return flushing(rule, context)


@binary(
    {
        Arch.DAV_2201: "half float",
        Arch.DAV_3510: f"int16_t uint16_t half int32_t uint32_t float int64_t uint64_t {COMPLEX}",
    },
    PAGE.format("Div"),
    count_only={Arch.DAV_3510: f"int64_t uint64_t {COMPLEX}"},
    build=quotient_rule,
)
def Div(out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = src0[i] / src1[i]``; ``x/0`` is a signed infinity, ``0/0`` NaN.

    On 950 subnormals are flushed to zero unless ``config=DivConfig(...)`` says otherwise; integer
    quotients are cut towards zero, and division by zero gives all ones.
    """
    np.divide(src0, src1, out)


@binary(
    {Arch.DAV_2201: REAL, Arch.DAV_3510: WIDE},
    PAGE.format("Max"),
    count_only={Arch.DAV_3510: B8_B64},
)
def Max(out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = max(src0[i], src1[i])``; NaN in either gives NaN, ``max(+0, -0)`` is ``+0``."""
    maximum(out, src0, src1)


@binary(
    {Arch.DAV_2201: REAL, Arch.DAV_3510: WIDE},
    PAGE.format("Min"),
    count_only={Arch.DAV_3510: B8_B64},
)
def Min(out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = min(src0[i], src1[i])``; NaN in either gives NaN, ``min(+0, -0)`` is ``-0``."""
    minimum(out, src0, src1)


@binary(
    {Arch.DAV_3510: "half float"},
    PAGE.format("Prelu(ISASI)"),
    forms=("count",),
)
def Prelu(out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = src0[i]``, or ``src0[i] * src1[i]`` where the sign of ``src0`` is negative."""
    negative_or(out, np.multiply(src0, src1), src0)


def _high_words(out0: Any, out1: Any, src0: Any, src1: Any) -> None:
    """``dst0[i]``, ``dst1[i]`` = low and high word of ``src0[i] * src1[i]``."""
    wide = np.int64 if out0.dtype.kind == "i" else np.uint64
    product = np.multiply(src0, src1, dtype=wide)
    np.copyto(out0, product.astype(out0.dtype))
    np.copyto(out1, (product >> wide(32)).astype(out1.dtype))


_MULL = declare(
    ElementRule(_high_words),
    "binary",
    (("dst0", WRITE), ("dst1", WRITE), ("src0", READ), ("src1", READ)),
    {Arch.DAV_3510: "int32_t uint32_t"},
    PAGE.format("Mull(ISASI)"),
    forms=("count",),
    name="Mull",
)


def Mull(dst0: Any, dst1: Any, src0: Any, src1: Any, count: Any) -> None:
    """``dst0[i]``, ``dst1[i]`` = low and high word of ``src0[i] * src1[i]``."""
    try:
        core = dst0._core
        key = ("Mull", dst0._key, dst1._key, src0._key, src1._key, count)
    except AttributeError as error:
        raise fail_unless_tensor(error, "Mull", dst0, dst1, src0, src1) from None
    plan = core.plans.get(key)
    if plan is None:
        tensors = (dst0, dst1, src0, src1)
        plan = core.plans[key] = plan_count(core, spec_for("Mull", core), tensors, count)
    core.issue(plan, (), sys._getframe(1))


publish(Mull, _MULL)
