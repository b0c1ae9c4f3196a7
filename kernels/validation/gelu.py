"""Gelu in its tanh form as eight vector calls a tile, double-buffered.

``y = x / (1 + exp(-1.595769 * (x + 0.044715 * x^3)))``. Loop after mirror-cann/asc-devkit
examples/01_simd_cpp_api/05_best_practices/02_reg_compute/gelu_high_performance/gelu.asc.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.ascendc import (
    EVENT_ID0,
    EVENT_ID1,
    PIPE_ALL,
    PIPE_V,
    Add,
    Adds,
    DataCopyExtParams,
    DataCopyPad,
    DataCopyPadExtParams,
    Div,
    Exp,
    GetBlockIdx,
    GlobalTensor,
    HardEvent,
    LocalTensor,
    Mul,
    Muls,
    PipeBarrier,
    SetFlag,
    TPosition,
    WaitFlag,
    float32,
    kernel,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR

CUBIC: Final = 0.044715
SCALE: Final = -1.595769


@dataclass(frozen=True)
class GeluTiling:
    """Columns of the matrix, the part of one block, and rows of a tile."""

    columns: int
    block_rows: int
    block_columns: int
    tile_rows: int


class Pair(NamedTuple):
    """Input and output of a tile and the event id that guards them."""

    x: LocalTensor
    y: LocalTensor
    event: int


def compute(x: LocalTensor, y: LocalTensor, count: int) -> None:
    """``y = gelu(x)``; each call needs the result of the one before."""
    Mul(y, x, x, count)
    PipeBarrier(PIPE_V)
    Mul(y, y, x, count)
    PipeBarrier(PIPE_V)
    Muls(y, y, CUBIC, count)
    PipeBarrier(PIPE_V)
    Add(y, x, y, count)
    PipeBarrier(PIPE_V)
    Muls(y, y, SCALE, count)
    PipeBarrier(PIPE_V)
    Exp(y, y, count)
    PipeBarrier(PIPE_V)
    Adds(y, y, 1.0, count)
    PipeBarrier(PIPE_V)
    Div(y, x, y, count)


@kernel
def gelu(x: GM_ADDR, y: GM_ADDR, tiling: GeluTiling, rows: int) -> None:
    """One block's rectangle of the matrix."""
    down = rows // tiling.block_rows
    block = GetBlockIdx()
    start = (block % down) * tiling.block_rows * tiling.columns
    start += (block // down) * tiling.block_columns
    xGm, yGm = GlobalTensor(float32), GlobalTensor(float32)
    for tensor, address in ((xGm, x), (yGm, y)):
        tensor.SetGlobalBuffer(address + start * float32.itemsize)
    count = tiling.tile_rows * tiling.block_columns
    places = [LocalTensor(float32, TPosition.VECCALC, i * count * 4, count) for i in range(4)]
    pairs = (Pair(places[0], places[2], EVENT_ID0), Pair(places[1], places[3], EVENT_ID1))
    row_bytes = tiling.block_columns * float32.itemsize
    gap = (tiling.columns - tiling.block_columns) * float32.itemsize
    for pair in pairs:
        SetFlag(HardEvent.V_MTE2, pair.event)
        SetFlag(HardEvent.MTE3_V, pair.event)
    for number in range(tiling.block_rows // tiling.tile_rows):
        pair = pairs[number % 2]
        at = number * tiling.tile_rows * tiling.columns
        WaitFlag(HardEvent.V_MTE2, pair.event)
        params = DataCopyExtParams(tiling.tile_rows, row_bytes, gap, 0)
        DataCopyPad(pair.x, xGm[at], params, DataCopyPadExtParams())
        SetFlag(HardEvent.MTE2_V, pair.event)
        WaitFlag(HardEvent.MTE2_V, pair.event)
        WaitFlag(HardEvent.MTE3_V, pair.event)
        compute(pair.x, pair.y, count)
        SetFlag(HardEvent.V_MTE2, pair.event)
        SetFlag(HardEvent.V_MTE3, pair.event)
        WaitFlag(HardEvent.V_MTE3, pair.event)
        DataCopyPad(yGm[at], pair.y, DataCopyExtParams(tiling.tile_rows, row_bytes, 0, gap))
        SetFlag(HardEvent.MTE3_V, pair.event)
    for pair in pairs:
        WaitFlag(HardEvent.V_MTE2, pair.event)
        WaitFlag(HardEvent.MTE3_V, pair.event)
    PipeBarrier(PIPE_ALL)
