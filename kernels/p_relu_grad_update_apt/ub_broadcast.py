"""Schedule of PReluGradUpdate on 950 that broadcasts inside UB.

Source: hicann/opbase pkg_inc/op_common/atvoss/broadcast/broadcast_sch_ub_broadcast.h. What a tile
needs of an input is copied densely and repeated by Broadcast into a buffer that both sets share.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kernels.p_relu_grad_update_apt.boxes import boxes_of, offset_of
from kernels.p_relu_grad_update_apt.schedule import Schedule
from kernels.p_relu_grad_update_apt.tiling_data import INPUTS
from simulator.ascendc import Broadcast, GetBlockIdx, GetBlockNum

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kernels.p_relu_grad_update_apt.tiling_data import BroadcastTilingData
    from simulator.ascendc import GM_ADDR, LocalTensor
    from simulator.dtypes import DType


class UbBroadcastSchedule(Schedule):
    """Tiles of several axes, packed densely."""

    def __init__(
        self, dtype: DType, addresses: Sequence[GM_ADDR], tiling: BroadcastTilingData
    ) -> None:
        super().__init__(dtype, addresses, tiling.elemNum, extra=INPUTS)
        self.tiling = tiling
        self.boxes = list(boxes_of(tiling, GetBlockIdx(), GetBlockNum()))

    def tiles(self) -> Iterator[tuple[int, int]]:
        """Tiles of this block in the output, which is dense."""
        strides = self.tiling.outputStrides
        step = strides[self.tiling.ubSplitAxis]
        for box in self.boxes:
            yield offset_of(box, strides), box.length * step

    def fetch(self, number: int, which: int, count: int) -> None:
        """Copy what the tile needs; an input that repeats along the cut axis stays."""
        box = self.boxes[number]
        for index in range(INPUTS):
            if self._is_new(index, number):
                shape = self._shape(index, box.length)
                start = offset_of(box, self.tiling.brc_strides(index))
                self.copy_in(index, self.inputs[which][index], start, math.prod(shape))

    def prepare(self, number: int, which: int, count: int) -> list[LocalTensor]:
        """Repeat what was copied."""
        box = self.boxes[number]
        axis, rank = self.tiling.ubSplitAxis, self.tiling.shapeLen
        target = (box.length, *self.tiling.outputDims[axis + 1 : rank])
        for index in range(INPUTS):
            if self._is_new(index, number):
                source = self.inputs[which][index]
                Broadcast(self.extra[index], source, target, self._shape(index, box.length))
        return self.extra

    def _is_new(self, index: int, number: int) -> bool:
        """Whether an input's part of a tile differs from that of the tile before."""
        repeats = self.tiling.brc_strides(index)[self.tiling.ubSplitAxis] == 0
        return not (repeats and number > 0 and self.boxes[number].chunk > 0)

    def _shape(self, index: int, length: int) -> tuple[int, ...]:
        """Dims of what a tile needs of an input."""
        axis = self.tiling.ubSplitAxis
        dims = self.tiling.brc_dims(index)[axis:]
        return (length if dims[0] != 1 else 1, *dims[1:])
