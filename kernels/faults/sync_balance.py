"""sync.balance: the flag between the blocks is set twice and waited for once.

The counter of a cross-core flag keeps the second set, so that the next round starts early.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator.ascendc import (
    PIPE_MTE3,
    CrossCoreSetFlag,
    CrossCoreWaitFlag,
    kernel,
)

if TYPE_CHECKING:
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "sync.balance"


@kernel
def broken() -> None:
    CrossCoreSetFlag(0, PIPE_MTE3, 5)
    CrossCoreSetFlag(0, PIPE_MTE3, 5)
    CrossCoreWaitFlag(5)


@kernel
def fixed() -> None:
    CrossCoreSetFlag(0, PIPE_MTE3, 5)
    CrossCoreWaitFlag(5)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on 2 blocks."""
    return variant.launch(2, **options)
