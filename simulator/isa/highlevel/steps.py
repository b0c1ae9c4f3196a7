"""The basic calls that a high-level call consists of, on UB (910B) or in registers (950).

On 910B the library sets the mask register to Counter mode and issues basic calls on temporary
tensors, with a barrier after each. On 950 it is one vector function: each step works on registers,
only the first reads UB and only the last writes it. Either way every step is in the record under
the name of its basic call and is costed as that call.

Source: mirror-cann/asc-devkit impl/adv_api/detail (math, activation).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.dtypes import DType, float32
from simulator.enums import PipeID, RoundMode
from simulator.instruction import READ, WRITE, Plan, VectorWork
from simulator.isa.arithmetic import Add, Div, Max, Min, Mul, Sub
from simulator.isa.checks import check_scalar, spec_for
from simulator.isa.conversion import Cast, converter
from simulator.isa.fill import Duplicate
from simulator.isa.lanes import dense_operand, dense_view
from simulator.isa.masks import MASK_PLACEHOLDER
from simulator.isa.params import BinaryRepeatParams, UnaryRepeatParams
from simulator.isa.plans import bound_rule
from simulator.isa.sync import PipeBarrier
from simulator.isa.unary_math import Abs, Exp, Ln, Reciprocal, Rsqrt, Sqrt
from simulator.isa.vector_scalar import Adds, Maxs, Mins, Muls

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from numpy.typing import NDArray

    from simulator.core import AICore
    from simulator.tensor import LocalTensor

_UNARY = UnaryRepeatParams()
_BINARY = BinaryRepeatParams()


class Steps:
    """Basic calls over all elements in hand; ``dst`` and ``src`` are what the back end works on."""

    def muls(self, dst: Any, src: Any, scalar: float) -> None:
        """``dst = src * scalar``."""
        self._scalar(Muls, dst, src, scalar)

    def adds(self, dst: Any, src: Any, scalar: float) -> None:
        """``dst = src + scalar``."""
        self._scalar(Adds, dst, src, scalar)

    def maxs(self, dst: Any, src: Any, scalar: float) -> None:
        """``dst = max(src, scalar)``."""
        self._scalar(Maxs, dst, src, scalar)

    def mins(self, dst: Any, src: Any, scalar: float) -> None:
        """``dst = min(src, scalar)``."""
        self._scalar(Mins, dst, src, scalar)

    def add(self, dst: Any, src0: Any, src1: Any) -> None:
        """``dst = src0 + src1``."""
        self._tensors(Add, dst, src0, src1)

    def sub(self, dst: Any, src0: Any, src1: Any) -> None:
        """``dst = src0 - src1``."""
        self._tensors(Sub, dst, src0, src1)

    def mul(self, dst: Any, src0: Any, src1: Any) -> None:
        """``dst = src0 * src1``."""
        self._tensors(Mul, dst, src0, src1)

    def div(self, dst: Any, src0: Any, src1: Any) -> None:
        """``dst = src0 / src1``."""
        self._tensors(Div, dst, src0, src1)

    def max(self, dst: Any, src0: Any, src1: Any) -> None:
        """``dst = max(src0, src1)``."""
        self._tensors(Max, dst, src0, src1)

    def min(self, dst: Any, src0: Any, src1: Any) -> None:
        """``dst = min(src0, src1)``."""
        self._tensors(Min, dst, src0, src1)

    def abs(self, dst: Any, src: Any) -> None:
        """``dst = |src|``."""
        self._tensors(Abs, dst, src)

    def exp(self, dst: Any, src: Any) -> None:
        """``dst = e ** src``."""
        self._tensors(Exp, dst, src)

    def ln(self, dst: Any, src: Any) -> None:
        """``dst = ln(src)``."""
        self._tensors(Ln, dst, src)

    def sqrt(self, dst: Any, src: Any) -> None:
        """``dst = sqrt(src)``."""
        self._tensors(Sqrt, dst, src)

    def rsqrt(self, dst: Any, src: Any) -> None:
        """``dst = 1 / sqrt(src)``."""
        self._tensors(Rsqrt, dst, src)

    def reciprocal(self, dst: Any, src: Any) -> None:
        """``dst = 1 / src``."""
        self._tensors(Reciprocal, dst, src)

    def cast(self, dst: Any, src: Any, mode: RoundMode = RoundMode.CAST_NONE) -> None:
        """``dst = convert(src)``."""
        raise NotImplementedError

    def duplicate(self, dst: Any, scalar: float) -> None:
        """``dst = scalar``."""
        raise NotImplementedError

    def _scalar(self, call: Callable[..., Any], dst: Any, src: Any, scalar: float) -> None:
        raise NotImplementedError

    def _tensors(self, call: Callable[..., Any], dst: Any, *srcs: Any) -> None:
        raise NotImplementedError


class UbSteps(Steps):
    """Basic calls on UB tensors under the mask register, in Counter mode, each with a barrier.

    ``count`` is what the mask register holds.
    """

    def __init__(self, count: int) -> None:
        self.count = count

    def _scalar(self, call: Callable[..., Any], dst: Any, src: Any, scalar: float) -> None:
        call(dst, src, scalar, MASK_PLACEHOLDER, 1, _UNARY, False)
        PipeBarrier(PipeID.PIPE_V)

    def _tensors(self, call: Callable[..., Any], dst: Any, *srcs: Any) -> None:
        params = _UNARY if len(srcs) == 1 else _BINARY
        call(dst, *srcs, MASK_PLACEHOLDER, 1, params, False)
        PipeBarrier(PipeID.PIPE_V)

    def cast(self, dst: Any, src: Any, mode: RoundMode = RoundMode.CAST_NONE) -> None:
        """``dst = convert(src)``; the narrower operand advances by half a repeat."""
        sizes = dst.dtype.itemsize, src.dtype.itemsize
        strides = tuple(8 * size // max(sizes) for size in sizes)
        Cast(dst, src, mode, MASK_PLACEHOLDER, 1, UnaryRepeatParams(1, 1, *strides), False)
        PipeBarrier(PipeID.PIPE_V)

    def duplicate(self, dst: Any, scalar: float) -> None:
        """``dst = scalar``."""
        Duplicate(dst, scalar, self.count, 1, 1, 8)
        PipeBarrier(PipeID.PIPE_V)


class Register:
    """Elements that a vector function holds in registers: a type and an array."""

    __slots__ = ("dtype", "values")

    def __init__(self, dtype: DType, values: NDArray[Any]) -> None:
        self.dtype = dtype
        self.values = values


class RegisterSteps(Steps):
    """The steps of one vector function over ``count`` elements, collected as plans.

    Parameters
    ----------
    core : AICore
        Core that will run them.
    name : str
        High-level call that they belong to.
    count : int
        Elements of the call.
    """

    def __init__(self, core: AICore, name: str, count: int) -> None:
        self.core = core
        self.name = name
        self.count = count
        self._steps: list[tuple[Any, Callable[..., Any], str]] = []
        self._loads: list[tuple[Register, LocalTensor]] = []

    def register(self, dtype: DType = float32) -> Register:
        """Return a register of ``dtype``."""
        return Register(dtype, np.zeros(self.count, dtype.numpy))

    def load(self, tensor: LocalTensor) -> Register:
        """Return a register that holds the first elements of ``tensor``."""
        register = self.register(tensor.dtype)
        self._loads.append((register, tensor))
        return register

    def _scalar(self, call: Callable[..., Any], dst: Any, src: Any, scalar: float) -> None:
        spec = spec_for(call.__name__, self.core)
        rule = bound_rule(self.core, spec, (dst, src))
        value = check_scalar(spec, src.dtype, scalar)
        self._add(spec, partial(rule, dst.values, src.values, value), dst.dtype.name)

    def _tensors(self, call: Callable[..., Any], dst: Any, *srcs: Any) -> None:
        spec = spec_for(call.__name__, self.core)
        rule = bound_rule(self.core, spec, (dst, *srcs))
        self._add(spec, partial(rule, dst.values, *(s.values for s in srcs)), dst.dtype.name)

    def cast(self, dst: Any, src: Any, mode: RoundMode = RoundMode.CAST_NONE) -> None:
        """``dst = convert(src)``."""
        _, rule = converter(self.core, src.dtype, dst.dtype, mode, "count")
        key = f"{src.dtype.name}:{dst.dtype.name}"
        self._add(spec_for("Cast", self.core), partial(rule, dst.values, src.values), key)

    def duplicate(self, dst: Any, scalar: float) -> None:
        """``dst = scalar``."""
        spec = spec_for("Duplicate", self.core)
        value = check_scalar(spec, dst.dtype, scalar)
        self._add(spec, partial(np.copyto, dst.values, value), dst.dtype.name)

    def apply(
        self, call: str, dst: Register, srcs: tuple[Register, ...], rule: Callable[..., Any]
    ) -> None:
        """Append a step of ``call`` with an element rule of its own: ``rule(out, *sources)``."""
        spec = spec_for(call, self.core)
        run = partial(rule, dst.values, *(s.values for s in srcs))
        self._add(spec, run, srcs[-1].dtype.name if srcs else dst.dtype.name)

    def _add(self, spec: Any, run: Callable[..., Any], dtype_key: str) -> None:
        self._steps.append((spec, run, dtype_key))

    def finish(self, dst: LocalTensor, result: Register) -> list[Plan]:
        """Return the plans: the first loads what was asked for, the last stores ``result``."""
        core, count = self.core, self.count
        lanes = 64
        plans = []
        for spec, run, dtype_key in self._steps:
            work = VectorWork(dtype_key, -(-count // lanes), count, False, False)
            details = {"count": count, "of": self.name}
            plans.append(Plan(spec, "register", (), run, work=work, details=details))
        first, last = plans[0], plans[-1]
        pairs = [(reg.values, dense_view(core, tensor, count)) for reg, tensor in self._loads]
        first.run = partial(_after_loads, pairs, first.run)
        reads = [
            dense_operand(f"src{i}" if len(pairs) > 1 else "src", READ, tensor, count)
            for i, (_, tensor) in enumerate(self._loads)
        ]
        first.operands = (*first.operands, *reads)
        last.run = partial(_then_store, last.run, dense_view(core, dst, count), result.values)
        last.operands = (dense_operand("dst", WRITE, dst, count), *last.operands)
        return plans


def _after_loads(pairs: list[tuple[Any, Any]], run: Callable[[], Any]) -> None:
    for register, view in pairs:
        register[...] = view
    run()


def _then_store(run: Callable[[], Any], view: Any, values: Any) -> None:
    run()
    view[...] = values


def issue_all(core: AICore, plans: list[Plan], frame: FrameType) -> None:
    """Issue the steps of a vector function."""
    for plan in plans:
        core.issue(plan, (), frame)
