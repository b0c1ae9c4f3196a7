"""Tiling of HardSwishGradV2 on 910, 910B and 910_93.

Source: hicann/ops-nn activation/hard_swish_grad_v2/op_host/arch22/hard_swish_grad_v2_tiling.cpp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from host.platform_ascendc import CoreMemType, PlatformAscendC
from host.registry import IMPL_OP_OPTILING
from kernels.hard_swish_grad_v2.tiling_data import HardSwishGradV2TilingData

if TYPE_CHECKING:
    from host.contexts import TilingContext
    from host.status import GraphStatus

_UB_PARTS: Final = 10
_FLOAT_BYTES: Final = 4
_ALIGN_ELEMENTS: Final = 256


@IMPL_OP_OPTILING("HardSwishGradV2", "arch22")
def tiling(context: TilingContext) -> GraphStatus:
    """Deal tiles of ``ub // 10 // 4 // 256 * 256`` elements to the vector cores.

    Independent of the data type: all arithmetic is done in float.
    """
    shape = context.GetInputShape(0)
    if shape is None:
        return context.Fail("the shape of gradOutput is missing")
    platform = PlatformAscendC(context.GetPlatformInfo())
    ub_bytes = platform.GetCoreMemSize(CoreMemType.UB)
    tile = ub_bytes // _UB_PARTS // _FLOAT_BYTES // _ALIGN_ELEMENTS * _ALIGN_ELEMENTS
    if tile <= 0:
        return context.Fail(f"{ub_bytes} bytes of UB leave no room for a tile")
    count = shape.GetOriginShape().GetShapeSize()
    tiles = max(-(-count // tile), 1)
    cores = min(tiles, platform.GetCoreNumAiv())
    data = context.GetTilingData(HardSwishGradV2TilingData)
    data.elementNum = count
    data.needCoreNum = cores
    data.ubSize = ub_bytes
    data.elementNumEachCore = tile
    context.GetWorkspaceSizes(1)[0] = platform.GetLibApiWorkSpaceSize()
    context.SetTilingKey(0)
    return context.SetBlockDim(cores)
