"""Select without a mask argument: lanes from the vector mask register, the rest from CMPMASK.

SetVectorMask and SetCmpMask come before it. CMPMASK holds the mask bits (mode 0), the scalar in its
first element (mode 1) or the UB address of the mask bits (mode 2). Source: mirror-cann/asc-devkit
docs/zh/api/SIMD-API/基础API/Memory矢量计算/比较与选择/SetCmpMask(ISASI).md and
impl/basic_api/dav_3510/kernel_operator_vec_sel_impl.h.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.dtypes import uint8_t
from simulator.enums import SELMODE
from simulator.errors import OutOfBoundsError
from simulator.instruction import READ, Access, Operand, Plan, VectorWork
from simulator.isa.blend import strided_blend, with_masks
from simulator.isa.blocks import UNSIGNED, as_params
from simulator.isa.cmpmask import cmpmask_operand
from simulator.isa.families import active_lanes, require_local
from simulator.isa.lanes import REPEAT, check_tensor
from simulator.isa.params import BinaryRepeatParams, check_range

if TYPE_CHECKING:
    from types import FrameType

    from simulator.core import AICore
    from simulator.instruction import InstructionSpec
    from simulator.isa.lanes import Active

_FIXED = SELMODE.VSEL_CMPMASK_SPR
_SCALAR = SELMODE.VSEL_TENSOR_SCALAR_MODE


def select_by_register(
    spec: InstructionSpec,
    tensors: tuple[Any, Any, Any],
    mode: SELMODE,
    repeat_time: Any,
    params: Any,
    frame: FrameType,
) -> None:
    """Issue a Select whose mask comes from CMPMASK.

    ``tensors`` are dst, selMask and src0 in mode 1, else dst, src0 and src1.
    """
    dst, first, second = tensors
    core = dst._core
    strides = as_params("Select", params, BinaryRepeatParams)
    check_range("Select", "repeatTime", repeat_time, 0, 255, spec.source)
    lanes = REPEAT // dst.dtype.itemsize
    active = active_lanes(core, int(repeat_time), lanes)
    address = int(core.local.cmpmask[:4].view(np.uint32)[0])
    key = (
        "Select register", dst._key, first._key, second._key, mode, active, strides,
        address if mode is SELMODE.VSEL_TENSOR_TENSOR_MODE else None,
    )  # fmt: skip
    plan = core.plans.get(key)
    if plan is None:
        plan = core.plans[key] = _plan(core, spec, tensors, mode, active, strides, address)
    core.issue(plan, (), frame)


def _plan(
    core: AICore,
    spec: InstructionSpec,
    tensors: tuple[Any, Any, Any],
    mode: SELMODE,
    active: Active,
    params: BinaryRepeatParams,
    address: int,
) -> Plan:
    dst, first, second = tensors
    size = dst.dtype.itemsize
    lanes = REPEAT // size
    shape = (active.repeats, lanes)
    nbytes = active.repeats * lanes // 8
    if mode is _SCALAR:
        named = [("dst", dst), ("src0", second)]
        mask_dtype = require_local("Select", "selMask", first).dtype
    else:
        named = [("dst", dst), ("src0", first), ("src1", second)]
        mask_dtype = uint8_t
    for name, tensor in named:
        require_local("Select", name, tensor)
    for _, tensor in named[1:]:
        spec.require(core.arch, (dst.dtype, mask_dtype, tensor.dtype), "mask")
    operands, plain, run = strided_blend(core, spec, named, active, params, inverted=False)
    table = plain.table(size)
    register = core.local.cmpmask
    if mode is _SCALAR:
        check_tensor("Select", "selMask", first, nbytes, spec.source)
        operands.insert(
            1, Operand("selMask", READ, "UB", mask_dtype, (Access(first.addr, nbytes),))
        )
        operands.append(cmpmask_operand(READ, size))
        bits = core.local.ub[first.addr : first.addr + nbytes]
        run = partial(_with_scalar, run, table, bits, shape, register[:size].view(UNSIGNED[size]))
    elif mode is _FIXED:
        operands.append(cmpmask_operand(READ, lanes // 8))
        run = partial(with_masks, run, table, register[: lanes // 8], shape)
    else:
        _mask_at(core.local.ub, address, nbytes)
        operands.insert(1, Operand("selMask", READ, "UB", uint8_t, (Access(address, nbytes),)))
        operands.append(cmpmask_operand(READ, 4))
        run = partial(_by_address, run, table, core.local.ub, register[:4].view(np.uint32), shape)
    return Plan(
        spec,
        "register",
        operands,
        run if active.elements else None,
        work=VectorWork(dst.dtype.name, active.repeats, active.elements, False, False),
        details={"selMode": mode.name, "repeatTime": active.repeats, **params._asdict()},
    )


def _with_scalar(run: Any, table: Any, bits: Any, shape: tuple[int, int], scalar: Any) -> None:
    with_masks(run, table, bits, shape, scalar[0])


def _by_address(run: Any, table: Any, ub: Any, address: Any, shape: tuple[int, int]) -> None:
    bits = _mask_at(ub, int(address[0]), shape[0] * shape[1] // 8)
    with_masks(run, table, bits, shape)


def _mask_at(ub: Any, address: int, nbytes: int) -> Any:
    """Return the mask bits at the address that CMPMASK holds.

    Raises
    ------
    OutOfBoundsError
    """
    if address + nbytes > len(ub):
        raise OutOfBoundsError(
            "CMPMASK does not hold the UB address of the mask bits",
            api="Select",
            got=f"address {address:#x} for {nbytes} bytes",
            legal=f"0 .. {len(ub) - nbytes}",
            fix="write the address of selMask to a tensor and call SetCmpMask with it first",
        )
    return ub[address : address + nbytes]
