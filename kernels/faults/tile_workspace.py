"""tile.workspace: every block takes a slot of the workspace, and there is space for two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernels.faults.tensors import gm
from simulator.ascendc import (
    DataCopy,
    Duplicate,
    GetBlockIdx,
    HardEvent,
    LocalTensor,
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

CODE = "tile.workspace"

N: Final = 1024


@kernel
def broken(workspace: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECOUT, 0, N)
    Duplicate(tile, 0.0, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(half, workspace)[GetBlockIdx() * N], tile, N)


@kernel
def fixed(workspace: GM_ADDR) -> None:
    tile = LocalTensor(half, TPosition.VECOUT, 0, N)
    Duplicate(tile, 0.0, N // 2)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(half, workspace)[GetBlockIdx() * N // 2], tile, N // 2)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on 4 blocks."""
    workspace = np.zeros(2 * N, np.float16)
    return variant.launch(4, workspace, **options)
