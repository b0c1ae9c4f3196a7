"""Interleave and DeInterleave (950): elements of two tensors taken in turn, and back.

Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算, the pages Interleave.md
and DeInterleave.md of the ISASI rearrangements.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from simulator.enums import Arch
from simulator.errors import ArgumentError
from simulator.instruction import READ, WRITE, Plan, VectorWork
from simulator.isa.families import check_count, declare, publish, require_local, spec_for
from simulator.isa.lanes import REPEAT, check_tensor, dense_operand, dense_view

if TYPE_CHECKING:
    from types import FrameType

    from simulator.core import AICore
    from simulator.instruction import InstructionSpec

_PAGE = (
    "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/"
    "数据重排\uff08ISASI\uff09/{}.md"
)
_TYPES = {
    Arch.DAV_3510: "int8_t uint8_t int16_t uint16_t half bfloat16_t int32_t uint32_t float int64_t "
    "uint64_t"
}


def _interleave(dst0: Any, dst1: Any, src0: Any, src1: Any) -> None:
    """``src0[0], src1[0], src0[1], src1[1], …``: first half to ``dst0``, rest to ``dst1``."""
    half = len(src0) // 2
    dst0[0::2], dst0[1::2] = src0[:half], src1[:half]
    dst1[0::2], dst1[1::2] = src0[half:], src1[half:]


def _deinterleave(dst0: Any, dst1: Any, src0: Any, src1: Any) -> None:
    """Even elements of ``src0``, then of ``src1``, to ``dst0``; odd ones to ``dst1``.

    With one source of ``srcCount`` elements each destination gets half as many.
    """
    half = len(src0) // 2
    dst0[:half], dst0[half:] = src0[0::2], src1[0::2]
    dst1[:half], dst1[half:] = src0[1::2], src1[1::2]


def _deinterleave_one(dst0: Any, dst1: Any, src: Any) -> None:
    dst0[:], dst1[:] = src[0::2], src[1::2]


_OPERANDS = (("dst0", WRITE), ("dst1", WRITE), ("src0", READ), ("src1", READ))
_INTERLEAVE = declare(
    _interleave,
    "rearrange",
    _OPERANDS,
    _TYPES,
    _PAGE.format("Interleave"),
    forms=("count",),
    name="Interleave",
)
_DEINTERLEAVE = declare(
    _deinterleave,
    "rearrange",
    _OPERANDS,
    _TYPES,
    _PAGE.format("DeInterleave"),
    forms=("count",),
    name="DeInterleave",
)


def Interleave(dst0: Any, dst1: Any, src0: Any, src1: Any, count: Any) -> None:
    """Take elements of two tensors in turn."""
    named = (("dst0", dst0), ("dst1", dst1), ("src0", src0), ("src1", src1))
    _issue("Interleave", named, count, 1, sys._getframe(1))


def DeInterleave(dst0: Any, dst1: Any, src0: Any, src1: Any, count: Any = None) -> None:
    """Separate even and odd elements of two tensors, or of one: (dst0, dst1, src, srcCount)."""
    if count is None:
        named: Any = (("dst0", dst0), ("dst1", dst1), ("src", src0))
        _issue("DeInterleave", named, src1, 2, sys._getframe(1))
        return
    named = (("dst0", dst0), ("dst1", dst1), ("src0", src0), ("src1", src1))
    _issue("DeInterleave", named, count, 1, sys._getframe(1))


publish(Interleave, _INTERLEAVE)
publish(DeInterleave, _DEINTERLEAVE)


def _issue(
    name: str, named: tuple[tuple[str, Any], ...], count: Any, shrink: int, frame: FrameType
) -> None:
    """Issue a call on ``count`` source elements; destinations hold ``count / shrink``."""
    for label, tensor in named:
        require_local(name, label, tensor)
    core = named[0][1]._core
    key = (name, *(tensor._key for _, tensor in named), count)
    plan = core.plans.get(key)
    if plan is None:
        plan = core.plans[key] = _plan(core, spec_for(name, core), named, count, shrink)
    core.issue(plan, (), frame)


def _plan(
    core: AICore,
    spec: InstructionSpec,
    named: tuple[tuple[str, Any], ...],
    count: Any,
    shrink: int,
) -> Plan:
    dtype = named[0][1].dtype
    for _, tensor in named:
        types = dtype if tensor.dtype is dtype else (dtype, tensor.dtype)
        spec.require(core.arch, types, "count")
    number = check_count(spec, count)
    if number % 2:
        raise ArgumentError(
            "the number of elements must be even",
            api=spec.name,
            argument="count" if shrink == 1 else "srcCount",
            got=number,
            legal="an even number",
            source=spec.source,
        )
    lengths = [number // shrink if label.startswith("dst") else number for label, _ in named]
    for (label, tensor), length in zip(named, lengths, strict=True):
        check_tensor(spec.name, label, tensor, length * dtype.itemsize, spec.source)
    views = [dense_view(core, tensor, n) for (_, tensor), n in zip(named, lengths, strict=True)]
    rule = _deinterleave_one if shrink == 2 else spec.rule
    return Plan(
        spec,
        "count",
        [
            dense_operand(label, WRITE if label.startswith("dst") else READ, tensor, n)
            for (label, tensor), n in zip(named, lengths, strict=True)
        ],
        partial(rule, *views) if number and rule else None,
        work=VectorWork(dtype.name, -(-number * dtype.itemsize // REPEAT), number, False, False),
        details={"count": number},
    )
