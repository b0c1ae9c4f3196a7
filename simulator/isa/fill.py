"""Duplicate and Brcb: fill tensors with one value, or blocks with one value each.

Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据填充
(Duplicate.md, Brcb.md), include/basic_api/kernel_operator_vec_duplicate_intf.h.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from simulator.core import FULL_MASK
from simulator.enums import Arch
from simulator.errors import UnsupportedError
from simulator.instruction import READ, WRITE, Access, Operand, Plan, VectorWork
from simulator.isa.blocks import UNSIGNED, as_params, first_element
from simulator.isa.families import (
    check_count,
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
from simulator.isa.lanes import BLOCK, check_tensor, dense_operand, dense_view
from simulator.isa.params import check_range
from simulator.isa.rearrange_params import BrcbRepeatParams
from simulator.tensor import LocalTensor

if TYPE_CHECKING:
    from types import FrameType

    from simulator.core import AICore

_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据填充/{}.md"

_TYPES_910B = "int16_t uint16_t half bfloat16_t int32_t uint32_t float"
_COUNT_ONLY_950 = (
    "bool int8_t uint8_t fp4x2_e2m1_t fp4x2_e1m2_t hifloat8_t fp8_e8m0_t fp8_e5m2_t fp8_e4m3fn_t "
    "complex32 int64_t uint64_t complex64"
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
    """``dst[i] = scalarValue``; on 950 also ``Duplicate(dst, src, count)``: ``dst[i] = src[0]``.

    The mask form is ``(dst, scalarValue, mask, repeatTime, dstBlockStride, dstRepeatStride)``.
    """
    np.copyto(out, scalar)


_DUPLICATE = declare(
    _fill,
    "fill",
    (("dst", WRITE),),
    {Arch.DAV_2201: _TYPES_910B, Arch.DAV_3510: f"{_TYPES_910B} {_COUNT_ONLY_950}"},
    _PAGE.format("Duplicate"),
    count_only={Arch.DAV_3510: _COUNT_ONLY_950},
    name="Duplicate",
)


def Duplicate(
    dst: Any,
    scalarValue: Any,
    count: Any = None,
    repeatTime: Any = None,
    dstBlockStride: Any = 1,
    dstRepeatStride: Any = 8,
    isSetMask: bool = True,
    *,
    mask: Any = None,
) -> None:
    """Fill with a scalar, or (950) with element 0 of a tensor."""
    if isinstance(scalarValue, LocalTensor):
        _duplicate_element(dst, scalarValue, count, sys._getframe(1))
        return
    try:
        core = dst._core
        key: Any = ("Duplicate", dst._key, count)
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
        chosen = mask if count is None else count
        active = resolve_mask(core, spec, chosen, repeatTime, isSetMask, lanes_of((dst,)))
        key = ("Duplicate", dst._key, active, dstBlockStride, dstRepeatStride)
        plan = core.plans.get(key)
        if plan is None:
            strides = _FillStrides(dstBlockStride, dstRepeatStride)
            plan = core.plans[key] = plan_mask(core, spec, (dst,), active, strides)
    scalar = plan.scalars.get(scalarValue) if type(scalarValue) is float else None
    if scalar is None:
        scalar = check_scalar(plan.spec, dst.dtype, scalarValue)
        plan.remember(scalarValue, scalar)
    core.issue(plan, (scalar,), sys._getframe(1))


publish(Duplicate, _DUPLICATE)


def _duplicate_element(dst: Any, src: LocalTensor, count: Any, frame: FrameType) -> None:
    """Issue ``Duplicate(dst, src, count)``, which spreads element 0 of ``src``."""
    core = require_local("Duplicate", "dst", dst)._core
    key = ("Duplicate element", dst._key, src._key, count)
    plan = core.plans.get(key)
    if plan is None:
        spec = spec_for("Duplicate", core)
        if core.arch is not Arch.DAV_3510:
            raise UnsupportedError(
                f"filling with an element of a tensor does not exist on {core.arch.family}",
                api="Duplicate",
                got="a tensor as scalarValue",
                legal="only on 950: Duplicate(dst, src, count)",
                fix="read the element with GetValue(0) and pass the number",
                source=spec.source,
            )
        if src.dtype is not dst.dtype:
            spec.require(core.arch, (dst.dtype, src.dtype), "count")
        plan = plan_count(core, spec, (dst,), count)
        element = first_element("Duplicate", "src", src, spec.source)
        plan.run = partial(plan.run, element)
        plan.operands = (*plan.operands, dense_operand("src", READ, src, 1))
        core.plans[key] = plan
    core.issue(plan, (), frame)


# -- Brcb --------------------------------------------------------------------------------------


def _brcb_rule() -> None:
    """Block ``j`` of repeat ``r`` of ``dst`` = element ``8*r + j`` of ``src``, in every lane.

    Works without a vector mask; on 910B the call leaves an all-ones mask.
    """


_BRCB_950 = (
    "int8_t uint8_t int16_t uint16_t half bfloat16_t int32_t uint32_t float int64_t uint64_t"
)
_BRCB = declare(
    _brcb_rule,
    "fill",
    (("dst", WRITE), ("src", READ)),
    {Arch.DAV_2201: _TYPES_910B, Arch.DAV_3510: _BRCB_950},
    _PAGE.format("Brcb"),
    forms=("repeat",),
    name="Brcb",
)

_BLOCKS = 8
"""Blocks of a repeat, each of which takes one source element."""


def Brcb(dst: Any, src: Any, repeatTime: Any, repeatParams: Any = None) -> None:
    """Spread each element of ``src`` over a 32-byte block of ``dst``."""
    try:
        core = dst._core
        key = ("Brcb", dst._key, src._key, repeatTime, repeatParams)
    except AttributeError as error:
        raise fail_unless_tensor(error, "Brcb", dst, src) from None
    params = as_params("Brcb", repeatParams, BrcbRepeatParams)
    key = ("Brcb", dst._key, src._key, repeatTime, params)
    plan = core.plans.get(key)
    if plan is None:
        plan = core.plans[key] = _plan_brcb(core, dst, src, repeatTime, params)
    if core.count_resets_mask:
        core.mask = FULL_MASK
    core.issue(plan, (), sys._getframe(1))


publish(Brcb, _BRCB)


def _plan_brcb(
    core: AICore, dst: LocalTensor, src: LocalTensor, repeat_time: Any, params: BrcbRepeatParams
) -> Plan:
    spec = spec_for("Brcb", core)
    require_local("Brcb", "src", src)
    types = dst.dtype if dst.dtype is src.dtype else (dst.dtype, src.dtype)
    spec.require(core.arch, types, "repeat")
    check_range("Brcb", "repeatTime", repeat_time, 0, 255, spec.source)
    repeats = check_count(spec, repeat_time)
    size = dst.dtype.itemsize
    blk, rep = params
    reach = BLOCK * ((repeats - 1) * rep + 7 * blk + 1) if repeats else 0
    check_tensor("Brcb", "dst", dst, reach, spec.source)
    check_tensor("Brcb", "src", src, repeats * _BLOCKS * size, spec.source)
    unsigned = UNSIGNED[size]
    out = as_strided(
        core.local.typed(unsigned)[dst.addr // size :],
        (repeats, _BLOCKS, BLOCK // size),
        (BLOCK * rep, BLOCK * blk, size),
    )
    values = dense_view(core, src, repeats * _BLOCKS).view(unsigned).reshape(repeats, _BLOCKS, 1)
    dims = ((repeats, BLOCK * rep), (_BLOCKS, BLOCK * blk))
    return Plan(
        spec,
        "repeat",
        [
            Operand("dst", WRITE, "UB", dst.dtype, (Access(dst.addr, BLOCK, dims),)),
            dense_operand("src", READ, src, repeats * _BLOCKS),
        ],
        partial(np.copyto, out, values) if repeats else None,
        work=VectorWork(dst.dtype.name, repeats, repeats * _BLOCKS * BLOCK // size, False, False),
        details={"repeatTime": repeats, **params._asdict()},
    )
