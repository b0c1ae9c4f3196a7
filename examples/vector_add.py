"""z = x + y on eight cores, double-buffered, the way AscendC teaches it.

Run it with ``python examples/vector_add.py`` or ``ascsim run examples/vector_add.py``.
"""

from dataclasses import dataclass

import numpy as np

from simulator.ascendc import (
    GM_ADDR,
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

BUFFER_NUM = 2


@dataclass(frozen=True)
class AddTiling:
    total_length: int
    block_length: int
    tile_length: int


class KernelAdd:
    def Init(self, x: GM_ADDR, y: GM_ADDR, z: GM_ADDR, tiling: AddTiling) -> None:
        self.tiling = tiling
        self.xGm, self.yGm, self.zGm = (GlobalTensor(half) for _ in range(3))
        start = GetBlockIdx() * tiling.block_length * half.itemsize
        for gm, address in ((self.xGm, x), (self.yGm, y), (self.zGm, z)):
            gm.SetGlobalBuffer(address + start, tiling.block_length)
        self.pipe = TPipe()
        self.inQueueX = TQue(TPosition.VECIN, BUFFER_NUM)
        self.inQueueY = TQue(TPosition.VECIN, BUFFER_NUM)
        self.outQueueZ = TQue(TPosition.VECOUT, BUFFER_NUM)
        for queue in (self.inQueueX, self.inQueueY, self.outQueueZ):
            self.pipe.InitBuffer(queue, BUFFER_NUM, tiling.tile_length * half.itemsize)

    def Process(self) -> None:
        for tile in range(self.tiling.block_length // self.tiling.tile_length):
            self.CopyIn(tile)
            self.Compute()
            self.CopyOut(tile)

    def CopyIn(self, tile: int) -> None:
        n = self.tiling.tile_length
        xLocal, yLocal = self.inQueueX.AllocTensor(half), self.inQueueY.AllocTensor(half)
        DataCopy(xLocal, self.xGm[tile * n], n)
        DataCopy(yLocal, self.yGm[tile * n], n)
        self.inQueueX.EnQue(xLocal)
        self.inQueueY.EnQue(yLocal)

    def Compute(self) -> None:
        xLocal, yLocal = self.inQueueX.DeQue(half), self.inQueueY.DeQue(half)
        zLocal = self.outQueueZ.AllocTensor(half)
        Add(zLocal, xLocal, yLocal, self.tiling.tile_length)
        self.outQueueZ.EnQue(zLocal)
        self.inQueueX.FreeTensor(xLocal)
        self.inQueueY.FreeTensor(yLocal)

    def CopyOut(self, tile: int) -> None:
        zLocal = self.outQueueZ.DeQue(half)
        DataCopy(self.zGm[tile * self.tiling.tile_length], zLocal, self.tiling.tile_length)
        self.outQueueZ.FreeTensor(zLocal)


@kernel
def vector_add(x: GM_ADDR, y: GM_ADDR, z: GM_ADDR, tiling: AddTiling) -> None:
    op = KernelAdd()
    op.Init(x, y, z, tiling)
    op.Process()


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(8 * 16384).astype(np.float16) for _ in range(2))
    z = np.empty_like(x)
    run = vector_add[8](x, y, z, AddTiling(x.size, x.size // 8, 2048))
    if not np.array_equal(z, x + y):
        raise SystemExit("the result is wrong")
    print(run.report())
