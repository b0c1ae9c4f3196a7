"""Tiling struct of MaxPoolingGrad.

Source: hicann/ops-nn
experimental/pooling/max_pooling_grad/op_kernel/max_pooling_grad_tiling_data.h.
"""

from __future__ import annotations

from kernels.tiling_struct import Int, TilingData


class MaxPoolingGradTilingData(TilingData):
    """Shares of big and small cores, in elements.

    The first ``tailBlockNum`` cores are big: they take one block of 256 bytes more than the others.
    A tile has ``ubPartDataNum`` elements, the last tile of a core ``...CoreTailDataNum``.
    ``lastCoreValidDataNum`` is the share of the last core when its blocks reach past the end of the
    tensor, else 0.
    """

    smallCoreDataNum = Int("uint64_t")
    bigCoreDataNum = Int("uint64_t")
    ubPartDataNum = Int("uint64_t")
    smallCoreTailDataNum = Int("uint64_t")
    bigCoreTailDataNum = Int("uint64_t")
    smallCoreLoopNum = Int("uint64_t")
    bigCoreLoopNum = Int("uint64_t")
    tailBlockNum = Int("uint64_t")
    lastCoreValidDataNum = Int("uint64_t")
