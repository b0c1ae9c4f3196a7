"""que.slots: nine buffers of one direction, and eight event ids.

Every buffer that is being filled or drained holds an event id; there are eight for each event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernels.faults.tensors import gm
from simulator.ascendc import (
    DataCopy,
    TPipe,
    TPosition,
    TQueBind,
    half,
    kernel,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "que.slots"

N: Final = 1024


@kernel
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    source, target = gm(half, x), gm(half, z)
    pipe = TPipe()
    queue = TQueBind(TPosition.VECIN, TPosition.VECOUT, 9)
    pipe.InitBuffer(queue, 9, 2 * N)
    for start in range(0, 9 * N, N):
        tile = queue.AllocTensor(half)
        DataCopy(tile, source[start], N)
        queue.EnQue(tile)
    for start in range(0, 9 * N, N):
        tile = queue.DeQue(half)
        DataCopy(target[start], tile, N)
        queue.FreeTensor(tile)


@kernel
def fixed(x: GM_ADDR, z: GM_ADDR) -> None:
    source, target = gm(half, x), gm(half, z)
    pipe = TPipe()
    queue = TQueBind(TPosition.VECIN, TPosition.VECOUT, 2)
    pipe.InitBuffer(queue, 2, 2 * N)
    for start in range(0, 9 * N, N):
        tile = queue.AllocTensor(half)
        DataCopy(tile, source[start], N)
        queue.EnQue(tile)
        tile = queue.DeQue(half)
        DataCopy(target[start], tile, N)
        queue.FreeTensor(tile)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(9 * N, dtype=np.float16)
    z = np.zeros(9 * N, np.float16)
    return variant.launch(1, x, z, **options)
