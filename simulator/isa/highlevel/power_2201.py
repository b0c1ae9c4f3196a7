"""Power on 910B, out of basic calls on UB.

Source: mirror-cann/asc-devkit impl/adv_api/detail/math/power (power_common_impl.h,
power_float_impl.h, power_int_impl.h, power_v220_impl.h).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simulator.dtypes import float32, half, int32_t, int64_t, uint8_t, uint32_t
from simulator.enums import CMPMODE, SELMODE, PipeID, RoundMode
from simulator.isa.cmpmask import SetCmpMask
from simulator.isa.fill import Duplicate
from simulator.isa.highlevel.calls import Scratch, piece_size, temporary_bytes
from simulator.isa.highlevel.steps import with_count
from simulator.isa.masks import MASK_PLACEHOLDER
from simulator.isa.params import BinaryRepeatParams, UnaryRepeatParams
from simulator.isa.reduction_total import ReduceSum
from simulator.isa.select import Select
from simulator.isa.shift import ShiftRight
from simulator.isa.sync import PipeBarrier
from simulator.tensor import LocalTensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.core import AICore
    from simulator.instruction import InstructionSpec
    from simulator.isa.highlevel.steps import UbSteps

    Body = Callable[[UbSteps, int], None]

_CONSTANTS: Final = 256
"""Bytes at the start of the temporary buffer that hold 1 and NaN."""

SLOTS: Final = {
    half: (7, 7),
    float32: (4, 5),
    int32_t: (6, 7),
}
"""32-bit arrays in the temporary buffer: for two tensors, and for a tensor and a scalar."""

_WHOLE: Final = 1e-8
_UNARY: Final = UnaryRepeatParams()


def prepared(
    core: AICore,
    spec: InstructionSpec,
    dst: LocalTensor,
    sides: tuple[Any, ...],
    tmp: LocalTensor | None,
) -> tuple[int, Body]:
    """Return the elements of a piece and the body that calculates one."""
    space = temporary_bytes(core, spec, tmp)
    scalar = not all(isinstance(side, LocalTensor) for side in sides)
    dtype = dst.dtype
    fixed = _CONSTANTS if dtype.is_float else 0
    kind = float32 if dtype.is_float else int32_t
    split = piece_size(spec, space.nbytes, Scratch(kind, SLOTS[dtype][scalar]), fixed)
    whole = space[fixed].ReinterpretCast(kind)
    rows = [whole[slot * split] for slot in range(SLOTS[dtype][scalar])]
    if dtype is int32_t:
        return split, _integers(dst, sides, rows, split)
    return split, _floats(dst, sides, rows, space.ReinterpretCast(float32), split)


# -- half and float ----------------------------------------------------------------------------


class _Floats(NamedTuple):
    """Temporary values: three arrays, four sets of bits, and 1 and NaN for Select."""

    first: LocalTensor
    second: LocalTensor
    third: LocalTensor
    bits: LocalTensor
    other: LocalTensor
    more: LocalTensor
    whole: LocalTensor
    one: LocalTensor
    nan: LocalTensor


def _floats(
    dst: LocalTensor,
    sides: tuple[Any, ...],
    rows: list[LocalTensor],
    constants: LocalTensor,
    split: int,
) -> Body:
    narrow = dst.dtype is half
    places: list[Any] = [None, None]
    for i, side in enumerate(sides):
        if narrow or not isinstance(side, LocalTensor):
            places[i] = rows.pop(0)
    result = rows.pop(0) if narrow else None
    masks = rows[3].ReinterpretCast(uint8_t)
    bits, other, more, whole = (masks[i * split] for i in range(4))
    temps = _Floats(rows[0], rows[1], rows[2], bits, other, more, whole, constants, constants[8])
    ready: list[int] = []

    def begin(steps: UbSteps) -> None:
        with_count(8)
        steps.duplicate(temps.one, 1.0)
        steps.duplicate(temps.nan, float("nan"))
        with_count(split)
        for place, side in zip(places, sides, strict=True):
            if not isinstance(side, LocalTensor):
                steps.duplicate(place, float(side))
        with_count(steps.count)
        ready.append(split)

    def body(steps: UbSteps, at: int) -> None:
        if not ready:
            begin(steps)
        operands = []
        for place, side in zip(places, sides, strict=True):
            if not isinstance(side, LocalTensor):
                operands.append(place)
            elif narrow:
                steps.cast(place, side[at])
                operands.append(place)
            else:
                operands.append(side[at])
        if result is None:
            _power(steps, dst[at], operands[0], operands[1], temps)
        else:
            _power(steps, result, operands[0], operands[1], temps)
            steps.cast(dst[at], result)

    return body


def _power(steps: UbSteps, dst: Any, base: Any, exponent: Any, t: _Floats) -> None:
    steps.abs(dst, base)
    steps.ln(dst, dst)
    steps.mul(dst, exponent, dst)
    steps.exp(dst, dst)
    _sign_of_odd(steps, exponent, t)
    _negative_and_whole(steps, base, exponent, t)
    steps.choose(t.second, t.bits, t.first, t.one)
    steps.mul(dst, t.second, dst)
    _not_one(steps, base, exponent, t)
    steps.choose(dst, t.bits, dst, t.one)
    _not_nan(steps, base, exponent, t)
    steps.choose(dst, t.bits, dst, t.nan)


def _sign_of_odd(steps: UbSteps, exponent: Any, t: _Floats) -> None:
    """``first`` = -1 for odd exponents, 1 for even ones."""
    steps.abs(t.first, exponent)
    steps.cast(t.first, t.first, RoundMode.CAST_RINT)
    steps.muls(t.second, t.first, 0.5)
    steps.cast(t.second, t.second, RoundMode.CAST_FLOOR)
    steps.muls(t.second, t.second, 2.0)
    steps.sub(t.first, t.first, t.second)
    steps.muls(t.first, t.first, -2.0)
    steps.adds(t.first, t.first, 1.0)
    steps.cast(t.first, t.first, RoundMode.CAST_RINT)


def _negative_and_whole(steps: UbSteps, base: Any, exponent: Any, t: _Floats) -> None:
    """``bits``: the base has a sign and the exponent is whole; ``whole``: the latter alone."""
    ShiftRight(
        t.second.ReinterpretCast(uint32_t),
        base.ReinterpretCast(uint32_t),
        31,
        MASK_PLACEHOLDER,
        1,
        _UNARY,
        isSetMask=False,
    )
    PipeBarrier(PipeID.PIPE_V)
    steps.compare(t.bits, t.second.ReinterpretCast(int32_t), 1, CMPMODE.EQ)
    steps.abs(t.second, exponent)
    steps.cast(t.third, t.second, RoundMode.CAST_RINT)
    steps.sub(t.third, t.second, t.third)
    steps.abs(t.third, t.third)
    steps.compare(t.whole, t.third, _WHOLE, CMPMODE.LT)
    steps.both(t.bits, t.whole)


def _not_one(steps: UbSteps, base: Any, exponent: Any, t: _Floats) -> None:
    """``bits``: none of x ** 0, 1 ** y and (-1) ** inf, which are 1."""
    steps.abs(t.first, exponent)
    steps.compare(t.bits, t.first, 0.0, CMPMODE.NE)
    steps.compare(t.other, base, 1.0, CMPMODE.NE)
    steps.both(t.bits, t.other)
    steps.compare(t.other, base, -1.0, CMPMODE.NE)
    steps.compare(t.more, t.first, float("inf"), CMPMODE.NE)
    steps.either(t.other, t.more)
    steps.both(t.bits, t.other)


def _not_nan(steps: UbSteps, base: Any, exponent: Any, t: _Floats) -> None:
    """``bits``: base not negative, or exponent whole or infinite, or base -inf."""
    steps.abs(t.first, exponent)
    steps.compare(t.bits, t.first, float("inf"), CMPMODE.EQ)
    steps.either(t.bits, t.whole)
    steps.compare(t.other, base, 0.0, CMPMODE.GE)
    steps.compare(t.more, base, float("-inf"), CMPMODE.EQ)
    steps.either(t.other, t.more)
    steps.either(t.bits, t.other)


# -- int32_t -----------------------------------------------------------------------------------


class _Integers(NamedTuple):
    """Temporary values: five arrays, two sets of bits, and a block for scalars."""

    left: LocalTensor
    exponent: LocalTensor
    done: LocalTensor
    first: LocalTensor
    second: LocalTensor
    negative: LocalTensor
    bits: LocalTensor
    scalar: LocalTensor


def _integers(
    dst: LocalTensor, sides: tuple[Any, ...], rows: list[LocalTensor], split: int
) -> Body:
    places: list[Any] = [None if isinstance(side, LocalTensor) else rows.pop(0) for side in sides]
    masks = rows[5].ReinterpretCast(uint8_t)
    first, second, third, fourth, fifth = rows[:5]
    bits, other, scalar = (masks[i * split] for i in range(3))
    temps = _Integers(first, second, third, fourth, fifth, bits, other, scalar)
    ready: list[int] = []

    def body(steps: UbSteps, at: int) -> None:
        operands = []
        for place, side in zip(places, sides, strict=True):
            if isinstance(side, LocalTensor):
                operands.append(side[at])
                continue
            if not ready:
                with_count(split)
                steps.duplicate(place, int(side))
                with_count(steps.count)
                ready.append(split)
            operands.append(place)
        _integer_power(steps, dst[at], operands[0], operands[1], temps)

    return body


def _integer_power(steps: UbSteps, dst: Any, base: Any, exponent: Any, t: _Integers) -> None:
    """Square while the exponent lasts, then multiply what the squares left over."""
    steps.cast(_as_float(t.first), exponent)
    steps.compare(t.negative, _as_float(t.first), 0.0, CMPMODE.LT)
    steps.muls(t.first, exponent, -1)
    _choose(steps, t.left, t.negative, (t.first, exponent), t)
    steps.muls(t.exponent, t.left, 1)
    steps.compare(t.bits, t.exponent, 0, CMPMODE.EQ)
    steps.duplicate(t.done, 0)
    steps.duplicate(t.second, 1)
    _choose(steps, t.done, t.bits, (t.done, t.second), t)
    _choose(steps, dst, t.bits, (t.second, base), t)
    _half(t.left)
    steps.compare(t.bits, t.left, 0, CMPMODE.EQ)
    while _any(steps, t.left, t):
        steps.mul(t.first, dst, dst)
        steps.muls(t.second, t.done, 2)
        _choose(steps, dst, t.bits, (dst, t.first), t)
        _choose(steps, t.done, t.bits, (t.done, t.second), t)
        _half(t.left)
        steps.compare(t.bits, t.left, 0, CMPMODE.EQ)
    steps.sub(t.done, t.exponent, t.done)
    steps.compare(t.bits, t.done, 0, CMPMODE.EQ)
    while _any(steps, t.done, t):
        steps.mul(t.first, dst, base)
        steps.adds(t.second, t.done, -1)
        _choose(steps, dst, t.bits, (dst, t.first), t)
        _choose(steps, t.done, t.bits, (t.done, t.second), t)
        steps.compare(t.bits, t.done, 0, CMPMODE.EQ)
    _invert(steps, dst, t)


def _as_float(tensor: LocalTensor) -> LocalTensor:
    return tensor.ReinterpretCast(float32)


def _half(tensor: LocalTensor) -> None:
    ShiftRight(tensor, tensor, 1, MASK_PLACEHOLDER, 1, _UNARY, isSetMask=False)
    PipeBarrier(PipeID.PIPE_V)


def _any(steps: UbSteps, values: LocalTensor, t: _Integers) -> bool:
    """Whether the sum of the values is not 0."""
    steps.cast(_as_float(t.first), values)
    total = t.scalar.ReinterpretCast(float32)
    ReduceSum(total, _as_float(t.first), _as_float(t.first), steps.count, isSetMask=False)
    found = bool(total.GetValue(0) != 0)
    PipeBarrier(PipeID.PIPE_V)
    return found


def _choose(
    steps: UbSteps,
    dst: LocalTensor,
    bits: LocalTensor,
    sides: tuple[LocalTensor, LocalTensor],
    t: _Integers,
) -> None:
    """``dst`` = the first side where the bit is 1, else the second; bits by their address."""
    with_count(1)
    Duplicate(t.scalar.ReinterpretCast(uint32_t), bits.addr, MASK_PLACEHOLDER, 1, 1, 8, False)
    PipeBarrier(PipeID.PIPE_V)
    with_count(steps.count)
    SetCmpMask(t.scalar.ReinterpretCast(int64_t))
    PipeBarrier(PipeID.PIPE_V)
    Select(
        _as_float(dst),
        _as_float(sides[0]),
        _as_float(sides[1]),
        1,
        BinaryRepeatParams(),
        selMode=SELMODE.VSEL_TENSOR_TENSOR_MODE,
    )
    PipeBarrier(PipeID.PIPE_V)


def _invert(steps: UbSteps, dst: LocalTensor, t: _Integers) -> None:
    """For negative exponents the integral part of 1 / dst, and 0 where dst is 0."""
    steps.compare(t.bits, dst, 0, CMPMODE.EQ)
    result, ones = _as_float(t.exponent), _as_float(t.left)
    steps.cast(result, dst)
    steps.duplicate(ones, 1.0)
    steps.div(result, ones, result)
    steps.cast(t.first, result, RoundMode.CAST_TRUNC)
    _choose(steps, dst, t.negative, (t.first, dst), t)
    steps.duplicate(t.second, 0)
    _choose(steps, dst, t.bits, (t.second, dst), t)
