"""num.nan_branch: a comparison with NaN is false, so that Select takes 0 for it.

The reference keeps NaN. Relu, Max and Min keep it, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernels.faults.tensors import gm
from simulator.ascendc import (
    CMPMODE,
    SELMODE,
    Compare,
    DataCopy,
    Duplicate,
    HardEvent,
    LocalTensor,
    Relu,
    Select,
    SetFlag,
    TPosition,
    WaitFlag,
    half,
    kernel,
    uint8_t,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "num.nan_branch"

N: Final = 256


@kernel
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    zero = LocalTensor(half, TPosition.VECCALC, 2 * N, N)
    mask = LocalTensor(uint8_t, TPosition.VECCALC, 4 * N, N // 8)
    out = LocalTensor(half, TPosition.VECOUT, 6 * N, N)
    DataCopy(tile, gm(half, x), N)
    Duplicate(zero, 0.0, N)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Compare(mask, tile, zero, CMPMODE.GT, N)
    Select(out, mask, tile, zero, SELMODE.VSEL_TENSOR_TENSOR_MODE, N)
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
    Relu(out, tile, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(half, z), out, N)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.linspace(-2, 2, N).astype(np.float16)
    x[[17, 40]] = np.nan
    z = np.zeros(N, np.float16)
    return variant.launch(1, x, z, **options)
