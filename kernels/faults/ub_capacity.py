"""ub.capacity: two buffers of 100 KB do not fit 192 KB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator.ascendc import (
    TPipe,
    TPosition,
    TQue,
    kernel,
)

if TYPE_CHECKING:
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "ub.capacity"


@kernel
def broken() -> None:
    pipe = TPipe()
    queue = TQue(TPosition.VECIN, 1)
    pipe.InitBuffer(queue, 2, 100 * 1024)


@kernel
def fixed() -> None:
    pipe = TPipe()
    queue = TQue(TPosition.VECIN, 1)
    pipe.InitBuffer(queue, 2, 96 * 1024)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    return variant.launch(1, platform="910b", **options)
