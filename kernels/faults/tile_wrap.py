"""tile.wrap: an offset of five billion elements does not fit 32 bits.

On a board it wraps to another place, for large tensors only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernels.faults.tensors import gm
from kernels.tiling_struct import Int, TilingData
from simulator.ascendc import (
    DataCopy,
    HardEvent,
    LocalTensor,
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

CODE = "tile.wrap"

N: Final = 1024
OFFSET: Final = 5_000_000_000


class NarrowTiling(TilingData):
    """The offset in 32 bits."""

    offset = Int("uint32_t")


class WideTiling(TilingData):
    """The offset in 64 bits."""

    offset = Int("uint64_t")


@kernel
def broken(x: GM_ADDR, z: GM_ADDR, tiling: NarrowTiling) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    DataCopy(tile, gm(half, x)[tiling.offset - OFFSET], N)
    SetFlag(HardEvent.MTE2_MTE3, 0)
    WaitFlag(HardEvent.MTE2_MTE3, 0)
    DataCopy(gm(half, z), tile, N)


@kernel
def fixed(x: GM_ADDR, z: GM_ADDR, tiling: WideTiling) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    DataCopy(tile, gm(half, x)[tiling.offset - OFFSET], N)
    SetFlag(HardEvent.MTE2_MTE3, 0)
    WaitFlag(HardEvent.MTE2_MTE3, 0)
    DataCopy(gm(half, z), tile, N)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block; ``x`` is the part that starts at ``OFFSET``."""
    x = np.arange(N, dtype=np.float16)
    z = np.zeros(N, np.float16)
    kinds = {"broken": NarrowTiling, "fixed": WideTiling}
    return variant.launch(1, x, z, kinds[variant.name](offset=OFFSET), **options)
