"""Tiling of PReluGradReduce on 950.

Source: hicann/ops-nn
activation/p_relu_grad_reduce/op_host/arch35/prelu_grad_reduce_tiling_arch35.cpp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from host.p_relu_grad_reduce.axes import merged_shape, reduce_axes
from host.p_relu_grad_reduce.reduce_tiling import CACHE_LINE, Buffers, Device, ReduceTiling
from host.p_relu_grad_update.tiling_arch35 import not_scalar
from host.platform_ascendc import CoreMemType, PlatformAscendC
from host.registry import IMPL_OP_OPTILING
from host.tiling_key import TemplateParam, encode_tiling_key
from kernels.p_relu_grad_reduce_apt.tiling_data import MAX_DIM, ReduceOpTilingData

if TYPE_CHECKING:
    from host.contexts import TilingContext
    from host.status import GraphStatus

_COUNTS: Final = tuple(range(101))
TEMPLATE: Final = (
    TemplateParam("IsContiguous", "BOOL", 1, (0, 1)),
    TemplateParam("BatchInvariant", "BOOL", 1, (0, 1)),
    TemplateParam("PatternID", "UINT", 8, _COUNTS),
    TemplateParam("LoopARCount", "UINT", 8, _COUNTS),
    TemplateParam("LoopInnerARCount", "UINT", 8, _COUNTS),
)
WORKSPACE_BYTES: Final = 16 * 1024 * 1024

_SUM_BYTES: Final = 4
_ITEM_BYTES: Final = (2, 4)
_UPDATES: Final = 3


@IMPL_OP_OPTILING("PReluGradReduce", "arch35")
def tiling(context: TilingContext) -> GraphStatus:
    """Sum ``updates``; the shapes of features and weights say over which axes."""
    updates = context.GetInputDesc(_UPDATES)
    features, weights = context.GetInputDesc(1), context.GetInputDesc(2)
    if updates is None or features is None or weights is None:
        return context.Fail("the shape of features, weights or updates is missing")
    shape = not_scalar(updates)
    if len(shape) >= MAX_DIM:
        return context.Fail(f"updates has rank {len(shape)}, at most {MAX_DIM - 1}")
    axes = reduce_axes(not_scalar(features), not_scalar(weights))
    if len(axes) > len(shape) or any(axis >= len(shape) for axis in axes):
        return context.Fail(f"axes {axes} are not axes of updates, whose shape is {list(shape)}")
    item = updates.dtype.itemsize
    if item not in _ITEM_BYTES:
        return context.Fail(f"updates has data type {updates.dtype.name}")
    platform = PlatformAscendC(context.GetPlatformInfo())
    device = Device(platform.GetCoreNumAiv(), platform.GetCoreMemSize(CoreMemType.UB))
    if device.cores == 0:
        return context.Fail("the platform has no vector cores")
    data = context.GetTilingData(ReduceOpTilingData)
    work = ReduceTiling(merged_shape(shape, axes), device, Buffers.of_sum(item))
    key, reason = work.run(data)
    if reason:
        return context.Fail(reason)
    workspace = WORKSPACE_BYTES
    if data.groupR > 1:
        # The cores that share a sum meet, so all of them must run at once.
        context.SetScheduleMode(1)
        partial = -(-data.outSize * _SUM_BYTES // CACHE_LINE) * CACHE_LINE
        workspace += device.cores * partial
    context.GetWorkspaceSizes(1)[0] = workspace
    context.SetTilingKey(encode_tiling_key(TEMPLATE, tuple(int(part) for part in key)))
    return context.SetBlockDim(data.realCoreNum or device.cores)
