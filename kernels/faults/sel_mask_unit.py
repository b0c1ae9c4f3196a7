"""sel.mask_unit: the mask is indexed by element, and it holds one bit an element.

The mask of element 256 is byte 32 of the mask, not byte 256.
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
    HardEvent,
    LocalTensor,
    Select,
    SetFlag,
    TPosition,
    WaitFlag,
    float32,
    kernel,
    uint8_t,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "sel.mask_unit"


@kernel
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(float32, TPosition.VECIN, 0, 512)
    mask = LocalTensor(uint8_t, TPosition.VECCALC, 4096, 512)
    out = LocalTensor(float32, TPosition.VECOUT, 8192, 256)
    DataCopy(tile, gm(float32, x), 512)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    CompareScalar(mask, tile, 100.0, CMPMODE.GT, 512)
    Select(out, mask[256], tile[256], 0.0, SELMODE.VSEL_TENSOR_SCALAR_MODE, 256)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(float32, z), out, 256)


@kernel
def fixed(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(float32, TPosition.VECIN, 0, 512)
    mask = LocalTensor(uint8_t, TPosition.VECCALC, 4096, 512)
    out = LocalTensor(float32, TPosition.VECOUT, 8192, 256)
    DataCopy(tile, gm(float32, x), 512)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    CompareScalar(mask, tile, 100.0, CMPMODE.GT, 512)
    Select(out, mask[256 // 8], tile[256], 0.0, SELMODE.VSEL_TENSOR_SCALAR_MODE, 256)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(float32, z), out, 256)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(512, dtype=np.float32)
    z = np.zeros(256, np.float32)
    return variant.launch(1, x, z, **options)
