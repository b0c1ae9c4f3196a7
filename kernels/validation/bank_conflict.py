"""The same Add a thousand times, with its operands at chosen places of the unified buffer.

Places after mirror-cann/asc-devkit examples/01_simd_cpp_api/05_best_practices/04_memory_access/
bank_conflict_ub.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from simulator.ascendc import (
    EVENT_ID0,
    PIPE_ALL,
    Add,
    BinaryRepeatParams,
    DataCopy,
    GlobalTensor,
    HardEvent,
    LocalTensor,
    PipeBarrier,
    SetFlag,
    TPosition,
    WaitFlag,
    float32,
    kernel,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR

LENGTH: Final = 4096
LANES: Final = 64


@dataclass(frozen=True)
class Places:
    """UB addresses of x, y and z, and the strides with which x is read."""

    x: int
    y: int
    z: int
    block_stride: int = 1
    repeat_stride: int = 8


@kernel
def bank_conflict(x: GM_ADDR, y: GM_ADDR, z: GM_ADDR, places: Places, calls: int) -> None:
    """Add x and y ``calls`` times."""
    xGm, yGm, zGm = (GlobalTensor(float32) for _ in range(3))
    for tensor, address in ((xGm, x), (yGm, y), (zGm, z)):
        tensor.SetGlobalBuffer(address, LENGTH)
    xLocal, yLocal, zLocal = (
        LocalTensor(float32, TPosition.VECCALC, place, LENGTH)
        for place in (places.x, places.y, places.z)
    )
    DataCopy(xLocal, xGm, LENGTH)
    DataCopy(yLocal, yGm, LENGTH)
    SetFlag(HardEvent.MTE2_V, EVENT_ID0)
    WaitFlag(HardEvent.MTE2_V, EVENT_ID0)
    PipeBarrier(PIPE_ALL)
    params = BinaryRepeatParams(1, places.block_stride, 1, 8, places.repeat_stride, 8)
    for _ in range(calls):
        Add(zLocal, xLocal, yLocal, LANES, LENGTH // LANES, params)
    SetFlag(HardEvent.V_MTE3, EVENT_ID0)
    WaitFlag(HardEvent.V_MTE3, EVENT_ID0)
    DataCopy(zGm, zLocal, LENGTH)
