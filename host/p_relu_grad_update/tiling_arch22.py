"""Tiling of PReluGradUpdate on 910B and 910_93: this simulator's own, not a published one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from host.datatypes import DataType
from host.p_relu_grad_update.broadcast_tiling import split_for_ub
from host.p_relu_grad_update.collapse import CollapseError, collapse
from host.p_relu_grad_update.tiling_arch35 import check_dtypes, not_scalar
from host.platform_ascendc import CoreMemType, PlatformAscendC
from host.registry import IMPL_OP_OPTILING
from kernels.p_relu_grad_update.tiling_data import (
    MAX_DIMS,
    REPEAT,
    PReluGradUpdateTilingData,
    capacity,
    padded,
)

if TYPE_CHECKING:
    from host.contexts import TilingContext
    from host.status import GraphStatus

_WORTH_A_CORE: Final = 1024
"""Elements below which another core does not pay."""


@IMPL_OP_OPTILING("PReluGradUpdate", "arch22")
def tiling(context: TilingContext) -> GraphStatus:
    """Collapse axes, cut them so that a tile fits UB, and deal the tiles to the cores."""
    grads, features, weights = (context.GetInputDesc(index) for index in range(3))
    if grads is None or features is None or weights is None:
        return context.Fail("the shape of grads, features or weights is missing")
    outputs = [context.GetOutputDesc(index) for index in range(2)]
    reason = check_dtypes(grads, features, weights, outputs)
    if reason:
        return context.Fail(reason)
    shape, weight = not_scalar(features), not_scalar(weights)
    channels = shape[1] if len(shape) > 1 else 1
    count = math.prod(weight)
    if count not in (1, channels):
        return context.Fail(f"weights has {count} elements, features has {channels} channels")
    by_channel = tuple(count if axis == 1 else 1 for axis in range(len(shape)))
    try:
        collapsed = collapse((not_scalar(grads), shape, by_channel), shape)
    except CollapseError as error:
        return context.Fail(error.message)
    dims = collapsed.dims[-1]
    if len(dims) > MAX_DIMS:
        return context.Fail(f"{len(dims)} axes are left, at most {MAX_DIMS}")
    platform = PlatformAscendC(context.GetPlatformInfo())
    cores = platform.GetCoreNumAiv()
    item = features.dtype.itemsize
    room = capacity(
        item,
        widened=features.dtype == DataType.BF16,
        ub_bytes=platform.GetCoreMemSize(CoreMemType.UB),
    )
    if cores == 0 or room == 0:
        return context.Fail(f"{cores} vector cores with room for {room} elements cannot work")
    in_ub = [*dims[:-1], padded(dims[-1], item)]
    axis = split_for_ub(in_ub, room).axis
    inner = math.prod(in_ub[axis + 1 :])
    in_front = math.prod(dims[:axis])
    lanes = REPEAT // item
    # An even share for each core, cut again when it does not fit; small shares do not pay.
    share = -(-dims[axis] // -(-cores // in_front))
    share = max(share, min(-(-_WORTH_A_CORE // inner), dims[axis]))
    former = -(-share // -(-share // (room // inner)))
    if axis == len(dims) - 1 and former < dims[axis]:
        former = min(-(-former // lanes) * lanes, room)
    data = context.GetTilingData(PReluGradUpdateTilingData)
    data.rank = len(dims)
    data.splitAxis = axis
    data.former = former
    data.outer = outer = -(-dims[axis] // former)
    data.fused = fused = outer * in_front
    data.blockFormer = per_block = -(-fused // cores)
    data.elementNum = room
    data.dims = dims
    data.gradStrides = collapsed.strides[0]
    data.weightStrides = collapsed.strides[2]
    context.GetWorkspaceSizes(1)[0] = platform.GetLibApiWorkSpaceSize()
    context.SetTilingKey(0)
    return context.SetBlockDim(-(-fused // per_block))
