"""race.samepipe: ``Muls`` needs the result of ``Adds`` and no barrier stands between them.

Instructions of one pipe start in order, but a later one may start before an earlier one has
finished. The compiler puts the barrier in by itself unless its automatic synchronisation is off, as
it is here and in many library kernels. On 950 the hardware orders V after V.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernels.faults.tensors import gm
from simulator.ascendc import (
    PIPE_V,
    Adds,
    DataCopy,
    HardEvent,
    LocalTensor,
    Muls,
    PipeBarrier,
    SetFlag,
    TPosition,
    WaitFlag,
    half,
    kernel,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "race.samepipe"

N: Final = 1024


@kernel(auto_sync=False)
def broken(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    DataCopy(tile, gm(half, x), N)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Adds(tile, tile, 1.0, N)
    Muls(tile, tile, 2.0, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(half, z), tile, N)


@kernel(auto_sync=False)
def fixed(x: GM_ADDR, z: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    DataCopy(tile, gm(half, x), N)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Adds(tile, tile, 1.0, N)
    PipeBarrier(PIPE_V)
    Muls(tile, tile, 2.0, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(half, z), tile, N)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(N, dtype=np.float16)
    z = np.zeros(N, np.float16)
    return variant.launch(1, x, z, **options)
