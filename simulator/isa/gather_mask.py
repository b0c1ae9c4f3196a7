"""GatherMask: keep chosen elements and push them together.

Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/比较与选择/GatherMask.md,
impl/basic_api (dav_c220, dav_3510)/kernel_operator_vec_gather_mask_impl.h.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.core import FULL_MASK, current_core
from simulator.dtypes import DType, uint8_t, uint16_t, uint32_t
from simulator.enums import Arch
from simulator.errors import DTypeError, OutOfBoundsError, UnsupportedError
from simulator.instruction import READ, WRITE, Access, Operand, Plan, VectorWork
from simulator.isa.blocks import UNSIGNED, as_params
from simulator.isa.families import declare, publish, require_local, spec_for
from simulator.isa.lanes import BLOCK, REPEAT, check_tensor
from simulator.isa.params import check_range
from simulator.isa.rearrange_params import GatherMaskParams
from simulator.isa.results import issue_for_result, last_result, with_result
from simulator.tensor import LocalTensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.core import AICore
    from simulator.instruction import InstructionSpec
    from simulator.isa.results import ResultPlan

_PAGE = (
    "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/比较与选择/GatherMask.md"
)

_PATTERNS: Final = {1: 0x55, 2: 0xAA, 3: 0x11, 4: 0x22, 5: 0x44, 6: 0x88, 7: 0xFF}
"""Bits of the fixed patterns, least significant first: which of 8 elements stay."""

_PATTERN_TYPES: Final = {1: uint8_t, 2: uint16_t, 4: uint32_t}


def _gather_mask_rule() -> None:
    """``dst`` = the elements of ``src0`` whose pattern bit is 1, one behind the other.

    ``src1Pattern`` is 1 (even elements), 2 (odd), 3..6 (element 0..3 of each four), 7 (all), or a
    tensor of bits, least significant first. Without ``reduceMode`` each repeat is 256 bytes and
    ``mask`` is ignored; with it each repeat is ``mask`` elements. Returns how many elements stay
    and stores it in ``rsvdCnt[0]`` if given. The mask mode is Normal afterwards, and the mask
    register holds what the call left there.
    """


_TYPES_910B = "int16_t uint16_t half bfloat16_t int32_t uint32_t float"
_GATHER_MASK = declare(
    _gather_mask_rule,
    "select",
    (("dst", WRITE), ("src0", READ)),
    {Arch.DAV_2201: _TYPES_910B, Arch.DAV_3510: f"int8_t uint8_t {_TYPES_910B}"},
    _PAGE,
    forms=("fixed pattern", "user pattern"),
    name="GatherMask",
)


class _Repeats(NamedTuple):
    """``number`` repeats of ``elements`` elements each."""

    number: int
    elements: int


def GatherMask(
    dst: Any,
    src0: Any,
    src1Pattern: Any,
    reduceMode: Any,
    mask: Any,
    gatherMaskParams: Any,
    rsvdCnt: Any = None,
    *,
    mode: Any = None,
) -> int:
    """Keep chosen elements; return how many."""
    named: list[tuple[str, Any]] = [("dst", dst), ("src0", src0)]
    if isinstance(src1Pattern, LocalTensor):
        named.append(("src1Pattern", src1Pattern))
    for name, tensor in named:
        require_local("GatherMask", name, tensor)
    core = dst._core
    params = as_params("GatherMask", gatherMaskParams, GatherMaskParams, "gatherMaskParams")
    pattern = src1Pattern if len(named) == 2 else None
    key = ("GatherMask", *(t._key for _, t in named), pattern, bool(reduceMode), mask, params)
    plan = core.plans.get(key)
    if plan is None:
        spec = spec_for("GatherMask", core)
        chosen = _repeats(spec, dst.dtype, reduceMode, mask, params)
        plan = _plan(core, spec, named, pattern, chosen, params)
        core.plans[key] = plan
    (kept,) = issue_for_result(core, plan, sys._getframe(1))
    _leave_mask(core, dst.dtype.itemsize, pattern, int(mask))
    if rsvdCnt is not None:
        rsvdCnt[0] = kept
    return kept


publish(GatherMask, _GATHER_MASK)


def GetGatherMaskRemainCount() -> int:
    """Return how many elements the last GatherMask kept (910B)."""
    core = current_core()
    if core.arch is Arch.DAV_3510:
        raise UnsupportedError(
            f"does not exist on {core.arch.family}",
            api="GetGatherMaskRemainCount",
            got=f"GetGatherMaskRemainCount on {core.arch.family}",
            legal="only on 910B; GatherMask returns the count",
            source=_PAGE,
        )
    found = last_result(core, ("GatherMask",))
    return found[0] if found else 0


def _leave_mask(core: AICore, size: int, pattern: int | None, mask: int) -> None:
    """Set mask mode and register to what the library leaves."""
    core.counter_mode = False
    if core.arch is not Arch.DAV_3510:
        core.mask = (mask & 0xFFFF_FFFF, 0)
    elif pattern is not None and pattern != 7 and size > 1:
        word = _PATTERNS[pattern] * (FULL_MASK[0] // 0xFF)
        core.mask = (word, word if size == 2 else 0)


def _repeats(
    spec: InstructionSpec, dtype: DType, reduce_mode: Any, mask: Any, params: GatherMaskParams
) -> _Repeats:
    if not reduce_mode:
        return _Repeats(params.repeatTimes, REPEAT // dtype.itemsize)
    check_range(spec.name, "mask", mask, 1, 2**32 - 1, spec.source)
    return _Repeats(params.repeatTimes, int(mask))


def _plan(
    core: AICore,
    spec: InstructionSpec,
    named: list[tuple[str, Any]],
    pattern: int | None,
    repeats: _Repeats,
    params: GatherMaskParams,
) -> ResultPlan:
    dst, src = named[0][1], named[1][1]
    types = dst.dtype if dst.dtype is src.dtype else (dst.dtype, src.dtype)
    spec.require(core.arch, types, "count")
    size = dst.dtype.itemsize
    per_block = BLOCK // size
    element = np.arange(repeats.elements)
    inside = element // per_block * params.src0BlockStride * per_block + element % per_block
    starts = np.arange(repeats.number)[:, None] * params.src0RepeatStride * per_block
    reach = (int(starts[-1, 0] + inside[-1]) + 1) * size if repeats.number else 0
    check_tensor("GatherMask", "src0", src, reach, spec.source)
    check_tensor("GatherMask", "dst", dst, 0, spec.source)
    places = src.addr // size + starts + inside
    result = np.zeros(1, np.int64)
    typed = core.local.typed(UNSIGNED[size])
    details = {"repeatTimes": repeats.number, "elements": repeats.elements}
    work = VectorWork(
        dst.dtype.name,
        repeats.number * -(-repeats.elements * size // REPEAT),
        places.size,
        True,
        False,
    )
    source = _source_operand(src, params, repeats)
    room = _Room(dst.addr // size, dst.length, spec)
    if pattern is not None:
        chosen = places[:, _fixed_bits(spec, pattern, repeats.elements)].reshape(-1)
        room.check(len(chosen))
        kept = Operand("dst", WRITE, "UB", dst.dtype, (Access(dst.addr, len(chosen) * size),))
        run: Any = partial(_keep_fixed, typed, room, chosen, result)
        plan = Plan(
            replace(spec, cost_key="GatherMask@fixed"),
            "fixed pattern",
            [kept, source],
            run if places.size else partial(_keep_nothing, result),
            work=work,
            details=details | {"src1Pattern": pattern},
        )
        return with_result(plan, result)
    tensor = named[2][1]
    bits, used = _user_bits(core, spec, tensor, size, repeats, params)
    most = Access(dst.addr, min(places.size, dst.length) * size)
    plan = Plan(
        spec,
        "user pattern",
        [Operand("dst", WRITE, "UB", dst.dtype, (most,)), source, used],
        partial(_keep_chosen, typed, room, places, bits, result)
        if places.size
        else partial(_keep_nothing, result),
        work=work,
        details=details,
    )
    return with_result(plan, result)


def _source_operand(src: LocalTensor, params: GatherMaskParams, repeats: _Repeats) -> Operand:
    per_block = BLOCK // src.dtype.itemsize
    full, rest = divmod(repeats.elements, per_block)
    step = (repeats.number, BLOCK * params.src0RepeatStride)
    gap = BLOCK * params.src0BlockStride
    accesses = []
    if full:
        accesses.append(Access(src.addr, BLOCK, (step, (full, gap))))
    if rest:
        accesses.append(Access(src.addr + full * gap, rest * src.dtype.itemsize, (step,)))
    return Operand("src0", READ, "UB", src.dtype, tuple(accesses))


def _fixed_bits(spec: InstructionSpec, pattern: Any, elements: int) -> NDArray[np.bool_]:
    check_range(spec.name, "src1Pattern", pattern, 1, 7, spec.source)
    byte = np.array([_PATTERNS[int(pattern)]], np.uint8)
    eight = np.unpackbits(byte, bitorder="little").astype(bool)
    return np.resize(eight, elements)


def _user_bits(
    core: AICore,
    spec: InstructionSpec,
    tensor: LocalTensor,
    size: int,
    repeats: _Repeats,
    params: GatherMaskParams,
) -> tuple[NDArray[np.uint8], Operand]:
    """Return the pattern bytes of every repeat as an array (repeat, byte), and their operand."""
    wanted = _PATTERN_TYPES[size]
    if tensor.dtype is not wanted:
        raise DTypeError(
            "the pattern has the width of the elements",
            api=spec.name,
            argument="src1Pattern",
            got=tensor.dtype.name,
            legal=wanted.name,
            source=spec.source,
        )
    nbytes = -(-repeats.elements // 8)
    step = BLOCK * params.src1RepeatStride
    reach = (repeats.number - 1) * step + nbytes if repeats.number else 0
    check_tensor(spec.name, "src1Pattern", tensor, reach, spec.source)
    whole = core.local.ub[tensor.addr : tensor.addr + max(reach, 0)]
    bits = np.lib.stride_tricks.as_strided(whole, (repeats.number, nbytes), (step, 1))
    access = Access(tensor.addr, nbytes, ((repeats.number, step),))
    return bits, Operand("src1Pattern", READ, "UB", tensor.dtype, (access,))


class _Room(NamedTuple):
    """Where kept elements go: index of the first one, and how many ``dst`` has room for."""

    first: int
    length: int
    spec: InstructionSpec

    def check(self, kept: int) -> None:
        """Refuse more elements than ``dst`` holds.

        Raises
        ------
        OutOfBoundsError
        """
        if kept > self.length:
            raise OutOfBoundsError(
                "dst is too small for the elements that stay",
                api="GatherMask",
                argument="dst",
                got=f"{kept} elements stay",
                legal=f"<= {self.length} elements",
                source=self.spec.source,
            )


def _keep_nothing(result: NDArray[np.int64]) -> None:
    result[0] = 0


def _keep_fixed(
    typed: Any, room: _Room, chosen: NDArray[np.int64], result: NDArray[np.int64]
) -> None:
    typed[room.first : room.first + len(chosen)] = typed[chosen]
    result[0] = len(chosen)


def _keep_chosen(
    typed: Any,
    room: _Room,
    places: NDArray[np.int64],
    bits: NDArray[np.uint8],
    result: NDArray[np.int64],
) -> None:
    stays = np.unpackbits(bits, axis=1, count=places.shape[1], bitorder="little").astype(bool)
    chosen = places[stays]
    room.check(len(chosen))
    _keep_fixed(typed, room, chosen, result)
