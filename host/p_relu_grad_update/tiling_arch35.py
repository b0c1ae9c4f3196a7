"""Tiling of PReluGradUpdate on 950.

Source: hicann/ops-nn
activation/p_relu_grad_update/op_host/arch35/prelu_grad_update_tiling_arch35.cpp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from host.datatypes import DataType
from host.p_relu_grad_update.broadcast_tiling import tile_broadcast, tile_one_dim
from host.p_relu_grad_update.collapse import CollapseError, collapse
from host.platform_ascendc import CoreMemType, PlatformAscendC
from host.registry import IMPL_OP_OPTILING
from host.tiling_key import TemplateParam, encode_tiling_key
from kernels.p_relu_grad_update_apt.tiling_data import (
    MAX_DIMS,
    SCH_MODES,
    SCH_ONE_DIM,
    BroadcastOneDimTilingData,
    BroadcastTilingData,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.contexts import TensorDesc, TilingContext
    from host.status import GraphStatus

TEMPLATE: Final = (TemplateParam("schMode", "UINT", 16, SCH_MODES),)
WORKSPACE_BYTES: Final = 16 * 1024 * 1024

_DTYPES: Final = (DataType.FLOAT16, DataType.BF16, DataType.FLOAT)


@IMPL_OP_OPTILING("PReluGradUpdate", "arch35")
def tiling(context: TilingContext) -> GraphStatus:
    """Give the weight features' rank, collapse axes, choose a schedule and cut for UB and cores."""
    grads, features, weights = (context.GetInputDesc(index) for index in range(3))
    outputs = [context.GetOutputDesc(index) for index in range(2)]
    if grads is None or features is None or weights is None:
        return context.Fail("the shape of grads, features or weights is missing")
    reason = check_dtypes(grads, features, weights, outputs)
    if reason:
        return context.Fail(reason)
    shape, weight = not_scalar(features), not_scalar(weights)
    count = 1
    for dim in weight:
        count *= dim
    if count != 1 and (len(shape) < 2 or count != shape[1]):
        return context.Fail(f"weights has {count} elements, features the shape {list(shape)}")
    platform = PlatformAscendC(context.GetPlatformInfo())
    cores = platform.GetCoreNumAiv()
    ub_bytes = platform.GetCoreMemSize(CoreMemType.UB)
    if cores == 0 or ub_bytes == 0:
        return context.Fail(f"the platform has {cores} vector cores and {ub_bytes} bytes of UB")
    dx = outputs[0]
    out = shape if dx is None else not_scalar(dx)
    try:
        collapsed = collapse((not_scalar(grads), shape, reshaped_weight(shape, weight)), out)
    except CollapseError as error:
        return context.Fail(error.message)
    if len(collapsed.dims[-1]) > MAX_DIMS:
        return context.Fail(f"{len(collapsed.dims[-1])} axes are left, at most {MAX_DIMS}")
    item = features.dtype.itemsize
    if len(collapsed.dims[-1]) == 1:
        one_dim = context.GetTilingData(BroadcastOneDimTilingData)
        mode, reason = SCH_ONE_DIM, tile_one_dim(collapsed, item, cores, ub_bytes, one_dim)
        blocks = one_dim.blockNum
    else:
        several = context.GetTilingData(BroadcastTilingData)
        mode, reason = tile_broadcast(collapsed, item, cores, ub_bytes, several)
        blocks = several.blockNum
    if reason:
        return context.Fail(reason)
    context.GetWorkspaceSizes(1)[0] = WORKSPACE_BYTES
    context.SetTilingKey(encode_tiling_key(TEMPLATE, (mode,)))
    return context.SetBlockDim(blocks)


def check_dtypes(
    grads: TensorDesc,
    features: TensorDesc,
    weights: TensorDesc,
    outputs: Sequence[TensorDesc | None],
) -> str:
    """Return why the data types do not fit: one of three, and the same everywhere."""
    for name, desc in (("features", features), ("weights", weights), ("grads", grads)):
        if desc.dtype not in _DTYPES:
            return f"{name} has data type {desc.dtype.name}"
    if not grads.dtype == weights.dtype == features.dtype:
        return (
            f"data types differ: grads {grads.dtype.name}, features {features.dtype.name}, "
            f"weights {weights.dtype.name}"
        )
    for name, output in zip(("dx", "update"), outputs, strict=True):
        if output is not None and output.dtype != features.dtype:
            return f"{name} has data type {output.dtype.name}, features {features.dtype.name}"
    return ""


def not_scalar(desc: TensorDesc) -> tuple[int, ...]:
    """Storage shape, with rank 0 read as [1]."""
    return (desc.storage_shape or desc.shape) or (1,)


def reshaped_weight(features: tuple[int, ...], weight: tuple[int, ...]) -> tuple[int, ...]:
    """Weight's shape at features' rank.

    A weight of one rank less keeps its dims behind a leading 1. Any other weight contributes its
    first dim only, as the channel dim: of a weight of full rank, which starts with a 1, only the
    first element is used.
    """
    rank = len(features)
    if len(weight) == rank - 1 and len(weight) != 1:
        return (1, *weight)
    return tuple(weight[0] if axis == 1 else 1 for axis in range(rank))
