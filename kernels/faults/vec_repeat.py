"""vec.repeat: a repeat count has 8 bits.

A board takes 256 for 0 and computes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.ascendc import (
    Adds,
    Duplicate,
    LocalTensor,
    TPosition,
    UnaryRepeatParams,
    half,
    kernel,
)

if TYPE_CHECKING:
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "vec.repeat"

N: Final = 1024


@kernel
def broken() -> None:
    tile = LocalTensor(half, TPosition.VECCALC, 0, 64 * N)
    Duplicate(tile, 1.0, 64 * N)
    Adds(tile, tile, 1.0, 128, 256, UnaryRepeatParams(1, 1, 8, 8))


@kernel
def fixed() -> None:
    tile = LocalTensor(half, TPosition.VECCALC, 0, 64 * N)
    Duplicate(tile, 1.0, 64 * N)
    for start in range(0, 256 * 128, 128 * 128):
        Adds(tile[start], tile[start], 1.0, 128, 128, UnaryRepeatParams(1, 1, 8, 8))


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    return variant.launch(1, **options)
