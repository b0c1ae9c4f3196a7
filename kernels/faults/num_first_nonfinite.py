"""num.first_nonfinite: a product leaves the range of half before it is scaled down.

300 * 300 is no half any more; scaled down first it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernels.faults.tensors import gm
from simulator.ascendc import (
    DataCopy,
    HardEvent,
    LocalTensor,
    Mul,
    Muls,
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

CODE = "num.first_nonfinite"

N: Final = 512


@kernel
def broken(x: GM_ADDR, y: GM_ADDR, z: GM_ADDR) -> None:
    left = LocalTensor(half, TPosition.VECIN, 0, N)
    right = LocalTensor(half, TPosition.VECIN, 2 * N, N)
    out = LocalTensor(half, TPosition.VECOUT, 4 * N, N)
    DataCopy(left, gm(half, x), N)
    DataCopy(right, gm(half, y), N)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Mul(out, left, right, N)
    Muls(out, out, 0.0078125, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(half, z), out, N)


@kernel
def fixed(x: GM_ADDR, y: GM_ADDR, z: GM_ADDR) -> None:
    left = LocalTensor(half, TPosition.VECIN, 0, N)
    right = LocalTensor(half, TPosition.VECIN, 2 * N, N)
    out = LocalTensor(half, TPosition.VECOUT, 4 * N, N)
    DataCopy(left, gm(half, x), N)
    DataCopy(right, gm(half, y), N)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Muls(left, left, 0.0078125, N)
    Mul(out, left, right, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(half, z), out, N)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(N).astype(np.float16)
    y = np.full(N, 300, np.float16)
    z = np.zeros(N, np.float16)
    return variant.launch(1, x, y, z, **options)
