"""Asin, Acos: a series below 2 ** -0.5 and its complement above, chosen by multiplying with 0 or 1.

Source: mirror-cann/asc-devkit impl/adv_api/detail/math (asin, acos).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.dtypes import float32, half, int8_t, int32_t
from simulator.enums import RoundMode
from simulator.isa.highlevel.calls import Scratch
from simulator.isa.highlevel.unary import unary

if TYPE_CHECKING:
    from simulator.isa.highlevel.registers import Register, RegisterSteps

_PAGE: Final = "数学计算/{0}接口/{0}"
_HALF_PI: Final = 1.5707963267948966
_BOUNDARY: Final = 0.7071067811865476
_SERIES: Final = (
    1.0,
    0.16666666666666666,
    0.075,
    0.044642857142857144,
    0.030381944444444444,
    0.02237215909090909,
    0.017352764423076924,
    0.01396484375,
)
_SIGN_SCALE: Final = {half: 2.0**15, float32: 2.0**62}

_HALVES: Final = Scratch(half, 6)
_FLOATS: Final = Scratch(float32, 4)


def _inner(steps: Any, dst: Any, square: Any) -> None:
    """``dst = dst * c7 + c6``, then by Horner's rule down to c0."""
    steps.muls(dst, dst, _SERIES[-1])
    for coefficient in _SERIES[-2:0:-1]:
        steps.adds(dst, dst, coefficient)
        steps.mul(dst, dst, square)
    steps.adds(dst, dst, _SERIES[0])


def _series(steps: Any, dst: Any, src: Any, square: Any) -> None:
    """``dst`` = the series of ``src``."""
    steps.mul(dst, src, src)
    steps.mul(square, src, src)
    _inner(steps, dst, square)
    steps.mul(dst, dst, src)


def _series_of_root(steps: Any, dst: Any, square: Any) -> None:
    """``dst`` = the series of the root of ``square``, which becomes the root."""
    steps.muls(dst, square, 1.0)
    _inner(steps, dst, square)
    steps.sqrt(square, square)
    steps.mul(dst, dst, square)


def _complement_of_square(steps: Any, dst: Any, src: Any) -> None:
    """``dst = 1 - src ** 2``."""
    steps.mul(dst, src, src)
    steps.muls(dst, dst, -1.0)
    steps.adds(dst, dst, 1.0)


def _from_right_angle(steps: Any, values: Any) -> None:
    """``values = pi / 2 - values``."""
    steps.muls(values, values, -1.0)
    steps.adds(values, values, _HALF_PI)


def _below(steps: Any, size: Any, whole: Any) -> None:
    """``size`` = 1 below the boundary, else 0; ``whole`` holds integers between."""
    steps.mins(size, size, _BOUNDARY)
    steps.adds(size, size, -_BOUNDARY)
    steps.cast(whole, size, RoundMode.CAST_FLOOR)
    steps.cast(size, whole)
    steps.muls(size, size, -1.0)


def _not(steps: Any, choice: Any) -> None:
    """``choice = 1 - choice``."""
    steps.muls(choice, choice, -1.0)
    steps.adds(choice, choice, 1.0)


def _sign(steps: Any, dst: Any, src: Any, below: Any) -> None:
    """``dst = s * src / (1 / s + |s * src|)``.

    In half ``1 / s`` is subnormal; if the division of the 950 took it for 0, as the page of Div
    says of its default, the arc sine of 0 would be NaN.
    """
    scale = _SIGN_SCALE[src.dtype]
    steps.muls(dst, src, scale)
    steps.abs(below, dst)
    steps.adds(below, below, 1 / scale)
    steps.div_small(dst, dst, below)


def _in_float(steps: Any, dst: Any, src: Any, size: Any, other: Any) -> None:
    _complement_of_square(steps, other, src)
    steps.sqrt(dst, other)
    _series(steps, other, dst, size)
    _from_right_angle(steps, other)
    steps.mul(size, src, src)
    _series_of_root(steps, dst, size)
    _below(steps, size, steps.space(size, int32_t))
    steps.mul(dst, dst, size)
    _not(steps, size)
    steps.mul(other, other, size)
    steps.add(dst, dst, other)
    _sign(steps, other, src, size)
    steps.mul(dst, dst, other)


def _in_half(
    steps: Any, dst: Any, src: Any, wide: tuple[Any, Any], narrow: tuple[Any, Any]
) -> None:
    """``wide[0]`` = the arc sine in float; ``dst`` is overwritten."""
    result, other = wide
    square, size = narrow
    steps.cast(other, src)
    _complement_of_square(steps, other, other)
    _series_of_root(steps, result, other)
    _from_right_angle(steps, result)
    steps.abs(size, src)
    _series(steps, dst, size, square)
    _below(steps, size, steps.space(square, int8_t))
    steps.mul(dst, dst, size)
    _not(steps, size)
    steps.cast(other, size)
    steps.mul(result, result, other)
    steps.cast(other, dst)
    steps.add(result, other, result)
    _sign(steps, square, src, size)
    steps.cast(other, square)
    steps.mul(result, result, other)


def _on_ub(steps: Any, dst: Any, src: Any, slots: tuple[Any, ...]) -> Any:
    """Write the arc sine to ``dst``; return it in the type of the calculation."""
    if src.dtype is float32:
        _in_float(steps, dst, src, slots[0], slots[1])
        return dst
    wide = slots[0].ReinterpretCast(float32), slots[2].ReinterpretCast(float32)
    _in_half(steps, dst, src, wide, (slots[4], slots[5]))
    steps.cast(dst, wide[0])
    return wide[0]


def _in_registers(steps: RegisterSteps, values: Register) -> Register:
    """Return the arc sine in float."""
    result, other = steps.register(), steps.register()
    if values.dtype is float32:
        _in_float(steps, result, values, steps.register(), other)
    else:
        dst, square, size = (steps.register(half) for _ in range(3))
        _in_half(steps, dst, values, (result, other), (square, size))
    return result


def _stored(steps: RegisterSteps, result: Register, values: Register) -> Register:
    if values.dtype is float32:
        return result
    narrow = steps.register(half)
    steps.cast(narrow, result)
    return narrow


def _asin_950(steps: RegisterSteps, values: Register) -> Register:
    return _stored(steps, _in_registers(steps, values), values)


def _acos_950(steps: RegisterSteps, values: Register) -> Register:
    result = _in_registers(steps, values)
    _complement(steps, result)
    return _stored(steps, result, values)


def _complement(steps: Any, values: Any) -> None:
    """``values = -(values - pi / 2)``."""
    steps.adds(values, values, -_HALF_PI)
    steps.muls(values, values, -1.0)


@unary(
    _PAGE.format("Asin"),
    half_scratch=_HALVES,
    float_scratch=_FLOATS,
    convert_half=False,
    registers=_asin_950,
    native_950=True,
)
def Asin(steps: Any, dst: Any, src: Any, *slots: Any) -> None:
    """``dst[i]`` = the arc sine of ``src[i]``, which is within ±1."""
    _on_ub(steps, dst, src, slots)


@unary(
    _PAGE.format("Acos"),
    half_scratch=_HALVES,
    float_scratch=_FLOATS,
    convert_half=False,
    registers=_acos_950,
    native_950=True,
)
def Acos(steps: Any, dst: Any, src: Any, *slots: Any) -> None:
    """``dst[i]`` = the arc cosine of ``src[i]``, which is within ±1."""
    result = _on_ub(steps, dst, src, slots)
    _complement(steps, result)
    if result is not dst:
        steps.cast(dst, result)
