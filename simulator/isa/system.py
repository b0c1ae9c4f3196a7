"""System variables, workspaces and mask control.

Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API (工具接口/系统资源与变量,
资源管理/workspace, Memory矢量计算/掩码操作) and impl/basic_api/kernel_utils_base.h.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.core import FULL_MASK, AICore, current_core
from simulator.dtypes import DType, as_dtype
from simulator.enums import Arch, MaskMode, PipeID
from simulator.errors import ArgumentError
from simulator.instruction import Plan
from simulator.isa.families import declare, prefix_mask, publish, spec_for
from simulator.isa.params import check_range
from simulator.memory import GlobalAddress

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.instruction import InstructionSpec

_API = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/{}.md"
_VARIABLES = "工具接口/系统资源与变量/{}"
_ALL: Final = (Arch.DAV_2201, Arch.DAV_3510, Arch.DAV_1001)
_BOTH: Final = (Arch.DAV_2201, Arch.DAV_3510)
_950: Final = (Arch.DAV_3510,)

COUNTER_MHZ: Final = {Arch.DAV_2201: 50, Arch.DAV_3510: 1000}
"""Frequency of the system counter (GetSystemCycle(ISASI).md)."""

WORD: Final = 0xFFFF_FFFF_FFFF_FFFF


def _scalar(
    name: str, rule: Callable[..., None], page: str, arches: tuple[Arch, ...] = _ALL
) -> InstructionSpec:
    return declare(
        rule, "system", (), dict.fromkeys(arches, ""), _API.format(page),
        pipe=PipeID.PIPE_S, forms=("scalar",), name=name,
    )  # fmt: skip


def state_plan(core: AICore, spec: InstructionSpec) -> Plan:
    """Return the plan of a call without operands."""
    plan = core.plans.get(spec.name)
    if plan is None:
        plan = core.plans[spec.name] = Plan(spec, "scalar")
    return plan


# -- system variables ------------------------------------------------------------------------------


def _block_idx_rule() -> None:
    """Return the index of the running block, 0 .. GetBlockNum() - 1."""


def _block_num_rule() -> None:
    """Return how many blocks were launched."""


def _sub_block_idx_rule() -> None:
    """Return which vector core of its AI core runs the block."""


def _sub_block_num_rule() -> None:
    """Return how many vector cores of an AI core take part."""


def _task_ratio_rule() -> None:
    """Return vector cores started for one block of the launch."""


def _block_size_rule() -> None:
    """Return the bytes of a data block, 32."""


def _vec_len_rule() -> None:
    """Return the bytes of a vector register, 256."""


def _ub_size_rule() -> None:
    """Return the bytes of unified buffer that a kernel may use."""


def _cycle_rule() -> None:
    """Return the system counter."""


_GET_BLOCK_IDX = _scalar("GetBlockIdx", _block_idx_rule, _VARIABLES.format("GetBlockIdx"))
_GET_BLOCK_NUM = _scalar("GetBlockNum", _block_num_rule, _VARIABLES.format("GetBlockNum"))
_GET_SUB_IDX = _scalar(
    "GetSubBlockIdx", _sub_block_idx_rule, _VARIABLES.format("GetSubBlockIdx(ISASI)"), _BOTH
)
_GET_SUB_NUM = _scalar(
    "GetSubBlockNum", _sub_block_num_rule, _VARIABLES.format("GetSubBlockNum(ISASI)"), _BOTH
)
_GET_RATIO = _scalar("GetTaskRatio", _task_ratio_rule, _VARIABLES.format("GetTaskRatio"), _BOTH)
_GET_BLOCK_SIZE = _scalar(
    "GetDataBlockSizeInBytes", _block_size_rule, _VARIABLES.format("GetDataBlockSizeInBytes")
)
_GET_VEC_LEN = _scalar("GetVecLen", _vec_len_rule, _VARIABLES.format("GetVecLen"), _950)
_GET_UB_SIZE = _scalar(
    "GetUBSizeInBytes", _ub_size_rule, _VARIABLES.format("GetUBSizeInBytes"), _950
)
_GET_RUNTIME_UB = _scalar(
    "GetRuntimeUBSize", _ub_size_rule, _VARIABLES.format("GetRuntimeUBSize"), _950
)
_GET_CYCLE = _scalar(
    "GetSystemCycle", _cycle_rule, _VARIABLES.format("GetSystemCycle(ISASI)"), _BOTH
)


def GetBlockIdx() -> int:
    """Return the index of the running block, 0 .. GetBlockNum() * GetTaskRatio() - 1."""
    return current_core().block_idx


def GetBlockNum() -> int:
    """Return how many blocks were launched."""
    return current_core().block_num


def GetSubBlockIdx() -> int:
    """Return which vector core of its AI core runs the block; 0 unless two of them take part."""
    core = current_core()
    spec_for("GetSubBlockIdx", core)
    return core.block_idx % core.task_ratio


def GetSubBlockNum() -> int:
    """Return how many vector cores of an AI core take part."""
    core = current_core()
    spec_for("GetSubBlockNum", core)
    return core.task_ratio


def GetTaskRatio() -> int:
    """Return vector cores started for one block of the launch (``@kernel(task_ratio=2)``)."""
    core = current_core()
    spec_for("GetTaskRatio", core)
    return core.task_ratio


def GetDataBlockSizeInBytes() -> int:
    """Return the bytes of a data block, 32."""
    return current_core().platform.memory.block_bytes


def GetVecLen() -> int:
    """Return the bytes of a vector register, 256 (950)."""
    core = current_core()
    spec_for("GetVecLen", core)
    return core.platform.memory.vector_register_bytes


def GetUBSizeInBytes() -> int:
    """Return the bytes of unified buffer that a kernel may use, 248 KB (950)."""
    core = current_core()
    spec_for("GetUBSizeInBytes", core)
    return core.platform.memory.ub_bytes


def GetRuntimeUBSize() -> int:
    """Return the bytes of unified buffer that a kernel may use, 248 KB (950)."""
    core = current_core()
    spec_for("GetRuntimeUBSize", core)
    return core.platform.memory.ub_bytes


def GetSystemCycle() -> int:
    """Return the system counter: 50 MHz on 910B, 1 GHz on 950.

    It is read when the scalar unit reaches the call; put a PipeBarrier of the measured pipe before
    it, or only the time to issue is measured. Counted from the start of the block.
    """
    core = current_core()
    spec = spec_for("GetSystemCycle", core)
    core.issue(state_plan(core, spec), (), sys._getframe(1))
    cycles = core.clock(core) if core.clock is not None else 0
    return int(cycles * COUNTER_MHZ[core.arch] / core.platform.timing.clock_mhz)


# -- workspaces ------------------------------------------------------------------------------------


def _sys_workspace_rule() -> None:
    """Record, or return, the address of the system workspace."""


def _user_workspace_rule() -> None:
    """Return the part of the workspace that belongs to the kernel."""


_SET_WORKSPACE = _scalar(
    "SetSysWorkspace", _sys_workspace_rule, "资源管理/workspace/SetSysWorkSpace"
)
_GET_WORKSPACE = _scalar(
    "GetSysWorkSpacePtr", _sys_workspace_rule, "资源管理/workspace/GetSysWorkSpacePtr"
)
_USER_WORKSPACE = _scalar(
    "GetUserWorkspace", _user_workspace_rule, "资源管理/workspace/GetUserWorkspace"
)


def SetSysWorkspace(workspace: Any) -> None:
    """Record the address of the system workspace; the first call of a block counts."""
    core = current_core()
    _require_address("SetSysWorkspace", workspace, _SET_WORKSPACE)
    if core.sys_workspace is None:
        core.sys_workspace = workspace


def GetSysWorkSpacePtr() -> GlobalAddress:
    """Return what SetSysWorkspace recorded."""
    workspace = current_core().sys_workspace
    if workspace is None:
        raise ArgumentError(
            "no system workspace has been set",
            api="GetSysWorkSpacePtr",
            fix="SetSysWorkspace(workspace) first",
            source=_GET_WORKSPACE.source,
        )
    address: GlobalAddress = workspace
    return address


def GetUserWorkspace(workspace: Any) -> GlobalAddress:
    """Return the kernel's part of ``workspace``: all of it, as in the vendor's CPU debug build.

    On a board the library's part comes first; launches here need none.
    """
    return _require_address("GetUserWorkspace", workspace, _USER_WORKSPACE)


def _require_address(api: str, workspace: Any, spec: InstructionSpec) -> GlobalAddress:
    if not isinstance(workspace, GlobalAddress):
        raise ArgumentError(
            "the workspace must be a GM address",
            api=api,
            argument="workspace",
            got=repr(workspace),
            legal="GM_ADDR, as kernels receive it for an array argument",
            source=spec.source,
        )
    return workspace


# -- mask ------------------------------------------------------------------------------------------


def _set_mask_rule() -> None:
    """Set the vector mask register: a bit pattern (Normal mode) or an element count (Counter)."""


def _reset_mask_rule() -> None:
    """Enable every lane."""


def _mask_count_rule() -> None:
    """Switch to Counter mode: the mask register holds the number of elements of a call."""


def _mask_norm_rule() -> None:
    """Switch to Normal mode: the mask register holds one bit a lane."""


_MASKS = "Memory矢量计算/掩码操作/{}"
_SET_VECTOR_MASK = _scalar("SetVectorMask", _set_mask_rule, _MASKS.format("SetVectorMask"))
_RESET_MASK = _scalar("ResetMask", _reset_mask_rule, _MASKS.format("ResetMask"))
_SET_MASK_COUNT = _scalar("SetMaskCount", _mask_count_rule, _MASKS.format("SetMaskCount"))
_SET_MASK_NORM = _scalar("SetMaskNorm", _mask_norm_rule, _MASKS.format("SetMaskNorm"))


def SetVectorMask(*args: Any, mode: MaskMode | None = None) -> None:
    """``SetVectorMask(maskHigh, maskLow)`` or ``SetVectorMask(length)``.

    In Normal mode ``length`` enables the first lanes of a repeat; in Counter mode it is the number
    of elements of the whole call. Template arguments may come first:
    ``SetVectorMask(float32, MaskMode.COUNTER, length)``.
    """
    _set_mask(args, mode, sys._getframe(1))


def _set_mask(args: tuple[Any, ...], mode: MaskMode | None, frame: Any) -> None:
    core = current_core()
    spec = spec_for("SetVectorMask", core)
    rest = list(args)
    dtype = as_dtype(rest.pop(0)) if rest and isinstance(rest[0], DType | str) else None
    if rest and isinstance(rest[0], MaskMode):
        mode = rest.pop(0)
    if len(rest) not in (1, 2) or any(not isinstance(w, int | np.integer) for w in rest):
        raise ArgumentError(
            "needs the high and the low word, or a length",
            api=spec.name,
            got=repr(args),
            legal="(maskHigh, maskLow) or (length), after optional type and MaskMode",
            source=spec.source,
        )
    counting = core.counter_mode if mode is None else mode == MaskMode.COUNTER
    if len(rest) == 1:
        core.mask = _length_mask(spec, int(rest[0]), dtype, counting)
    else:
        for name, word in zip(("maskHigh", "maskLow"), rest, strict=True):
            check_range(spec.name, name, int(word), 0, WORD, spec.source)
        core.mask = (int(rest[1]), int(rest[0]))
    if dtype is not None and core.arch is Arch.DAV_3510 and not counting:
        _check_mask_950(spec, dtype, core.mask)
    core.issue(state_plan(core, spec), (core.mask,), frame)


def _length_mask(
    spec: InstructionSpec, length: int, dtype: DType | None, counting: bool
) -> tuple[int, int]:
    """Return the register for a length; a full repeat enables all bits (kernel_utils_base.h)."""
    check_range(spec.name, "len", length, 0, 2**32 - 1 if counting else 2**31 - 1, spec.source)
    if counting:
        return (length, 0)
    lanes = 256 * 8 // dtype.bits if dtype is not None else 128
    if length != 64 and (length == lanes or length >= 128):
        return FULL_MASK
    return prefix_mask(length)


def _check_mask_950(spec: InstructionSpec, dtype: DType, mask: tuple[int, int]) -> None:
    if mask == (0, 0) or (dtype.bits >= 32 and mask[1]):
        raise ArgumentError(
            "the mask enables no lane"
            if mask == (0, 0)
            else f"{dtype} has no lanes for the high word of the mask",
            api=spec.name,
            argument="mask",
            got=f"high {mask[1]:#x}, low {mask[0]:#x}",
            legal="at least one bit; high word 0 for types of 32 bits and more",
            source="mirror-cann/asc-devkit impl/basic_api/kernel_utils_base.h",
        )


def ResetMask() -> None:
    """Enable every lane."""
    core = current_core()
    core.mask = FULL_MASK
    core.issue(state_plan(core, _RESET_MASK), (), sys._getframe(1))


def SetMaskCount() -> None:
    """Switch the mask to Counter mode."""
    _set_counter_mode(_SET_MASK_COUNT, True, sys._getframe(1))


def SetMaskNorm() -> None:
    """Switch the mask to Normal mode."""
    _set_counter_mode(_SET_MASK_NORM, False, sys._getframe(1))


def _set_counter_mode(spec: InstructionSpec, on: bool, frame: Any) -> None:
    core = current_core()
    core.counter_mode = on
    core.issue(state_plan(core, spec), (), frame)


class AscendCUtils:
    """The library's own mask helpers, which older kernels call."""

    @staticmethod
    def SetMask(*args: Any) -> None:
        """``SetMask(half, len)`` or ``SetMask(half, maskHigh, maskLow)``: SetVectorMask."""
        _set_mask(args, None, sys._getframe(1))

    @staticmethod
    def ResetMask() -> None:
        """Enable every lane."""
        core = current_core()
        core.mask = FULL_MASK
        core.issue(state_plan(core, _RESET_MASK), (), sys._getframe(1))

    @staticmethod
    def SetMaskCount(dtype: Any = None) -> None:
        """Switch the mask to Counter mode; the element type changes nothing."""
        _set_counter_mode(_SET_MASK_COUNT, True, sys._getframe(1))

    @staticmethod
    def SetMaskNorm(dtype: Any = None) -> None:
        """Switch the mask to Normal mode; the element type changes nothing."""
        _set_counter_mode(_SET_MASK_NORM, False, sys._getframe(1))


for _call, _spec in (
    (GetBlockIdx, _GET_BLOCK_IDX), (GetBlockNum, _GET_BLOCK_NUM), (GetSubBlockIdx, _GET_SUB_IDX),
    (GetSubBlockNum, _GET_SUB_NUM), (GetTaskRatio, _GET_RATIO),
    (GetDataBlockSizeInBytes, _GET_BLOCK_SIZE), (GetVecLen, _GET_VEC_LEN),
    (GetUBSizeInBytes, _GET_UB_SIZE), (GetRuntimeUBSize, _GET_RUNTIME_UB),
    (GetSystemCycle, _GET_CYCLE), (SetSysWorkspace, _SET_WORKSPACE),
    (GetSysWorkSpacePtr, _GET_WORKSPACE), (GetUserWorkspace, _USER_WORKSPACE),
    (SetVectorMask, _SET_VECTOR_MASK), (ResetMask, _RESET_MASK),
    (SetMaskCount, _SET_MASK_COUNT), (SetMaskNorm, _SET_MASK_NORM),
):  # fmt: skip
    publish(_call, _spec)
