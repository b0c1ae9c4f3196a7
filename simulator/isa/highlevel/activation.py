"""Sigmoid, Tanh, Silu, Swish, Gelu and FasterGelu.

Source: mirror-cann/asc-devkit impl/adv_api/detail/activation (sigmoid, silu, swish, gelu) and
math/tanh.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.dtypes import float32, half
from simulator.enums import Arch
from simulator.isa.highlevel.calls import (
    HALF_FLOAT,
    Scratch,
    checked,
    composite,
    declare_high_level,
    in_pieces,
    run_registers,
)
from simulator.isa.highlevel.unary import unary

if TYPE_CHECKING:
    from simulator.instruction import Plan
    from simulator.isa.highlevel.registers import Register, RegisterSteps

_PAGE: Final = "激活函数/{0}接口/{0}"
_TANH_LIMIT: Final = 8.8


def _sigmoid_950(steps: RegisterSteps, values: Register) -> Register:
    power, result = steps.register(), steps.register()
    steps.muls(power, values, -1.0)
    steps.exp(power, power)
    steps.adds(power, power, 1.0)
    steps.duplicate(result, 1.0)
    steps.div(result, result, power)
    return result


@unary(
    _PAGE.format("Sigmoid"),
    half_scratch=Scratch(half, 1, 1),
    float_scratch=Scratch(float32, 1, 1),
    convert_half=False,
    registers=_sigmoid_950,
)
def Sigmoid(steps: Any, dst: Any, src: Any, ones: Any) -> None:
    """``dst[i] = 1 / (1 + e ** -src[i])``; 910B calculates in the element type, 950 in float."""
    steps.muls(dst, src, -1.0)
    steps.exp(dst, dst)
    steps.adds(dst, dst, 1.0)
    steps.duplicate(ones, 1.0)
    steps.div(dst, ones, dst)


@unary(
    "数学计算/Tanh接口/Tanh", half_scratch=Scratch(float32, 2), float_scratch=Scratch(float32, 1)
)
def Tanh(steps: Any, dst: Any, src: Any, power: Any) -> None:
    """``dst[i] = (e ** 2x - 1) / (e ** 2x + 1)`` with ``x`` clipped to ±8.8, in float."""
    steps.mins(power, src, _TANH_LIMIT)
    steps.maxs(power, power, -_TANH_LIMIT)
    steps.muls(power, power, 2.0)
    steps.exp(power, power)
    steps.adds(dst, power, -1.0)
    steps.adds(power, power, 1.0)
    steps.div(dst, dst, power)


@unary(
    "激活函数/Gelu接口/Gelu", half_scratch=Scratch(float32, 3), float_scratch=Scratch(float32, 2)
)
def Gelu(steps: Any, dst: Any, src: Any, first: Any, second: Any) -> None:
    """``dst[i] = x / (1 + e ** -y)``, ``y = 1.5957691 * (x + 0.044715 * x ** 3)``, in float."""
    steps.mul(first, src, src)
    steps.mul(second, src, first)
    steps.muls(first, second, 0.044715)
    steps.add(second, src, first)
    steps.muls(first, second, 1.5957691216057308)
    # Exponents are kept negative so that nothing overflows.
    steps.mins(second, first, 0.0)
    steps.exp(second, second)
    steps.abs(first, first)
    steps.muls(first, first, -1.0)
    steps.exp(first, first)
    steps.adds(first, first, 1.0)
    steps.div(first, src, first)
    steps.mul(dst, first, second)


@unary(
    "激活函数/Gelu接口/FasterGelu",
    half_scratch=Scratch(float32, 2),
    float_scratch=Scratch(float32, 1),
)
def FasterGelu(steps: Any, dst: Any, src: Any, power: Any) -> None:
    """``dst[i] = x / (1 + e ** (-1.702 * x))``, in float."""
    steps.muls(power, src, -1.702)
    steps.exp(power, power)
    steps.adds(power, power, 1.0)
    steps.div(dst, src, power)


def Silu(dstLocal: Any, srcLocal: Any, dataSize: Any) -> None:
    """``dst[i] = src[i] / (1 + e ** -src[i])``, in the element type; dst must not be src."""
    _swish("Silu", dstLocal, srcLocal, dataSize, 1.0)


def Swish(dstLocal: Any, srcLocal: Any, dataSize: Any, scalarValue: Any) -> None:
    """``dst[i] = src[i] / (1 + e ** (-scalarValue * src[i]))``, in the element type."""
    _swish("Swish", dstLocal, srcLocal, dataSize, scalarValue)


def _swish(name: str, dst: Any, src: Any, count: Any, beta: Any) -> None:
    frame = sys._getframe(2)
    core, _, number = checked(name, (dst, src), ("dstLocal", "srcLocal"), count)
    # The factor is rounded to the element type, negated in float and rounded again.
    scalar = float(dst.dtype.numpy.type(-np.float32(dst.dtype.numpy.type(beta))))

    def formula(steps: Any, out: Any, values: Any) -> None:
        steps.muls(out, values, scalar)
        steps.exp(out, out)
        steps.adds(out, out, 1.0)
        steps.div(out, values, out)

    def on_950(steps: RegisterSteps) -> list[Plan]:
        values = steps.load(src)
        result = steps.register(values.dtype)
        formula(steps, result, values)
        return steps.finish(dst, result)

    with composite(core, frame):
        if core.arch is Arch.DAV_3510:
            key = (name, dst._key, src._key, number, scalar, core.numeric_mode)
            run_registers(core, key, name, number, on_950, frame)
        elif number:
            in_pieces(number, number, lambda steps, at: formula(steps, dst[at], src[at]))


declare_high_level(Silu, HALF_FLOAT, _PAGE.format("Silu"))
declare_high_level(Swish, HALF_FLOAT, _PAGE.format("Swish"))
