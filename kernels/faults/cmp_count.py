"""cmp.count: 1000 half elements are no whole repeats of 256 bytes.

A board compares whole repeats only and leaves the bits of the last 104 elements as they were.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.ascendc import (
    CMPMODE,
    CompareScalar,
    Duplicate,
    LocalTensor,
    TPosition,
    half,
    kernel,
    uint8_t,
)

if TYPE_CHECKING:
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "cmp.count"

N: Final = 1024


@kernel
def broken() -> None:
    tile = LocalTensor(half, TPosition.VECCALC, 0, N)
    mask = LocalTensor(uint8_t, TPosition.VECCALC, 2 * N, N // 8)
    Duplicate(tile, 1.0, N)
    CompareScalar(mask, tile, 0.0, CMPMODE.GT, 1000)


@kernel
def fixed() -> None:
    tile = LocalTensor(half, TPosition.VECCALC, 0, N)
    mask = LocalTensor(uint8_t, TPosition.VECCALC, 2 * N, N // 8)
    Duplicate(tile, 1.0, N)
    CompareScalar(mask, tile, 0.0, CMPMODE.GT, N)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    return variant.launch(1, platform="910b", **options)
