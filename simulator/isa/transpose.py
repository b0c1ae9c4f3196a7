"""Transpose: a 16 x 16 tile of 16-bit elements, or NCHW to NHWC and back.

Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据排布转换/
Transpose.md, hicann/asc-tools cpudebug/src/api_check/kernel_vec_transpose_check.cpp.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.dtypes import uint8_t
from simulator.enums import Arch
from simulator.errors import ArgumentError, DTypeError
from simulator.instruction import READ, WRITE, Operand, Plan, VectorWork
from simulator.isa.blocks import UNSIGNED, as_params
from simulator.isa.families import (
    declare,
    dtype_table,
    fail_unless_tensor,
    publish,
    require_local,
    spec_for,
)
from simulator.isa.lanes import REPEAT, check_tensor, dense_operand, dense_view
from simulator.isa.params import check_range
from simulator.isa.rearrange_params import TransposeParamsExt, TransposeType

if TYPE_CHECKING:
    from simulator.core import AICore
    from simulator.instruction import InstructionSpec
    from simulator.tensor import LocalTensor

_PAGE: Final = (
    "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据排布转换/Transpose.md"
)
_TILE: Final = 16

_TILE_TYPES = "int16_t uint16_t half"
_TYPES_910B = f"int8_t uint8_t {_TILE_TYPES} int32_t uint32_t float"
_TYPES_950 = (
    f"{_TYPES_910B} fp4x2_e2m1_t fp4x2_e1m2_t hifloat8_t fp8_e8m0_t fp8_e5m2_t fp8_e4m3fn_t "
    "bfloat16_t complex32"
)


def _transpose_rule() -> None:
    """``Transpose(dst, src)``: ``dst[i][j] = src[j][i]`` of a 16 x 16 tile of 16-bit elements.

    ``Transpose(dst, src, sharedTmpBuffer, transposeParams)`` does the same
    (TRANSPOSE_ND2ND_B16), or turns [N, C, H, W] into [N, H, W, C] (TRANSPOSE_NCHW2NHWC) or back
    (TRANSPOSE_NHWC2NCHW) through the temporary buffer, whose content is lost. A tile may be
    transposed in place.
    """


_TRANSPOSE = declare(
    _transpose_rule,
    "rearrange",
    (("dst", WRITE), ("src", READ)),
    {Arch.DAV_2201: _TYPES_910B, Arch.DAV_3510: _TYPES_950},
    _PAGE,
    forms=("tile", "enhanced"),
    name="Transpose",
)
_OF_TILE = replace(
    _TRANSPOSE, dtypes=dtype_table({Arch.DAV_2201: _TILE_TYPES, Arch.DAV_3510: _TILE_TYPES})
)
_OF_TILE_EXT = replace(
    _TRANSPOSE, dtypes=dtype_table({Arch.DAV_2201: "uint16_t", Arch.DAV_3510: _TILE_TYPES})
)


def Transpose(dst: Any, src: Any, sharedTmpBuffer: Any = None, transposeParams: Any = None) -> None:
    """Transpose a tile, or move the channel axis."""
    try:
        core = dst._core
        keys = (dst._key, src._key)
    except AttributeError as error:
        raise fail_unless_tensor(error, "Transpose", dst, src) from None
    if transposeParams is None and sharedTmpBuffer is None:
        key: Any = ("Transpose", *keys)
        plan = core.plans.get(key)
        if plan is None:
            plan = core.plans[key] = _plan_tile(core, _OF_TILE, dst, src)
    else:
        tmp = require_local("Transpose", "sharedTmpBuffer", sharedTmpBuffer)
        params = as_params("Transpose", transposeParams, TransposeParamsExt, "transposeParams")
        key = ("Transpose", *keys, tmp._key, params)
        plan = core.plans.get(key)
        if plan is None:
            plan = core.plans[key] = _plan_enhanced(core, dst, src, tmp, params)
    core.issue(plan, (), sys._getframe(1))


publish(Transpose, _TRANSPOSE)


def _require_types(core: AICore, spec: InstructionSpec, dst: LocalTensor, src: LocalTensor) -> None:
    spec_for("Transpose", core)
    types = dst.dtype if dst.dtype is src.dtype else (dst.dtype, src.dtype)
    spec.require(core.arch, types, "tile")


def _plan_tile(core: AICore, spec: InstructionSpec, dst: LocalTensor, src: LocalTensor) -> Plan:
    _require_types(core, spec, dst, src)
    count = _TILE * _TILE
    unsigned = UNSIGNED[2]
    for name, tensor in (("dst", dst), ("src", src)):
        check_tensor("Transpose", name, tensor, 2 * count, spec.source)
    out, values = (
        dense_view(core, t, count).view(unsigned).reshape(_TILE, _TILE) for t in (dst, src)
    )
    return Plan(
        spec,
        "tile",
        [dense_operand("dst", WRITE, dst, count), dense_operand("src", READ, src, count)],
        partial(_permute, out, values, (1, 0)),
        work=VectorWork(dst.dtype.name, 2, count, False, False),
    )


def _permute(out: Any, values: Any, axes: tuple[int, ...]) -> None:
    # A copy first: the tile may be transposed in place.
    np.copyto(out, values.copy().transpose(axes))


def _nothing() -> None:
    return None


def _plan_enhanced(
    core: AICore,
    dst: LocalTensor,
    src: LocalTensor,
    tmp: LocalTensor,
    params: TransposeParamsExt,
) -> Plan:
    spec = spec_for("Transpose", core)
    kind = _kind(spec, params.transposeType)
    if tmp.dtype is not uint8_t:
        raise DTypeError(
            "sharedTmpBuffer is a tensor of bytes",
            api="Transpose",
            argument="sharedTmpBuffer",
            got=tmp.dtype.name,
            legal="uint8_t",
            source=spec.source,
        )
    if kind is TransposeType.TRANSPOSE_TYPE_NONE:
        return Plan(spec, "enhanced", (), _nothing, details={"transposeType": kind.name})
    if kind is TransposeType.TRANSPOSE_ND2ND_B16:
        for name, value in (("hSize", params.hSize), ("wSize", params.wSize)):
            check_range("Transpose", name, value, _TILE, _TILE, spec.source)
        return _plan_tile(core, _OF_TILE_EXT, dst, src)
    return _plan_channels(core, spec, (dst, src, tmp), params, kind)


def _kind(spec: InstructionSpec, given: Any) -> TransposeType:
    moving = (
        TransposeType.TRANSPOSE_TYPE_NONE,
        TransposeType.TRANSPOSE_ND2ND_B16,
        TransposeType.TRANSPOSE_NCHW2NHWC,
        TransposeType.TRANSPOSE_NHWC2NCHW,
    )
    kind = next((k for k in moving if k == given), None)
    if kind is None:
        raise ArgumentError(
            "transposeType is not supported",
            api="Transpose",
            argument="transposeType",
            got=repr(given),
            legal=", ".join(k.name for k in moving),
            source=spec.source,
        )
    return kind


def _plan_channels(
    core: AICore,
    spec: InstructionSpec,
    tensors: tuple[LocalTensor, LocalTensor, LocalTensor],
    params: TransposeParamsExt,
    kind: TransposeType,
) -> Plan:
    dst, src, tmp = tensors
    _require_types(core, spec, dst, src)
    size = dst.dtype.itemsize
    n, c, h, w = params[:4]
    if h * w * size % 32:
        raise ArgumentError(
            "an image must fill whole 32-byte blocks",
            api="Transpose",
            argument="hSize, wSize",
            got=f"{h} * {w} elements of {dst.dtype}: {h * w * size} bytes",
            legal="hSize * wSize * sizeof(T) a multiple of 32",
            source=spec.source,
        )
    outward = kind is TransposeType.TRANSPOSE_NCHW2NHWC
    count = n * c * h * w
    tile = 1024 if size == 1 else 512
    needed = ((c + 2) if outward else (2 * c + 1)) * tile if count else 0
    for name, tensor, nbytes in (
        ("dst", dst, count * size), ("src", src, count * size), ("sharedTmpBuffer", tmp, needed),
    ):  # fmt: skip
        check_tensor("Transpose", name, tensor, nbytes, spec.source)
    shape, axes = ((n, c, h * w), (0, 2, 1)) if outward else ((n, h * w, c), (0, 2, 1))
    unsigned = UNSIGNED[size]
    values = dense_view(core, src, count).view(unsigned).reshape(shape)
    out = dense_view(core, dst, count).view(unsigned).reshape(shape[0], shape[2], shape[1])
    operands = [dense_operand("dst", WRITE, dst, count), dense_operand("src", READ, src, count)]
    if needed:
        scratch: Operand = dense_operand("sharedTmpBuffer", WRITE, tmp, needed)
        operands.append(scratch)
    return Plan(
        spec,
        "enhanced",
        operands,
        partial(_permute, out, values, axes) if count else _nothing,
        work=VectorWork(dst.dtype.name, -(-count * size // REPEAT), count, False, False),
        details={"transposeType": kind.name, "nSize": n, "cSize": c, "hSize": h, "wSize": w},
    )
