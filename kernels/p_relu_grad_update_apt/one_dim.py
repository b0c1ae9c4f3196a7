"""Schedule of PReluGradUpdate on 950 for one axis; inputs of one element are duplicated.

Source: hicann/opbase pkg_inc/op_common/atvoss/broadcast/broadcast_sch_one_dim.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernels.p_relu_grad_update_apt.schedule import SETS, Schedule
from kernels.p_relu_grad_update_apt.tiling_data import INPUTS
from simulator.ascendc import Duplicate, GetBlockIdx

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kernels.p_relu_grad_update_apt.tiling_data import BroadcastOneDimTilingData
    from simulator.ascendc import GM_ADDR, LocalTensor
    from simulator.dtypes import DType


class OneDimSchedule(Schedule):
    """Dense tiles of ``ubFormer`` elements."""

    def __init__(
        self, dtype: DType, addresses: Sequence[GM_ADDR], tiling: BroadcastOneDimTilingData
    ) -> None:
        super().__init__(dtype, addresses, tiling.ubFormer)
        self.tiling = tiling
        self.first = GetBlockIdx() * tiling.blockFormer * tiling.ubFormer

    def tiles(self) -> Iterator[tuple[int, int]]:
        """Tiles of this block; the last one of the last block may be shorter."""
        tiling = self.tiling
        is_last = GetBlockIdx() == tiling.blockNum - 1
        loops = tiling.blockTail if is_last else tiling.blockFormer
        for loop in range(loops):
            short = is_last and loop == loops - 1
            yield (
                self.first + loop * tiling.ubFormer,
                tiling.ubTail if short else tiling.ubFormer,
            )

    def fetch(self, number: int, which: int, count: int) -> None:
        """Copy the inputs of more than one element."""
        start = self.first + number * self.tiling.ubFormer
        for index in range(INPUTS):
            if not self._is_scalar(index):
                self.copy_in(index, self.inputs[which][index], start, count)

    def prepare(self, number: int, which: int, count: int) -> list[LocalTensor]:
        """Duplicate inputs of one element, once into each set of buffers."""
        for index in range(INPUTS):
            if self._is_scalar(index) and number < SETS:
                Duplicate(self.inputs[which][index], self.gm[index].GetValue(0), count)
        return self.inputs[which]

    def _is_scalar(self, index: int) -> bool:
        return bool(self.tiling.scalarFlag >> index & 1)
