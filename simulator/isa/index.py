"""CreateVecIndex: consecutive values.

On 910B the library stores the first values with the scalar unit and adds to blocks and repeats of
what is there, so that floating-point values are rounded at every step. On 950 it is one vector
function. Source: mirror-cann/asc-devkit impl/basic_api (dav_c220,
dav_3510)/kernel_operator_vec_createvecindex_impl.h and docs/zh/api/SIMD-API/基础API/Memory矢量计算/
数据填充/CreateVecIndex.md.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.enums import Arch, HardEvent, PipeID
from simulator.instruction import WRITE, Operand, Plan, VectorWork
from simulator.isa.blocks import lane_rows, prefix_parts
from simulator.isa.composite import hand_over, recorded_at
from simulator.isa.families import (
    check_count,
    check_scalar,
    declare,
    publish,
    require_local,
    resolve_mask,
    spec_for,
)
from simulator.isa.lanes import (
    BLOCK,
    REPEAT,
    Active,
    Strided,
    check_tensor,
    dense_operand,
    dense_view,
    strided_operand,
)
from simulator.isa.params import UnaryRepeatParams, check_range
from simulator.isa.progression import first_values, register_rows, store_first
from simulator.isa.sync import PipeBarrier
from simulator.isa.vector_scalar import Adds

if TYPE_CHECKING:
    from types import FrameType

    from simulator.core import AICore
    from simulator.instruction import InstructionSpec
    from simulator.tensor import LocalTensor

_PAGE: Final = (
    "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据填充/CreateVecIndex.md"
)


def _index_rule() -> None:
    """``dst[i] = firstValue + i``; lane ``l`` of repeat ``r`` counts as ``i = r * lanes + l``.

    Values above 2^11 (half) or 2^24 (float) are rounded at every step by which the call gets there:
    single elements, then (910B) blocks of 32 bytes, then repeats.
    """


_INDEX = declare(
    _index_rule,
    "fill",
    (("dst", WRITE),),
    {
        Arch.DAV_2201: "int16_t half int32_t float",
        Arch.DAV_3510: "int16_t half int32_t float int8_t int64_t",
    },
    _PAGE,
    count_only={Arch.DAV_3510: "int8_t int64_t"},
    name="CreateVecIndex",
)


def CreateVecIndex(
    dst: Any,
    firstValue: Any,
    count: Any = None,
    repeatTime: Any = None,
    dstBlkStride: Any = 1,
    dstRepStride: Any = 8,
    *,
    mask: Any = None,
) -> None:
    """Count up; ``(dst, firstValue, mask, repeatTime, dstBlkStride, dstRepStride)`` with a mask."""
    frame = sys._getframe(1)
    core = require_local("CreateVecIndex", "dst", dst)._core
    spec = spec_for("CreateVecIndex", core)
    spec.require(core.arch, dst.dtype, "count" if repeatTime is None else "mask")
    first = check_scalar(spec, dst.dtype, firstValue, "firstValue")
    on_950 = core.arch is Arch.DAV_3510
    if repeatTime is None:
        number = check_count(spec, count)
        check_tensor(spec.name, "dst", dst, number * dst.dtype.itemsize, spec.source)
        if on_950:
            core.issue(_plan_count(core, spec, dst, number), (first,), frame)
        elif number:
            with recorded_at(core, frame):
                _count_by_library(core, dst, first, number, frame)
        return
    check_range(spec.name, "dstBlkStride", dstBlkStride, 1, 65535, spec.source)
    check_range(spec.name, "dstRepStride", dstRepStride, 0, 255, spec.source)
    strides = (int(dstBlkStride), int(dstRepStride))
    chosen = mask if count is None else count
    if on_950 or core.counter_mode:
        lanes = REPEAT // dst.dtype.itemsize
        active = resolve_mask(core, spec, chosen, repeatTime, True, lanes)
        core.issue(_plan_mask(core, spec, dst, active, strides), (first,), frame)
        return
    check_range(spec.name, "repeatTime", repeatTime, 0, 255, spec.source)
    if repeatTime:
        with recorded_at(core, frame):
            _mask_by_library(core, dst, first, chosen, int(repeatTime), strides, frame)


publish(CreateVecIndex, _INDEX)


# -- 910B --------------------------------------------------------------------------------------


def _add(dst: LocalTensor, to: int, of: int, step: int, mask: Any, blk: int = 1) -> None:
    """Elements from ``to`` on = elements from ``of`` on + ``step``: one repeat, ``mask``."""
    Adds(dst[to], dst[of], step, mask, 1, UnaryRepeatParams(blk, blk, 8, 8))
    PipeBarrier(PipeID.PIPE_V)


def _fill_blocks(dst: LocalTensor, number: int, blk: int) -> None:
    """Continue the first block up to ``number`` elements of one repeat."""
    per = BLOCK // dst.dtype.itemsize
    whole, rest = divmod(number, per)
    for block in range(1, whole):
        _add(dst, block * per * blk, (block - 1) * per * blk, per, per)
    if whole and rest:
        _add(dst, whole * per * blk, (whole - 1) * per * blk, per, rest)


def _count_by_library(
    core: AICore, dst: LocalTensor, first: Any, number: int, frame: FrameType
) -> None:
    size = dst.dtype.itemsize
    per, lanes = BLOCK // size, REPEAT // size
    store_first(dst, first_values(first, dst.dtype, min(number, per)))
    hand_over(core, HardEvent.S_V, frame)
    _fill_blocks(dst, min(number, lanes), 1)
    whole, rest = divmod(number, lanes)
    for repeat in range(1, whole):
        _add(dst, repeat * lanes, (repeat - 1) * lanes, lanes, lanes)
    if whole and rest:
        _add(dst, whole * lanes, (whole - 1) * lanes, lanes, rest)


def _mask_by_library(
    core: AICore,
    dst: LocalTensor,
    first: Any,
    mask: Any,
    repeats: int,
    strides: tuple[int, int],
    frame: FrameType,
) -> None:
    size = dst.dtype.itemsize
    per, lanes = BLOCK // size, REPEAT // size
    blk, rep = strides
    values = first_values(first, dst.dtype, lanes)
    if isinstance(mask, int | np.integer):
        number = min(int(mask), lanes)
        chosen = list(range(min(number, per)))
    else:
        number = 0
        chosen = _bits(mask, lanes)
    if not chosen:
        return
    store_first(dst, values[chosen], [lane // per * per * blk + lane % per for lane in chosen])
    hand_over(core, HardEvent.S_V, frame)
    if number > per:
        _fill_blocks(dst, number, blk)
    for repeat in range(1, repeats):
        _add(dst, repeat * rep * per, (repeat - 1) * rep * per, lanes, mask, blk)


def _bits(mask: Any, lanes: int) -> list[int]:
    words = [int(word) for word in mask]
    return [
        lane
        for lane in range(lanes)
        if lane // 64 < len(words) and words[lane // 64] >> lane % 64 & 1
    ]


# -- 950 ---------------------------------------------------------------------------------------


def _plan_count(core: AICore, spec: InstructionSpec, dst: LocalTensor, number: int) -> Plan:
    key = (spec.name, dst._key, number, core.numeric_mode)
    plan = core.plans.get(key)
    if plan is None:
        # 64-bit values are made two registers at a time.
        lanes = REPEAT // min(dst.dtype.itemsize, 4)
        out = dense_view(core, dst, number)
        plan = core.plans[key] = Plan(
            spec,
            "count",
            [dense_operand("dst", WRITE, dst, number)],
            partial(_run_count, out, lanes, dst.dtype, core.numeric_mode) if number else None,
            work=VectorWork(dst.dtype.name, -(-number // lanes), number, False, False),
            details={"count": number},
        )
    return plan


def _run_count(out: Any, lanes: int, dtype: Any, mode: int, first: Any) -> None:
    rows = register_rows(first, dtype.numpy.type(1), dtype, (-(-len(out) // lanes), lanes), mode)
    out[:] = rows.reshape(-1)[: len(out)]


def _plan_mask(
    core: AICore, spec: InstructionSpec, dst: LocalTensor, active: Active, strides: tuple[int, int]
) -> Plan:
    key = (spec.name, dst._key, active, strides, core.numeric_mode)
    plan = core.plans.get(key)
    if plan is not None:
        return plan
    dtype = dst.dtype
    lanes, per = REPEAT // dtype.itemsize, BLOCK // dtype.itemsize
    op = Strided("dst", WRITE, dst, *strides)
    operand: Operand = strided_operand(op, active, lanes)
    reach = max((a.span()[1] for a in operand.accesses), default=dst.addr)
    check_tensor(spec.name, "dst", dst, reach - dst.addr, spec.source)
    typed = core.local.typed(dtype.numpy)
    if active.lanes is None:
        parts: Any = [
            (part, part.view(core, dst, dtype.numpy, *strides))
            for part in prefix_parts(active, lanes, per)
        ]
        store = partial(_store_parts, parts, per)
    else:
        store = partial(_store_lanes, typed, lane_rows(op, active), list(active.lanes))
    shape = (active.repeats, lanes)
    plan = core.plans[key] = Plan(
        spec,
        "mask" if active.lanes is None else "bit mask",
        [operand],
        partial(_run_mask, store, dtype, shape, core.numeric_mode) if active.elements else None,
        work=VectorWork(dtype.name, active.repeats, active.elements, False, False),
        details={
            "repeatTime": active.repeats,
            "dstBlkStride": strides[0],
            "dstRepStride": strides[1],
        },
    )
    return plan


def _run_mask(store: Any, dtype: Any, shape: tuple[int, int], mode: int, first: Any) -> None:
    store(register_rows(first, dtype.numpy.type(1), dtype, shape, mode))


def _store_parts(parts: Any, per: int, rows: Any) -> None:
    for part, view in parts:
        np.copyto(view, part.of(rows, per))


def _store_lanes(typed: Any, places: Any, lanes: list[int], rows: Any) -> None:
    typed[places] = rows[:, lanes]
