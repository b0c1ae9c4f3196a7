"""Conversions from float, double and wide integers, one function of two arrays per rule.

numpy's own conversion serves where it is exact or rounds to nearest even, behind a range check
where the result of an out-of-range cast is undefined. Everything else is integer arithmetic on the
bit patterns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from simulator.dtypes import DType, bfloat16_t, double, float32, half
from simulator.enums import RoundMode
from simulator.numerics.rounding import (
    BFLOAT16,
    FLOAT,
    HALF,
    FloatFormat,
    narrow_float,
    scale_integer,
    to_integral,
)

Array = NDArray[Any]
Convert = Callable[[Array, Array], None]

_FORMATS: Final[dict[DType, FloatFormat]] = {half: HALF, bfloat16_t: BFLOAT16, float32: FLOAT}
_NEAREST: Final = (RoundMode.CAST_NONE, RoundMode.CAST_RINT)


def convert_copy(src: Array, out: Array) -> None:
    """Let numpy or ml_dtypes convert; exact, low bits or nearest even according to the pair."""
    np.copyto(out, src, casting="unsafe")


def word_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Unsigned integer type of the same size."""
    return np.dtype(f"u{dtype.itemsize}")


def float_to_half(mode: RoundMode) -> Convert:
    """Float to half: overflow gives inf, subnormals are kept."""
    infinity, no_tie = np.float32(np.inf), np.float32(2.0**-26)

    def nearest(src: Array, out: Array) -> None:
        np.copyto(out, src, casting="same_kind")

    def half_away(src: Array, out: Array) -> None:
        # With its lowest bit set a tie lies beyond the tie, and nothing else changes side: at
        # least 13 bits are discarded. Inf would turn into NaN, and zeros into subnormals, on
        # which numpy's conversion is very slow.
        size = np.abs(src)
        nudge = (size > no_tie) & (size < infinity)
        nudged = src.view(np.uint32) | nudge.astype(np.uint32)
        np.copyto(out, nudged.view(np.float32), casting="same_kind")

    if mode in _NEAREST:
        return nearest
    return half_away if mode is RoundMode.CAST_ROUND else float_to_narrower(half, mode)


def float_to_narrower(dst: DType, mode: RoundMode) -> Convert:
    """Any float to a narrower IEEE-like format through its bit pattern."""
    form = _FORMATS[dst]
    storage = word_type(dst.numpy)

    def convert(src: Array, out: Array) -> None:
        code, negative, nan = narrow_float(src, form, mode)
        np.copyto(code, code.dtype.type(form.nan), where=nan)
        code |= negative.astype(code.dtype) << code.dtype.type(form.bits - 1)
        np.copyto(out.view(storage), code, casting="unsafe")

    return convert


def float_to_bfloat16(mode: RoundMode) -> Convert:
    """Float to bfloat16_t: overflow gives inf, NaN stays NaN."""
    if mode in _NEAREST:
        return convert_copy
    inexact = np.uint32(0xFFFF)
    sixteen, half_ulp = np.uint32(16), np.uint32(0x8000)
    infinity, sign = np.uint32(0x7F80_0000), np.uint32(0x7FFF_FFFF)
    quiet = np.uint16(BFLOAT16.nan)

    def convert(src: Array, out: Array) -> None:
        # Exponents are the same, so adding below the kept bits rounds and carries into inf.
        bits = src.view(np.uint32)
        if mode is RoundMode.CAST_TRUNC:
            rounded = bits >> sixteen
        elif mode is RoundMode.CAST_ROUND:
            rounded = (bits + half_ulp) >> sixteen
        else:
            up = (src.view(np.int32) >> np.int32(31)).view(np.uint32)
            if mode is RoundMode.CAST_CEIL:
                up = ~up
            rounded = (bits + (up & inexact)) >> sixteen
        words = rounded.astype(np.uint16)
        magnitude = bits & sign
        if magnitude.size and np.maximum.reduce(magnitude, axis=None) > infinity:
            nan = magnitude > infinity
            words[nan] = (bits[nan] >> sixteen).astype(np.uint16) | quiet
        np.copyto(out.view(np.uint16), words)

    return convert


def integer_range(dst: DType) -> tuple[int, int]:
    """Lowest and highest value of an integer type."""
    if dst.kind == "i":
        return -(1 << (dst.bits - 1)), (1 << (dst.bits - 1)) - 1
    return 0, (1 << dst.bits) - 1


def any_float_to_integer(src: Array, dst: DType, mode: RoundMode, low_bits: bool) -> Array:
    """Float or double to integers held in int64; inf, NaN and values out of range included."""
    low, high = integer_range(dst)
    value = to_integral(src, mode).astype(np.float64)
    np.copyto(value, 0.0, where=np.isnan(value))
    # One past the highest is a power of two, which float64 holds for every type.
    above, below = value >= float(high + 1), value < float(low)
    if low_bits:
        above &= np.isinf(value)
        below &= np.isinf(value)
    np.copyto(value, 0.0, where=above | below)
    if low_bits:
        # Exact: fmod does not round, and every magnitude below 2**64 fits uint64.
        words = np.fmod(np.abs(value), 2.0**64).astype(np.uint64)
        words = np.where(value < 0, np.uint64(0) - words, words)
        words &= np.uint64((1 << dst.bits) - 1)
        if dst.kind == "i":
            sign = np.uint64(1 << (dst.bits - 1))
            words = (words ^ sign) - sign
        result = words.view(np.int64)
    else:
        result = value.astype(np.int64)
    result[above] = high
    result[below] = low
    return result


def float_to_integer(dst: DType, mode: RoundMode, low_bits: bool) -> Convert:
    """Float or double to an integer type, fast while nothing is out of range."""
    low, high = integer_range(dst)
    first, past = float(low), float(high + 1)

    def convert(src: Array, out: Array) -> None:
        if not src.size:
            return
        # The cast itself truncates; NaN makes both comparisons false.
        rounded = src if mode is RoundMode.CAST_TRUNC else to_integral(src, mode)
        if (
            np.minimum.reduce(rounded, axis=None) >= first
            and np.maximum.reduce(rounded, axis=None) < past
        ):
            np.copyto(out, rounded, casting="unsafe")
        else:
            np.copyto(out, any_float_to_integer(src, dst, mode, low_bits), casting="unsafe")

    return convert


def float_to_integral(mode: RoundMode, positive_zero: bool) -> Convert:
    """Float to an integral float; ``positive_zero`` clears the sign of zero results."""

    def convert(src: Array, out: Array) -> None:
        value = to_integral(src, mode)
        if positive_zero:
            np.add(value, np.float32(0), out=out)
        else:
            np.copyto(out, value)

    return convert


def integer_to_float(dst: DType, mode: RoundMode) -> Convert:
    """Integers to half, float or double."""
    if mode in _NEAREST:
        return convert_copy
    precision = {half: 11, float32: 24, double: 53}[dst]

    def convert(src: Array, out: Array) -> None:
        np.copyto(out, scale_integer(src, precision, mode), casting="same_kind")

    return convert
