"""Types of 950 below 16 bits: packed nibbles, fp4, fp8 and hifloat8.

Layouts: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/数据结构/内置数据类型.md. Two 4-bit
elements share a byte, the even one in the low nibble. fp8 codes are those of ml_dtypes.
hifloat8_t has a variable-length field that says how many of its bits are exponent and mantissa:

===========  ==========  ========  =======================
bits 6..     exponent    mantissa  value
===========  ==========  ========  =======================
0000         none        3 bits    2**(mantissa - 23); 0 when the mantissa is 0
0001         0           3 bits    1.mantissa
001e         +-1         3 bits    1.mantissa * 2**exponent
01ee         +-2, +-3    3 bits    the same
10eee        +-4 .. 7    2 bits    the same
11eeee       +-8 .. 15   1 bit     the same
===========  ==========  ========  =======================

The first exponent bit is its sign, the others follow an implied 1. 0x80 is NaN and 0x6F, 0xEF, the
place of +-1.5 * 2**15, are +-inf.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from simulator.dtypes import DType, fp4x2_e1m2_t, fp4x2_e2m1_t, fp8_e4m3fn_t
from simulator.enums import RoundMode
from simulator.numerics.rounding import FP4_E1M2, FP4_E2M1, FloatFormat, narrow_float

Array = NDArray[Any]
Bytes = NDArray[np.uint8]

FP4_FORMATS: Final[dict[DType, FloatFormat]] = {fp4x2_e2m1_t: FP4_E2M1, fp4x2_e1m2_t: FP4_E1M2}

HIF8_NAN: Final = 0x80
HIF8_INF: Final = 0x6F
HIF8_MAX: Final = 0x6E

_MIN_EXPONENT: Final = -23
_MAX_EXPONENT: Final = 15


def nibble_values() -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Value of the low and of the high int4b_t of each byte."""
    codes = np.arange(256)
    low, high = codes & 15, codes >> 4
    return ((low ^ 8) - 8).astype(np.int8), ((high ^ 8) - 8).astype(np.int8)


def fp4_values(dtype: DType) -> NDArray[np.float32]:
    """Value of each of the 16 codes of one element of a packed fp4 type."""
    form = FP4_FORMATS[dtype]
    codes = np.arange(16)
    exponent = (codes >> form.mantissa_bits) & ((1 << (3 - form.mantissa_bits)) - 1)
    fraction = codes & ((1 << form.mantissa_bits) - 1)
    significand = fraction + ((exponent > 0) << form.mantissa_bits)
    value = np.ldexp(
        significand.astype(np.float32),
        np.maximum(exponent, 1) - form.bias - form.mantissa_bits,
    )
    signed: NDArray[np.float32] = np.where(codes & 8, -value, value).astype(np.float32)
    return signed


def encode_fp4(src: Array, dtype: DType, mode: RoundMode) -> Bytes:
    """Codes of float32 values: overflow and inf give the signed extreme, NaN gives 0."""
    form = FP4_FORMATS[dtype]
    magnitude, negative, nan = narrow_float(src, form, mode)
    code = np.minimum(magnitude, form.overflow - 1) | (negative.astype(magnitude.dtype) << 3)
    return np.where(nan, 0, code).astype(np.uint8)


def encode_fp8(src: Array, out: Array, dtype: DType, *, saturate: bool, keep_nan: bool) -> None:
    """Round float32 to fp8_e4m3fn_t or fp8_e5m2_t, nearest even.

    Parameters
    ----------
    src, out : arrays
        float32, and the ml_dtypes type of ``dtype``.
    saturate : bool
        Overflow and inf give +-MAX. Otherwise inf, or NaN in e4m3fn, which has no inf.
    keep_nan : bool
        CTRL[50]: while saturating NaN stays NaN instead of becoming 0.
    """
    if not saturate:
        np.copyto(out, src, casting="unsafe")
        return
    rounded = src.astype(out.dtype).view(np.uint8)
    overflow = np.uint8(0x7F if dtype is fp8_e4m3fn_t else 0x7C)
    nan = np.isnan(src)
    rounded -= ((rounded & np.uint8(0x7F)) == overflow) & ~nan
    if not keep_nan:
        np.copyto(rounded, np.uint8(0), where=nan)
    np.copyto(out.view(np.uint8), rounded)


def _mantissa_bits(exponent: int) -> int:
    size = abs(exponent)
    if size < 4:
        return 3
    return 2 if size < 8 else 1


def _hif8_magnitude(exponent: int, mantissa: int) -> int:
    """Code of ``2**exponent`` times 1.mantissa, mantissa in the width that the exponent leaves."""
    if exponent > _MAX_EXPONENT:
        return HIF8_INF
    if exponent < -_MAX_EXPONENT:
        return max(exponent - _MIN_EXPONENT, 0)
    if exponent == 0:
        return 0b0001_000 | mantissa
    size = abs(exponent)
    stored = size.bit_length() - 1
    prefix = {0: 0b001, 1: 0b01, 2: 0b10, 3: 0b11}[stored]
    field = (exponent < 0) << stored | (size - (1 << stored))
    width = _mantissa_bits(exponent)
    return prefix << (stored + 1 + width) | field << width | mantissa


@cache
def hif8_values() -> NDArray[np.float32]:
    """Value of each of the 256 codes of hifloat8_t."""
    values = np.zeros(256, np.float32)
    for exponent in range(_MIN_EXPONENT + 1, _MAX_EXPONENT + 1):
        width = 0 if exponent < -_MAX_EXPONENT else _mantissa_bits(exponent)
        for mantissa in range(1 << width):
            code = _hif8_magnitude(exponent, mantissa)
            values[code] = np.ldexp(1 + mantissa / (1 << width), exponent)
    values[HIF8_INF] = np.inf
    values[128:] = -values[:128]
    values[HIF8_NAN] = np.nan
    return values


# Rows: exponent from _MIN_EXPONENT - 1 (all zero) to _MAX_EXPONENT + 1 (all inf). Columns: rounded
# mantissa, whose carry is one past the last.
_ROW: Final = 16


@cache
def _hif8_codes() -> Bytes:
    rows = range(_MIN_EXPONENT - 1, _MAX_EXPONENT + 2)
    table = np.zeros((len(rows), _ROW), np.uint8)
    for row, exponent in enumerate(rows):
        if exponent < _MIN_EXPONENT:
            continue
        width = 0 if exponent < -_MAX_EXPONENT else _mantissa_bits(exponent)
        for mantissa in range(1 << width):
            table[row, mantissa] = _hif8_magnitude(exponent, mantissa)
        table[row, 1 << width] = _hif8_magnitude(exponent + 1, 0)
    return table.ravel()


def encode_hif8(src: Array, mode: RoundMode, *, saturate: bool, raw: Array | None = None) -> Bytes:
    """Round float32 values to hifloat8_t codes.

    Parameters
    ----------
    src : array of float32
        Values.
    mode : RoundMode
        ``CAST_ROUND``: nearest, ties away from zero. ``CAST_HYBRID``: the same for exponents of
        -3 to 3; elsewhere the leading discarded bits are compared with a threshold taken from the
        low bits of the source word, and greater or equal rounds away from zero.
    saturate : bool
        inf gives +-32768 and NaN gives 0.
    raw : array of uint16, optional
        The half words that ``src`` was widened from: thresholds come from these.

    Notes
    -----
    Pseudo-code: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Reg矢量计算/类型转换/Cast.md.
    From float, 14 discarded bits meet the 14 low bits of the source; from half, two bits meet the
    lowest bit followed by a 1. Taken literally, an exact float of exponent 4 or more in size has
    0 >= 0 and moves to the next code. The pseudo-code gives half by fields and leaves out its
    subnormals; their value is taken here, with the threshold bit of the stored word.
    """
    bits = src.view(np.uint32)
    magnitude = bits & np.uint32(0x7FFF_FFFF)
    mantissa = magnitude & np.uint32(0x7F_FFFF)
    exponent = (magnitude >> np.uint32(23)).astype(np.int32) - np.int32(127)
    np.clip(exponent, _MIN_EXPONENT - 1, _MAX_EXPONENT + 1, out=exponent)
    size = np.abs(exponent)
    width = np.int32(3) - (size > 3) - (size > 7) - (size > _MAX_EXPONENT)
    dropped = (np.int32(23) - width).astype(np.uint32)
    up = (mantissa >> (dropped - np.uint32(1))) & np.uint32(1)
    smallest = exponent == _MIN_EXPONENT
    if mode is RoundMode.CAST_HYBRID:
        if raw is None:
            compared, threshold = 14, bits & np.uint32(0x3FFF)
        else:
            compared, threshold = 2, (raw.astype(np.uint32) & np.uint32(1)) << np.uint32(1)
            threshold |= np.uint32(1)
        discarded = mantissa << (np.uint32(32) - dropped) >> np.uint32(32 - compared)
        # Below half of the smallest code the implied 1 itself is the first discarded bit.
        implied = np.uint32(1 << (compared - 1)) | (mantissa >> np.uint32(24 - compared))
        discarded = np.where(smallest, implied, discarded)
        up = np.where(size > 3, (discarded >= threshold).astype(np.uint32), up)
    else:
        up |= smallest
    index = (exponent - np.int32(_MIN_EXPONENT - 1)) * np.int32(_ROW)
    index += ((mantissa >> dropped) + up).astype(np.int32)
    code = _hif8_codes().take(index)
    if saturate:
        code[code == HIF8_INF] = HIF8_MAX
    code |= ((bits >> np.uint32(24)).astype(np.uint8) & np.uint8(0x80)) * (code != 0)
    code[magnitude > np.uint32(0x7F80_0000)] = 0 if saturate else HIF8_NAN
    return np.asarray(code)
