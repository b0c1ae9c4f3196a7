"""copy.dummy: the sum takes the filler behind each row as data.

A padded copy fills a row up to 32 bytes. Without a padding value the filler repeats the first
element of the row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernels.faults.tensors import gm
from simulator.ascendc import (
    DataCopyExtParams,
    DataCopyPad,
    DataCopyPadExtParams,
    HardEvent,
    LocalTensor,
    ReduceSum,
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

CODE = "copy.dummy"

NO_PADDING: Final = DataCopyPadExtParams()
ZEROS: Final = DataCopyPadExtParams(True, 0, 8, 0)


@kernel
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, 64)
    total = LocalTensor(half, TPosition.VECOUT, 1024, 16)
    work = LocalTensor(half, TPosition.VECCALC, 2048, 64)
    DataCopyPad(tile, gm(half, x), DataCopyExtParams(2, 24 * 2), NO_PADDING)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    ReduceSum(total, tile, work, 64)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopyPad(gm(half, z), total, DataCopyExtParams(1, 2))


@kernel
def fixed(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, 64)
    total = LocalTensor(half, TPosition.VECOUT, 1024, 16)
    work = LocalTensor(half, TPosition.VECCALC, 2048, 64)
    DataCopyPad(tile, gm(half, x), DataCopyExtParams(2, 24 * 2), ZEROS)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    ReduceSum(total, tile, work, 64)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopyPad(gm(half, z), total, DataCopyExtParams(1, 2))


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.ones(48, np.float16)
    z = np.zeros(1, np.float16)
    return variant.launch(1, x, z, **options)
