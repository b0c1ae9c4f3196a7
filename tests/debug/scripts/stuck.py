"""A kernel that waits for a flag that nothing sets."""

import numpy as np

from simulator.ascendc import HardEvent, SetFlag, WaitFlag, kernel


@kernel
def stuck(x):
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE3_S, 1)


stuck[1](np.zeros(8, np.float32))
