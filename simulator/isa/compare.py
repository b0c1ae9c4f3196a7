"""Compare and CompareScalar with the result in UB: one bit an element, packed without gaps.

Bits are packed least significant first. Source: mirror-cann/asc-devkit
docs/zh/api/SIMD-API/基础API/Memory矢量计算/比较与选择 (Compare.md, Compares.md and the page of its
flexible scalar position), impl/basic_api/dav_c220/kernel_operator_vec_cmp_impl.h and
impl/basic_api/dav_3510/kernel_operator_vec_compare_continuous_impl.h.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simulator.enums import CMPMODE, Arch
from simulator.errors import ArgumentError, UnsupportedError
from simulator.instruction import READ, WRITE, Access, Operand, Plan, VectorWork
from simulator.isa.blocks import as_params, first_element, reached_operands
from simulator.isa.cmpmask import compare_to_register, register_form
from simulator.isa.comparison import SWAPPED, as_mode, bind_comparison, comparison
from simulator.isa.families import (
    check_count,
    check_scalar,
    declare,
    fail_unless_tensor,
    publish,
    require_local,
    resolve_mask,
    spec_for,
)
from simulator.isa.lanes import (
    REPEAT,
    Active,
    Strided,
    check_tensor,
    dense_operand,
    dense_view,
)
from simulator.isa.params import BinaryRepeatParams, UnaryRepeatParams, check_range
from simulator.tensor import LocalTensor

if TYPE_CHECKING:
    from types import FrameType

    from simulator.core import AICore
    from simulator.dtypes import DType
    from simulator.instruction import InstructionSpec

_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/比较与选择/{}.md"

_TYPES_910B = "half float int32_t"
_TYPES_950 = (
    "int8_t uint8_t int16_t uint16_t half bfloat16_t int32_t uint32_t float int64_t uint64_t double"
)
_COUNT_ONLY_950 = "int8_t uint8_t int64_t uint64_t double"


def _combined(dsts: str, types: str, sources: int) -> str:
    return " ".join(f"{d}{f':{t}' * sources}" for d in dsts.split() for t in types.split())


def _compare_rule() -> None:
    """``dst`` bit ``i`` = ``src0[i] cmpMode src1[i]``; with no ``dst``, CMPMASK bit ``i``.

    910B: ``count`` must be whole repeats (256 bytes) and the vector mask is ignored. 950: any
    count; lanes outside count or mask give 0. The form without ``dst`` compares one repeat of half
    or float under the vector mask.
    """


def _compare_scalar_rule() -> None:
    """``dst`` bit ``i`` = ``src0[i] cmpMode src1Scalar``; also spelt ``Compares``.

    910B: ``count`` must be whole repeats (256 bytes) and the vector mask is ignored. 950: any
    count; lanes outside count or mask give 0, the scalar may stand on the left, and it may be
    element 0 of a tensor (``config`` says which one).
    """


_COMPARE = declare(
    _compare_rule,
    "compare",
    (("dst", WRITE), ("src0", READ), ("src1", READ)),
    {
        Arch.DAV_2201: _combined("uint8_t int8_t", _TYPES_910B, 2),
        Arch.DAV_3510: _combined("uint8_t int8_t", _TYPES_950, 2),
    },
    _PAGE.format("Compare"),
    count_only={Arch.DAV_3510: _combined("uint8_t int8_t", _COUNT_ONLY_950, 2)},
    name="Compare",
)
_TO_REGISTER = register_form(_COMPARE)
_COMPARE_SCALAR = declare(
    _compare_scalar_rule,
    "compare-scalar",
    (("dst", WRITE), ("src0", READ)),
    {
        Arch.DAV_2201: _combined("uint8_t", _TYPES_910B, 1),
        Arch.DAV_3510: _combined("uint8_t", _TYPES_950, 1),
    },
    _PAGE.format("Compares"),
    count_only={Arch.DAV_3510: _combined("uint8_t", _COUNT_ONLY_950, 1)},
    name="CompareScalar",
)


class _Call(NamedTuple):
    """What is compared: vector operands by name, the mode, and a tensor that holds the scalar."""

    name: str
    dst: Any
    vectors: tuple[tuple[str, Any], ...]
    mode: CMPMODE
    element: tuple[str, Any] | None = None


def Compare(
    dst: Any,
    src0: Any,
    src1: Any,
    cmpMode: Any,
    count: Any = None,
    repeatTime: Any = None,
    repeatParams: Any = None,
    isSetMask: bool = True,
    *,
    mask: Any = None,
) -> None:
    """Compare two tensors; ``Compare(src0, src1, cmpMode, mask, repeatParams)`` sets CMPMASK."""
    if isinstance(src1, CMPMODE):
        chosen = isSetMask if repeatTime is None else repeatTime
        compare_to_register(
            _TO_REGISTER,
            (dst, src0),
            src1,
            cmpMode if mask is None else mask,
            count if repeatParams is None else repeatParams,
            bool(chosen),
            sys._getframe(1),
        )
        return
    try:
        core = dst._core
        key = ("Compare", dst._key, src0._key, src1._key, cmpMode, count)
    except AttributeError as error:
        raise fail_unless_tensor(error, "Compare", dst, src0, src1) from None
    if repeatTime is None:
        plan = core.plans.get(key)
        if plan is None:
            plan = core.plans[key] = _plan_count(
                core, _compare_call(dst, src0, src1, cmpMode), count
            )
    else:
        plan = _masked(
            core,
            _compare_call(dst, src0, src1, cmpMode),
            mask if count is None else count,
            repeatTime,
            as_params("Compare", repeatParams, BinaryRepeatParams),
            is_set_mask=True,
        )
    core.issue(plan, (), sys._getframe(1))


def _compare_call(dst: Any, src0: Any, src1: Any, mode: Any) -> _Call:
    return _Call("Compare", dst, (("src0", src0), ("src1", src1)), as_mode("Compare", mode))


def CompareScalar(
    dst: Any,
    src0: Any,
    src1Scalar: Any,
    cmpMode: Any,
    count: Any = None,
    repeatTime: Any = None,
    repeatParams: Any = None,
    isSetMask: bool = True,
    *,
    mask: Any = None,
    config: Any = None,
) -> None:
    """Compare a tensor with a scalar; also spelt ``Compares``."""
    if isinstance(src1Scalar, LocalTensor):
        sides = (require_local("CompareScalar", "dst", dst), src0, src1Scalar, cmpMode, config)
        strided = (mask if count is None else count, repeatTime, repeatParams, isSetMask)
        _flexible(sides, strided, sys._getframe(1))
        return
    try:
        core = dst._core
        key = ("CompareScalar", dst._key, src0._key, cmpMode, count)
    except AttributeError as error:
        raise fail_unless_tensor(error, "CompareScalar", dst, src0) from None
    if repeatTime is None:
        plan = core.plans.get(key)
        if plan is None:
            plan = core.plans[key] = _plan_count(core, _scalar_call(dst, src0, cmpMode), count)
    else:
        plan = _masked(
            core,
            _scalar_call(dst, src0, cmpMode),
            mask if count is None else count,
            repeatTime,
            as_params("CompareScalar", repeatParams, UnaryRepeatParams),
            is_set_mask=isSetMask,
        )
    scalar = plan.scalars.get(src1Scalar) if type(src1Scalar) is float else None
    if scalar is None:
        scalar = check_scalar(plan.spec, src0.dtype, src1Scalar, "src1Scalar")
        plan.remember(src1Scalar, scalar)
    core.issue(plan, (scalar,), sys._getframe(1))


Compares = CompareScalar


def _scalar_call(dst: Any, src0: Any, mode: Any) -> _Call:
    return _Call("CompareScalar", dst, (("src0", src0),), as_mode("CompareScalar", mode))


def scalar_position(api: str, core: AICore, config: Any, source: str) -> int:
    """Return which of two tensors holds the scalar: 0 the left one, 1 the right one.

    Raises
    ------
    UnsupportedError
        On architectures without the flexible scalar position.
    ArgumentError
    """
    if core.arch is not Arch.DAV_3510:
        raise UnsupportedError(
            "a scalar on the left, or taken from a tensor, exists on 950 only",
            api=api,
            got=f"the flexible scalar position on {core.arch.family}",
            legal=f"{api} with a tensor on the left and a number on the right",
            source=source,
        )
    index: int = 1 if config is None else getattr(config, "scalarTensorIndex", config)
    check_range(api, "scalarTensorIndex", index, 0, 1, source)
    return index


def _flexible(sides: tuple[Any, ...], strided: tuple[Any, ...], frame: FrameType) -> None:
    """Issue a comparison whose scalar stands on the left or is element 0 of a tensor."""
    dst, left, right, mode, config = sides
    name, core = "CompareScalar", dst._core
    position = scalar_position(name, core, config, _PAGE.format("Compares\uff08灵活标量位置\uff09"))
    chosen = as_mode(name, mode)
    if not isinstance(left, LocalTensor):
        call = _Call(name, dst, (("src0", right),), SWAPPED[chosen])
    elif position == 1:
        call = _Call(name, dst, (("src0", left),), chosen, ("src1", right))
    else:
        call = _Call(name, dst, (("src0", right),), SWAPPED[chosen], ("src1", left))
    mask, repeat_time, params, is_set_mask = strided
    if repeat_time is None:
        key = (name, "flexible", *_keys(call), call.mode, mask)
        plan = core.plans.get(key)
        if plan is None:
            plan = core.plans[key] = _plan_count(core, call, mask)
    else:
        strides = as_params(name, params, UnaryRepeatParams)
        plan = _masked(core, call, mask, repeat_time, strides, is_set_mask=is_set_mask)
    scalars: tuple[Any, ...] = ()
    if call.element is None:
        scalars = (check_scalar(plan.spec, right.dtype, left, "src0"),)
    core.issue(plan, scalars, frame)


def _keys(call: _Call) -> tuple[Any, ...]:
    tensors = [("dst", call.dst), *call.vectors, *([call.element] if call.element else [])]
    return tuple(require_local(call.name, name, tensor)._key for name, tensor in tensors)


def _checked(core: AICore, call: _Call, form: str) -> tuple[InstructionSpec, Any]:
    spec = spec_for(call.name, core)
    _keys(call)
    dtype = call.vectors[0][1].dtype
    spec.require(core.arch, (call.dst.dtype, *(t.dtype for _, t in call.vectors)), form)
    if call.element is not None and call.element[1].dtype is not dtype:
        spec.require(core.arch, (call.dst.dtype, dtype, call.element[1].dtype), form)
    if call.name == "CompareScalar" and dtype.name == "double" and call.mode is not CMPMODE.EQ:
        raise ArgumentError(
            "double compares with a scalar for equality only",
            api=call.name,
            argument="cmpMode",
            got=call.mode.name,
            legal="CMPMODE.EQ",
            source=spec.source,
        )
    return spec, comparison(core, spec, dtype, call.mode)


# -- count forms -------------------------------------------------------------------------------


def _pack(compare: Any, out: Any, *sources: Any) -> None:
    """``out`` bits = ``compare(*sources)``, least significant bit first."""
    out[:] = np.packbits(compare(*sources), bitorder="little")


def _pack_tail(compare: Any, out: Any, used: int, *sources: Any) -> None:
    """Pack into the first ``used`` bytes of ``out``; the rest of the last repeat becomes 0."""
    out[:used] = np.packbits(compare(*sources), bitorder="little")
    out[used:] = 0


def _whole_repeats(core: AICore, spec: InstructionSpec, dtype: DType, number: int) -> int:
    """Return how many elements a 910B compares: it leaves a partial repeat out."""
    lanes = REPEAT // dtype.itemsize
    rest = number % lanes
    if rest and core.strict:
        rounded = number - rest + lanes
        raise ArgumentError(
            f"{number} elements of {dtype} are not whole repeats; a board leaves the bits of the "
            f"last {rest} elements unwritten",
            api=spec.name,
            argument="count",
            got=number,
            legal=f"a multiple of {lanes} (256 bytes of {dtype})",
            fix=f"compare {rounded} elements and size the buffers for them",
            source=spec.source,
        )
    return number - rest


def _plan_count(core: AICore, call: _Call, count: Any) -> Plan:
    spec, compare = _checked(core, call, "count")
    number = check_count(spec, count)
    dtype = call.vectors[0][1].dtype
    size = dtype.itemsize
    if core.arch is Arch.DAV_3510:
        # A 64-bit comparison takes two registers a loop and stores 64 bits, as 32-bit types do.
        lanes = REPEAT // min(size, 4)
        done, used, nbytes = number, -(-number // 8), -(-number // lanes) * lanes // 8
    else:
        done = _whole_repeats(core, spec, dtype, number)
        used = nbytes = done // 8
    for name, tensor in call.vectors:
        check_tensor(spec.name, name, tensor, tensor.dtype.bytes_for(number), spec.source)
    check_tensor(spec.name, "dst", call.dst, used, spec.source)
    bits = core.local.ub[call.dst.addr : call.dst.addr + nbytes]
    views = [dense_view(core, tensor, done) for _, tensor in call.vectors]
    operands = [Operand("dst", WRITE, "UB", call.dst.dtype, (Access(call.dst.addr, nbytes),))]
    operands += [dense_operand(name, READ, tensor, done) for name, tensor in call.vectors]
    if call.element is not None:
        views.append(first_element(spec.name, *call.element, spec.source))
        operands.append(dense_operand(call.element[0], READ, call.element[1], 1))
    rule = (
        partial(_pack, compare, bits)
        if used == nbytes
        else partial(_pack_tail, compare, bits, used)
    )
    return Plan(
        spec,
        "count",
        operands,
        partial(rule, *views) if done else None,
        work=VectorWork(dtype.name, -(-number * size // REPEAT), number, False, False),
        details={"count": number, "cmpMode": call.mode.name},
    )


# -- mask forms --------------------------------------------------------------------------------


def _masked(
    core: AICore, call: _Call, mask: Any, repeat_time: Any, params: Any, *, is_set_mask: bool
) -> Plan:
    spec, compare = _checked(core, call, "mask")
    dtype = call.vectors[0][1].dtype
    lanes = REPEAT // dtype.itemsize
    check_range(spec.name, "repeatTime", repeat_time, 0, 255, spec.source)
    repeats = int(repeat_time)
    if core.arch is Arch.DAV_3510:
        active = resolve_mask(core, spec, mask, repeat_time, is_set_mask, lanes)
        repeats = active.repeats if core.counter_mode else repeats
    else:
        active = Active(((0, repeats, lanes),) if repeats else ())
    key = (spec.name, *_keys(call), call.mode, active, repeats, params, call.element is None)
    plan = core.plans.get(key)
    if plan is not None:
        return plan
    strides = params.strides()[1:]
    ops = [
        Strided(name, READ, tensor, blk, rep)
        for (name, tensor), (blk, rep) in zip(call.vectors, strides, strict=True)
    ]
    operands = reached_operands(spec.name, ops, active, lanes, spec.source)
    nbytes = repeats * lanes // 8
    check_tensor(spec.name, "dst", call.dst, nbytes, spec.source)
    extra = []
    if call.element is not None:
        extra.append(first_element(spec.name, *call.element, spec.source))
        operands.append(dense_operand(call.element[0], READ, call.element[1], 1))
    bits = core.local.ub[call.dst.addr : call.dst.addr + nbytes]
    run = bind_comparison(core, compare, ops, active, (repeats, lanes), bits, extra)
    dst = Operand("dst", WRITE, "UB", call.dst.dtype, (Access(call.dst.addr, nbytes),))
    plan = core.plans[key] = Plan(
        spec,
        "mask" if active.lanes is None else "bit mask",
        [dst, *operands],
        run if repeats else None,
        work=VectorWork(dtype.name, repeats, active.elements, False, False),
        details={"repeatTime": repeats, "cmpMode": call.mode.name, **params._asdict()},
    )
    return plan


publish(Compare, _COMPARE)
publish(CompareScalar, _COMPARE_SCALAR)
