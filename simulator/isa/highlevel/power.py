"""Power: a tensor or scalar raised to a tensor or scalar.

Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/高阶API/数学计算/Power接口/Power.md and
impl/adv_api/detail/math/power.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from simulator.enums import Arch
from simulator.errors import ArgumentError
from simulator.instruction import READ, WRITE
from simulator.isa.checks import check_scalar, require_local
from simulator.isa.declarations import declare, publish
from simulator.isa.highlevel import power_2201, power_3510
from simulator.isa.highlevel.calls import (
    PAGE,
    checked,
    composite,
    in_pieces,
    parse_unary,
    run_registers,
)
from simulator.tensor import LocalTensor

if TYPE_CHECKING:
    from simulator.core import AICore
    from simulator.instruction import InstructionSpec

_TYPES: Final = {
    Arch.DAV_2201: "half float int32_t",
    Arch.DAV_3510: "int8_t uint8_t int16_t uint16_t int32_t uint32_t half float",
}


def Power(
    dst: Any, src0: Any, src1: Any, *args: Any, calCount: Any = None, isReuseSource: bool = False
) -> None:
    """``dst[i] = src0[i] ** src1[i]``; one of ``src0`` and ``src1`` may be a scalar.

    ``(dst, src0, src1[, sharedTmpBuffer][, calCount])``. Of half and float it is
    ``e ** (src1 * ln |src0|)`` in float, with the sign and the special cases of C's powf: a
    negative base with a fractional exponent gives NaN. Integers wrap around; a negative exponent
    gives what is left of the fraction.
    """
    tmp, count = parse_unary("Power", args, calCount)
    sides = (src0, src1)
    sources = [side for side in sides if isinstance(side, LocalTensor)]
    if not sources:
        raise ArgumentError(
            "one of the operands is a tensor",
            api="Power",
            got=f"{src0!r} and {src1!r}",
            legal="a LocalTensor and a scalar, or two LocalTensors",
        )
    labels = [f"src{i}" for i, side in enumerate(sides) if isinstance(side, LocalTensor)]
    if isinstance(dst, LocalTensor):
        require_local("Power", "dst", dst)
    number = sources[0].length if count is None else count
    core, spec, number = checked("Power", (dst, *sources), ("dst", *labels), number)
    given = tuple(
        side
        if isinstance(side, LocalTensor)
        else check_scalar(spec, sources[0].dtype, side, f"src{i}")
        for i, side in enumerate(sides)
    )
    frame = sys._getframe(1)
    with composite(core, frame):
        if core.arch is Arch.DAV_3510:
            _on_950(core, dst, given, number, frame)
        elif number:
            _on_910b(core, spec, dst, given, tmp, number)


def _on_910b(
    core: AICore,
    spec: InstructionSpec,
    dst: LocalTensor,
    sides: tuple[Any, ...],
    tmp: LocalTensor | None,
    count: int,
) -> None:
    split, body = power_2201.prepared(core, spec, dst, sides, tmp)
    in_pieces(count, split, body)


def _on_950(core: AICore, dst: LocalTensor, sides: tuple[Any, ...], count: int, frame: Any) -> None:
    if not count:
        return
    loops = 0
    if not dst.dtype.is_float:
        loops = power_3510.bits_of_exponents(dst, sides[1], count, frame)
    names = tuple(s._key if isinstance(s, LocalTensor) else s for s in sides)
    key = ("Power", dst._key, names, count, loops, core.numeric_mode)
    build = partial(power_3510.build, dst, sides, loops)
    run_registers(core, key, "Power", count, build, frame)


publish(
    Power,
    declare(
        Power,
        "high-level",
        (("dst", WRITE), ("src0", READ), ("src1", READ)),
        _TYPES,
        PAGE.format("数学计算/Power接口/Power"),
        forms=("count",),
    ),
)
