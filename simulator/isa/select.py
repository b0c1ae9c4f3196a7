"""Select: choose elements of two tensors, or of a tensor and a scalar, by mask bits.

The forms without a mask argument, which work with CMPMASK, are in ``select_register``. Source:
mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/比较与选择 (Select.md and the
page of its flexible scalar position), impl/basic_api/dav_c220/kernel_operator_vec_cmpsel_impl.h,
impl/basic_api/dav_3510/kernel_operator_vec_sel_impl.h.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.core import FULL_MASK
from simulator.dtypes import DType
from simulator.enums import SELMODE, Arch
from simulator.errors import ArgumentError, UnsupportedError
from simulator.instruction import READ, WRITE, Access, Operand, Plan, VectorWork
from simulator.isa.blend import blend, lane_masks, plan_blend, strided_blend, with_masks
from simulator.isa.blocks import UNSIGNED, as_params, first_element
from simulator.isa.cmpmask import (
    REGISTER_BYTES,
    cmpmask_operand,
    reserved_bytes,
    reserved_operand,
)
from simulator.isa.compare import scalar_position
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
from simulator.isa.lanes import REPEAT, check_tensor, dense_operand, dense_view
from simulator.isa.params import BinaryRepeatParams
from simulator.isa.select_register import select_by_register
from simulator.tensor import LocalTensor

if TYPE_CHECKING:
    from types import FrameType

    from simulator.core import AICore
    from simulator.instruction import InstructionSpec
    from simulator.isa.lanes import Active

_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/比较与选择/{}.md"

_MASKS = "uint8_t uint16_t uint32_t uint64_t"
_TYPES_910B = "half float"
_TYPES_950 = (
    "int8_t uint8_t int16_t uint16_t half bfloat16_t int32_t uint32_t float complex32 int64_t "
    "uint64_t complex64"
)
_COUNT_ONLY_950 = "int8_t uint8_t complex32 int64_t uint64_t complex64"

_FIXED: Final = SELMODE.VSEL_CMPMASK_SPR
_SCALAR: Final = SELMODE.VSEL_TENSOR_SCALAR_MODE

_SCRATCH_ELEMENTS: Final = 32
"""Elements that the library fills with the scalar, or with the address, in reserved UB."""


def _combined(types: str) -> str:
    return " ".join(f"{t}:{m}:{t}" for t in types.split() for m in _MASKS.split())


def _select_rule() -> None:
    """``dst[i] = src0[i]`` where mask bit ``i`` is 1, else ``src1[i]`` or the scalar, bit exact.

    Mode 0 uses the same first bits of ``selMask`` for every repeat, modes 1 and 2 take the next
    bits for each repeat. On 910B mode 0 loads CMPMASK with the bits, mode 1 with the scalar and
    mode 2 with the address of ``selMask``; modes 1 and 2 do so through the reserved area at the top
    of UB. On 950 the scalar may stand on the left, and it may be element 0 of a tensor.

    ``Select(dst, selMask, src0, src1, selMode, count)`` and ``Select(…, selMode, mask, repeatTime,
    repeatParams)`` take a tensor ``src1`` (modes 0 and 2) or a scalar (mode 1). Under the mask
    register: ``Select(dst, selMask, src0, repeatTime, repeatParams)`` in mode 1 and ``Select(dst,
    src0, src1, repeatTime, repeatParams, selMode=…)`` in modes 0 and 2.
    """


_SELECT = declare(
    _select_rule,
    "select",
    (("dst", WRITE), ("selMask", READ), ("src0", READ)),
    {Arch.DAV_2201: _combined(_TYPES_910B), Arch.DAV_3510: _combined(_TYPES_950)},
    _PAGE.format("Select"),
    count_only={Arch.DAV_3510: _combined(_COUNT_ONLY_950)},
    forms=("count", "mask", "bit mask", "register"),
    name="Select",
)


class _Call(NamedTuple):
    """A selection between the tensors, or between one tensor and a scalar.

    ``inverted`` says that the scalar stands where the bit is 1; ``element`` is a tensor whose
    element 0 is the scalar.
    """

    dst: Any
    mask: Any
    tensors: tuple[tuple[str, Any], ...]
    mode: SELMODE
    inverted: bool = False
    element: tuple[str, Any] | None = None


def Select(
    dst: Any,
    selMask: Any,
    src0: Any,
    src1: Any = None,
    modeOrParams: Any = None,
    mask: Any = None,
    repeatTime: Any = None,
    repeatParams: Any = None,
    *,
    selMode: Any = None,
    count: Any = None,
    config: Any = None,
    isSetMask: bool = True,
) -> None:
    """Choose elements by mask bits."""
    mode = modeOrParams if selMode is None else selMode
    try:
        core = dst._core
        other = None if mode == _SCALAR else src1._key
        number = mask if count is None else count
        key = ("Select", dst._key, selMask._key, src0._key, other, mode, number)
    except AttributeError as error:
        given = (dst, selMask, src0, src1, modeOrParams, mask, repeatTime, repeatParams)
        if not _other_form(given, selMode, count, config, sys._getframe(1)):
            raise fail_unless_tensor(error, "Select", dst, selMask, src0, src1) from None
        return
    if mode == _SCALAR and isinstance(src1, LocalTensor):
        given = (dst, selMask, src0, src1, mode, mask, repeatTime, repeatParams)
        _other_form(given, selMode, count, config, sys._getframe(1))
        return
    if repeatTime is None:
        plan = core.plans.get(key)
        if plan is None:
            call = _call(dst, selMask, src0, src1, mode)
            plan = core.plans[key] = _plan_count(core, call, number)
        if core.count_resets_mask:
            core.mask = FULL_MASK
            core.counter_mode = False
    else:
        plan = _masked(core, _call(dst, selMask, src0, src1, mode), mask, repeatTime, repeatParams)
    if mode == _SCALAR:
        scalar = plan.scalars.get(src1) if type(src1) is float else None
        if scalar is None:
            scalar = check_scalar(plan.spec, dst.dtype, src1, "src1")
            plan.remember(src1, scalar)
        core.issue(plan, (scalar,), sys._getframe(1))
    else:
        core.issue(plan, (), sys._getframe(1))


publish(Select, _SELECT)


def _call(dst: Any, mask: Any, src0: Any, src1: Any, mode: Any) -> _Call:
    chosen = _as_mode(mode)
    if chosen is _SCALAR:
        return _Call(dst, mask, (("src0", src0),), chosen)
    return _Call(dst, mask, (("src0", src0), ("src1", src1)), chosen)


def _as_mode(mode: Any) -> SELMODE:
    try:
        return SELMODE(mode)
    except ValueError:
        raise ArgumentError(
            "selMode is no select mode",
            api="Select",
            argument="selMode",
            got=repr(mode),
            legal=", ".join(f"SELMODE.{m.name}" for m in SELMODE),
        ) from None


def _other_form(
    given: tuple[Any, ...], sel_mode: Any, count: Any, config: Any, frame: FrameType
) -> bool:
    """Issue a form without a mask argument, or with the scalar on the left or in a tensor."""
    if isinstance(given[0], DType):
        # Template arguments first: Select(T, selMode, dst, …) or Select(T, U, dst, …).
        if isinstance(given[1], SELMODE):
            sel_mode = given[1]
        given = (*given[2:], None, None)
    dst, first, second, third, fourth, mask, repeat_time, params = given
    if not isinstance(dst, LocalTensor) or not isinstance(first, LocalTensor):
        return False
    if isinstance(second, LocalTensor) and isinstance(fourth, BinaryRepeatParams | tuple | list):
        mode = _SCALAR if sel_mode is None else _as_mode(sel_mode)
        select_by_register(_SELECT, (dst, first, second), mode, third, fourth, frame)
        return True
    mode = fourth if sel_mode is None else sel_mode
    if mode != _SCALAR or not isinstance(third, LocalTensor):
        return False
    core = dst._core
    position = scalar_position(
        "Select", core, config, _PAGE.format("Select\uff08灵活标量位置\uff09")
    )
    if not isinstance(second, LocalTensor):
        call = _Call(dst, first, (("src1", third),), _SCALAR, inverted=True)
    elif position == 1:
        call = _Call(dst, first, (("src0", second),), _SCALAR, element=("src1", third))
    else:
        call = _Call(dst, first, (("src1", third),), _SCALAR, True, ("src0", second))
    if repeat_time is None:
        number = mask if count is None else count
        key = ("Select flexible", *_keys(call), call.inverted, number)
        plan = core.plans.get(key)
        if plan is None:
            plan = core.plans[key] = _plan_count(core, call, number)
    else:
        plan = _masked(core, call, mask, repeat_time, params)
    scalars: tuple[Any, ...] = ()
    if call.element is None:
        scalars = (check_scalar(plan.spec, dst.dtype, second, "src0"),)
    core.issue(plan, scalars, frame)
    return True


def _keys(call: _Call) -> tuple[Any, ...]:
    tensors = [("dst", call.dst), ("selMask", call.mask), *call.tensors]
    if call.element is not None:
        tensors.append(call.element)
    return tuple(require_local("Select", name, tensor)._key for name, tensor in tensors)


def _checked(core: AICore, call: _Call, form: str) -> InstructionSpec:
    spec = spec_for("Select", core)
    _keys(call)
    for _, tensor in (*call.tensors, *([call.element] if call.element else [])):
        spec.require(core.arch, (call.dst.dtype, call.mask.dtype, tensor.dtype), form)
    if core.arch is Arch.DAV_1001 and call.mode is not _FIXED:
        raise UnsupportedError(
            f"{call.mode.name} does not exist on {core.arch.family}",
            api="Select",
            argument="selMode",
            got=call.mode.name,
            legal="SELMODE.VSEL_CMPMASK_SPR, repeat by repeat",
            source=spec.source,
        )
    return spec


# -- what every form does besides choosing -----------------------------------------------------


def _scratch(core: AICore, call: _Call) -> tuple[list[Operand], Any]:
    """Return the operands that 910B writes on the way and a function that writes them."""
    if core.arch is Arch.DAV_3510:
        return [], None
    register = core.local.cmpmask
    if call.mode is _FIXED:
        bits = core.local.ub[call.mask.addr : call.mask.addr + REGISTER_BYTES]
        return [cmpmask_operand(WRITE)], partial(_load, register, bits)
    dtype = call.dst.dtype.numpy if call.mode is _SCALAR else np.dtype(np.uint32)
    nbytes = _SCRATCH_ELEMENTS * dtype.itemsize
    block = reserved_bytes(core, nbytes).view(dtype)
    operands = [reserved_operand(core, nbytes), cmpmask_operand(WRITE)]
    if call.mode is _SCALAR:
        return operands, partial(_spread, register, block)
    return operands, partial(_spread, register, block, dtype.type(call.mask.addr))


def _load(register: Any, bits: Any, *_: Any) -> None:
    register[: len(bits)] = bits


def _spread(register: Any, block: Any, value: Any) -> None:
    block[:] = value
    register[:] = block.view(np.uint8)[:REGISTER_BYTES]


def _mask_operand(call: _Call, nbytes: int) -> Operand:
    return Operand("selMask", READ, "UB", call.mask.dtype, (Access(call.mask.addr, nbytes),))


def _with_element(
    call: _Call, spec: InstructionSpec, run: Any, unsigned: Any, operands: list[Operand]
) -> Any:
    """Bind a scalar that is element 0 of a tensor, or take it from the parameters of the call."""
    if call.mode is not _SCALAR:
        return run
    if call.element is None:
        return partial(_with_scalar, run, unsigned)
    source = first_element("Select", *call.element, spec.source).view(unsigned)
    operands.append(dense_operand(call.element[0], READ, call.element[1], 1))
    return partial(_with_first, run, source)


def _with_scalar(run: Any, unsigned: Any, scalar: Any) -> None:
    run(scalar.view(unsigned))


def _with_first(run: Any, source: Any) -> None:
    run(source[0])


def _prepared(prepare: Any, run: Any, *scalar: Any) -> None:
    prepare(*scalar)
    run(*scalar)


# -- count forms -------------------------------------------------------------------------------


def _plan_count(core: AICore, call: _Call, count: Any) -> Plan:
    spec = _checked(core, call, "count")
    number = check_count(spec, count)
    dtype = call.dst.dtype
    size = dtype.itemsize
    lanes = REPEAT // size
    unsigned = UNSIGNED[size]
    named = (("dst", call.dst), *call.tensors)
    for name, tensor in named:
        check_tensor("Select", name, tensor, number * size, spec.source)
    nbytes = lanes // 8 if call.mode is _FIXED else -(-number // 8)
    check_tensor("Select", "selMask", call.mask, nbytes, spec.source)
    spans = [(t.addr, t.addr + number * size) for _, t in named]
    plain = plan_blend(
        spans[0], spans[1], spans[2] if len(spans) > 2 else None, inverted=call.inverted
    )
    out, *sources = (dense_view(core, t, number).view(unsigned) for _, t in named)
    if plain.exchanged:
        sources.reverse()
    bits = core.local.ub[call.mask.addr : call.mask.addr + nbytes]
    table = plain.table(size)
    operands = [
        dense_operand("dst", WRITE, call.dst, number),
        _mask_operand(call, nbytes),
        *(dense_operand(name, READ, tensor, number) for name, tensor in call.tensors),
    ]
    if call.mode is _FIXED:
        run: Any = partial(_same_bits, plain.step, _by_repeat((out, *sources), lanes), bits, table)
    elif call.mode is _SCALAR:
        run = partial(_next_bits_scalar, out, sources[0], bits, table, number)
    else:
        run = partial(_next_bits, plain.step, (out, *sources), bits, table, number)
    run = _with_element(call, spec, run, unsigned, operands)
    written, prepare = _scratch(core, call)
    if prepare is not None:
        run = partial(_prepared, prepare, run)
    return Plan(
        spec,
        "count",
        [*operands, *written],
        run if number else None,
        work=VectorWork(
            dtype.name, -(-number // lanes), number, core.count_resets_mask, number % lanes > 0
        ),
        details={"count": number, "selMode": call.mode.name},
    )


def _next_bits(step: Any, views: tuple[Any, ...], bits: Any, table: Any, number: int) -> None:
    step(*views, lane_masks(table, bits)[:number])


def _next_bits_scalar(out: Any, one: Any, bits: Any, table: Any, number: int, scalar: Any) -> None:
    chosen = lane_masks(table, bits)[:number]
    if scalar:
        blend(out, one, scalar, chosen)
    else:
        np.bitwise_and(one, chosen, out)


def _by_repeat(views: tuple[Any, ...], lanes: int) -> list[tuple[Any, ...]]:
    """Return the arrays as whole repeats (repeat, lane) and a remainder."""
    number = len(views[0])
    whole = number // lanes * lanes
    parts = [tuple(v[:whole].reshape(-1, lanes) for v in views)] if whole else []
    if whole < number:
        parts.append(tuple(v[whole:] for v in views))
    return parts


def _same_bits(step: Any, parts: list[tuple[Any, ...]], bits: Any, table: Any) -> None:
    chosen = lane_masks(table, bits)
    for views in parts:
        step(*views, chosen[: views[0].shape[-1]])


# -- mask forms --------------------------------------------------------------------------------


def _masked(core: AICore, call: _Call, mask: Any, repeat_time: Any, params: Any) -> Plan:
    spec = _checked(core, call, "mask")
    size = call.dst.dtype.itemsize
    lanes = REPEAT // size
    strides = as_params("Select", params, BinaryRepeatParams)
    active = resolve_mask(core, spec, mask, repeat_time, True, lanes)
    key = (
        "Select", *_keys(call), call.mode, call.inverted, call.element is None, active, strides,
    )  # fmt: skip
    plan = core.plans.get(key)
    if plan is None:
        plan = core.plans[key] = _plan_mask(core, spec, call, active, strides)
    return plan


def _plan_mask(
    core: AICore, spec: InstructionSpec, call: _Call, active: Active, params: BinaryRepeatParams
) -> Plan:
    size = call.dst.dtype.itemsize
    lanes = REPEAT // size
    named = [("dst", call.dst), *call.tensors]
    operands, plain, run = strided_blend(core, spec, named, active, params, inverted=call.inverted)
    repeats = active.repeats
    nbytes = lanes // 8 if call.mode is _FIXED else repeats * lanes // 8
    check_tensor("Select", "selMask", call.mask, nbytes, spec.source)
    bits = core.local.ub[call.mask.addr : call.mask.addr + nbytes]
    operands.insert(1, _mask_operand(call, nbytes))
    run = partial(with_masks, run, plain.table(size), bits, (repeats, lanes))
    run = _with_element(call, spec, run, UNSIGNED[size], operands)
    written, prepare = _scratch(core, call)
    if prepare is not None:
        run = partial(_prepared, prepare, run)
    return Plan(
        spec,
        "mask" if active.lanes is None else "bit mask",
        [*operands, *written],
        run if active.elements else None,
        work=VectorWork(call.dst.dtype.name, repeats, active.elements, False, False),
        details={"selMode": call.mode.name, "repeatTime": repeats, **params._asdict()},
    )
