"""How much each core does, and in tiles of which length."""

from host.contexts import TilingContext
from host.platform_ascendc import CoreMemType, PlatformAscendC
from host.registry import IMPL_OP_OPTILING
from host.status import GraphStatus
from squared_relu.kernels.squared_relu.tiling_data import SquaredReluTilingData

QUEUES, BUFFERS, ALIGN = 2, 2, 256


def tiling(context: TilingContext) -> GraphStatus:
    """Give every core the same number of elements; the last one gets what is left."""
    shape = context.GetInputShape(0)
    if shape is None:
        return context.Fail("the shape of self is missing")
    total = shape.GetOriginShape().GetShapeSize()
    platform = PlatformAscendC(context.GetPlatformInfo())
    itemsize = context.GetInputDesc(0).GetDataType().itemsize
    room = platform.GetCoreMemSize(CoreMemType.UB) // (QUEUES * BUFFERS * itemsize)
    share = -(-total // platform.GetCoreNumAiv())
    share = max(ALIGN, -(-share // ALIGN) * ALIGN)
    data = context.GetTilingData(SquaredReluTilingData)
    data.totalLength = total
    data.blockLength = share
    data.tileLength = min(room // ALIGN * ALIGN, share)
    context.GetWorkspaceSizes(1)[0] = 0
    return context.SetBlockDim(-(-total // share))


for arch in ("arch22", "arch35"):
    IMPL_OP_OPTILING("SquaredRelu", arch)(tiling)
