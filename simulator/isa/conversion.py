"""Cast: conversion between element types.

The legal pairs, the rounding modes and the arithmetic are in ``simulator.numerics``. Source:
mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/类型转换/Cast.md.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from simulator.core import FULL_MASK
from simulator.dtypes import DType
from simulator.enums import Arch, RoundMode
from simulator.errors import ArgumentError, SimulatorError
from simulator.instruction import READ, WRITE, Plan, VectorWork
from simulator.isa.families import (
    check_count,
    declare,
    fail_unless_tensor,
    lanes_of,
    publish,
    require_local,
    resolve_mask,
    spec_for,
)
from simulator.isa.lanes import (
    REPEAT,
    Active,
    Strided,
    bind_strided,
    check_tensor,
    dense_operand,
    dense_view,
)
from simulator.isa.params import UnaryRepeatParams
from simulator.numerics.convert import cast_rules, caster

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.core import AICore
    from simulator.instruction import InstructionSpec

_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/类型转换/Cast.md"


def _cast_rule() -> None:
    """``dst[i] = convert(src[i])`` with the given rounding mode.

    The legal pairs and modes are a table per architecture (``ascsim isa Cast``).
    """


def _pairs() -> dict[Arch, str]:
    return {
        arch: " ".join(f"{dst.name}:{src.name}" for src, dst in cast_rules(arch))
        for arch in (Arch.DAV_2201, Arch.DAV_3510)
    }


_CAST = declare(
    _cast_rule, "cast", (("dst", WRITE), ("src", READ)), _pairs(), _PAGE, name="Cast"
)


def Cast(
    dst: Any,
    src: Any,
    roundMode: Any,
    count: Any = None,
    repeatTime: Any = None,
    repeatParams: Any = None,
    isSetMask: bool = True,
    *,
    mask: Any = None,
) -> None:
    """Convert elements; the widest type decides how many lanes a repeat has."""
    try:
        core = dst._core
        key = ("Cast", dst._key, src._key, roundMode, count, core.numeric_mode)
    except AttributeError as error:
        raise fail_unless_tensor(error, "Cast", dst, src) from None
    if repeatTime is None:
        plan = core.plans.get(key)
        if plan is None:
            plan = core.plans[key] = _plan_count(core, dst, src, roundMode, count)
        if core.count_resets_mask:
            core.mask = FULL_MASK
            core.counter_mode = False
    else:
        plan = _masked(
            core, dst, src, roundMode, mask if count is None else count, repeatTime,
            repeatParams, isSetMask,
        )  # fmt: skip
    core.issue(plan, (), sys._getframe(1))


def _converter(
    core: AICore, spec: InstructionSpec, src: DType, dst: DType, mode: Any
) -> Callable[[Any, Any], None]:
    try:
        chosen = RoundMode(mode)
    except ValueError:
        raise ArgumentError(
            "roundMode is no rounding mode",
            api="Cast",
            argument="roundMode",
            got=repr(mode),
            legal=", ".join(f"RoundMode.{m.name}" for m in RoundMode),
        ) from None
    try:
        convert = caster(core.arch, src, dst, chosen)
    except SimulatorError as error:
        raise error.with_context(api="Cast", source=spec.source)
    return lambda out, source: convert(source, out)


def _plan_count(core: AICore, dst: Any, src: Any, mode: Any, count: Any) -> Plan:
    spec = spec_for("Cast", core)
    for name, tensor in (("dst", dst), ("src", src)):
        require_local("Cast", name, tensor)
    spec.require(core.arch, _pair(dst, src), "count")
    number = check_count(spec, count)
    convert = _converter(core, spec, src.dtype, dst.dtype, mode)
    for name, tensor in (("dst", dst), ("src", src)):
        check_tensor("Cast", name, tensor, tensor.dtype.bytes_for(number), spec.source)
    lanes = lanes_of((dst, src))
    return Plan(
        spec,
        "count",
        [dense_operand("dst", WRITE, dst, number), dense_operand("src", READ, src, number)],
        partial(convert, dense_view(core, dst, number), dense_view(core, src, number))
        if number
        else None,
        work=VectorWork(
            f"{src.dtype.name}:{dst.dtype.name}",
            -(-number // lanes),
            number,
            core.count_resets_mask,
            number % lanes > 0,
        ),
        details={"count": number, "roundMode": RoundMode(mode).name},
    )


def _pair(dst: Any, src: Any) -> Any:
    return dst.dtype if dst.dtype is src.dtype else (dst.dtype, src.dtype)


def _masked(
    core: AICore,
    dst: Any,
    src: Any,
    mode: Any,
    mask: Any,
    repeat_time: Any,
    params: Any,
    is_set_mask: bool,
) -> Plan:
    spec = spec_for("Cast", core)
    for name, tensor in (("dst", dst), ("src", src)):
        require_local("Cast", name, tensor)
    lanes = lanes_of((dst, src))
    active = resolve_mask(core, spec, mask, repeat_time, is_set_mask, lanes)
    chosen = params or UnaryRepeatParams()
    key = ("Cast", dst._key, src._key, mode, active, chosen, core.numeric_mode)
    plan = core.plans.get(key)
    if plan is None:
        plan = core.plans[key] = _plan_mask(core, spec, dst, src, mode, active, chosen, lanes)
    return plan


def _plan_mask(
    core: AICore,
    spec: InstructionSpec,
    dst: Any,
    src: Any,
    mode: Any,
    active: Active,
    params: UnaryRepeatParams,
    lanes: int,
) -> Plan:
    spec.require(core.arch, _pair(dst, src), "mask")
    convert = _converter(core, spec, src.dtype, dst.dtype, mode)
    strides = params.strides()
    ops = [
        Strided("dst", WRITE, dst, *strides[0]),
        Strided("src", READ, src, *strides[1]),
    ]
    operands, run = bind_strided(core, "Cast", ops, active, lanes, convert, spec.source)
    return Plan(
        spec,
        "mask" if active.lanes is None else "bit mask",
        operands,
        run,
        work=VectorWork(
            f"{src.dtype.name}:{dst.dtype.name}", active.repeats, active.elements, False, False
        ),
        details={"roundMode": RoundMode(mode).name, "repeatTime": active.repeats, **params._asdict()},
    )


publish(Cast, _CAST)
