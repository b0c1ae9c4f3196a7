"""que.depth: the only buffer is still out when the next one is asked for.

AllocTensor waits for a buffer that no later instruction can free.
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

CODE = "que.depth"

N: Final = 1024


@kernel
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    source, target = gm(half, x), gm(half, z)
    pipe = TPipe()
    queue = TQueBind(TPosition.VECIN, TPosition.VECOUT, 1)
    pipe.InitBuffer(queue, 1, 2 * N)
    for start in range(0, 2 * N, N):
        tile = queue.AllocTensor(half)
        DataCopy(tile, source[start], N)
        queue.EnQue(tile)
        tile = queue.DeQue(half)
        DataCopy(target[start], tile, N)


@kernel
def fixed(x: GM_ADDR, z: GM_ADDR) -> None:
    source, target = gm(half, x), gm(half, z)
    pipe = TPipe()
    queue = TQueBind(TPosition.VECIN, TPosition.VECOUT, 1)
    pipe.InitBuffer(queue, 1, 2 * N)
    for start in range(0, 2 * N, N):
        tile = queue.AllocTensor(half)
        DataCopy(tile, source[start], N)
        queue.EnQue(tile)
        tile = queue.DeQue(half)
        DataCopy(target[start], tile, N)
        queue.FreeTensor(tile)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(2 * N, dtype=np.float16)
    z = np.zeros(2 * N, np.float16)
    return variant.launch(1, x, z, **options)
