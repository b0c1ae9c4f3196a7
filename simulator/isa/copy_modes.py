"""State that later copies depend on: the pad register and, on 950, loop mode.

Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据搬运辅助配置接口
(SetPadValue(ISASI).md, SetLoopModePara.md, ResetLoopModePara.md).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from simulator.core import AICore, current_core
from simulator.dtypes import as_dtype
from simulator.enums import Arch, DataCopyMVType, PipeID, TPosition
from simulator.errors import ArgumentError
from simulator.instruction import Plan
from simulator.isa.control import note_copy_state
from simulator.isa.copy_params import LoopModeParams
from simulator.isa.copy_plan import GM_TO_UB, UB_TO_GM, Geometry
from simulator.isa.families import check_scalar, declare, publish, spec_for

if TYPE_CHECKING:
    from simulator.instruction import InstructionSpec

_PAGE = (
    "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据搬运辅助配置接口/{}.md"
)
_MOVED = (
    "int8_t uint8_t int16_t uint16_t half bfloat16_t int32_t uint32_t float int64_t uint64_t double"
)


def _pad_value_rule() -> None:
    """Set the value that a padded copy without paddingValue fills its padding with."""


def _set_loop_rule() -> None:
    """Wrap later copies of one direction in two loops, until ResetLoopModePara."""


def _reset_loop_rule() -> None:
    """Take the loops around copies of one direction away."""


_PAD_VALUE = declare(
    _pad_value_rule, "copy", (),
    {Arch.DAV_2201: _MOVED, Arch.DAV_3510: _MOVED + " bool complex32 complex64"},
    _PAGE.format("SetPadValue(ISASI)"), pipe=PipeID.PIPE_S, forms=("scalar",), name="SetPadValue",
)  # fmt: skip
_SET_LOOP = declare(
    _set_loop_rule, "copy", (), {Arch.DAV_3510: ""}, _PAGE.format("SetLoopModePara"),
    pipe=PipeID.PIPE_S, forms=("scalar",), name="SetLoopModePara",
)  # fmt: skip
_RESET_LOOP = declare(
    _reset_loop_rule, "copy", (), {Arch.DAV_3510: ""}, _PAGE.format("ResetLoopModePara"),
    pipe=PipeID.PIPE_S, forms=("scalar",), name="ResetLoopModePara",
)  # fmt: skip


def SetPadValue(dtype: Any, paddingValue: Any, *, pos: TPosition | None = None) -> None:
    """``SetPadValue(half, 1)``: what DataCopyPad fills its padding with when isPad is false."""
    core = current_core()
    spec = spec_for("SetPadValue", core)
    target = as_dtype(dtype)
    spec.require(core.arch, target, "count")
    if pos not in (None, TPosition.VECIN, TPosition.VECOUT):
        raise ArgumentError(
            f"{pos!r} has no padded copies",
            api=spec.name,
            argument="pos",
            got=repr(pos),
            legal="VECIN, VECOUT, or none",
            source=spec.source,
        )
    core.pad_value = check_scalar(spec, target, paddingValue, "paddingValue").tobytes()
    core.issue(_plan(core, spec), (core.pad_value,), sys._getframe(1))


def SetLoopModePara(loopParams: LoopModeParams, type: DataCopyMVType) -> None:
    """Wrap later copies of one direction in the two loops of ``loopParams`` (950)."""
    core = current_core()
    spec = spec_for("SetLoopModePara", core)
    direction = _direction(spec, type)
    if not isinstance(loopParams, LoopModeParams):
        raise ArgumentError(
            "needs LoopModeParams",
            api=spec.name,
            argument="loopParams",
            got=repr(loopParams),
            legal="LoopModeParams(loop1Size, loop2Size, loop1SrcStride, loop1DstStride, …)",
            source=spec.source,
        )
    loopParams.check(spec.name, spec.source, to_ub=direction == GM_TO_UB)
    core.loops[direction] = loopParams
    note_copy_state(core)
    core.issue(_plan(core, spec), (loopParams,), sys._getframe(1))


def ResetLoopModePara(type: DataCopyMVType) -> None:
    """Take the loops around copies of one direction away (950)."""
    core = current_core()
    spec = spec_for("ResetLoopModePara", core)
    core.loops.pop(_direction(spec, type), None)
    note_copy_state(core)
    core.issue(_plan(core, spec), (), sys._getframe(1))


publish(SetPadValue, _PAD_VALUE)
publish(SetLoopModePara, _SET_LOOP)
publish(ResetLoopModePara, _RESET_LOOP)


def looped(core: AICore, direction: str, shape: Geometry) -> Geometry:
    """Return ``shape`` inside the loops that are in force for ``direction``."""
    params = core.loops.get(direction)
    if params is None:
        return shape
    strides = (
        (params.loop2Size, params.loop2SrcStride, params.loop2DstStride),
        (params.loop1Size, params.loop1SrcStride, params.loop1DstStride),
    )
    if direction == GM_TO_UB:
        return shape._replace(loops=strides)
    return shape._replace(loops=tuple((n, dst, src) for n, src, dst in strides))


def _direction(spec: InstructionSpec, kind: Any) -> str:
    if kind not in DataCopyMVType.__members__.values():
        raise ArgumentError(
            f"{kind!r} is no direction",
            api=spec.name,
            argument="type",
            got=repr(kind),
            legal="DataCopyMVType.UB_TO_OUT, DataCopyMVType.OUT_TO_UB",
            source=spec.source,
        )
    return GM_TO_UB if kind == DataCopyMVType.OUT_TO_UB else UB_TO_GM


def _plan(core: AICore, spec: InstructionSpec) -> Plan:
    plan = core.plans.get(spec.name)
    if plan is None:
        plan = core.plans[spec.name] = Plan(spec, "scalar")
    return plan
