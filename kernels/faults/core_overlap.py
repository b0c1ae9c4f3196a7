"""core.overlap: a store rounded up to whole blocks reaches into the neighbour's share.

Every block owns 24 elements and stores 32, because DataCopy moves whole 32-byte blocks. The last
eight meet the first ones of the next block, and whoever is later wins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernels.faults.tensors import gm
from simulator.ascendc import (
    DataCopy,
    DataCopyExtParams,
    DataCopyPad,
    Duplicate,
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

CODE = "core.overlap"

SHARE: Final = 24


@kernel
def broken(z: GM_ADDR) -> None:
    start = GetBlockIdx() * SHARE
    tile = LocalTensor(half, TPosition.VECOUT, 0, 32)
    Duplicate(tile, GetBlockIdx(), 32)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(half, z)[start], tile, 32)


@kernel
def fixed(z: GM_ADDR) -> None:
    start = GetBlockIdx() * SHARE
    tile = LocalTensor(half, TPosition.VECOUT, 0, 32)
    Duplicate(tile, GetBlockIdx(), 32)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopyPad(gm(half, z)[start], tile, DataCopyExtParams(1, SHARE * 2))


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on 4 blocks."""
    z = np.full(4 * SHARE + 8, -1, np.float16)
    return variant.launch(4, z, **options)
