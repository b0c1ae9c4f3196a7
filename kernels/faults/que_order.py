"""que.order: a tensor is freed twice.

A buffer goes from AllocTensor through EnQue and DeQue to FreeTensor, once.
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

CODE = "que.order"

N: Final = 1024


@kernel
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    pipe = TPipe()
    queue = TQueBind(TPosition.VECIN, TPosition.VECOUT, 1)
    pipe.InitBuffer(queue, 1, 2 * N)
    tile = queue.AllocTensor(half)
    DataCopy(tile, gm(half, x), N)
    queue.EnQue(tile)
    tile = queue.DeQue(half)
    DataCopy(gm(half, z), tile, N)
    queue.FreeTensor(tile)
    queue.FreeTensor(tile)


@kernel
def fixed(x: GM_ADDR, z: GM_ADDR) -> None:
    pipe = TPipe()
    queue = TQueBind(TPosition.VECIN, TPosition.VECOUT, 1)
    pipe.InitBuffer(queue, 1, 2 * N)
    tile = queue.AllocTensor(half)
    DataCopy(tile, gm(half, x), N)
    queue.EnQue(tile)
    tile = queue.DeQue(half)
    DataCopy(gm(half, z), tile, N)
    queue.FreeTensor(tile)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(N, dtype=np.float16)
    z = np.zeros(N, np.float16)
    return variant.launch(1, x, z, **options)
