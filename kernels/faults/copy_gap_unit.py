"""copy.gap_unit: the gap is the pitch of the rows.

A gap counts from the end of a row to the start of the next one. With the pitch of 128 bytes as the
gap, every row after the first comes from too far behind, and the last ones from behind the tensor.
"""

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

CODE = "copy.gap_unit"

N: Final = 1024
NO_PADDING: Final = DataCopyPadExtParams()


@kernel
def broken(x: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    DataCopyPad(tile, gm(half, x), DataCopyExtParams(8, 64, 128), NO_PADDING)


@kernel
def fixed(x: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    DataCopyPad(tile, gm(half, x), DataCopyExtParams(8, 64, 128 - 64), NO_PADDING)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(8 * 64, dtype=np.float16)
    return variant.launch(1, x, **options)
