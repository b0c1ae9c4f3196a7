"""Relu in place on the tiles of a large float matrix; one tile at a time is on its way.

Loop after hicann/cann-samples Samples/1_Features/hardware_features/cv_datapath/src/0_separate.asc
(the vector half that runs behind a matrix product).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulator.ascendc import (
    EVENT_ID0,
    PIPE_ALL,
    DataCopyExtParams,
    DataCopyPad,
    DataCopyPadExtParams,
    GetBlockIdx,
    GetBlockNum,
    GlobalTensor,
    HardEvent,
    LocalTensor,
    PipeBarrier,
    Relu,
    SetFlag,
    TPosition,
    WaitFlag,
    float32,
    kernel,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR


@dataclass(frozen=True)
class ReluTiling:
    """A square matrix, the squares dealt out to pairs of cores, and the tile of a pair."""

    size: int
    square: int
    tile: int


@kernel
def relu_tiles(c: GM_ADDR, tiling: ReluTiling) -> None:
    """Each pair of blocks takes every so many-th square; a block takes the upper or lower half."""
    pair, lower = divmod(GetBlockIdx(), 2)
    rows = tiling.tile // 2
    count = rows * tiling.tile
    cGm = GlobalTensor(float32)
    cGm.SetGlobalBuffer(c, tiling.size * tiling.size)
    x = LocalTensor(float32, TPosition.VECCALC, 0, count)
    row_bytes = tiling.tile * float32.itemsize
    gap = (tiling.size - tiling.tile) * float32.itemsize
    across = tiling.size // tiling.square
    inside = range(0, tiling.square, tiling.tile)
    SetFlag(HardEvent.MTE3_MTE2, EVENT_ID0)
    for number in range(pair, across * across, GetBlockNum() // 2):
        down, right = number % across, number // across
        for row in inside:
            for column in inside:
                first = (down * tiling.square + row + lower * rows) * tiling.size
                at = first + right * tiling.square + column
                WaitFlag(HardEvent.MTE3_MTE2, EVENT_ID0)
                DataCopyPad(
                    x, cGm[at], DataCopyExtParams(rows, row_bytes, gap, 0), DataCopyPadExtParams()
                )
                SetFlag(HardEvent.MTE2_V, EVENT_ID0)
                WaitFlag(HardEvent.MTE2_V, EVENT_ID0)
                Relu(x, x, count)
                SetFlag(HardEvent.V_MTE3, EVENT_ID0)
                WaitFlag(HardEvent.V_MTE3, EVENT_ID0)
                DataCopyPad(cGm[at], x, DataCopyExtParams(rows, row_bytes, 0, gap))
                SetFlag(HardEvent.MTE3_MTE2, EVENT_ID0)
    WaitFlag(HardEvent.MTE3_MTE2, EVENT_ID0)
    PipeBarrier(PIPE_ALL)
