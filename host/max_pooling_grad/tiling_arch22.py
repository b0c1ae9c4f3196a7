"""Tiling of MaxPoolingGrad on 910B.

Source: hicann/ops-nn experimental/pooling/max_pooling_grad/op_host/max_pooling_grad_tiling.cpp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from host.platform_ascendc import CoreMemType, PlatformAscendC
from host.registry import IMPL_OP_OPTILING
from kernels.max_pooling_grad.tiling_data import MaxPoolingGradTilingData

if TYPE_CHECKING:
    from host.contexts import TilingContext
    from host.status import GraphStatus

BLOCK_BYTES: Final = 256
"""Bytes of one repeat, in which a comparison counts; shares are multiples of it."""
_UB_PARTS: Final = 8


class _Core(NamedTuple):
    """Elements of one core, and the tiles they are cut into."""

    elements: int
    loops: int
    tail: int


@IMPL_OP_OPTILING("MaxPoolingGrad", "arch22")
def tiling(context: TilingContext) -> GraphStatus:
    """Deal blocks of 256 bytes evenly; the first ``blocks % cores`` cores get one more.

    Only dy is looked at. The source divides by zero when UB holds fewer than 2048 bytes; that is a
    failure here.
    """
    platform = PlatformAscendC(context.GetPlatformInfo())
    ub_bytes = platform.GetCoreMemSize(CoreMemType.UB)
    cores = platform.GetCoreNumAiv() or platform.GetCoreNum()
    if ub_bytes == 0 or cores <= 0:
        return context.Fail(f"the platform has {ub_bytes} bytes of UB and {cores} cores")
    shape, desc = context.GetInputShape(0), context.GetInputDesc(0)
    if shape is None or desc is None:
        return context.Fail("the shape of dy is missing")
    tile_blocks = ub_bytes // BLOCK_BYTES // _UB_PARTS
    if tile_blocks == 0:
        return context.Fail(f"{ub_bytes} bytes of UB leave no room for a tile")
    size = desc.GetDataType().itemsize
    total = shape.GetStorageShape().GetShapeSize()
    blocks = -(-total * size // BLOCK_BYTES)
    cores = max(1, min(cores, blocks))
    every, big_cores = divmod(blocks, cores)
    small, big = (_core(n, tile_blocks, size) for n in (every, every + 1))
    data = context.GetTilingData(MaxPoolingGradTilingData)
    data.smallCoreDataNum, data.smallCoreLoopNum, data.smallCoreTailDataNum = small
    data.bigCoreDataNum, data.bigCoreLoopNum, data.bigCoreTailDataNum = big
    data.ubPartDataNum = tile_blocks * BLOCK_BYTES // size
    data.tailBlockNum = big_cores
    before_last = big.elements * big_cores + small.elements * (cores - big_cores - 1)
    data.lastCoreValidDataNum = total - before_last if before_last + small.elements > total else 0
    context.GetWorkspaceSizes(1)[0] = platform.GetLibApiWorkSpaceSize()
    return context.SetBlockDim(cores)


def _core(blocks: int, tile_blocks: int, size: int) -> _Core:
    """Cut ``blocks`` blocks into tiles; a tail of 0 stands for a whole tile."""
    full, rest = divmod(blocks, tile_blocks)
    tail = (rest or tile_blocks) * BLOCK_BYTES // size
    return _Core(blocks * BLOCK_BYTES // size, full + (rest > 0), tail)
