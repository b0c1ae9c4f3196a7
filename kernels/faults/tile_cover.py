"""tile.cover: the shares of the blocks leave a gap.

Every block works on 256 elements, but the starts are 272 apart: 16 elements behind each share are
nobody's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernels.faults.tensors import gm
from simulator.ascendc import (
    DataCopy,
    GetBlockIdx,
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

CODE = "tile.cover"

N: Final = 1024


@kernel
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    start = GetBlockIdx() * 272
    tile = LocalTensor(half, TPosition.VECIN, 0, 256)
    DataCopy(tile, gm(half, x)[start], 256)
    SetFlag(HardEvent.MTE2_MTE3, 0)
    WaitFlag(HardEvent.MTE2_MTE3, 0)
    DataCopy(gm(half, z)[start], tile, 256)


@kernel
def fixed(x: GM_ADDR, z: GM_ADDR) -> None:
    start = GetBlockIdx() * 256
    tile = LocalTensor(half, TPosition.VECIN, 0, 256)
    DataCopy(tile, gm(half, x)[start], 256)
    SetFlag(HardEvent.MTE2_MTE3, 0)
    WaitFlag(HardEvent.MTE2_MTE3, 0)
    DataCopy(gm(half, z)[start], tile, 256)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on 4 blocks."""
    x = np.arange(N + 64, dtype=np.float16)
    z = np.zeros(N + 64, np.float16)
    return variant.launch(4, x, z, **options)
