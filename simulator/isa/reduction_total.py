"""ReduceSum, ReduceMax and ReduceMin: one result for all elements of a tensor.

Sources: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/归约计算 (ReduceSum.md,
ReduceMax.md, ReduceMin.md), 归约计算辅助配置接口 and impl/basic_api
(kernel_operator_vec_reduce_intf_impl.h, dav_c220 and dav_3510 kernel_operator_vec_reduce_impl.h).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.core import AICore, current_core
from simulator.dtypes import as_dtype, float32, half
from simulator.enums import Arch, PipeID
from simulator.errors import ArgumentError, DTypeError
from simulator.instruction import READ, UPDATE, WRITE, Plan
from simulator.isa import reduction_2201, reduction_3510
from simulator.isa.checks import (
    check_count,
    fail_unless_tensor,
    require_local,
    spec_for,
)
from simulator.isa.declarations import declare, publish
from simulator.isa.masks import resolve_mask
from simulator.isa.params import check_range
from simulator.isa.reduction_rules import MAX, MIN, SUM

if TYPE_CHECKING:
    from types import FrameType

    from simulator.instruction import InstructionSpec

_PAGE: Final = (
    "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/归约计算/{}.md; "
    "impl/basic_api/dav_c220/kernel_operator_vec_reduce_impl.h; "
    "impl/basic_api/dav_3510/kernel_operator_vec_reduce_impl.h"
)
_REGISTER_PAGE: Final = (
    "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/归约计算辅助配置接口/"
    "{}(ISASI).md"
)
_OPERANDS: Final = (("dst", WRITE), ("src", READ), ("sharedTmpBuffer", UPDATE))
_EXTREMES: Final = {
    Arch.DAV_2201: "half float",
    Arch.DAV_3510: "int16_t uint16_t half int32_t uint32_t float int64_t uint64_t",
}
_SUMS: Final = {
    Arch.DAV_2201: "half float",
    Arch.DAV_3510: "half float int32_t uint32_t int64_t uint64_t",
}
_WIDE: Final = {Arch.DAV_3510: "int64_t uint64_t"}


def ReduceSum(
    dst: Any,
    src: Any,
    sharedTmpBuffer: Any,
    *args: Any,
    isSetMask: bool = True,
    **named: Any,
) -> None:
    """``dst[0] = sum of all elements``.

    ``(dst, src, sharedTmpBuffer, count)`` or ``(dst, src, sharedTmpBuffer, mask, repeatTime,
    srcRepStride)``. Repeats are summed as binary trees. On 910B the count form adds the results of
    the repeats in order and leaves the total in a register (GetReduceRepeatSumSpr) as well; the
    mask form stores them in ``sharedTmpBuffer`` and sums them as a tree, as the 950 does. The 950
    adds up to four repeats lane by lane first in the count form.
    """
    frame = sys._getframe(1)
    call = _parse("ReduceSum", (dst, src, sharedTmpBuffer), args, named)
    if call.repeats is None:
        core = call.core
        if core.arch is Arch.DAV_3510:
            reduction_3510.sum_count(core, call.spec, call.tensors, call.count, frame)
        elif call.count or not isSetMask:
            reduction_2201.sum_count(core, call.spec, call.tensors, call.count, isSetMask, frame)
    else:
        _masked(call, SUM, frame)


def ReduceMax(dst: Any, src: Any, sharedTmpBuffer: Any, *args: Any, **named: Any) -> None:
    """``dst[0] = max of all elements``; ``dst[1] =`` its index when ``calIndex``.

    ``(dst, src, sharedTmpBuffer, count, calIndex=False)`` or ``(dst, src, sharedTmpBuffer, mask,
    repeatTime, srcRepStride, calIndex=False)``. The index is an integer pattern in the element
    type, the smallest of equal ones; NaN wins. ``sharedTmpBuffer`` is not used on 950.
    """
    _extreme("ReduceMax", MAX, (dst, src, sharedTmpBuffer), args, named, sys._getframe(1))


def ReduceMin(dst: Any, src: Any, sharedTmpBuffer: Any, *args: Any, **named: Any) -> None:
    """``dst[0] = min of all elements``; ``dst[1] =`` its index when ``calIndex``.

    ``(dst, src, sharedTmpBuffer, count, calIndex=False)`` or ``(dst, src, sharedTmpBuffer, mask,
    repeatTime, srcRepStride, calIndex=False)``; else as ReduceMax.
    """
    _extreme("ReduceMin", MIN, (dst, src, sharedTmpBuffer), args, named, sys._getframe(1))


for _call, _types in ((ReduceSum, _SUMS), (ReduceMax, _EXTREMES), (ReduceMin, _EXTREMES)):
    publish(
        _call,
        declare(
            _call, "reduction", _OPERANDS, _types, _PAGE.format(_call.__name__), count_only=_WIDE
        ),
    )


class _Call:
    """The arguments of one call, checked; ``repeats`` is None in the count form."""

    def __init__(self, spec: InstructionSpec, core: AICore, tensors: tuple[Any, Any, Any]) -> None:
        self.spec = spec
        self.core = core
        self.tensors = tensors
        self.count = 0
        self.mask: Any = None
        self.repeats: int | None = None
        self.src_rep = 8
        self.index = False


def _parse(
    name: str, tensors: tuple[Any, Any, Any], args: tuple[Any, ...], named: dict[str, Any]
) -> _Call:
    try:
        core: AICore = tensors[0]._core
    except AttributeError as error:
        raise fail_unless_tensor(error, name, *tensors) from None
    spec = spec_for(name, core)
    for label, tensor in zip(("dst", "src", "sharedTmpBuffer"), tensors, strict=True):
        require_local(name, label, tensor)
    indexed = name != "ReduceSum"
    masked = len(args) > (2 if indexed else 1) or "repeatTime" in named
    labels = ["mask", "repeatTime", "srcRepStride"] if masked else ["count"]
    labels += ["calIndex"] if indexed else []
    given = dict(zip(labels, args, strict=False))
    unknown = [key for key in named if key not in labels or key in given]
    missing = [key for key in labels if key not in given and key not in named and key != "calIndex"]
    if unknown or missing or len(args) > len(labels):
        raise ArgumentError(
            f"takes (dst, src, sharedTmpBuffer, {', '.join(labels)})",
            api=name,
            got=f"{len(args)} more arguments" + (f" and {', '.join(named)}" if named else ""),
            legal="count, or mask, repeatTime and srcRepStride",
            source=spec.source,
        )
    given |= named
    call = _Call(spec, core, tensors)
    types = tensors[0].dtype, tensors[1].dtype
    spec.require(
        core.arch, types[0] if types[0] is types[1] else types, "mask" if masked else "count"
    )
    if core.arch is Arch.DAV_2201 and tensors[2].dtype is not types[1]:
        raise DTypeError(
            "sharedTmpBuffer has the element type of src",
            api=name,
            argument="sharedTmpBuffer",
            got=tensors[2].dtype.name,
            legal=types[1].name,
            source=spec.source,
        )
    call.index = bool(given.get("calIndex", False))
    if masked:
        check_range(name, "repeatTime", given["repeatTime"], 0, 2**31 - 1, spec.source)
        check_range(name, "srcRepStride", given["srcRepStride"], 0, 65535, spec.source)
        call.mask, call.repeats = given["mask"], int(given["repeatTime"])
        call.src_rep = int(given["srcRepStride"])
    else:
        call.count = check_count(spec, given["count"])
    return call


def _extreme(
    name: str,
    kind: str,
    tensors: tuple[Any, Any, Any],
    args: tuple[Any, ...],
    named: dict[str, Any],
    frame: FrameType,
) -> None:
    call = _parse(name, tensors, args, named)
    if call.repeats is not None:
        _masked(call, kind, frame)
    elif call.core.arch is Arch.DAV_3510:
        reduction_3510.extreme_count(
            call.core, call.spec, kind, call.tensors, call.count, call.index, frame
        )
    elif call.count:
        reduction_2201.extreme_count(
            call.core, call.spec, kind, call.tensors, call.count, call.index, frame
        )


def _masked(call: _Call, kind: str, frame: FrameType) -> None:
    core, lanes = call.core, 256 // call.tensors[1].dtype.itemsize
    # Sets the register; the number of repeats may exceed the field of one instruction.
    resolve_mask(core, call.spec, call.mask, 1, True, lanes)
    repeats = call.repeats or 0
    if core.arch is Arch.DAV_3510:
        reduction_3510.masked(
            core, call.spec, kind, call.tensors, repeats, call.src_rep, call.index, frame
        )
    elif repeats and any(core.mask):
        reduction_2201.masked(
            core, call.spec, kind, call.tensors, repeats, call.src_rep, call.index, frame
        )


# -- registers ---------------------------------------------------------------------------------


_NO_TENSOR: Final[dict[Arch, str]] = {Arch.DAV_2201: "", Arch.DAV_3510: ""}


def _register_value(spec: InstructionSpec, dtype: Any, word: int) -> float:
    chosen = as_dtype(dtype)
    if chosen not in (half, float32):
        raise DTypeError(
            "the register holds half or float",
            api=spec.name,
            got=chosen.name,
            legal="half, float",
            source=spec.source,
        )
    bits = np.array([word & ((1 << chosen.bits) - 1)], f"u{chosen.itemsize}")
    return float(bits.view(chosen.numpy)[0])


def GetReduceRepeatSumSpr(T: Any = None) -> float | int:
    """Return the sum that the last ReduceSum over a count left.

    ``GetReduceRepeatSumSpr(T)`` with ``T`` half or float; without ``T`` the bits of the register.
    The former name is GetAccVal.
    """
    core = current_core()
    spec = spec_for("GetReduceRepeatSumSpr", core)
    core.issue(Plan(spec, "scalar"), (), sys._getframe(1))
    word = int(core.local.reduce_registers[0])
    return word if T is None else _register_value(spec, T, word)


def GetReduceRepeatMaxMinSpr(T: Any) -> tuple[float, int]:
    """Return (value, index) of the last ReduceRepeat<MAX/MIN>, over all its repeats; 910B only.

    ``GetReduceRepeatMaxMinSpr(T)`` with ``T`` half or float. After ReduceMax and ReduceMin only the
    value is meaningful. The former name is GetReduceMaxMinCount.
    """
    core = current_core()
    spec = spec_for("GetReduceRepeatMaxMinSpr", core)
    core.issue(Plan(spec, "scalar"), (), sys._getframe(1))
    _, value, index = (int(word) for word in core.local.reduce_registers)
    return _register_value(spec, T, value), index


for _reader, _archs in (
    (GetReduceRepeatSumSpr, _NO_TENSOR),
    (GetReduceRepeatMaxMinSpr, {Arch.DAV_2201: ""}),
):
    publish(
        _reader,
        declare(
            _reader, "register", (), _archs, _REGISTER_PAGE.format(_reader.__name__),
            pipe=PipeID.PIPE_S, forms=("scalar",),
        ),
    )  # fmt: skip

GetAccVal = GetReduceRepeatSumSpr
"""The former name of GetReduceRepeatSumSpr."""

GetReduceMaxMinCount = GetReduceRepeatMaxMinSpr
"""The former name of GetReduceRepeatMaxMinSpr."""
