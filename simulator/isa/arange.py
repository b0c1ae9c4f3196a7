"""Arange, formerly ArithProgression: an arithmetic progression with a step.

On 910B the library stores the first block with the scalar unit and adds multiples of the step to
blocks and repeats; it fills the last block it touches. On 950 it is one vector function. Source:
mirror-cann/asc-devkit docs/zh/api/SIMD-API/高阶API/索引计算/Arange-94.md,
impl/adv_api/detail/index/arithprogression.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.enums import Arch, HardEvent, PipeID
from simulator.errors import ArgumentError
from simulator.instruction import WRITE, Plan, VectorWork
from simulator.isa.composite import hand_over, recorded_at
from simulator.isa.families import (
    MASK_PLACEHOLDER,
    check_count,
    check_scalar,
    declare,
    publish,
    require_local,
    spec_for,
)
from simulator.isa.lanes import BLOCK, REPEAT, check_tensor, dense_operand, dense_view
from simulator.isa.params import UnaryRepeatParams
from simulator.isa.progression import first_values, register_rows, store_first
from simulator.isa.sync import PipeBarrier
from simulator.isa.system import ResetMask, SetVectorMask
from simulator.isa.vector_scalar import Adds

if TYPE_CHECKING:
    from types import FrameType

    from simulator.core import AICore
    from simulator.dtypes import DType
    from simulator.instruction import InstructionSpec
    from simulator.tensor import LocalTensor

_PAGE: Final = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/高阶API/索引计算/Arange-94.md"


def _arange_rule() -> None:
    """``dst[i] = firstValue + i * diffValue`` for ``count`` elements; ``diffValue`` >= 0.

    Floating-point values are rounded at every step: first elements, blocks of 32 bytes (910B),
    repeats of 256 bytes. 910B writes whole blocks: up to 31 bytes behind ``count`` elements change.
    """


_ARANGE = declare(
    _arange_rule,
    "index",
    (("dst", WRITE),),
    {
        Arch.DAV_2201: "int16_t half int32_t float",
        Arch.DAV_3510: "int16_t half int32_t float int64_t",
    },
    _PAGE,
    forms=("count",),
    name="Arange",
)


def Arange(dst: Any, firstValue: Any, diffValue: Any, count: Any) -> None:
    """Fill with an arithmetic progression; formerly ``ArithProgression``."""
    frame = sys._getframe(1)
    core = require_local("Arange", "dst", dst)._core
    spec = spec_for("Arange", core)
    spec.require(core.arch, dst.dtype, "count")
    first = check_scalar(spec, dst.dtype, firstValue, "firstValue")
    step = check_scalar(spec, dst.dtype, diffValue, "diffValue")
    number = check_count(spec, count)
    if number < 1 or step < 0:
        raise ArgumentError(
            "count must be positive and diffValue not negative",
            api="Arange",
            argument="count" if number < 1 else "diffValue",
            got=f"diffValue {diffValue}, count {count}",
            legal="diffValue >= 0, count > 0",
            source=spec.source,
        )
    size = dst.dtype.itemsize
    if core.arch is Arch.DAV_3510:
        check_tensor("Arange", "dst", dst, number * size, spec.source)
        core.issue(_plan(core, spec, dst, number), (first, step), frame)
        return
    per = BLOCK // size
    written = number if number <= per else -(-number // per) * per
    check_tensor("Arange", "dst", dst, written * size, spec.source)
    with recorded_at(core, frame):
        _by_library(core, dst, (first, step), number, frame)


ArithProgression = Arange
publish(Arange, _ARANGE)


# -- 910B --------------------------------------------------------------------------------------


def _times(step: Any, number: int, dtype: DType) -> Any:
    """Return ``step * number`` as the library casts it to the element type."""
    if dtype.is_float:
        return dtype.numpy.type(np.float32(step) * np.float32(number))
    return first_values(0, dtype, 2, int(step) * number)[1]


def _by_library(
    core: AICore, dst: LocalTensor, values: tuple[Any, Any], number: int, frame: FrameType
) -> None:
    first, step = values
    dtype = dst.dtype
    per, lanes = BLOCK // dtype.itemsize, REPEAT // dtype.itemsize
    if number <= per:
        hand_over(core, HardEvent.V_S, frame)
    store_first(dst, first_values(first, dtype, min(number, per), step))
    hand_over(core, HardEvent.S_V, frame)
    if number <= per:
        return
    SetVectorMask(0, (1 << per) - 1)
    blocks = 8 if number > lanes else -(-number // per)
    _add_in_turn(
        dst, _times(step, per, dtype), per, range(1, blocks), UnaryRepeatParams(1, 1, 1, 1)
    )
    if number <= lanes:
        return
    ResetMask()
    PipeBarrier(PipeID.PIPE_V)
    whole, rest = divmod(number, lanes)
    gap, params = _times(step, lanes, dtype), UnaryRepeatParams(1, 1, 8, 8)
    _add_in_turn(dst, gap, lanes, range(1, whole), params)
    if rest:
        SetVectorMask(-(-rest // per) * per)
        _add_in_turn(dst, gap, lanes, range(whole, whole + 1), params)


def _add_in_turn(
    dst: LocalTensor, gap: Any, width: int, rows: range, params: UnaryRepeatParams
) -> None:
    """Each row of ``width`` elements = the row before it + ``gap``."""
    PipeBarrier(PipeID.PIPE_V)
    for row in rows:
        target, source = dst[row * width], dst[(row - 1) * width]
        Adds(target, source, gap, MASK_PLACEHOLDER, 1, params, False)
        PipeBarrier(PipeID.PIPE_V)


# -- 950 ---------------------------------------------------------------------------------------


def _plan(core: AICore, spec: InstructionSpec, dst: LocalTensor, number: int) -> Plan:
    key = ("Arange", dst._key, number, core.numeric_mode)
    plan = core.plans.get(key)
    if plan is None:
        lanes = REPEAT // min(dst.dtype.itemsize, 4)
        plan = core.plans[key] = Plan(
            spec,
            "count",
            [dense_operand("dst", WRITE, dst, number)],
            partial(_run, dense_view(core, dst, number), lanes, dst.dtype, core.numeric_mode),
            work=VectorWork(dst.dtype.name, -(-number // lanes), number, False, False),
            details={"count": number},
        )
    return plan


def _run(out: Any, lanes: int, dtype: DType, mode: int, first: Any, step: Any) -> None:
    rows = register_rows(first, step, dtype, (-(-len(out) // lanes), lanes), mode)
    out[:] = rows.reshape(-1)[: len(out)]
