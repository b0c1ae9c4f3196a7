"""Atomic copies to global memory (SetAtomicAdd and its kin) and scalar atomics (950).

While an atomic mode is on, a copy from UB to GM combines with what is there instead of replacing
it, element by element in the type that the mode names; half and bfloat16_t round at every step.
Blocks run one after another, so that sums are formed in block order; on a board their order is
open. Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/原子操作 and
impl/basic_api/dav_c220/kernel_operator_set_atomic_impl.h.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.core import AICore, current_core
from simulator.dtypes import DType, as_dtype
from simulator.enums import Arch, AtomicDtype, AtomicOp, PipeID
from simulator.errors import ArgumentError, OutOfBoundsError
from simulator.instruction import REGISTRY, UPDATE, Access, Operand, Plan
from simulator.isa.control import CTRL_ATOMIC, atomic_bits, write_ctrl
from simulator.isa.families import check_scalar, declare, publish, spec_for
from simulator.isa.saturation import SATURATE_FLOAT
from simulator.memory import GlobalAddress
from simulator.numerics import saturate_float
from simulator.tensor import GlobalTensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from simulator.instruction import InstructionSpec

    Bytes = NDArray[np.uint8]

_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/原子操作/{}.md"
_TYPES = "int8_t int16_t half bfloat16_t int32_t float"
_ARCHES = (Arch.DAV_2201, Arch.DAV_3510)

_OPERATIONS: Final = {"add": "Add", "max": "Max", "min": "Min"}
"""The vector calls whose element rules an atomic copy shares (NaN, signed zeros, wrapping)."""


# -- the mode -------------------------------------------------------------------------------------


def _add_rule() -> None:
    """Copies to GM add to what is there, in the given type, until SetAtomicNone."""


def _max_rule() -> None:
    """Copies to GM keep the larger of old and new, in the given type, until SetAtomicNone."""


def _min_rule() -> None:
    """Copies to GM keep the smaller of old and new, in the given type, until SetAtomicNone."""


def _type_rule() -> None:
    """Set the element type of atomic copies and switch them on."""


def _none_rule() -> None:
    """Copies to GM replace what is there."""


def _declare(rule: Callable[[], None], name: str, page: str, *, typed: bool) -> InstructionSpec:
    return declare(
        rule, "atomic", (), {arch: _TYPES if typed else "" for arch in _ARCHES},
        _PAGE.format(page), pipe=PipeID.PIPE_S, forms=("scalar",), name=name,
    )  # fmt: skip


_ADD = _declare(_add_rule, "SetAtomicAdd", "SetAtomicAdd", typed=True)
_MAX = _declare(_max_rule, "SetAtomicMax", "SetAtomicMax(ISASI)", typed=True)
_MIN = _declare(_min_rule, "SetAtomicMin", "SetAtomicMin(ISASI)", typed=True)
_TYPE = _declare(_type_rule, "SetAtomicType", "SetAtomicType", typed=True)
_NONE = _declare(_none_rule, "SetAtomicNone", "DisableDmaAtomic", typed=False)
_DISABLE = _declare(_none_rule, "DisableDmaAtomic", "DisableDmaAtomic", typed=False)
_STORE = _declare(_type_rule, "SetStoreAtomicConfig", "SetStoreAtomicConfig(ISASI)", typed=False)


def SetAtomicAdd(dtype: Any) -> None:
    """``SetAtomicAdd(half)``: later copies to GM add."""
    _switch(_ADD, "add", dtype, sys._getframe(1))


def SetAtomicMax(dtype: Any) -> None:
    """``SetAtomicMax(half)``: later copies to GM keep the larger value."""
    _switch(_MAX, "max", dtype, sys._getframe(1))


def SetAtomicMin(dtype: Any) -> None:
    """``SetAtomicMin(half)``: later copies to GM keep the smaller value."""
    _switch(_MIN, "min", dtype, sys._getframe(1))


def SetAtomicType(dtype: Any) -> None:
    """``SetAtomicType(half)``: the type of atomic copies; the operation stays (at first add)."""
    core = current_core()
    operation = core.atomic[0] if core.atomic else "add"
    _switch(_TYPE, operation, dtype, sys._getframe(1))


def SetAtomicNone() -> None:
    """Later copies to GM replace what is there."""
    _switch(_NONE, "", None, sys._getframe(1))


def DisableDmaAtomic() -> None:
    """Later copies to GM replace what is there (new name of SetAtomicNone)."""
    _switch(_DISABLE, "", None, sys._getframe(1))


def SetStoreAtomicConfig(type: AtomicDtype, op: AtomicOp = AtomicOp.ATOMIC_SUM) -> None:
    """``SetStoreAtomicConfig(AtomicDtype.ATOMIC_F16, AtomicOp.ATOMIC_SUM)``: add or not."""
    if op not in AtomicOp.__members__.values() or type not in AtomicDtype.__members__.values():
        raise ArgumentError(
            "needs an AtomicDtype and an AtomicOp",
            api="SetStoreAtomicConfig",
            got=f"{type!r}, {op!r}",
            legal=f"{', '.join(t.name for t in AtomicDtype)}; ATOMIC_SUM",
            source=_STORE.source,
        )
    names = ("", "float", "half", "int16_t", "int32_t", "int8_t", "bfloat16_t")
    name = names[AtomicDtype(type)]
    _switch(_STORE, "add" if name else "", name or None, sys._getframe(1))


def GetStoreAtomicConfig() -> tuple[int, int]:
    """Return (AtomicDtype, AtomicOp) as numbers."""
    kind = current_core().ctrl >> 6 & 7
    return kind, int(AtomicOp.ATOMIC_SUM)


for _function, _spec in (
    (SetAtomicAdd, _ADD), (SetAtomicMax, _MAX), (SetAtomicMin, _MIN), (SetAtomicType, _TYPE),
    (SetAtomicNone, _NONE), (DisableDmaAtomic, _DISABLE), (SetStoreAtomicConfig, _STORE),
):  # fmt: skip
    publish(_function, _spec)


def _switch(declared: InstructionSpec, operation: str, dtype: Any, frame: Any) -> None:
    core = current_core()
    spec = spec_for(declared.name, core)
    target = as_dtype(dtype) if dtype is not None else None
    if target is not None and spec.dtypes[core.arch]:
        spec.require(core.arch, target, "count")
    write_ctrl(core, core.ctrl & ~CTRL_ATOMIC | atomic_bits(operation, target))
    key = (spec.name, operation, target)
    plan = core.plans.get(key)
    if plan is None:
        details = {"operation": operation or "none"}
        if target is not None:
            details["dtype"] = target.name
        plan = core.plans[key] = Plan(spec, "scalar", details=details)
    core.issue(plan, (), frame)


# -- combining copies -----------------------------------------------------------------------------


def combiner(
    core: AICore, spec: InstructionSpec, moved: DType
) -> Callable[[Bytes, Bytes], None] | None:
    """Return ``f(target, source)`` that combines bytes in place, or None for a plain store.

    Raises
    ------
    ArgumentError
        If the elements of the copy are not as wide as those of the atomic mode.
    """
    if core.atomic is None:
        return None
    operation, dtype = core.atomic
    if moved.bits != dtype.bits:
        raise ArgumentError(
            f"{_OPERATIONS[operation]} of {dtype} is in force and the copy moves {moved}",
            api=spec.name,
            got=f"{moved} ({moved.bits} bits)",
            legal=f"elements of {dtype.bits} bits",
            fix=f"SetAtomic{_OPERATIONS[operation]}({moved}), or SetAtomicNone() before this copy",
            source=_ADD.source,
        )
    rule: Any = REGISTRY[_OPERATIONS[operation]][core.arch].rule
    clamp = bool(core.numeric_mode & SATURATE_FLOAT)
    storage = dtype.numpy

    def combine(target: Bytes, source: Bytes) -> None:
        old = np.ascontiguousarray(target).view(storage)
        new = np.empty_like(old)
        rule(new, old, np.ascontiguousarray(source).view(storage))
        if clamp:
            saturate_float(new, dtype)
        target[:] = new.view(np.uint8)

    return combine


# -- scalar atomics (950) -------------------------------------------------------------------------


def _scalar_add(old: Any, value: Any) -> Any:
    """Add to a GM element and return what it held."""
    return old + value


def _scalar_max(old: Any, value: Any) -> Any:
    """Keep the larger of a GM element and a value; return what it held."""
    return np.maximum(old, value)


def _scalar_min(old: Any, value: Any) -> Any:
    """Keep the smaller of a GM element and a value; return what it held."""
    return np.minimum(old, value)


def _scalar_exchange(old: Any, value: Any) -> Any:
    """Replace a GM element and return what it held."""
    return value


def _scalar_compare(old: Any, expected: Any, value: Any) -> Any:
    """Replace a GM element if it equals ``value1``; return what it held."""
    return value if old == expected else old


def _declare_scalar(rule: Callable[..., Any], name: str, dtypes: str) -> InstructionSpec:
    return declare(
        rule, "atomic", (("address", UPDATE),), {Arch.DAV_3510: dtypes}, _PAGE.format(name),
        pipe=PipeID.PIPE_S, forms=("scalar",), name=name,
    )  # fmt: skip


_ARITHMETIC = "int32_t uint32_t float int64_t uint64_t"
_EXCHANGED = "uint32_t uint64_t"
_ATOMIC_ADD = _declare_scalar(_scalar_add, "AtomicAdd", _ARITHMETIC)
_ATOMIC_MAX = _declare_scalar(_scalar_max, "AtomicMax", _ARITHMETIC)
_ATOMIC_MIN = _declare_scalar(_scalar_min, "AtomicMin", _ARITHMETIC)
_ATOMIC_EXCH = _declare_scalar(_scalar_exchange, "AtomicExch", _EXCHANGED)
_ATOMIC_CAS = _declare_scalar(_scalar_compare, "AtomicCas", _EXCHANGED)


def AtomicAdd(dtype: Any, address: Any, value: Any) -> Any:
    """``AtomicAdd(uint32_t, address, value)``: add in GM, return the old value."""
    return _update(_ATOMIC_ADD, dtype, address, (value,), sys._getframe(1))


def AtomicMax(dtype: Any, address: Any, value: Any) -> Any:
    """``AtomicMax(uint32_t, address, value)``: maximum in GM, return the old value."""
    return _update(_ATOMIC_MAX, dtype, address, (value,), sys._getframe(1))


def AtomicMin(dtype: Any, address: Any, value: Any) -> Any:
    """``AtomicMin(uint32_t, address, value)``: minimum in GM, return the old value."""
    return _update(_ATOMIC_MIN, dtype, address, (value,), sys._getframe(1))


def AtomicExch(dtype: Any, address: Any, value: Any) -> Any:
    """``AtomicExch(uint32_t, address, value)``: store in GM, return the old value."""
    return _update(_ATOMIC_EXCH, dtype, address, (value,), sys._getframe(1))


def AtomicCas(dtype: Any, address: Any, value1: Any, value2: Any) -> Any:
    """``AtomicCas(uint32_t, address, value1, value2)``: store value2 where GM holds value1."""
    return _update(_ATOMIC_CAS, dtype, address, (value1, value2), sys._getframe(1))


for _scalar_call, _spec in (
    (AtomicAdd, _ATOMIC_ADD), (AtomicMax, _ATOMIC_MAX), (AtomicMin, _ATOMIC_MIN),
    (AtomicExch, _ATOMIC_EXCH), (AtomicCas, _ATOMIC_CAS),
):  # fmt: skip
    publish(_scalar_call, _spec)


def _update(
    declared: InstructionSpec, dtype: Any, address: Any, values: tuple[Any, ...], frame: Any
) -> Any:
    core = current_core()
    spec = spec_for(declared.name, core)
    target = as_dtype(dtype)
    spec.require(core.arch, target, "count")
    ptr = gm_element(spec, address, target)
    scalars = [check_scalar(spec, target, value, "value") for value in values]
    core.keep_initial(ptr.allocation)
    key = (spec.name, target.code)
    plan = core.plans.get(key)
    if plan is None:
        operand = Operand("address", UPDATE, "GM", target, (Access(0, target.itemsize),))
        plan = core.plans[key] = Plan(spec, "scalar", (operand,), _applied(spec.rule, target))
    old = load(ptr, target)
    core.issue(plan, (ptr, *scalars), frame)
    return old.item()


def _applied(rule: Any, dtype: DType) -> Callable[..., None]:
    """Return the function that applies ``rule`` to one element of GM."""

    def run(ptr: GlobalAddress, *scalars: Any) -> None:
        new = dtype.numpy.type(rule(load(ptr, dtype), *scalars))
        raw = np.frombuffer(new.tobytes(), np.uint8)
        ptr.allocation.data[ptr.offset : ptr.offset + len(raw)] = raw

    return run


def load(ptr: GlobalAddress, dtype: DType) -> Any:
    """Return the element of GM at ``ptr``, past the data cache."""
    raw = ptr.allocation.data[ptr.offset : ptr.offset + dtype.itemsize]
    return np.frombuffer(raw.tobytes(), dtype.numpy)[0]


def gm_element(spec: InstructionSpec, address: Any, dtype: DType) -> GlobalAddress:
    """Return the GM address of one element, given as address or as a tensor's start.

    Raises
    ------
    ArgumentError, OutOfBoundsError
    """
    ptr = address._pointer() if isinstance(address, GlobalTensor) else address
    if not isinstance(ptr, GlobalAddress):
        raise ArgumentError(
            "needs a GM address",
            api=spec.name,
            argument="address",
            got=repr(address),
            legal="GM_ADDR, for example tensor.GetPhyAddr(offset)",
            source=spec.source,
        )
    if ptr.offset < 0 or ptr.offset + dtype.itemsize > ptr.end:
        raise OutOfBoundsError(
            "the element is outside the memory the kernel was given",
            code="memory.gm_bounds",
            api=spec.name,
            got=f"bytes {ptr.offset}..{ptr.offset + dtype.itemsize} of {ptr.allocation!r}",
            legal=f"bytes 0..{ptr.end}",
            source=spec.source,
        )
    return ptr
