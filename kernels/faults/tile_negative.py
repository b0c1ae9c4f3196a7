"""tile.negative: the share of the last block is negative.

Three blocks of 304 elements cover 900; the fourth gets 900 - 3 * 304 = -12. On a board the unsigned
count wraps to four billion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.ascendc import (
    Duplicate,
    GetBlockIdx,
    LocalTensor,
    TPosition,
    half,
    kernel,
)

if TYPE_CHECKING:
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "tile.negative"

N: Final = 1024


@kernel
def broken() -> None:
    count = min(304, 900 - GetBlockIdx() * 304)
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    Duplicate(tile, 0.0, count)


@kernel
def fixed() -> None:
    count = min(304, 900 - GetBlockIdx() * 304)
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    if count > 0:
        Duplicate(tile, 0.0, count)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on 4 blocks."""
    return variant.launch(4, **options)
