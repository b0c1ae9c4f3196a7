"""The reciprocal estimates behind Reciprocal and Rsqrt of the 910B: eight bits after the point.

The results printed for half in mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/
基础算术 (Reciprocal.md, Rsqrt.md) are, digit for digit, those of the estimate functions
RecipEstimate and RecipSqrtEstimate of the Arm Architecture Reference Manual. The pages state that
float is no better than 1e-4 either; the same estimate is taken for it.
"""

from __future__ import annotations

from math import isqrt
from typing import Any, Final

import numpy as np

_RECIPROCALS: Final = np.array(
    [((1 << 19) // (2 * a + 1) + 1) // 2 for a in range(256, 512)], np.float64
)
"""512 / mantissa for each interval of mantissas a/256 .. (a+1)/256, rounded to an integer."""


def _root(a: int) -> int:
    doubled = 2 * a + 1 if a < 256 else 2 * ((a & ~1) + 1)
    return (isqrt(((1 << 28) - 1) // doubled) + 1) // 2


_ROOTS: Final = np.array([_root(a) for a in range(128, 512)], np.float64)
"""256 / sqrt(fraction) for each interval of fractions a/512 .. (a+1)/512, rounded to an integer."""


def estimate_reciprocal(out: Any, src: Any) -> None:
    """``out`` = estimate of ``1 / src``; ``±0`` gives ``±inf``, ``±inf`` gives ``±0``."""
    values = src.astype(np.float64)
    usual = np.isfinite(values) & np.not_equal(values, 0)
    fraction, exponent = np.frexp(np.where(usual, np.abs(values), 1.0))
    index = (fraction * 512).astype(np.int64) - 256
    estimate = np.ldexp(_RECIPROCALS[index], -8 - exponent)
    result = np.where(usual, np.copysign(estimate, values), 1 / values)
    np.copyto(out, result, casting="unsafe")


def estimate_inverse_root(out: Any, src: Any) -> None:
    """``out`` = estimate of ``1 / sqrt(src)``; ``±0`` gives ``±inf``, a negative number NaN."""
    values = src.astype(np.float64)
    usual = np.isfinite(values) & np.greater(values, 0)
    fraction, exponent = np.frexp(np.where(usual, values, 1.0))
    odd = exponent & 1
    index = np.ldexp(fraction, 9 - odd).astype(np.int64) - 128
    estimate = np.ldexp(_ROOTS[index], -8 - (exponent + odd) // 2)
    np.copyto(out, np.where(usual, estimate, 1 / np.sqrt(values)), casting="unsafe")
