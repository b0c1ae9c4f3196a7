"""Compare, CompareScalar, Select and the compare mask register.

A compare result is one bit per lane, least significant bit first, packed without gaps. Source:
mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/比较与选择 (Compare.md, Select.md),
impl/basic_api/dav_c220/kernel_operator_vec_cmp_impl.h and kernel_operator_vec_cmpsel_impl.h.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.core import FULL_MASK, current_core
from simulator.dtypes import int32_t, uint8_t
from simulator.enums import CMPMODE, SELMODE, Arch
from simulator.errors import ArgumentError, UnsupportedError
from simulator.instruction import READ, WRITE, Access, Operand, Plan, VectorWork
from simulator.isa.families import (
    check_count,
    check_scalar,
    declare,
    fail_unless_tensor,
    lanes_of,
    publish,
    require_local,
    resolve_mask,
    spec_for,
)
from simulator.isa.lanes import (
    BLOCK,
    REPEAT,
    Active,
    Strided,
    check_tensor,
    dense_operand,
    dense_view,
    lane_indices,
    strided_operand,
)
from simulator.isa.params import BinaryRepeatParams, UnaryRepeatParams

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.core import AICore
    from simulator.instruction import InstructionSpec
    from simulator.tensor import LocalTensor

_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/比较与选择/{}.md"
_SCRATCH_PAGE = "mirror-cann/asc-devkit impl/basic_api/dav_c220/kernel_operator_vec_cmpsel_impl.h"

_OPERATORS: dict[CMPMODE, Callable[..., Any]] = {
    CMPMODE.LT: np.less,
    CMPMODE.GT: np.greater,
    CMPMODE.EQ: np.equal,
    CMPMODE.LE: np.less_equal,
    CMPMODE.GE: np.greater_equal,
    CMPMODE.NE: np.not_equal,
}


def _not_equal_ordered(left: Any, right: Any) -> Any:
    """NE of the 910B: false when either operand is NaN."""
    return np.less(left, right) | np.greater(left, right)


def comparison(arch: Arch, mode: Any) -> Callable[..., Any]:
    """Return the elementwise comparison of ``mode`` on ``arch``.

    A NaN operand makes every mode false on 910B, NE included; 950 follows IEEE. Source:
    mirror-cann/asc-devkit docs/zh/api/附录/Memory矢量计算接口边界值汇总.md.
    """
    try:
        chosen = CMPMODE(mode)
    except ValueError:
        raise ArgumentError(
            "cmpMode is no comparison",
            argument="cmpMode",
            got=repr(mode),
            legal=", ".join(f"CMPMODE.{m.name}" for m in CMPMODE),
        ) from None
    if chosen is CMPMODE.NE and arch is not Arch.DAV_3510:
        return _not_equal_ordered
    return _OPERATORS[chosen]


def _check_mode(core: AICore, spec: InstructionSpec, tensor: LocalTensor, mode: Any) -> Any:
    rule = comparison(core.arch, mode)
    if tensor.dtype is int32_t and core.arch is Arch.DAV_2201 and mode != CMPMODE.EQ:
        raise ArgumentError(
            "int32_t compares for equality only on 910B; a board executes EQ silently",
            api=spec.name,
            argument="cmpMode",
            got=CMPMODE(mode).name,
            legal="CMPMODE.EQ",
            fix="Cast to float first, or compare with CMPMODE.EQ",
            source=spec.source,
        )
    return rule


def _pack(compare: Any, out: Any, *sources: Any) -> None:
    """``out`` bits = ``compare(*sources)``, least significant bit first."""
    out[:] = np.packbits(compare(*sources), bitorder="little")


def _pack_lanes(
    compare: Any, arrays: list[Any], indices: list[Any], where: Any, out: Any, *scalars: Any
) -> None:
    """Compare chosen lanes and spread the bits to their places in ``out``; others become 0."""
    bits = np.zeros(len(out) * 8, bool)
    values = [array[index] for array, index in zip(arrays, indices, strict=True)]
    bits[where] = compare(*values, *scalars).reshape(-1)
    out[:] = np.packbits(bits, bitorder="little")


def _covered(core: AICore, count: int, itemsize: int) -> int:
    """Return how many elements a count form compares: whole repeats only on 910B."""
    lanes = REPEAT // itemsize
    return count if core.arch is Arch.DAV_3510 else count // lanes * lanes


def _plan_compare_count(
    core: AICore, spec: InstructionSpec, tensors: list[LocalTensor], mode: Any, count: Any
) -> Plan:
    names = [name for name, _ in spec.operands]
    for name, tensor in zip(names, tensors, strict=True):
        require_local(spec.name, name, tensor)
    dst, *sources = tensors
    src = sources[0]
    spec.require(core.arch, (dst.dtype, *(s.dtype for s in sources)), "count")
    compare = _check_mode(core, spec, src, mode)
    number = check_count(spec, count)
    size = src.dtype.itemsize
    if core.arch is not Arch.DAV_3510 and core.strict and number * size % REPEAT:
        rounded = -(-number * size // REPEAT) * REPEAT // size
        raise ArgumentError(
            f"{number} elements of {src.dtype} are not whole repeats; a board leaves the bits of "
            f"the last {number % (REPEAT // size)} elements unwritten",
            api=spec.name,
            argument="count",
            got=number,
            legal=f"a multiple of {REPEAT // size} (256 bytes of {src.dtype})",
            fix=f"compare {rounded} elements and size the buffers for them",
            source=spec.source,
        )
    done = _covered(core, number, size)
    for name, tensor in zip(names[1:], sources, strict=True):
        check_tensor(spec.name, name, tensor, tensor.dtype.bytes_for(number), spec.source)
    nbytes = -(-done // 8)
    check_tensor(spec.name, "dst", dst, nbytes, spec.source)
    views = [dense_view(core, s, done) for s in sources]
    bits = dense_view(core, dst, nbytes // dst.dtype.itemsize)
    return Plan(
        spec,
        "count",
        [dense_operand("dst", WRITE, dst, nbytes // dst.dtype.itemsize)]
        + [dense_operand(n, READ, s, done) for n, s in zip(names[1:], sources, strict=True)],
        partial(_pack, compare, bits.view(np.uint8), *views) if done else None,
        work=VectorWork(
            src.dtype.name, -(-number * size // REPEAT), number, core.count_resets_mask, False
        ),
        details={"count": number, "cmpMode": CMPMODE(mode).name},
    )


def _plan_compare_mask(
    core: AICore,
    spec: InstructionSpec,
    tensors: list[LocalTensor],
    mode: Any,
    active: Active,
    repeats: int,
    params: Any,
) -> Plan:
    names = [name for name, _ in spec.operands]
    for name, tensor in zip(names, tensors, strict=True):
        require_local(spec.name, name, tensor)
    dst, *sources = tensors
    src = sources[0]
    spec.require(core.arch, (dst.dtype, *(s.dtype for s in sources)), "mask")
    compare = _check_mode(core, spec, src, mode)
    lanes = REPEAT // src.dtype.itemsize
    strides = params.strides()[1:]
    everything = Active(((0, repeats, lanes),) if repeats else ())
    chosen = active if core.arch is Arch.DAV_3510 else everything
    ops = [
        Strided(name, READ, tensor, blk, rep)
        for name, tensor, (blk, rep) in zip(names[1:], sources, strides, strict=True)
    ]
    operands = [strided_operand(op, chosen, lanes) for op in ops]
    for op, operand in zip(ops, operands, strict=True):
        reach = max((a.span()[1] for a in operand.accesses), default=op.tensor.addr)
        check_tensor(spec.name, op.name, op.tensor, reach - op.tensor.addr, spec.source)
    nbytes = repeats * lanes // 8
    check_tensor(spec.name, "dst", dst, nbytes, spec.source)
    bits = dense_view(core, dst, nbytes // dst.dtype.itemsize).view(np.uint8)
    indices = [lane_indices(op, chosen, lanes).reshape(-1) for op in ops] if chosen.elements else []
    arrays = [core.local.typed(op.tensor.dtype.numpy) for op in ops]
    return Plan(
        spec,
        "mask",
        [dense_operand("dst", WRITE, dst, nbytes // dst.dtype.itemsize), *operands],
        partial(_pack_lanes, compare, arrays, indices, _bit_places(chosen, lanes), bits)
        if indices
        else None,
        work=VectorWork(src.dtype.name, repeats, chosen.elements, False, False),
        details={"repeatTime": repeats, "cmpMode": CMPMODE(mode).name, **params._asdict()},
    )


def _bit_places(active: Active, lanes: int) -> Any:
    places = []
    for first, count, width in active.segments:
        chosen = np.arange(width) if active.lanes is None else np.array(active.lanes)
        places.append(
            (np.arange(first, first + count)[:, None] * lanes + chosen).reshape(-1)
        )
    return np.concatenate(places)


def _compare_rule(out: Any, src0: Any, src1: Any) -> None:
    """``dst`` bit ``i`` = ``src0[i] cmpMode src1[i]``, packed least significant bit first.

    910B: ``count`` must be whole repeats (256 bytes) and the vector mask is ignored. 950: any
    count, and lanes outside the mask give 0.
    """


def _compare_scalar_rule(out: Any, src: Any, scalar: Any) -> None:
    """``dst`` bit ``i`` = ``src0[i] cmpMode src1Scalar``, packed least significant bit first.

    910B: ``count`` must be whole repeats (256 bytes) and the vector mask is ignored. 950: any
    count, and lanes outside the mask give 0.
    """


def _compare_dtypes(sources: int) -> dict[Arch, str]:
    def table(dsts: str, types: str) -> str:
        return " ".join(f"{d}{f':{t}' * sources}" for d in dsts.split() for t in types.split())

    both = "uint8_t int8_t" if sources == 2 else "uint8_t"
    wide = (
        "int8_t uint8_t int16_t uint16_t half bfloat16_t int32_t uint32_t float int64_t uint64_t "
        "double"
    )
    return {Arch.DAV_2201: table(both, "half float int32_t"), Arch.DAV_3510: table(both, wide)}


def _count_only(sources: int) -> dict[Arch, str]:
    return {
        Arch.DAV_3510: " ".join(
            f"{d}{f':{t}' * sources}"
            for d in ("uint8_t", "int8_t")
            for t in ("int8_t", "uint8_t", "int64_t", "uint64_t", "double")
        )
    }


_COMPARE = declare(
    _compare_rule,
    "compare",
    (("dst", WRITE), ("src0", READ), ("src1", READ)),
    _compare_dtypes(2),
    _PAGE.format("Compare"),
    count_only=_count_only(2),
    name="Compare",
)
_COMPARE_SCALAR = declare(
    _compare_scalar_rule,
    "compare-scalar",
    (("dst", WRITE), ("src0", READ)),
    _compare_dtypes(1),
    _PAGE.format("Compares"),
    count_only=_count_only(1),
    name="CompareScalar",
)


def Compare(*args: Any, **kwargs: Any) -> None:
    """Compare two tensors; with no ``dst`` the result goes to the CMPMASK register."""
    if len(args) >= 3 and isinstance(args[2], CMPMODE):
        _compare_to_register(*args, frame=sys._getframe(1), **kwargs)
    else:
        _compare_to_ub(*args, frame=sys._getframe(1), **kwargs)


def _compare_to_ub(
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
    frame: Any,
) -> None:
    _issue_compare(
        "Compare", (dst, src0, src1), cmpMode, (), mask if count is None else count,
        repeatTime, repeatParams or BinaryRepeatParams(), frame,
    )  # fmt: skip


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
) -> None:
    """Compare a tensor with a scalar; also spelt ``Compares``."""
    _issue_compare(
        "CompareScalar", (dst, src0), cmpMode, (src1Scalar,), mask if count is None else count,
        repeatTime, repeatParams or UnaryRepeatParams(), sys._getframe(1),
    )  # fmt: skip


def _issue_compare(
    name: str,
    tensors: tuple[Any, ...],
    mode: Any,
    scalars: tuple[Any, ...],
    mask: Any,
    repeat_time: Any,
    params: Any,
    frame: Any,
) -> None:
    try:
        core = tensors[0]._core
        keys = [t._key for t in tensors]
    except AttributeError as error:
        raise fail_unless_tensor(error, name, *tensors) from None
    if repeat_time is None:
        key = (name, *keys, mode, mask)
        plan = core.plans.get(key)
        if plan is None:
            spec = spec_for(name, core)
            plan = core.plans[key] = _plan_compare_count(core, spec, list(tensors), mode, mask)
        if core.count_resets_mask:
            core.mask = FULL_MASK
            core.counter_mode = False
    else:
        spec = spec_for(name, core)
        active = resolve_mask(core, spec, mask, repeat_time, True, lanes_of(tensors[1:]))
        key = (name, *keys, mode, active, int(repeat_time), params)
        plan = core.plans.get(key)
        if plan is None:
            plan = core.plans[key] = _plan_compare_mask(
                core, spec, list(tensors), mode, active, int(repeat_time), params
            )
    if scalars:
        value = scalars[0]
        scalar = plan.scalars.get(value) if type(value) is float else None
        if scalar is None:
            scalar = check_scalar(plan.spec, tensors[1].dtype, value, "src1Scalar")
            plan.remember(value, scalar)
        scalars = (scalar,)
    core.issue(plan, scalars, frame)


Compares = CompareScalar
publish(Compare, _COMPARE)
publish(CompareScalar, _COMPARE_SCALAR)


# -- CMPMASK register --------------------------------------------------------------------------


def _register_rule(compare: Any, out: Any, arrays: Any, indices: Any, where: Any) -> None:
    _pack_lanes(compare, arrays, indices, where, out)


def _compare_to_register(
    src0: Any,
    src1: Any,
    cmpMode: Any,
    mask: Any,
    repeatParams: Any = None,
    isSetMask: bool = True,
    *,
    frame: Any,
) -> None:
    for name, tensor in (("src0", src0), ("src1", src1)):
        require_local("Compare", name, tensor)
    core = src0._core
    spec = spec_for("Compare", core)
    spec.require(core.arch, (uint8_t, src0.dtype, src1.dtype), "mask")
    if src0.dtype.name not in ("half", "float"):
        raise UnsupportedError(
            "the CMPMASK form compares half and float only",
            api="Compare",
            got=src0.dtype.name,
            legal="half, float",
            source=spec.source,
        )
    lanes = REPEAT // src0.dtype.itemsize
    active = resolve_mask(core, spec, mask, 1, isSetMask, lanes)
    params = repeatParams or BinaryRepeatParams()
    key = ("Compare register", src0._key, src1._key, cmpMode, active, params)
    plan = core.plans.get(key)
    if plan is None:
        compare = _check_mode(core, spec, src0, cmpMode)
        ops = [
            Strided(name, READ, tensor, blk, rep)
            for name, tensor, (blk, rep) in zip(
                ("src0", "src1"), (src0, src1), params.strides()[1:], strict=True
            )
        ]
        operands = [strided_operand(op, active, lanes) for op in ops]
        for op, operand in zip(ops, operands, strict=True):
            reach = max((a.span()[1] for a in operand.accesses), default=op.tensor.addr)
            check_tensor("Compare", op.name, op.tensor, reach - op.tensor.addr, spec.source)
        run = None
        if active.elements:
            run = partial(
                _register_rule,
                compare,
                core.local.cmpmask[: lanes // 8],
                [core.local.typed(op.tensor.dtype.numpy) for op in ops],
                [lane_indices(op, active, lanes).reshape(-1) for op in ops],
                _bit_places(active, lanes),
            )
        plan = core.plans[key] = Plan(
            spec,
            "register",
            operands,
            run,
            work=VectorWork(src0.dtype.name, 1, active.elements, False, False),
            details={"cmpMode": CMPMODE(cmpMode).name, **params._asdict()},
        )
    core.issue(plan, (), frame)


def _copy_bytes(out: Any, src: Any) -> None:
    out[:] = src


def _get_cmpmask_rule() -> None:
    """``dst`` (16 bytes) = the CMPMASK register."""


def _set_cmpmask_rule() -> None:
    """CMPMASK register = the first 16 bytes of ``src``."""


_ANY8 = " ".join(
    ("int8_t", "uint8_t", "int16_t", "uint16_t", "half", "int32_t", "uint32_t", "float",
     "int64_t", "uint64_t", "bfloat16_t")
)  # fmt: skip
_GET_CMPMASK = declare(
    _get_cmpmask_rule,
    "register",
    (("dst", WRITE),),
    {Arch.DAV_2201: _ANY8, Arch.DAV_3510: _ANY8},
    _PAGE.format("GetCmpMask(ISASI)"),
    forms=("register",),
    name="GetCmpMask",
)
_SET_CMPMASK = declare(
    _set_cmpmask_rule,
    "register",
    (("src", READ),),
    {Arch.DAV_2201: _ANY8, Arch.DAV_3510: _ANY8},
    _PAGE.format("SetCmpMask(ISASI)"),
    forms=("register",),
    name="SetCmpMask",
)


def GetCmpMask(dst: LocalTensor) -> None:
    """Copy CMPMASK to UB."""
    _issue_cmpmask("GetCmpMask", dst, WRITE, sys._getframe(1))


def SetCmpMask(src: LocalTensor) -> None:
    """Load CMPMASK from UB."""
    _issue_cmpmask("SetCmpMask", src, READ, sys._getframe(1))


def _issue_cmpmask(name: str, tensor: Any, role: str, frame: Any) -> None:
    core = require_local(name, "tensor", tensor)._core
    key = (name, tensor._key)
    plan = core.plans.get(key)
    if plan is None:
        spec = spec_for(name, core)
        spec.require(core.arch, tensor.dtype, "register")
        count = 16 // tensor.dtype.itemsize
        check_tensor(name, spec.operands[0][0], tensor, 16, spec.source)
        view = core.local.ub[tensor.addr : tensor.addr + 16]
        pair = (view, core.local.cmpmask) if role == WRITE else (core.local.cmpmask, view)
        plan = core.plans[key] = Plan(
            spec,
            "register",
            [dense_operand(spec.operands[0][0], role, tensor, count)],
            partial(_copy_bytes, *pair),
            work=VectorWork("uint8_t", 1, 16, False, False),
        )
    core.issue(plan, (), frame)


publish(GetCmpMask, _GET_CMPMASK)
publish(SetCmpMask, _SET_CMPMASK)


# -- Select ------------------------------------------------------------------------------------


def _select_rule() -> None:
    """``dst[i] = src0[i]`` where mask bit ``i`` is 1, else ``src1[i]`` or the scalar, bit exact.

    Mode 0 uses the same first bits for every repeat; modes 1 and 2 take the next bits for each
    repeat. On 910B modes 1 and 2 write the reserved area at the top of UB and CMPMASK.
    """


_SELECT_910B = " ".join(
    f"{t}:{m}:{t}" for t in ("half", "float") for m in ("uint8_t", "uint16_t", "uint32_t", "uint64_t")
)
_SELECT_950 = " ".join(
    f"{t}:{m}:{t}"
    for t in (
        "int8_t", "uint8_t", "int16_t", "uint16_t", "half", "bfloat16_t", "int32_t", "uint32_t",
        "float", "int64_t", "uint64_t",
    )
    for m in ("uint8_t", "uint16_t", "uint32_t", "uint64_t")
)  # fmt: skip
_SELECT = declare(
    _select_rule,
    "select",
    (("dst", WRITE), ("selMask", READ), ("src0", READ)),
    {Arch.DAV_2201: _SELECT_910B, Arch.DAV_3510: _SELECT_950},
    _PAGE.format("Select"),
    count_only={
        Arch.DAV_3510: " ".join(
            f"{t}:{m}:{t}"
            for t in ("int8_t", "uint8_t", "int64_t", "uint64_t")
            for m in ("uint8_t", "uint16_t", "uint32_t", "uint64_t")
        )
    },
    name="Select",
)

_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def _blend(out: Any, src0: Any, src1: Any, bits: Any) -> None:
    """``out = bits ? src0 : src1`` on integer views: ``src1 ^ ((src0 ^ src1) * bit)``."""
    mixed = np.bitwise_xor(src0, src1)
    np.multiply(mixed, bits, mixed)
    np.bitwise_xor(mixed, src1, out)


def _select_dense(out: Any, mask: Any, src0: Any, count: int, src1: Any) -> None:
    _blend(out, src0, src1, np.unpackbits(mask, count=count, bitorder="little"))


def _select_dense_zero(out: Any, mask: Any, src0: Any, count: int) -> None:
    np.multiply(src0, np.unpackbits(mask, count=count, bitorder="little"), out)


def _select_scalar(out: Any, mask: Any, src0: Any, count: int, scalar: Any) -> None:
    bits = scalar.view(out.dtype)
    if bits == 0:
        _select_dense_zero(out, mask, src0, count)
    else:
        _select_dense(out, mask, src0, count, bits)


def _select_lanes(
    arrays: tuple[Any, ...],
    indices: tuple[Any, ...],
    mask: Any,
    places: Any,
    *scalar: Any,
) -> None:
    """Select on gathered lanes; ``places`` says which mask bit belongs to a lane."""
    bits = np.unpackbits(mask, bitorder="little")[places]
    dst, src0, *rest = arrays
    other = rest[0][indices[2]] if rest else scalar[0].view(dst.dtype)
    dst[indices[0]] = np.where(bits.astype(bool), src0[indices[1]], other)


def _repeated_mask(cmpmask: Any, mask: Any, lanes: int, count: int, run: Any, *params: Any) -> None:
    """Load CMPMASK from UB, then run with the same bits for every repeat (mode 0)."""
    cmpmask[: lanes // 8] = mask
    bits = np.resize(np.unpackbits(mask, bitorder="little"), count)
    run(np.packbits(bits, bitorder="little"), *params)


def Select(
    dst: Any,
    selMask: Any,
    src0: Any,
    src1: Any = None,
    selMode: Any = None,
    mask: Any = None,
    repeatTime: Any = None,
    repeatParams: Any = None,
    *,
    count: Any = None,
) -> None:
    """Choose elements by mask bits; ``src1`` is a tensor (modes 0, 2) or a scalar (mode 1)."""
    try:
        core = dst._core
        if repeatTime is None:
            number = mask if count is None else count
            other = src1._key if selMode != SELMODE.VSEL_TENSOR_SCALAR_MODE else None
            key = ("Select", dst._key, selMask._key, src0._key, other, selMode, number)
            plan = core.plans.get(key)
            if plan is None:
                plan = core.plans[key] = _plan_select(core, dst, selMask, src0, src1, selMode, number)
            if core.count_resets_mask:
                core.mask = FULL_MASK
                core.counter_mode = False
        else:
            params = repeatParams or BinaryRepeatParams()
            plan = _plan_select_mask(
                core, dst, selMask, src0, src1, selMode, mask, repeatTime, params
            )
    except AttributeError as error:
        raise fail_unless_tensor(error, "Select", dst, selMask, src0, *_tensor_src1(src1, selMode)) from None
    scalars: tuple[Any, ...] = ()
    if selMode == SELMODE.VSEL_TENSOR_SCALAR_MODE:
        scalar = plan.scalars.get(src1) if type(src1) is float else None
        if scalar is None:
            scalar = check_scalar(plan.spec, dst.dtype, src1, "src1")
            plan.remember(src1, scalar)
        scalars = (scalar,)
    core.issue(plan, scalars, sys._getframe(1))


def _tensor_src1(src1: Any, mode: Any) -> tuple[Any, ...]:
    return () if mode == SELMODE.VSEL_TENSOR_SCALAR_MODE else (src1,)


def _check_select(
    core: AICore, dst: Any, sel: Any, src0: Any, src1: Any, mode: Any, form: str
) -> tuple[InstructionSpec, list[tuple[str, Any]]]:
    spec = spec_for("Select", core)
    if mode not in tuple(SELMODE):
        raise ArgumentError(
            "selMode is no select mode",
            api="Select",
            argument="selMode",
            got=repr(mode),
            legal=", ".join(f"SELMODE.{m.name}" for m in SELMODE),
        )
    sources = [("src0", src0)]
    if mode != SELMODE.VSEL_TENSOR_SCALAR_MODE:
        sources.append(("src1", src1))
    for name, tensor in (("dst", dst), ("selMask", sel), *sources):
        require_local("Select", name, tensor)
    for _, tensor in sources:
        spec.require(core.arch, (dst.dtype, sel.dtype, tensor.dtype), form)
    return spec, sources


def _scratch(core: AICore, mode: Any) -> list[Operand]:
    """Return the reserved UB block that modes 1 and 2 write on 910B."""
    offset = core.platform.memory.ub_reserved_offset
    if core.arch is not Arch.DAV_2201 or mode == SELMODE.VSEL_CMPMASK_SPR:
        return []
    return [Operand("reserved UB", WRITE, "UB", uint8_t, (Access(offset, BLOCK),))]


def _plan_select(
    core: AICore, dst: Any, sel: Any, src0: Any, src1: Any, mode: Any, count: Any
) -> Plan:
    spec, sources = _check_select(core, dst, sel, src0, src1, mode, "count")
    number = check_count(spec, count)
    size = dst.dtype.itemsize
    lanes = REPEAT // size
    for name, tensor in (("dst", dst), *sources):
        check_tensor("Select", name, tensor, number * size, spec.source)
    fixed = mode == SELMODE.VSEL_CMPMASK_SPR
    mask_bytes = lanes // 8 if fixed else -(-number // 8)
    check_tensor("Select", "selMask", sel, mask_bytes, spec.source)
    unsigned = _UNSIGNED[size]
    views = [dense_view(core, t, number).view(unsigned) for t in (dst, *(s for _, s in sources))]
    bits = core.local.ub[sel.addr : sel.addr + mask_bytes]
    if mode == SELMODE.VSEL_TENSOR_SCALAR_MODE:
        run: Any = partial(_select_scalar, views[0], bits, views[1], number)
    elif fixed:
        def chosen(mask: Any, out: Any = views[0], a: Any = views[1], b: Any = views[2]) -> None:
            _select_dense(out, mask, a, number, b)

        run = partial(_repeated_mask, core.local.cmpmask, bits, lanes, number, chosen)
    else:
        run = partial(_select_dense, views[0], bits, views[1], number, views[2])
    return Plan(
        spec,
        "count",
        [
            dense_operand("dst", WRITE, dst, number),
            Operand("selMask", READ, "UB", sel.dtype, (Access(sel.addr, mask_bytes),)),
            *(dense_operand(n, READ, t, number) for n, t in sources),
            *_scratch(core, mode),
        ],
        run if number else None,
        work=VectorWork(
            dst.dtype.name, -(-number // lanes), number, core.count_resets_mask, number % lanes > 0
        ),
        details={"count": number, "selMode": SELMODE(mode).name},
    )


def _plan_select_mask(
    core: AICore,
    dst: Any,
    sel: Any,
    src0: Any,
    src1: Any,
    mode: Any,
    mask: Any,
    repeat_time: Any,
    params: Any,
) -> Plan:
    spec, sources = _check_select(core, dst, sel, src0, src1, mode, "mask")
    size = dst.dtype.itemsize
    lanes = REPEAT // size
    active = resolve_mask(core, spec, mask, repeat_time, True, lanes)
    key = ("Select", dst._key, sel._key, src0._key, getattr(src1, "_key", None), mode, active, params)
    plan = core.plans.get(key)
    if plan is not None:
        return plan
    strides = params.strides()
    ops = [Strided("dst", WRITE, dst, *strides[0])] + [
        Strided(n, READ, t, *stride) for (n, t), stride in zip(sources, strides[1:], strict=False)
    ]
    operands = [strided_operand(op, active, lanes) for op in ops]
    for op, operand in zip(ops, operands, strict=True):
        reach = max((a.span()[1] for a in operand.accesses), default=op.tensor.addr)
        check_tensor("Select", op.name, op.tensor, reach - op.tensor.addr, spec.source)
    fixed = mode == SELMODE.VSEL_CMPMASK_SPR
    mask_bytes = lanes // 8 if fixed else active.repeats * lanes // 8
    check_tensor("Select", "selMask", sel, mask_bytes, spec.source)
    run: Any = None
    if active.elements:
        unsigned = np.dtype(_UNSIGNED[size])
        indices = tuple(lane_indices(op, active, lanes).reshape(-1) for op in ops)
        arrays = tuple(core.local.typed(unsigned) for _ in ops)
        places = _bit_places(active, lanes) % (lanes if fixed else 1 << 62)
        bits = core.local.ub[sel.addr : sel.addr + mask_bytes]
        run = partial(_select_lanes, arrays, indices, bits, places)
    plan = core.plans[key] = Plan(
        spec,
        "mask",
        [
            operands[0],
            Operand("selMask", READ, "UB", sel.dtype, (Access(sel.addr, mask_bytes),)),
            *operands[1:],
            *_scratch(core, mode),
        ],
        run,
        work=VectorWork(dst.dtype.name, active.repeats, active.elements, False, False),
        details={"selMode": SELMODE(mode).name, "repeatTime": active.repeats, **params._asdict()},
    )
    return plan


publish(Select, _SELECT)
_ = current_core
