"""Tiling struct and tiling key of PReluGradReduce on 950.

Source: hicann/opbase pkg_inc/op_common/atvoss/reduce/reduce_tiling_data.h,
reduce_tiling_key_decl.h and reduce_util.h.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from kernels.tiling_struct import Float, Int, IntArray, TilingData

MAX_DIM: Final = 9
CACHE_BYTES: Final = 16 * 1024
"""Part of UB that holds partial results while the tiles of one output are summed pairwise."""

PATTERN_A_ID: Final = 10


class ReduceOpTilingData(TilingData):
    """How a reduction is cut.

    Axes alternate between kept (A) and reduced (R), starting with a kept one. The A and the R axes
    are each cut into chunks of ``ubFactorA`` and ``ubFactorR`` on one axis, which gives
    ``factorATotalCnt`` times ``factorRTotalCnt`` tiles. ``groupR`` > 1 says that several cores
    share the R tiles of one A tile. ``basicBlock`` and ``resultBlock`` are bytes of UB buffers.
    """

    factorACntPerCore = Int("uint64_t")
    factorATotalCnt = Int("uint64_t")
    ubFactorA = Int("uint64_t")
    factorRCntPerCore = Int("uint64_t")
    factorRTotalCnt = Int("uint64_t")
    ubFactorR = Int("uint64_t")
    groupR = Int("uint64_t")
    outSize = Int("uint64_t")
    basicBlock = Int("uint64_t")
    resultBlock = Int("uint64_t")
    coreNum = Int("int32_t")
    realCoreNum = Int("int32_t")
    useNddma = Int("int32_t")
    meanVar = Float("float")
    shape = IntArray("uint64_t", MAX_DIM)
    stride = IntArray("int64_t", MAX_DIM)
    dstStride = IntArray("int64_t", MAX_DIM)
    sliceNum = IntArray("uint64_t", MAX_DIM)
    sliceShape = IntArray("uint64_t", MAX_DIM)
    sliceStride = IntArray("uint64_t", MAX_DIM)


class ReduceKey(NamedTuple):
    """Template parameters of the kernel, in the order of the key.

    ``pattern_id`` is ten times the pattern, plus 1 when the last axis is reduced. ``loop_ar`` holds
    ten times the number of A axes that are walked tile by tile, plus the number of A and R axes
    walked when cores share the R tiles; ``loop_inner_ar`` the number of R axes walked otherwise.
    """

    is_contiguous: bool
    batch_invariant: bool
    pattern_id: int
    loop_ar: int
    loop_inner_ar: int

    @classmethod
    def decode(cls, key: int) -> ReduceKey:
        """Return the parameters that a tiling key stands for."""
        return cls(
            bool(key & 1), bool(key >> 1 & 1), key >> 2 & 0xFF, key >> 10 & 0xFF, key >> 18 & 0xFF
        )

    @property
    def rank(self) -> int:
        """Number of axes of the pattern."""
        pattern = self.pattern_id // 10
        return 1 if pattern == PATTERN_A_ID else pattern + 1

    @property
    def ends_with_r(self) -> bool:
        """Whether the last axis is reduced."""
        return self.pattern_id % 10 == 1
