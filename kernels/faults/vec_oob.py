"""vec.oob: the destination of a cast has half the bytes that it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.ascendc import (
    Cast,
    Duplicate,
    LocalTensor,
    RoundMode,
    TPosition,
    float32,
    half,
    kernel,
)

if TYPE_CHECKING:
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "vec.oob"

N: Final = 1024


@kernel
def broken() -> None:
    narrow = LocalTensor(half, TPosition.VECIN, 0, N)
    wide = LocalTensor(float32, TPosition.VECCALC, 2 * N, N // 2)
    Duplicate(narrow, 1.0, N)
    Cast(wide, narrow, RoundMode.CAST_NONE, N)


@kernel
def fixed() -> None:
    narrow = LocalTensor(half, TPosition.VECIN, 0, N)
    wide = LocalTensor(float32, TPosition.VECCALC, 2 * N, N)
    Duplicate(narrow, 1.0, N)
    Cast(wide, narrow, RoundMode.CAST_NONE, N)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    return variant.launch(1, **options)
