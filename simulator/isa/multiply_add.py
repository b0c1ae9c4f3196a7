"""``x * y + z`` on arrays, rounded twice (910B) or once (950).

910B rounds the product to the destination type, and clamps it in saturation mode, before the sum:
MAX * MAX + -inf is NaN there. 950 behaves like a fused multiply-add. Sources:
mirror-cann/asc-devkit docs/zh/api/附录
(Memory矢量计算接口边界值汇总.md, Reg矢量计算接口精度标准汇总.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from simulator.dtypes import bfloat16_t
from simulator.enums import Arch, RoundMode
from simulator.numerics import saturate_float
from simulator.numerics.wide import float_to_narrower

if TYPE_CHECKING:
    from simulator.isa.rules import Context, Rule

Doubles = NDArray[np.float64]

_TO_BFLOAT16: Final = float_to_narrower(bfloat16_t, RoundMode.CAST_RINT)
_ONE: Final = np.int64(1)


def multiply_add(context: Context) -> Rule:
    """Return ``rule(out, x, y, z)``: ``out = x * y + z`` as the architecture rounds it."""
    if context.dst.kind in "iu":
        return _integers
    if context.arch is Arch.DAV_3510:
        return fused_multiply_add
    return rounded_product(context)


def rounded_product(context: Context) -> Rule:
    """Return ``rule(out, x, y, z)`` that rounds the product to the type of ``out`` first."""
    dtype = context.dst
    if not context.saturates:
        return _two_roundings

    def clamped(out: Any, x: Any, y: Any, z: Any) -> None:
        product = np.multiply(x, y, dtype=out.dtype)
        saturate_float(product, dtype)
        np.add(product, z, out)

    return clamped


def _two_roundings(out: Any, x: Any, y: Any, z: Any) -> None:
    np.add(np.multiply(x, y, dtype=out.dtype), z, out)


def _integers(out: Any, x: Any, y: Any, z: Any) -> None:
    np.add(np.multiply(x, y), z, out)


def fused_multiply_add(out: Any, x: Any, y: Any, z: Any) -> None:
    """``out = x * y + z`` rounded once to half, bfloat16_t or float; sources of at most 32 bits."""
    product = np.multiply(x, y, dtype=np.float64)
    addend = np.asarray(z, np.float64)
    total = product + addend
    if out.dtype != np.float16:
        # A half plus a product of two is exact in double wherever it could be near a tie of half.
        _to_odd(total, product, addend)
    if out.dtype == bfloat16_t.numpy:
        _TO_BFLOAT16(total, out)
    else:
        np.copyto(out, total, casting="unsafe")


def _to_odd(total: Doubles, product: Doubles, addend: Doubles) -> None:
    """Turn the nearest double of ``product + addend`` into the one rounded to odd, in place.

    Of the two doubles around an inexact sum the one with an odd last bit is taken; rounding that
    to a type of at most 51 bits equals rounding the exact sum (Boldo and Melquiond, "Emulation of
    FMA and correctly rounded sums", IEEE Transactions on Computers 57, 2008). The error of the sum
    is Knuth's; products of floats are exact in double.
    """
    back = total - product
    error = (product - (total - back)) + (addend - back)
    bits = total.view(np.int64)
    inexact = np.not_equal(error, 0) & np.isfinite(error) & np.equal(bits & _ONE, 0)
    if inexact.any():
        outwards = np.equal(np.signbit(error), np.signbit(total))
        np.add(bits, np.where(outwards, _ONE, -_ONE), out=bits, where=inexact)
