"""The scalar in either position, and one element of a tensor as scalar (950).

``Adds(dst, 2.0, src, count)``; ``Subs(dst, src0, src1, count)`` with the first element of ``src1``
as the scalar, or of ``src0`` with ``config=BinaryConfig(0)``. The element is read when the
instruction runs. Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/
基础算术, the pages of Adds to Divs with 灵活标量位置 (free scalar position) in their names.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from simulator.enums import Arch
from simulator.errors import ArgumentError, DTypeError, UnsupportedError
from simulator.instruction import READ, Access, Operand, Plan
from simulator.isa.checks import check_scalar, require_local
from simulator.isa.masks import resolve_mask
from simulator.isa.plans import lanes_of, plan_count, plan_mask
from simulator.isa.rules import Context, ElementRule, Rule
from simulator.tensor import LocalTensor

if TYPE_CHECKING:
    from simulator.core import AICore
    from simulator.instruction import InstructionSpec


class BinaryConfig(NamedTuple):
    """Which of two tensor sources is the scalar: 0 the left, 1 the right one."""

    scalarTensorIndex: int = 1


def refuse_flexible(
    core: AICore, spec: InstructionSpec, left: Any, right: Any, config: Any
) -> NoReturn:
    """Refuse a scalar position or a configuration that the call does not have.

    Raises
    ------
    ArgumentError, UnsupportedError
    """
    if config is not None:
        raise ArgumentError(
            "the call takes no configuration",
            api=spec.name,
            argument="config",
            got=repr(config),
            source=spec.source,
        )
    raise UnsupportedError(
        f"the scalar must be a number behind the tensor on {core.arch.family}",
        api=spec.name,
        got=f"{_kind(left)}, {_kind(right)}",
        legal=f"{spec.name}(dst, src, number, ...)",
        source=spec.source,
    )


def _kind(operand: Any) -> str:
    return f"tensor of {operand.dtype}" if isinstance(operand, LocalTensor) else repr(operand)


def flexible_plan(
    core: AICore,
    spec: InstructionSpec,
    dst: Any,
    left: Any,
    right: Any,
    count: Any,
    repeat_time: Any,
    params: Any,
    is_set_mask: bool,
    config: Any,
) -> tuple[Plan, tuple[Any, ...]]:
    """Return the plan of a call with free scalar position, and its scalar argument if it has one.

    ``count`` is the mask of a mask form.

    Raises
    ------
    ArgumentError, DTypeError, UnsupportedError
    """
    if core.arch is not Arch.DAV_3510:
        refuse_flexible(core, spec, left, right, config)
    index = _scalar_index(spec, left, right, config)
    vector, scalar = (right, left) if index == 0 else (left, right)
    require_local(spec.name, "dst", dst)
    require_local(spec.name, f"src{1 - index}", vector)
    place = scalar._key if isinstance(scalar, LocalTensor) else None
    form: Any = count
    if repeat_time is not None:
        lanes = lanes_of((dst, vector))
        form = resolve_mask(core, spec, count, repeat_time, is_set_mask, lanes), params
    key = (spec.name, "flexible", index, dst._key, vector._key, place, form, core.numeric_mode)
    plan = core.plans.get(key)
    if plan is None:
        swapped = spec if index else _scalar_first(spec)
        if repeat_time is None:
            plan = plan_count(core, swapped, (dst, vector), count)
        else:
            plan = plan_mask(core, swapped, (dst, vector), *form)
        plan.spec = spec
        if isinstance(scalar, LocalTensor):
            _bind_element(core, plan, vector, scalar)
        core.plans[key] = plan
    if isinstance(scalar, LocalTensor):
        return plan, ()
    return plan, (check_scalar(spec, vector.dtype, scalar),)


def _scalar_index(spec: InstructionSpec, left: Any, right: Any, config: Any) -> int:
    if config is None:
        config = BinaryConfig()
    if not isinstance(config, BinaryConfig) or config.scalarTensorIndex not in (0, 1):
        raise ArgumentError(
            "config is not a configuration of this call",
            api=spec.name,
            argument="config",
            got=repr(config),
            legal="BinaryConfig(0) or BinaryConfig(1)",
            source=spec.source,
        )
    tensors = [isinstance(operand, LocalTensor) for operand in (left, right)]
    if not any(tensors):
        raise ArgumentError(
            "one of the two sources must be a tensor",
            api=spec.name,
            got=f"{left!r}, {right!r}",
            legal="a LocalTensor and a scalar, in either order",
            source=spec.source,
        )
    return config.scalarTensorIndex if all(tensors) else tensors.index(False)


def _scalar_first(spec: InstructionSpec) -> InstructionSpec:
    """Return the declaration with a rule ``(out, vector, scalar)`` that puts the scalar first."""
    rule = spec.rule
    if not isinstance(rule, ElementRule):
        raise TypeError(f"{spec.name} has no element rule")

    def build(plain: Rule, context: Context) -> Rule:
        return partial(_swapped, rule.build(plain, context))

    return replace(spec, rule=ElementRule(rule.plain, build, rule.lanes))


def _swapped(rule: Rule, out: Any, vector: Any, scalar: Any) -> None:
    rule(out, scalar, vector)


def _bind_element(core: AICore, plan: Plan, vector: LocalTensor, scalar: LocalTensor) -> None:
    """Make a plan read its scalar from the first element of a tensor."""
    dtype = scalar.dtype
    if dtype is not vector.dtype:
        raise DTypeError(
            "the scalar element must have the type of the vector operand",
            api=plan.spec.name,
            got=f"{dtype} and {vector.dtype}",
            legal=vector.dtype.name,
            source=plan.spec.source,
        )
    if scalar.length < 1:
        raise ArgumentError(
            "the scalar tensor has no element", api=plan.spec.name, got=repr(scalar), legal=">= 1"
        )
    at = scalar.addr // dtype.itemsize
    plan.run = partial(plan.run, core.local.typed(dtype.numpy)[at : at + 1])
    read = Operand("scalar", READ, "UB", dtype, (Access(scalar.addr, dtype.itemsize),))
    plan.operands = (*plan.operands, read)
