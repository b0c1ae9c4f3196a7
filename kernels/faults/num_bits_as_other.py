"""num.bits_as_other: bfloat16_t is copied by multiplying it by 1 as half.

Infinity and the largest numbers are NaN in that view. Integers keep all bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import ml_dtypes
import numpy as np

from kernels.faults.tensors import gm
from simulator.ascendc import (
    Adds,
    DataCopy,
    HardEvent,
    LocalTensor,
    Muls,
    SetFlag,
    TPosition,
    WaitFlag,
    bfloat16_t,
    half,
    int16_t,
    kernel,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "num.bits_as_other"

N: Final = 256


@kernel
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(bfloat16_t, TPosition.VECIN, 0, N)
    out = LocalTensor(bfloat16_t, TPosition.VECOUT, 2 * N, N)
    DataCopy(tile, gm(bfloat16_t, x), N)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Muls(out.ReinterpretCast(half), tile.ReinterpretCast(half), 1.0, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(bfloat16_t, z), out, N)


@kernel
def fixed(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(bfloat16_t, TPosition.VECIN, 0, N)
    out = LocalTensor(bfloat16_t, TPosition.VECOUT, 2 * N, N)
    DataCopy(tile, gm(bfloat16_t, x), N)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Adds(out.ReinterpretCast(int16_t), tile.ReinterpretCast(int16_t), 0, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(bfloat16_t, z), out, N)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(N).astype(ml_dtypes.bfloat16)
    x[100] = np.inf
    z = np.zeros(N, ml_dtypes.bfloat16)
    return variant.launch(1, x, z, **options)
