"""Prepared calls of the element-wise families: checked, bound to memory, and sized for timing."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from simulator.errors import ArgumentError, UnsupportedError
from simulator.instruction import Plan, VectorWork
from simulator.isa.checks import check_count, require_local, spec_for
from simulator.isa.lanes import (
    BLOCK,
    REPEAT,
    Active,
    Strided,
    bind_strided,
    check_tensor,
    dense_operand,
    dense_view,
    overlaps_partly,
)
from simulator.isa.masks import asked_for, counted, resolve_mask
from simulator.isa.params import UnaryRepeatParams
from simulator.isa.rules import Context, ElementRule, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.core import AICore
    from simulator.instruction import InstructionSpec
    from simulator.tensor import LocalTensor

    Named = list[tuple[str, str, LocalTensor]]


def lanes_of(tensors: Sequence[LocalTensor]) -> int:
    """Return the lanes of one repeat: 256 bytes of the widest operand."""
    return REPEAT // max(t.dtype.itemsize for t in tensors)


def dense_strides(dst: LocalTensor, src: LocalTensor) -> UnaryRepeatParams:
    """Return the strides of a count form: consecutive elements of both operands."""
    lanes = lanes_of((dst, src))
    return UnaryRepeatParams(
        1, 1, lanes * dst.dtype.itemsize // BLOCK, lanes * src.dtype.itemsize // BLOCK
    )


def work_dtype(named: Sequence[tuple[str, str, LocalTensor]]) -> str:
    """Return the element-type key of a cost row: one name, or ``src:dst`` for mixed types."""
    dst, src = named[0][2].dtype, named[-1][2].dtype
    return dst.name if dst is src else f"{src.name}:{dst.name}"


def bound_rule(
    core: AICore, spec: InstructionSpec, tensors: Sequence[LocalTensor], algo: Any = None
) -> Rule:
    """Return the element rule of ``spec`` for the element types and the mode of this call.

    Raises
    ------
    ArgumentError
        If the declaration has no rule.
    """
    rule = spec.rule
    if rule is None:
        raise ArgumentError("the instruction has no element rule", api=spec.name)
    if isinstance(rule, ElementRule):
        context = Context(core.arch, tuple(t.dtype for t in tensors), core.numeric_mode, algo)
        return rule.bind(context)
    return rule


def plan_count(
    core: AICore,
    spec: InstructionSpec,
    tensors: Sequence[LocalTensor],
    count: Any,
    *,
    algo: Any = None,
) -> Plan:
    """Check and bind a count form: dense operands of ``count`` elements each."""
    named = _named(core, spec, tensors, "count")
    number = check_count(spec, count)
    for name, _, tensor in named:
        check_tensor(spec.name, name, tensor, tensor.dtype.bytes_for(number), spec.source)
    lanes = lanes_of([t for _, _, t in named])
    rule = bound_rule(core, spec, [t for _, _, t in named], algo)
    return Plan(
        spec,
        "count",
        [dense_operand(name, role, tensor, number) for name, role, tensor in named],
        _run_dense(core, spec, named, number, lanes, rule) if number else None,
        work=VectorWork(
            work_dtype(named),
            -(-number // lanes),
            number,
            core.count_resets_mask,
            number % lanes > 0,
        ),
        details={"count": number},
    )


def _run_dense(
    core: AICore, spec: InstructionSpec, named: Named, number: int, lanes: int, rule: Rule
) -> Rule:
    """Bind a count form; repeats follow each other only where operands overlap partly."""
    ops = [
        Strided(name, role, tensor, 1, lanes * tensor.dtype.itemsize // BLOCK)
        for name, role, tensor in named
    ]
    active = counted(number, lanes)
    if any(overlaps_partly(ops[0], op, active) for op in ops[1:]):
        return bind_strided(core, spec.name, ops, active, lanes, rule, spec.source)[1]
    return partial(rule, *(dense_view(core, tensor, number) for _, _, tensor in named))


def plan_mask(
    core: AICore,
    spec: InstructionSpec,
    tensors: Sequence[LocalTensor],
    active: Active,
    params: Any,
    *,
    algo: Any = None,
) -> Plan:
    """Check and bind a mask form with the strides of ``params``."""
    named = _named(core, spec, tensors, "mask")
    strides = _strides(spec, params, len(named))
    if strides[0][0] == 0 and active.elements:
        raise ArgumentError(
            "a destination block stride of 0 is undefined on the device",
            api=spec.name,
            argument="dstBlkStride",
            got=0,
            legal=">= 1",
            source="mirror-cann/asc-devkit docs/zh/api … SIMD计算说明/高维切分.md",
        )
    lanes = lanes_of([t for _, _, t in named])
    ops = [
        Strided(name, role, tensor, blk, rep)
        for (name, role, tensor), (blk, rep) in zip(named, strides, strict=True)
    ]
    rule = bound_rule(core, spec, [t for _, _, t in named], algo)
    operands, run = bind_strided(core, spec.name, ops, active, lanes, rule, spec.source)
    return Plan(
        spec,
        "mask" if active.lanes is None else "bit mask",
        operands,
        run,
        work=VectorWork(work_dtype(named), active.repeats, active.elements, False, False),
        details={
            "mask": active.lanes or (active.segments[-1][2] if active.segments else 0),
            "repeatTime": active.repeats,
            **params._asdict(),
        },
    )


def masked_plan(
    core: AICore,
    name: str,
    tensors: Sequence[LocalTensor],
    mask: Any,
    repeat_time: Any,
    params: Any,
    is_set_mask: bool,
    *,
    algo: Any = None,
    spec: InstructionSpec | None = None,
) -> Plan:
    """Return the plan of a mask form, from the cache when an equal call was made before."""
    spec = spec or spec_for(name, core)
    for (label, _), tensor in zip(spec.operands, tensors, strict=True):
        require_local(name, label, tensor)
    active = resolve_mask(core, spec, mask, repeat_time, is_set_mask, lanes_of(tensors))
    asked = asked_for(core, mask, repeat_time, is_set_mask)
    key = (name, tuple(t._key for t in tensors), active, params, core.numeric_mode, algo, asked)
    plan = core.plans.get(key)
    if plan is None:
        plan = core.plans[key] = plan_mask(core, spec, tensors, active, params, algo=algo)
        if asked is not None:
            plan.details = {**plan.details, "asked": asked}
    return plan


def _named(core: AICore, spec: InstructionSpec, tensors: Sequence[LocalTensor], form: str) -> Named:
    """Return the operands with their names and roles, in the type that the call computes in."""
    named = [
        (name, role, require_local(spec.name, name, tensor))
        for (name, role), tensor in zip(spec.operands, tensors, strict=True)
    ]
    types = tuple(t.dtype for _, _, t in named)
    if form not in spec.forms:
        raise UnsupportedError(
            f"has no {form} form",
            api=spec.name,
            got=f"the {form} form",
            legal=f"the {' or '.join(spec.forms)} form",
            source=spec.source,
        )
    spec.require(core.arch, types[0] if all(t is types[0] for t in types) else types, form)
    lanes = spec.rule.lanes if isinstance(spec.rule, ElementRule) else {}
    return [
        (name, role, t.ReinterpretCast(real) if (real := lanes.get((core.arch, t.dtype))) else t)
        for name, role, t in named
    ]


def _strides(spec: InstructionSpec, params: Any, operands: int) -> tuple[tuple[int, int], ...]:
    legal = "BinaryRepeatParams" if operands == 3 else "UnaryRepeatParams"
    if not hasattr(params, "strides"):
        raise ArgumentError(
            "repeatParams is missing or of the wrong kind",
            api=spec.name,
            argument="repeatParams",
            got=f"{params!r}",
            legal=legal,
        )
    params.check(spec.name)
    strides: tuple[tuple[int, int], ...] = params.strides()
    if len(strides) != operands:
        raise ArgumentError(
            f"repeatParams describes {len(strides)} operands, the call has {operands}",
            api=spec.name,
            argument="repeatParams",
            got=type(params).__name__,
            legal=legal,
        )
    return strides
