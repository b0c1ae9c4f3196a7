"""gm.oob: the last tile has the full length although the tensor ends before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernels.faults.tensors import gm
from simulator.ascendc import (
    PIPE_MTE2,
    DataCopy,
    LocalTensor,
    PipeBarrier,
    TPosition,
    half,
    kernel,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "gm.oob"

N: Final = 1024


@kernel
def broken(x: GM_ADDR) -> None:
    source = gm(half, x)
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    for start in range(0, 1536, N):
        DataCopy(tile, source[start], N)
        PipeBarrier(PIPE_MTE2)


@kernel
def fixed(x: GM_ADDR) -> None:
    source = gm(half, x)
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    for start in range(0, 1536, N):
        DataCopy(tile, source[start], min(N, 1536 - start))
        PipeBarrier(PIPE_MTE2)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(1536, dtype=np.float16)
    return variant.launch(1, x, **options)
