"""ShiftLeft and ShiftRight, by a scalar or (950) by the elements of a tensor.

Unsigned types shift logically. Signed types keep the sign bit: to the left the bits below it move,
to the right it is repeated. Amounts up to the width of the type are legal on 910B; on 950 larger
ones shift everything out (zeros, or the repeated sign to the right).
Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/逻辑计算 (ShiftLeft.md,
ShiftRight.md and the pages with the amount as tensor).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.core import FULL_MASK
from simulator.enums import Arch
from simulator.errors import ArgumentError, UnsupportedError
from simulator.instruction import READ, WRITE
from simulator.isa.families import (
    check_scalar,
    declare,
    fail_unless_tensor,
    masked_plan,
    plan_count,
    publish,
    spec_for,
)
from simulator.isa.params import UnaryRepeatParams
from simulator.isa.plans import dense_strides
from simulator.isa.rules import Context, ElementRule, Rule
from simulator.tensor import LocalTensor

if TYPE_CHECKING:
    from simulator.dtypes import DType
    from simulator.instruction import InstructionSpec, Plan

_PAGE: Final = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/逻辑计算/{}.md"

_B8_B64: Final = "int8_t uint8_t int64_t uint64_t"
_SCALAR_TYPES: Final = {
    Arch.DAV_2201: "int16_t uint16_t int32_t uint32_t",
    Arch.DAV_3510: "int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t",
}
_TENSOR_TYPES: Final = " ".join(
    f"int{width}_t uint{width}_t:uint{width}_t:int{width}_t" for width in (8, 16, 32, 64)
)


def _moved(shift: Any, words: Any, amount: Any) -> Any:
    """Return unsigned words shifted by amounts of their width; zero where nothing is left."""
    last = words.dtype.type(words.dtype.itemsize * 8 - 1)
    distance = np.asarray(amount).view(words.dtype)
    moved = shift(words, np.minimum(distance, last))
    return np.where(distance > last, words.dtype.type(0), moved)


def shift_left(out: Any, src: Any, amount: Any) -> None:
    """``out = src << amount``; signed types keep their sign bit up to a full shift."""
    unsigned = np.dtype(f"u{out.dtype.itemsize}")
    words = src.view(unsigned)
    moved = _moved(np.left_shift, words, amount)
    if out.dtype.kind == "i":
        width = out.dtype.itemsize * 8
        sign = unsigned.type(1 << (width - 1))
        kept = np.where(np.asarray(amount).view(unsigned) > width, unsigned.type(0), words & sign)
        moved = (moved & ~sign) | kept
    np.copyto(out.view(unsigned), moved)


def shift_right(out: Any, src: Any, amount: Any) -> None:
    """``out = src >> amount``; signed types repeat their sign bit."""
    if out.dtype.kind == "u":
        np.copyto(out, _moved(np.right_shift, src, amount))
        return
    last = out.dtype.itemsize * 8 - 1
    distance = np.minimum(np.asarray(amount).view(f"u{out.dtype.itemsize}"), last)
    np.copyto(out, np.right_shift(src, distance.astype(out.dtype)))


def _rounding(rule: Rule, context: Context) -> Rule:
    """Build of ShiftRight; ``roundEn`` adds the last bit that was shifted out (910B, signed)."""
    if not context.algo or context.arch is not Arch.DAV_2201 or context.dst.kind != "i":
        return rule

    def rounded(out: Any, src: Any, amount: Any) -> None:
        if not amount:
            rule(out, src, amount)
            return
        before = np.empty_like(src)
        rule(before, src, amount - 1)
        carry = np.bitwise_and(before, out.dtype.type(1))
        rule(out, src, amount)
        np.add(out, carry, out)

    return rounded


def _unchanged(rule: Rule, _: Context) -> Rule:
    return rule


def _left_rule(out: Any, src: Any, amount: Any) -> None:
    """``dst[i] = src[i] << amount``; signed types keep their sign bit."""
    shift_left(out, src, amount)


def _right_rule(out: Any, src: Any, amount: Any) -> None:
    """``dst[i] = src[i] >> amount``; signed types repeat their sign bit.

    ``roundEn`` of the mask forms adds the last bit shifted out of a signed element (910B).
    """
    shift_right(out, src, amount)


def _declare(name: str, rule: ElementRule, direction: str) -> InstructionSpec:
    """Declare the scalar form and, as ``name@tensor``, the form with a tensor of amounts."""
    declare(
        rule,
        "binary",
        (("dst", WRITE), ("src0", READ), ("src1", READ)),
        {Arch.DAV_3510: _TENSOR_TYPES},
        _PAGE.format(f"{name}（{direction}移位数为Tensor）"),  # noqa: RUF001 - the name of the page
        forms=("count",),
        cost=name,
        name=f"{name}@tensor",
    )
    return declare(
        rule,
        "vector-scalar",
        (("dst", WRITE), ("src", READ)),
        _SCALAR_TYPES,
        _PAGE.format(name),
        count_only={Arch.DAV_3510: _B8_B64},
        name=name,
    )


_LEFT = _declare("ShiftLeft", ElementRule(_left_rule, _unchanged), "左")
_RIGHT = _declare("ShiftRight", ElementRule(_right_rule, _rounding), "右")


def ShiftLeft(
    dst: Any,
    src: Any,
    scalarValue: Any,
    count: Any = None,
    repeatTime: Any = None,
    repeatParams: Any = None,
    isSetMask: bool = True,
    *,
    mask: Any = None,
) -> None:
    """``dst[i] = src[i] << scalarValue``; signed types keep their sign bit."""
    chosen = mask if count is None else count
    plan, params = _plan(
        "ShiftLeft", dst, src, scalarValue, chosen, repeatTime, repeatParams, isSetMask, False
    )
    dst._core.issue(plan, params, sys._getframe(1))


def ShiftRight(
    dst: Any,
    src: Any,
    scalarValue: Any,
    count: Any = None,
    repeatTime: Any = None,
    repeatParams: Any = None,
    roundEn: bool = False,
    *,
    isSetMask: bool = True,
    mask: Any = None,
) -> None:
    """``dst[i] = src[i] >> scalarValue``; signed types repeat their sign bit."""
    chosen = mask if count is None else count
    plan, params = _plan(
        "ShiftRight", dst, src, scalarValue, chosen, repeatTime, repeatParams, isSetMask, roundEn
    )
    dst._core.issue(plan, params, sys._getframe(1))


def _plan(
    name: str,
    dst: Any,
    src: Any,
    amount: Any,
    count: Any,
    repeat_time: Any,
    params: Any,
    is_set_mask: bool,
    round_up: bool,
) -> tuple[Plan, tuple[Any, ...]]:
    if isinstance(amount, LocalTensor):
        return _tensor_plan(name, dst, src, amount, count, repeat_time), ()
    try:
        core = dst._core
        key = (name, dst._key, src._key, count, core.numeric_mode)
    except AttributeError as error:
        raise fail_unless_tensor(error, name, dst, src) from None
    spec = spec_for(name, core)
    if repeat_time is None and is_set_mask:
        plan = core.plans.get(key)
        if plan is None:
            plan = core.plans[key] = plan_count(core, spec, (dst, src), count)
        if core.count_resets_mask:
            core.mask = FULL_MASK
            core.counter_mode = False
    else:
        if repeat_time is None:
            repeat_time, params = 1, dense_strides(dst, src)
        plan = masked_plan(
            core, name, (dst, src), count, repeat_time, params or UnaryRepeatParams(),
            is_set_mask, algo=bool(round_up),
        )  # fmt: skip
    return plan, (_amount(spec, core.arch, src.dtype, amount),)


def _amount(spec: InstructionSpec, arch: Arch, dtype: DType, value: Any) -> Any:
    """Return a legal shift amount as a scalar of the element type.

    Raises
    ------
    ArgumentError
    """
    amount = check_scalar(spec, dtype, value)
    top = dtype.bits if arch is Arch.DAV_2201 else int(np.iinfo(dtype.numpy).max)
    if not 0 <= amount <= top:
        raise ArgumentError(
            "the shift amount is out of range",
            api=spec.name,
            argument="scalarValue",
            got=value,
            legal=f"0..{top}",
            source=spec.source,
        )
    return amount


def _tensor_plan(
    name: str, dst: Any, src: Any, amounts: LocalTensor, count: Any, repeat_time: Any
) -> Plan:
    core = amounts._core
    spec = spec_for(f"{name}@tensor", core)
    if repeat_time is not None:
        raise UnsupportedError(
            "shift amounts in a tensor exist in the count form only",
            api=name,
            got="a mask form",
            legal=f"{name}(dst, src0, src1, count)",
            source=spec.source,
        )
    tensors = (dst, src, amounts)
    try:
        key = (spec.name, dst._key, src._key, amounts._key, count)
    except AttributeError as error:
        raise fail_unless_tensor(error, name, *tensors) from None
    plan = core.plans.get(key)
    if plan is None:
        plan = core.plans[key] = plan_count(core, spec, tensors, count)
    return plan


publish(ShiftLeft, _LEFT)
publish(ShiftRight, _RIGHT)
