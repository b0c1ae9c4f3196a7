"""The compare mask register: Compare without ``dst``, GetCmpMask and SetCmpMask.

CMPMASK holds 128 bits; a comparison of float uses the first 64. Source: mirror-cann/asc-devkit
docs/zh/api/SIMD-API/基础API/Memory矢量计算/比较与选择 (GetCmpMask(ISASI).md, SetCmpMask(ISASI).md
and the page of Compare to the register), impl/basic_api/dav_3510/kernel_operator_vec_cmp_impl.h.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from simulator.dtypes import float32, half, uint8_t
from simulator.enums import Arch
from simulator.errors import AlignmentError, OutOfBoundsError
from simulator.instruction import READ, WRITE, Access, Operand, Plan, VectorWork
from simulator.isa.blocks import as_params, reached_operands
from simulator.isa.comparison import as_mode, bind_comparison, comparison
from simulator.isa.families import declare, publish, require_local, resolve_mask, spec_for
from simulator.isa.lanes import REPEAT, Active, Strided, check_capacity
from simulator.isa.params import BinaryRepeatParams

if TYPE_CHECKING:
    from types import FrameType

    from simulator.core import AICore
    from simulator.instruction import InstructionSpec
    from simulator.tensor import LocalTensor

_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/比较与选择/{}.md"

REGISTER_BYTES: Final = 16


def cmpmask_operand(role: str, nbytes: int = REGISTER_BYTES) -> Operand:
    """Return the operand for the leading bytes of CMPMASK."""
    return Operand("CMPMASK", role, "CMPMASK", uint8_t, (Access(0, nbytes),))


def reserved_operand(core: AICore, nbytes: int) -> Operand:
    """Return the operand for a write to the UB area that the library keeps for itself."""
    offset = core.platform.memory.ub_reserved_offset
    return Operand("reserved UB", WRITE, "UB", uint8_t, (Access(offset, nbytes),))


def reserved_bytes(core: AICore, nbytes: int) -> Any:
    """Return the first ``nbytes`` of the UB area that the library keeps for itself."""
    offset = core.platform.memory.ub_reserved_offset
    return core.local.ub[offset : offset + nbytes]


# -- Compare to the register -------------------------------------------------------------------


def register_form(declared: InstructionSpec) -> InstructionSpec:
    """Return the declaration of Compare as its form without ``dst`` restricts it."""
    legal = frozenset((half, float32))
    return replace(
        declared,
        dtypes={Arch.DAV_2201: legal, Arch.DAV_3510: legal},
        operands=declared.operands[1:],
        source=_PAGE.format("Compare\uff08结果存入寄存器\uff09"),
        count_only=frozenset(),
        cost_key="Compare@cmpmask",
    )


def compare_to_register(
    spec: InstructionSpec,
    sources: tuple[Any, Any],
    mode: Any,
    mask: Any,
    params: Any,
    is_set_mask: bool,
    frame: FrameType,
) -> None:
    """Issue ``Compare(src0, src1, cmpMode, mask, repeatParams)``: one repeat into CMPMASK."""
    named = list(zip(("src0", "src1"), sources, strict=True))
    for name, tensor in named:
        require_local("Compare", name, tensor)
    core = sources[0]._core
    dtype = sources[0].dtype
    spec.require(core.arch, _pair(*(t.dtype for t in sources)), "register")
    lanes = REPEAT // dtype.itemsize
    strides = as_params("Compare", params, BinaryRepeatParams)
    active = _one_repeat(resolve_mask(core, spec, mask, 1, is_set_mask, lanes))
    chosen = as_mode("Compare", mode)
    key = ("Compare register", *(t._key for t in sources), chosen, active, strides)
    plan = core.plans.get(key)
    if plan is None:
        compare = comparison(core, spec, dtype, chosen)
        ops = [
            Strided(name, READ, tensor, blk, rep)
            for (name, tensor), (blk, rep) in zip(named, strides.strides()[1:], strict=True)
        ]
        operands = reached_operands("Compare", ops, active, lanes, spec.source)
        run: Any = None
        if active.elements:
            bits = core.local.cmpmask[: lanes // 8]
            run = bind_comparison(core, compare, ops, active, (1, lanes), bits)
            operands.insert(0, cmpmask_operand(WRITE, lanes // 8))
            if core.arch is Arch.DAV_3510:
                run = partial(_clear_rest, run, core.local.cmpmask[lanes // 8 :])
                operands[0] = cmpmask_operand(WRITE)
        plan = core.plans[key] = Plan(
            spec,
            "register",
            operands,
            run,
            work=VectorWork(dtype.name, 1, active.elements, False, False),
            details={"cmpMode": chosen.name, **strides._asdict()},
        )
    core.issue(plan, (), frame)


def _pair(left: Any, right: Any) -> Any:
    return left if left is right else (left, right)


def _one_repeat(active: Active) -> Active:
    """Return the first repeat of ``active``; the register holds no more."""
    return Active(tuple((0, 1, width) for _, _, width in active.segments[:1]), active.lanes)


def _clear_rest(run: Any, rest: Any) -> None:
    """Compare on 950, where the register is two scalar words and float clears the high one."""
    run()
    rest[:] = 0


# -- GetCmpMask and SetCmpMask -----------------------------------------------------------------


def _get_rule() -> None:
    """``dst`` (16 bytes) = the CMPMASK register.

    The page asks for 128 bytes of space; the register has 128 bits and no more is written.
    """


def _set_rule() -> None:
    """CMPMASK = the first 16 bytes of ``src``.

    Select takes them as mask bits (mode 0), as a scalar (mode 1) or as an address (mode 2).
    """


_GET_TYPES = "int8_t uint8_t int16_t uint16_t half bfloat16_t int32_t uint32_t float"
_SET_TYPES = f"{_GET_TYPES} int64_t uint64_t double"
_GET = declare(
    _get_rule,
    "register",
    (("dst", WRITE),),
    {Arch.DAV_2201: _GET_TYPES, Arch.DAV_3510: _GET_TYPES},
    _PAGE.format("GetCmpMask(ISASI)"),
    forms=("register",),
    name="GetCmpMask",
)
_SET = declare(
    _set_rule,
    "register",
    (("src", READ),),
    {Arch.DAV_2201: _SET_TYPES, Arch.DAV_3510: _SET_TYPES},
    _PAGE.format("SetCmpMask(ISASI)"),
    forms=("register",),
    name="SetCmpMask",
)


def GetCmpMask(dst: LocalTensor) -> None:
    """Copy CMPMASK to UB."""
    _issue("GetCmpMask", dst, WRITE, sys._getframe(1))


def SetCmpMask(src: LocalTensor) -> None:
    """Load CMPMASK from UB."""
    _issue("SetCmpMask", src, READ, sys._getframe(1))


def _copy(out: Any, src: Any) -> None:
    out[:] = src


def _issue(name: str, tensor: Any, role: str, frame: FrameType) -> None:
    label = "dst" if role == WRITE else "src"
    core = require_local(name, label, tensor)._core
    key = (name, tensor._key)
    plan = core.plans.get(key)
    if plan is None:
        spec = spec_for(name, core)
        spec.require(core.arch, tensor.dtype, "register")
        if tensor.addr % REGISTER_BYTES:
            raise AlignmentError(
                f"{label} starts at UB address {tensor.addr:#x}, which is not 16-byte aligned",
                api=name,
                argument=label,
                got=f"address {tensor.addr}",
                legal="a multiple of 16",
                source=spec.source,
            )
        if tensor.nbytes < REGISTER_BYTES:
            raise OutOfBoundsError(
                f"{label} is too small",
                api=name,
                argument=label,
                got=f"{tensor.nbytes} bytes",
                legal=f">= {REGISTER_BYTES} bytes",
                source=spec.source,
            )
        check_capacity(name, label, tensor, spec.source)
        view = core.local.ub[tensor.addr : tensor.addr + REGISTER_BYTES]
        ends = (view, core.local.cmpmask) if role == WRITE else (core.local.cmpmask, view)
        plan = core.plans[key] = Plan(
            spec,
            "register",
            [
                Operand(label, role, "UB", tensor.dtype, (Access(tensor.addr, REGISTER_BYTES),)),
                cmpmask_operand(READ if role == WRITE else WRITE),
            ],
            partial(_copy, *ends),
            work=VectorWork("uint8_t", 1, REGISTER_BYTES, False, False),
        )
    core.issue(plan, (), frame)


publish(GetCmpMask, _GET)
publish(SetCmpMask, _SET)
