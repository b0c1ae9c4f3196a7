"""Rounding of bit patterns and of floats to integral values, in the seven modes of Cast.

A significand is split into kept and discarded bits; the mode decides whether the kept part grows by
one. Signs are kept apart, so growing means away from zero. Rule of the modes:
mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/数据结构/precision_conversion.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from simulator.enums import RoundMode
from simulator.errors import InternalError

Array = NDArray[Any]
Bools = NDArray[np.bool_]

_NONE, _RINT, _FLOOR = RoundMode.CAST_NONE, RoundMode.CAST_RINT, RoundMode.CAST_FLOOR
_CEIL, _ROUND, _TRUNC = RoundMode.CAST_CEIL, RoundMode.CAST_ROUND, RoundMode.CAST_TRUNC
_ODD = RoundMode.CAST_ODD


@dataclass(frozen=True)
class FloatFormat:
    """A binary floating-point format with subnormals and a sign above the magnitude code.

    Parameters
    ----------
    mantissa_bits, bias : int
        Stored fraction bits and exponent bias.
    overflow : int
        First magnitude code past the largest finite value (the code of inf, when there is one).
    nan : int
        Magnitude code of NaN; 0 in a format without NaN.
    bits : int
        Width including the sign.
    """

    mantissa_bits: int
    bias: int
    overflow: int
    nan: int
    bits: int


HALF: Final = FloatFormat(10, 15, 0x7C00, 0x7E00, 16)
BFLOAT16: Final = FloatFormat(7, 127, 0x7F80, 0x7FC0, 16)
FLOAT: Final = FloatFormat(23, 127, 0x7F80_0000, 0x7FC0_0000, 32)
DOUBLE: Final = FloatFormat(52, 1023, 0x7FF0_0000_0000_0000, 0x7FF8_0000_0000_0000, 64)
FP4_E2M1: Final = FloatFormat(1, 1, 0x8, 0, 4)
FP4_E1M2: Final = FloatFormat(2, 1, 0x8, 0, 4)


def round_shift(significand: Array, shift: Array, negative: Bools, mode: RoundMode) -> Array:
    """``significand / 2**shift`` rounded to an integer in ``mode``.

    Parameters
    ----------
    significand : array of an unsigned type
        Magnitudes; adding ``2**shift`` must not overflow the type.
    shift : array of the same type
        Bits to discard, below the width of the type.
    negative : array of bool
        Sign of the number, for ``CAST_FLOOR`` and ``CAST_CEIL``.
    """
    one = significand.dtype.type(1)
    mask: Array = (one << shift) - one
    if mode is _TRUNC:
        return np.asarray(significand >> shift)
    if mode is _ODD:
        return np.asarray((significand >> shift) | ((significand & mask) != 0))
    if mode is _FLOOR:
        extra: Array = mask * negative
    elif mode is _CEIL:
        extra = mask * ~negative
    elif mode is _ROUND:
        extra = (mask >> one) + (mask & one)
    elif mode in (_RINT, _NONE):
        extra = (mask >> one) + ((significand >> shift) & one & mask)
    else:
        raise InternalError(f"{mode!r} is not a rule for discarding bits")
    return np.asarray((significand + extra) >> shift)


def narrow_float(src: Array, target: FloatFormat, mode: RoundMode) -> tuple[Array, Bools, Bools]:
    """Magnitude codes of ``src`` in ``target``, with the masks *negative* and *NaN*.

    Parameters
    ----------
    src : array of float32 or float64
        Values; ``target`` must have fewer mantissa bits and no wider exponent range.
    target : FloatFormat
        Destination.
    mode : RoundMode
        Any but ``CAST_HYBRID``.

    Returns
    -------
    magnitude : array of uint32 or uint64
        Code without sign. Anything that rounds past the largest finite value, inf included, has
        the code ``target.overflow`` in every mode; entries of NaN are unspecified.
    negative, nan : array of bool
        Sign and NaN of ``src``.

    Notes
    -----
    The range check follows the rounding, and the mode does not turn an overflow into the largest
    finite value: the boundary tables give inf for float MAX to half and to bfloat16_t without
    regard to the mode (mirror-cann/asc-devkit docs/zh/api/附录/Memory矢量计算接口边界值汇总.md).
    """
    source = FLOAT if src.dtype == np.float32 else DOUBLE
    unsigned: Any
    signed: Any
    unsigned, signed = (np.uint32, np.int32) if source is FLOAT else (np.uint64, np.int64)
    bits: Array = src.view(unsigned)
    negative = src.view(signed) < 0
    magnitude = bits & unsigned((1 << (source.bits - 1)) - 1)
    nan = magnitude > unsigned(source.overflow)
    exponent = (magnitude >> unsigned(source.mantissa_bits)).astype(signed)
    significand = magnitude & unsigned((1 << source.mantissa_bits) - 1)
    significand |= (exponent > 0).astype(unsigned) << unsigned(source.mantissa_bits)
    # A stored exponent of 0 scales like 1; above_min counts binades above the subnormal range.
    above_min = np.maximum(exponent, signed(1)) - signed(source.bias - target.bias + 1)
    shift = signed(source.mantissa_bits - target.mantissa_bits) - np.minimum(above_min, signed(0))
    # Past mantissa_bits + 2 the value is below a quarter of the smallest code, however far.
    shift = np.minimum(shift, signed(source.mantissa_bits + 2)).astype(unsigned)
    code = round_shift(significand, shift, negative, mode)
    code += np.maximum(above_min, signed(0)).astype(unsigned) << unsigned(target.mantissa_bits)
    return np.minimum(code, unsigned(target.overflow)), negative, nan


def scale_integer(src: Array, precision: int, mode: RoundMode) -> NDArray[np.float64]:
    """Round integers to ``precision`` significant bits; the result is exact in float64.

    Parameters
    ----------
    src : array of a signed integer type
        Values of at most 64 bits.
    precision : int
        Significant bits to keep, 53 at most.
    mode : RoundMode
        ``CAST_FLOOR``, ``CAST_CEIL``, ``CAST_ROUND``, ``CAST_TRUNC``, ``CAST_ODD`` or nearest even.
    """
    wide = src.astype(np.int64)
    negative = wide < 0
    magnitude = wide.view(np.uint64)
    magnitude = np.where(negative, np.uint64(0) - magnitude, magnitude)
    high = magnitude >> np.uint64(32)
    low = magnitude & np.uint64(0xFFFF_FFFF)
    # frexp is exact on 32-bit halves, not on 64-bit values, which may round up to a power of 2.
    length = np.where(
        high > 0,
        np.frexp(high.astype(np.float64))[1] + 32,
        np.frexp(low.astype(np.float64))[1],
    )
    shift = np.maximum(length - precision, 0)
    kept = round_shift(magnitude, shift.astype(np.uint64), negative, mode)
    result = np.ldexp(kept.astype(np.float64), shift)
    return np.asarray(np.where(negative, -result, result), np.float64)


_BELOW_HALF: Final = {
    np.dtype(np.float32): np.nextafter(np.float32(0.5), np.float32(0)),
    np.dtype(np.float64): np.nextafter(np.float64(0.5), np.float64(0)),
}


def to_integral(src: Array, mode: RoundMode) -> Array:
    """Round float32 or float64 values to integral ones; inf, NaN and signs of zero pass."""
    if mode in (_RINT, _NONE):
        return np.asarray(np.rint(src))
    if mode is _FLOOR:
        return np.asarray(np.floor(src))
    if mode is _CEIL:
        return np.asarray(np.ceil(src))
    if mode is _TRUNC:
        return np.asarray(np.trunc(src))
    if mode is _ROUND:
        # The largest number below one half: adding 0.5 itself would round 0.49999997 up to 1.
        return np.asarray(np.trunc(src + np.copysign(_BELOW_HALF[src.dtype], src)))
    raise InternalError(f"{mode!r} does not round to integral values")
