"""Tiling of PReluGradReduce on 910B and 910_93: this simulator's own, not a published one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from host.datatypes import DataType
from host.p_relu_grad_update.tiling_arch35 import not_scalar
from host.platform_ascendc import CoreMemType, PlatformAscendC
from host.registry import IMPL_OP_OPTILING
from kernels.p_relu_grad_reduce.tiling_data import (
    BLOCK,
    COLUMNS,
    REPEAT_ELEMENTS,
    TILE,
    PReluGradReduceTilingData,
)
from kernels.p_relu_grad_reduce.ub_layout import UB_BYTES

if TYPE_CHECKING:
    from host.contexts import TilingContext
    from host.status import GraphStatus

_DTYPES: Final = (DataType.FLOAT16, DataType.BF16, DataType.FLOAT)
_UPDATES: Final = 3
_FLOAT_BYTES: Final = 4
_SMALL_TILE: Final = 4096
_WANTED_TILES: Final = 128
"""Enough to keep any number of cores about equally busy."""


@IMPL_OP_OPTILING("PReluGradReduce", "arch22")
def tiling(context: TilingContext) -> GraphStatus:
    """Cut updates into tiles of a fixed size and deal them to the cores."""
    updates, weights = context.GetInputDesc(_UPDATES), context.GetInputDesc(2)
    if updates is None or weights is None:
        return context.Fail("the shape of weights or updates is missing")
    if updates.dtype not in _DTYPES:
        return context.Fail(f"updates has data type {updates.dtype.name}")
    shape, count = not_scalar(updates), math.prod(not_scalar(weights))
    if math.prod(shape) == 0:
        return context.Fail("updates is empty")
    outer, channels, inner = 1, 1, math.prod(shape)
    if count != 1:
        if len(shape) < 2 or count != shape[1]:
            return context.Fail(f"weights has {count} elements, updates the shape {list(shape)}")
        outer, channels, inner = shape[0], shape[1], math.prod(shape[2:])
    platform = PlatformAscendC(context.GetPlatformInfo())
    cores = platform.GetCoreNumAiv()
    ub_bytes = platform.GetCoreMemSize(CoreMemType.UB)
    if cores == 0 or ub_bytes < UB_BYTES:
        return context.Fail(f"{cores} vector cores with {ub_bytes} bytes of UB cannot work")
    data = context.GetTilingData(PReluGradReduceTilingData)
    data.outer, data.channels, data.inner = outer, channels, inner
    per_block = BLOCK // updates.dtype.itemsize
    # The shape alone decides, so that the order of the sum does not depend on the device's cores.
    tile = min(TILE, max(_SMALL_TILE, _align(math.prod(shape) // _WANTED_TILES, REPEAT_ELEMENTS)))
    if inner == 1 and channels > 1:
        data.channelTile = columns = min(channels, COLUMNS)
        data.outerTile = min(outer, tile // _align(columns, per_block))
        data.innerTile = 1
    else:
        row = _align(inner, per_block)
        data.innerTile = min(inner, tile)
        data.channelTile = rows = max(1, min(channels, tile // row))
        data.outerTile = max(1, min(outer, tile // (rows * row))) if rows == channels else 1
    segments = -(-inner // data.innerTile)
    data.groups = groups = -(-outer // data.outerTile) * segments
    data.tiles = tiles = groups * -(-channels // data.channelTile)
    data.blockFormer = -(-tiles // cores)
    workspace = platform.GetLibApiWorkSpaceSize()
    if groups > 1:
        # Partial sums are added after all cores have met, so all of them must run at once.
        context.SetScheduleMode(1)
        workspace += _align(groups * channels * _FLOAT_BYTES, BLOCK)
    context.GetWorkspaceSizes(1)[0] = workspace
    context.SetTilingKey(0)
    blocks = -(-tiles // data.blockFormer)
    return context.SetBlockDim(blocks)


def _align(value: int, unit: int) -> int:
    return -(-value // unit) * unit
