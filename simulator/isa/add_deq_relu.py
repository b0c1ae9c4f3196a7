"""AddDeqRelu: a sum of integers, scaled to half and rectified.

Sources: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/复合计算/AddDeqRelu.md,
impl/basic_api/dav_c220/kernel_operator_vec_binary_impl.h and
impl/basic_api/dav_3510/kernel_operator_vec_binary_continuous_impl.h.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.core import FULL_MASK
from simulator.enums import Arch
from simulator.instruction import READ, WRITE
from simulator.isa.dequant import half_scale
from simulator.isa.families import (
    declare,
    fail_unless_tensor,
    masked_plan,
    plan_count,
    publish,
    spec_for,
)
from simulator.isa.params import BinaryRepeatParams
from simulator.isa.rules import Context, ElementRule, Rule, integer_or, saturated
from simulator.isa.selection import rectify
from simulator.numerics.dequant import scaled_half

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _rule() -> None:
    """``dst[i] = max(0, half((src0[i] + src1[i]) * scale))`` with the scale of SetDeqScale."""


def _add(out: NDArray[Any], left: Any, right: Any) -> None:
    np.add(left, right, out)


def _build(_: Rule, context: Context) -> Rule:
    add = integer_or("add")(_add, context._replace(dtypes=context.dtypes[1:]))
    scale = scaled_half(context.algo)

    def run(out: Any, src0: Any, src1: Any) -> None:
        total = np.empty(np.broadcast_shapes(src0.shape, src1.shape), src0.dtype)
        add(total, src0, src1)
        scale(total, out)
        rectify(out, out)

    return saturated(run, context)


_SPEC = declare(
    ElementRule(_rule, _build),
    "binary",
    (("dst", WRITE), ("src0", READ), ("src1", READ)),
    {Arch.DAV_2201: "half:int32_t:int32_t", Arch.DAV_3510: "half:int32_t:int32_t"},
    "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/复合计算/AddDeqRelu.md",
    name="AddDeqRelu",
)


def AddDeqRelu(
    dst: Any,
    src0: Any,
    src1: Any,
    count: Any = None,
    repeatTime: Any = None,
    repeatParams: Any = None,
    isSetMask: bool = True,
    *,
    mask: Any = None,
) -> None:
    """``dst[i] = max(0, half((src0[i] + src1[i]) * scale))`` with the scale of SetDeqScale."""
    tensors = (dst, src0, src1)
    try:
        core = dst._core
        key = ("AddDeqRelu", dst._key, src0._key, src1._key, count, core.numeric_mode)
    except AttributeError as error:
        raise fail_unless_tensor(error, "AddDeqRelu", *tensors) from None
    scale = half_scale(core)
    if repeatTime is None:
        plan = core.plans.get((*key, scale))
        if plan is None:
            spec = spec_for("AddDeqRelu", core)
            plan = core.plans[(*key, scale)] = plan_count(core, spec, tensors, count, algo=scale)
        if core.count_resets_mask:
            core.mask = FULL_MASK
            core.counter_mode = False
    else:
        plan = masked_plan(
            core, "AddDeqRelu", tensors, mask if count is None else count, repeatTime,
            repeatParams or BinaryRepeatParams(), isSetMask, algo=scale,
        )  # fmt: skip
    core.issue(plan, (), sys._getframe(1))


publish(AddDeqRelu, _SPEC)
