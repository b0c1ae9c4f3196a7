"""HardSwishGrad on 950: as the second version, with -3 and 3 on the line.

``d`` is 0 for self < -3, 1 for self > 3 and self/3 + 0.5 between. Structure after hicann/ops-nn
activation/hard_swish_grad/op_kernel/arch35/hard_swish_grad.h, which differs from the second
version's in the comparisons only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from kernels.hard_swish_grad_v2.kernel_3510 import HardSwishGradV2
from simulator.ascendc import CMPMODE, kernel

if TYPE_CHECKING:
    from kernels.hard_swish_grad.tiling_data import HardSwishGradTilingData
    from simulator.ascendc import GM_ADDR
    from simulator.dtypes import DType


class HardSwishGrad(HardSwishGradV2):
    """One block's share of the operator."""

    above_low: ClassVar = CMPMODE.GE
    below_high: ClassVar = CMPMODE.LE


@kernel(auto_sync=False, template=("DTYPE", "TILING_KEY"))
def hard_swish_grad(
    DTYPE: DType,
    TILING_KEY: int,
    gradOutput: GM_ADDR,
    self_: GM_ADDR,
    out: GM_ADDR,
    workspace: GM_ADDR,
    tiling: HardSwishGradTilingData,
) -> None:
    """Entry of the operator; bits 8..15 of the tiling key select double buffering."""
    HardSwishGrad(DTYPE, 1 + (TILING_KEY >> 8 & 1), gradOutput, self_, out, tiling).Process()
