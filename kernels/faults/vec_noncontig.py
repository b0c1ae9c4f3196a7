"""vec.noncontig: a column of a tile is no flat operand.

A tensor has no step: a call on every second element needs a stride in its repeat parameters, or a
gather.
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

CODE = "vec.noncontig"

N: Final = 1024


@kernel
def broken() -> None:
    tile = LocalTensor(half, TPosition.VECCALC, 0, N)
    Duplicate(tile, 1.0, N)
    Adds(tile[::2], tile[::2], 1.0, N // 2)


@kernel
def fixed() -> None:
    tile = LocalTensor(half, TPosition.VECCALC, 0, N)
    Duplicate(tile, 1.0, N)
    Adds(
        tile, tile, 1.0, [0x5555555555555555, 0x5555555555555555], 8, UnaryRepeatParams(1, 1, 8, 8)
    )


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    return variant.launch(1, **options)
