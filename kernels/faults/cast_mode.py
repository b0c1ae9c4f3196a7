"""cast.mode: halves are rounded away from zero, where the reference takes the even number.

CAST_ROUND makes 3 of 2.5 and is off to one side; CAST_RINT makes 2 of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernels.faults.tensors import gm
from simulator.ascendc import (
    Cast,
    DataCopy,
    HardEvent,
    LocalTensor,
    RoundMode,
    SetFlag,
    TPosition,
    WaitFlag,
    float32,
    int32_t,
    kernel,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "cast.mode"

N: Final = 256


@kernel
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(float32, TPosition.VECIN, 0, N)
    out = LocalTensor(int32_t, TPosition.VECOUT, 4 * N, N)
    DataCopy(tile, gm(float32, x), N)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Cast(out, tile, RoundMode.CAST_ROUND, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(int32_t, z), out, N)


@kernel
def fixed(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(float32, TPosition.VECIN, 0, N)
    out = LocalTensor(int32_t, TPosition.VECOUT, 4 * N, N)
    DataCopy(tile, gm(float32, x), N)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Cast(out, tile, RoundMode.CAST_RINT, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(int32_t, z), out, N)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = (np.arange(N) / 2).astype(np.float32)
    z = np.zeros(N, np.int32)
    return variant.launch(1, x, z, **options)
