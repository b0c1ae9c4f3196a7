"""ViewCopy on 950: the elements of the strided view dst = dense src in row-major order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernels.strided.copy import scatter
from simulator.ascendc import kernel

if TYPE_CHECKING:
    from kernels.strided.tiling_data import StridedViewTilingData
    from simulator.ascendc import GM_ADDR


@kernel(auto_sync=False)
def view_copy(
    src: GM_ADDR, dst: GM_ADDR, workspace: GM_ADDR, tiling: StridedViewTilingData
) -> None:
    """Entry of the operator; the tiling describes the view ``dst``."""
    scatter(src, dst, tiling)
