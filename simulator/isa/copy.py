"""Copy: move elements between places of UB under the vector mask.

Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据搬运, the pages of
Copy (UB to UB with mask, UB to UB continuous).
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from simulator.enums import Arch
from simulator.errors import ArgumentError, UnsupportedError
from simulator.instruction import READ, WRITE, Plan, VectorWork
from simulator.isa.blocks import as_params
from simulator.isa.families import (
    declare,
    fail_unless_tensor,
    plan_count,
    publish,
    require_local,
    resolve_mask,
    spec_for,
)
from simulator.isa.lanes import BLOCK, REPEAT, Active, Strided, bind_strided
from simulator.isa.rearrange_params import CopyRepeatParams

_PAGE = (
    "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据搬运/"
    "Copy\uff08UBToUB掩码式高维数据搬运\uff09.md"
)


def _copy_rule(out: Any, src: Any) -> None:
    """``dst[i] = src[i]``, bit exact.

    In Counter mode the mask is the number of elements of *each* repeat, and ``repeatTime`` counts.
    950 also has ``Copy(dst, src, count)``.
    """
    np.copyto(out, src)


_TYPES_910B = "int16_t uint16_t half bfloat16_t int32_t uint32_t float"
_TYPES_950 = (
    "int8_t uint8_t fp4x2_e2m1_t fp4x2_e1m2_t hifloat8_t fp8_e8m0_t fp8_e5m2_t fp8_e4m3fn_t "
    f"{_TYPES_910B} int64_t uint64_t"
)
_OPERANDS = (("dst", WRITE), ("src", READ))
_COPY = declare(
    _copy_rule,
    "move",
    _OPERANDS,
    {Arch.DAV_2201: _TYPES_910B},
    _PAGE,
    forms=("mask", "bit mask"),
    name="Copy",
)
declare(_copy_rule, "move", _OPERANDS, {Arch.DAV_3510: _TYPES_950}, _PAGE, name="Copy")


def Copy(
    dst: Any,
    src: Any,
    count: Any = None,
    repeatTime: Any = None,
    repeatParams: Any = None,
    isSetMask: bool = True,
    *,
    mask: Any = None,
) -> None:
    """Copy elements; ``Copy(dst, src, mask, repeatTime, repeatParams)`` or, on 950, a count."""
    try:
        core = dst._core
        key: Any = ("Copy", dst._key, src._key, count)
    except AttributeError as error:
        raise fail_unless_tensor(error, "Copy", dst, src) from None
    if repeatTime is None:
        plan = core.plans.get(key)
        if plan is None:
            spec = spec_for("Copy", core)
            if core.arch is not Arch.DAV_3510:
                raise UnsupportedError(
                    f"the count form does not exist on {core.arch.family}",
                    api="Copy",
                    got="Copy(dst, src, count)",
                    legal="Copy(dst, src, mask, repeatTime, CopyRepeatParams(…))",
                    fix="give mask, repeatTime and repeatParams, or use DataCopy between tensors",
                    source=spec.source,
                )
            plan = core.plans[key] = plan_count(core, spec, (dst, src), count)
    else:
        plan = _masked(
            dst, src, mask if count is None else count, repeatTime, repeatParams, isSetMask
        )
    core.issue(plan, (), sys._getframe(1))


publish(Copy, _COPY)


def _masked(dst: Any, src: Any, mask: Any, repeat_time: Any, given: Any, is_set_mask: bool) -> Plan:
    core = dst._core
    spec = spec_for("Copy", core)
    require_local("Copy", "src", src)
    types = dst.dtype if dst.dtype is src.dtype else (dst.dtype, src.dtype)
    spec.require(core.arch, types, "mask")
    params = as_params("Copy", given, CopyRepeatParams)
    lanes, per_block = REPEAT // dst.dtype.itemsize, BLOCK // dst.dtype.itemsize
    active = resolve_mask(core, spec, mask, repeat_time, is_set_mask, lanes)
    if core.counter_mode:
        # Each repeat takes the whole count, over as many blocks as that needs.
        lanes = core.mask[0] & 0xFFFF_FFFF
        active = Active(((0, int(repeat_time), lanes),) if lanes and repeat_time else ())
    key = ("Copy", dst._key, src._key, active, params)
    plan: Plan | None = core.plans.get(key)
    if plan is not None:
        return plan
    if params.dstStride == 0 and max((s[2] for s in active.segments), default=0) > per_block:
        raise ArgumentError(
            "dstStride 0 writes every block of a repeat to the same place",
            api="Copy",
            argument="dstStride",
            got=0,
            legal=">= 1",
            source=spec.source,
        )
    ops = [
        Strided(name, role, tensor, *stride)
        for name, role, tensor, stride in zip(
            ("dst", "src"), (WRITE, READ), (dst, src), params.strides(), strict=True
        )
    ]
    operands, run = bind_strided(core, "Copy", ops, active, lanes, _copy_rule, spec.source)
    repeats = -(-active.elements * dst.dtype.itemsize // REPEAT)
    plan = core.plans[key] = Plan(
        spec,
        "mask" if active.lanes is None else "bit mask",
        operands,
        run,
        work=VectorWork(
            dst.dtype.name, max(active.repeats, repeats), active.elements, False, False
        ),
        details={"repeatTime": active.repeats, **params._asdict()},
    )
    return plan
