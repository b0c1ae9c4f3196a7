"""Tiling of HardSwishGrad.

950 divides the work as the second version does but checks less; source: hicann/ops-nn
activation/hard_swish_grad/op_host/arch35/hard_swish_grad_tiling_arch35.cpp. The kernels of older
generations are not published as AscendC; the simulator's have the structure of the second version's
and take its tiling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from host.datatypes import DataType
from host.hard_swish_grad_v2.tiling_arch22 import tiling as tiling_arch22
from host.hard_swish_grad_v2.tiling_arch35 import divide
from host.platform_ascendc import CoreMemType, PlatformAscendC
from host.registry import IMPL_OP_OPTILING
from host.status import GRAPH_SUCCESS
from kernels.hard_swish_grad.tiling_data import HardSwishGradTilingData

if TYPE_CHECKING:
    from host.contexts import TilingContext
    from host.status import GraphStatus

_DTYPES: Final = (DataType.FLOAT, DataType.FLOAT16, DataType.BF16)


@IMPL_OP_OPTILING("HardSwishGrad", "arch35")
def tiling_arch35(context: TilingContext) -> GraphStatus:
    """Divide gradOutput's elements; self must have as many, whatever its shape."""
    platform = PlatformAscendC(context.GetPlatformInfo())
    if platform.GetCoreNumAiv() == 0:
        return context.Fail("the platform has no vector cores")
    if platform.GetCoreMemSize(CoreMemType.UB) == 0:
        return context.Fail("the platform has no UB")
    grad, self_, desc = context.GetInputShape(0), context.GetInputShape(1), context.GetInputDesc(0)
    if grad is None or self_ is None or desc is None:
        return context.Fail("the shape of gradOutput or self is missing")
    count, other = (shape.GetStorageShape().GetShapeSize() for shape in (grad, self_))
    if count != other:
        return context.Fail(f"self has {other} elements, gradOutput {count}")
    dtype = desc.GetDataType()
    if dtype not in _DTYPES:
        return context.Fail(f"gradOutput has data type {dtype.name}")
    context.GetWorkspaceSizes(1)[0] = 0
    data = context.GetTilingData(HardSwishGradTilingData)
    status = divide(context, data, count, dtype)
    if status == GRAPH_SUCCESS and count and data.ubFactor <= 0:
        return context.Fail("UB leaves no room for a tile")
    return status


IMPL_OP_OPTILING("HardSwishGrad", "arch22")(tiling_arch22)
