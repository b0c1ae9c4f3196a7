"""Tiling of Contiguous and ViewCopy on every generation.

The device's own copy operators are not public; the split is this simulator's: equal shares of the
dense side that start at multiples of 512 bytes, the granularity that mirror-cann/asc-devkit
docs/zh/guide recommends for GM addresses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from host.platform_ascendc import CoreMemType, PlatformAscendC
from host.registry import ARCHES, IMPL_OP_OPTILING
from host.tensor import dense_strides
from kernels.strided.tiling_data import MAX_RANK, StridedViewTilingData

if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.contexts import TensorDesc, TilingContext
    from host.status import GraphStatus

_SHARE_BYTES: Final = 512
_UB_BLOCK: Final = 32


def merge_axes(
    shape: Sequence[int], strides: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Drop axes of length 1 and join neighbours that are walked with one stride.

    The result has at least one axis.
    """
    dims: list[int] = []
    steps: list[int] = []
    for dim, step in zip(shape, strides, strict=True):
        if dim == 1:
            continue
        if dims and steps[-1] == dim * step:
            dims[-1] *= dim
            steps[-1] = step
        else:
            dims.append(dim)
            steps.append(step)
    return (tuple(dims), tuple(steps)) if dims else ((1,), (1,))


def _contiguous(context: TilingContext) -> GraphStatus:
    return _strided(context, context.GetInputDesc(0))


def _view_copy(context: TilingContext) -> GraphStatus:
    return _strided(context, context.GetOutputDesc(0))


def _strided(context: TilingContext, view: TensorDesc | None) -> GraphStatus:
    if view is None:
        return context.Fail("the strided tensor is missing")
    platform = PlatformAscendC(context.GetPlatformInfo())
    cores = platform.GetCoreNumAiv()
    ub_bytes = platform.GetCoreMemSize(CoreMemType.UB)
    size = view.dtype.itemsize
    strides = view.strides if view.strides is not None else dense_strides(view.shape)
    shape, strides = merge_axes(view.shape, strides)
    if cores == 0 or ub_bytes < 2 * _UB_BLOCK:
        return context.Fail(f"{cores} cores with {ub_bytes} bytes of UB cannot copy")
    if len(shape) > MAX_RANK:
        return context.Fail(f"the view has {len(shape)} axes after merging, at most {MAX_RANK}")
    total = 1
    for dim in shape:
        total *= dim
    share = _SHARE_BYTES // size
    block_factor = max(share, -(-total // (cores * share)) * share)
    block_dim = max(1, -(-total // block_factor))
    tiling = context.GetTilingData(StridedViewTilingData)
    tiling.totalNum = total
    tiling.blockFactor = block_factor
    tiling.ubFactor = ub_bytes // 2 // _UB_BLOCK * _UB_BLOCK // size
    tiling.offset = view.offset
    tiling.shape = shape
    tiling.strides = strides
    tiling.rank = len(shape)
    tiling.elementBytes = size
    context.GetWorkspaceSizes(1)[0] = 0
    return context.SetBlockDim(block_dim)


for _arch in ARCHES:
    IMPL_OP_OPTILING("Contiguous", _arch)(_contiguous)
    IMPL_OP_OPTILING("ViewCopy", _arch)(_view_copy)
