"""Which elements each core of MaxPoolingGrad works on.

Source: hicann/ops-nn experimental/pooling/max_pooling_grad/op_kernel/max_pooling_grad.h (Init).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernels.max_pooling_grad.tiling_data import MaxPoolingGradTilingData


@dataclass(frozen=True)
class Share:
    """Elements of one core: where they begin, how many, in how many tiles, the last tile's size."""

    offset: int
    count: int
    loops: int
    tail: int


def share_of(tiling: MaxPoolingGradTilingData, core: int, cores: int) -> Share:
    """Return the share of ``core`` among ``cores``; the last core stops at the tensor's end."""
    tile, big = tiling.ubPartDataNum, tiling.bigCoreDataNum
    offset = big * core
    if core < tiling.tailBlockNum:
        share = Share(offset, big, tiling.bigCoreLoopNum, tiling.bigCoreTailDataNum)
    else:
        small = tiling.smallCoreDataNum
        offset -= (big - small) * (core - tiling.tailBlockNum)
        share = Share(offset, small, tiling.smallCoreLoopNum, tiling.smallCoreTailDataNum)
    valid = tiling.lastCoreValidDataNum
    if core == cores - 1 and valid:
        loops = -(-valid // tile)
        share = Share(offset, valid, loops, valid - tile * (loops - 1))
    return share
