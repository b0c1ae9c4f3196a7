"""tile.stale: the host leaves a field out when it is 0, and the kernel reads it all the same.

What is in the field then is what the call before has left there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernels.faults.tensors import gm
from kernels.tiling_struct import Int, TilingData
from simulator.ascendc import (
    DataCopy,
    HardEvent,
    LocalTensor,
    SetFlag,
    TPosition,
    WaitFlag,
    half,
    kernel,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "tile.stale"

N: Final = 1024


class CopyTiling(TilingData):
    """Elements to move, and where they start."""

    length = Int("uint32_t")
    offset = Int("uint32_t")


@kernel
def broken(x: GM_ADDR, z: GM_ADDR, tiling: CopyTiling) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    start = tiling.offset % N
    DataCopy(tile, gm(half, x)[start], tiling.length)
    SetFlag(HardEvent.MTE2_MTE3, 0)
    WaitFlag(HardEvent.MTE2_MTE3, 0)
    DataCopy(gm(half, z), tile, tiling.length)


@kernel
def fixed(x: GM_ADDR, z: GM_ADDR, tiling: CopyTiling) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    start = tiling.offset % N
    DataCopy(tile, gm(half, x)[start], tiling.length)
    SetFlag(HardEvent.MTE2_MTE3, 0)
    WaitFlag(HardEvent.MTE2_MTE3, 0)
    DataCopy(gm(half, z), tile, tiling.length)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block; only the host of the fixed one sets the offset."""
    x = np.arange(2 * N, dtype=np.float16)
    z = np.zeros(N, np.float16)
    tiling = CopyTiling(length=N)
    offset = 0
    if offset or variant.name == "fixed":
        tiling.offset = offset
    return variant.launch(1, x, z, tiling, **options)
