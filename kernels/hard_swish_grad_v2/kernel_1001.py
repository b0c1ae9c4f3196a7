"""HardSwishGradV2 on 910: out = gradOutput * d(self), with the calls of that generation.

``d`` is 0 for self <= -3, 1 for self >= 3 and self/3 + 0.5 between. As on 910B one buffer is cut by
hand into two halves and raw event flags order the pipes, but

- there is no DataCopyPad: of a tile whose bytes are no multiple of 32 the whole blocks are worked
  on first, then once more the block that ends with the tile; a tensor shorter than one block goes
  through the scalar unit;
- comparisons take two tensors, so constants are filled in, and Select loads the compare mask
  register, so that both are called repeat by repeat.

Two faults of the published kernel are known. Its second pass over a tile does not wait for the
first, so that its fetches may overwrite what the first still computes with and stores; no result
can rest on that, and this kernel has a flag there, the only one that the published one lacks.
Where ``out`` is one of the inputs the second pass reads results instead of inputs: that is kept.
Structure after hicann/ops-nn activation/hard_swish_grad_v2/op_kernel/hard_swish_grad_v2_100.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from kernels.hard_swish_grad_v2.core_split import tiles_2201
from simulator.ascendc import (
    CMPMODE,
    EVENT_ID0,
    EVENT_ID1,
    PIPE_ALL,
    PIPE_V,
    SELMODE,
    Adds,
    BinaryRepeatParams,
    Cast,
    Compare,
    DataCopy,
    Duplicate,
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
    float32,
    kernel,
    uint8_t,
)

if TYPE_CHECKING:
    from kernels.hard_swish_grad_v2.tiling_data import HardSwishGradV2TilingData
    from simulator.ascendc import GM_ADDR
    from simulator.dtypes import DType

ONE_THIRD: Final = 0.33333334
BLOCK_BYTES: Final = 32
LANES: Final = 64
"""float elements of one repeat."""
MASK_STEP: Final = 64
"""Bytes from the 8 mask bytes of one repeat to those of the next."""
ONE_REPEAT: Final = BinaryRepeatParams(1, 1, 1, 8, 8, 8)


class _Half:
    """The tensors of one half of UB and the event id that guards it."""

    def __init__(self, dtype: DType, buf: TBuf, start: int, length: int, event: int) -> None:
        self.event = event
        self.grad = buf.GetWithOffset(length, start, float32)
        self.self_ = buf.GetWithOffset(length, start + 4 * length, float32)
        self.above = buf.GetWithOffset(4 * length, start + 8 * length, uint8_t)
        self.below = buf.GetWithOffset(4 * length, start + 12 * length, uint8_t)
        self.constant = buf.GetWithOffset(length, start + 16 * length, float32)
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
        self.total = tiling.elementNum
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
            WaitFlag(HardEvent.MTE3_MTE2, half.event)
            self.Tile(half, start, count)
            SetFlag(HardEvent.MTE3_MTE2, half.event)
        for half in self.halves:
            WaitFlag(HardEvent.MTE3_MTE2, half.event)

    def Tile(self, half: _Half, start: int, count: int) -> None:
        """One tile in whole blocks of 32 bytes; the last block may be worked on twice."""
        per_block = BLOCK_BYTES // self.dtype.itemsize
        whole = count // per_block * per_block
        if self.total < per_block:
            self.ByScalar(half, start, count)
            return
        if whole:
            self.Blocks(half, start, whole)
        if whole < count:
            # Not in the published kernel: the fetches of the second pass overwrite what the first
            # pass has not read yet, and the store of the first may come behind them.
            SetFlag(HardEvent.MTE3_MTE2, half.event)
            WaitFlag(HardEvent.MTE3_MTE2, half.event)
            self.Blocks(half, start + count - per_block, per_block)

    def Blocks(self, half: _Half, start: int, count: int) -> None:
        """Fetch, compute and store ``count`` elements, a whole number of blocks."""
        DataCopy(half.raw_grad, self.gradGm[start], count)
        DataCopy(half.raw_self, self.selfGm[start], count)
        SetFlag(HardEvent.MTE2_V, half.event)
        WaitFlag(HardEvent.MTE2_V, half.event)
        self.Compute(half, count)
        SetFlag(HardEvent.V_MTE3, half.event)
        WaitFlag(HardEvent.V_MTE3, half.event)
        DataCopy(self.outGm[start], half.out, count)

    def ByScalar(self, half: _Half, start: int, count: int) -> None:
        """Fetch and store element by element, with everything stopped between the steps."""
        for i in range(count):
            half.raw_grad.SetValue(i, self.gradGm.GetValue(start + i))
            half.raw_self.SetValue(i, self.selfGm.GetValue(start + i))
        PipeBarrier(PIPE_ALL)
        self.Compute(half, count)
        PipeBarrier(PIPE_ALL)
        for i in range(count):
            self.outGm.SetValue(start + i, half.out.GetValue(i))
        PipeBarrier(PIPE_ALL)

    def Compute(self, half: _Half, count: int) -> None:
        """``self`` becomes ``d(self)`` in place, then the product with the gradient."""
        d: LocalTensor = half.self_
        if self.dtype is not float32:
            Cast(half.grad, half.raw_grad, RoundMode.CAST_NONE, count)
            Cast(d, half.raw_self, RoundMode.CAST_NONE, count)
            PipeBarrier(PIPE_V)
        repeats = -(-count // LANES)
        self.CompareWith(half, half.above, -3.0, self.above_low, repeats)
        self.CompareWith(half, half.below, 3.0, self.below_high, repeats)
        Muls(d, d, ONE_THIRD, count)
        PipeBarrier(PIPE_V)
        Adds(d, d, 0.5, count)
        PipeBarrier(PIPE_V)
        self.SelectOr(half, half.above, 0.0, repeats)
        self.SelectOr(half, half.below, 1.0, repeats)
        Mul(d, half.grad, d, count)
        PipeBarrier(PIPE_V)
        if self.dtype is not float32:
            Cast(half.out, d, RoundMode.CAST_NONE, count)
            PipeBarrier(PIPE_V)

    def CompareWith(
        self, half: _Half, mask: LocalTensor, value: float, mode: CMPMODE, repeats: int
    ) -> None:
        """8 mask bytes for each repeat of ``self mode value``, ``MASK_STEP`` bytes apart."""
        Duplicate(half.constant, value, repeats * LANES)
        PipeBarrier(PIPE_V)
        for r in range(repeats):
            at = r * LANES
            Compare(
                mask[r * MASK_STEP], half.self_[at], half.constant[at], mode, LANES, 1, ONE_REPEAT
            )
        PipeBarrier(PIPE_V)

    def SelectOr(self, half: _Half, mask: LocalTensor, value: float, repeats: int) -> None:
        """``self`` where the mask is set, else ``value``."""
        Duplicate(half.constant, value, repeats * LANES)
        PipeBarrier(PIPE_V)
        for r in range(repeats):
            d, other = half.self_[r * LANES], half.constant[r * LANES]
            Select(
                d,
                mask[r * MASK_STEP],
                d,
                other,
                SELMODE.VSEL_CMPMASK_SPR,
                LANES,
                1,
                ONE_REPEAT,
            )
            PipeBarrier(PIPE_V)


@kernel(auto_sync=False, template=("DTYPE",))
def hard_swish_grad_v2(
    DTYPE: DType,
    gradOutput: GM_ADDR,
    self_: GM_ADDR,
    out: GM_ADDR,
    workspace: GM_ADDR,
    tiling: HardSwishGradV2TilingData,
) -> None:
    """Entry of the operator; ``DTYPE`` is half or float."""
    if GetBlockIdx() >= tiling.needCoreNum:
        return
    HardSwishGradV2(DTYPE, gradOutput, self_, out, tiling).Process()
