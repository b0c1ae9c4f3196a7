"""flag.reset: one event id stands for two tiles in flight.

The second SetFlag finds the flag still up: a flag is one bit, and the wake-up is lost.
"""

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

CODE = "flag.reset"

N: Final = 1024


@kernel
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    source, target = gm(half, x), gm(half, z)
    tiles = [LocalTensor(half, TPosition.VECIN, 2 * N * i, N) for i in range(2)]
    for i, tile in enumerate(tiles):
        DataCopy(tile, source[i * N], N)
        SetFlag(HardEvent.MTE2_MTE3, 0)
    for i, tile in enumerate(tiles):
        WaitFlag(HardEvent.MTE2_MTE3, 0)
        DataCopy(target[i * N], tile, N)


@kernel
def fixed(x: GM_ADDR, z: GM_ADDR) -> None:
    source, target = gm(half, x), gm(half, z)
    tiles = [LocalTensor(half, TPosition.VECIN, 2 * N * i, N) for i in range(2)]
    for i, tile in enumerate(tiles):
        DataCopy(tile, source[i * N], N)
        SetFlag(HardEvent.MTE2_MTE3, i)
    for i, tile in enumerate(tiles):
        WaitFlag(HardEvent.MTE2_MTE3, i)
        DataCopy(target[i * N], tile, N)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(2 * N, dtype=np.float16)
    z = np.zeros(2 * N, np.float16)
    return variant.launch(1, x, z, **options)
