"""y = x + bias through TQue: the textbook loop of CopyIn, Compute and CopyOut.

``adds`` repeats the Add of each tile, ``buffers`` is the number of buffers of each queue. Loop
after Ascend/msopprof example/sample_inter_core_balance, sample_double_buffer and sample_overhead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulator.ascendc import (
    Add,
    DataCopy,
    GetBlockIdx,
    GlobalTensor,
    TPipe,
    TPosition,
    TQue,
    half,
    kernel,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR


@dataclass(frozen=True)
class QueueTiling:
    """Elements of a block and of a tile, buffers of a queue, Adds of a tile."""

    block: int
    tile: int
    buffers: int = 1
    adds: int = 1


class VectorAdd:
    """One block's share."""

    def __init__(self, x: GM_ADDR, bias: GM_ADDR, y: GM_ADDR, tiling: QueueTiling) -> None:
        self.tiling = tiling
        start = GetBlockIdx() * tiling.block * half.itemsize
        self.xGlobal, self.biasGlobal, self.yGlobal = (GlobalTensor(half) for _ in range(3))
        for tensor, address in ((self.xGlobal, x), (self.biasGlobal, bias), (self.yGlobal, y)):
            tensor.SetGlobalBuffer(address + start, tiling.block)
        pipe = TPipe()
        self.inQueueX = TQue(TPosition.VECIN, tiling.buffers)
        self.inQueueBias = TQue(TPosition.VECIN, tiling.buffers)
        self.outQueueY = TQue(TPosition.VECOUT, tiling.buffers)
        for queue in (self.inQueueX, self.inQueueBias, self.outQueueY):
            pipe.InitBuffer(queue, tiling.buffers, tiling.tile * half.itemsize)

    def Process(self) -> None:
        """Work through the tiles."""
        for start in range(0, self.tiling.block, self.tiling.tile):
            self.CopyIn(start)
            self.Compute()
            self.CopyOut(start)

    def CopyIn(self, start: int) -> None:
        """Fetch one tile of both inputs."""
        xLocal, biasLocal = self.inQueueX.AllocTensor(half), self.inQueueBias.AllocTensor(half)
        DataCopy(xLocal, self.xGlobal[start], self.tiling.tile)
        DataCopy(biasLocal, self.biasGlobal[start], self.tiling.tile)
        self.inQueueX.EnQue(xLocal)
        self.inQueueBias.EnQue(biasLocal)

    def Compute(self) -> None:
        """Add, as often as asked."""
        xLocal, biasLocal = self.inQueueX.DeQue(half), self.inQueueBias.DeQue(half)
        yLocal = self.outQueueY.AllocTensor(half)
        for _ in range(self.tiling.adds):
            Add(yLocal, xLocal, biasLocal, self.tiling.tile)
        self.outQueueY.EnQue(yLocal)
        self.inQueueX.FreeTensor(xLocal)
        self.inQueueBias.FreeTensor(biasLocal)

    def CopyOut(self, start: int) -> None:
        """Store one tile."""
        yLocal = self.outQueueY.DeQue(half)
        DataCopy(self.yGlobal[start], yLocal, self.tiling.tile)
        self.outQueueY.FreeTensor(yLocal)


@kernel
def add_queue(x: GM_ADDR, bias: GM_ADDR, y: GM_ADDR, tiling: QueueTiling) -> None:
    """Add through queues."""
    VectorAdd(x, bias, y, tiling).Process()
