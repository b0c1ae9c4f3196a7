"""Sign, ClampMax and ClampMin.

Source: mirror-cann/asc-devkit impl/adv_api/detail/math (sign, clamp).
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from simulator.dtypes import int64_t
from simulator.enums import CMPMODE, Arch
from simulator.errors import ArgumentError
from simulator.isa.highlevel.calls import (
    HALF_FLOAT,
    Scratch,
    checked,
    composite,
    declare_high_level,
    in_pieces,
    parse_unary,
    piece_size,
    run_registers,
    temporary_bytes,
)
from simulator.isa.vector_scalar import Maxs, Mins

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from simulator.core import AICore
    from simulator.instruction import InstructionSpec, Plan
    from simulator.isa.highlevel.registers import RegisterSteps
    from simulator.isa.highlevel.steps import UbSteps
    from simulator.tensor import LocalTensor

_PAGE: Final = "数学计算/{0}接口/{0}"
_SLOTS: Final = 3
_BLOCK: Final = 32


def Sign(dst: Any, src: Any, *args: Any, calCount: Any = None, isReuseSource: bool = False) -> None:
    """``dst[i]`` = -1, 0 or 1 as ``src[i]`` is negative, zero (or NaN) or positive.

    ``(dst, src[, sharedTmpBuffer][, calCount])``; ``dst`` must not be ``src``.
    """
    tmp, count = parse_unary("Sign", args, calCount)
    core, spec, number = checked("Sign", (dst, src), ("dst", "src"), count)
    frame = sys._getframe(1)
    with composite(core, frame):
        if core.arch is Arch.DAV_3510:
            key = ("Sign", dst._key, src._key, number)
            run_registers(core, key, "Sign", number, partial(_sign_950, dst, src), frame)
        elif number:
            _sign_910b(core, spec, dst, src, tmp, number)


def _sign_910b(
    core: AICore,
    spec: InstructionSpec,
    dst: LocalTensor,
    src: LocalTensor,
    tmp: LocalTensor | None,
    count: int,
) -> None:
    space = temporary_bytes(core, spec, tmp)
    split = piece_size(spec, space.nbytes, Scratch(dst.dtype, _SLOTS))
    bits = -(-split // 8 // _BLOCK) * _BLOCK
    below, above = space, space[bits]
    scalar = space[2 * bits].ReinterpretCast(dst.dtype)
    chosen = scalar[split]

    def body(steps: UbSteps, at: int) -> None:
        out, values = dst[at], src[at]
        steps.duplicate(out, 0)
        steps.compare(below, values, out, CMPMODE.LT)
        steps.compare(above, values, out, CMPMODE.GT)
        # 1 unless negative, and -1 unless positive.
        steps.duplicate(scalar, 1)
        steps.choose(chosen, below, out, scalar)
        steps.duplicate(scalar, -1)
        steps.choose(out, above, out, scalar)
        steps.add(out, chosen, out)

    in_pieces(count, split, body)


def _sign_950(dst: LocalTensor, src: LocalTensor, steps: RegisterSteps) -> list[Plan]:
    zero, one, minus, first, result = (steps.register(dst.dtype) for _ in range(5))
    below, above = steps.mask(), steps.mask()
    steps.duplicate(zero, 0)
    steps.duplicate(one, 1)
    steps.duplicate(minus, -1)
    values = steps.load(src)
    steps.compare(below, values, 0, CMPMODE.LT)
    steps.compare(above, values, 0, CMPMODE.GT)
    steps.choose(first, below, minus, zero)
    steps.choose(result, above, one, first)
    return steps.finish(dst, result)


declare_high_level(
    Sign,
    {Arch.DAV_2201: "half float", Arch.DAV_3510: f"half float {int64_t.name}"},
    _PAGE.format("Sign"),
)


# -- one bound ---------------------------------------------------------------------------------


def ClampMax(dst: Any, src: Any, *args: Any) -> None:
    """``dst[i] = min(src[i], scalar)``.

    ``(dst, src[, sharedTmpBuffer], scalar, calCount)``; the temporary buffer is not used.
    """
    _clamp("ClampMax", Mins, dst, src, args, sys._getframe(1))


def ClampMin(dst: Any, src: Any, *args: Any) -> None:
    """``dst[i] = max(src[i], scalar)``.

    ``(dst, src[, sharedTmpBuffer], scalar, calCount)``; the temporary buffer is not used.
    """
    _clamp("ClampMin", Maxs, dst, src, args, sys._getframe(1))


def _clamp(
    name: str,
    basic: Callable[..., Any],
    dst: Any,
    src: Any,
    args: tuple[Any, ...],
    frame: FrameType,
) -> None:
    given = args[1:] if len(args) == 3 else args
    if len(given) != 2:
        raise ArgumentError(
            "takes (dst, src[, sharedTmpBuffer], scalar, calCount)",
            api=name,
            got=f"{len(args) + 2} arguments",
            legal="4 or 5 arguments",
        )
    core, _, number = checked(name, (dst, src), ("dst", "src"), given[1])
    with composite(core, frame):
        basic(dst, src, given[0], number)


for _call in (ClampMax, ClampMin):
    declare_high_level(_call, HALF_FLOAT, f"数学计算/Clamp接口/{_call.__name__}")
