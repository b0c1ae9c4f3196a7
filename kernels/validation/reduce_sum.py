"""The sum of a long row by reductions alone, or by pairwise Adds and one reduction.

Counter mode: the number of elements is in the mask register, and one call covers the whole row.
Loops after mirror-cann/asc-devkit docs/zh/guide/算子实践参考/SIMD算子性能优化/矢量计算/
选择低延迟指令-优化归约操作性能.md.
"""

from __future__ import annotations

from typing import Final

from simulator.ascendc import (
    MASK_PLACEHOLDER,
    Add,
    BinaryRepeatParams,
    LocalTensor,
    MaskMode,
    ReduceRepeat,
    ReduceType,
    ResetMask,
    SetMaskCount,
    SetMaskNorm,
    SetVectorMask,
    TPosition,
    float32,
    kernel,
)

LANES: Final = 64
PAIR: Final = 16


def _row(length: int) -> tuple[LocalTensor, LocalTensor]:
    source = LocalTensor(float32, TPosition.VECCALC, 0, length)
    result = LocalTensor(float32, TPosition.VECCALC, -(-length // LANES) * 256, length // 2 + LANES)
    return source, result


def _reduce(dst: LocalTensor, src: LocalTensor, count: int) -> None:
    SetVectorMask(float32, MaskMode.COUNTER, count)
    ReduceRepeat(ReduceType.SUM, dst, src, MASK_PLACEHOLDER, 1, 1, 1, 8, isSetMask=False)


@kernel
def reduce_only(length: int) -> None:
    """Reduce 64 to 1 until one element is left."""
    source, result = _row(length)
    SetMaskCount()
    while length > 1:
        _reduce(result, source, length)
        length = -(-length // LANES)
        source = result
    ResetMask()
    SetMaskNorm()


@kernel
def pairwise(length: int) -> None:
    """Add the second half to the first until one repeat is left, then reduce."""
    source, result = _row(length)
    SetMaskCount()
    count = length // PAIR * PAIR
    while count > LANES:
        half = -(-count // PAIR) * (PAIR // 2)
        SetVectorMask(float32, MaskMode.COUNTER, count - half)
        Add(
            result, source, source[half], MASK_PLACEHOLDER, 1, BinaryRepeatParams(), isSetMask=False
        )
        count, source = half, result
    _reduce(result, source, count)
    ResetMask()
    SetMaskNorm()
