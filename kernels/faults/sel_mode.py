"""sel.mode: mode 0 takes the first 128 mask bits for every repeat.

The choice made for the first 128 elements is repeated over the whole tile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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

CODE = "sel.mode"


@kernel
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, 512)
    zero = LocalTensor(half, TPosition.VECCALC, 1024, 512)
    mask = LocalTensor(uint8_t, TPosition.VECCALC, 2048, 64)
    out = LocalTensor(half, TPosition.VECOUT, 4096, 512)
    DataCopy(tile, gm(half, x), 512)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Duplicate(zero, 0.0, 512)
    CompareScalar(mask, tile, 100.0, CMPMODE.GT, 512)
    Select(out, mask, tile, zero, SELMODE.VSEL_CMPMASK_SPR, 512)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(half, z), out, 512)


@kernel
def fixed(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, 512)
    zero = LocalTensor(half, TPosition.VECCALC, 1024, 512)
    mask = LocalTensor(uint8_t, TPosition.VECCALC, 2048, 64)
    out = LocalTensor(half, TPosition.VECOUT, 4096, 512)
    DataCopy(tile, gm(half, x), 512)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Duplicate(zero, 0.0, 512)
    CompareScalar(mask, tile, 100.0, CMPMODE.GT, 512)
    Select(out, mask, tile, zero, SELMODE.VSEL_TENSOR_TENSOR_MODE, 512)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(half, z), out, 512)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(512, dtype=np.float16)
    z = np.zeros(512, np.float16)
    return variant.launch(1, x, z, **options)
