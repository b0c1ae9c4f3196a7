"""Xor. Source: mirror-cann/asc-devkit impl/adv_api/detail/math/xor."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.enums import Arch
from simulator.isa.highlevel.calls import (
    Scratch,
    checked,
    composite,
    declare_high_level,
    in_pieces,
    parse_unary,
    run_registers,
    scratch_tensors,
)
from simulator.isa.logic import And, Not, Or

if TYPE_CHECKING:
    from simulator.instruction import Plan
    from simulator.isa.highlevel.registers import RegisterSteps
    from simulator.isa.highlevel.steps import UbSteps
    from simulator.tensor import LocalTensor

_WORDS: Final = "int16_t uint16_t"


def Xor(
    dst: Any, src0: Any, src1: Any, *args: Any, calCount: Any = None, isReuseSource: bool = False
) -> None:
    """``dst[i] = src0[i] ^ src1[i]``; on 910B ``(a | b) & ~(a & b)``.

    ``(dst, src0, src1[, sharedTmpBuffer][, calCount])``.
    """
    tmp, count = parse_unary("Xor", args, calCount)
    core, spec, number = checked("Xor", (dst, src0, src1), ("dst", "src0", "src1"), count)
    frame = sys._getframe(1)
    with composite(core, frame):
        if core.arch is Arch.DAV_3510:
            key = ("Xor", dst._key, src0._key, src1._key, number)
            run_registers(core, key, "Xor", number, partial(_on_950, dst, src0, src1), frame)
        elif number:
            split, (either,) = scratch_tensors(core, spec, tmp, Scratch(dst.dtype, 1))

            def body(steps: UbSteps, at: int) -> None:
                out, a, b = dst[at], src0[at], src1[at]
                steps.tensors(And, out, a, b)
                steps.tensors(Or, either, a, b)
                steps.tensors(Not, out, out)
                steps.tensors(And, out, either, out)

            in_pieces(number, split, body)


def _on_950(
    dst: LocalTensor, src0: LocalTensor, src1: LocalTensor, steps: RegisterSteps
) -> list[Plan]:
    """One exclusive or, which has no basic call: the record names it as Or."""
    a, b, result = steps.load(src0), steps.load(src1), steps.register(dst.dtype)
    steps.apply("Or", result, (a, b), lambda out, x, y: np.bitwise_xor(x, y, out=out))
    return steps.finish(dst, result)


declare_high_level(
    Xor,
    {Arch.DAV_2201: _WORDS, Arch.DAV_3510: _WORDS},
    "数学计算/Xor接口/Xor",
    ("src0", "src1"),
)
