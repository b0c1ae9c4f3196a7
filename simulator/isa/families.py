"""The call forms of the element-wise families, written once.

A *family* owns the shape of a call: ``(dst, src, count)`` and ``(dst, src, mask, repeatTime,
repeatParams)``, the legality checks, the mask state, the byte patterns and the plan cache. An
instruction of the family is then only an element rule ``rule(out, *sources, *scalars)``.

Source of the forms: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算 and
impl/basic_api/dav_c220/kernel_operator_vec_binary_impl.h.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol, TypeVar, cast, overload

from simulator.core import FULL_MASK
from simulator.dtypes import DType
from simulator.enums import Arch
from simulator.instruction import READ, REGISTRY, UPDATE, WRITE, InstructionSpec
from simulator.isa.algorithms import algorithm
from simulator.isa.checks import (
    check_count,
    check_scalar,
    fail_unless_tensor,
    require_local,
    spec_for,
)
from simulator.isa.declarations import FORMS, declare, dtype_table, publish
from simulator.isa.flexible_scalar import flexible_plan, refuse_flexible
from simulator.isa.masks import MASK_PLACEHOLDER, active_lanes, prefix_mask, resolve_mask
from simulator.isa.params import BinaryRepeatParams, UnaryRepeatParams
from simulator.isa.plans import (
    dense_strides,
    lanes_of,
    masked_plan,
    plan_count,
    plan_mask,
    work_dtype,
)
from simulator.isa.rules import Build, ElementRule, Rule, saturated
from simulator.tensor import LocalTensor

__all__ = [
    "FORMS",
    "MASK_PLACEHOLDER",
    "UPDATE",
    "Mask",
    "active_lanes",
    "also",
    "binary",
    "check_count",
    "check_scalar",
    "declare",
    "dtype_table",
    "fail_unless_tensor",
    "lanes_of",
    "masked_plan",
    "plan_count",
    "plan_mask",
    "prefix_mask",
    "publish",
    "require_local",
    "resolve_mask",
    "spec_for",
    "unary",
    "vector_scalar",
    "work_dtype",
]

Mask = int | Sequence[int]

Lanes = Mapping[tuple[Arch, DType], DType]

Call = TypeVar("Call", bound=Callable[..., Any])


class UnaryCall(Protocol):
    """``(dst, src, count)`` or ``(dst, src, mask, repeatTime, repeatParams)``."""

    @overload
    def __call__(
        self, dst: LocalTensor, src: LocalTensor, count: int, *, config: Any = None
    ) -> None: ...
    @overload
    def __call__(
        self,
        dst: LocalTensor,
        src: LocalTensor,
        mask: Mask,
        repeatTime: int,
        repeatParams: UnaryRepeatParams,
        isSetMask: bool = True,
        *,
        config: Any = None,
    ) -> None: ...


class BinaryCall(Protocol):
    """``(dst, src0, src1, count)`` or ``(dst, src0, src1, mask, repeatTime, repeatParams)``."""

    @overload
    def __call__(
        self,
        dst: LocalTensor,
        src0: LocalTensor,
        src1: LocalTensor,
        count: int,
        *,
        config: Any = None,
    ) -> None: ...
    @overload
    def __call__(
        self,
        dst: LocalTensor,
        src0: LocalTensor,
        src1: LocalTensor,
        mask: Mask,
        repeatTime: int,
        repeatParams: BinaryRepeatParams,
        isSetMask: bool = True,
        *,
        config: Any = None,
    ) -> None: ...


class VectorScalarCall(Protocol):
    """``(dst, src, scalarValue, count)`` or with ``(mask, repeatTime, repeatParams)``.

    On 950 the calls that say so also take the scalar first, or one element of a tensor as scalar.
    """

    @overload
    def __call__(
        self,
        dst: LocalTensor,
        src: LocalTensor | complex,
        scalarValue: LocalTensor | complex,
        count: int,
        *,
        isSetMask: bool = True,
        config: Any = None,
    ) -> None: ...
    @overload
    def __call__(
        self,
        dst: LocalTensor,
        src: LocalTensor | complex,
        scalarValue: LocalTensor | complex,
        mask: Mask,
        repeatTime: int,
        repeatParams: UnaryRepeatParams,
        isSetMask: bool = True,
        *,
        config: Any = None,
    ) -> None: ...


_UNARY: Final = (("dst", WRITE), ("src", READ))


def also(
    call: Call,
    dtypes: Mapping[Arch, str],
    *,
    build: Build = saturated,
    lanes: Lanes | None = None,
) -> Callable[[Rule], Call]:
    """Declare the same call with another rule for further architectures; returns ``call``.

    Family, operands, forms and source are those of the first declaration.
    """

    def decorate(rule: Rule) -> Call:
        first: InstructionSpec = cast("Any", call).spec
        spec = replace(
            first,
            dtypes=dtype_table(dtypes),
            rule=ElementRule(rule, build, lanes),
            doc=rule.__doc__ or "",
        )
        REGISTRY.add(spec)
        publish(call, first)
        return call

    return decorate


def unary(
    dtypes: Mapping[Arch, str],
    source: str,
    *,
    build: Build = saturated,
    lanes: Lanes | None = None,
    **options: Any,
) -> Callable[[Rule], UnaryCall]:
    """Declare ``dst[i] = f(src[i])`` calls; the rule is ``f(out, src)``."""

    def decorate(rule: Rule) -> UnaryCall:
        spec = declare(ElementRule(rule, build, lanes), "unary", _UNARY, dtypes, source, **options)
        name = spec.name

        def call(
            dst: Any,
            src: Any,
            count: Any = None,
            repeatTime: Any = None,
            repeatParams: Any = None,
            isSetMask: bool = True,
            *,
            mask: Any = None,
            config: Any = None,
        ) -> None:
            try:
                core = dst._core
                key = (name, dst._key, src._key, count, core.numeric_mode, config)
            except AttributeError as error:
                raise fail_unless_tensor(error, name, dst, src) from None
            if repeatTime is None:
                plan = core.plans.get(key)
                if plan is None:
                    chosen, algo = algorithm(spec_for(name, core), core, (dst, src), config)
                    plan = plan_count(core, chosen, (dst, src), count, algo=algo)
                    core.plans[key] = plan
                if core.count_resets_mask:
                    core.mask = FULL_MASK
                    core.counter_mode = False
            else:
                chosen, algo = algorithm(spec_for(name, core), core, (dst, src), config)
                plan = masked_plan(
                    core, name, (dst, src), mask if count is None else count, repeatTime,
                    repeatParams or UnaryRepeatParams(), isSetMask, algo=algo, spec=chosen,
                )  # fmt: skip
            core.issue(plan, (), sys._getframe(1))

        publish(call, spec)
        return cast("UnaryCall", call)

    return decorate


def binary(
    dtypes: Mapping[Arch, str],
    source: str,
    *,
    dst_role: str = WRITE,
    build: Build = saturated,
    lanes: Lanes | None = None,
    **options: Any,
) -> Callable[[Rule], BinaryCall]:
    """Declare ``dst[i] = f(src0[i], src1[i])`` calls; the rule is ``f(out, src0, src1)``.

    ``dst_role=UPDATE`` is for calls that also read the old content of ``dst``.
    """
    operands = (("dst", dst_role), ("src0", READ), ("src1", READ))

    def decorate(rule: Rule) -> BinaryCall:
        spec = declare(
            ElementRule(rule, build, lanes), "binary", operands, dtypes, source, **options
        )
        name = spec.name

        def call(
            dst: Any,
            src0: Any,
            src1: Any,
            count: Any = None,
            repeatTime: Any = None,
            repeatParams: Any = None,
            isSetMask: bool = True,
            *,
            mask: Any = None,
            config: Any = None,
        ) -> None:
            try:
                core = dst._core
                key = (name, dst._key, src0._key, src1._key, count, core.numeric_mode, config)
            except AttributeError as error:
                raise fail_unless_tensor(error, name, dst, src0, src1) from None
            if repeatTime is None:
                plan = core.plans.get(key)
                if plan is None:
                    tensors = (dst, src0, src1)
                    chosen, algo = algorithm(spec_for(name, core), core, tensors, config)
                    plan = plan_count(core, chosen, tensors, count, algo=algo)
                    core.plans[key] = plan
                if core.count_resets_mask:
                    core.mask = FULL_MASK
                    core.counter_mode = False
            else:
                tensors = (dst, src0, src1)
                chosen, algo = algorithm(spec_for(name, core), core, tensors, config)
                plan = masked_plan(
                    core, name, tensors, mask if count is None else count, repeatTime,
                    repeatParams or BinaryRepeatParams(), isSetMask, algo=algo, spec=chosen,
                )  # fmt: skip
            core.issue(plan, (), sys._getframe(1))

        publish(call, spec)
        return cast("BinaryCall", call)

    return decorate


def vector_scalar(
    dtypes: Mapping[Arch, str],
    source: str,
    *,
    dst_role: str = WRITE,
    build: Build = saturated,
    lanes: Lanes | None = None,
    flexible: bool = False,
    **options: Any,
) -> Callable[[Rule], VectorScalarCall]:
    """Declare ``dst[i] = f(src[i], scalar)`` calls; the rule is ``f(out, left, right)``.

    The scalar takes the element type of ``src``. ``flexible`` calls accept it in either position
    on 950, also as one element of a tensor.
    """
    operands = (("dst", dst_role), ("src", READ))

    def decorate(rule: Rule) -> VectorScalarCall:
        declared = declare(
            ElementRule(rule, build, lanes), "vector-scalar", operands, dtypes, source, **options
        )
        name = declared.name

        def call(
            dst: Any,
            src: Any,
            scalarValue: Any,
            count: Any = None,
            repeatTime: Any = None,
            repeatParams: Any = None,
            isSetMask: bool = True,
            *,
            mask: Any = None,
            config: Any = None,
        ) -> None:
            kind = type(scalarValue)
            try:
                core = dst._core
                key = (name, dst._key, src._key, count, core.numeric_mode)
            except AttributeError as error:
                if not flexible or not isinstance(dst, LocalTensor):
                    raise fail_unless_tensor(error, name, dst, src) from None
                core, key, kind = dst._core, (name, 0, 0, count, 0), LocalTensor
            if kind is LocalTensor or config is not None:
                spec = spec_for(name, core)
                if not flexible:
                    refuse_flexible(core, spec, src, scalarValue, config)
                plan, params = flexible_plan(
                    core, spec, dst, src, scalarValue,
                    mask if count is None else count, repeatTime,
                    repeatParams or UnaryRepeatParams(), isSetMask, config,
                )  # fmt: skip
                core.issue(plan, params, sys._getframe(1))
                return
            if repeatTime is None and isSetMask:
                plan = core.plans.get(key)
                if plan is None:
                    plan = plan_count(core, spec_for(name, core), (dst, src), count)
                    core.plans[key] = plan
                if core.count_resets_mask:
                    core.mask = FULL_MASK
                    core.counter_mode = False
            else:
                # A count form without isSetMask is one repeat under the mask register
                # (掩码.md shows it for both architectures).
                if repeatTime is None:
                    repeatTime, repeatParams = 1, dense_strides(dst, src)
                plan = masked_plan(
                    core, name, (dst, src), mask if count is None else count, repeatTime,
                    repeatParams or UnaryRepeatParams(), isSetMask,
                )  # fmt: skip
            scalar = plan.scalars.get(scalarValue) if kind is float else None
            if scalar is None:
                scalar = check_scalar(plan.spec, src.dtype, scalarValue)
                plan.remember(scalarValue, scalar)
            core.issue(plan, (scalar,), sys._getframe(1))

        publish(call, declared)
        return cast("VectorScalarCall", call)

    return decorate
