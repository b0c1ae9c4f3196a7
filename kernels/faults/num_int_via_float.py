"""num.int_via_float: indices go through float, which holds integers up to 2^24 only.

2^24 + 1 becomes 2^24. Add in int32_t.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernels.faults.tensors import gm
from simulator.ascendc import (
    Adds,
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

CODE = "num.int_via_float"

N: Final = 256


@kernel
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(int32_t, TPosition.VECIN, 0, N)
    wide = LocalTensor(float32, TPosition.VECCALC, 4 * N, N)
    out = LocalTensor(int32_t, TPosition.VECOUT, 8 * N, N)
    DataCopy(tile, gm(int32_t, x), N)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Cast(wide, tile, RoundMode.CAST_RINT, N)
    Adds(wide, wide, 2.0, N)
    Cast(out, wide, RoundMode.CAST_RINT, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(int32_t, z), out, N)


@kernel
def fixed(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(int32_t, TPosition.VECIN, 0, N)
    out = LocalTensor(int32_t, TPosition.VECOUT, 4 * N, N)
    DataCopy(tile, gm(int32_t, x), N)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Adds(out, tile, 2, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(int32_t, z), out, N)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(2**24 - 100, 2**24 - 100 + N).astype(np.int32)
    z = np.zeros(N, np.int32)
    return variant.launch(1, x, z, **options)
