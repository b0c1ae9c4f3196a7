"""Conversions that scale: int32_t to half, and CastDequant from int16_t to 8 bits.

The order of the steps follows mirror-cann/asc-devkit
impl/basic_api/dav_3510/kernel_operator_vec_vconv_impl.h (CastDeq) and, for int32_t on 910B,
impl/basic_api/dav_c220/kernel_operator_vec_binary_impl.h (AddDeqRelu); the register fields are in
docs/zh/api/SIMD-API/基础API/Memory矢量计算/类型转换辅助配置接口/SetDeqScale.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from simulator.dtypes import DType, int8_t, uint8_t
from simulator.enums import RoundMode
from simulator.errors import ArgumentError, UnsupportedError
from simulator.numerics.rounding import to_integral
from simulator.numerics.saturation import narrow_integer

Array = NDArray[Any]
Convert = Callable[[Array, Array], None]

_OFFSET_RANGE: Final = (-256, 255)
# The register keeps 1 sign, 8 exponent and 10 mantissa bits of the float scale.
_SCALE_MASK: Final = np.uint32(0xFFFF_E000)


def scaled_half(scale: float) -> Convert:
    """``out = half(float(src) * scale)`` for int32_t ``src``, each step rounded to nearest even.

    The device multiplies by 2**-17, by ``scale`` and by 2**17 in float; the powers of two are exact
    for every int32_t and every half ``scale`` and leave one rounded product.

    Parameters
    ----------
    scale : float
        DEQSCALE; rounded to half, as the register holds it.
    """
    factor = np.float32(np.float16(scale))

    def convert(src: Array, out: Array) -> None:
        product = src.astype(np.float32)
        if factor != 1:
            product *= factor
        np.copyto(out, product, casting="same_kind")

    return convert


def dequantizer(
    dst: DType, scale: float | Array, offset: int | NDArray[np.integer[Any]] = 0
) -> Convert:
    """``out = clamp(clamp(rint(src * scale), -256, 255) + offset)`` from int16_t to 8 bits.

    Parameters
    ----------
    dst : DType
        int8_t (signMode true) or uint8_t (signMode false).
    scale : float or array of float
        One scale, or 16 of them along the last axis (vector mode). Only 10 mantissa bits count.
    offset : int or array of int
        Offset of 9 signed bits, one or 16 of them.

    Raises
    ------
    UnsupportedError
        If ``dst`` is not an 8-bit integer type.
    ArgumentError
        If an offset does not fit 9 signed bits.

    Notes
    -----
    NaN products give 0 before the offset. The library code for 950 masks the offset to nine bits
    without extending its sign; the register page calls it signed, and that is what is computed.
    """
    if dst not in (int8_t, uint8_t):
        raise UnsupportedError(
            "CastDequant from int16_t writes 8-bit integers", got=dst, legal="int8_t, uint8_t"
        )
    low, high = _OFFSET_RANGE
    shift = np.asarray(offset, np.int64)
    if shift.min() < low or shift.max() > high:
        raise ArgumentError("the offset has 9 signed bits", got=offset, legal=f"{low} to {high}")
    shift = shift.astype(np.int16)
    factor = (np.asarray(scale, np.float32).view(np.uint32) & _SCALE_MASK).view(np.float32)

    def convert(src: Array, out: Array) -> None:
        product = to_integral(src.astype(np.float32) * factor, RoundMode.CAST_RINT)
        np.clip(product, low, high, out=product)
        np.copyto(product, np.float32(0), where=np.isnan(product))
        narrow_integer(product.astype(np.int16) + shift, out)

    return convert
