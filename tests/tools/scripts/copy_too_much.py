"""Copies two elements more than the queue's buffer can take."""

import numpy as np

from simulator.ascendc import DataCopy, GlobalTensor, TPipe, TPosition, TQue, half, kernel


class KernelCopy:
    def Process(self, x):
        xGm = GlobalTensor(half)
        xGm.SetGlobalBuffer(x, 64)
        queue = TQue(TPosition.VECIN, 1)
        TPipe().InitBuffer(queue, 1, 64 * half.itemsize)
        xLocal = queue.AllocTensor(half)
        DataCopy(xLocal, xGm, 66)


@kernel
def copy_too_much(x):
    KernelCopy().Process(x)


copy_too_much[2](np.zeros(64, np.float16))
