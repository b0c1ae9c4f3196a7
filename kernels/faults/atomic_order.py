"""atomic.order: several blocks add floating-point numbers to one place.

The sum of more than two depends on the order of the additions, which is not fixed. Let every block
store its part and add the parts in a fixed order behind SyncAll.
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
    TPosition,
    WaitFlag,
    float32,
    kernel,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "atomic.order"

N: Final = 1024


@kernel
def broken(z: GM_ADDR) -> None:
    tile = LocalTensor(float32, TPosition.VECOUT, 0, N)
    Duplicate(tile, 0.1, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    SetAtomicAdd(float32)
    DataCopy(gm(float32, z), tile, N)
    SetAtomicNone()


@kernel
def fixed(z: GM_ADDR) -> None:
    tile = LocalTensor(float32, TPosition.VECOUT, 0, N)
    Duplicate(tile, 0.1, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(float32, z)[GetBlockIdx() * N], tile, N)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on 4 blocks."""
    z = np.zeros(4 * N, np.float32)
    return variant.launch(4, z, **options)
