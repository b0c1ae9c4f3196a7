"""ub.lost_write: the second copy overwrites the first before anything has read it.

Both tiles go to the same place; the first one is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernels.faults.tensors import gm
from simulator.ascendc import (
    PIPE_MTE2,
    Add,
    DataCopy,
    HardEvent,
    LocalTensor,
    PipeBarrier,
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

CODE = "ub.lost_write"

N: Final = 1024


@kernel
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    source = gm(half, x)
    first = LocalTensor(half, TPosition.VECIN, 0, N)
    second = LocalTensor(half, TPosition.VECIN, 0, N)
    out = LocalTensor(half, TPosition.VECOUT, 4 * N, N)
    DataCopy(first, source, N)
    PipeBarrier(PIPE_MTE2)
    DataCopy(second, source[N], N)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Add(out, first, second, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(half, z), out, N)


@kernel
def fixed(x: GM_ADDR, z: GM_ADDR) -> None:
    source = gm(half, x)
    first = LocalTensor(half, TPosition.VECIN, 0, N)
    second = LocalTensor(half, TPosition.VECIN, 2 * N, N)
    out = LocalTensor(half, TPosition.VECOUT, 4 * N, N)
    DataCopy(first, source, N)
    PipeBarrier(PIPE_MTE2)
    DataCopy(second, source[N], N)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Add(out, first, second, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(half, z), out, N)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(2 * N, dtype=np.float16)
    z = np.zeros(N, np.float16)
    return variant.launch(1, x, z, **options)
