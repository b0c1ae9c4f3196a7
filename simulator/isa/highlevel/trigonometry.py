"""Sin, Cos, Sinh and Cosh.

Sin and Cos take multiples of pi off in several pieces and evaluate a polynomial on [-pi/2, pi/2].
Source: mirror-cann/asc-devkit impl/adv_api/detail/math (sin, cos, sinh, cosh).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.dtypes import float32
from simulator.enums import RoundMode
from simulator.isa.highlevel.calls import Scratch
from simulator.isa.highlevel.unary import unary

if TYPE_CHECKING:
    from simulator.isa.highlevel.registers import Register, RegisterSteps

_PAGE: Final = "数学计算/{0}接口/{0}"

_PER_PI: Final = 0.3183098733425140380859375
_PI: Final = (
    3.140625,
    0.0009670257568359375,
    6.2771141529083251953125e-7,
    1.21644916362129151821136474609375e-10,
    -1.0290623200529979163359041220560e-13,
)
"""Pieces of pi whose multiples by small integers are exact or nearly so in float."""

_HALF_PI_HIGH: Final = 1.57079637050628662109375
_HALF_PI_LOW: Final = -0.00000004371139000189375
_POLYNOMIAL: Final = (2.604926501e-6, -0.0001980894471, 0.008333049340, -0.1666665792, 1.0)
_NEG_LN_2: Final = -0.69314718055994530941723212145818
_QUARTER: Final = 0.25

_FOUR: Final = Scratch(float32, 4)
_THREE: Final = Scratch(float32, 3)
_TWO: Final = Scratch(float32, 2)


def _minus_multiple(steps: Any, dst: Any, src: Any, k: Any, part: float, product: Any) -> None:
    """``dst = src - k * part``."""
    steps.muls(product, k, part)
    steps.sub(dst, src, product)


def _signed_polynomial(steps: Any, dst: Any, x: Any, k: Any, square: Any) -> None:
    """``dst = (-1) ** k * x * P(x ** 2)``; overwrites ``k``."""
    steps.mul(square, x, x)
    # 4 * floor(k / 2) - 2 * k + 1 is 1 for even k and -1 for odd k.
    steps.muls(dst, k, 0.5)
    steps.cast(dst, dst, RoundMode.CAST_FLOOR)
    steps.muls(dst, dst, 4.0)
    steps.muls(k, k, -2.0)
    steps.add(dst, dst, k)
    steps.adds(dst, dst, 1.0)
    steps.muls(k, square, _POLYNOMIAL[0])
    steps.adds(k, k, _POLYNOMIAL[1])
    for coefficient in _POLYNOMIAL[2:]:
        steps.mul(k, k, square)
        steps.adds(k, k, coefficient)
    steps.mul(k, k, x)
    steps.mul(dst, k, dst)


def _sin(nearest: RoundMode, steps: Any, dst: Any, src: Any, k: Any, product: Any, x: Any) -> None:
    steps.muls(k, src, _PER_PI)
    steps.cast(k, k, nearest)
    _minus_multiple(steps, x, src, k, _PI[0], product)
    for part in _PI[1:4]:
        _minus_multiple(steps, x, x, k, part, product)
    _signed_polynomial(steps, dst, x, k, product)


def _sin_950(steps: RegisterSteps, values: Register) -> Register:
    result = steps.register()
    temps = [steps.register() for _ in range(3)]
    _sin(RoundMode.CAST_RINT, steps, result, values, *temps)
    return result


@unary(
    _PAGE.format("Sin"),
    half_scratch=_FOUR,
    float_scratch=_THREE,
    reuse_scratch=_TWO,
    registers=_sin_950,
)
def Sin(steps: Any, dst: Any, src: Any, k: Any, product: Any, x: Any) -> None:
    """``dst[i] = sin(src[i])`` by range reduction and a polynomial, in float.

    Halfway multiples of pi are rounded away from zero on 910B, to even on 950.
    """
    _sin(RoundMode.CAST_ROUND, steps, dst, src, k, product, x)


@unary(_PAGE.format("Cos"), half_scratch=_FOUR, float_scratch=_THREE, reuse_scratch=_TWO)
def Cos(steps: Any, dst: Any, src: Any, k: Any, product: Any, x: Any) -> None:
    """``dst[i] = cos(src[i]) = sin(src[i] + pi/2)``, within ±1, in float."""
    steps.muls(k, src, _PER_PI)
    steps.adds(k, k, 0.5)
    steps.cast(k, k, RoundMode.CAST_RINT)
    _minus_multiple(steps, x, src, k, _PI[0], product)
    _minus_multiple(steps, x, x, k, _PI[1], product)
    steps.adds(x, x, _HALF_PI_HIGH)
    for part in _PI[2:]:
        _minus_multiple(steps, x, x, k, part, product)
    steps.adds(x, x, _HALF_PI_LOW)
    _signed_polynomial(steps, dst, x, k, product)
    steps.mins(dst, dst, 1.0)
    steps.maxs(dst, dst, -1.0)


def _sinh_950(steps: RegisterSteps, values: Register) -> Register:
    quarter, shifted, power = (steps.register() for _ in range(3))
    steps.duplicate(quarter, _QUARTER)
    steps.adds(shifted, values, _NEG_LN_2)
    steps.exp(power, shifted)
    steps.div(shifted, quarter, power)
    steps.sub(power, power, shifted)
    return power


@unary(
    _PAGE.format("Sinh"),
    half_scratch=_TWO,
    float_scratch=Scratch(float32, 1),
    registers=_sinh_950,
)
def Sinh(steps: Any, dst: Any, src: Any, power: Any) -> None:
    """``dst[i] = e ** (x - ln 2) - e ** (-x - ln 2)``, in float.

    950 divides 0.25 by the first term instead of taking a second power.
    """
    steps.muls(power, src, -1.0)
    steps.adds(power, power, _NEG_LN_2)
    steps.exp(power, power)
    steps.adds(dst, src, _NEG_LN_2)
    steps.exp(dst, dst)
    steps.sub(dst, dst, power)


@unary(_PAGE.format("Cosh"), half_scratch=_THREE, float_scratch=_TWO, back=RoundMode.CAST_ROUND)
def Cosh(steps: Any, dst: Any, src: Any, power: Any, other: Any) -> None:
    """``dst[i] = y + 0.25 / y`` with ``y = e ** (x - ln 2)``, in float.

    910B rounds half results with ties away from zero.
    """
    steps.adds(other, src, _NEG_LN_2)
    steps.exp(power, other)
    steps.duplicate(dst, _QUARTER)
    steps.div(other, dst, power)
    steps.add(dst, power, other)
