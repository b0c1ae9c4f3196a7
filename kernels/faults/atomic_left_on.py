"""atomic.left_on: nobody switches the atomic mode off.

Whatever is stored later adds to what is there instead of replacing it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernels.faults.tensors import gm
from simulator.ascendc import (
    DataCopy,
    Duplicate,
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

CODE = "atomic.left_on"

N: Final = 1024


@kernel
def broken(z: GM_ADDR) -> None:
    tile = LocalTensor(float32, TPosition.VECOUT, 0, N)
    Duplicate(tile, 1.0, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    SetAtomicAdd(float32)
    DataCopy(gm(float32, z), tile, N)


@kernel
def fixed(z: GM_ADDR) -> None:
    tile = LocalTensor(float32, TPosition.VECOUT, 0, N)
    Duplicate(tile, 1.0, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    SetAtomicAdd(float32)
    DataCopy(gm(float32, z), tile, N)
    SetAtomicNone()


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    z = np.zeros(N, np.float32)
    return variant.launch(1, z, **options)
