"""Launches one kernel as often as its argument says, then once with two blocks."""

import sys
from dataclasses import dataclass

import helper_module
import numpy as np

from simulator.ascendc import DataCopy, GlobalTensor, TPipe, TPosition, TQue, half, kernel


@dataclass(frozen=True)
class Tiling:
    length: int


@kernel
def read_only(x, tiling):
    xGm = GlobalTensor(half)
    xGm.SetGlobalBuffer(x, tiling.length)
    queue = TQue(TPosition.VECIN, 1)
    TPipe().InitBuffer(queue, 1, tiling.length * half.itemsize)
    xLocal = queue.AllocTensor(half)
    DataCopy(xLocal, xGm, tiling.length)
    queue.EnQue(xLocal)
    queue.FreeTensor(queue.DeQue(half))


if __name__ == "__main__":
    print("argv", sys.argv[1:], helper_module.NAME)
    x = np.zeros(64, np.float16)
    for _ in range(int(sys.argv[1])):
        read_only[1](x, Tiling(64))
    read_only[2](x, Tiling(64))
