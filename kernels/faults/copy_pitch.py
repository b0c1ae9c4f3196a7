"""copy.pitch: rows are read packed, but the copy put each of them at a 32-byte boundary.

A row of 24 elements takes 48 bytes of data and 64 bytes of UB. From the second row on, everything
is shifted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernels.faults.tensors import gm
from simulator.ascendc import (
    Adds,
    DataCopy,
    DataCopyExtParams,
    DataCopyPad,
    DataCopyPadExtParams,
    HardEvent,
    LocalTensor,
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

CODE = "copy.pitch"

NO_PADDING: Final = DataCopyPadExtParams()


@kernel
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, 128)
    out = LocalTensor(half, TPosition.VECOUT, 1024, 128)
    DataCopyPad(tile, gm(half, x), DataCopyExtParams(4, 24 * 2), NO_PADDING)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Adds(out, tile, 1.0, 4 * 24)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(half, z), out, 4 * 24)


@kernel
def fixed(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, 128)
    out = LocalTensor(half, TPosition.VECOUT, 1024, 128)
    DataCopyPad(tile, gm(half, x), DataCopyExtParams(1, 4 * 24 * 2), NO_PADDING)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Adds(out, tile, 1.0, 4 * 24)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(half, z), out, 4 * 24)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(96, dtype=np.float16)
    z = np.zeros(96, np.float16)
    return variant.launch(1, x, z, **options)
