"""sync.arrivals: a block without work returns before the barrier.

SyncAll waits for every block of the launch. Blocks that have nothing to do must still reach it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator.ascendc import (
    GetBlockIdx,
    SyncAll,
    kernel,
)

if TYPE_CHECKING:
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "sync.arrivals"


@kernel
def broken() -> None:
    if GetBlockIdx() == 3:
        return
    SyncAll()


@kernel
def fixed() -> None:
    SyncAll()


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on 4 blocks."""
    return variant.launch(4, **options)
