"""copy.pad_args: the padding of a row goes up to 32 bytes, which are 16 half elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernels.faults.tensors import gm
from simulator.ascendc import (
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

CODE = "copy.pad_args"

N: Final = 1024


@kernel
def broken(x: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    DataCopyPad(tile, gm(half, x), DataCopyExtParams(1, 48), DataCopyPadExtParams(True, 0, 24, 0))


@kernel
def fixed(x: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    DataCopyPad(tile, gm(half, x), DataCopyExtParams(1, 48), DataCopyPadExtParams(True, 0, 8, 0))


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(N, dtype=np.float16)
    return variant.launch(1, x, **options)
