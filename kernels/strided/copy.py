"""Device code of Contiguous and ViewCopy: a strided view to dense memory and back.

UB is cut into two halves. While one half is filled, the other is emptied; a raw event flag of each
kind and half orders the pipes, so the kernels are built without automatic synchronisation. Elements
are moved as unsigned integers of their size, so that no bit of them can change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kernels.strided.walk import (
    BLOCK,
    Box,
    Rows,
    blocks_of,
    boxes,
    bursts,
    chunks,
    distinct_rows,
    replicas,
    rows_to_gather,
    rows_to_scatter,
)
from simulator.ascendc import (
    EVENT_ID0,
    EVENT_ID1,
    PIPE_V,
    DataCopy,
    DataCopyExtParams,
    DataCopyPad,
    DataCopyPadExtParams,
    DataCopyParams,
    Duplicate,
    GetBlockIdx,
    GlobalTensor,
    HardEvent,
    PipeBarrier,
    SetFlag,
    TBuf,
    TPipe,
    TPosition,
    WaitFlag,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
)
from simulator.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernels.strided.tiling_data import StridedViewTilingData
    from simulator.ascendc import GM_ADDR, LocalTensor

NO_PADDING: Final = DataCopyPadExtParams()
ELEMENTS: Final = {1: uint8_t, 2: uint16_t, 4: uint32_t, 8: uint64_t}
"""The type that elements of a size are moved as."""

_WORDS_PER_REPEAT: Final = 64
_MAX_REPEATS: Final = 255
_LOW_WORDS: Final = 0x5555_5555_5555_5555
"""Mask of the even lanes: the low words of 64-bit elements."""


class _Half(NamedTuple):
    """One half of UB under the types that are needed, and the event id that guards it."""

    event: int
    data: LocalTensor
    pairs: LocalTensor
    words: LocalTensor


class _StridedCopy:
    """One block's share of a copy between a view and dense memory."""

    def __init__(self, view: GM_ADDR, dense: GM_ADDR, tiling: StridedViewTilingData) -> None:
        self.item = tiling.elementBytes
        if self.item not in ELEMENTS:
            raise ArgumentError(
                "no element type has this size",
                api="StridedViewTilingData",
                argument="elementBytes",
                got=self.item,
                legal=", ".join(map(str, ELEMENTS)),
            )
        dtype = ELEMENTS[self.item]
        self.first = GetBlockIdx() * tiling.blockFactor
        self.end = min(self.first + tiling.blockFactor, tiling.totalNum)
        self.shape = tiling.shape[: tiling.rank]
        self.strides = tiling.strides[: tiling.rank]
        self.offset = tiling.offset
        self.viewGm, self.denseGm = GlobalTensor(dtype), GlobalTensor(dtype)
        # How far the view reaches is not part of the tiling: the limit is that of the memory.
        self.viewGm.SetGlobalBuffer(view)
        self.denseGm.SetGlobalBuffer(dense, tiling.totalNum)
        self.room = blocks_of(tiling.ubFactor, self.item) * BLOCK
        buf = TBuf(TPosition.VECCALC)
        TPipe().InitBuffer(buf, 2 * self.room)
        self.halves = tuple(
            _Half(
                event,
                buf.GetWithOffset(self.room // self.item, start, dtype),
                buf.GetWithOffset(self.room // 2, start, uint16_t),
                buf.GetWithOffset(self.room // 4, start, uint32_t),
            )
            for event, start in ((EVENT_ID0, 0), (EVENT_ID1, self.room))
        )

    def Gather(self) -> None:
        """Dense memory = the view's elements."""
        rows = rows_to_gather(self.shape, self.strides, self.item)
        for half, box in self._pipeline(rows):
            if not rows.repeated:
                self._load_view(half, box)
            levels = list(replicas(box))
            if rows.repeated or levels:
                SetFlag(HardEvent.MTE2_V, half.event)
                WaitFlag(HardEvent.MTE2_V, half.event)
                if rows.repeated:
                    self._fill_rows(half, box)
                for level in levels:
                    PipeBarrier(PIPE_V)
                    for replica in level:
                        self._replicate(half, box, *replica)
                SetFlag(HardEvent.V_MTE3, half.event)
                WaitFlag(HardEvent.V_MTE3, half.event)
            else:
                SetFlag(HardEvent.MTE2_MTE3, half.event)
                WaitFlag(HardEvent.MTE2_MTE3, half.event)
            for start, params in self._dense_bursts(box):
                local = half.data[start * self._held(box)]
                DataCopyPad(self.denseGm[box.first + start * box.run], local, params)

    def Scatter(self) -> None:
        """The view's elements = dense memory."""
        rows = rows_to_scatter(self.shape, self.strides, self.item)
        for half, box in self._pipeline(rows):
            for start, params in self._dense_bursts(box):
                local = half.data[start * self._held(box)]
                DataCopyPad(local, self.denseGm[box.first + start * box.run], params, NO_PADDING)
            SetFlag(HardEvent.MTE2_MTE3, half.event)
            WaitFlag(HardEvent.MTE2_MTE3, half.event)
            self._store_view(half, box)

    def _pipeline(self, rows: Rows) -> Iterator[tuple[_Half, Box]]:
        """Give out this block's boxes with the half of UB that each may use."""
        for half in self.halves:
            SetFlag(HardEvent.MTE3_MTE2, half.event)
        found = boxes(rows, self.first, self.end, self.item, self.room)
        for number, box in enumerate(found):
            half = self.halves[number % 2]
            WaitFlag(HardEvent.MTE3_MTE2, half.event)
            yield half, box
            SetFlag(HardEvent.MTE3_MTE2, half.event)
        for half in self.halves:
            WaitFlag(HardEvent.MTE3_MTE2, half.event)

    def _held(self, box: Box) -> int:
        """Elements of UB that a row of the box takes, whole blocks."""
        return blocks_of(box.run, self.item) * BLOCK // self.item

    def _dense_bursts(self, box: Box) -> Iterator[tuple[int, DataCopyExtParams]]:
        """Copies of the dense side: first row and parameters."""
        nbytes = box.run * self.item
        if nbytes % BLOCK == 0:
            # Rows without a rest lie dense in UB as well.
            yield 0, DataCopyExtParams(1, box.rows * nbytes)
            return
        for start, count in chunks(box.rows):
            yield start, DataCopyExtParams(count, nbytes)

    def _load_view(self, half: _Half, box: Box) -> None:
        held, blocks = self._held(box), blocks_of(box.run, self.item)
        for row, row_step, offset, step, count in bursts(box, self.item, distinct=True):
            gm_gap = (step - box.run) * self.item if count > 1 else 0
            params = DataCopyExtParams(count, box.run * self.item, gm_gap, (row_step - 1) * blocks)
            source = self.viewGm[self.offset + offset]
            DataCopyPad(half.data[row * held], source, params, NO_PADDING)

    def _store_view(self, half: _Half, box: Box) -> None:
        held, blocks = self._held(box), blocks_of(box.run, self.item)
        for row, row_step, offset, step, count in bursts(box, self.item, distinct=False):
            gm_gap = (step - box.run) * self.item if count > 1 else 0
            params = DataCopyExtParams(count, box.run * self.item, (row_step - 1) * blocks, gm_gap)
            DataCopyPad(self.viewGm[self.offset + offset], half.data[row * held], params)

    def _fill_rows(self, half: _Half, box: Box) -> None:
        """Fill every distinct row, up to its last block's end, with its one element."""
        nbytes = blocks_of(box.run, self.item) * BLOCK
        for row, offset in distinct_rows(box):
            value = self.viewGm.GetValue(self.offset + offset)
            start = row * nbytes
            if self.item == 8:
                _fill_double_words(half.words[start // 4], value, nbytes // 4)
            elif self.item == 4:
                Duplicate(half.words[start // 4], value, nbytes // 4)
            else:
                # Bytes go in pairs: 910B has no 8-bit Duplicate.
                pair = value if self.item == 2 else value * 0x0101
                Duplicate(half.pairs[start // 2], pair, nbytes // 2)

    def _replicate(
        self, half: _Half, box: Box, target: int, source: int, rows: int, step: int, count: int
    ) -> None:
        held, blocks = self._held(box), blocks_of(box.run, self.item)
        gap = (step - rows) * blocks if count > 1 else 0
        params = DataCopyParams(count, rows * blocks, gap, gap)
        DataCopy(half.data[target * held], half.data[source * held], params)


def _fill_double_words(words: LocalTensor, value: int, count: int) -> None:
    """Fill ``count`` words with a 64-bit value: 910B has no 64-bit Duplicate."""
    whole, rest = divmod(count, _WORDS_PER_REPEAT)
    for shift, lanes in ((0, _LOW_WORDS), (32, _LOW_WORDS << 1)):
        word = value >> shift & 0xFFFF_FFFF
        for start, repeats in chunks(whole, _MAX_REPEATS):
            Duplicate(words[start * _WORDS_PER_REPEAT], word, [lanes], repeats, 1, 8)
        if rest:
            partial = lanes & (1 << rest) - 1
            Duplicate(words[whole * _WORDS_PER_REPEAT], word, [partial], 1, 1, 8)


def gather(view: GM_ADDR, dense: GM_ADDR, tiling: StridedViewTilingData) -> None:
    """Write the elements of ``view``, in row-major order, to ``dense``.

    The view may overlap itself and may have strides of 0, but must not overlap ``dense``.
    """
    if tiling.blockFactor * GetBlockIdx() < tiling.totalNum:
        _StridedCopy(view, dense, tiling).Gather()


def scatter(dense: GM_ADDR, view: GM_ADDR, tiling: StridedViewTilingData) -> None:
    """Write the elements of ``dense`` to ``view``, in row-major order of the view.

    Where the view overlaps itself, which of the elements stays is not defined.
    """
    if tiling.blockFactor * GetBlockIdx() < tiling.totalNum:
        _StridedCopy(view, dense, tiling).Scatter()
