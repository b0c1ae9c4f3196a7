"""Scalar loads and stores: GetValue and SetValue of LocalTensor and GlobalTensor (pipe S).

Scalar access to GM goes through the core's data cache: a load may answer from a line that is older
than GM, a store stays in the cache. A block writes its dirty lines back when it ends. The ByPass
calls go to GM directly. Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/数据结构
(LocalTensor, GlobalTensor), 缓存控制 and 标量计算 (ReadGmByPassDCache(ISASI).md).
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.core import current_core
from simulator.dtypes import BY_NAME, DType, as_dtype
from simulator.enums import Arch, PipeID
from simulator.errors import AlignmentError, ArgumentError, OutOfBoundsError
from simulator.instruction import READ, WRITE, Access, Operand, Plan
from simulator.isa.atomic import gm_element, load
from simulator.isa.cache import write_back
from simulator.isa.families import check_scalar, declare, publish, spec_for
from simulator.tensor import GlobalTensor, LocalTensor, scalar_access

if TYPE_CHECKING:
    from types import FrameType

    from simulator.core import AICore
    from simulator.instruction import InstructionSpec
    from simulator.memory import DataCache, GlobalAddress

_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/数据结构/{}.md"
_BYPASS_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/标量计算/{}(ISASI).md"
_ANY = {arch: " ".join(BY_NAME) for arch in (Arch.DAV_2201, Arch.DAV_3510, Arch.DAV_1001)}
_INTEGERS = "int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t"

UB_PATIENCE: Final = 64
"""Equal reads of one UB element, loads between them, before a block counts as polling."""

GM_PATIENCE: Final = 1
"""The same for loads from GM."""


def _get_rule() -> None:
    """Return element ``index``."""


def _set_rule() -> None:
    """Element ``index`` = ``value``."""


def _bypass_read_rule() -> None:
    """Return an element of GM, past the data cache."""


def _bypass_write_rule() -> None:
    """Write an element of GM, past the data cache."""


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
_BYPASS_READ = declare(
    _bypass_read_rule, "scalar", (("addr", READ),),
    {Arch.DAV_2201: _INTEGERS, Arch.DAV_3510: _INTEGERS}, _BYPASS_PAGE.format("ReadGmByPassDCache"),
    pipe=PipeID.PIPE_S, forms=("scalar",), name="ReadGmByPassDCache",
)  # fmt: skip
_BYPASS_WRITE = declare(
    _bypass_write_rule, "scalar", (("addr", WRITE),),
    {Arch.DAV_2201: _INTEGERS, Arch.DAV_3510: _INTEGERS},
    _BYPASS_PAGE.format("WriteGmByPassDCache"),
    pipe=PipeID.PIPE_S, forms=("scalar",), name="WriteGmByPassDCache",
)  # fmt: skip


def as_number(value: Any, dtype: DType) -> Any:
    """Return a storage element as a Python number (exact for every format)."""
    if dtype.kind == "c":
        parts = np.asarray(value).reshape(1).view(np.float16 if dtype.bits == 32 else np.float32)
        return complex(float(parts[0]), float(parts[1]))
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
            legal=f"0..{tensor.length - 1}" if tensor.length > 0 else "none: the tensor is empty",
            source=spec.source,
        )
    return number


def _nibble(byte: Any, index: int) -> int:
    """Return the 4-bit integer at ``index``; even ones are in the low half of a byte."""
    raw = int(byte) >> 4 * (index % 2) & 0xF
    return raw - 16 if raw > 7 else raw


def _merge(byte: Any, index: int, value: int) -> int:
    shift = 4 * (index % 2)
    return int(byte) & ~(0xF << shift) | (int(value) & 0xF) << shift


def _check_nibble(spec: InstructionSpec, value: Any) -> None:
    if not isinstance(value, int | np.integer) or not -8 <= value <= 7:
        raise ArgumentError(
            "the value does not fit int4b_t",
            api=spec.name,
            argument="value",
            got=repr(value),
            legal="an integer in -8..7",
            source=spec.source,
        )


# -- unified buffer --------------------------------------------------------------------------------


def _local_index(spec: InstructionSpec, tensor: LocalTensor, index: Any) -> int:
    """Return the index of an element in the whole UB, seen in the tensor's type."""
    number = _check_index(spec, tensor, index)
    size = tensor.dtype.itemsize
    at = tensor.addr + number * tensor.dtype.bits // 8
    if tensor.addr % size:
        raise AlignmentError(
            "the tensor is not aligned to its element size",
            api=spec.name,
            got=f"UB address {tensor.addr:#x}",
            legal=f"a multiple of {size}",
            source=spec.source,
        )
    capacity = len(tensor._core.local.ub)
    if at + size > capacity:
        raise OutOfBoundsError(
            "the element is past the unified buffer",
            api=spec.name,
            argument="index",
            got=f"UB bytes {at}..{at + size}",
            legal=f"0..{capacity}",
            source=spec.source,
        )
    return at // size


def _read_local(tensor: LocalTensor, index: Any, frame: FrameType) -> Any:
    core = tensor._core
    at = _local_index(_LOCAL_GET, tensor, index)
    core.issue(_local_plan(core, _LOCAL_GET, tensor, at, READ), (), frame)
    value = core.local.typed(tensor.dtype.numpy)[at]
    core.watch("UB", at * tensor.dtype.itemsize, value.tobytes(), UB_PATIENCE, frame)
    return as_number(value, tensor.dtype) if tensor.dtype.bits >= 8 else _nibble(value, index)


def _write_local(tensor: LocalTensor, index: Any, value: Any, frame: FrameType) -> None:
    core = tensor._core
    at = _local_index(_LOCAL_SET, tensor, index)
    if tensor.dtype.bits < 8:
        _check_nibble(_LOCAL_SET, value)
        value = _merge(core.local.ub[at], index, value)
    scalar = check_scalar(_LOCAL_SET, tensor.dtype, value, "value")
    core.issue(_local_plan(core, _LOCAL_SET, tensor, at, WRITE), (scalar,), frame)


def _local_plan(
    core: AICore, spec: InstructionSpec, tensor: LocalTensor, at: int, role: str
) -> Plan:
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


# -- global memory ---------------------------------------------------------------------------------


def _read_global(tensor: GlobalTensor, offset: Any, frame: FrameType) -> Any:
    core = tensor._core
    dtype = tensor.dtype
    ptr = _element(_GLOBAL_GET, tensor, offset)
    cached = core.cache.holds(ptr, dtype.itemsize)
    core.issue(_global_plan(core, _GLOBAL_GET, dtype, READ, cached), (ptr,), frame)
    raw = core.cache.read(ptr, dtype.itemsize)
    core.watch("cache" if cached else "GM", ptr.address, raw, GM_PATIENCE, frame)
    value = np.frombuffer(raw, dtype.numpy)[0]
    return as_number(value, dtype) if dtype.bits >= 8 else _nibble(value, offset)


def _write_global(tensor: GlobalTensor, offset: Any, value: Any, frame: FrameType) -> None:
    core = tensor._core
    ptr = _element(_GLOBAL_SET, tensor, offset)
    if tensor.dtype.bits < 8:
        _check_nibble(_GLOBAL_SET, value)
        value = _merge(core.cache.read(ptr, 1)[0], offset, value)
    scalar = check_scalar(_GLOBAL_SET, tensor.dtype, value, "value")
    core.keep_initial(ptr.allocation)
    core.at_end = write_back
    plan = _global_plan(core, _GLOBAL_SET, tensor.dtype, WRITE, False)
    core.issue(plan, (ptr, scalar, core.cache), frame)


def _element(spec: InstructionSpec, tensor: GlobalTensor, offset: Any) -> GlobalAddress:
    number = _check_index(spec, tensor, offset)
    return gm_element(spec, tensor._pointer() + number * tensor.dtype.bits // 8, tensor.dtype)


def _global_plan(
    core: AICore, spec: InstructionSpec, dtype: DType, role: str, cached: bool
) -> Plan:
    key = (spec.name, dtype.code, cached)
    plan = core.plans.get(key)
    if plan is None:
        plan = core.plans[key] = Plan(
            spec,
            "scalar",
            [Operand("tensor", role, "GM", dtype, (Access(0, dtype.itemsize),))],
            _store_cached if role == WRITE else None,
            details={"cache": "hit" if cached else "load" if role == READ else "write"},
        )
    return plan


def _store_cached(ptr: GlobalAddress, value: Any, cache: DataCache) -> None:
    cache.write(ptr, value.tobytes())


def ReadGmByPassDCache(dtype: Any, addr: Any) -> int:
    """``ReadGmByPassDCache(int32_t, address)``: return an element of GM, past the data cache."""
    core = current_core()
    spec = spec_for("ReadGmByPassDCache", core)
    target = as_dtype(dtype)
    spec.require(core.arch, target, "count")
    ptr = gm_element(spec, addr, target)
    frame = sys._getframe(1)
    core.issue(_bypass_plan(core, spec, target, READ), (ptr,), frame)
    value = load(ptr, target)
    core.watch("GM", ptr.address, value.tobytes(), GM_PATIENCE, frame)
    return int(load(ptr, target))


def WriteGmByPassDCache(dtype: Any, addr: Any, value: int) -> None:
    """``WriteGmByPassDCache(int32_t, address, value)``: write GM, past the data cache."""
    core = current_core()
    spec = spec_for("WriteGmByPassDCache", core)
    target = as_dtype(dtype)
    spec.require(core.arch, target, "count")
    ptr = gm_element(spec, addr, target)
    scalar = check_scalar(spec, target, value, "value")
    core.keep_initial(ptr.allocation)
    core.issue(_bypass_plan(core, spec, target, WRITE), (ptr, scalar), sys._getframe(1))


def _bypass_plan(core: AICore, spec: InstructionSpec, dtype: DType, role: str) -> Plan:
    key = (spec.name, dtype.code)
    plan = core.plans.get(key)
    if plan is None:
        operand = Operand("addr", role, "GM", dtype, (Access(0, dtype.itemsize),))
        run = _store_direct if role == WRITE else None
        plan = core.plans[key] = Plan(spec, "scalar", [operand], run)
    return plan


def _store_direct(ptr: GlobalAddress, value: Any) -> None:
    raw = np.frombuffer(value.tobytes(), np.uint8)
    ptr.allocation.data[ptr.offset : ptr.offset + len(raw)] = raw


publish(ReadGmByPassDCache, _BYPASS_READ)
publish(WriteGmByPassDCache, _BYPASS_WRITE)

scalar_access.read_local = _read_local
scalar_access.write_local = _write_local
scalar_access.read_global = _read_global
scalar_access.write_global = _write_global
