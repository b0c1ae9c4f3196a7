"""PReluGradUpdate on 910B: dx = x > 0 ? g : w * g and update = x > 0 ? 0 : x * g.

This simulator's own implementation; the semantics are those of the published kernel of 950
(hicann/ops-nn activation/p_relu_grad_update/op_kernel/arch35/prelu_grad_update_dag.h): strictly
greater than 0, so zeros and NaN take the product, and products rounded to the element type.
bfloat16_t has no vector arithmetic on 910B: it is multiplied in float and rounded once to nearest
even.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kernels.p_relu_grad_update.rows import (
    MAX_BURSTS,
    Kind,
    fetch_plan,
    kind_of,
    strided_calls,
)
from kernels.p_relu_grad_update.tiling_data import (
    BLOCK,
    REPEAT,
    SLOTS,
    box_of,
    layout,
    offset_of,
    padded,
)
from simulator.ascendc import (
    CMPMODE,
    EVENT_ID0,
    PIPE_V,
    SELMODE,
    BinaryRepeatParams,
    Cast,
    CompareScalar,
    Copy,
    CopyRepeatParams,
    DataCopy,
    DataCopyExtParams,
    DataCopyPad,
    DataCopyPadExtParams,
    Duplicate,
    GetBlockIdx,
    GlobalTensor,
    HardEvent,
    Mul,
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
    from collections.abc import Sequence

    from kernels.p_relu_grad_update.rows import Repeat, Strided
    from kernels.p_relu_grad_update.tiling_data import PReluGradUpdateTilingData
    from simulator.ascendc import GM_ADDR, LocalTensor
    from simulator.dtypes import DType

NO_PADDING: Final = DataCopyPadExtParams()


class _Tile:
    """Where a tile lies: its rows, the elements of a row, and what a padded row takes in UB."""

    def __init__(self, tiling: PReluGradUpdateTilingData, number: int, item: int) -> None:
        self.start, self.length = box_of(tiling, number)
        self.columns = self.length[-1]
        self.pitch = padded(self.columns, item)
        self.rows = 1
        for dim in self.length[:-1]:
            self.rows *= dim
        self.count = self.rows * self.pitch


class PReluGradUpdate:
    """One block's share of the operator."""

    def __init__(
        self,
        dtype: DType,
        grads: GM_ADDR,
        features: GM_ADDR,
        weights: GM_ADDR,
        dx: GM_ADDR,
        update: GM_ADDR,
        tiling: PReluGradUpdateTilingData,
    ) -> None:
        self.tiling = tiling
        self.dtype = dtype
        self.item = dtype.itemsize
        self.work = float32 if dtype is bfloat16_t else dtype
        self.widened = self.work is not dtype
        self.dims = tiling.dims[: tiling.rank]
        self.strides = [1] * tiling.rank
        for axis in range(tiling.rank - 1, 0, -1):
            self.strides[axis - 1] = self.strides[axis] * self.dims[axis]
        self.gm = {}
        for name, address in (
            ("grads", grads),
            ("features", features),
            ("weights", weights),
            ("dx", dx),
            ("update", update),
        ):
            self.gm[name] = GlobalTensor(dtype)
            self.gm[name].SetGlobalBuffer(address)
        self._allocate()

    def _allocate(self) -> None:
        size = self.tiling.elementNum
        places = layout(self.item, widened=self.widened, elements=size)
        buf = TBuf(TPosition.VECCALC)
        TPipe().InitBuffer(buf, places.end)
        self.raw = [
            [buf.GetWithOffset(size, offset, self.dtype) for offset in slot] for slot in places.raw
        ]
        self.mask = buf.GetWithOffset(-(-size // 8), places.mask, uint8_t)
        self.zero, self.grad = (
            buf.GetWithOffset(size, offset, self.work) for offset in (places.zero, places.grad)
        )
        if self.widened:
            self.x, self.product, self.weight, self.compact = (
                buf.GetWithOffset(size, offset, self.work)
                for offset in (places.features, places.product, places.weight, places.compact)
            )

    def Process(self) -> None:
        """Work through the tiles of the block, alternating between two sets of buffers."""
        Duplicate(self.zero, 0.0, self.tiling.elementNum)
        # A compare reads whole repeats: behind a tile's end it must not meet undefined memory.
        for features in [self.x] if self.widened else [slot[0] for slot in self.raw]:
            Duplicate(features, 0.0, self.tiling.elementNum)
        SetFlag(HardEvent.V_MTE2, EVENT_ID0)
        WaitFlag(HardEvent.V_MTE2, EVENT_ID0)
        for slot in range(SLOTS):
            SetFlag(HardEvent.MTE3_MTE2, slot)
        first = GetBlockIdx() * self.tiling.blockFormer
        last = min(first + self.tiling.blockFormer, self.tiling.fused)
        for number in range(first, last):
            slot = (number - first) % SLOTS
            self._tile(slot, _Tile(self.tiling, number, self.item))
        for slot in range(SLOTS):
            WaitFlag(HardEvent.MTE3_MTE2, slot)

    def _tile(self, slot: int, tile: _Tile) -> None:
        x, grad, product, weight = self.raw[slot]
        WaitFlag(HardEvent.MTE3_MTE2, slot)
        self._fetch("features", x, tile, self.strides)
        grad_kind, grad_repeats = self._fetch("grads", grad, tile, self.tiling.gradStrides)
        weight_kind, weight_repeats = self._fetch(
            "weights", weight, tile, self.tiling.weightStrides
        )
        SetFlag(HardEvent.MTE2_V, slot)
        WaitFlag(HardEvent.MTE2_V, slot)
        self._replicate(grad, grad_kind, grad_repeats, tile)
        self._replicate(weight, weight_kind, weight_repeats, tile)
        if self.widened:
            self._compute_widened(tile, x, grad, grad_kind, product, weight, weight_kind)
        else:
            if not grad_kind.is_dense:
                self._expand(self.grad, grad, grad_kind, tile)
                grad = self.grad
            self._compute(tile, x, grad, product, weight, weight_kind)
        SetFlag(HardEvent.V_MTE3, slot)
        WaitFlag(HardEvent.V_MTE3, slot)
        self._store("dx", product, tile)
        self._store("update", x, tile)
        SetFlag(HardEvent.MTE3_MTE2, slot)

    # -- copies --------------------------------------------------------------------------------

    def _fetch(
        self, name: str, local: LocalTensor, tile: _Tile, strides: Sequence[int]
    ) -> tuple[Kind, list[Repeat]]:
        """Copy what the tile needs of an input; replications are left to the vector unit."""
        steps = list(strides[: len(tile.length)])
        kind = kind_of(tile.length, steps)
        offset = offset_of(tile.start, steps)
        columns = tile.columns if kind.columns else 1
        pitch = padded(columns, self.item)
        rows = tile.length[:-1] if kind.rows else []
        bursts, repeats = fetch_plan(rows, steps[: len(rows)], offset)
        for row, count, start, step in bursts:
            if step == columns == pitch:
                params = DataCopyExtParams(1, count * columns * self.item)
            else:
                gap = (step - columns) * self.item if count > 1 else 0
                params = DataCopyExtParams(count, columns * self.item, gap)
            DataCopyPad(local[row * pitch], self.gm[name][start], params, NO_PADDING)
        return kind, repeats

    def _replicate(
        self, local: LocalTensor, kind: Kind, repeats: Sequence[Repeat], tile: _Tile
    ) -> None:
        pitch = tile.pitch if kind.columns else BLOCK // self.item
        for row, rows, times in repeats:
            have = 1
            while have < times:
                more = min(have, times - have)
                target = local[(row + have * rows) * pitch]
                DataCopy(target, local[row * pitch], more * rows * pitch)
                PipeBarrier(PIPE_V)
                have += more

    def _store(self, name: str, local: LocalTensor, tile: _Tile) -> None:
        start = offset_of(tile.start, self.strides)
        target = self.gm[name]
        if tile.pitch == tile.columns:
            nbytes = tile.count * self.item
            DataCopyPad(target[start], local, DataCopyExtParams(1, nbytes))
            return
        for row in range(0, tile.rows, MAX_BURSTS):
            params = DataCopyExtParams(min(MAX_BURSTS, tile.rows - row), tile.columns * self.item)
            DataCopyPad(target[start + row * tile.columns], local[row * tile.pitch], params)

    # -- arithmetic ----------------------------------------------------------------------------

    def _compute(
        self,
        tile: _Tile,
        x: LocalTensor,
        grad: LocalTensor,
        product: LocalTensor,
        weight: LocalTensor,
        weight_kind: Kind,
    ) -> None:
        """``product`` becomes dx, ``x`` becomes the update; all in the type of the arithmetic."""
        lanes = REPEAT // self.work.itemsize
        whole = -(-tile.count // lanes) * lanes
        mode = SELMODE.VSEL_TENSOR_TENSOR_MODE
        CompareScalar(self.mask, x, 0.0, CMPMODE.GT, whole)
        PipeBarrier(PIPE_V)
        if weight_kind.is_dense:
            Mul(product, grad, weight, tile.count)
        else:
            self._multiply(product, grad, weight, weight_kind, tile)
        Mul(x, x, grad, tile.count)
        PipeBarrier(PIPE_V)
        Select(product, self.mask, grad, product, mode, tile.count)
        PipeBarrier(PIPE_V)
        Select(x, self.mask, self.zero, x, mode, tile.count)
        PipeBarrier(PIPE_V)

    def _compute_widened(
        self,
        tile: _Tile,
        x: LocalTensor,
        grad: LocalTensor,
        grad_kind: Kind,
        product: LocalTensor,
        weight: LocalTensor,
        weight_kind: Kind,
    ) -> None:
        """Cast to float, compute, and round the results to nearest even."""
        Cast(self.x, x, RoundMode.CAST_NONE, tile.count)
        Cast(self.weight, weight, RoundMode.CAST_NONE, self._held(weight_kind, tile))
        if grad_kind.is_dense:
            Cast(self.grad, grad, RoundMode.CAST_NONE, tile.count)
            PipeBarrier(PIPE_V)
        else:
            Cast(self.compact, grad, RoundMode.CAST_NONE, self._held(grad_kind, tile))
            PipeBarrier(PIPE_V)
            self._expand(self.grad, self.compact, grad_kind, tile)
        self._compute(tile, self.x, self.grad, self.product, self.weight, weight_kind)
        Cast(product, self.product, RoundMode.CAST_RINT, tile.count)
        Cast(x, self.x, RoundMode.CAST_RINT, tile.count)
        PipeBarrier(PIPE_V)

    def _held(self, kind: Kind, tile: _Tile) -> int:
        """Elements that an input takes in UB."""
        rows = tile.rows if kind.rows else 1
        return rows * (tile.pitch if kind.columns else BLOCK // self.item)

    def _multiply(
        self, product: LocalTensor, grad: LocalTensor, weight: LocalTensor, kind: Kind, tile: _Tile
    ) -> None:
        """Product of a dense tile and a weight that repeats along rows, columns or both."""
        per_block = BLOCK // self.work.itemsize
        for call in self._calls(kind, tile):
            params = BinaryRepeatParams(
                1, 1, call.operand_block, call.tile_step, call.tile_step, call.operand_step
            )
            at = call.tile * per_block
            Mul(
                product[at],
                grad[at],
                weight[call.operand * per_block],
                call.blocks * per_block,
                call.repeats,
                params,
            )

    def _expand(self, dense: LocalTensor, compact: LocalTensor, kind: Kind, tile: _Tile) -> None:
        """Write a repeating input out in full."""
        per_block = BLOCK // self.work.itemsize
        for call in self._calls(kind, tile):
            params = CopyRepeatParams(1, call.operand_block, call.tile_step, call.operand_step)
            Copy(
                dense[call.tile * per_block],
                compact[call.operand * per_block],
                call.blocks * per_block,
                call.repeats,
                params,
            )
        PipeBarrier(PIPE_V)

    def _calls(self, kind: Kind, tile: _Tile) -> list[Strided]:
        row_blocks = tile.pitch * self.work.itemsize // BLOCK
        rows = tile.rows
        if not kind.rows and not kind.columns:
            rows, row_blocks = 1, rows * row_blocks
        return list(strided_calls(rows, row_blocks, kind, self.work.itemsize // self.item))


@kernel(auto_sync=False, template=("DTYPE",))
def p_relu_grad_update(
    DTYPE: DType,
    grads: GM_ADDR,
    features: GM_ADDR,
    weights: GM_ADDR,
    dx: GM_ADDR,
    update: GM_ADDR,
    workspace: GM_ADDR,
    tiling: PReluGradUpdateTilingData,
) -> None:
    """Entry of the operator; ``DTYPE`` is half, bfloat16_t or float."""
    PReluGradUpdate(DTYPE, grads, features, weights, dx, update, tiling).Process()
