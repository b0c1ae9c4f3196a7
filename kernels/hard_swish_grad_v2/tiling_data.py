"""Tiling structs of HardSwishGradV2, one per tiling generation.

Source: hicann/ops-nn activation/hard_swish_grad_v2/op_host/hard_swish_grad_v2_tiling_def.h
(910, 910B, 910_93) and .../op_kernel/arch35 (950).
"""

from __future__ import annotations

from kernels.tiling_struct import Int, TilingData


class HardSwishGradV2TilingData(TilingData):
    """Tiling of the 910 and 910B generations.

    ``elementNumEachCore`` is, despite its name, the number of elements of one tile.
    """

    elementNum = Int("int64_t")
    needCoreNum = Int("uint32_t")
    ubSize = Int("uint64_t")
    elementNumEachCore = Int("int64_t")


class HardSwishGradV2Arch35TilingData(TilingData):
    """Tiling of the 950 generation: elements in total, per block and per tile."""

    totalNum = Int("int64_t")
    blockFactor = Int("int64_t")
    ubFactor = Int("int64_t")
