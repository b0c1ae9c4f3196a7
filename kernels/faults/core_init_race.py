"""core.init_race: block 0 clears the sum while the others already add to it.

Blocks run side by side. Without a barrier behind the clearing store, what arrives early is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernels.faults.tensors import gm
from simulator.ascendc import (
    DataCopy,
    Duplicate,
    GetBlockIdx,
    HardEvent,
    LocalTensor,
    SetAtomicAdd,
    SetAtomicNone,
    SetFlag,
    SyncAll,
    TPosition,
    WaitFlag,
    int32_t,
    kernel,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "core.init_race"

N: Final = 1024


@kernel
def broken(z: GM_ADDR) -> None:
    total = gm(int32_t, z)
    tile = LocalTensor(int32_t, TPosition.VECOUT, 0, N)
    if GetBlockIdx() == 0:
        Duplicate(tile, 0, N)
        SetFlag(HardEvent.V_MTE3, 0)
        WaitFlag(HardEvent.V_MTE3, 0)
        DataCopy(total, tile, N)
    else:
        Duplicate(tile, 1, N)
        SetFlag(HardEvent.V_MTE3, 0)
        WaitFlag(HardEvent.V_MTE3, 0)
        SetAtomicAdd(int32_t)
        DataCopy(total, tile, N)
        SetAtomicNone()


@kernel
def fixed(z: GM_ADDR) -> None:
    total = gm(int32_t, z)
    tile = LocalTensor(int32_t, TPosition.VECOUT, 0, N)
    if GetBlockIdx() == 0:
        Duplicate(tile, 0, N)
        SetFlag(HardEvent.V_MTE3, 0)
        WaitFlag(HardEvent.V_MTE3, 0)
        DataCopy(total, tile, N)
        SyncAll()
    else:
        Duplicate(tile, 1, N)
        SetFlag(HardEvent.V_MTE3, 0)
        WaitFlag(HardEvent.V_MTE3, 0)
        SyncAll()
        SetAtomicAdd(int32_t)
        DataCopy(total, tile, N)
        SetAtomicNone()


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on 4 blocks."""
    z = np.full(N, 5, np.int32)
    return variant.launch(4, z, **options)
