"""Element rules, and how they change with element type, saturation switches and architecture.

An element rule is ``rule(out, *sources, *scalars)`` on arrays of any shape. It reads every source
before it writes ``out``, because ``out`` may be one of them. :class:`ElementRule` keeps the plain
rule of an instruction and a *build* function that returns what runs in a :class:`Context`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, update_wrapper
from typing import Any, NamedTuple

import numpy as np

from simulator.dtypes import DType, bfloat16_t, half
from simulator.enums import Arch
from simulator.isa.saturation import SATURATE_FLOAT, SATURATE_INT
from simulator.numerics import integer_arithmetic, saturate_float

Rule = Callable[..., None]


class Context(NamedTuple):
    """What a rule may depend on.

    Attributes
    ----------
    arch : Arch
        Architecture of the core.
    dtypes : tuple of DType
        Element types of the operands, destination first.
    mode : int
        Saturation switches (``simulator.isa.saturation``).
    algo : enum or None
        Algorithm of a template configuration (950); None for the default.
    """

    arch: Arch
    dtypes: tuple[DType, ...]
    mode: int = 0
    algo: Any = None

    @property
    def dst(self) -> DType:
        """Element type of the destination."""
        return self.dtypes[0]

    @property
    def src(self) -> DType:
        """Element type of the last source."""
        return self.dtypes[-1]

    @property
    def saturates(self) -> bool:
        """Whether infinities of the destination become its extremes, and NaN zero."""
        return bool(self.mode & SATURATE_FLOAT) and self.dst in (half, bfloat16_t)

    @property
    def clamps(self) -> bool:
        """Whether integer sums and products clamp: CTRL[48] = 0 on 910B, CTRL[53] = 1 on 950."""
        switch = SATURATE_INT if self.arch is Arch.DAV_3510 else SATURATE_FLOAT
        return bool(self.mode & switch)


Build = Callable[[Rule, Context], Rule]


def saturated(rule: Rule, context: Context) -> Rule:
    """Return ``rule``, followed by a clamp of float results where the mode asks for it."""
    if not context.saturates:
        return rule
    dtype = context.dst

    def clamped(out: Any, *operands: Any) -> None:
        rule(out, *operands)
        saturate_float(out, dtype)

    return clamped


def integer_or(name: str, complex_rule: Rule | None = None) -> Build:
    """Return the build of ``add``, ``sub`` or ``mul``: integers clamp where the mode says so.

    ``complex_rule`` takes over for complex types.
    """
    clamping = integer_arithmetic(name, clamp=True)

    def clamp(out: Any, left: Any, right: Any) -> None:
        # As arrays: 64-bit sums go through Python integers, which numpy scalars would not become.
        clamping(np.asarray(left), np.asarray(right), out)

    def build(rule: Rule, context: Context) -> Rule:
        if context.dst.kind == "c" and complex_rule is not None:
            return partial(complex_rule, context)
        if context.dst.kind in "iu" and context.clamps:
            return clamp
        return saturated(rule, context)

    return build


def using(*makers: Callable[[Context], Rule]) -> Build:
    """Return a build that hands the rule its primitives: ``rule(*primitives, out, *operands)``."""

    def build(rule: Rule, context: Context) -> Rule:
        return saturated(partial(rule, *(make(context) for make in makers)), context)

    return build


class ElementRule:
    """The rule of an instruction: its plain form and how it is built in a context.

    Parameters
    ----------
    plain : callable
        The declared rule; its name and documentation are the instruction's.
    build : callable
        ``build(plain, context)`` returns the rule to run.
    lanes : mapping, optional
        (architecture, element type) to the type that the instruction really counts and computes in.
    """

    def __init__(
        self,
        plain: Rule,
        build: Build = saturated,
        lanes: Mapping[tuple[Arch, DType], DType] | None = None,
    ) -> None:
        self.plain = plain
        self.build = build
        self.lanes = lanes or {}
        update_wrapper(self, plain)

    __name__: str

    def __call__(self, *operands: Any) -> None:
        """Run the plain rule."""
        self.plain(*operands)

    def bind(self, context: Context) -> Rule:
        """Return the rule to run in ``context``."""
        return self.build(self.plain, context)
