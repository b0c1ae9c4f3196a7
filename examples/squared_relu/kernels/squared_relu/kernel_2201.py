"""SquaredRelu on 910B."""

from simulator.ascendc import GM_ADDR, kernel
from simulator.dtypes import DType
from squared_relu.kernels.squared_relu.body import run_block
from squared_relu.kernels.squared_relu.tiling_data import SquaredReluTilingData


@kernel(template=("DTYPE",))
def squared_relu(
    DTYPE: DType, x: GM_ADDR, y: GM_ADDR, workspace: GM_ADDR, tiling: SquaredReluTilingData
) -> None:
    """Entry of the operator; DTYPE is half or float."""
    run_block(DTYPE, x, y, tiling)
