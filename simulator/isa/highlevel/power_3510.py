"""Power on 950 with PowerAlgo::INTRINSIC, as the steps of one vector function.

The record names an exclusive or, which has no call of its own, as Or, and one of masks as And.
Source: mirror-cann/asc-devkit impl/adv_api/detail/math/power/power_3510_impl.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.dtypes import float32, half, int8_t, int16_t, uint8_t, uint16_t
from simulator.enums import CMPMODE, Arch, HardEvent, RoundMode
from simulator.isa.reduction_2201 import order_pipes
from simulator.isa.reduction_total import ReduceMax
from simulator.numerics import truncator
from simulator.tensor import LocalTensor

if TYPE_CHECKING:
    from types import FrameType

    from simulator.instruction import Plan
    from simulator.isa.highlevel.registers import Register, RegisterSteps

_INFINITY: Final = 0x7F80_0000
_MAGNITUDE: Final = 0x7FFF_FFFF
_WIDENED: Final = {int8_t: int16_t, uint8_t: uint16_t}


def build(dst: LocalTensor, sides: tuple[Any, ...], loops: int, steps: RegisterSteps) -> list[Plan]:
    """Return the steps of a call; ``loops`` is the number of squarings of integers."""
    dtype = dst.dtype
    inner = float32 if dtype is half else _WIDENED.get(dtype, dtype)
    base, exponent = (_operand(steps, side, dtype, inner) for side in sides)
    if dtype.is_float:
        result = _floats(steps, base, exponent)
    else:
        result = _integers(steps, base, exponent, loops)
    if dtype is half:
        stored = steps.register(half)
        steps.cast(stored, result)
        result = stored
    elif inner is not dtype:
        narrow = steps.register(dtype)
        steps.apply(
            "Cast", narrow, (result,), lambda out, wide: np.copyto(out, wide.astype(out.dtype))
        )
        result = narrow
    return steps.finish(dst, result)


def _operand(steps: RegisterSteps, side: Any, dtype: Any, inner: Any) -> Register:
    if isinstance(side, LocalTensor):
        values = steps.load(side)
    else:
        values = steps.register(dtype)
        steps.duplicate(values, side)
    if inner is dtype:
        return values
    wide = steps.register(inner)
    if dtype is half:
        steps.cast(wide, values)
    else:
        steps.apply("Cast", wide, (values,), np.copyto)
    return wide


# -- half and float ----------------------------------------------------------------------------


def _floats(steps: RegisterSteps, base: Register, exponent: Register) -> Register:
    result = steps.register()
    logarithm = steps.register()
    steps.abs(logarithm, base)
    steps.ln(logarithm, logarithm)
    steps.mul(result, exponent, logarithm)
    steps.exp(result, result)
    left = _ones_and_nan(steps, result, base, exponent)
    odd = _odd(steps, exponent)
    _zeros_and_infinities(steps, result, (base, exponent), odd, left)
    _negative_bases(steps, result, (base, exponent), odd, left)
    _minus_one(steps, result, (base, exponent), left)
    return result


def _both(steps: RegisterSteps, first: Register, second: Register) -> Register:
    out = steps.mask()
    steps.apply("And", out, (first, second), lambda o, a, b: np.logical_and(a, b, out=o))
    return out


def _either(steps: RegisterSteps, first: Register, second: Register) -> Register:
    out = steps.mask()
    steps.apply("Or", out, (first, second), lambda o, a, b: np.logical_or(a, b, out=o))
    return out


def _without(steps: RegisterSteps, left: Register, taken: Register) -> None:
    """Take lanes out of those that are left."""
    steps.apply("And", left, (left, taken), lambda o, a, b: np.logical_and(a, ~b, out=o))


def _compared(steps: RegisterSteps, src: Register, other: Any, mode: CMPMODE) -> Register:
    out = steps.mask()
    steps.compare(out, src, other, mode)
    return out


def _set(steps: RegisterSteps, dst: Register, where: Register, value: float) -> None:
    """Set the lanes where the mask holds."""
    chosen = where.values
    steps.apply(
        "Duplicate", dst, (), lambda out: np.copyto(out, out.dtype.type(value), where=chosen)
    )


def _ones_and_nan(
    steps: RegisterSteps, result: Register, base: Register, exponent: Register
) -> Register:
    """X ** 0 and 1 ** y are 1, other powers of NaN are NaN; return the lanes that are left."""
    one = _either(
        steps,
        _compared(steps, exponent, 0.0, CMPMODE.EQ),
        _compared(steps, base, 1.0, CMPMODE.EQ),
    )
    _set(steps, result, one, 1.0)
    left = steps.mask()
    steps.apply("Not", left, (one,), lambda out, a: np.logical_not(a, out=out))
    unknown = _either(
        steps,
        _compared(steps, base, base, CMPMODE.NE),
        _compared(steps, exponent, exponent, CMPMODE.NE),
    )
    unknown = _both(steps, unknown, left)
    _set(steps, result, unknown, np.nan)
    _without(steps, left, unknown)
    return left


def _odd(steps: RegisterSteps, exponent: Register) -> Register:
    """Whether the exponent is an odd whole number."""
    part = steps.register()
    steps.muls(part, exponent, 0.5)
    _floor(steps, part, part)
    steps.muls(part, part, -2.0)
    steps.add(part, part, exponent)
    return _compared(steps, part, 1.0, CMPMODE.EQ)


def _floor(steps: RegisterSteps, dst: Register, src: Register) -> None:
    convert = truncator(Arch.DAV_3510, float32, RoundMode.CAST_FLOOR)
    steps.apply("Truncate", dst, (src,), lambda out, values: convert(values, out))


def _zeros_and_infinities(
    steps: RegisterSteps,
    result: Register,
    sides: tuple[Register, Register],
    odd: Register,
    left: Register,
) -> None:
    """0 and infinity swap for negative exponents and keep their sign for odd ones."""
    base, exponent = sides
    size = steps.register()
    _words(steps, "And", size, base, _MAGNITUDE)
    special = _either(
        steps,
        _compared(steps, size, float("inf"), CMPMODE.EQ),
        _compared(steps, base, 0.0, CMPMODE.EQ),
    )
    special = _both(steps, special, left)
    swapped, signed = steps.register(), steps.register()
    _words(steps, "Or", swapped, base, _INFINITY)
    steps.choose(signed, _compared(steps, exponent, 0.0, CMPMODE.LT), swapped, base)
    _words(steps, "And", size, signed, _MAGNITUDE)
    steps.choose(size, odd, signed, size)
    steps.choose(result, special, size, result)
    _without(steps, left, special)


def _words(steps: RegisterSteps, call: str, dst: Register, src: Register, word: int) -> None:
    """Combine the patterns of the elements with a word: And, or for Or the exclusive or."""
    rule = np.bitwise_and if call == "And" else np.bitwise_xor
    steps.apply(
        call,
        dst,
        (src,),
        lambda out, a: rule(a.view(np.uint32), np.uint32(word), out=out.view(np.uint32)),
    )


def _negative_bases(
    steps: RegisterSteps,
    result: Register,
    sides: tuple[Register, Register],
    odd: Register,
    left: Register,
) -> None:
    """A negative base gives the sign of odd exponents, NaN for fractions."""
    base, exponent = sides
    signed, whole = steps.register(), steps.register()
    steps.muls(signed, result, -1.0)
    steps.choose(signed, odd, signed, result)
    _floor(steps, whole, exponent)
    fraction = _both(steps, _compared(steps, exponent, whole, CMPMODE.NE), left)
    _set(steps, signed, fraction, np.nan)
    negative = _both(steps, _compared(steps, base, 0.0, CMPMODE.LT), left)
    steps.choose(result, negative, signed, result)


def _minus_one(
    steps: RegisterSteps, result: Register, sides: tuple[Register, Register], left: Register
) -> None:
    """(-1) ** inf is 1."""
    base, exponent = sides
    endless = _either(
        steps,
        _compared(steps, exponent, float("inf"), CMPMODE.EQ),
        _compared(steps, exponent, float("-inf"), CMPMODE.EQ),
    )
    endless = _both(steps, endless, left)
    one = _both(steps, _compared(steps, base, -1.0, CMPMODE.EQ), endless)
    _set(steps, result, one, 1.0)


# -- integers ----------------------------------------------------------------------------------


def bits_of_exponents(dst: LocalTensor, exponent: Any, count: int, frame: FrameType) -> int:
    """Return how many bits the largest exponent has; all of them if none is positive.

    The library finds the largest one of a tensor with ReduceMax, through ``dst``. Of 8-bit types
    it takes all bits.
    """
    width = dst.dtype.bits
    if width == 8:
        return width
    if isinstance(exponent, LocalTensor):
        ReduceMax(dst, exponent, exponent, count)
        order_pipes(dst._core, HardEvent.V_S, frame)
        largest = int(dst.GetValue(0))
        order_pipes(dst._core, HardEvent.S_V, frame)
    else:
        largest = int(exponent)
    return width if largest < 0 else largest.bit_length()


def _integers(steps: RegisterSteps, base: Register, exponent: Register, loops: int) -> Register:
    """Multiply by the squares of the base that the bits of the exponent ask for."""
    dtype = base.dtype
    result, product, bit, square, left, one = (steps.register(dtype) for _ in range(6))
    steps.duplicate(result, 1)
    steps.duplicate(one, 1)
    steps.apply("Copy", square, (base,), np.copyto)
    steps.apply("Copy", left, (exponent,), np.copyto)
    for _ in range(loops):
        steps.mul(product, result, square)
        steps.apply("And", bit, (left, one), lambda out, a, b: np.bitwise_and(a, b, out=out))
        steps.choose(result, _compared(steps, bit, 1, CMPMODE.EQ), product, result)
        steps.apply("ShiftRight", left, (left,), lambda out, a: np.right_shift(a, 1, out=out))
        steps.mul(square, square, square)
    always = _either(
        steps, _compared(steps, exponent, 0, CMPMODE.EQ), _compared(steps, base, 1, CMPMODE.EQ)
    )
    steps.choose(result, always, one, result)
    if dtype.kind == "i":
        _negative_exponents(steps, result, (base, exponent, one), always)
    return result


def _negative_exponents(
    steps: RegisterSteps,
    result: Register,
    sides: tuple[Register, Register, Register],
    always: Register,
) -> None:
    """A negative exponent gives 0, but for the base -1 its sign."""
    base, exponent, one = sides
    zero, minus, sign, bit = (steps.register(base.dtype) for _ in range(4))
    steps.duplicate(zero, 0)
    steps.duplicate(minus, -1)
    negative = _compared(steps, exponent, 0, CMPMODE.LT)
    _without(steps, negative, always)
    unit = _both(steps, _compared(steps, base, -1, CMPMODE.EQ), negative)
    steps.choose(result, negative, zero, result)
    steps.apply("And", bit, (exponent, one), lambda out, a, b: np.bitwise_and(a, b, out=out))
    steps.choose(sign, _compared(steps, bit, 1, CMPMODE.EQ), minus, one)
    steps.choose(result, unit, sign, result)
