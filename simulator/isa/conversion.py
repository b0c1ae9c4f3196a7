"""Cast: conversion between element types.

The legal pairs, the rounding modes and the arithmetic are in ``simulator.numerics``. Source:
mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/类型转换/Cast.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Set
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from simulator.core import FULL_MASK
from simulator.dtypes import (
    DType,
    fp4x2_e1m2_t,
    fp4x2_e2m1_t,
    half,
    int4b_t,
    int32_t,
    uint8_t,
    uint32_t,
)
from simulator.enums import Arch, PipeID, RoundMode
from simulator.errors import ArgumentError, SimulatorError, UnsupportedError
from simulator.instruction import (
    READ,
    REGISTRY,
    WRITE,
    Access,
    InstructionSpec,
    Operand,
    Plan,
    VectorWork,
    describe_dtypes,
)
from simulator.isa.checks import check_count, fail_unless_tensor, require_local, spec_for
from simulator.isa.declarations import FORMS
from simulator.isa.lanes import Active, Strided, bind_strided, check_tensor
from simulator.isa.masks import resolve_mask
from simulator.isa.params import UnaryRepeatParams
from simulator.isa.plans import lanes_of
from simulator.isa.saturation import KEEP_FP8_NAN, SATURATE_FLOAT, TRUNCATE_CAST
from simulator.numerics import cast_rules, caster
from simulator.tensor import LocalTensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from simulator.core import AICore

    Convert = Callable[[Any, Any], None]

_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/类型转换/Cast.md"

PACKED: Final = frozenset((int4b_t, fp4x2_e2m1_t, fp4x2_e1m2_t))
"""Types that hold two elements a byte; Cast counts their elements, not their bytes."""

_ARCHS: Final = (Arch.DAV_2201, Arch.DAV_3510)
_NOTE: Final = "count form only"


class _Pairs(Mapping[Arch, frozenset[Any]]):
    """The legal (dst, src) pairs per architecture, read from the rule table when asked for."""

    def __getitem__(self, arch: Arch) -> frozenset[Any]:
        if arch not in _ARCHS:
            raise KeyError(arch)
        return frozenset((dst, src) for src, dst in cast_rules(arch))

    def __iter__(self) -> Iterator[Arch]:
        return iter(_ARCHS)

    def __len__(self) -> int:
        return len(_ARCHS)


class _CountOnly(Set[tuple[Arch, str]]):
    """The pairs without mask forms as (arch, "dst, src"), read when asked for."""

    def _items(self) -> frozenset[tuple[Arch, str]]:
        return frozenset(
            (arch, describe_dtypes((dst, src)))
            for arch in _ARCHS
            for (src, dst), rule in cast_rules(arch).items()
            if rule.note.startswith(_NOTE)
        )

    def __contains__(self, item: object) -> bool:
        return item in self._items()

    def __iter__(self) -> Iterator[tuple[Arch, str]]:
        return iter(self._items())

    def __len__(self) -> int:
        return len(self._items())


def _cast_rule() -> None:
    """``dst[i] = convert(src[i])`` with the given rounding mode.

    The legal pairs and modes are a table per architecture (``ascsim isa Cast``).
    """


_CAST = REGISTRY.add(
    InstructionSpec(
        name="Cast",
        family="cast",
        pipe=PipeID.PIPE_V,
        dtypes=_Pairs(),
        operands=(("dst", WRITE), ("src", READ)),
        source=_PAGE,
        rule=_cast_rule,
        forms=FORMS,
        count_only=_CountOnly(),
        doc=_cast_rule.__doc__ or "",
        cost_key="Cast",
    )
)


def Cast(
    dst: Any,
    src: Any,
    roundMode: Any,
    count: Any = None,
    repeatTime: Any = None,
    repeatParams: Any = None,
    isSetMask: bool = True,
    *,
    mask: Any = None,
) -> None:
    """``dst[i] = convert(src[i])``, rounded as ``roundMode`` says.

    ``(dst, src, roundMode, count)`` or ``(dst, src, roundMode, mask, repeatTime, repeatParams)``.
    A repeat has 256 / (bytes of the wider type) lanes. int32_t to half multiplies by the scale of
    SetDeqScale. Of int4b_t and the fp4 types two elements share a byte: ``count`` is even and the
    mask bits of a byte are equal.

    Raises
    ------
    UnsupportedError, ArgumentError
        If the pair or its rounding mode is not legal; the message lists what is.

    Source: mirror-cann/asc-devkit …/类型转换/Cast.md and 数据结构/precision_conversion.md.
    """
    try:
        core = dst._core
        key = ("Cast", dst._key, src._key, roundMode, count, core.numeric_mode, core.deq_scale)
    except AttributeError as error:
        raise fail_unless_tensor(error, "Cast", dst, src) from None
    if repeatTime is None:
        plan = core.plans.get(key)
        if plan is None:
            plan = core.plans[key] = counted_cast(
                core, spec_for("Cast", core), dst, src, roundMode, count
            )
        if core.count_resets_mask:
            core.mask = FULL_MASK
            core.counter_mode = False
    else:
        plan = _masked(
            core, dst, src, roundMode, mask if count is None else count, repeatTime,
            repeatParams, isSetMask,
        )  # fmt: skip
    core.issue(plan, (), sys._getframe(1))


Cast.spec = _CAST  # type: ignore[attr-defined]


def converter(
    core: AICore, src: DType, dst: DType, mode: Any, form: str
) -> tuple[RoundMode, Convert]:
    """Return the round mode and ``rule(out, source)`` of one pair under the core's switches.

    Raises
    ------
    UnsupportedError, ArgumentError
    """
    try:
        chosen = RoundMode(mode)
    except ValueError:
        raise ArgumentError(
            "roundMode is no rounding mode",
            api="Cast",
            argument="roundMode",
            got=repr(mode),
            legal=", ".join(f"RoundMode.{m.name}" for m in RoundMode),
        ) from None
    switches = core.numeric_mode
    scale = 1.0
    if src is int32_t and dst is half and core.deq_scale is not None:
        scale = core.deq_scale.half_scale
    try:
        convert = caster(
            core.arch,
            src,
            dst,
            chosen,
            nonsaturating=not switches & SATURATE_FLOAT,
            cast_truncate=bool(switches & TRUNCATE_CAST),
            fp8_nan=bool(switches & KEEP_FP8_NAN),
            scale=scale,
        )
    except SimulatorError as error:
        raise error.with_context(api="Cast", source=_PAGE) from None
    if form != "count" and cast_rules(core.arch)[src, dst].note.startswith(_NOTE):
        raise UnsupportedError(
            f"{src} to {dst} exists in the count form only on {core.arch.family}",
            api="Cast",
            got=f"the {form} form from {src} to {dst}",
            legal="Cast(dst, src, roundMode, count)",
            source=_PAGE,
        )
    return chosen, lambda out, source: convert(source, out)


def _work(dst: DType, src: DType, repeats: int, elements: int, count: bool, core: AICore) -> Any:
    lanes = 256 // max(dst.itemsize, src.itemsize)
    return VectorWork(
        f"{src.name}:{dst.name}",
        repeats,
        elements,
        count and core.count_resets_mask,
        count and elements % lanes > 0,
    )


# -- count form --------------------------------------------------------------------------------


def _stored(dtype: DType, count: int) -> int:
    """Storage elements of ``count`` elements."""
    return count // 2 if dtype in PACKED else count


def counted_cast(
    core: AICore, spec: InstructionSpec, dst: Any, src: Any, mode: Any, count: Any
) -> Plan:
    """Check and bind a count form of ``spec``, whose element rule is that of Cast."""
    for name, tensor in (("dst", dst), ("src", src)):
        require_local(spec.name, name, tensor)
    number = check_count(spec, count)
    _check_even(dst.dtype, src.dtype, "count", number)
    chosen, rule = converter(core, src.dtype, dst.dtype, mode, "count")
    views: list[NDArray[Any]] = []
    operands = []
    for name, role, tensor in (("dst", WRITE, dst), ("src", READ, src)):
        stored = _stored(tensor.dtype, number)
        nbytes = stored * tensor.dtype.itemsize
        check_tensor(spec.name, name, tensor, nbytes, spec.source)
        first = tensor.addr // tensor.dtype.itemsize
        views.append(core.local.typed(tensor.dtype.numpy)[first : first + stored])
        operands.append(Operand(name, role, "UB", tensor.dtype, (Access(tensor.addr, nbytes),)))
    lanes = lanes_of((dst, src))
    run: Any = None
    if number:
        run = partial(rule, *views)
        if _follows(operands[0].accesses[0], operands[1].accesses[0]):
            steps = tuple(_stored(t.dtype, lanes) for t in (dst, src))
            run = partial(_repeat_by_repeat, rule, views, steps)
    return Plan(
        spec,
        "count",
        operands,
        run,
        work=_work(dst.dtype, src.dtype, -(-number // lanes), number, True, core),
        details={"count": number, "roundMode": chosen.name},
    )


def _follows(dst: Access, src: Access) -> bool:
    """Whether a repeat may read what an earlier repeat wrote.

    Narrowing (or equal width) in place reads every source byte before it is written.
    """
    apart = dst.start + dst.inner <= src.start or src.start + src.inner <= dst.start
    return not apart and (dst.start != src.start or dst.inner > src.inner)


def _repeat_by_repeat(rule: Convert, views: list[Any], steps: tuple[int, ...]) -> None:
    out, source = views
    for r in range(-(-len(out) // steps[0])):
        part = source[r * steps[1] : (r + 1) * steps[1]].copy()
        rule(out[r * steps[0] : (r + 1) * steps[0]], part)


# -- mask forms --------------------------------------------------------------------------------


def _masked(
    core: AICore,
    dst: Any,
    src: Any,
    mode: Any,
    mask: Any,
    repeat_time: Any,
    params: Any,
    is_set_mask: bool,
) -> Plan:
    spec = spec_for("Cast", core)
    for name, tensor in (("dst", dst), ("src", src)):
        require_local("Cast", name, tensor)
    lanes = lanes_of((dst, src))
    if is_set_mask and isinstance(mask, int):
        _check_even(dst.dtype, src.dtype, "mask", mask)
    active = resolve_mask(core, spec, mask, repeat_time, is_set_mask, lanes)
    chosen = UnaryRepeatParams() if params is None else params
    key = (
        "Cast", dst._key, src._key, mode, active, chosen, core.numeric_mode, core.deq_scale
    )  # fmt: skip
    plan = core.plans.get(key)
    if plan is None:
        plan = core.plans[key] = masked_cast(core, spec, dst, src, mode, active, chosen)
    return plan


def masked_cast(
    core: AICore,
    spec: InstructionSpec,
    dst: LocalTensor,
    src: LocalTensor,
    mode: Any,
    active: Active,
    params: Any,
) -> Plan:
    """Check and bind a mask form of ``spec``, whose element rule is that of Cast."""
    lanes = lanes_of((dst, src))
    chosen, rule = converter(core, src.dtype, dst.dtype, mode, "mask")
    if not isinstance(params, UnaryRepeatParams):
        raise ArgumentError(
            "repeatParams is of the wrong kind",
            api=spec.name,
            argument="repeatParams",
            got=f"{params!r}",
            legal="UnaryRepeatParams",
        )
    params.check(spec.name)
    (dst_blk, dst_rep), (src_blk, src_rep) = params.strides()
    if dst_blk == 0 and active.elements:
        raise ArgumentError(
            "dstBlkStride 0 is undefined on the device",
            api=spec.name,
            argument="dstBlkStride",
            got=0,
            legal=">= 1",
            source="mirror-cann/asc-devkit docs/zh/api … SIMD计算说明/高维切分.md",
        )
    tensors, units, width, run_rule = (dst, src), active, lanes, rule
    if dst.dtype in PACKED or src.dtype in PACKED:
        tensors = (_in_pairs(dst), _in_pairs(src))
        units, width = _active_pairs(active, dst.dtype, src.dtype), lanes // 2
        run_rule = partial(_unit_rule, rule, dst.dtype, src.dtype)
    operands, run = bind_strided(
        core,
        spec.name,
        (
            Strided("dst", WRITE, tensors[0], dst_blk, dst_rep),
            Strided("src", READ, tensors[1], src_blk, src_rep),
        ),
        units,
        width,
        run_rule,
        spec.source,
    )
    return Plan(
        spec,
        "mask" if active.lanes is None else "bit mask",
        [op._replace(dtype=t.dtype) for op, t in zip(operands, (dst, src), strict=True)],
        run,
        work=_work(dst.dtype, src.dtype, active.repeats, active.elements, False, core),
        details={
            "mask": active.lanes or (active.segments[-1][2] if active.segments else 0),
            "roundMode": chosen.name,
            "repeatTime": active.repeats,
            **params._asdict(),
        },
    )


def _in_pairs(tensor: LocalTensor) -> LocalTensor:
    """Return the tensor with two neighbours as one element: a byte, or a word of 16-bit types."""
    unit = uint8_t if tensor.dtype in PACKED else uint32_t
    return LocalTensor(
        tensor._core, tensor.addr, unit, tensor.nbytes // unit.itemsize, tensor.position
    )


def _unit_rule(rule: Convert, dst: DType, src: DType, out: Any, source: Any) -> None:
    rule(out.view(dst.numpy), source.view(src.numpy))


def _active_pairs(active: Active, dst: DType, src: DType) -> Active:
    """Return the active lanes as pairs of neighbours.

    Raises
    ------
    ArgumentError
        If only one element of a byte is active.
    """
    for _, _, width in active.segments:
        if active.lanes is None:
            _check_even(dst, src, "mask", width)
    segments = tuple((first, count, width // 2) for first, count, width in active.segments)
    if active.lanes is None:
        return Active(segments)
    pairs = tuple(dict.fromkeys(lane // 2 for lane in active.lanes))
    if tuple(lane for pair in pairs for lane in (2 * pair, 2 * pair + 1)) != active.lanes:
        raise ArgumentError(
            "two 4-bit elements share a byte, their mask bits must be equal",
            api="Cast",
            argument="mask",
            got=f"lanes {active.lanes}",
            legal="bits 2k and 2k+1 equal",
            source=_PAGE,
        )
    return Active(segments, pairs)


def _check_even(dst: DType, src: DType, name: str, number: Any) -> None:
    if (dst in PACKED or src in PACKED) and number % 2:
        raise ArgumentError(
            f"two 4-bit elements share a byte, {name} must be even",
            api="Cast",
            argument=name,
            got=number,
            legal="an even number",
            source=_PAGE,
        )
