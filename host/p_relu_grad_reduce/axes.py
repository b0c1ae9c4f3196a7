"""Which axes PReluGradReduce sums over, and the alternating pattern that follows.

Source: hicann/ops-nn
activation/p_relu_grad_reduce/op_host/arch35/prelu_grad_reduce_tiling_arch35.cpp (axes) and
hicann/opbase src/op_common/atvoss/reduce/reduce_tiling.cpp (pattern).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def reduce_axes(features: Sequence[int], weight: Sequence[int]) -> list[int]:
    """Return the axes of ``features`` that are summed; rank 0 must have been read as [1].

    All axes for one weight, else all but axis 1. A weight of one rank less, which only graph mode
    passes, is indexed with features' axis instead of one less: it loses axis 0 and every axis where
    the weight's dim of the *same* number is 1 and differs, so other axes than meant.
    """
    rank = len(features)
    if math.prod(weight) == 1:
        return list(range(rank))
    if len(weight) == rank - 1 and len(weight) > 1:
        # The last axis lies behind the weight's dims; what is read there is no dim of 1.
        return [0] + [
            axis
            for axis in range(1, len(weight))
            if weight[axis] == 1 and features[axis] != weight[axis]
        ]
    return [axis for axis in range(rank) if axis != 1 or rank == 1]


def merged_shape(shape: Sequence[int], axes: Sequence[int]) -> list[int]:
    """Return the dims with ones dropped and neighbours of a kind joined, kept and reduced in turn.

    The first dim is always a kept one; it is 1 when the first axis is reduced.
    """
    dims, reduced = [1], False
    for axis, dim in enumerate(shape):
        if dim == 1:
            continue
        if (axis in axes) == reduced:
            dims[-1] *= dim
        else:
            dims.append(dim)
            reduced = not reduced
    return dims


def pattern_name(rank: int) -> str:
    """``A``, ``AR``, ``ARA`` … of a number of axes."""
    return "".join("AR"[axis % 2] for axis in range(rank))
