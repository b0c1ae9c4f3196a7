"""Tiling structs of PReluGradUpdate on 950, one per family of schedules.

Source: hicann/opbase pkg_inc/op_common/atvoss/broadcast/broadcast_base_struct.h, for a graph with
three broadcasting inputs.
"""

from __future__ import annotations

from typing import Final

from kernels.tiling_struct import Int, IntArray, TilingData

INPUTS: Final = 3
MAX_DIMS: Final = 8
SCALAR_BYTES: Final = 16

SCH_MODES: Final = (1, 2, 101, 102, 103, 104, 109, 201, 202, 301, 302, 303, 304, 305, 999)
"""Schedules in the order of their declaration; a tiling key is an index into this list."""

SCH_NDDMA: Final = 1
SCH_NDDMA_WITH_LOOP: Final = 2
SCH_UB_BROADCAST: Final = 100
SCH_UB_BROADCAST_ANY_RANK: Final = 109
SCH_ONE_DIM: Final = 201

PARTS: Final = {SCH_NDDMA: 10, SCH_UB_BROADCAST: 13}
"""Buffers that UB is cut into: two per copied tensor, and one per broadcast done inside UB."""


class BroadcastOneDimTilingData(TilingData):
    """One axis: all shapes alike, or inputs of one element.

    Bit ``k`` of ``scalarFlag`` says that input ``k`` has one element. ``ubSplitAxis`` is not used.
    """

    scalarFlag = Int("int32_t")
    ubSplitAxis = Int("int32_t")
    ubFormer = Int("int32_t")
    ubTail = Int("int32_t")
    blockNum = Int("int32_t")
    blockFormer = Int("int64_t")
    blockTail = Int("int64_t")
    scalarData = IntArray("int8_t", SCALAR_BYTES)


class BroadcastTilingData(TilingData):
    """Several axes after collapsing. ``scheMode`` is not used: the tiling key says it.

    Arrays of the inputs hold ``MAX_DIMS`` entries per input, one input after the other, except
    ``inputDims`` with two.
    """

    scheMode = Int("int32_t")
    shapeLen = Int("int32_t")
    ubSplitAxis = Int("int32_t")
    ubFormer = Int("int32_t")
    ubTail = Int("int32_t")
    ubOuter = Int("int64_t")
    blockFormer = Int("int64_t")
    blockTail = Int("int64_t")
    dimProductBeforeUbInner = Int("int64_t")
    elemNum = Int("int64_t")
    blockNum = Int("int64_t")
    outputDims = IntArray("int64_t", MAX_DIMS)
    outputStrides = IntArray("int64_t", MAX_DIMS)
    inputDims = IntArray("int64_t", 2 * INPUTS)
    inputBrcDims = IntArray("int64_t", MAX_DIMS * INPUTS)
    inputStrides = IntArray("int64_t", MAX_DIMS * INPUTS)
    inputBrcStrides = IntArray("int64_t", MAX_DIMS * INPUTS)
    scalarData = IntArray("int8_t", SCALAR_BYTES)

    def brc_dims(self, index: int) -> tuple[int, ...]:
        """Dims of input ``index`` after collapsing."""
        return self.inputBrcDims[index * MAX_DIMS :][: self.shapeLen]

    def brc_strides(self, index: int) -> tuple[int, ...]:
        """Strides of input ``index`` after collapsing; 0 along broadcast axes."""
        return self.inputBrcStrides[index * MAX_DIMS :][: self.shapeLen]
