"""Two blocks add one to their halves of x; the last line prints the sum of y."""

import numpy as np

from simulator.ascendc import (
    Adds,
    DataCopy,
    GetBlockIdx,
    GlobalTensor,
    HardEvent,
    SetFlag,
    TPipe,
    TPosition,
    TQue,
    WaitFlag,
    float32,
    kernel,
)

TILE = 64


@kernel
def add_one(x, y):
    pipe = TPipe()
    queue = TQue(TPosition.VECIN, 1)
    pipe.InitBuffer(queue, 1, TILE * 4)
    xGm, yGm = GlobalTensor(float32), GlobalTensor(float32)
    xGm.SetGlobalBuffer(x)
    yGm.SetGlobalBuffer(y)
    half = GetBlockIdx() * 2 * TILE
    for tile in range(2):
        start = half + tile * TILE
        copy_and_add(queue, xGm[start], yGm[start])


def copy_and_add(queue, source, target):
    local = queue.AllocTensor(float32)
    DataCopy(local, source, TILE)
    queue.EnQue(local)
    local = queue.DeQue(float32)
    bias = 1.0
    Adds(local, local, bias, TILE)
    hand_over(HardEvent.V_MTE3)
    DataCopy(target, local, TILE)
    hand_over(HardEvent.MTE3_MTE2)
    queue.FreeTensor(local)


def hand_over(event):
    SetFlag(event, 0)
    WaitFlag(event, 0)


if __name__ == "__main__":
    x = np.arange(4 * TILE, dtype=np.float32)
    y = np.zeros_like(x)
    add_one[2](x, y)
    print("sum", int(y.sum()))
