"""sel.reserve: a buffer fills UB to the brim, and Select needs the last 8 KB.

On 910B modes 1 and 2 of Select keep values in the reserved area at byte 188416.
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

CODE = "sel.reserve"

TOP: Final = 196608 - 1024


@kernel
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(float32, TPosition.VECIN, TOP, 256)
    mask = LocalTensor(uint8_t, TPosition.VECCALC, 0, 32)
    DataCopy(tile, gm(float32, x), 256)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    CompareScalar(mask, tile, 100.0, CMPMODE.GT, 256)
    Select(tile, mask, tile, 0.0, SELMODE.VSEL_TENSOR_SCALAR_MODE, 256)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(float32, z), tile, 256)


@kernel
def fixed(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(float32, TPosition.VECIN, TOP - 8192, 256)
    mask = LocalTensor(uint8_t, TPosition.VECCALC, 0, 32)
    DataCopy(tile, gm(float32, x), 256)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    CompareScalar(mask, tile, 100.0, CMPMODE.GT, 256)
    Select(tile, mask, tile, 0.0, SELMODE.VSEL_TENSOR_SCALAR_MODE, 256)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(float32, z), tile, 256)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(256, dtype=np.float32)
    z = np.zeros(256, np.float32)
    return variant.launch(1, x, z, platform="910b", **options)
