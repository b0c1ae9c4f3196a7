"""sync.schedule: more blocks than cores meet at a barrier.

A waiting block keeps its core, so that the blocks behind never start. Divide the work by the cores
there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.ascendc import (
    SyncAll,
    kernel,
)

if TYPE_CHECKING:
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "sync.schedule"

BLOCKS: Final = {"broken": 49, "fixed": 48}
"""A 910B has 48 vector cores."""


@kernel
def broken() -> None:
    SyncAll()


@kernel()
def fixed() -> None:
    SyncAll()


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on BLOCKS[variant.name] blocks."""
    return variant.launch(BLOCKS[variant.name], platform="910b", **options)
