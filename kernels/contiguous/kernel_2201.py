"""Contiguous on 910B: y = the elements of the strided view x in row-major order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernels.strided.copy import gather
from simulator.ascendc import kernel

if TYPE_CHECKING:
    from kernels.strided.tiling_data import StridedViewTilingData
    from simulator.ascendc import GM_ADDR


@kernel(auto_sync=False)
def contiguous(x: GM_ADDR, y: GM_ADDR, workspace: GM_ADDR, tiling: StridedViewTilingData) -> None:
    """Entry of the operator; the tiling describes the view ``x``."""
    gather(x, y, tiling)
