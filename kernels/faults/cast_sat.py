"""cast.sat: values beyond int8_t are left to what the Cast does with them.

It saturates; code that expects the low byte gets 127 for 200. Clamp where that is what is meant.
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
    Maxs,
    Mins,
    RoundMode,
    SetFlag,
    TPosition,
    WaitFlag,
    half,
    int8_t,
    kernel,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "cast.sat"

N: Final = 256


@kernel
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    out = LocalTensor(int8_t, TPosition.VECOUT, 2 * N, N)
    DataCopy(tile, gm(half, x), N)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Cast(out, tile, RoundMode.CAST_RINT, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(int8_t, z), out, N)


@kernel
def fixed(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    out = LocalTensor(int8_t, TPosition.VECOUT, 2 * N, N)
    DataCopy(tile, gm(half, x), N)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Mins(tile, tile, 127.0, N)
    Maxs(tile, tile, -128.0, N)
    Cast(out, tile, RoundMode.CAST_RINT, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(int8_t, z), out, N)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(-50, N - 50).astype(np.float16)
    z = np.zeros(N, np.int8)
    return variant.launch(1, x, z, **options)
