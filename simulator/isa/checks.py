"""Checks of arguments that many calls share; each raises at the user's line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.core import current_core
from simulator.dtypes import DType, complex32
from simulator.errors import ArgumentError, SimulatorError
from simulator.instruction import REGISTRY
from simulator.isa.params import check_range
from simulator.tensor import LocalTensor, TensorExpression

if TYPE_CHECKING:
    from simulator.core import AICore
    from simulator.instruction import InstructionSpec


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
        spec = next(iter(by_arch.values()))
        spec.require(core.arch, None, "count")
    return spec


def require_local(api: str, name: str, tensor: object) -> LocalTensor:
    """Return ``tensor`` if it is a LocalTensor.

    Raises
    ------
    ArgumentError
    """
    if isinstance(tensor, TensorExpression):
        raise ArgumentError(
            f"{name} must be a LocalTensor in UB",
            api=api,
            argument=name,
            got=f"an operator on tensors: {tensor!r}",
            legal="LocalTensor",
            fix="give it a destination first, dst[:] = left + right; an offset is tensor[offset]",
        )
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


def fail_unless_tensor(error: AttributeError, spec_name: str, *tensors: object) -> SimulatorError:
    """Explain an attribute error that comes from an argument that is no tensor."""
    for tensor in tensors:
        require_local(spec_name, "operand", tensor)
    raise error


def check_count(spec: InstructionSpec, count: Any) -> int:
    """Return ``count`` if it is a non-negative whole number.

    A float that is whole counts as one, as C++ converts it: plans are found by equality, where 64
    and 64.0 are the same.

    Raises
    ------
    ArgumentError
    """
    whole = int(count) if isinstance(count, float) and count.is_integer() else count
    check_range(spec.name, "count", whole, 0, 2**31 - 1, spec.source)
    return int(whole)


def check_scalar(spec: InstructionSpec, dtype: DType, value: Any, name: str = "scalarValue") -> Any:
    """Return ``value`` as a scalar of the element type.

    Floating-point and complex types round to nearest even; integer types must hold the value
    exactly.

    Raises
    ------
    ArgumentError
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    number: Any = value if isinstance(value, int | float | complex | np.number) else None
    if number is None and isinstance(value, np.generic):
        number = float(value)  # bfloat16 and the 8-bit floats of ml_dtypes are no np.number
    if number is None or (dtype.kind != "c" and isinstance(number, complex | np.complexfloating)):
        raise ArgumentError(
            f"{name} must be a {'number' if number is None else 'real number'}",
            api=spec.name,
            argument=name,
            got=f"{value!r} ({type(value).__name__})",
            legal=f"a scalar of type {dtype.name}",
        )
    if dtype is complex32:
        parts = np.array([number.real, number.imag]).astype(np.float16)
        return parts.view(np.uint32)[0]
    if dtype.kind in "fc":
        scalar = dtype.numpy.type(number)
        if isinstance(number, int | np.integer) and dtype.is_float and float(scalar) != int(number):
            core = current_core()
            core.rounded[len(core.record)] = (int(number), dtype.name, scalar)
        return scalar
    info = np.iinfo(dtype.numpy)
    if not info.min <= number <= info.max or int(number) != number:
        raise ArgumentError(
            f"{name} does not fit {dtype.name}",
            api=spec.name,
            argument=name,
            got=value,
            legal=f"an integer in {info.min}..{info.max}",
        )
    return dtype.numpy.type(int(number))
