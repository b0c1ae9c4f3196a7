"""cache.flush: a copy fetches what the scalar unit has stored and not cleaned.

The value is still in the data cache; the copy goes past it and finds the old one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernels.faults.tensors import gm
from simulator.ascendc import (
    CacheLine,
    DataCacheCleanAndInvalid,
    DataCopy,
    DcciDst,
    HardEvent,
    LocalTensor,
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

CODE = "cache.flush"


@kernel
def broken(z: GM_ADDR) -> None:
    table = gm(float32, z)
    tile = LocalTensor(float32, TPosition.VECIN, 0, 8)
    table.SetValue(0, 1.0)
    SetFlag(HardEvent.S_MTE2, 0)
    WaitFlag(HardEvent.S_MTE2, 0)
    DataCopy(tile, table, 8)


@kernel
def fixed(z: GM_ADDR) -> None:
    table = gm(float32, z)
    tile = LocalTensor(float32, TPosition.VECIN, 0, 8)
    table.SetValue(0, 1.0)
    DataCacheCleanAndInvalid(CacheLine.ENTIRE_DATA_CACHE, DcciDst.CACHELINE_OUT, table)
    SetFlag(HardEvent.S_MTE2, 0)
    WaitFlag(HardEvent.S_MTE2, 0)
    DataCopy(tile, table, 8)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    z = np.zeros(16, np.float32)
    return variant.launch(1, z, **options)
