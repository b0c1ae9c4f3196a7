"""HardSwishGradV2 on 950: queues instead of raw flags, and no barriers inside the arithmetic.

Dependent vector work is ordered by the hardware of this generation, so the kernel is built without
automatic synchronisation and still needs no PipeBarrier. Structure after hicann/ops-nn
activation/hard_swish_grad_v2/op_kernel/arch35/hard_swish_grad_v2.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from kernels.hard_swish_grad_v2.core_split import tiles_3510
from simulator.ascendc import (
    CMPMODE,
    SELMODE,
    Adds,
    Cast,
    CompareScalar,
    DataCopyPad,
    DataCopyPadExtParams,
    DataCopyParams,
    GetBlockIdx,
    GlobalTensor,
    LocalTensor,
    Mul,
    Muls,
    RoundMode,
    Select,
    TBuf,
    TPipe,
    TPosition,
    TQue,
    float32,
    kernel,
    uint8_t,
)

if TYPE_CHECKING:
    from kernels.hard_swish_grad_v2.tiling_data import HardSwishGradV2Arch35TilingData
    from simulator.ascendc import GM_ADDR
    from simulator.dtypes import DType

ONE_THIRD: Final = 0.33333334
LANES: Final = 64
"""float elements of one vector register."""


class HardSwishGradV2:
    """One block's share of the operator; ``buffers`` is 2 with double buffering, else 1.

    ``above_low`` and ``below_high`` say which of the two ends of the line belong to it.
    """

    above_low: ClassVar = CMPMODE.GT
    below_high: ClassVar = CMPMODE.LT

    def __init__(
        self,
        dtype: DType,
        buffers: int,
        gradOutput: GM_ADDR,
        self_: GM_ADDR,
        out: GM_ADDR,
        tiling: HardSwishGradV2Arch35TilingData,
    ) -> None:
        self.dtype = dtype
        self.tiles = tiles_3510(tiling, GetBlockIdx())
        if not self.tiles:
            return
        self.gradGm, self.selfGm, self.outGm = (GlobalTensor(dtype) for _ in range(3))
        for gm, address in ((self.gradGm, gradOutput), (self.selfGm, self_), (self.outGm, out)):
            gm.SetGlobalBuffer(address, tiling.totalNum)
        length = tiling.ubFactor
        pipe = TPipe()
        self.gradQueue = TQue(TPosition.VECIN, buffers)
        self.selfQueue = TQue(TPosition.VECIN, buffers)
        self.outQueue = TQue(TPosition.VECOUT, buffers)
        for queue in (self.gradQueue, self.selfQueue, self.outQueue):
            pipe.InitBuffer(queue, buffers, length * dtype.itemsize)
        floats, mask = TBuf(TPosition.VECCALC), TBuf(TPosition.VECCALC)
        widened = 0 if dtype is float32 else length
        pipe.InitBuffer(floats, 4 * (length + widened))
        pipe.InitBuffer(mask, -(-(length // 8) // 256) * 256)
        self.d = floats.GetWithOffset(length, 0, float32)
        self.x = floats.GetWithOffset(widened, 4 * length, float32) if widened else None
        self.mask = mask.Get(uint8_t)

    def Process(self) -> None:
        """Work through the tiles of the block."""
        for start, count in self.tiles:
            self.CopyIn(start, count)
            self.Compute(-(-count // LANES) * LANES)
            self.CopyOut(start, count)

    def CopyIn(self, start: int, count: int) -> None:
        """Fetch one tile of both inputs."""
        params = DataCopyParams(1, count * self.dtype.itemsize)
        for queue, gm in ((self.gradQueue, self.gradGm), (self.selfQueue, self.selfGm)):
            local = queue.AllocTensor(self.dtype)
            DataCopyPad(local, gm[start], params, DataCopyPadExtParams())
            queue.EnQue(local)

    def Compute(self, count: int) -> None:
        """``out = grad * d(self)`` on ``count`` elements, a whole number of registers."""
        grad, self_ = self.gradQueue.DeQue(self.dtype), self.selfQueue.DeQue(self.dtype)
        out = self.outQueue.AllocTensor(self.dtype)
        if self.x is None:
            self.Factor(self_, count)
            Mul(out, grad, self.d, count)
        else:
            Cast(self.x, self_, RoundMode.CAST_NONE, count)
            self.Factor(self.x, count)
            Cast(self.x, grad, RoundMode.CAST_NONE, count)
            Mul(self.d, self.x, self.d, count)
            Cast(out, self.d, RoundMode.CAST_RINT, count)
        self.outQueue.EnQue(out)
        self.gradQueue.FreeTensor(grad)
        self.selfQueue.FreeTensor(self_)

    def Factor(self, x: LocalTensor, count: int) -> None:
        """``d`` of ``x``: a line between -3 and 3, 0 below and 1 above."""
        d, mask = self.d, self.mask
        Muls(d, x, ONE_THIRD, count)
        Adds(d, d, 0.5, count)
        CompareScalar(mask, x, -3.0, self.above_low, count)
        Select(d, mask, d, 0.0, SELMODE.VSEL_TENSOR_SCALAR_MODE, count)
        CompareScalar(mask, x, 3.0, self.below_high, count)
        Select(d, mask, d, 1.0, SELMODE.VSEL_TENSOR_SCALAR_MODE, count)

    def CopyOut(self, start: int, count: int) -> None:
        """Store one tile."""
        out = self.outQueue.DeQue(self.dtype)
        DataCopyPad(self.outGm[start], out, DataCopyParams(1, count * self.dtype.itemsize))
        self.outQueue.FreeTensor(out)


@kernel(auto_sync=False, template=("DTYPE", "TILING_KEY"))
def hard_swish_grad_v2(
    DTYPE: DType,
    TILING_KEY: int,
    gradOutput: GM_ADDR,
    self_: GM_ADDR,
    out: GM_ADDR,
    workspace: GM_ADDR,
    tiling: HardSwishGradV2Arch35TilingData,
) -> None:
    """Entry of the operator; bits 8..15 of the tiling key select double buffering."""
    op = HardSwishGradV2(DTYPE, 1 + (TILING_KEY >> 8 & 1), gradOutput, self_, out, tiling)
    op.Process()
