"""Atan and Erf: range reduction with series, and a quotient of polynomials.

Source: mirror-cann/asc-devkit impl/adv_api/detail/math (atan, erf).
"""

from __future__ import annotations

from typing import Any, Final

from simulator.dtypes import float32
from simulator.isa.highlevel.calls import Scratch
from simulator.isa.highlevel.unary import unary

_PAGE: Final = "数学计算/{0}接口/{0}"

_ATAN_LIMIT: Final = 10000.0
_PI_4: Final = 0.78539816339744830961566084581988
_PI_8: Final = 0.39269908169872415480783042290994
_TAN_PI_8: Final = 0.4142135623730950
_ATAN_SERIES: Final = (
    1.0,
    -0.3333333333333333,
    0.2,
    -0.14285714285714285,
    0.1111111111111111,
    -0.09090909090909091,
    0.07692307692307693,
)
_HUGE: Final = 4611686018427387904.0
_TINY: Final = 2.168404344971009e-19

_ERF_LIMIT: Final = 3.92
_ERF_ABOVE: Final = (
    0.053443748819,
    0.75517016694e1,
    0.10162808918e3,
    0.13938061484e4,
    0.50637915060e4,
    0.29639384698e5,
)
_ERF_BELOW: Final = (
    0.31212858877e2,
    0.39856963806e3,
    0.30231248150e4,
    0.13243365831e5,
    0.26267224157e5,
)


def _series(steps: Any, dst: Any, src: Any, square: Any, terms: int) -> None:
    """``dst = src - src ** 3 / 3 + ...`` with ``terms`` terms after the first."""
    steps.mul(square, src, src)
    steps.mul(dst, src, src)
    steps.muls(dst, dst, _ATAN_SERIES[terms])
    for index in range(terms - 1, 0, -1):
        steps.adds(dst, dst, _ATAN_SERIES[index])
        steps.mul(dst, dst, square)
    steps.adds(dst, dst, _ATAN_SERIES[0])
    steps.mul(dst, dst, src)


def _turned(steps: Any, dst: Any, src: Any, other: Any) -> None:
    """``dst = |(src - t) / (1 + src * t)|`` with ``t = tan(pi / 8)``."""
    steps.muls(dst, src, _TAN_PI_8)
    steps.adds(dst, dst, 1.0)
    steps.adds(other, src, -_TAN_PI_8)
    steps.div(dst, other, dst)
    steps.abs(dst, dst)


@unary(_PAGE.format("Atan"), half_scratch=Scratch(float32, 6), float_scratch=Scratch(float32, 5))
def Atan(
    steps: Any, dst: Any, src: Any, first: Any, clip: Any, size: Any, second: Any, square: Any
) -> None:
    """``dst[i] = atan(src[i])``: the least of four series on reduced arguments, with the sign.

    The argument is clipped to ±10000; calculated in float.
    """
    steps.mins(clip, src, _ATAN_LIMIT)
    steps.maxs(clip, clip, -_ATAN_LIMIT)
    steps.abs(size, clip)
    _series(steps, dst, size, square, 4)
    _turned(steps, first, size, second)
    _series(steps, second, first, square, 4)
    steps.adds(second, second, _PI_8)
    steps.min(dst, dst, second)
    steps.adds(second, size, 1.0)
    steps.adds(first, size, -1.0)
    steps.div(first, first, second)
    steps.abs(first, first)
    _series(steps, second, first, square, 4)
    steps.adds(second, second, _PI_4)
    steps.min(dst, dst, second)
    _turned(steps, second, first, square)
    _series(steps, first, second, square, 6)
    steps.adds(first, first, _PI_8)
    steps.adds(first, first, _PI_4)
    steps.min(dst, dst, first)
    _sign(steps, first, clip, second)
    steps.mul(dst, dst, first)


def _sign(steps: Any, dst: Any, src: Any, below: Any) -> None:
    """``dst = 2 ** 62 * src / (2 ** -62 + |2 ** 62 * src|)``."""
    steps.muls(dst, src, _HUGE)
    steps.abs(below, dst)
    steps.adds(below, below, _TINY)
    steps.div(dst, dst, below)


@unary(_PAGE.format("Erf"), half_scratch=Scratch(float32, 4), float_scratch=Scratch(float32, 3))
def Erf(steps: Any, dst: Any, src: Any, square: Any, above: Any, below: Any) -> None:
    """``dst[i] = erf(src[i])`` as a quotient of polynomials on ±3.92, in float."""
    steps.mins(square, src, _ERF_LIMIT)
    steps.maxs(dst, square, -_ERF_LIMIT)
    steps.mul(square, dst, dst)
    steps.muls(above, square, _ERF_ABOVE[0])
    for coefficient in _ERF_ABOVE[1:-1]:
        steps.adds(below, above, coefficient)
        steps.mul(above, square, below)
    steps.adds(below, above, _ERF_ABOVE[-1])
    steps.mul(above, dst, below)
    steps.adds(below, square, _ERF_BELOW[0])
    for coefficient in _ERF_BELOW[1:]:
        steps.mul(dst, square, below)
        steps.adds(below, dst, coefficient)
    steps.div(dst, above, below)
