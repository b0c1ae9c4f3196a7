"""The call forms of the element-wise families, written once.

A *family* owns the shape of a call: ``(dst, src, count)`` and ``(dst, src, mask, repeatTime,
repeatParams)``, the legality checks, the mask state, the byte patterns and the plan cache. An
instruction of the family is then only an element rule ``rule(out, *sources, *scalars)``.

Source of the forms: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算 and
impl/basic_api/dav_c220/kernel_operator_vec_binary_impl.h.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, cast, overload

import numpy as np

from simulator.core import FULL_MASK
from simulator.dtypes import BY_NAME, DType
from simulator.enums import Arch, PipeID
from simulator.errors import ArgumentError, SimulatorError
from simulator.instruction import READ, REGISTRY, UPDATE, WRITE, InstructionSpec, Plan, VectorWork
from simulator.isa.lanes import (
    BLOCK,
    REPEAT,
    Active,
    Strided,
    bind_strided,
    check_tensor,
    dense_operand,
    dense_view,
)
from simulator.isa.params import BinaryRepeatParams, UnaryRepeatParams, check_range
from simulator.isa.saturation import saturating
from simulator.tensor import LocalTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from simulator.core import AICore

    Mask = int | Sequence[int]

MASK_PLACEHOLDER: Final = 0
"""Mask argument of a call with ``isSetMask=False``: the register set by SetVectorMask is used."""

FORMS: Final = ("count", "mask", "bit mask")


class UnaryCall(Protocol):
    """``(dst, src, count)`` or ``(dst, src, mask, repeatTime, repeatParams)``."""

    @overload
    def __call__(self, dst: LocalTensor, src: LocalTensor, count: int) -> None: ...
    @overload
    def __call__(
        self,
        dst: LocalTensor,
        src: LocalTensor,
        mask: Mask,
        repeatTime: int,
        repeatParams: UnaryRepeatParams,
        isSetMask: bool = True,
    ) -> None: ...


class BinaryCall(Protocol):
    """``(dst, src0, src1, count)`` or ``(dst, src0, src1, mask, repeatTime, repeatParams)``."""

    @overload
    def __call__(
        self, dst: LocalTensor, src0: LocalTensor, src1: LocalTensor, count: int
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
    ) -> None: ...


class VectorScalarCall(Protocol):
    """``(dst, src, scalarValue, count)`` or with ``(mask, repeatTime, repeatParams)``."""

    @overload
    def __call__(
        self, dst: LocalTensor, src: LocalTensor, scalarValue: float, count: int
    ) -> None: ...
    @overload
    def __call__(
        self,
        dst: LocalTensor,
        src: LocalTensor,
        scalarValue: float,
        mask: Mask,
        repeatTime: int,
        repeatParams: UnaryRepeatParams,
        isSetMask: bool = True,
    ) -> None: ...


# -- declarations ------------------------------------------------------------------------------


def dtype_table(table: Mapping[Arch, str]) -> dict[Arch, frozenset[Any]]:
    """Turn ``{arch: "half float half:float"}`` into sets of types or tuples of types.

    A plain name means that all operands have that type; ``a:b`` lists them in operand order.
    """
    parsed: dict[Arch, frozenset[Any]] = {}
    for arch, text in table.items():
        entries: list[Any] = []
        for word in text.split():
            names = [BY_NAME[name] for name in word.split(":")]
            entries.append(names[0] if len(names) == 1 else tuple(names))
        parsed[arch] = frozenset(entries)
    return parsed


def declare(
    rule: Callable[..., Any],
    family: str,
    operands: tuple[tuple[str, str], ...],
    dtypes: Mapping[Arch, str],
    source: str,
    *,
    pipe: PipeID = PipeID.PIPE_V,
    forms: tuple[str, ...] = FORMS,
    count_only: Mapping[Arch, str] | None = None,
    constraints: str = "",
    cost: str = "",
    name: str = "",
) -> InstructionSpec:
    """Register the declaration of an instruction whose element rule is ``rule``."""
    only = frozenset(
        (arch, type_name.replace(":", ", "))
        for arch, names in (count_only or {}).items()
        for type_name in names.split()
    )
    return REGISTRY.add(
        InstructionSpec(
            name=name or rule.__name__,
            family=family,
            pipe=pipe,
            dtypes=dtype_table(dtypes),
            operands=operands,
            source=source,
            rule=rule,
            forms=forms,
            count_only=only,
            constraints=constraints,
            doc=rule.__doc__ or "",
            cost_key=cost or name or rule.__name__,
        )
    )


def publish(call: Any, spec: InstructionSpec) -> None:
    """Give the API function of ``spec`` its name and documentation."""
    call.__name__ = call.__qualname__ = spec.name
    call.__module__ = spec.rule.__module__ if spec.rule else __name__
    legal = "\n".join(
        f"    {arch.family}: "
        + "; ".join(sorted(d.name if isinstance(d, DType) else ":".join(x.name for x in d) for d in s))
        for arch, s in spec.dtypes.items()
    )
    call.__doc__ = (
        f"{spec.doc.strip()}\n\nForms: {', '.join(spec.forms)}. Pipe: {spec.pipe.label}.\n\n"
        f"Element types\n-------------\n{legal}\n\nSource: {spec.source}\n"
    )
    call.spec = spec


# -- argument checks ---------------------------------------------------------------------------


def require_local(api: str, name: str, tensor: object) -> LocalTensor:
    """Return ``tensor`` if it is a LocalTensor.

    Raises
    ------
    ArgumentError
    """
    if not isinstance(tensor, LocalTensor):
        raise ArgumentError(
            f"{name} must be a LocalTensor in UB",
            api=api,
            argument=name,
            got=f"{type(tensor).__name__} {tensor!r}",
            legal="LocalTensor",
            fix="take it from a queue (AllocTensor, DeQue) or a TBuf (Get)",
        )
    return tensor


def check_scalar(spec: InstructionSpec, dtype: DType, value: Any, name: str = "scalarValue") -> Any:
    """Return ``value`` as a scalar of the element type.

    Floating-point types round to nearest even; integer types must hold the value exactly.

    Raises
    ------
    ArgumentError
    """
    if isinstance(value, str | bytes | LocalTensor) or not np.isscalar(value):
        if isinstance(value, np.ndarray | np.generic) and np.ndim(value) == 0:
            value = value[()]
        else:
            raise ArgumentError(
                f"{name} must be a number",
                api=spec.name,
                argument=name,
                got=f"{value!r} ({type(value).__name__})",
                legal=f"a scalar of type {dtype.name}",
            )
    if dtype.kind in "fc":
        return dtype.numpy.type(value)
    info = np.iinfo(dtype.numpy)
    whole = int(value)
    if whole != value or not info.min <= whole <= info.max:
        raise ArgumentError(
            f"{name} does not fit {dtype.name}",
            api=spec.name,
            argument=name,
            got=value,
            legal=f"an integer in {info.min}..{info.max}",
        )
    return dtype.numpy.type(whole)


def spec_for(name: str, core: AICore) -> InstructionSpec:
    """Return the declaration of ``name`` for the core's architecture.

    Raises
    ------
    UnsupportedError
        If the instruction exists on other architectures only.
    """
    by_arch = REGISTRY[name]
    spec = by_arch.get(core.arch)
    if spec is None:
        next(iter(by_arch.values())).require(core.arch, None, "count")
        raise AssertionError
    return spec


def check_count(spec: InstructionSpec, count: Any) -> int:
    """Return ``count`` if it is a non-negative integer.

    Raises
    ------
    ArgumentError
    """
    check_range(spec.name, "count", count, 0, 2**31 - 1, spec.source)
    return int(count)


# -- mask forms --------------------------------------------------------------------------------


def resolve_mask(
    core: AICore, spec: InstructionSpec, mask: Any, repeat_time: Any, is_set_mask: bool, lanes: int
) -> Active:
    """Turn the mask argument and the mask state into the lanes that take part.

    Sets the mask register as the device does; the register outlives the call.

    Raises
    ------
    ArgumentError
    """
    check_range(spec.name, "repeatTime", repeat_time, 0, 255, spec.source)
    repeats = int(repeat_time)
    if is_set_mask:
        if isinstance(mask, int | np.integer):
            value = int(mask)
            if value < 0:
                check_range(spec.name, "mask", value, 0, lanes, spec.source)
            core.mask = (value, 0) if core.counter_mode else prefix_mask(min(value, lanes))
        else:
            words = [int(word) for word in mask]
            if len(words) not in (1, 2) or any(not 0 <= w < 1 << 64 for w in words):
                raise ArgumentError(
                    "a bit mask is one or two unsigned 64-bit words, low word first",
                    api=spec.name,
                    argument="mask",
                    got=mask,
                    legal="[low] or [low, high]",
                )
            core.mask = (words[0], words[1] if len(words) == 2 else 0)
    return active_lanes(core, repeats, lanes)


def active_lanes(core: AICore, repeats: int, lanes: int) -> Active:
    """Return the lanes that the present mask state selects for ``repeats`` repeats."""
    low, high = core.mask
    if core.counter_mode:
        full, rest = divmod(low & 0xFFFF_FFFF, lanes)
        segments = [(0, full, lanes)] if full else []
        if rest:
            segments.append((full, 1, rest))
        return Active(tuple(segments))
    bits = (low | high << 64) & ((1 << lanes) - 1)
    width = bits.bit_length()
    if bits == (1 << width) - 1:
        return Active(((0, repeats, width),) if repeats and width else ())
    chosen = tuple(lane for lane in range(lanes) if bits >> lane & 1)
    return Active(((0, repeats, width),) if repeats else (), chosen)


def prefix_mask(width: int) -> tuple[int, int]:
    """Return the register words that enable the first ``width`` lanes."""
    bits = (1 << width) - 1
    return bits & 0xFFFF_FFFF_FFFF_FFFF, bits >> 64


def lanes_of(tensors: Sequence[LocalTensor]) -> int:
    """Return the lanes of one repeat: 256 bytes of the widest operand."""
    return REPEAT // max(t.dtype.itemsize for t in tensors)


# -- building plans ----------------------------------------------------------------------------


def plan_count(
    core: AICore, spec: InstructionSpec, tensors: Sequence[LocalTensor], count: Any
) -> Plan:
    """Check and bind a count form: dense operands of ``count`` elements each."""
    named = [
        (name, role, require_local(spec.name, name, tensor))
        for (name, role), tensor in zip(spec.operands, tensors, strict=True)
    ]
    spec.require(core.arch, _types(named), "count")
    number = check_count(spec, count)
    for name, _, tensor in named:
        check_tensor(spec.name, name, tensor, tensor.dtype.bytes_for(number), spec.source)
    views = [dense_view(core, tensor, number) for _, _, tensor in named]
    rule = _rule(core, spec, named[0][2].dtype)
    lanes = lanes_of([t for _, _, t in named])
    return Plan(
        spec,
        "count",
        [dense_operand(name, role, tensor, number) for name, role, tensor in named],
        partial(rule, *views) if number else None,
        work=VectorWork(
            work_dtype(named), -(-number // lanes), number, core.arch is Arch.DAV_2201, number % lanes > 0
        ),
        details={"count": number},
    )


def plan_mask(
    core: AICore,
    spec: InstructionSpec,
    tensors: Sequence[LocalTensor],
    active: Active,
    params: Any,
) -> Plan:
    """Check and bind a mask form with the strides of ``params``."""
    named = [
        (name, role, require_local(spec.name, name, tensor))
        for (name, role), tensor in zip(spec.operands, tensors, strict=True)
    ]
    spec.require(core.arch, _types(named), "mask")
    if not hasattr(params, "strides"):
        raise ArgumentError(
            "repeatParams is missing or of the wrong kind",
            api=spec.name,
            argument="repeatParams",
            got=f"{params!r}",
            legal="UnaryRepeatParams or BinaryRepeatParams",
        )
    params.check(spec.name)
    strides = params.strides()
    if len(strides) != len(named):
        raise ArgumentError(
            f"repeatParams describes {len(strides)} operands, the call has {len(named)}",
            api=spec.name,
            argument="repeatParams",
            got=type(params).__name__,
            legal="BinaryRepeatParams" if len(named) == 3 else "UnaryRepeatParams",
        )
    if strides[0][0] == 0 and active.elements:
        raise ArgumentError(
            "dstBlkStride 0 is undefined on the device",
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
    rule = _rule(core, spec, named[0][2].dtype)
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


def _types(named: Sequence[tuple[str, str, LocalTensor]]) -> Any:
    types = tuple(t.dtype for _, _, t in named)
    return types[0] if all(t is types[0] for t in types) else types


def work_dtype(named: Sequence[tuple[str, str, LocalTensor]]) -> str:
    """Return the element-type key of a cost row: one name, or ``src:dst`` for mixed widths."""
    dst, src = named[0][2].dtype, named[-1][2].dtype
    return dst.name if dst is src else f"{src.name}:{dst.name}"


def _rule(core: AICore, spec: InstructionSpec, dst: DType) -> Callable[..., Any]:
    if spec.rule is None:
        raise ArgumentError("the instruction has no element rule", api=spec.name)
    return saturating(spec.rule, dst, core.numeric_mode) if core.numeric_mode else spec.rule


def fail_unless_tensor(error: AttributeError, spec_name: str, *tensors: object) -> SimulatorError:
    """Explain an attribute error that comes from an argument that is no tensor."""
    for tensor in tensors:
        require_local(spec_name, "operand", tensor)
    raise error


# -- the families ------------------------------------------------------------------------------


def unary(
    dtypes: Mapping[Arch, str], source: str, **options: Any
) -> Callable[[Callable[..., Any]], UnaryCall]:
    """Declare ``dst[i] = f(src[i])`` calls; the rule is ``f(out, src)``."""

    def decorate(rule: Callable[..., Any]) -> UnaryCall:
        spec = declare(rule, "unary", (("dst", WRITE), ("src", READ)), dtypes, source, **options)
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
        ) -> None:
            try:
                core = dst._core
                key = (name, dst._key, src._key, count, core.numeric_mode)
            except AttributeError as error:
                raise fail_unless_tensor(error, name, dst, src) from None
            if repeatTime is None:
                plan = core.plans.get(key)
                if plan is None:
                    plan = plan_count(core, spec_for(name, core), (dst, src), count)
                    core.plans[key] = plan
                if core.count_resets_mask:
                    core.mask = FULL_MASK
                    core.counter_mode = False
            else:
                plan = masked_plan(
                    core, name, (dst, src), mask if count is None else count, repeatTime,
                    repeatParams or UnaryRepeatParams(), isSetMask,
                )
            core.issue(plan, (), sys._getframe(1))

        publish(call, spec)
        return cast("UnaryCall", call)

    return decorate


def binary(
    dtypes: Mapping[Arch, str],
    source: str,
    *,
    dst_role: str = WRITE,
    **options: Any,
) -> Callable[[Callable[..., Any]], BinaryCall]:
    """Declare ``dst[i] = f(src0[i], src1[i])`` calls; the rule is ``f(out, src0, src1)``.

    ``dst_role=UPDATE`` is for calls that also read the old content of ``dst``.
    """
    operands = (("dst", dst_role), ("src0", READ), ("src1", READ))

    def decorate(rule: Callable[..., Any]) -> BinaryCall:
        spec = declare(rule, "binary", operands, dtypes, source, **options)
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
        ) -> None:
            try:
                core = dst._core
                key = (name, dst._key, src0._key, src1._key, count, core.numeric_mode)
            except AttributeError as error:
                raise fail_unless_tensor(error, name, dst, src0, src1) from None
            if repeatTime is None:
                plan = core.plans.get(key)
                if plan is None:
                    plan = plan_count(core, spec_for(name, core), (dst, src0, src1), count)
                    core.plans[key] = plan
                if core.count_resets_mask:
                    core.mask = FULL_MASK
                    core.counter_mode = False
            else:
                plan = masked_plan(
                    core, name, (dst, src0, src1), mask if count is None else count, repeatTime,
                    repeatParams or BinaryRepeatParams(), isSetMask,
                )
            core.issue(plan, (), sys._getframe(1))

        publish(call, spec)
        return cast("BinaryCall", call)

    return decorate


def vector_scalar(
    dtypes: Mapping[Arch, str],
    source: str,
    *,
    dst_role: str = WRITE,
    scalar_dtype: Callable[[LocalTensor, LocalTensor], DType] | None = None,
    **options: Any,
) -> Callable[[Callable[..., Any]], VectorScalarCall]:
    """Declare ``dst[i] = f(src[i], scalar)`` calls; the rule is ``f(out, src, scalar)``.

    The scalar takes the element type of ``src`` unless ``scalar_dtype`` says otherwise.
    """
    operands = (("dst", dst_role), ("src", READ))

    def decorate(rule: Callable[..., Any]) -> VectorScalarCall:
        spec = declare(rule, "vector-scalar", operands, dtypes, source, **options)
        name = spec.name

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
        ) -> None:
            try:
                core = dst._core
                key = (name, dst._key, src._key, count, core.numeric_mode)
            except AttributeError as error:
                raise fail_unless_tensor(error, name, dst, src) from None
            if repeatTime is None:
                plan = core.plans.get(key)
                if plan is None:
                    plan = plan_count(core, spec_for(name, core), (dst, src), count)
                    core.plans[key] = plan
                if core.count_resets_mask:
                    core.mask = FULL_MASK
                    core.counter_mode = False
            else:
                plan = masked_plan(
                    core, name, (dst, src), mask if count is None else count, repeatTime,
                    repeatParams or UnaryRepeatParams(), isSetMask,
                )
            scalar = plan.scalars.get(scalarValue) if type(scalarValue) is float else None
            if scalar is None:
                dtype = src.dtype if scalar_dtype is None else scalar_dtype(dst, src)
                scalar = check_scalar(plan.spec, dtype, scalarValue)
                plan.remember(scalarValue, scalar)
            core.issue(plan, (scalar,), sys._getframe(1))

        publish(call, spec)
        return cast("VectorScalarCall", call)

    return decorate


def masked_plan(
    core: AICore,
    name: str,
    tensors: Sequence[LocalTensor],
    mask: Any,
    repeat_time: Any,
    params: Any,
    is_set_mask: bool,
) -> Plan:
    """Return the plan of a mask form, from the cache when an equal call was made before."""
    spec = spec_for(name, core)
    for (label, _), tensor in zip(spec.operands, tensors, strict=True):
        require_local(name, label, tensor)
    active = resolve_mask(core, spec, mask, repeat_time, is_set_mask, lanes_of(tensors))
    key = (name, tuple(t._key for t in tensors), active, params, core.numeric_mode)
    plan = core.plans.get(key)
    if plan is None:
        plan = core.plans[key] = plan_mask(core, spec, tensors, active, params)
    return plan
