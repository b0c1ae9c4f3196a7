"""MaxPoolingGrad on 910B: dx = dy where x equals y, else 0, tile by tile through queues.

Two entries: ``max_pooling_grad`` is the published kernel with its faults, and
``max_pooling_grad_fixed`` the same pipeline without them. The published one

- copies tiles with DataCopy, which moves whole blocks of 32 bytes only: the elements behind the
  last whole block of the tensor are neither read nor written;
- tests ``x - y == 0``, which is false for equal infinities, whose difference is NaN;
- declares the bit mask with the type of its data when that is float.

Structure after hicann/ops-nn experimental/pooling/max_pooling_grad/op_kernel/max_pooling_grad.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kernels.max_pooling_grad.core_split import share_of
from simulator.ascendc import (
    CMPMODE,
    SELMODE,
    Compare,
    CompareScalar,
    DataCopy,
    DataCopyExtParams,
    DataCopyPad,
    DataCopyPadExtParams,
    Duplicate,
    GetBlockIdx,
    GetBlockNum,
    GlobalTensor,
    LocalTensor,
    Select,
    Sub,
    TBuf,
    TPipe,
    TPosition,
    TQue,
    half,
    kernel,
    uint8_t,
)

if TYPE_CHECKING:
    from kernels.max_pooling_grad.tiling_data import MaxPoolingGradTilingData
    from simulator.ascendc import GM_ADDR
    from simulator.dtypes import DType

BUFFER_NUM: Final = 1
REPEAT_BYTES: Final = 256
BLOCK_BYTES: Final = 32
NO_PADDING: Final = DataCopyPadExtParams()


class MaxPoolingGrad:
    """The published kernel: CopyIn, Compute and CopyOut over the tiles of one core."""

    def __init__(
        self,
        dtype: DType,
        dy: GM_ADDR,
        x: GM_ADDR,
        y: GM_ADDR,
        dx: GM_ADDR,
        tiling: MaxPoolingGradTilingData,
    ) -> None:
        self.dtype = dtype
        self.tile = tiling.ubPartDataNum
        self.share = share_of(tiling, GetBlockIdx(), GetBlockNum())
        self.dyGm, self.xGm, self.yGm, self.dxGm = (GlobalTensor(dtype) for _ in range(4))
        start = self.share.offset * dtype.itemsize
        for gm, address in ((self.dyGm, dy), (self.xGm, x), (self.yGm, y), (self.dxGm, dx)):
            gm.SetGlobalBuffer(address + start, self.share.count)
        self.pipe = TPipe()
        self.inQueueDy = TQue(TPosition.VECIN, BUFFER_NUM)
        self.inQueueX = TQue(TPosition.VECIN, BUFFER_NUM)
        self.inQueueY = TQue(TPosition.VECIN, BUFFER_NUM)
        self.outQueueDx = TQue(TPosition.VECOUT, BUFFER_NUM)
        for queue in (self.inQueueDy, self.inQueueX, self.inQueueY, self.outQueueDx):
            self.pipe.InitBuffer(queue, BUFFER_NUM, self.tile * dtype.itemsize)
        self.InitBuffers()

    def InitBuffers(self) -> None:
        """Difference, selector and zeros; the selector has the type of float data, not of bits."""
        self.diffBuf, self.selectorBuf, self.zeroBuf = (TBuf(TPosition.VECCALC) for _ in range(3))
        selector = uint8_t if self.dtype is half else self.dtype
        self.pipe.InitBuffer(self.diffBuf, self.tile * self.dtype.itemsize)
        self.pipe.InitBuffer(self.selectorBuf, self.tile * selector.itemsize)
        self.pipe.InitBuffer(self.zeroBuf, self.tile * self.dtype.itemsize)

    def Process(self) -> None:
        """Work through the tiles of the core."""
        count = self.tile
        for loop in range(self.share.loops):
            if loop == self.share.loops - 1:
                count = self.share.tail
            self.CopyIn(loop * self.tile, count)
            self.Compute(count)
            self.CopyOut(loop * self.tile, count)

    def WholeRepeats(self, count: int) -> int:
        """``count`` rounded up to what a comparison takes, a multiple of 256 bytes."""
        lanes = REPEAT_BYTES // self.dtype.itemsize
        return min(-(-count // lanes) * lanes, self.tile)

    def CopyIn(self, start: int, count: int) -> None:
        """Fetch one tile of dy, x and y."""
        dy = self.inQueueDy.AllocTensor(self.dtype)
        x = self.inQueueX.AllocTensor(self.dtype)
        y = self.inQueueY.AllocTensor(self.dtype)
        self.Load(dy, self.dyGm[start], count)
        self.Load(x, self.xGm[start], count)
        self.Load(y, self.yGm[start], count)
        self.inQueueDy.EnQue(dy)
        self.inQueueX.EnQue(x)
        self.inQueueY.EnQue(y)

    def Compute(self, count: int) -> None:
        """``dx = x == y ? dy : 0`` for one tile."""
        dy = self.inQueueDy.DeQue(self.dtype)
        x = self.inQueueX.DeQue(self.dtype)
        y = self.inQueueY.DeQue(self.dtype)
        dx = self.outQueueDx.AllocTensor(self.dtype)
        self.Choose(dx, dy, x, y, count)
        self.outQueueDx.EnQue(dx)
        self.inQueueDy.FreeTensor(dy)
        self.inQueueX.FreeTensor(x)
        self.inQueueY.FreeTensor(y)

    def CopyOut(self, start: int, count: int) -> None:
        """Store one tile of dx."""
        dx = self.outQueueDx.DeQue(self.dtype)
        self.Store(self.dxGm[start], dx, count)
        self.outQueueDx.FreeTensor(dx)

    def Load(self, local: LocalTensor, gm: GlobalTensor, count: int) -> None:
        """GM to UB; drops what is no whole block."""
        DataCopy(local, gm, count)

    def Store(self, gm: GlobalTensor, local: LocalTensor, count: int) -> None:
        """UB to GM; drops what is no whole block."""
        DataCopy(gm, local, count)

    def Choose(
        self, dx: LocalTensor, dy: LocalTensor, x: LocalTensor, y: LocalTensor, count: int
    ) -> None:
        """``diff = x - y``; ``selector = diff == 0``; ``dx = selector ? dy : 0``."""
        whole = self.WholeRepeats(count)
        diff, zero = self.diffBuf.Get(self.dtype), self.zeroBuf.Get(self.dtype)
        # The device takes the float pointer for bytes; the cast is written out here.
        selector = self.selectorBuf.Get(uint8_t)
        if whole > count:
            # The lanes behind the tile differ from 0, so that they select nothing.
            Duplicate(diff, 1, whole)
        Sub(diff, x, y, count)
        CompareScalar(selector, diff, 0.0, CMPMODE.EQ, whole)
        Duplicate(zero, 0, whole)
        Select(dx, selector, dy, zero, SELMODE.VSEL_TENSOR_TENSOR_MODE, whole)


class FixedMaxPoolingGrad(MaxPoolingGrad):
    """Any number of elements, and equal infinities are equal."""

    def InitBuffers(self) -> None:
        """One bit an element."""
        self.selectorBuf = TBuf(TPosition.VECCALC)
        self.pipe.InitBuffer(self.selectorBuf, self.tile // 8)

    def Load(self, local: LocalTensor, gm: GlobalTensor, count: int) -> None:
        """GM to UB, to the byte."""
        DataCopyPad(local, gm, DataCopyExtParams(1, count * self.dtype.itemsize), NO_PADDING)

    def Store(self, gm: GlobalTensor, local: LocalTensor, count: int) -> None:
        """UB to GM, to the byte."""
        DataCopyPad(gm, local, DataCopyExtParams(1, count * self.dtype.itemsize))

    def Choose(
        self, dx: LocalTensor, dy: LocalTensor, x: LocalTensor, y: LocalTensor, count: int
    ) -> None:
        """``selector = x == y``; ``dx = selector ? dy : 0``."""
        whole = self.WholeRepeats(count)
        per_block = BLOCK_BYTES // self.dtype.itemsize
        filled = -(-count // per_block) * per_block
        if whole > filled:
            # The comparison takes whole repeats; what no copy has written gets a value first.
            Duplicate(x[filled:], 0, whole - filled)
            Duplicate(y[filled:], 0, whole - filled)
        selector = self.selectorBuf.Get(uint8_t)
        Compare(selector, x, y, CMPMODE.EQ, whole)
        Select(dx, selector, dy, 0.0, SELMODE.VSEL_TENSOR_SCALAR_MODE, count)


@kernel(template=("DTYPE",))
def max_pooling_grad(
    DTYPE: DType,
    dy: GM_ADDR,
    x: GM_ADDR,
    y: GM_ADDR,
    dx: GM_ADDR,
    workspace: GM_ADDR,
    tiling: MaxPoolingGradTilingData,
) -> None:
    """Entry of the published kernel; ``DTYPE`` is half or float."""
    MaxPoolingGrad(DTYPE, dy, x, y, dx, tiling).Process()


@kernel(template=("DTYPE",))
def max_pooling_grad_fixed(
    DTYPE: DType,
    dy: GM_ADDR,
    x: GM_ADDR,
    y: GM_ADDR,
    dx: GM_ADDR,
    workspace: GM_ADDR,
    tiling: MaxPoolingGradTilingData,
) -> None:
    """Entry of the kernel without the published one's faults."""
    FixedMaxPoolingGrad(DTYPE, dy, x, y, dx, tiling).Process()
