"""Duplicate: fill a tensor with one value.

Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据填充/Duplicate.md.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

from simulator.core import FULL_MASK
from simulator.enums import Arch
from simulator.instruction import WRITE
from simulator.isa.families import (
    check_scalar,
    declare,
    fail_unless_tensor,
    lanes_of,
    plan_count,
    plan_mask,
    publish,
    require_local,
    resolve_mask,
    spec_for,
)
from simulator.isa.params import check_range

_PAGE = (
    "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据填充/Duplicate.md"
)


class _FillStrides(NamedTuple):
    """Strides of the one operand of a mask-form Duplicate, in 32-byte blocks."""

    dstBlockStride: int
    dstRepeatStride: int

    def strides(self) -> tuple[tuple[int, int], ...]:
        return ((self.dstBlockStride, self.dstRepeatStride),)

    def check(self, api: str) -> None:
        check_range(api, "dstBlockStride", self.dstBlockStride, 0, 65535)
        check_range(api, "dstRepeatStride", self.dstRepeatStride, 0, 255)


def _fill(out: Any, scalar: Any) -> None:
    """``dst[i] = scalarValue``."""
    np.copyto(out, scalar)


_DUPLICATE = declare(
    _fill,
    "fill",
    (("dst", WRITE),),
    {
        Arch.DAV_2201: "int16_t uint16_t half bfloat16_t int32_t uint32_t float",
        Arch.DAV_3510: "int16_t uint16_t half bfloat16_t int32_t uint32_t float bool int8_t uint8_t "
        "int64_t uint64_t",
    },
    _PAGE,
    count_only={Arch.DAV_3510: "bool int8_t uint8_t int64_t uint64_t"},
    name="Duplicate",
)


def Duplicate(
    dst: Any,
    scalarValue: Any,
    count: Any = None,
    repeatTime: Any = None,
    dstBlockStride: Any = 1,
    dstRepeatStride: Any = 8,
    *,
    mask: Any = None,
) -> None:
    """Fill with a scalar; ``(dst, scalarValue, mask, repeatTime, dstBlockStride, dstRepeatStride)``."""
    try:
        core = dst._core
        key = ("Duplicate", dst._key, count)
    except AttributeError as error:
        raise fail_unless_tensor(error, "Duplicate", dst) from None
    if repeatTime is None:
        plan = core.plans.get(key)
        if plan is None:
            plan = core.plans[key] = plan_count(core, spec_for("Duplicate", core), (dst,), count)
        if core.count_resets_mask:
            core.mask = FULL_MASK
            core.counter_mode = False
    else:
        spec = spec_for("Duplicate", core)
        require_local("Duplicate", "dst", dst)
        chosen = mask if count is None else count
        active = resolve_mask(core, spec, chosen, repeatTime, True, lanes_of((dst,)))
        key = ("Duplicate", dst._key, active, dstBlockStride, dstRepeatStride)
        plan = core.plans.get(key)
        if plan is None:
            strides = _FillStrides(dstBlockStride, dstRepeatStride)
            plan = core.plans[key] = plan_mask(core, spec, (dst,), active, strides)
    core.issue(plan, (check_scalar(plan.spec, dst.dtype, scalarValue),), sys._getframe(1))


publish(Duplicate, _DUPLICATE)
