"""copy.len: 1000 half elements are 2000 bytes, which is no multiple of 32.

DataCopy moves whole blocks of 32 bytes: a board leaves the last 8 elements out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernels.faults.tensors import gm
from simulator.ascendc import (
    DataCopy,
    DataCopyExtParams,
    DataCopyPad,
    DataCopyPadExtParams,
    LocalTensor,
    TPosition,
    half,
    kernel,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "copy.len"

N: Final = 1024
NO_PADDING: Final = DataCopyPadExtParams()


@kernel
def broken(x: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    DataCopy(tile, gm(half, x), 1000)


@kernel
def fixed(x: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    DataCopyPad(tile, gm(half, x), DataCopyExtParams(1, 2000), NO_PADDING)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(N, dtype=np.float16)
    return variant.launch(1, x, **options)
