"""Softmax of rows with vector calls: the row maximum and sum stay in UB, or pass the scalar unit.

Loops after mirror-cann/asc-devkit examples/01_simd_cpp_api/05_best_practices/02_reg_compute/
softmax_high_performance/softmax.asc (in UB) and hicann/cann-samples
Samples/2_Performance/softmax_regbase_story/src/0_membase.asc (scalar).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulator.ascendc import (
    EVENT_ID0,
    EVENT_ID1,
    PIPE_ALL,
    PIPE_V,
    Adds,
    DataCopyExtParams,
    DataCopyPad,
    DataCopyPadExtParams,
    Div,
    Duplicate,
    Exp,
    GetBlockIdx,
    GlobalTensor,
    HardEvent,
    LocalTensor,
    Muls,
    PipeBarrier,
    ReduceMax,
    ReduceSum,
    SetFlag,
    Sub,
    TBuf,
    TPipe,
    TPosition,
    WaitFlag,
    float32,
    kernel,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR


@dataclass(frozen=True)
class SoftmaxTiling:
    """Rows of a block, elements of a row, rows of a tile."""

    rows: int
    width: int
    tile_rows: int


def _tensors(x: GM_ADDR, y: GM_ADDR, tiling: SoftmaxTiling) -> tuple[GlobalTensor, GlobalTensor]:
    start = GetBlockIdx() * tiling.rows * tiling.width * float32.itemsize
    xGm, yGm = GlobalTensor(float32), GlobalTensor(float32)
    for tensor, address in ((xGm, x), (yGm, y)):
        tensor.SetGlobalBuffer(address + start, tiling.rows * tiling.width)
    return xGm, yGm


@kernel
def softmax_in_ub(x: GM_ADDR, y: GM_ADDR, tiling: SoftmaxTiling) -> None:
    """Seven calls a row: maximum and sum are spread over a row each with Duplicate."""
    xGm, yGm = _tensors(x, y, tiling)
    width = tiling.width
    size = tiling.rows * width
    xLocal, yLocal, exps = (
        LocalTensor(float32, TPosition.VECCALC, i * size * float32.itemsize, size) for i in range(3)
    )
    # One row serves all: it is read before the next row writes it.
    sums = LocalTensor(float32, TPosition.VECCALC, 3 * size * float32.itemsize, width)
    row_copy = DataCopyExtParams(1, width * float32.itemsize)
    for row in range(tiling.rows):
        DataCopyPad(xLocal[row * width], xGm[row * width], row_copy, DataCopyPadExtParams())
    SetFlag(HardEvent.MTE2_V, EVENT_ID0)
    WaitFlag(HardEvent.MTE2_V, EVENT_ID0)
    for row in range(tiling.rows):
        x_row, y_row, e_row = (t[row * width] for t in (xLocal, yLocal, exps))
        ReduceMax(e_row, x_row, sums, width)
        Duplicate(e_row, e_row, width)
        Sub(e_row, x_row, e_row, width)
        Exp(e_row, e_row, width)
        ReduceSum(sums, e_row, y_row, width)
        Duplicate(sums, sums, width)
        Div(y_row, e_row, sums, width)
    SetFlag(HardEvent.V_MTE3, EVENT_ID0)
    WaitFlag(HardEvent.V_MTE3, EVENT_ID0)
    for row in range(tiling.rows):
        DataCopyPad(yGm[row * width], yLocal[row * width], row_copy)
    PipeBarrier(PIPE_ALL)


class RowSoftmax:
    """Softmax whose row maximum and sum go through the scalar unit."""

    def __init__(self, tiling: SoftmaxTiling) -> None:
        pipe = TPipe()
        tile = tiling.tile_rows * tiling.width * float32.itemsize
        self.buffers = [TBuf(TPosition.VECCALC) for _ in range(6)]
        for buffer in self.buffers[:4]:
            pipe.InitBuffer(buffer, tile)
        pipe.InitBuffer(self.buffers[4], tiling.width * float32.itemsize)
        pipe.InitBuffer(self.buffers[5], 32)
        self.x = [self.buffers[i].Get(float32) for i in (0, 1)]
        self.y = [self.buffers[i].Get(float32) for i in (2, 3)]
        self.work = self.buffers[4].Get(float32)
        self.reduced = self.buffers[5].Get(float32)

    def row(self, x: LocalTensor, y: LocalTensor, count: int) -> None:
        """``y = exp(x - max) / sum``."""
        ReduceMax(self.reduced, x, self.work, count)
        PipeBarrier(PIPE_V)
        Adds(x, x, -self.reduced.GetValue(0), count)
        PipeBarrier(PIPE_V)
        Exp(y, x, count)
        PipeBarrier(PIPE_V)
        ReduceSum(self.reduced, y, self.work, count)
        PipeBarrier(PIPE_V)
        Muls(y, y, 1.0 / self.reduced.GetValue(0), count)


@kernel
def softmax_scalar(x: GM_ADDR, y: GM_ADDR, tiling: SoftmaxTiling) -> None:
    """Five calls a row and two scalar reads; tiles of rows are double-buffered."""
    xGm, yGm = _tensors(x, y, tiling)
    own = RowSoftmax(tiling)
    width = tiling.width
    params = DataCopyExtParams(tiling.tile_rows, width * float32.itemsize)
    for event in (EVENT_ID0, EVENT_ID1):
        SetFlag(HardEvent.V_MTE2, event)
        SetFlag(HardEvent.MTE3_V, event)
    for number in range(tiling.rows // tiling.tile_rows):
        event = EVENT_ID1 if number % 2 else EVENT_ID0
        xLocal, yLocal = own.x[number % 2], own.y[number % 2]
        at = number * tiling.tile_rows * width
        WaitFlag(HardEvent.V_MTE2, event)
        DataCopyPad(xLocal, xGm[at], params, DataCopyPadExtParams())
        SetFlag(HardEvent.MTE2_V, event)
        WaitFlag(HardEvent.MTE2_V, event)
        WaitFlag(HardEvent.MTE3_V, event)
        for row in range(tiling.tile_rows):
            own.row(xLocal[row * width], yLocal[row * width], width)
        SetFlag(HardEvent.V_MTE2, event)
        SetFlag(HardEvent.V_MTE3, event)
        WaitFlag(HardEvent.V_MTE3, event)
        DataCopyPad(yGm[at], yLocal, params)
        SetFlag(HardEvent.MTE3_V, event)
    for event in (EVENT_ID0, EVENT_ID1):
        WaitFlag(HardEvent.V_MTE2, event)
        WaitFlag(HardEvent.MTE3_V, event)
    PipeBarrier(PIPE_ALL)
