"""out = max(x, 0) ** 2 in double-buffered tiles, the same on every architecture."""

from simulator.ascendc import (
    GM_ADDR,
    DataCopyExtParams,
    DataCopyPad,
    DataCopyPadExtParams,
    GetBlockIdx,
    GlobalTensor,
    Mul,
    Relu,
    TPipe,
    TPosition,
    TQue,
)
from simulator.dtypes import DType
from squared_relu.kernels.squared_relu.tiling_data import SquaredReluTilingData


def run_block(dtype: DType, x: GM_ADDR, y: GM_ADDR, tiling: SquaredReluTilingData) -> None:
    """Work through the elements of one block."""
    start = GetBlockIdx() * tiling.blockLength
    length = min(tiling.blockLength, tiling.totalLength - start)
    xGm, yGm = GlobalTensor(dtype), GlobalTensor(dtype)
    for gm, address in ((xGm, x), (yGm, y)):
        gm.SetGlobalBuffer(address + start * dtype.itemsize, length)
    pipe = TPipe()
    inQueue, outQueue = TQue(TPosition.VECIN, 2), TQue(TPosition.VECOUT, 2)
    for queue in (inQueue, outQueue):
        pipe.InitBuffer(queue, 2, tiling.tileLength * dtype.itemsize)
    for at in range(0, length, tiling.tileLength):
        count = min(tiling.tileLength, length - at)
        params = DataCopyExtParams(1, count * dtype.itemsize, 0, 0, 0)
        local = inQueue.AllocTensor(dtype)
        DataCopyPad(local, xGm[at], params, DataCopyPadExtParams())
        inQueue.EnQue(local)
        source, result = inQueue.DeQue(dtype), outQueue.AllocTensor(dtype)
        Relu(source, source, count)
        Mul(result, source, source, count)
        outQueue.EnQue(result)
        inQueue.FreeTensor(source)
        result = outQueue.DeQue(dtype)
        DataCopyPad(yGm[at], result, params)
        outQueue.FreeTensor(result)
