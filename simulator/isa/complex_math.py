"""Arithmetic of complex32 and complex64 elements (950), part by part.

Every step is rounded to the type of the parts, in the order of the device's software sequence
(mirror-cann/asc-devkit impl/basic_api/reg_compute/dav_3510/kernel_reg_compute_vec_binary_impl.h and
kernel_reg_compute_vec_unary_impl.h). complex32 is a word with the real half in its low bits.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.dtypes import complex32, float32, half
from simulator.isa.algorithms import flush, flush_in_place
from simulator.numerics import saturate_float

if TYPE_CHECKING:
    from simulator.isa.rules import Context, Rule


def _parts(context: Context, value: Any) -> tuple[Any, Any]:
    """Return writable arrays of the real and the imaginary parts, dense ones for complex32."""
    if context.dtypes[-1] is not complex32:
        return value.real, value.imag
    halves = np.asarray(value).reshape(-1).view(np.float16)
    return halves[0::2], halves[1::2]


class _Steps:
    """Operations on parts, each rounded and, where the mode asks for it, clamped."""

    def __init__(self, context: Context) -> None:
        self.dtype = half if context.dtypes[-1] is complex32 else float32
        self.saturates = bool(context._replace(dtypes=(self.dtype,)).saturates)

    def _done(self, value: Any) -> Any:
        value = np.asarray(value)
        if self.saturates:
            saturate_float(value, self.dtype)
        return value

    def add(self, left: Any, right: Any) -> Any:
        return self._done(np.add(left, right))

    def subtract(self, left: Any, right: Any) -> Any:
        return self._done(np.subtract(left, right))

    def multiply(self, left: Any, right: Any) -> Any:
        return self._done(np.multiply(left, right))

    def divide(self, left: Any, right: Any) -> Any:
        quotient = np.asarray(np.divide(flush(np.asarray(left)), flush(np.asarray(right))))
        flush_in_place(quotient)
        return self._done(quotient)

    def sqrt(self, value: Any) -> Any:
        return self._done(np.sqrt(flush(value)))


def _store(context: Context, out: Any, real: Any, imaginary: Any) -> None:
    out_real, out_imaginary = _parts(context, out)
    np.copyto(out_real, real)
    np.copyto(out_imaginary, imaginary)


def complex_add(context: Context, out: Any, left: Any, right: Any) -> None:
    """``out = left + right``."""
    do = _Steps(context)
    (a, b), (c, d) = _parts(context, left), _parts(context, right)
    _store(context, out, do.add(a, c), do.add(b, d))


def complex_subtract(context: Context, out: Any, left: Any, right: Any) -> None:
    """``out = left - right``."""
    do = _Steps(context)
    (a, b), (c, d) = _parts(context, left), _parts(context, right)
    _store(context, out, do.subtract(a, c), do.subtract(b, d))


def complex_multiply(context: Context, out: Any, left: Any, right: Any) -> None:
    """``out = left * right``: four products, a difference and a sum."""
    do = _Steps(context)
    (a, b), (c, d) = _parts(context, left), _parts(context, right)
    real = do.subtract(do.multiply(a, c), do.multiply(b, d))
    _store(context, out, real, do.add(do.multiply(b, c), do.multiply(a, d)))


def complex_divide(context: Context, out: Any, left: Any, right: Any) -> None:
    """``out = left / right``: the ratio of the divisor's parts, smaller over larger, goes first."""
    do = _Steps(context)
    (a, b), (c, d) = _parts(context, left), _parts(context, right)
    large = np.abs(c) >= np.abs(d)
    # Sums with the larger part c are a + b*r and b - a*r; with d they are a*r + b and b*r - a.
    top, low = np.where(large, c, d), np.where(large, d, c)
    ratio = do.divide(low, top)
    one = ratio.dtype.type(1)
    scale = do.divide(one, do.add(top, do.multiply(low, ratio)))
    by_c = do.add(a, do.multiply(b, ratio)), do.subtract(b, do.multiply(a, ratio))
    by_d = do.add(do.multiply(a, ratio), b), do.subtract(do.multiply(b, ratio), a)
    real = do.multiply(np.where(large, by_c[0], by_d[0]), scale)
    imaginary = do.multiply(np.where(large, by_c[1], by_d[1]), scale)
    zero = large & np.equal(c, 0) & np.equal(d, 0)
    if zero.any():
        real = np.where(zero, do.divide(a, np.abs(c)), real)
        imaginary = np.where(zero, do.divide(b, np.abs(d)), imaginary)
    _store(context, out, real, imaginary)


def complex_absolute(context: Context) -> Rule:
    """Return ``out = sqrt(re*re + im*im)`` with a real result."""
    return partial(_absolute, context)


def _absolute(context: Context, out: Any, value: Any) -> None:
    do = _Steps(context)
    a, b = _parts(context, value)
    np.copyto(out, do.sqrt(do.add(do.multiply(a, a), do.multiply(b, b))))
