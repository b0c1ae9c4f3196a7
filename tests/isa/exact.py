"""Rounding of exact numbers to the device's float formats, written with fractions only."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import ml_dtypes
import numpy as np

# significand bits with the hidden one, exponent of the smallest normal number
FORMATS = {
    np.dtype(np.float16): (11, -14, 15),
    np.dtype(ml_dtypes.bfloat16): (8, -126, 127),
    np.dtype(np.float32): (24, -126, 127),
}


def nearest_even(value: Fraction, dtype, *, flush: bool = False) -> float:
    """Return ``value`` rounded once to ``dtype``, to nearest even; overflow gives infinity."""
    precision, least, top = FORMATS[np.dtype(dtype)]
    if not value:
        return 0.0
    exponent = least
    while abs(value) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    unit = Fraction(2) ** (exponent - precision + 1)
    steps = abs(value) / unit
    whole = floor(steps)
    rest = steps - whole
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2):
        whole += 1
    result = whole * unit
    if result >= Fraction(2) ** (top + 1):
        return float("inf") if value > 0 else float("-inf")
    if flush and result < Fraction(2) ** least:
        result = Fraction(0)
    return float(result if value > 0 else -result)


def wrap(value: int, dtype) -> int:
    """Return the low bits of an integer as ``dtype``."""
    info = np.iinfo(dtype)
    return (value - int(info.min)) % (1 << info.bits) + int(info.min)


def clamp(value: int, dtype) -> int:
    """Return the integer of ``dtype`` nearest to ``value``."""
    info = np.iinfo(dtype)
    return min(max(value, int(info.min)), int(info.max))
