"""Tiling of HardSwishGradV2 on 950.

Source: hicann/ops-nn
activation/hard_swish_grad_v2/op_host/arch35/hard_swish_grad_v2_tiling_arch35.cpp and
op_kernel/arch35/hard_swish_grad_v2_tiling_key.h.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from host.datatypes import DataType
from host.platform_ascendc import CoreMemType, PlatformAscendC
from host.registry import IMPL_OP_OPTILING
from host.tiling_key import TemplateParam, encode_tiling_key
from kernels.hard_swish_grad_v2.tiling_data import HardSwishGradV2Arch35TilingData

if TYPE_CHECKING:
    from host.contexts import TensorDesc, TilingContext
    from host.status import GraphStatus

TEMPLATE: Final = (
    TemplateParam("D_T_X", "DTYPE", 8, (DataType.FLOAT, DataType.FLOAT16, DataType.BF16)),
    TemplateParam("BUFFER_MODE", "UINT", 8, (0, 1)),
)

_DTYPES: Final = (DataType.FLOAT, DataType.FLOAT16, DataType.BF16)
_DOUBLE_BUFFER_ABOVE: Final = 1024
_MAX_RANK: Final = 8
_ALIGN_ELEMENTS: Final = 64
# UB is cut into this many equal parts, by element bytes and buffer mode.
_UB_PARTS: Final = {(4, 0): 5, (4, 1): 8, (2, 0): 8, (2, 1): 11}


@IMPL_OP_OPTILING("HardSwishGradV2", "arch35")
def tiling(context: TilingContext) -> GraphStatus:
    """Give each block ``ceil(N / cores)`` elements; above 1024 elements in all, double-buffer."""
    platform = PlatformAscendC(context.GetPlatformInfo())
    cores = platform.GetCoreNumAiv()
    ub_bytes = platform.GetCoreMemSize(CoreMemType.UB)
    if cores == 0:
        return context.Fail("the platform has no vector cores")
    if ub_bytes == 0:
        return context.Fail("the platform has no UB")
    grad, self_, out = context.GetInputDesc(0), context.GetInputDesc(1), context.GetOutputDesc(0)
    if grad is None or self_ is None or out is None:
        return context.Fail("the shape of gradOutput, self or out is missing")
    reason = _mismatch(grad, self_, out)
    if reason:
        return context.Fail(reason)
    context.GetWorkspaceSizes(1)[0] = 0
    data = context.GetTilingData(HardSwishGradV2Arch35TilingData)
    return divide(context, data, math.prod(_shape(grad)), grad.dtype)


def divide(
    context: TilingContext, data: HardSwishGradV2Arch35TilingData, count: int, dtype: DataType
) -> GraphStatus:
    """Fill the tiling data for ``count`` elements, and set key and block dim."""
    platform = PlatformAscendC(context.GetPlatformInfo())
    cores = platform.GetCoreNumAiv()
    ub_bytes = platform.GetCoreMemSize(CoreMemType.UB)
    data.clear()
    mode = 1 if count > _DOUBLE_BUFFER_ABOVE else 0
    context.SetTilingKey(encode_tiling_key(TEMPLATE, (dtype, mode)))
    if count == 0:
        return context.SetBlockDim(1)
    size = dtype.itemsize
    block_factor = -(-count // cores)
    parts = _UB_PARTS[size, mode]
    data.totalNum = count
    data.blockFactor = block_factor
    data.ubFactor = ub_bytes // size // parts // _ALIGN_ELEMENTS * _ALIGN_ELEMENTS
    return context.SetBlockDim(-(-count // block_factor))


def _mismatch(grad: TensorDesc, self_: TensorDesc, out: TensorDesc) -> str:
    shape = _shape(grad)
    if _shape(self_) != shape:
        return f"self has shape {list(_shape(self_))}, gradOutput {list(shape)}"
    if _shape(out) != shape:
        return f"out has shape {list(_shape(out))}, gradOutput {list(shape)}"
    if len(shape) > _MAX_RANK:
        return f"gradOutput has rank {len(shape)}, at most {_MAX_RANK}"
    if grad.dtype not in _DTYPES:
        return f"gradOutput has data type {grad.dtype.name}"
    if self_.dtype != grad.dtype or out.dtype != grad.dtype:
        return (
            f"data types differ: gradOutput {grad.dtype.name}, self {self_.dtype.name}, "
            f"out {out.dtype.name}"
        )
    return ""


def _shape(desc: TensorDesc) -> tuple[int, ...]:
    """Storage shape, with rank 0 read as [1]."""
    return (desc.storage_shape or desc.shape) or (1,)
