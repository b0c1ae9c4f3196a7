"""flag.wrong_pipe: the flag comes from MTE3, and the data from MTE2.

V waits for a pipe that has nothing to do with the tile, so that ``Adds`` may still overtake the
copy.
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

CODE = "flag.wrong_pipe"

N: Final = 1024


@kernel
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    out = LocalTensor(half, TPosition.VECOUT, 2 * N, N)
    DataCopy(tile, gm(half, x), N)
    SetFlag(HardEvent.MTE3_V, 0)
    WaitFlag(HardEvent.MTE3_V, 0)
    Adds(out, tile, 1.0, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(half, z), out, N)


@kernel
def fixed(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    out = LocalTensor(half, TPosition.VECOUT, 2 * N, N)
    DataCopy(tile, gm(half, x), N)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Adds(out, tile, 1.0, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(half, z), out, N)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(N, dtype=np.float16)
    z = np.zeros(N, np.float16)
    return variant.launch(1, x, z, **options)
