"""cast.pair: 910B has no cast from half to bfloat16_t.

The way goes through float.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.ascendc import (
    Cast,
    Duplicate,
    LocalTensor,
    RoundMode,
    TPosition,
    bfloat16_t,
    float32,
    half,
    kernel,
)

if TYPE_CHECKING:
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "cast.pair"

N: Final = 1024


@kernel
def broken() -> None:
    source = LocalTensor(half, TPosition.VECIN, 0, N)
    target = LocalTensor(bfloat16_t, TPosition.VECOUT, 2 * N, N)
    Duplicate(source, 1.0, N)
    Cast(target, source, RoundMode.CAST_RINT, N)


@kernel
def fixed() -> None:
    source = LocalTensor(half, TPosition.VECIN, 0, N)
    target = LocalTensor(bfloat16_t, TPosition.VECOUT, 2 * N, N)
    Duplicate(source, 1.0, N)
    wide = LocalTensor(float32, TPosition.VECCALC, 4 * N, N)
    Cast(wide, source, RoundMode.CAST_NONE, N)
    Cast(target, wide, RoundMode.CAST_RINT, N)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    return variant.launch(1, platform="910b", **options)
