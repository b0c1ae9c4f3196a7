"""HardSwishGrad on 910: as the second version, with -3 and 3 on the line.

``d`` is 0 for self < -3, 1 for self > 3 and self/3 + 0.5 between. The published kernel of this
generation is no AscendC source; this one has the structure of the second version's
(hicann/ops-nn activation/hard_swish_grad_v2/op_kernel/hard_swish_grad_v2_100.h) and the comparisons
of hicann/ops-nn activation/hard_swish_grad/op_kernel/arch35/hard_swish_grad.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from kernels.hard_swish_grad_v2.kernel_1001 import HardSwishGradV2
from simulator.ascendc import CMPMODE, GetBlockIdx, kernel

if TYPE_CHECKING:
    from kernels.hard_swish_grad_v2.tiling_data import HardSwishGradV2TilingData
    from simulator.ascendc import GM_ADDR
    from simulator.dtypes import DType


class HardSwishGrad(HardSwishGradV2):
    """One block's share of the operator."""

    above_low: ClassVar = CMPMODE.GE
    below_high: ClassVar = CMPMODE.LE


@kernel(auto_sync=False, template=("DTYPE",))
def hard_swish_grad(
    DTYPE: DType,
    gradOutput: GM_ADDR,
    self_: GM_ADDR,
    out: GM_ADDR,
    workspace: GM_ADDR,
    tiling: HardSwishGradV2TilingData,
) -> None:
    """Entry of the operator; ``DTYPE`` is half or float."""
    if GetBlockIdx() >= tiling.needCoreNum:
        return
    HardSwishGrad(DTYPE, gradOutput, self_, out, tiling).Process()
