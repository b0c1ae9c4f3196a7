"""PReluGradUpdate on 950: dx = x > 0 ? g : w * g and update = x > 0 ? 0 : x * g.

Source: hicann/ops-nn activation/p_relu_grad_update/op_kernel/p_relu_grad_update_apt.cpp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernels.p_relu_grad_update_apt.nddma import NddmaSchedule
from kernels.p_relu_grad_update_apt.one_dim import OneDimSchedule
from kernels.p_relu_grad_update_apt.tiling_data import (
    SCH_MODES,
    SCH_NDDMA,
    SCH_NDDMA_WITH_LOOP,
    SCH_ONE_DIM,
)
from kernels.p_relu_grad_update_apt.ub_broadcast import UbBroadcastSchedule
from simulator.ascendc import kernel

if TYPE_CHECKING:
    from typing import Any

    from simulator.ascendc import GM_ADDR
    from simulator.dtypes import DType


@kernel(auto_sync=False, template=("DTYPE", "TILING_KEY"))
def prelu_grad_update(
    DTYPE: DType,
    TILING_KEY: int,
    grads: GM_ADDR,
    features: GM_ADDR,
    weights: GM_ADDR,
    dx: GM_ADDR,
    update: GM_ADDR,
    workspace: GM_ADDR,
    tiling: Any,
) -> None:
    """Entry of the operator; the key chooses the schedule and with it the tiling struct."""
    mode = SCH_MODES[TILING_KEY]
    schedule: type[Any] = UbBroadcastSchedule
    if mode == SCH_ONE_DIM:
        schedule = OneDimSchedule
    elif mode in (SCH_NDDMA, SCH_NDDMA_WITH_LOOP):
        schedule = NddmaSchedule
    schedule(DTYPE, (grads, features, weights, dx, update), tiling).Process()
