"""The arithmetic of reductions on arrays whose last axis holds the lanes of a repeat or block.

Sums add neighbours pairwise, then the sums of neighbours, and so on; half is rounded to half at
every node, and in saturating mode every node clamps. Extremes: NaN wins, ties give the smallest
lane. Sources: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/归约计算
(ReduceDataBlock.md, ReduceRepeat.md), Reg矢量计算/归约计算/Reduce.md and the special value tables
in 附录.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.enums import Arch
from simulator.isa.saturation import SATURATE_FLOAT, SATURATE_INT
from simulator.numerics import narrow_integer, saturate_float

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from simulator.dtypes import DType

    Array = NDArray[Any]

MAX: Final = "max"
MIN: Final = "min"
SUM: Final = "sum"


def absent(arch: Arch, dtype: DType, kind: str) -> Any:
    """Return the value that stands for a lane that takes no part.

    In a sum the 950 takes masked-off lanes as +0; on 910B they leave the sum as it is, -0 included.
    """
    if kind == SUM:
        negative = dtype.is_float and arch is not Arch.DAV_3510
        return dtype.numpy.type(-0.0 if negative else 0)
    low, high = bounds(dtype)
    return low if kind == MAX else high


def bounds(dtype: DType) -> tuple[Any, Any]:
    """Return the lowest and the highest value, infinities included."""
    if dtype.is_float:
        return dtype.numpy.type(-np.inf), dtype.numpy.type(np.inf)
    info = np.iinfo(dtype.numpy)
    return dtype.numpy.type(info.min), dtype.numpy.type(info.max)


def tree_sum(values: Array, dtype: DType, numeric_mode: int) -> Array:
    """Sum the last axis, whose length is a power of two, as a binary tree of ``dtype`` nodes."""
    add = adder(dtype, numeric_mode)
    while values.shape[-1] > 1:
        values = add(values[..., 0::2], values[..., 1::2])
    return values[..., 0]


def adder(dtype: DType, numeric_mode: int) -> Callable[[Array, Array], Array]:
    """Return the addition of one node."""
    if numeric_mode & SATURATE_FLOAT and dtype.is_float:

        def clamped(a: Array, b: Array) -> Array:
            total = np.atleast_1d(np.add(a, b))
            saturate_float(total, dtype)
            return total

        return clamped
    if numeric_mode & SATURATE_INT and not dtype.is_float and dtype.bits < 64:

        def bounded(a: Array, b: Array) -> Array:
            total = np.add(a, b, dtype=np.int64)
            out = np.empty(total.shape, dtype.numpy)
            narrow_integer(total, out)
            return out

        return bounded
    return np.add


def add_in_order(partials: Array, dtype: DType, numeric_mode: int) -> Any:
    """Add the results of the repeats one after another."""
    if not numeric_mode:
        # A running sum of numpy adds strictly in order; its other sums do not.
        return np.add.accumulate(partials)[-1]
    add = adder(dtype, numeric_mode)
    total = partials[:1]
    for r in range(1, len(partials)):
        total = add(total, partials[r : r + 1])
    return total[0]


def extreme(values: Array, dtype: DType, kind: str, numeric_mode: int) -> tuple[Array, Array]:
    """Return value and lane of the extreme of the last axis (at least one lane).

    NaN wins with its first lane; ``max(-0, +0)`` is +0 and ``min(-0, +0)`` is -0, at the first lane
    that holds either. In saturating mode the result clamps, NaN to 0.
    """
    lanes = values.argmax(-1) if kind == MAX else values.argmin(-1)
    best = np.take_along_axis(values, lanes[..., None], -1)[..., 0]
    if dtype.is_float:
        zeros = best == 0
        if zeros.any():
            wanted = (values == 0) & (np.signbit(values) == (kind == MIN))
            np.copyto(
                best, dtype.numpy.type(0 if kind == MAX else -0.0), where=zeros & wanted.any(-1)
            )
        if numeric_mode & SATURATE_FLOAT:
            saturate_float(best, dtype)
    return best, lanes
