"""HardSwishGradV2 on 910B: out = gradOutput * d(self), tile by tile on two halves of UB.

``d`` is 0 for self <= -3, 1 for self >= 3 and self/3 + 0.5 between. One buffer is cut by hand into
two halves; raw event flags let the copies of one half run beside the arithmetic of the other.
Structure after hicann/ops-nn activation/hard_swish_grad_v2/op_kernel/hard_swish_grad_v2_220.h,
which is built without the compiler's automatic synchronisation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from kernels.hard_swish_grad_v2.core_split import tiles_2201
from simulator.ascendc import (
    CMPMODE,
    EVENT_ID0,
    EVENT_ID1,
    PIPE_V,
    SELMODE,
    Adds,
    Cast,
    CompareScalar,
    DataCopyExtParams,
    DataCopyPad,
    DataCopyPadExtParams,
    GetBlockIdx,
    GlobalTensor,
    HardEvent,
    LocalTensor,
    Mul,
    Muls,
    PipeBarrier,
    RoundMode,
    Select,
    SetFlag,
    TBuf,
    TPipe,
    TPosition,
    WaitFlag,
    bfloat16_t,
    float32,
    kernel,
    uint8_t,
)

if TYPE_CHECKING:
    from kernels.hard_swish_grad_v2.tiling_data import HardSwishGradV2TilingData
    from simulator.ascendc import GM_ADDR
    from simulator.dtypes import DType

ONE_THIRD: Final = 0.33333334
NO_PADDING: Final = DataCopyPadExtParams()
COMPARE_LANES: Final = 64
"""float elements of one repeat; a compare takes whole repeats."""


class _Half:
    """The tensors of one half of UB and the event id that guards it."""

    def __init__(self, dtype: DType, buf: TBuf, start: int, length: int, event: int) -> None:
        self.event = event
        self.grad = buf.GetWithOffset(length, start, float32)
        self.self_ = buf.GetWithOffset(length, start + 4 * length, float32)
        self.above = buf.GetWithOffset(2 * length, start + 8 * length, uint8_t)
        self.below = buf.GetWithOffset(2 * length, start + 10 * length, uint8_t)
        if dtype is float32:
            self.raw_grad, self.raw_self, self.out = self.grad, self.self_, self.self_
        else:
            self.raw_grad = buf.GetWithOffset(length, start + 2 * length, dtype)
            self.raw_self = buf.GetWithOffset(length, start + 6 * length, dtype)
            self.out = buf.GetWithOffset(length, start + 4 * length, dtype)


class HardSwishGradV2:
    """One block's share of the operator.

    ``above_low`` and ``below_high`` say which of the two ends of the line belong to it.
    """

    above_low: ClassVar = CMPMODE.GT
    below_high: ClassVar = CMPMODE.LT

    def __init__(
        self,
        dtype: DType,
        gradOutput: GM_ADDR,
        self_: GM_ADDR,
        out: GM_ADDR,
        tiling: HardSwishGradV2TilingData,
    ) -> None:
        self.dtype = dtype
        self.tiles = tiles_2201(tiling, GetBlockIdx())
        self.gradGm, self.selfGm, self.outGm = (GlobalTensor(dtype) for _ in range(3))
        for gm, address in ((self.gradGm, gradOutput), (self.selfGm, self_), (self.outGm, out)):
            gm.SetGlobalBuffer(address, tiling.elementNum)
        buf = TBuf(TPosition.VECCALC)
        TPipe().InitBuffer(buf, tiling.ubSize)
        length = tiling.elementNumEachCore
        self.halves = (
            _Half(dtype, buf, 0, length, EVENT_ID0),
            _Half(dtype, buf, tiling.ubSize // 2, length, EVENT_ID1),
        )

    def Process(self) -> None:
        """Work through the tiles of the block, alternating between the halves."""
        for half in self.halves:
            SetFlag(HardEvent.MTE3_MTE2, half.event)
        for number, (start, count) in enumerate(self.tiles):
            half = self.halves[number % 2]
            self.CopyInAndCast(half, start, count)
            self.Compute(half, count)
            self.CastAndCopyOut(half, start, count)
        for half in self.halves:
            WaitFlag(HardEvent.MTE3_MTE2, half.event)

    def CopyInAndCast(self, half: _Half, start: int, count: int) -> None:
        """Fetch one tile of both inputs and widen 16-bit types to float."""
        params = DataCopyExtParams(1, count * self.dtype.itemsize)
        WaitFlag(HardEvent.MTE3_MTE2, half.event)
        DataCopyPad(half.raw_grad, self.gradGm[start], params, NO_PADDING)
        DataCopyPad(half.raw_self, self.selfGm[start], params, NO_PADDING)
        SetFlag(HardEvent.MTE2_V, half.event)
        WaitFlag(HardEvent.MTE2_V, half.event)
        if self.dtype is not float32:
            Cast(half.grad, half.raw_grad, RoundMode.CAST_NONE, count)
            Cast(half.self_, half.raw_self, RoundMode.CAST_NONE, count)
            PipeBarrier(PIPE_V)

    def Compute(self, half: _Half, count: int) -> None:
        """``self`` becomes ``d(self)`` in place, then the product with the gradient."""
        whole = -(-count // COMPARE_LANES) * COMPARE_LANES
        d: LocalTensor = half.self_
        CompareScalar(half.above, d, -3.0, self.above_low, whole)
        PipeBarrier(PIPE_V)
        CompareScalar(half.below, d, 3.0, self.below_high, whole)
        PipeBarrier(PIPE_V)
        Muls(d, d, ONE_THIRD, count)
        PipeBarrier(PIPE_V)
        Adds(d, d, 0.5, count)
        PipeBarrier(PIPE_V)
        Select(d, half.above, d, 0.0, SELMODE.VSEL_TENSOR_SCALAR_MODE, count)
        PipeBarrier(PIPE_V)
        Select(d, half.below, d, 1.0, SELMODE.VSEL_TENSOR_SCALAR_MODE, count)
        PipeBarrier(PIPE_V)
        Mul(d, half.grad, d, count)
        PipeBarrier(PIPE_V)

    def CastAndCopyOut(self, half: _Half, start: int, count: int) -> None:
        """Narrow 16-bit types, store the tile and release its half."""
        if self.dtype is not float32:
            mode = RoundMode.CAST_RINT if self.dtype is bfloat16_t else RoundMode.CAST_NONE
            Cast(half.out, half.self_, mode, count)
            PipeBarrier(PIPE_V)
        SetFlag(HardEvent.V_MTE3, half.event)
        WaitFlag(HardEvent.V_MTE3, half.event)
        params = DataCopyExtParams(1, count * self.dtype.itemsize)
        DataCopyPad(self.outGm[start], half.out, params)
        SetFlag(HardEvent.MTE3_MTE2, half.event)


@kernel(auto_sync=False, template=("DTYPE",))
def hard_swish_grad_v2(
    DTYPE: DType,
    gradOutput: GM_ADDR,
    self_: GM_ADDR,
    out: GM_ADDR,
    workspace: GM_ADDR,
    tiling: HardSwishGradV2TilingData,
) -> None:
    """Entry of the operator; ``DTYPE`` is half, bfloat16_t or float."""
    if GetBlockIdx() >= tiling.needCoreNum:
        return
    HardSwishGradV2(DTYPE, gradOutput, self_, out, tiling).Process()
