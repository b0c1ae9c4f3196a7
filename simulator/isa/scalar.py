"""Scalar loads and stores: GetValue and SetValue of LocalTensor and GlobalTensor (pipe S).

Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/数据结构 (LocalTensor, GlobalTensor).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.dtypes import BY_NAME, DType
from simulator.enums import Arch, PipeID
from simulator.errors import ArgumentError, OutOfBoundsError
from simulator.instruction import READ, WRITE, Access, Operand, Plan
from simulator.isa.families import check_scalar, declare
from simulator.tensor import GlobalTensor, LocalTensor, scalar_access

if TYPE_CHECKING:
    from types import FrameType

    from simulator.core import AICore
    from simulator.instruction import InstructionSpec
    from simulator.memory import GlobalAddress

_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/数据结构/{}.md"
_ANY = {
    arch: " ".join(name for name, d in BY_NAME.items() if d.kind != "c")
    for arch in (Arch.DAV_2201, Arch.DAV_3510, Arch.DAV_1001)
}


def _get_rule() -> None:
    """Return element ``index``."""


def _set_rule() -> None:
    """Element ``index`` = ``value``."""


def _declare(tensor: str, method: str, rule: Any, role: str) -> InstructionSpec:
    return declare(
        rule,
        "scalar",
        ((tensor, role),),
        _ANY,
        _PAGE.format(f"{tensor}/{method}"),
        pipe=PipeID.PIPE_S,
        forms=("scalar",),
        name=f"{tensor}.{method}",
    )


_LOCAL_GET = _declare("LocalTensor", "GetValue", _get_rule, READ)
_LOCAL_SET = _declare("LocalTensor", "SetValue", _set_rule, WRITE)
_GLOBAL_GET = _declare("GlobalTensor", "GetValue", _get_rule, READ)
_GLOBAL_SET = _declare("GlobalTensor", "SetValue", _set_rule, WRITE)


def as_number(value: Any, dtype: DType) -> Any:
    """Return a storage element as a Python number (exact for every format)."""
    if dtype.is_float and value.dtype.kind != "u":
        return float(value)
    return int(value)


def _check_index(spec: InstructionSpec, tensor: Any, index: Any) -> int:
    number = index.__index__() if hasattr(index, "__index__") else -1
    if not 0 <= number < tensor.length:
        raise OutOfBoundsError(
            f"element {index!r} is outside the tensor",
            api=spec.name,
            argument="index",
            got=repr(index),
            legal=f"0..{tensor.length - 1}" if tensor.length else "none: the tensor is empty",
            source=spec.source,
        )
    if tensor.dtype.bits < 8:
        raise ArgumentError(
            "4-bit elements have no scalar access", api=spec.name, got=tensor.dtype.name
        )
    return number


def _read_local(tensor: LocalTensor, index: Any, frame: FrameType) -> Any:
    core = tensor._core
    number = _check_index(_LOCAL_GET, tensor, index)
    at = tensor.addr // tensor.dtype.itemsize + number
    if tensor.addr % tensor.dtype.itemsize:
        raise ArgumentError(
            "the tensor is not aligned to its element size",
            api=_LOCAL_GET.name,
            got=f"UB address {tensor.addr:#x}",
            legal=f"a multiple of {tensor.dtype.itemsize}",
        )
    core.issue(_local_plan(core, _LOCAL_GET, tensor, at, READ), (), frame)
    return as_number(core.local.typed(tensor.dtype.numpy)[at], tensor.dtype)


def _write_local(tensor: LocalTensor, index: Any, value: Any, frame: FrameType) -> None:
    core = tensor._core
    number = _check_index(_LOCAL_SET, tensor, index)
    scalar = check_scalar(_LOCAL_SET, tensor.dtype, value, "value")
    at = tensor.addr // tensor.dtype.itemsize + number
    core.issue(_local_plan(core, _LOCAL_SET, tensor, at, WRITE), (scalar,), frame)


def _local_plan(core: AICore, spec: InstructionSpec, tensor: LocalTensor, at: int, role: str) -> Plan:
    key = (spec.name, tensor.dtype.code, at)
    plan = core.plans.get(key)
    if plan is None:
        size = tensor.dtype.itemsize
        run = partial(_store, core.local.typed(tensor.dtype.numpy), at) if role == WRITE else None
        plan = core.plans[key] = Plan(
            spec,
            "scalar",
            [Operand("tensor", role, "UB", tensor.dtype, (Access(at * size, size),))],
            run,
            details={"address": at * size},
        )
    return plan


def _store(array: Any, at: int, value: Any) -> None:
    array[at] = value


def _read_global(tensor: GlobalTensor, offset: Any, frame: FrameType) -> Any:
    core = tensor._core
    ptr = _element(_GLOBAL_GET, tensor, offset)
    core.issue(_global_plan(core, _GLOBAL_GET, tensor.dtype, READ), (ptr,), frame)
    size = tensor.dtype.itemsize
    raw = ptr.allocation.data[ptr.offset : ptr.offset + size]
    return as_number(np.frombuffer(raw.tobytes(), tensor.dtype.numpy)[0], tensor.dtype)


def _write_global(tensor: GlobalTensor, offset: Any, value: Any, frame: FrameType) -> None:
    core = tensor._core
    ptr = _element(_GLOBAL_SET, tensor, offset)
    scalar = check_scalar(_GLOBAL_SET, tensor.dtype, value, "value")
    core.keep_initial(ptr.allocation)
    core.issue(_global_plan(core, _GLOBAL_SET, tensor.dtype, WRITE), (ptr, scalar), frame)


def _element(spec: InstructionSpec, tensor: GlobalTensor, offset: Any) -> GlobalAddress:
    number = _check_index(spec, tensor, offset)
    size = tensor.dtype.itemsize
    ptr = tensor._pointer() + number * size
    if ptr.offset < 0 or ptr.offset + size > ptr.end:
        raise OutOfBoundsError(
            f"element {number} is outside the memory the kernel was given",
            api=spec.name,
            got=f"byte {ptr.offset} of {ptr.allocation!r}",
            legal=f"< {ptr.end // size} elements",
        )
    return ptr


def _global_plan(core: AICore, spec: InstructionSpec, dtype: DType, role: str) -> Plan:
    key = (spec.name, dtype.code)
    plan = core.plans.get(key)
    if plan is None:
        size = dtype.itemsize
        plan = core.plans[key] = Plan(
            spec,
            "scalar",
            [Operand("tensor", role, "GM", dtype, (Access(0, size),))],
            _store_global if role == WRITE else None,
        )
    return plan


def _store_global(ptr: GlobalAddress, value: Any) -> None:
    raw = np.frombuffer(value.tobytes(), np.uint8)
    ptr.allocation.data[ptr.offset : ptr.offset + len(raw)] = raw


scalar_access.read_local = _read_local
scalar_access.write_local = _write_local
scalar_access.read_global = _read_global
scalar_access.write_global = _write_global
