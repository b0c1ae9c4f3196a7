"""cast.double: float goes to int8_t by way of half and is rounded twice.

3.4999 becomes 3.5 as half, and 4. Round once, to int16_t; half holds that number exactly.
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
    half,
    int8_t,
    int16_t,
    kernel,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "cast.double"

N: Final = 256


@kernel
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(float32, TPosition.VECIN, 0, N)
    between = LocalTensor(half, TPosition.VECCALC, 4 * N, N)
    out = LocalTensor(int8_t, TPosition.VECOUT, 6 * N, N)
    DataCopy(tile, gm(float32, x), N)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Cast(between, tile, RoundMode.CAST_RINT, N)
    Cast(out, between, RoundMode.CAST_RINT, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(int8_t, z), out, N)


@kernel
def fixed(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(float32, TPosition.VECIN, 0, N)
    whole = LocalTensor(int16_t, TPosition.VECCALC, 4 * N, N)
    between = LocalTensor(half, TPosition.VECCALC, 6 * N, N)
    out = LocalTensor(int8_t, TPosition.VECOUT, 8 * N, N)
    DataCopy(tile, gm(float32, x), N)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Cast(whole, tile, RoundMode.CAST_RINT, N)
    Cast(between, whole, RoundMode.CAST_RINT, N)
    Cast(out, between, RoundMode.CAST_RINT, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(int8_t, z), out, N)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(N).astype(np.float32) % 100
    x[[3, 5]] = 3.4999, 5.4999
    z = np.zeros(N, np.int8)
    return variant.launch(1, x, z, **options)
