"""Reductions of each repeat, each 32-byte block and each pair of neighbours.

One result (or value and index) a repeat: WholeReduce*, RepeatReduceSum, under their new name
ReduceRepeat. Eight results a repeat: BlockReduce*, new name ReduceDataBlock. Half as many results
as lanes: PairReduceSum, new name ReducePairElem. Sources: mirror-cann/asc-devkit docs/zh/api/
SIMD-API/基础API/Memory矢量计算/归约计算 and impl/basic_api (dav_c220 and dav_3510,
kernel_operator_vec_reduce_impl.h).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final, TypeVar

from simulator.enums import Arch, ReduceOrder, ReduceType
from simulator.errors import ArgumentError
from simulator.instruction import READ, WRITE
from simulator.isa.checks import fail_unless_tensor, require_local, spec_for
from simulator.isa.declarations import declare, publish
from simulator.isa.masks import resolve_mask
from simulator.isa.params import check_range
from simulator.isa.reduction_plans import BLOCKS, PAIRS, REPEATS, Shape, plan_reduction
from simulator.isa.reduction_rules import MAX, MIN, SUM

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from simulator.core import AICore

_Call = TypeVar("_Call", bound="Callable[..., None]")

_PAGE: Final = (
    "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/归约计算/{}.md; "
    "impl/basic_api/dav_c220/kernel_operator_vec_reduce_impl.h; "
    "impl/basic_api/dav_3510/kernel_operator_vec_reduce_impl.h"
)
_OPERANDS: Final = (("dst", WRITE), ("src", READ))
_FORMS: Final = ("mask", "bit mask")
_FLOATS: Final = {Arch.DAV_2201: "half float", Arch.DAV_3510: "half float"}
_SUMS: Final = {
    Arch.DAV_2201: "half float",
    Arch.DAV_3510: "half float int32_t:int16_t uint32_t:uint16_t int32_t uint32_t",
}
_EXTREMES: Final = {
    Arch.DAV_2201: "half float",
    Arch.DAV_3510: "int16_t uint16_t half int32_t uint32_t float",
}


def _reduction(dtypes: dict[Arch, str], page: str) -> Callable[[_Call], _Call]:
    """Declare the decorated call under its own name and documentation."""

    def decorate(call: _Call) -> _Call:
        spec = declare(call, "reduction", _OPERANDS, dtypes, _PAGE.format(page), forms=_FORMS)
        publish(call, spec)
        return call

    return decorate


def _issue(
    name: str,
    shape: Shape,
    tensors: tuple[Any, Any],
    mask: Any,
    repeat_time: Any,
    strides: tuple[Any, Any, Any],
    is_set_mask: bool,
    frame: FrameType,
) -> None:
    """Check, bind and issue one call; ``strides`` are dstRep, srcBlk, srcRep."""
    dst, src = tensors
    try:
        core: AICore = dst._core
        key: Any = (name, dst._key, src._key, strides, shape, core.numeric_mode)
    except AttributeError as error:
        raise fail_unless_tensor(error, name, dst, src) from None
    spec = spec_for(name, core)
    for label, tensor in (("dst", dst), ("src", src)):
        require_local(name, label, tensor)
    active = resolve_mask(core, spec, mask, repeat_time, is_set_mask, 256 // src.dtype.itemsize)
    key = (*key, active)
    plan = core.plans.get(key)
    if plan is None:
        types = dst.dtype if dst.dtype is src.dtype else (dst.dtype, src.dtype)
        spec.require(core.arch, types, "mask")
        for label, value in zip(
            ("dstRepStride", "srcBlkStride", "srcRepStride"), strides, strict=True
        ):
            check_range(name, label, value, 0, 65535, spec.source)
        plan = plan_reduction(core, spec, shape, dst, src, active, strides)
        core.plans[key] = plan
    core.issue(plan, (), frame)


def _order(name: str, order: Any) -> ReduceOrder:
    try:
        return ReduceOrder(order)
    except ValueError:
        raise ArgumentError(
            "order says what is stored",
            api=name,
            argument="order",
            got=repr(order),
            legal=", ".join(f"ReduceOrder.{o.name}" for o in ReduceOrder),
        ) from None


@_reduction(_SUMS, "ReduceRepeat")
def WholeReduceSum(
    dst: Any,
    src: Any,
    mask: Any,
    repeatTime: Any,
    dstRepStride: Any,
    srcBlkStride: Any,
    srcRepStride: Any,
    isSetMask: bool = True,
) -> None:
    """``dst[r] = sum of the active lanes of repeat r``, as a binary tree.

    ``(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride)``; ``dstRepStride``
    counts results. On 950 int16_t and uint16_t add up to 32 bits.
    """
    _issue(
        "WholeReduceSum", Shape(REPEATS, SUM), (dst, src), mask, repeatTime,
        (dstRepStride, srcBlkStride, srcRepStride), isSetMask, sys._getframe(1),
    )  # fmt: skip


@_reduction(_EXTREMES, "ReduceRepeat")
def WholeReduceMax(
    dst: Any,
    src: Any,
    mask: Any,
    repeatTime: Any,
    dstRepStride: Any,
    srcBlkStride: Any,
    srcRepStride: Any,
    order: Any = ReduceOrder.ORDER_VALUE_INDEX,
    isSetMask: bool = True,
) -> None:
    """Per repeat the largest active lane and its index within the repeat.

    ``(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, order)``. The index is
    an integer pattern in the element type (``ORDER_ONLY_INDEX``: 32 bits); ties give the smallest.
    ``dstRepStride`` counts results: pairs, values, or 32-bit indices.
    """
    _issue(
        "WholeReduceMax", Shape(REPEATS, MAX, _order("WholeReduceMax", order)), (dst, src), mask,
        repeatTime, (dstRepStride, srcBlkStride, srcRepStride), isSetMask, sys._getframe(1),
    )  # fmt: skip


@_reduction(_EXTREMES, "ReduceRepeat")
def WholeReduceMin(
    dst: Any,
    src: Any,
    mask: Any,
    repeatTime: Any,
    dstRepStride: Any,
    srcBlkStride: Any,
    srcRepStride: Any,
    order: Any = ReduceOrder.ORDER_VALUE_INDEX,
    isSetMask: bool = True,
) -> None:
    """Per repeat the smallest active lane and its index within the repeat; else as WholeReduceMax.

    ``(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, order)``.
    """
    _issue(
        "WholeReduceMin", Shape(REPEATS, MIN, _order("WholeReduceMin", order)), (dst, src), mask,
        repeatTime, (dstRepStride, srcBlkStride, srcRepStride), isSetMask, sys._getframe(1),
    )  # fmt: skip


@_reduction(_SUMS, "ReduceRepeat")
def RepeatReduceSum(
    dst: Any,
    src: Any,
    repeatTime: Any,
    mask: Any,
    dstBlkStride: Any,
    srcBlkStride: Any,
    dstRepStride: Any,
    srcRepStride: Any,
    isSetMask: bool = True,
) -> None:
    """``dst[r] = sum of repeat r``: WholeReduceSum with other argument order.

    ``(dst, src, repeatTime, mask, dstBlkStride, srcBlkStride, dstRepStride, srcRepStride)``;
    ``dstBlkStride`` has no effect.
    """
    check_range("RepeatReduceSum", "dstBlkStride", dstBlkStride, 0, 65535)
    _issue(
        "RepeatReduceSum", Shape(REPEATS, SUM), (dst, src), mask, repeatTime,
        (dstRepStride, srcBlkStride, srcRepStride), isSetMask, sys._getframe(1),
    )  # fmt: skip


@_reduction(_FLOATS, "ReduceDataBlock")
def BlockReduceSum(
    dst: Any,
    src: Any,
    repeatTime: Any,
    mask: Any,
    dstRepStride: Any,
    srcBlkStride: Any,
    srcRepStride: Any,
    isSetMask: bool = True,
) -> None:
    """``dst[8r + b] = sum of block b of repeat r``, as a binary tree.

    ``(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride)``; ``dstRepStride``
    counts 8 results. A block without active lane is skipped on 910B and gives 0 on 950.
    """
    _issue(
        "BlockReduceSum", Shape(BLOCKS, SUM), (dst, src), mask, repeatTime,
        (dstRepStride, srcBlkStride, srcRepStride), isSetMask, sys._getframe(1),
    )  # fmt: skip


@_reduction(_FLOATS, "ReduceDataBlock")
def BlockReduceMax(
    dst: Any,
    src: Any,
    repeatTime: Any,
    mask: Any,
    dstRepStride: Any,
    srcBlkStride: Any,
    srcRepStride: Any,
    isSetMask: bool = True,
) -> None:
    """``dst[8r + b] = max of block b of repeat r``.

    ``(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride)``; ``dstRepStride``
    counts 8 results. A block without active lane is skipped on 910B and gives -inf on 950.
    """
    _issue(
        "BlockReduceMax", Shape(BLOCKS, MAX), (dst, src), mask, repeatTime,
        (dstRepStride, srcBlkStride, srcRepStride), isSetMask, sys._getframe(1),
    )  # fmt: skip


@_reduction(_FLOATS, "ReduceDataBlock")
def BlockReduceMin(
    dst: Any,
    src: Any,
    repeatTime: Any,
    mask: Any,
    dstRepStride: Any,
    srcBlkStride: Any,
    srcRepStride: Any,
    isSetMask: bool = True,
) -> None:
    """``dst[8r + b] = min of block b of repeat r``.

    ``(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride)``; ``dstRepStride``
    counts 8 results. A block without active lane is skipped on 910B and gives +inf on 950.
    """
    _issue(
        "BlockReduceMin", Shape(BLOCKS, MIN), (dst, src), mask, repeatTime,
        (dstRepStride, srcBlkStride, srcRepStride), isSetMask, sys._getframe(1),
    )  # fmt: skip


@_reduction(_FLOATS, "ReducePairElem")
def PairReduceSum(
    dst: Any,
    src: Any,
    repeatTime: Any,
    mask: Any,
    dstRepStride: Any,
    srcBlkStride: Any,
    srcRepStride: Any,
    isSetMask: bool = True,
) -> None:
    """``dst[k] = src[2k] + src[2k + 1]`` in each repeat.

    ``(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride)``; ``dstRepStride``
    counts 128 bytes. A pair without active lane is skipped on 910B and gives 0 on 950.
    """
    _issue(
        "PairReduceSum", Shape(PAIRS, SUM), (dst, src), mask, repeatTime,
        (dstRepStride, srcBlkStride, srcRepStride), isSetMask, sys._getframe(1),
    )  # fmt: skip


# -- the new names, which take the kind as template argument -----------------------------------

_KINDS: Final = {ReduceType.SUM: SUM, ReduceType.MAX: MAX, ReduceType.MIN: MIN}


def _kind(name: str, reduce_type: Any, legal: tuple[ReduceType, ...]) -> ReduceType:
    if reduce_type not in legal:
        raise ArgumentError(
            "reduceType names the kind of reduction",
            api=name,
            argument="reduceType",
            got=repr(reduce_type),
            legal=", ".join(f"ReduceType.{kind.name}" for kind in legal),
            source=_PAGE.format(name),
        )
    return ReduceType(reduce_type)


def ReduceRepeat(
    reduceType: ReduceType,
    dst: Any,
    src: Any,
    mask: Any,
    repeatTime: Any,
    dstRepStride: Any,
    srcBlkStride: Any,
    srcRepStride: Any,
    order: Any = ReduceOrder.ORDER_VALUE_INDEX,
    isSetMask: bool = True,
) -> None:
    """WholeReduceSum, WholeReduceMax or WholeReduceMin, by template argument ``reduceType``.

    ``order`` has no effect on a sum.
    """
    kind = _kind("ReduceRepeat", reduceType, tuple(_KINDS))
    ordered = ReduceOrder.ORDER_VALUE_INDEX if kind == ReduceType.SUM else order
    _issue(
        f"WholeReduce{kind.name.title()}",
        Shape(REPEATS, _KINDS[kind], _order("ReduceRepeat", ordered)),
        (dst, src), mask, repeatTime, (dstRepStride, srcBlkStride, srcRepStride), isSetMask,
        sys._getframe(1),
    )  # fmt: skip


def ReduceDataBlock(
    reduceType: ReduceType,
    dst: Any,
    src: Any,
    mask: Any,
    repeatTime: Any,
    dstRepStride: Any,
    srcBlkStride: Any,
    srcRepStride: Any,
    isSetMask: bool = True,
) -> None:
    """BlockReduceSum, BlockReduceMax or BlockReduceMin; ``mask`` stands before ``repeatTime``."""
    kind = _kind("ReduceDataBlock", reduceType, tuple(_KINDS))
    _issue(
        f"BlockReduce{kind.name.title()}", Shape(BLOCKS, _KINDS[kind]), (dst, src), mask,
        repeatTime, (dstRepStride, srcBlkStride, srcRepStride), isSetMask, sys._getframe(1),
    )  # fmt: skip


def ReducePairElem(
    reduceType: ReduceType,
    dst: Any,
    src: Any,
    mask: Any,
    repeatTime: Any,
    dstRepStride: Any,
    srcBlkStride: Any,
    srcRepStride: Any,
    isSetMask: bool = True,
) -> None:
    """PairReduceSum; ``mask`` stands before ``repeatTime``. Only ``ReduceType.SUM`` exists."""
    _kind("ReducePairElem", reduceType, (ReduceType.SUM,))
    _issue(
        "PairReduceSum", Shape(PAIRS, SUM), (dst, src), mask, repeatTime,
        (dstRepStride, srcBlkStride, srcRepStride), isSetMask, sys._getframe(1),
    )  # fmt: skip
