"""Tiling struct of HardSwishGrad on 950, with the fields of the second version's.

Source: hicann/ops-nn activation/hard_swish_grad/op_kernel/arch35/hard_swish_grad.h.
"""

from __future__ import annotations

from kernels.hard_swish_grad_v2.tiling_data import HardSwishGradV2Arch35TilingData


class HardSwishGradTilingData(HardSwishGradV2Arch35TilingData):
    """Elements in total, per block and per tile."""
