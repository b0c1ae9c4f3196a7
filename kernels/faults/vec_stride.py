"""vec.stride: a repeat stride has 8 bits.

Rows of 256 blocks fold onto each other on a board.
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

CODE = "vec.stride"

N: Final = 1024


@kernel
def broken() -> None:
    tile = LocalTensor(half, TPosition.VECCALC, 0, 16 * N)
    Duplicate(tile, 1.0, 16 * N)
    Adds(tile, tile, 1.0, 128, 2, UnaryRepeatParams(1, 1, 256, 256))


@kernel
def fixed() -> None:
    tile = LocalTensor(half, TPosition.VECCALC, 0, 16 * N)
    Duplicate(tile, 1.0, 16 * N)
    for row in range(0, 2 * 4096, 4096):
        Adds(tile[row], tile[row], 1.0, 128, 1, UnaryRepeatParams(1, 1, 8, 8))


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    return variant.launch(1, **options)
