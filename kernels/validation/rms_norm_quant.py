"""RmsNorm of half rows, quantised to int8, with vector calls through queues.

``y = round(x / sqrt(mean(x^2) + eps) * gamma * scale + offset)``. Gamma is fetched for each row
or once. Loops after hicann/cann-samples Samples/2_Performance/rms_norm_quant_story/src
(0_naive.asc, 1_preload_gamma.asc, 2_multi_core.asc).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulator.ascendc import (
    Adds,
    Cast,
    DataCopyExtParams,
    DataCopyPad,
    DataCopyPadExtParams,
    Div,
    Duplicate,
    GetBlockIdx,
    GlobalTensor,
    Mul,
    Muls,
    ReduceSum,
    RoundMode,
    Sqrt,
    TBuf,
    TPipe,
    TPosition,
    TQue,
    float32,
    half,
    int8_t,
    kernel,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR, LocalTensor


@dataclass(frozen=True)
class RmsTiling:
    """Rows of a block, elements of a row, and whether gamma is fetched once."""

    rows: int
    width: int
    preload: bool
    epsilon: float = 1e-6


class RmsNormQuant:
    """One block's rows."""

    def __init__(
        self,
        x: GM_ADDR,
        gamma: GM_ADDR,
        scale: GM_ADDR,
        offset: GM_ADDR,
        y: GM_ADDR,
        tiling: RmsTiling,
    ) -> None:
        self.tiling = tiling
        width = tiling.width
        first = GetBlockIdx() * tiling.rows * width
        self.xGm, self.gammaGm, self.yGm = (
            GlobalTensor(half),
            GlobalTensor(half),
            GlobalTensor(int8_t),
        )
        self.xGm.SetGlobalBuffer(x + first * half.itemsize, tiling.rows * width)
        self.gammaGm.SetGlobalBuffer(gamma, width)
        self.yGm.SetGlobalBuffer(y + first, tiling.rows * width)
        pipe = TPipe()
        self.xQueue, self.gammaQueue = TQue(TPosition.VECIN, 1), TQue(TPosition.VECIN, 1)
        self.yQueue = TQue(TPosition.VECOUT, 1)
        for queue, size in ((self.xQueue, 2), (self.gammaQueue, 2), (self.yQueue, 1)):
            pipe.InitBuffer(queue, 1, width * size)
        buffers = [TBuf(TPosition.VECCALC) for _ in range(4)]
        for buffer in buffers[:3]:
            pipe.InitBuffer(buffer, width * float32.itemsize)
        pipe.InitBuffer(buffers[3], 32)
        self.x, self.gamma, self.rms, self.reduced = (b.Get(float32) for b in buffers)
        scalars = GlobalTensor(half), GlobalTensor(int8_t)
        for tensor, address in zip(scalars, (scale, offset), strict=True):
            tensor.SetGlobalBuffer(address, 1)
        self.scale, self.offset = (float(tensor.GetValue(0)) for tensor in scalars)
        self.once = DataCopyExtParams(1, width * half.itemsize)

    def CopyInGamma(self) -> LocalTensor:
        """Fetch gamma and widen it."""
        own = self.gammaQueue.AllocTensor(half)
        DataCopyPad(own, self.gammaGm, self.once, DataCopyPadExtParams())
        self.gammaQueue.EnQue(own)
        return own

    def WidenGamma(self) -> LocalTensor:
        """Return the fetched gamma; its float form is in ``gamma``."""
        own = self.gammaQueue.DeQue(half)
        Cast(self.gamma, own, RoundMode.CAST_NONE, self.tiling.width)
        return own

    def CopyIn(self, row: int) -> None:
        """Fetch a row."""
        own = self.xQueue.AllocTensor(half)
        DataCopyPad(own, self.xGm[row * self.tiling.width], self.once, DataCopyPadExtParams())
        self.xQueue.EnQue(own)

    def Compute(self) -> None:
        """Normalise, scale and narrow a row."""
        n = self.tiling.width
        own = self.xQueue.DeQue(half)
        gamma = None if self.tiling.preload else self.WidenGamma()
        out = self.yQueue.AllocTensor(int8_t)
        Cast(self.x, own, RoundMode.CAST_NONE, n)
        Mul(self.rms, self.x, self.x, n)
        ReduceSum(self.reduced, self.rms, own.ReinterpretCast(float32), n)
        Duplicate(self.rms, self.reduced, n)
        Muls(self.rms, self.rms, 1.0 / n, n)
        Adds(self.rms, self.rms, self.tiling.epsilon, n)
        Sqrt(self.rms, self.rms, n)
        Div(self.x, self.x, self.rms, n)
        Mul(self.rms, self.x, self.gamma, n)
        Muls(self.rms, self.rms, self.scale, n)
        Adds(self.rms, self.rms, self.offset, n)
        narrow = self.rms.ReinterpretCast(half)
        Cast(narrow, self.rms, RoundMode.CAST_NONE, n)
        Cast(out, narrow, RoundMode.CAST_RINT, n)
        self.xQueue.FreeTensor(own)
        if gamma is not None:
            self.gammaQueue.FreeTensor(gamma)
        self.yQueue.EnQue(out)

    def CopyOut(self, row: int) -> None:
        """Store a row."""
        out = self.yQueue.DeQue(int8_t)
        DataCopyPad(self.yGm[row * self.tiling.width], out, DataCopyExtParams(1, self.tiling.width))
        self.yQueue.FreeTensor(out)

    def Process(self) -> None:
        """Work through the rows."""
        if self.tiling.preload:
            self.CopyInGamma()
            self.gammaQueue.FreeTensor(self.WidenGamma())
        for row in range(self.tiling.rows):
            if not self.tiling.preload:
                self.CopyInGamma()
            self.CopyIn(row)
            self.Compute()
            self.CopyOut(row)


@kernel
def rms_norm_quant(
    x: GM_ADDR, gamma: GM_ADDR, scale: GM_ADDR, offset: GM_ADDR, y: GM_ADDR, tiling: RmsTiling
) -> None:
    """Normalise and quantise the rows of this block."""
    RmsNormQuant(x, gamma, scale, offset, y, tiling).Process()
