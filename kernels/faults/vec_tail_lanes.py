"""vec.tail_lanes: the sum is taken over 128 lanes and 96 of them hold data.

What the other lanes hold enters the sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernels.faults.tensors import gm
from simulator.ascendc import (
    DataCopy,
    DataCopyExtParams,
    DataCopyPad,
    HardEvent,
    LocalTensor,
    ReduceSum,
    SetFlag,
    TPosition,
    WaitFlag,
    float32,
    kernel,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "vec.tail_lanes"


@kernel
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(float32, TPosition.VECIN, 0, 128)
    total = LocalTensor(float32, TPosition.VECOUT, 1024, 8)
    work = LocalTensor(float32, TPosition.VECCALC, 2048, 64)
    DataCopy(tile, gm(float32, x), 96)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    ReduceSum(total, tile, work, 128)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopyPad(gm(float32, z), total, DataCopyExtParams(1, 4))


@kernel
def fixed(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(float32, TPosition.VECIN, 0, 128)
    total = LocalTensor(float32, TPosition.VECOUT, 1024, 8)
    work = LocalTensor(float32, TPosition.VECCALC, 2048, 64)
    DataCopy(tile, gm(float32, x), 96)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    ReduceSum(total, tile, work, 96)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopyPad(gm(float32, z), total, DataCopyExtParams(1, 4))


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(96, dtype=np.float32)
    z = np.zeros(1, np.float32)
    return variant.launch(1, x, z, **options)
