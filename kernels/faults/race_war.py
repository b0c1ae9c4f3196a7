"""race.war: the next tile is fetched while ``Adds`` still reads the present one.

Every step waits for what it needs, but nobody tells MTE2 that V has finished with the buffer. The
second copy may overwrite what ``Adds`` of the first tile still reads.
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
    TPosition,
    WaitFlag,
    half,
    kernel,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "race.war"

N: Final = 256


@kernel
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    source, target = gm(half, x), gm(half, z)
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    out = LocalTensor(half, TPosition.VECOUT, 2 * N, N)
    for start in range(0, 2 * N, N):
        DataCopy(tile, source[start], N)
        SetFlag(HardEvent.MTE2_V, 0)
        WaitFlag(HardEvent.MTE2_V, 0)
        SetFlag(HardEvent.MTE3_V, 0)
        WaitFlag(HardEvent.MTE3_V, 0)
        Adds(out, tile, 1.0, N)
        SetFlag(HardEvent.V_MTE3, 0)
        WaitFlag(HardEvent.V_MTE3, 0)
        DataCopy(target[start], out, N)


@kernel
def fixed(x: GM_ADDR, z: GM_ADDR) -> None:
    source, target = gm(half, x), gm(half, z)
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    out = LocalTensor(half, TPosition.VECOUT, 2 * N, N)
    for start in range(0, 2 * N, N):
        SetFlag(HardEvent.V_MTE2, 0)
        WaitFlag(HardEvent.V_MTE2, 0)
        DataCopy(tile, source[start], N)
        SetFlag(HardEvent.MTE2_V, 0)
        WaitFlag(HardEvent.MTE2_V, 0)
        SetFlag(HardEvent.MTE3_V, 0)
        WaitFlag(HardEvent.MTE3_V, 0)
        Adds(out, tile, 1.0, N)
        SetFlag(HardEvent.V_MTE3, 0)
        WaitFlag(HardEvent.V_MTE3, 0)
        DataCopy(target[start], out, N)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(2 * N, dtype=np.float16)
    z = np.zeros(2 * N, np.float16)
    return variant.launch(1, x, z, **options)
