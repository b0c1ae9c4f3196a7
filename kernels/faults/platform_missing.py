"""platform.missing: Mutex exists on 950 only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.ascendc import (
    PIPE_V,
    Duplicate,
    LocalTensor,
    Mutex,
    PipeBarrier,
    TPosition,
    half,
    kernel,
)

if TYPE_CHECKING:
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "platform.missing"

N: Final = 1024


@kernel
def broken() -> None:
    tile = LocalTensor(half, TPosition.VECCALC, 0, N)
    Mutex.Lock(PIPE_V, 0)
    Duplicate(tile, 1.0, N)
    Mutex.Unlock(PIPE_V, 0)


@kernel
def fixed() -> None:
    tile = LocalTensor(half, TPosition.VECCALC, 0, N)
    Duplicate(tile, 1.0, N)
    PipeBarrier(PIPE_V)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    return variant.launch(1, platform="910b", **options)
