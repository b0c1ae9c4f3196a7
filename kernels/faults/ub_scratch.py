"""ub.scratch: the work tensor of ReduceMax is too short for this length.

Value and index of every repeat are kept there: 64 repeats of float need 128 elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator.ascendc import (
    Duplicate,
    LocalTensor,
    ReduceMax,
    TPosition,
    float32,
    kernel,
)

if TYPE_CHECKING:
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "ub.scratch"


@kernel
def broken() -> None:
    tile = LocalTensor(float32, TPosition.VECCALC, 0, 4096)
    total = LocalTensor(float32, TPosition.VECCALC, 16384, 8)
    work = LocalTensor(float32, TPosition.VECCALC, 20480, 32)
    Duplicate(tile, 1.0, 4096)
    ReduceMax(total, tile, work, 4096)


@kernel
def fixed() -> None:
    tile = LocalTensor(float32, TPosition.VECCALC, 0, 4096)
    total = LocalTensor(float32, TPosition.VECCALC, 16384, 8)
    work = LocalTensor(float32, TPosition.VECCALC, 20480, 128)
    Duplicate(tile, 1.0, 4096)
    ReduceMax(total, tile, work, 4096)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    return variant.launch(1, platform="910b", **options)
