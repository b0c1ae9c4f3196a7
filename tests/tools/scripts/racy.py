"""z = x + 1 without the flag between the copy and the addition; used by the tests of --order."""

import numpy as np

from simulator.ascendc import (
    Adds,
    DataCopy,
    GlobalTensor,
    HardEvent,
    LocalTensor,
    SetFlag,
    TPosition,
    WaitFlag,
    half,
    kernel,
)

N = 1024


def gm(address):
    tensor = GlobalTensor(half)
    tensor.SetGlobalBuffer(address)
    return tensor


@kernel
def plus_one(x, z):
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    out = LocalTensor(half, TPosition.VECOUT, 2 * N, N)
    DataCopy(tile, gm(x), N)
    Adds(out, tile, 1.0, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(z), out, N)


x, z = np.arange(N, dtype=np.float16), np.zeros(N, np.float16)
plus_one.launch(1, x, z, check="report")
print("z[5] is", z[5])
