"""The steps of a high-level call on 950: one vector function whose steps work on registers.

Only the first step reads UB and only the last writes it. Each step is in the record under the name
of its basic call and is costed as that call.

Source: mirror-cann/asc-devkit impl/adv_api/detail (the files of 3510).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.dtypes import DType, float32, uint8_t
from simulator.enums import CMPMODE, DivAlgo, RoundMode
from simulator.instruction import READ, WRITE, Plan, VectorWork
from simulator.isa.checks import check_scalar, spec_for
from simulator.isa.conversion import converter
from simulator.isa.highlevel.steps import Steps
from simulator.isa.lanes import dense_operand, dense_view
from simulator.isa.plans import bound_rule

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from numpy.typing import NDArray

    from simulator.core import AICore
    from simulator.tensor import LocalTensor

_COMPARISONS: Final[dict[CMPMODE, Any]] = {
    CMPMODE.LT: np.less,
    CMPMODE.GT: np.greater,
    CMPMODE.EQ: np.equal,
    CMPMODE.LE: np.less_equal,
    CMPMODE.GE: np.greater_equal,
    CMPMODE.NE: np.not_equal,
}


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
        self._widest = 1
        self._steps: list[tuple[Any, Callable[..., Any], str, int]] = []
        self._loads: list[tuple[Register, LocalTensor]] = []

    def register(self, dtype: DType = float32, count: int | None = None) -> Register:
        """Return a register of ``dtype`` for all elements, or for ``count``."""
        self._widest = max(self._widest, dtype.itemsize)
        return Register(dtype, np.zeros(self.count if count is None else count, dtype.numpy))

    def load(self, tensor: LocalTensor, count: int | None = None) -> Register:
        """Return a register that holds the first elements of ``tensor``."""
        register = self.register(tensor.dtype, count)
        self._loads.append((register, tensor))
        return register

    def _scalar(self, call: Callable[..., Any], dst: Any, src: Any, scalar: float) -> None:
        spec = spec_for(call.__name__, self.core)
        rule = bound_rule(self.core, spec, (dst, src))
        value = check_scalar(spec, src.dtype, scalar)
        self._add(spec, partial(rule, dst.values, src.values, value), dst.dtype.name)

    def tensors(self, call: Callable[..., Any], dst: Any, *srcs: Any) -> None:
        """``dst = call(*srcs)`` of one or two sources."""
        spec = spec_for(call.__name__, self.core)
        rule = bound_rule(self.core, spec, (dst, *srcs))
        self._add(spec, partial(rule, dst.values, *(s.values for s in srcs)), dst.dtype.name)

    def div_small(self, dst: Any, src0: Any, src1: Any) -> None:
        """``dst = src0 / src1``, subnormals included."""
        spec = spec_for("Div", self.core)
        rule = bound_rule(self.core, spec, (dst, src0, src1), DivAlgo.PRECISION_1ULP_FTZ_FALSE)
        self.apply("Div", dst, (src0, src1), rule)

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

    def space(self, values: Register, dtype: DType) -> Register:
        """Return another register."""
        return self.register(dtype, len(values.values))

    def mask(self) -> Register:
        """Return a mask register: a truth value a lane."""
        return Register(uint8_t, np.zeros(self.count, bool))

    def compare(self, dst: Register, src: Register, other: Any, mode: CMPMODE) -> None:
        """``dst = src <mode> other``; ``other`` is a register or a number."""
        rule = _COMPARISONS[mode]
        if isinstance(other, Register):
            self.apply("Compare", dst, (src, other), lambda out, a, b: rule(a, b, out=out))
        else:
            spec = spec_for("CompareScalar", self.core)
            value = check_scalar(spec, src.dtype, other)
            self.apply("CompareScalar", dst, (src,), lambda out, a: rule(a, value, out=out))

    def choose(self, dst: Register, mask: Register, one: Register, other: Register) -> None:
        """``dst = one`` where the mask holds, else ``other``."""
        chosen = mask.values
        self.apply(
            "Select", dst, (one, other), lambda out, a, b: np.copyto(out, np.where(chosen, a, b))
        )

    def apply(
        self,
        call: str,
        dst: Register,
        srcs: tuple[Register, ...],
        rule: Callable[..., Any],
        count: int | None = None,
    ) -> None:
        """Append a step of ``call`` with an element rule of its own: ``rule(out, *sources)``.

        ``count`` is how many elements it works on, if not all.
        """
        run = partial(rule, dst.values, *(s.values for s in srcs))
        key = srcs[-1].dtype.name if srcs else dst.dtype.name
        self._add(spec_for(call, self.core), run, key, count)

    def _add(
        self, spec: Any, run: Callable[..., Any], dtype_key: str, count: int | None = None
    ) -> None:
        self._steps.append((spec, run, dtype_key, self.count if count is None else count))

    def finish(self, dst: LocalTensor, result: Register) -> list[Plan]:
        """Return the plans: the first loads what was asked for, the last stores ``result``."""
        core = self.core
        # A step of 64-bit elements takes two registers.
        lanes = 256 // min(self._widest, 4)
        plans = []
        for spec, run, dtype_key, count in self._steps:
            work = VectorWork(dtype_key, -(-count // lanes), count, False, False)
            details = {"count": count, "of": self.name}
            plans.append(Plan(spec, "register", (), run, work=work, details=details))
        first, last = plans[0], plans[-1]
        pairs = [
            (reg.values, dense_view(core, tensor, len(reg.values))) for reg, tensor in self._loads
        ]
        first.run = partial(_after_loads, pairs, first.run)
        reads = [
            dense_operand(f"src{i}" if len(pairs) > 1 else "src", READ, tensor, len(reg.values))
            for i, (reg, tensor) in enumerate(self._loads)
        ]
        first.operands = (*first.operands, *reads)
        stored = len(result.values)
        last.run = partial(_then_store, last.run, dense_view(core, dst, stored), result.values)
        last.operands = (dense_operand("dst", WRITE, dst, stored), *last.operands)
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
