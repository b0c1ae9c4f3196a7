"""PReluGradReduce on 950: da = sum of updates over the reduced axes, in float, rounded once.

Source: hicann/ops-nn activation/p_relu_grad_reduce/op_kernel/p_relu_grad_reduce_apt.cpp and hicann/
opbase pkg_inc/op_common/atvoss/reduce (reduce_sch.h, reduce_sch_aux_base.h). Tiles of one output
are added in pairs, then merged in a cache like the digits of a binary counter. When cores share the
tiles of an output, each leaves its partial sums in the workspace, all cores meet, and the partial
sums are added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kernels.p_relu_grad_reduce_apt.copies import copy_tile, is_packed
from kernels.p_relu_grad_reduce_apt.summing import (
    FLOAT_BLOCK,
    LANES,
    add_rows,
    sum_along_rows,
    sum_over_rows,
)
from kernels.p_relu_grad_reduce_apt.tiles import (
    Tiles,
    cache_level,
    nearest_power_of_two,
)
from kernels.p_relu_grad_reduce_apt.tiling_data import CACHE_BYTES, PATTERN_A_ID, ReduceKey
from simulator.ascendc import (
    PIPE_ALL,
    Add,
    Cast,
    DataCopyExtParams,
    DataCopyPad,
    DataCopyPadExtParams,
    Duplicate,
    GetBlockIdx,
    GetUserWorkspace,
    GlobalTensor,
    HardEvent,
    PipeBarrier,
    RoundMode,
    SetFlag,
    SetSysWorkspace,
    SyncAll,
    TBuf,
    TPipe,
    TPosition,
    WaitFlag,
    float32,
    kernel,
)

if TYPE_CHECKING:
    from kernels.p_relu_grad_reduce_apt.tiles import Tile
    from kernels.p_relu_grad_reduce_apt.tiling_data import ReduceOpTilingData
    from simulator.ascendc import GM_ADDR, LocalTensor
    from simulator.dtypes import DType

_BLOCK: Final = 32
_FLOAT_BYTES: Final = 4


class PReluGradReduce:
    """One block's share of the operator."""

    def __init__(
        self,
        dtype: DType,
        key: ReduceKey,
        updates: GM_ADDR,
        da: GM_ADDR,
        workspace: GM_ADDR,
        tiling: ReduceOpTilingData,
    ) -> None:
        self.dtype, self.tiling = dtype, tiling
        self.key = key
        self.casts = dtype is not float32
        self.updates, self.da = GlobalTensor(dtype), GlobalTensor(dtype)
        self.partial = GlobalTensor(float32)
        self.updates.SetGlobalBuffer(updates)
        self.da.SetGlobalBuffer(da)
        self.partial.SetGlobalBuffer(workspace)
        self._allocate()

    def _allocate(self) -> None:
        """Inputs (two, or four without casts), computed tiles, rounded results, result, cache."""
        tiling, item = self.tiling, self.dtype.itemsize
        elements = tiling.basicBlock // item
        sizes = [tiling.basicBlock] * (2 if self.casts else 4)
        sizes += [elements * _FLOAT_BYTES] * (2 if self.casts else 0)
        results = len(sizes)
        sizes += [tiling.resultBlock, tiling.resultBlock, CACHE_BYTES]
        offsets = [sum(sizes[:k]) for k in range(len(sizes))]
        buf = TBuf(TPosition.VECCALC)
        TPipe().InitBuffer(buf, sum(sizes))
        self.inputs = [
            buf.GetWithOffset(elements, at, self.dtype) for at in offsets[: 2 if self.casts else 4]
        ]
        self.computed = [
            buf.GetWithOffset(elements, at, float32) for at in offsets[2:results] if self.casts
        ]
        count = tiling.resultBlock // _FLOAT_BYTES
        self.rounded = buf.GetWithOffset(tiling.resultBlock // item, offsets[results], self.dtype)
        self.result = buf.GetWithOffset(count, offsets[results + 1], float32)
        self.cache = buf.GetWithOffset(CACHE_BYTES // _FLOAT_BYTES, offsets[-1], float32)
        self.turn = 0

    def Process(self) -> None:
        """Sum this block's tiles; then, where cores share sums, the partial ones."""
        for number in range(len(self.inputs)):
            SetFlag(HardEvent.V_MTE2, number)
        SetFlag(HardEvent.MTE3_V, 0)
        tiles = Tiles(self.tiling, self.key, self.dtype.itemsize)
        if self.key.pattern_id // 10 == PATTERN_A_ID:
            self._move(tiles)
        elif tiles.grouped:
            self._sum_shared(tiles)
        else:
            tiling = self.tiling
            first = GetBlockIdx() * tiling.factorACntPerCore
            for a_index in range(
                first, min(first + tiling.factorACntPerCore, tiling.factorATotalCnt)
            ):
                total, kept = self._sum(tiles, a_index, 0, tiling.factorRTotalCnt)
                rows, length = tiles.out_rows(a_index)
                self._finish(total, kept, tiles.out_offset(a_index), rows, length)
        WaitFlag(HardEvent.MTE3_V, 0)
        for number in range(len(self.inputs)):
            WaitFlag(HardEvent.V_MTE2, number)

    # -- tiles ---------------------------------------------------------------------------------

    def _sum(self, tiles: Tiles, a_index: int, first: int, end: int) -> tuple[LocalTensor, int]:
        """Add up R tiles ``first .. end`` of one A tile; returns the sums and how many they are.

        Tile ``i`` is joined by tile ``i + half`` where there is one, with half the largest power
        of two below the number of tiles.
        """
        WaitFlag(HardEvent.MTE3_V, 0)
        half = nearest_power_of_two(end - first)
        pairs = end - first - half
        level = 0
        kept = pitch = 0
        for index in range(half):
            tile = tiles.tile(a_index, first + index)
            data = self._fetch(tile)
            if index < pairs:
                other_tile = tiles.tile(a_index, first + index + half)
                other = self._fetch(other_tile)
                if (other_tile.valid, other_tile.rows) > (tile.valid, tile.rows):
                    # A tile at the end of its axis is shorter: it is added to the longer one.
                    data, other, tile, other_tile = other, data, other_tile, tile
                if tiles.ends_with_r:
                    add_rows(data, other, tile.rows, tile.pitch, other_tile.valid)
                else:
                    Add(data, data, other, other_tile.rows * tile.pitch)
                self._release(other)
            kept = tile.kept if tiles.ends_with_r else tile.pitch
            pitch = -(-kept // LANES) * LANES
            level = cache_level(index)
            target = self.result if level else self.cache
            if tiles.ends_with_r:
                sum_along_rows(target, data, tile.rows, tile.pitch, tile.valid)
            else:
                sum_over_rows(target, data, tile.rows, tile.pitch)
            self._release(data)
            for digit in range(level):
                into = self.cache[level * pitch] if digit == level - 1 else self.result
                Add(into, self.result, self.cache[digit * pitch], kept)
        top = half.bit_length() - 1
        return self.cache[top * pitch], kept

    def _fetch(self, tile: Tile) -> LocalTensor:
        """Copy a tile into the next buffer and widen it to float."""
        number = self.turn % len(self.inputs)
        raw = self.inputs[number]
        self.turn += 1
        WaitFlag(HardEvent.V_MTE2, number)
        if is_packed(tile, self.dtype.itemsize):
            # A strided copy leaves what pads a row as it was; it must not be undefined.
            Duplicate(raw, 0.0, tile.rows * tile.pitch)
            SetFlag(HardEvent.V_MTE2, number)
            WaitFlag(HardEvent.V_MTE2, number)
        copy_tile(raw, self.updates, tile)
        SetFlag(HardEvent.MTE2_V, number)
        WaitFlag(HardEvent.MTE2_V, number)
        if not self.casts:
            return raw
        wide = self.computed[number]
        if tile.valid == tile.pitch or tile.rows == 1 or not self.key.ends_with_r:
            count = (tile.rows - 1) * tile.pitch
            count += tile.valid if self.key.ends_with_r else tile.pitch
            Cast(wide, raw, RoundMode.CAST_NONE, count)
        else:
            for row in range(tile.rows):
                at = row * tile.pitch
                Cast(wide[at], raw[at], RoundMode.CAST_NONE, tile.valid)
        SetFlag(HardEvent.V_MTE2, number)
        return wide

    def _release(self, data: LocalTensor) -> None:
        """Give an input buffer back once it has been summed; casts did so before."""
        if not self.casts:
            SetFlag(HardEvent.V_MTE2, next(k for k, raw in enumerate(self.inputs) if raw is data))

    # -- results -------------------------------------------------------------------------------

    def _finish(self, total: LocalTensor, kept: int, offset: int, rows: int, length: int) -> None:
        """Round sums to the element type and store them; rows lie densely in memory."""
        out = total
        if self.casts:
            Cast(self.rounded, total, RoundMode.CAST_RINT, kept)
            out = self.rounded
        SetFlag(HardEvent.V_MTE3, 0)
        WaitFlag(HardEvent.V_MTE3, 0)
        self._store(self.da[offset], out, rows, length)

    def _store(self, target: GlobalTensor, local: LocalTensor, rows: int, length: int) -> None:
        """Copy rows that are padded to the input's blocks in UB."""
        item = local.dtype.itemsize
        per_block = _BLOCK // self.dtype.itemsize
        pitch = -(-length // per_block) * per_block * item
        held = -(-length * item // _BLOCK) * _BLOCK
        params = DataCopyExtParams(rows, length * item, (pitch - held) // _BLOCK)
        DataCopyPad(target, local, params)
        SetFlag(HardEvent.MTE3_V, 0)

    def _move(self, tiles: Tiles) -> None:
        """Nothing is summed: the output is the input, through float and back for 16-bit types."""
        tiling = self.tiling
        first = GetBlockIdx() * tiling.factorACntPerCore
        for a_index in range(first, min(first + tiling.factorACntPerCore, tiling.factorATotalCnt)):
            tile = tiles.tile(a_index, 0)
            number = self.turn % len(self.inputs)
            data = self._fetch(tile)
            if self.casts:
                WaitFlag(HardEvent.MTE3_V, 0)
                self._finish(data, tile.kept, tile.offset, 1, tile.kept)
                continue
            WaitFlag(HardEvent.MTE3_V, 0)
            SetFlag(HardEvent.V_MTE3, 0)
            WaitFlag(HardEvent.V_MTE3, 0)
            self._store(self.da[tile.offset], data, 1, tile.kept)
            SetFlag(HardEvent.MTE3_MTE2, number)
            WaitFlag(HardEvent.MTE3_MTE2, number)
            self._release(data)

    # -- sums that cores share -----------------------------------------------------------------

    def _sum_shared(self, tiles: Tiles) -> None:
        """Partial sums of this block to the workspace; after all blocks, their sums."""
        tiling = self.tiling
        a_index, group = divmod(GetBlockIdx(), tiling.groupR)
        first = group * tiling.factorRCntPerCore
        end = min(first + tiling.factorRCntPerCore, tiling.factorRTotalCnt)
        row = -(-tiling.outSize // LANES) * LANES
        if first < end and a_index < tiling.factorATotalCnt:
            total, _ = self._sum(tiles, a_index, first, end)
            rows, length = tiles.out_rows(a_index)
            SetFlag(HardEvent.V_MTE3, 0)
            WaitFlag(HardEvent.V_MTE3, 0)
            self._store(self.partial[group * row + tiles.out_offset(a_index)], total, rows, length)
        PipeBarrier(PIPE_ALL)
        SyncAll()
        chunks = -(-tiling.outSize // LANES)
        per_core = -(-chunks // tiling.coreNum)
        first = GetBlockIdx() * per_core
        for chunk in range(first, min(first + per_core, chunks)):
            self._sum_partial(chunk * LANES, row)

    def _sum_partial(self, offset: int, row: int) -> None:
        """Add the partial sums of up to 64 outputs."""
        tiling = self.tiling
        count = min(LANES, tiling.outSize - offset)
        pitch = -(-count // FLOAT_BLOCK) * FLOAT_BLOCK
        number = self.turn % len(self.inputs)
        self.turn += 1
        data = self.inputs[number].ReinterpretCast(float32)
        WaitFlag(HardEvent.V_MTE2, number)
        params = DataCopyExtParams(
            tiling.groupR, count * _FLOAT_BYTES, (row - count) * _FLOAT_BYTES
        )
        padding = DataCopyPadExtParams(True, 0, pitch - count, 0)
        DataCopyPad(data, self.partial[offset], params, padding)
        SetFlag(HardEvent.MTE2_V, number)
        WaitFlag(HardEvent.MTE2_V, number)
        WaitFlag(HardEvent.MTE3_V, 0)
        sum_over_rows(self.cache, data, tiling.groupR, pitch)
        SetFlag(HardEvent.V_MTE2, number)
        self._finish(self.cache, count, offset, 1, count)


def _write_zeros(dtype: DType, da: GM_ADDR, tiling: ReduceOpTilingData) -> None:
    """The sum of nothing: zeros for this block's part of the output."""
    elements = tiling.basicBlock // dtype.itemsize
    buf = TBuf(TPosition.VECCALC)
    TPipe().InitBuffer(buf, tiling.basicBlock)
    zeros, out = buf.GetWithOffset(elements, 0, dtype), GlobalTensor(dtype)
    out.SetGlobalBuffer(da)
    Duplicate(zeros, 0.0, elements)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    first = GetBlockIdx() * tiling.factorACntPerCore
    for chunk in range(first, min(first + tiling.factorACntPerCore, tiling.factorATotalCnt)):
        start = chunk * tiling.ubFactorA
        count = min(tiling.ubFactorA, tiling.outSize - start)
        DataCopyPad(out[start], zeros, DataCopyExtParams(1, count * dtype.itemsize))


@kernel(auto_sync=False, template=("DTYPE", "TILING_KEY"))
def prelu_grad_reduce(
    DTYPE: DType,
    TILING_KEY: int,
    grads: GM_ADDR,
    features: GM_ADDR,
    weights: GM_ADDR,
    updates: GM_ADDR,
    da: GM_ADDR,
    workspace: GM_ADDR | int,
    tiling: ReduceOpTilingData,
) -> None:
    """Entry of the operator; only ``updates`` is read, the key says how it is cut.

    Without a workspace (a null address, 0) nothing is done.
    """
    if workspace == 0:
        return
    key = ReduceKey.decode(TILING_KEY)
    if key.pattern_id == 0:
        if tiling.outSize:
            _write_zeros(DTYPE, da, tiling)
        return
    SetSysWorkspace(workspace)
    user = GetUserWorkspace(workspace)
    PReluGradReduce(DTYPE, key, updates, da, user, tiling).Process()
