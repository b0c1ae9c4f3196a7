"""Filling global memory with a value: InitOutput and InitGlobalMemory (Fill).

Both fill a temporary piece of UB and copy it out as often as needed. Source: mirror-cann/asc-devkit
impl/basic_api/kernel_operator_common_intf_impl.h and
impl/adv_api/detail/utils/init_global_memory/init_global_memory_v220_impl.h.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from simulator.core import AICore, current_core
from simulator.dtypes import as_dtype
from simulator.enums import HardEvent, PipeID, TPosition
from simulator.errors import ArgumentError, QueueError, UbExhaustedError
from simulator.isa.data_copy_pad import DataCopyPad
from simulator.isa.fill import Duplicate
from simulator.isa.params import DataCopyExtParams, check_range
from simulator.isa.sync import barrier, set_flag, wait_flag
from simulator.tensor import GlobalTensor, LocalTensor

if TYPE_CHECKING:
    from simulator.dtypes import DType

_SOURCE: Final = "mirror-cann/asc-devkit impl/basic_api/kernel_operator_common_intf_impl.h"
MAX_REPEATS: Final = 255


def InitOutput(gmWorkspaceAddr: Any, size: int, value: Any = 0) -> None:
    """Fill the first ``size`` elements of a GlobalTensor with ``value``."""
    _fill("InitOutput", gmWorkspaceAddr, size, value, 32, sys._getframe(1))


def InitGlobalMemory(gmWorkspaceAddr: Any, size: int, value: Any) -> None:
    """Fill the first ``size`` elements with ``value``; later work of MTE3 comes after it."""
    _fill("InitGlobalMemory", gmWorkspaceAddr, size, value, 256, sys._getframe(1))


def Fill(gmWorkspaceAddr: Any, size: int, value: Any) -> None:
    """Fill the first ``size`` elements of a GlobalTensor (new name of InitGlobalMemory)."""
    _fill("Fill", gmWorkspaceAddr, size, value, 256, sys._getframe(1))


def PopStackBuffer(dtype: Any, pos: TPosition = TPosition.LCM) -> LocalTensor:
    """``PopStackBuffer(half)``: return all of UB behind the buffers of the TPipe."""
    return pop_stack_buffer("PopStackBuffer", current_core(), as_dtype(dtype), pos)


def pop_stack_buffer(api: str, core: AICore, dtype: DType, position: TPosition) -> LocalTensor:
    """Return the rest of UB as a tensor.

    Raises
    ------
    QueueError
        Without a TPipe.
    UbExhaustedError
        If nothing is left.
    """
    if core.pipe is None:
        raise QueueError(
            "the block has no TPipe",
            code="queue.no_pipe",
            api=api,
            fix="create one first: pipe = TPipe()",
            source=_SOURCE,
        )
    start: int = core.pipe.used
    rest = core.platform.memory.ub_bytes - start
    if rest < 32:
        raise UbExhaustedError(
            "the buffers of the TPipe leave no unified buffer for temporary data",
            api=api,
            got=f"{start} of {core.platform.memory.ub_bytes} bytes in use",
            legal="at least 32 bytes left",
            fix="use smaller tiles or fewer buffers",
            source=_SOURCE,
        )
    return LocalTensor(core, start, dtype, rest * 8 // dtype.bits, TPosition(position))


def _fill(api: str, gm: Any, size: Any, value: Any, repeat_bytes: int, frame: Any) -> None:
    if not isinstance(gm, GlobalTensor):
        raise ArgumentError(
            "needs a GlobalTensor",
            api=api,
            argument="gmWorkspaceAddr",
            got=repr(gm),
            legal="GlobalTensor",
            source=_SOURCE,
        )
    core = gm._core
    check_range(api, "size", size, 0, 2**63 - 1, _SOURCE)
    itemsize = gm.dtype.itemsize
    before = core.caller
    core.caller = before or frame
    try:
        tensor = pop_stack_buffer(api, core, gm.dtype, TPosition.LCM)
        piece = min(tensor.length, MAX_REPEATS * repeat_bytes // itemsize)
        Duplicate(tensor, value, piece)
        event = core.pipe.FetchEventID(HardEvent.V_MTE3)
        set_flag(core, HardEvent.V_MTE3, event, frame)
        wait_flag(core, HardEvent.V_MTE3, event, frame)
        for start in range(0, size, piece):
            nbytes = min(piece, size - start) * itemsize
            DataCopyPad(gm[start], tensor, DataCopyExtParams(1, nbytes, 0, 0, 0))
        if repeat_bytes == 256:
            barrier(core, PipeID.PIPE_MTE3, frame)
    finally:
        core.caller = before
