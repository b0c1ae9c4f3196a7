"""flag.range: event ids are 0..7."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernels.faults.tensors import gm
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

CODE = "flag.range"

N: Final = 1024


@kernel
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    DataCopy(tile, gm(half, x), N)
    SetFlag(HardEvent.MTE2_MTE3, 8)
    WaitFlag(HardEvent.MTE2_MTE3, 8)
    DataCopy(gm(half, z), tile, N)


@kernel
def fixed(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    DataCopy(tile, gm(half, x), N)
    SetFlag(HardEvent.MTE2_MTE3, 0)
    WaitFlag(HardEvent.MTE2_MTE3, 0)
    DataCopy(gm(half, z), tile, N)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(N, dtype=np.float16)
    z = np.zeros(N, np.float16)
    return variant.launch(1, x, z, **options)
