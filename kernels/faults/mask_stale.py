"""mask.stale: Counter mode is still on when the next call means a mask.

In Counter mode the mask argument is a number of elements, and the repeat count is not looked at:
64 elements are computed instead of 8 repeats of 64 lanes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernels.faults.tensors import gm
from simulator.ascendc import (
    Adds,
    DataCopy,
    HardEvent,
    LocalTensor,
    SetFlag,
    SetMaskCount,
    SetMaskNorm,
    TPosition,
    UnaryRepeatParams,
    WaitFlag,
    float32,
    kernel,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "mask.stale"

UNIT: Final = UnaryRepeatParams(1, 1, 8, 8)


@kernel
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(float32, TPosition.VECIN, 0, 512)
    DataCopy(tile, gm(float32, x), 512)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    SetMaskCount()
    Adds(tile, tile, 1.0, 512, 1, UNIT)
    Adds(tile, tile, 1.0, 64, 8, UNIT)
    SetMaskNorm()
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(float32, z), tile, 512)


@kernel
def fixed(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(float32, TPosition.VECIN, 0, 512)
    DataCopy(tile, gm(float32, x), 512)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    SetMaskCount()
    Adds(tile, tile, 1.0, 512, 1, UNIT)
    SetMaskNorm()
    Adds(tile, tile, 1.0, 64, 8, UNIT)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(float32, z), tile, 512)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(512, dtype=np.float32)
    z = np.zeros(512, np.float32)
    return variant.launch(1, x, z, **options)
