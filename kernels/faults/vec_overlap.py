"""vec.overlap: a widening cast in place overwrites what it still has to read.

Repeat 0 writes 256 bytes and reads 128: the second half of what it writes is the source of
repeat 1. Put the source behind, so that the reads stay ahead of the writes.
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
    kernel,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "vec.overlap"

N: Final = 1024


@kernel
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    wide = LocalTensor(float32, TPosition.VECCALC, 0, N)
    narrow = LocalTensor(half, TPosition.VECIN, 0, N)
    DataCopy(narrow, gm(half, x), N)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Cast(wide, narrow, RoundMode.CAST_NONE, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(float32, z), wide, N)


@kernel
def fixed(x: GM_ADDR, z: GM_ADDR) -> None:
    wide = LocalTensor(float32, TPosition.VECCALC, 0, N)
    narrow = LocalTensor(half, TPosition.VECIN, 4 * N, N)
    DataCopy(narrow, gm(half, x), N)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Cast(wide, narrow, RoundMode.CAST_NONE, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(float32, z), wide, N)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(N, dtype=np.float16)
    z = np.zeros(N, np.float32)
    return variant.launch(1, x, z, **options)
