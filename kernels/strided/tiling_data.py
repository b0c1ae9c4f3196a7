"""Tiling struct of Contiguous (gather) and ViewCopy (scatter), which move a strided view.

One side of the copy is dense; the other is a view of up to eight axes described by shape, strides
and offset in elements. Adjacent axes that can be walked as one are merged by the host, so ``rank``
is the number of axes that are left (at least 1) and ``shape[rank - 1]`` is the innermost run.
"""

from __future__ import annotations

from typing import Final

from kernels.tiling_struct import Int, IntArray, TilingData

MAX_RANK: Final = 8


class StridedViewTilingData(TilingData):
    """A strided view and its division among blocks.

    Block ``b`` moves the dense elements ``[b * blockFactor, min((b + 1) * blockFactor, totalNum))``
    in tiles of at most ``ubFactor`` elements. Dense element ``i`` with the mixed-radix digits
    ``d`` of ``i`` over ``shape`` is view element ``offset + sum(d[k] * strides[k])``. ``offset``
    and ``strides`` count elements of ``elementBytes`` bytes from the view's data pointer.
    """

    totalNum = Int("int64_t")
    blockFactor = Int("int64_t")
    ubFactor = Int("int64_t")
    offset = Int("int64_t")
    shape = IntArray("int64_t", MAX_RANK)
    strides = IntArray("int64_t", MAX_RANK)
    rank = Int("uint32_t")
    elementBytes = Int("uint32_t")
