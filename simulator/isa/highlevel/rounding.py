"""Floor, Ceil, Round, Rint, Trunc and Frac.

Half has no rounding instruction on 910B: it goes through float. Source: mirror-cann/asc-devkit
impl/adv_api/detail/math (floor, ceil, round, trunc, frac).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.dtypes import float32
from simulator.enums import Arch, RoundMode
from simulator.isa.highlevel.calls import Scratch
from simulator.isa.highlevel.unary import unary
from simulator.numerics import truncator

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.isa.highlevel.registers import Register, RegisterSteps

_PAGE: Final = "数学计算/{0}接口/{0}"
_ONE_FLOAT: Final = Scratch(float32, 1)


def _truncate(mode: RoundMode) -> Callable[[RegisterSteps, Register], Register]:
    """Return the formula of the 950: one Truncate in the element type."""

    def registers(steps: RegisterSteps, values: Register) -> Register:
        result = steps.register(values.dtype)
        convert = truncator(Arch.DAV_3510, values.dtype, mode)
        steps.apply("Truncate", result, (values,), lambda out, src: convert(src, out))
        return result

    return registers


def _frac_950(steps: RegisterSteps, values: Register) -> Register:
    whole, result = _truncate(RoundMode.CAST_TRUNC)(steps, values), steps.register(values.dtype)
    steps.sub(result, values, whole)
    return result


@unary(
    _PAGE.format("Floor"),
    half_scratch=_ONE_FLOAT,
    registers=_truncate(RoundMode.CAST_FLOOR),
    native_950=True,
)
def Floor(steps: Any, dst: Any, src: Any) -> None:
    """``dst[i]`` = the largest integer that is not above ``src[i]``."""
    steps.cast(dst, src, RoundMode.CAST_FLOOR)


@unary(
    _PAGE.format("Ceil"),
    half_scratch=_ONE_FLOAT,
    float_scratch=_ONE_FLOAT,
    registers=_truncate(RoundMode.CAST_CEIL),
    native_950=True,
)
def Ceil(steps: Any, dst: Any, src: Any, _: Any = None) -> None:
    """``dst[i]`` = the smallest integer that is not below ``src[i]``."""
    steps.cast(dst, src, RoundMode.CAST_CEIL)


@unary(
    _PAGE.format("Round"),
    half_scratch=_ONE_FLOAT,
    registers=_truncate(RoundMode.CAST_RINT),
    native_950=True,
)
def Round(steps: Any, dst: Any, src: Any) -> None:
    """``dst[i]`` = the integer nearest to ``src[i]``, the even one of two equally near ones."""
    steps.cast(dst, src, RoundMode.CAST_RINT)


@unary(
    _PAGE.format("Rint"),
    registers=_truncate(RoundMode.CAST_RINT),
    native_950=True,
    dtypes={Arch.DAV_3510: "half float"},
)
def Rint(steps: Any, dst: Any, src: Any) -> None:
    """``dst[i]`` = the integer nearest to ``src[i]``, the even one of two equally near ones."""
    steps.cast(dst, src, RoundMode.CAST_RINT)


@unary(
    _PAGE.format("Trunc"),
    half_scratch=_ONE_FLOAT,
    float_scratch=_ONE_FLOAT,
    registers=_truncate(RoundMode.CAST_TRUNC),
    native_950=True,
)
def Trunc(steps: Any, dst: Any, src: Any, _: Any = None) -> None:
    """``dst[i]`` = ``src[i]`` without its fraction."""
    steps.cast(dst, src, RoundMode.CAST_TRUNC)


@unary(_PAGE.format("Frac"), half_scratch=Scratch(float32, 2), registers=_frac_950)
def Frac(steps: Any, dst: Any, src: Any, whole: Any = None) -> None:
    """``dst[i] = src[i] - trunc(src[i])``; half is calculated in float."""
    # For half dst and src are one tensor, so the integral part needs a slot of its own.
    part = dst if whole is None else whole
    steps.cast(part, src, RoundMode.CAST_TRUNC)
    steps.sub(dst, src, part)
