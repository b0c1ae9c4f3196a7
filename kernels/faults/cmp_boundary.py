"""cmp.boundary: a comparison decides what becomes of the threshold itself.

GT and GE differ at x = 6 only, which random inputs hardly ever hit: test 6 and its two
neighbours. Mins leaves nothing to decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernels.faults.tensors import gm
from simulator.ascendc import (
    CMPMODE,
    SELMODE,
    CompareScalar,
    DataCopy,
    Duplicate,
    HardEvent,
    LocalTensor,
    Mins,
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

CODE = "cmp.boundary"

N: Final = 256


@kernel
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    six = LocalTensor(half, TPosition.VECCALC, 2 * N, N)
    mask = LocalTensor(uint8_t, TPosition.VECCALC, 4 * N, N // 8)
    out = LocalTensor(half, TPosition.VECOUT, 6 * N, N)
    DataCopy(tile, gm(half, x), N)
    Duplicate(six, 6.0, N)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    CompareScalar(mask, tile, 6.0, CMPMODE.GT, N)
    Select(out, mask, six, tile, SELMODE.VSEL_TENSOR_TENSOR_MODE, N)
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
    Mins(out, tile, 6.0, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(half, z), out, N)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = (np.arange(N) / 16).astype(np.float16)
    z = np.zeros(N, np.float16)
    return variant.launch(1, x, z, **options)
