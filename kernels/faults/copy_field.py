"""copy.field: the field of the block count has 12 bits.

A board takes 4096 for 0 and moves nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernels.faults.tensors import gm
from simulator.ascendc import (
    DataCopy,
    DataCopyParams,
    LocalTensor,
    TPosition,
    half,
    kernel,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "copy.field"

N: Final = 1024


@kernel
def broken(x: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, 16 * N)
    DataCopy(tile, gm(half, x), DataCopyParams(4096, 1, 0, 0))


@kernel
def fixed(x: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, 16 * N)
    DataCopy(tile, gm(half, x), DataCopyParams(512, 2, 0, 0))


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.zeros(64 * N, np.float16)
    return variant.launch(1, x, **options)
