"""Schedule of PReluGradUpdate on 950 that lets the strided copy broadcast.

Source: hicann/opbase pkg_inc/op_common/atvoss/broadcast/broadcast_sch_nddma.h and
util/broadcast_utils.h. A copy has five loops; with more axes inside a tile it is issued once per
index of the outer ones.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final

from kernels.p_relu_grad_update_apt.boxes import Box, boxes_of, offset_of
from kernels.p_relu_grad_update_apt.schedule import Schedule
from kernels.p_relu_grad_update_apt.tiling_data import INPUTS
from simulator.ascendc import (
    DataCopy,
    GetBlockIdx,
    GetBlockNum,
    NdDmaLoopInfo,
    NdDmaParams,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kernels.p_relu_grad_update_apt.tiling_data import BroadcastTilingData
    from simulator.ascendc import GM_ADDR
    from simulator.dtypes import DType

MAX_LOOPS: Final = 5


class NddmaSchedule(Schedule):
    """Tiles of several axes, packed densely."""

    def __init__(
        self, dtype: DType, addresses: Sequence[GM_ADDR], tiling: BroadcastTilingData
    ) -> None:
        super().__init__(dtype, addresses, tiling.elemNum)
        self.tiling = tiling
        self.boxes = list(boxes_of(tiling, GetBlockIdx(), GetBlockNum()))

    def tiles(self) -> Iterator[tuple[int, int]]:
        """Tiles of this block in the output, which is dense."""
        strides = self.tiling.outputStrides
        step = strides[self.tiling.ubSplitAxis]
        for box in self.boxes:
            yield offset_of(box, strides), box.length * step

    def fetch(self, number: int, which: int, count: int) -> None:
        """Copy the inputs; one that repeats along the cut axis stays until an outer axis moves."""
        box = self.boxes[number]
        for index in range(INPUTS):
            repeats = self.tiling.brc_strides(index)[self.tiling.ubSplitAxis] == 0
            if not repeats or number <= 1 or box.chunk <= 1:
                self._copy_in_brc(index, which, box)

    def _copy_in_brc(self, index: int, which: int, box: Box) -> None:
        tiling, axis = self.tiling, self.tiling.ubSplitAxis
        strides = tiling.brc_strides(index)
        out_strides = tiling.outputStrides[: tiling.shapeLen]
        local = self.inputs[which][index]
        start = offset_of(box, strides)
        if strides[axis] == out_strides[axis]:
            self.copy_in(index, local, start, box.length * strides[axis])
            return
        sizes = (box.length, *tiling.outputDims[axis + 1 : tiling.shapeLen])
        loops = list(zip(sizes, strides[axis:], out_strides[axis:], strict=True))
        outer, inner = loops[:-MAX_LOOPS], loops[-MAX_LOOPS:]
        info = NdDmaLoopInfo(
            [step for _, step, _ in reversed(inner)],
            [step for _, _, step in reversed(inner)],
            [size for size, _, _ in reversed(inner)],
        )
        for place in product(*(range(size) for size, _, _ in outer)):
            steps = list(zip(place, outer, strict=True))
            source = start + sum(at * step for at, (_, step, _) in steps)
            target = sum(at * step for at, (_, _, step) in steps)
            DataCopy(local[target], self.gm[index][source], NdDmaParams(info, 0))
