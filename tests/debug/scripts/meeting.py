"""Two blocks that wait for each other, with a breakpoint before and behind the meeting."""

import numpy as np

from simulator.ascendc import (
    Adds,
    DataCopy,
    GetBlockIdx,
    GlobalTensor,
    SyncAll,
    TPipe,
    TPosition,
    TQue,
    float32,
    kernel,
    launch,
)
from simulator.core import current_core


@kernel
def meeting(x):
    core = current_core()
    block = GetBlockIdx()
    pipe = TPipe()
    queue = TQue(TPosition.VECIN, 1)
    pipe.InitBuffer(queue, 1, 256)
    a = queue.AllocTensor(float32)
    xGm = GlobalTensor(float32)
    xGm.SetGlobalBuffer(x)
    DataCopy(a, xGm[block * 64], 64)
    queue.EnQue(a)
    breakpoint()
    a = queue.DeQue(float32)
    SyncAll()
    breakpoint()
    Adds(a, a, 1.0, 64)
    queue.FreeTensor(a)
    return core


launch(meeting, 2, np.arange(128, dtype=np.float32), check="off")
print("finished")
