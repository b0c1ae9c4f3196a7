"""Gather, Gatherb and Scatter: elements or blocks at byte offsets that a tensor holds.

Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/离散与聚合 (Gather.md,
Gatherb(ISASI).md, Scatter(ISASI).md), impl/basic_api/kernel_operator_vec_gather_intf_impl.h.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.core import FULL_MASK
from simulator.dtypes import uint32_t
from simulator.enums import Arch
from simulator.errors import AlignmentError, ArgumentError, DTypeError, OutOfBoundsError
from simulator.instruction import READ, WRITE, Access, Operand, Plan, VectorWork
from simulator.isa.blocks import UNSIGNED, as_params
from simulator.isa.families import (
    check_count,
    declare,
    fail_unless_tensor,
    prefix_mask,
    publish,
    require_local,
    resolve_mask,
    spec_for,
)
from simulator.isa.lanes import BLOCK, REPEAT, Active, Strided, check_tensor, strided_operand
from simulator.isa.params import check_range
from simulator.isa.rearrange_params import GatherRepeatParams

if TYPE_CHECKING:
    from types import FrameType

    from numpy.typing import NDArray

    from simulator.core import AICore
    from simulator.instruction import InstructionSpec
    from simulator.tensor import LocalTensor

_PAGE: Final = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/离散与聚合/{}.md"

_TYPES_910B = "int16_t uint16_t half bfloat16_t int32_t uint32_t float"
_TYPES_950 = (
    "int8_t uint8_t int16_t uint16_t half bfloat16_t int32_t uint32_t float int64_t uint64_t"
)


def _gather_rule() -> None:
    """``dst[i] = src[(srcBaseAddr + srcOffset[i]) / sizeof(T)]``, offsets in bytes.

    ``src`` and ``dst`` must not share memory. Offsets lie one behind the other for all lanes of a
    repeat, masked or not.
    """


def _scatter_rule() -> None:
    """``dst[(dstBaseAddr + dstOffset[i]) / sizeof(T)] = src[i]``.

    Offsets are in bytes and all different.
    """


_GATHER = declare(
    _gather_rule,
    "gather",
    (("dst", WRITE), ("src", READ)),
    {Arch.DAV_2201: _TYPES_910B, Arch.DAV_3510: _TYPES_950},
    _PAGE.format("Gather"),
    count_only={Arch.DAV_3510: "int8_t uint8_t"},
    name="Gather",
)
_SCATTER = declare(
    _scatter_rule,
    "gather",
    (("dst", WRITE), ("src", READ)),
    {Arch.DAV_3510: _TYPES_950},
    _PAGE.format("Scatter(ISASI)"),
    count_only={Arch.DAV_3510: "int8_t uint8_t"},
    name="Scatter",
)


class _Call(NamedTuple):
    """``dense`` is the operand in lane order, ``spread`` the one at offsets from ``base`` bytes."""

    spec: InstructionSpec
    dense: tuple[str, Any]
    spread: tuple[str, Any]
    offset: tuple[str, Any]
    base_name: str
    base: Any


def Gather(
    dst: Any,
    src: Any,
    srcOffset: Any,
    srcBaseAddr: Any,
    count: Any = None,
    repeatTime: Any = None,
    dstRepStride: Any = 8,
    *,
    mask: Any = None,
) -> None:
    """Collect elements; ``(dst, src, srcOffset, srcBaseAddr, mask, repeatTime, dstRepStride)``."""
    tensors = (dst, src, srcOffset)
    chosen = mask if count is None else count
    _issue("Gather", tensors, srcBaseAddr, chosen, repeatTime, dstRepStride, sys._getframe(1))


def Scatter(
    dst: Any,
    src: Any,
    dstOffset: Any,
    dstBaseAddr: Any,
    count: Any = None,
    repeatTime: Any = None,
    srcRepStride: Any = 8,
    *,
    mask: Any = None,
) -> None:
    """Spread elements; ``(dst, src, dstOffset, dstBaseAddr, mask, repeatTime, srcRepStride)``."""
    tensors = (dst, src, dstOffset)
    chosen = mask if count is None else count
    _issue("Scatter", tensors, dstBaseAddr, chosen, repeatTime, srcRepStride, sys._getframe(1))


publish(Gather, _GATHER)
publish(Scatter, _SCATTER)


def _issue(
    name: str,
    tensors: tuple[Any, Any, Any],
    base: Any,
    amount: Any,
    repeat_time: Any,
    rep_stride: Any,
    frame: FrameType,
) -> None:
    try:
        core = tensors[0]._core
        keys = tuple(t._key for t in tensors)
    except AttributeError as error:
        raise fail_unless_tensor(error, name, *tensors) from None
    spec = spec_for(name, core)
    size = tensors[0].dtype.itemsize
    lanes = REPEAT // size
    if repeat_time is None:
        number = check_count(spec, amount)
        form, active = "count", _counted(core, spec, number, lanes)
        rep_stride = 8
        if core.arch is Arch.DAV_2201 and number:
            core.mask = prefix_mask(number % lanes or lanes)
    else:
        active = resolve_mask(core, spec, amount, repeat_time, True, lanes)
        form = "mask" if active.lanes is None else "bit mask"
        check_range(name, "repStride", rep_stride, 0, 65535 if name == "Gather" else 255)
    key = (name, *keys, base, active, rep_stride)
    plan = core.plans.get(key)
    if plan is None:
        call = _call(core, spec, tensors, base, form)
        plan = core.plans[key] = _plan(core, call, form, active, int(rep_stride))
    core.issue(plan, (), frame)


def _counted(core: AICore, spec: InstructionSpec, number: int, lanes: int) -> Active:
    """Return the lanes of a count form; the library of the 910B counts repeats in 8 bits."""
    full, rest = divmod(number, lanes)
    if core.arch is Arch.DAV_2201 and full > 255:
        if core.strict:
            raise ArgumentError(
                f"the count form gathers at most {256 * lanes - 1} elements; a board leaves out "
                f"{full // 256 * 256} repeats",
                api=spec.name,
                argument="count",
                got=number,
                legal=f"0..{256 * lanes - 1}",
                fix="split the call",
                source=spec.source,
            )
        segments = ((0, full % 256, lanes),) if full % 256 else ()
    else:
        segments = ((0, full, lanes),) if full else ()
    return Active((*segments, (full, 1, rest)) if rest else segments)


def _call(
    core: AICore, spec: InstructionSpec, tensors: tuple[Any, Any, Any], base: Any, form: str
) -> _Call:
    dst, src, offset = tensors
    name = spec.name
    gathers = name == "Gather"
    labels = ("srcOffset", "srcBaseAddr") if gathers else ("dstOffset", "dstBaseAddr")
    types = dst.dtype if dst.dtype is src.dtype else (dst.dtype, src.dtype)
    spec.require(core.arch, types, form)
    _require_offsets(name, labels[0], offset, spec)
    ends = (("dst", dst), ("src", src)) if gathers else (("src", src), ("dst", dst))
    check_range(name, labels[1], base, 0, 2**32 - 1, spec.source)
    size, whole = dst.dtype.itemsize, ends[1][1].nbytes
    if base % size or base >= max(whole, 1):
        raise ArgumentError(
            f"{labels[1]} is not the byte address of an element of {ends[1][0]}",
            api=name,
            argument=labels[1],
            got=base,
            legal=f"a multiple of {size} below {whole}",
            source=spec.source,
        )
    return _Call(spec, *ends, (labels[0], offset), labels[1], int(base))


def _require_offsets(api: str, name: str, offset: Any, spec: InstructionSpec) -> None:
    if require_local(api, name, offset).dtype is not uint32_t:
        raise DTypeError(
            f"{name} holds byte offsets",
            api=api,
            argument=name,
            got=offset.dtype.name,
            legal="uint32_t",
            source=spec.source,
        )


def _plan(core: AICore, call: _Call, form: str, active: Active, rep_stride: int) -> Plan:
    spec, (dense_name, dense), (spread_name, spread) = call.spec, call.dense, call.spread
    size = dense.dtype.itemsize
    lanes = REPEAT // size
    gathers = spec.name == "Gather"
    roles = (WRITE, READ) if gathers else (READ, WRITE)
    strided = strided_operand(Strided(dense_name, roles[0], dense, 1, rep_stride), active, lanes)
    reach = max((a.span()[1] for a in strided.accesses), default=dense.addr)
    check_tensor(spec.name, dense_name, dense, reach - dense.addr, spec.source)
    check_tensor(spec.name, spread_name, spread, 0, spec.source)
    places = _places(active, lanes)
    name, offset = call.offset
    used = int(places[-1]) + 1 if len(places) else 0
    check_tensor(spec.name, name, offset, 4 * used, spec.source)
    elements = dense.addr // size + places // lanes * rep_stride * BLOCK // size + places % lanes
    start = spread.addr + call.base
    run = partial(
        _gather if gathers else _scatter,
        core.local.typed(UNSIGNED[size]),
        _as_slice(elements),
        core.local.typed(np.dtype(np.uint32)),
        _as_slice(offset.addr // 4 + places),
        _Rule(spec, name, start, size, _offset_limit(core, size), core.strict),
    )
    span = Access(start, spread.addr + spread.nbytes - start)
    scattered = Operand(spread_name, roles[1], "UB", spread.dtype, (span,))
    return Plan(
        spec,
        form,
        [
            *((strided, scattered) if gathers else (scattered, strided)),
            Operand(name, READ, "UB", uint32_t, (Access(offset.addr, 4 * used),)),
        ],
        run if len(places) else None,
        work=VectorWork(dense.dtype.name, active.repeats, len(places), False, False),
        details={call.base_name: call.base, "elements": len(places)},
    )


def _places(active: Active, lanes: int) -> NDArray[np.int64]:
    """Return ``repeat * lanes + lane`` of every active lane, which is where its offset lies."""
    found = [np.zeros(0, np.int64)]
    for first, count, width in active.segments:
        chosen = np.arange(width) if active.lanes is None else np.array(active.lanes)
        repeats = np.arange(first, first + count)
        found.append((repeats[:, None] * lanes + chosen).reshape(-1))
    return np.concatenate(found)


def _as_slice(index: NDArray[np.int64]) -> Any:
    """Return consecutive indices as a slice, which is faster than a list."""
    if len(index) and index[-1] - index[0] + 1 == len(index):
        return slice(int(index[0]), int(index[-1]) + 1)
    return index


def _offset_limit(core: AICore, size: int) -> int:
    """Return the first offset too large: the 950 keeps 16 bits of the index of narrow elements."""
    return 1 << 15 + size if core.arch is Arch.DAV_3510 and size <= 2 else 1 << 32


class _Rule(NamedTuple):
    """What offsets must satisfy: alignment to ``size``, a limit, and a place inside UB."""

    spec: InstructionSpec
    name: str
    start: int
    size: int
    limit: int
    unique: bool

    def elements(self, offsets: NDArray[np.uint32], ub_elements: int) -> NDArray[np.int64]:
        """Return the indices of the elements at ``offsets``.

        Raises
        ------
        AlignmentError, OutOfBoundsError
        """
        addresses = offsets.astype(np.int64) + self.start
        wrong = (addresses % self.size != 0) | (addresses >= ub_elements * self.size)
        wrong |= offsets >= self.limit
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            self._refuse(at, int(offsets[at]), ub_elements * self.size)
        return addresses // self.size

    def _refuse(self, at: int, offset: int, ub_bytes: int) -> None:
        if (self.start + offset) % self.size:
            raise AlignmentError(
                f"{self.name}[{at}] is not a multiple of the element size",
                api=self.spec.name,
                argument=self.name,
                got=f"{offset} bytes",
                legal=f"a multiple of {self.size}",
                fix="give byte offsets: index * sizeof(T)",
                source=self.spec.source,
            )
        raise OutOfBoundsError(
            f"{self.name}[{at}] points outside the unified buffer or past the offset limit",
            api=self.spec.name,
            argument=self.name,
            got=f"{offset} bytes from UB address {self.start:#x}",
            legal=f"< {min(self.limit, ub_bytes - self.start)} bytes",
            source=self.spec.source,
        )


def _gather(typed: Any, elements: Any, words: Any, used: Any, rule: _Rule) -> None:
    typed[elements] = typed[rule.elements(words[used], len(typed))]


def _scatter(typed: Any, elements: Any, words: Any, used: Any, rule: _Rule) -> None:
    targets = rule.elements(words[used], len(typed))
    if rule.unique and len(np.unique(targets)) != len(targets):
        raise ArgumentError(
            "two elements go to the same place; which one stays is not defined",
            api="Scatter",
            argument=rule.name,
            got="equal offsets",
            legal="offsets that are all different",
            source=rule.spec.source,
        )
    typed[targets] = typed[elements]


# -- Gatherb -----------------------------------------------------------------------------------


def _gatherb_rule() -> None:
    """Block ``i`` of ``dst`` = the 32 bytes at ``offset[i]`` bytes from the start of ``src``.

    A repeat takes 8 blocks.
    """


_GATHERB = declare(
    _gatherb_rule,
    "gather",
    (("dst", WRITE), ("src", READ)),
    {Arch.DAV_2201: "uint16_t uint32_t", Arch.DAV_3510: _TYPES_950},
    _PAGE.format("Gatherb(ISASI)"),
    forms=("repeat",),
    name="Gatherb",
)

_BLOCKS = 8


def Gatherb(dst: Any, src: Any, offset: Any, repeatTime: Any, repeatParams: Any = None) -> None:
    """Collect 32-byte blocks."""
    try:
        core = dst._core
        keys = (dst._key, src._key, offset._key)
    except AttributeError as error:
        raise fail_unless_tensor(error, "Gatherb", dst, src, offset) from None
    params = as_params("Gatherb", repeatParams, GatherRepeatParams)
    key = ("Gatherb", *keys, repeatTime, params)
    plan = core.plans.get(key)
    if plan is None:
        plan = core.plans[key] = _plan_blocks(core, dst, src, offset, repeatTime, params)
    if core.count_resets_mask:
        core.mask = FULL_MASK
    core.issue(plan, (), sys._getframe(1))


publish(Gatherb, _GATHERB)


def _plan_blocks(
    core: AICore,
    dst: LocalTensor,
    src: LocalTensor,
    offset: LocalTensor,
    repeat_time: Any,
    params: GatherRepeatParams,
) -> Plan:
    spec = spec_for("Gatherb", core)
    types = dst.dtype if dst.dtype is src.dtype else (dst.dtype, src.dtype)
    spec.require(core.arch, types, "repeat")
    _require_offsets("Gatherb", "offset", offset, spec)
    check_range("Gatherb", "repeatTime", repeat_time, 0, 255, spec.source)
    repeats, (blk, rep) = int(repeat_time), params
    if blk == 0 and core.arch is Arch.DAV_3510:
        check_range("Gatherb", "dstBlkStride", blk, 1, 255, spec.source)
    blk = blk or 1
    reach = BLOCK * ((repeats - 1) * rep + (_BLOCKS - 1) * blk + 1) if repeats else 0
    check_tensor("Gatherb", "dst", dst, reach, spec.source)
    check_tensor("Gatherb", "src", src, 0, spec.source)
    check_tensor("Gatherb", "offset", offset, 4 * _BLOCKS * repeats, spec.source)
    number = np.arange(_BLOCKS * repeats)
    targets = dst.addr // BLOCK + number // _BLOCKS * rep + number % _BLOCKS * blk
    whole = len(core.local.ub) // BLOCK
    at = offset.addr // 4
    run = partial(
        _gather,
        core.local.ub[: whole * BLOCK].reshape(whole, BLOCK),
        _as_slice(targets),
        core.local.typed(np.dtype(np.uint32)),
        slice(at, at + len(number)),
        _Rule(spec, "offset", src.addr, BLOCK, 1 << 32, core.strict),
    )
    dims = ((repeats, BLOCK * rep), (_BLOCKS, BLOCK * blk))
    return Plan(
        spec,
        "repeat",
        [
            Operand("dst", WRITE, "UB", dst.dtype, (Access(dst.addr, BLOCK, dims),)),
            Operand("src", READ, "UB", src.dtype, (Access(src.addr, src.nbytes),)),
            Operand("offset", READ, "UB", uint32_t, (Access(offset.addr, 4 * len(number)),)),
        ],
        run if repeats else None,
        work=VectorWork(
            dst.dtype.name, repeats, len(number) * BLOCK // dst.dtype.itemsize, False, False
        ),
        details={"repeatTime": repeats, **params._asdict()},
    )
