"""PReluGradReduce on 910B: da[c] = sum of updates over every axis but the channel, in float.

This simulator's own implementation. A tile is added up pairwise: first its outer axis, then its
rows down to one repeat, which one instruction reduces. With several tiles per channel the partial
sums go to the workspace, the cores meet, and the partial sums of a channel are added in order. All
sizes follow from the shape alone, so the result is the same for any number of cores. It is rounded
once, to the element type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kernels.p_relu_grad_reduce.tiling_data import (
    BLOCK,
    FLOAT_BLOCK,
    GATHERED,
    MAX_RESULTS,
    TILE,
    Tile,
    tile_of,
)
from kernels.p_relu_grad_reduce.ub_layout import SLOTS, layout
from simulator.ascendc import (
    PIPE_ALL,
    PIPE_V,
    Add,
    BinaryRepeatParams,
    Cast,
    DataCopy,
    DataCopyExtParams,
    DataCopyPad,
    DataCopyPadExtParams,
    GetBlockIdx,
    GetBlockNum,
    GetUserWorkspace,
    GlobalTensor,
    HardEvent,
    PipeBarrier,
    RoundMode,
    SetFlag,
    SyncAll,
    TBuf,
    TPipe,
    TPosition,
    WaitFlag,
    WholeReduceSum,
    float32,
    kernel,
)

if TYPE_CHECKING:
    from kernels.p_relu_grad_reduce.tiling_data import PReluGradReduceTilingData
    from simulator.ascendc import GM_ADDR, LocalTensor
    from simulator.dtypes import DType

MAX_BURSTS: Final = 4095
MAX_REPEATS: Final = 255
MAX_STRIDE: Final = 255
LANES: Final = 64
"""Floats of one repeat."""


class PReluGradReduce:
    """One block's share of the operator."""

    def __init__(
        self,
        dtype: DType,
        updates: GM_ADDR,
        da: GM_ADDR,
        workspace: GM_ADDR,
        tiling: PReluGradReduceTilingData,
    ) -> None:
        self.tiling = tiling
        self.dtype = dtype
        self.widened = dtype is not float32
        self.by_columns = tiling.inner == 1 and tiling.channels > 1
        self.updates, self.da = GlobalTensor(dtype), GlobalTensor(dtype)
        total = tiling.outer * tiling.channels * tiling.inner
        self.updates.SetGlobalBuffer(updates, total)
        self.da.SetGlobalBuffer(da, tiling.channels)
        if tiling.groups > 1:
            self.partial = GlobalTensor(float32)
            self.partial.SetGlobalBuffer(
                GetUserWorkspace(workspace), tiling.groups * tiling.channels
            )
        places = layout(dtype.itemsize)
        buf = TBuf(TPosition.VECCALC)
        TPipe().InitBuffer(buf, places.end)
        self.raw = [buf.GetWithOffset(TILE, at, dtype) for at in places.raw]
        self.results = [buf.GetWithOffset(MAX_RESULTS, at, float32) for at in places.results]
        if self.widened:
            self.wide = buf.GetWithOffset(TILE, places.wide, float32)
            self.rounded = [buf.GetWithOffset(MAX_RESULTS, at, dtype) for at in places.rounded]
        # Sums of partial sums work in the memory of the tiles.
        self.gathered = self.wide if self.widened else self.raw[0]

    def Process(self) -> None:
        """Sum the tiles of the block, then, after all blocks, the partial sums."""
        self._open()
        first = GetBlockIdx() * self.tiling.blockFormer
        last = min(first + self.tiling.blockFormer, self.tiling.tiles)
        for number in range(first, last):
            slot = (number - first) % SLOTS
            self._tile(slot, tile_of(self.tiling, number))
        self._close()
        if self.tiling.groups > 1:
            PipeBarrier(PIPE_ALL)
            SyncAll()
            self._gather()

    def _open(self) -> None:
        for slot in range(SLOTS):
            SetFlag(HardEvent.V_MTE2, slot)
            SetFlag(HardEvent.MTE3_V, slot)

    def _close(self) -> None:
        for slot in range(SLOTS):
            WaitFlag(HardEvent.V_MTE2, slot)
            WaitFlag(HardEvent.MTE3_V, slot)

    # -- sums of tiles -------------------------------------------------------------------------

    def _tile(self, slot: int, tile: Tile) -> None:
        per_block = BLOCK // self.dtype.itemsize
        columns = tile.channels if self.by_columns else tile.inners
        pitch = -(-columns // per_block) * per_block
        rows = 1 if self.by_columns else tile.channels
        raw, result = self.raw[slot], self.results[slot]
        WaitFlag(HardEvent.V_MTE2, slot)
        self._fetch(raw, tile, rows, columns, pitch)
        SetFlag(HardEvent.MTE2_V, slot)
        WaitFlag(HardEvent.MTE2_V, slot)
        data = raw
        if self.widened:
            data = self.wide
            Cast(data, raw, RoundMode.CAST_NONE, tile.outers * rows * pitch)
            PipeBarrier(PIPE_V)
        WaitFlag(HardEvent.MTE3_V, slot)
        self._fold(data, tile.outers, rows * pitch)
        if self.by_columns:
            DataCopy(result, data, -(-columns // FLOAT_BLOCK) * FLOAT_BLOCK)
        else:
            self._sum_rows(result, data, rows, pitch)
        PipeBarrier(PIPE_V)
        SetFlag(HardEvent.V_MTE2, slot)
        if self.tiling.groups > 1:
            target = self.partial[tile.group * self.tiling.channels + tile.channel]
            self._store(slot, target, result, tile.channels)
        else:
            self._finish(slot, result, tile.channel, tile.channels)

    def _fetch(self, raw: LocalTensor, tile: Tile, rows: int, columns: int, pitch: int) -> None:
        """Copy a tile row by row; what pads a row to whole blocks is zero."""
        tiling, item = self.tiling, self.dtype.itemsize
        padding = DataCopyPadExtParams(True, 0, pitch - columns, 0)
        start = (tile.outer * tiling.channels + tile.channel) * tiling.inner + tile.inner
        # Rows of one outer index lie one inner axis apart; so do those of several when the tile
        # has all channels.
        step = tiling.channels if self.by_columns else tiling.inner
        total = tile.outers * rows
        if pitch == columns == step:
            count = total * columns * item
            DataCopyPad(raw, self.updates[start], DataCopyExtParams(1, count), padding)
            return
        gap = (step - columns) * item if total > 1 else 0
        for row in range(0, total, MAX_BURSTS):
            params = DataCopyExtParams(min(MAX_BURSTS, total - row), columns * item, gap)
            DataCopyPad(raw[row * pitch], self.updates[start + row * step], params, padding)

    def _fold(self, data: LocalTensor, parts: int, size: int) -> None:
        """Add up ``parts`` neighbours of ``size`` floats: the second half onto the first."""
        while parts > 1:
            half = -(-parts // 2)
            Add(data, data, data[half * size], (parts - half) * size)
            PipeBarrier(PIPE_V)
            parts = half

    def _sum_rows(self, result: LocalTensor, data: LocalTensor, rows: int, pitch: int) -> None:
        """``result[r]`` = sum of row ``r``."""
        length = pitch
        while length > LANES:
            half = -(-length // (2 * FLOAT_BLOCK)) * FLOAT_BLOCK
            self._fold_rows(data, rows, pitch, half, length - half)
            length = half
        blocks = pitch // FLOAT_BLOCK
        for row in range(0, rows, MAX_REPEATS):
            count = min(MAX_REPEATS, rows - row)
            WholeReduceSum(result[row], data[row * pitch], length, count, 1, 1, blocks)

    def _fold_rows(self, data: LocalTensor, rows: int, pitch: int, half: int, count: int) -> None:
        """Add elements ``half .. half + count`` of every row to its first ``count``."""
        blocks = pitch // FLOAT_BLOCK
        if rows == 1 or blocks > MAX_STRIDE:
            for row in range(rows):
                start = data[row * pitch]
                Add(start, start, data[row * pitch + half], count)
        else:
            params = BinaryRepeatParams(1, 1, 1, blocks, blocks, blocks)
            for column in range(0, count, LANES):
                lanes = min(LANES, count - column)
                for row in range(0, rows, MAX_REPEATS):
                    at = row * pitch + column
                    repeats = min(MAX_REPEATS, rows - row)
                    Add(data[at], data[at], data[at + half], lanes, repeats, params)
        PipeBarrier(PIPE_V)

    # -- results -------------------------------------------------------------------------------

    def _finish(self, slot: int, result: LocalTensor, channel: int, count: int) -> None:
        """Round sums to the element type and store them."""
        if self.widened:
            Cast(self.rounded[slot], result, RoundMode.CAST_RINT, count)
            PipeBarrier(PIPE_V)
            result = self.rounded[slot]
        self._store(slot, self.da[channel], result, count)

    def _store(self, slot: int, target: GlobalTensor, local: LocalTensor, count: int) -> None:
        SetFlag(HardEvent.V_MTE3, slot)
        WaitFlag(HardEvent.V_MTE3, slot)
        DataCopyPad(target, local, DataCopyExtParams(1, count * local.dtype.itemsize))
        SetFlag(HardEvent.MTE3_V, slot)

    def _gather(self) -> None:
        """Add the partial sums of this block's channels, a fixed number of groups at a time."""
        self._open()
        chunks = range(GetBlockIdx(), -(-self.tiling.channels // GATHERED), GetBlockNum())
        for turn, chunk in enumerate(chunks):
            channel = chunk * GATHERED
            count = min(GATHERED, self.tiling.channels - channel)
            self._gather_channels(turn % SLOTS, channel, count)
        self._close()

    def _gather_channels(self, slot: int, channel: int, count: int) -> None:
        groups, channels = self.tiling.groups, self.tiling.channels
        size = float32.itemsize
        pitch = -(-count // FLOAT_BLOCK) * FLOAT_BLOCK
        at_once = TILE // pitch
        result = self.results[slot]
        gap = (channels - count) * size
        padding = DataCopyPadExtParams(True, 0, pitch - count, 0)
        WaitFlag(HardEvent.MTE3_V, slot)
        for group in range(0, groups, at_once):
            rows = min(at_once, groups - group)
            # One buffer serves all turns, so its flags are those of one slot.
            WaitFlag(HardEvent.V_MTE2, 0)
            for row in range(0, rows, MAX_BURSTS):
                bursts = min(MAX_BURSTS, rows - row)
                source = self.partial[(group + row) * channels + channel]
                params = DataCopyExtParams(bursts, count * size, gap if bursts > 1 else 0)
                DataCopyPad(self.gathered[row * pitch], source, params, padding)
            SetFlag(HardEvent.MTE2_V, 0)
            WaitFlag(HardEvent.MTE2_V, 0)
            self._fold(self.gathered, rows, pitch)
            if group == 0:
                DataCopy(result, self.gathered, pitch)
            else:
                Add(result, result, self.gathered, pitch)
            PipeBarrier(PIPE_V)
            SetFlag(HardEvent.V_MTE2, 0)
        self._finish(slot, result, channel, count)


@kernel(auto_sync=False, template=("DTYPE",))
def p_relu_grad_reduce(
    DTYPE: DType,
    grads: GM_ADDR,
    features: GM_ADDR,
    weights: GM_ADDR,
    updates: GM_ADDR,
    da: GM_ADDR,
    workspace: GM_ADDR,
    tiling: PReluGradReduceTilingData,
) -> None:
    """Entry of the operator; ``DTYPE`` is half, bfloat16_t or float."""
    PReluGradReduce(DTYPE, updates, da, workspace, tiling).Process()
