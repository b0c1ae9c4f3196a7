"""race.scalar: the scalar unit reads an element before the copy has brought it.

``GetValue`` does not wait for copies or vector calls. The compiler orders it by itself unless its
automatic synchronisation is off.
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

CODE = "race.scalar"

N: Final = 1024


@kernel(auto_sync=False)
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    out = LocalTensor(half, TPosition.VECOUT, 2 * N, N)
    DataCopy(tile, gm(half, x), N)
    first = tile.GetValue(0)
    Duplicate(out, first, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(half, z), out, N)


@kernel(auto_sync=False)
def fixed(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    out = LocalTensor(half, TPosition.VECOUT, 2 * N, N)
    DataCopy(tile, gm(half, x), N)
    SetFlag(HardEvent.MTE2_S, 0)
    WaitFlag(HardEvent.MTE2_S, 0)
    first = tile.GetValue(0)
    Duplicate(out, first, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(half, z), out, N)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(N, dtype=np.float16)
    z = np.zeros(N, np.float16)
    return variant.launch(1, x, z, **options)
