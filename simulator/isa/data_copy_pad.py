"""DataCopyPad: copies of any byte length, with padding in the unified buffer.

What fills the bytes between data and the next 32-byte boundary depends on the arguments; every plan
lists its filler bytes with their kind (``details["filler"]``). Source: mirror-cann/asc-devkit
docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据搬运 (DataCopyPad pages) and
impl/basic_api/dav_c220, dav_3510 kernel_operator_data_copy_impl.h.
"""

# ruff: noqa: RUF001 - the names of pages of the manual

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.enums import Arch, PaddingMode, PipeID
from simulator.errors import AlignmentError, ArgumentError, UnsupportedError
from simulator.instruction import READ, WRITE
from simulator.isa.copy_modes import looped
from simulator.isa.copy_plan import (
    FIRST_ELEMENT,
    GM_TO_UB,
    NO_FILL,
    NOTHING,
    PAD_REGISTER,
    PADDING_VALUE,
    UB_TO_GM,
    UB_TO_UB,
    UNDEFINED,
    Fill,
    Geometry,
    alignment,
    issue,
    plan_gm,
    sides,
    undefined_bytes,
    whole_blocks,
)
from simulator.isa.families import check_scalar, declare, publish, spec_for
from simulator.isa.lanes import BLOCK
from simulator.isa.params import (
    DataCopyExtParams,
    DataCopyPadExtParams,
    DataCopyPadParams,
    DataCopyParams,
    check_range,
    plain,
)

if TYPE_CHECKING:
    from simulator.core import AICore
    from simulator.dtypes import DType
    from simulator.instruction import InstructionSpec

_PAGE = (
    "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据搬运/"
    "DataCopyPad（GMToUB非对齐数据搬运）.md"
)

MAX_BLOCK_COUNT: Final = 4095
MAX_BLOCK_BYTES: Final = 2097151

_MOVED = (
    "int8_t uint8_t int16_t uint16_t half bfloat16_t int32_t uint32_t float int64_t uint64_t double"
)


def _data_copy_pad_rule() -> None:
    """Copy bursts of any byte length; UB blocks are padded to 32 bytes.

    Without padding values the rest of a block repeats its first element. In Compact mode (950)
    bursts follow each other without gaps and only the end is padded.
    """


_PAD = declare(
    _data_copy_pad_rule,
    "copy",
    (("dst", WRITE), ("src", READ)),
    {Arch.DAV_2201: _MOVED, Arch.DAV_3510: _MOVED + " bool complex32 complex64"},
    _PAGE,
    pipe=PipeID.PIPE_MTE2,
    forms=("params",),
    name="DataCopyPad",
)


def DataCopyPad(
    dst: Any,
    src: Any,
    params: Any,
    padParams: Any = None,
    *,
    mode: PaddingMode = PaddingMode.Normal,
) -> None:
    """``DataCopyPad(dst, src, DataCopyExtParams[, DataCopyPadExtParams])``.

    ``mode=PaddingMode.Compact`` packs bursts without gaps (950).
    """
    frame = sys._getframe(1)
    core, direction = sides("DataCopyPad", dst, src)
    local, remote = (dst, src) if direction == GM_TO_UB else (src, dst)
    if direction == UB_TO_UB:
        raise ArgumentError(
            "moves between GM and UB only",
            api="DataCopyPad",
            got="two local tensors",
            legal="one GlobalTensor and one LocalTensor",
            fix="use DataCopy or Copy inside UB",
        )
    ptr = remote._pointer()
    key = (
        "DataCopyPad", direction, local._key, params, _pad_key(core, padParams), alignment(ptr),
        remote.dtype, core.copy_state, mode,
    )  # fmt: skip
    plan = core.plans.get(key)
    if plan is None:
        spec = spec_for("DataCopyPad", core)
        shape, fill = _layout(core, spec, direction, local.dtype, params, padParams, mode)
        plan = core.plans[key] = plan_gm(
            core, spec, direction, local, remote, looped(core, direction, shape), fill
        )
    if padParams is not None and padParams[0]:
        # set_mov_pad_val: the value stays in the register for later copies.
        core.pad_value = _value(plan.spec, local.dtype, padParams)
    issue(core, plan, remote, ptr, frame)


publish(DataCopyPad, _PAD)


def _pad_key(core: AICore, pad: Any) -> Any:
    """Return what tells two padParams apart; equal numbers can differ in sign or in kind."""
    if pad is None:
        return None
    if not pad[0]:
        return (*pad, core.pad_value) if pad[1] or pad[2] else pad
    negative = not pad[3] and math.copysign(1, pad[3]) < 0
    return (*pad, pad.__class__, negative)


def _layout(
    core: AICore,
    spec: InstructionSpec,
    direction: str,
    dtype: DType,
    params: Any,
    pad: Any,
    mode: Any,
) -> tuple[Geometry, Fill]:
    """Return geometry and filler of a padded copy."""
    if isinstance(params, DataCopyExtParams | DataCopyParams):
        params = plain(params)
    _check_params(core, spec, direction, dtype, params)
    compact = _is_compact(core, spec, mode)
    _check_padding(spec, direction, dtype, pad)
    if not params.blockCount or not params.blockLen:
        return NOTHING, NO_FILL
    count, nbytes = params.blockCount, params.blockLen
    gm_gap, ub_gap = (
        (params.srcStride, params.dstStride)
        if direction == GM_TO_UB
        else (params.dstStride, params.srcStride)
    )
    if compact:
        shape = Geometry(count, nbytes, nbytes + gm_gap, nbytes)
        right = whole_blocks(count * nbytes) - count * nbytes
        fill = _fill(core, spec, dtype, pad, 0, right, compact=True)
        return shape, fill if direction == GM_TO_UB else NO_FILL
    if direction == UB_TO_GM:
        step = whole_blocks(nbytes) + ub_gap * BLOCK
        return Geometry(count, nbytes, nbytes + gm_gap, step), NO_FILL
    left = pad[1] * dtype.itemsize if pad is not None else 0
    asked = left + nbytes + (pad[2] * dtype.itemsize if pad is not None else 0)
    shape = Geometry(count, nbytes, nbytes + gm_gap, whole_blocks(asked) + ub_gap * BLOCK)
    return shape, _fill(core, spec, dtype, pad, left, whole_blocks(asked) - left - nbytes)


def _fill(
    core: AICore,
    spec: InstructionSpec,
    dtype: DType,
    pad: Any,
    left: int,
    right: int,
    *,
    compact: bool = False,
) -> Fill:
    if not left and not right:
        return NO_FILL
    widths = pad is not None and not compact and (pad[1] or pad[2])
    # 910B fills with the value only when a padding width is given; 950 whenever isPad is set.
    valued = pad is not None and pad[0] and (widths or core.arch is Arch.DAV_3510)
    if valued:
        return Fill(left, right, PADDING_VALUE, _value(spec, dtype, pad), compact=compact)
    if not widths:
        # 64-bit elements move as pairs of 32-bit ones, so that is what "first element" means.
        return Fill(left, right, FIRST_ELEMENT, None, min(dtype.itemsize, 4), compact)
    if core.pad_value is None:
        return Fill(left, right, UNDEFINED, undefined_bytes(), compact=compact)
    return Fill(left, right, PAD_REGISTER, core.pad_value, compact=compact)


def _value(spec: InstructionSpec, dtype: DType, pad: Any) -> bytes:
    """Return the bytes of paddingValue; DataCopyPadParams holds them as an unsigned integer."""
    if isinstance(pad, DataCopyPadParams):
        check_range(spec.name, "paddingValue", pad.paddingValue, 0, 2**64 - 1, spec.source)
        return int(pad.paddingValue).to_bytes(8, "little")[: dtype.itemsize]
    raw: bytes = np.asarray(check_scalar(spec, dtype, pad.paddingValue, "paddingValue")).tobytes()
    return raw


# -- checks ----------------------------------------------------------------------------------------


def _check_params(
    core: AICore, spec: InstructionSpec, direction: str, dtype: DType, params: Any
) -> None:
    if not isinstance(params, DataCopyExtParams | DataCopyParams):
        raise ArgumentError(
            "needs DataCopyExtParams",
            api=spec.name,
            argument="params",
            got=f"{params!r}",
            legal="DataCopyExtParams(blockCount, blockLen in bytes, srcStride, dstStride, rsv)",
            source=spec.source,
        )
    extended = isinstance(params, DataCopyExtParams)
    check_range(spec.name, "blockCount", params.blockCount, 0, MAX_BLOCK_COUNT, spec.source)
    most = MAX_BLOCK_BYTES if extended else 65535
    check_range(spec.name, "blockLen", params.blockLen, 0, most, spec.source)
    limits = {"srcStride": (0, 65535), "dstStride": (0, 65535)}
    if extended and core.arch is Arch.DAV_3510:
        # Negative GM strides down to -blockLen read one block again and again.
        if direction == GM_TO_UB:
            limits["srcStride"] = (-params.blockLen, 2**40 - 1)
        else:
            limits["dstStride"] = (0, 2**40 - 1)
    elif extended:
        limits = {"srcStride": (0, 2**32 - 1), "dstStride": (0, 2**32 - 1)}
    for name, (low, high) in limits.items():
        check_range(spec.name, name, getattr(params, name), low, high, spec.source)
    if params.blockLen % dtype.itemsize:
        raise AlignmentError(
            "blockLen splits an element",
            api=spec.name,
            argument="blockLen",
            got=f"{params.blockLen} bytes",
            legal=f"a multiple of {dtype.itemsize} (sizeof {dtype})",
            source=spec.source,
        )


def _is_compact(core: AICore, spec: InstructionSpec, mode: Any) -> bool:
    if mode not in PaddingMode.__members__.values():
        raise ArgumentError(
            f"{mode!r} is no padding mode",
            api=spec.name,
            argument="mode",
            got=repr(mode),
            legal="PaddingMode.Normal, PaddingMode.Compact",
            source=spec.source,
        )
    if mode == PaddingMode.Compact and core.arch is not Arch.DAV_3510:
        raise UnsupportedError(
            f"Compact mode does not exist on {core.arch.family}",
            api=spec.name,
            argument="mode",
            got="PaddingMode.Compact",
            legal="PaddingMode.Normal; Compact on 950 only",
            source=spec.source,
        )
    return bool(mode == PaddingMode.Compact)


def _check_padding(spec: InstructionSpec, direction: str, dtype: DType, pad: Any) -> None:
    if pad is None:
        return
    if not isinstance(pad, DataCopyPadExtParams | DataCopyPadParams):
        raise ArgumentError(
            "padParams is of the wrong kind",
            api=spec.name,
            argument="padParams",
            got=type(pad).__name__,
            legal="DataCopyPadExtParams or DataCopyPadParams",
            source=spec.source,
        )
    if direction == UB_TO_GM:
        raise ArgumentError(
            "a copy to GM has no padding",
            api=spec.name,
            argument="padParams",
            got=repr(pad),
            legal="no padParams",
            source=spec.source,
        )
    most = BLOCK // dtype.itemsize
    check_range(spec.name, "leftPadding", pad.leftPadding, 0, most, spec.source)
    check_range(spec.name, "rightPadding", pad.rightPadding, 0, most, spec.source)
    if dtype.bits == 64 and pad.isPad and pad.paddingValue != 0:
        raise ArgumentError(
            "64-bit types pad with zero only",
            api=spec.name,
            argument="paddingValue",
            got=pad.paddingValue,
            legal=0,
            source=spec.source,
        )
