"""High-level calls of one source: ``(dst, src[, sharedTmpBuffer][, calCount])``.

On 910B the elements are worked on in pieces that fit the temporary buffer. On 950 the call is one
vector function and the temporary buffer is not used.

Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/高阶API and impl/adv_api/detail.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from simulator.dtypes import DType, float32, half
from simulator.enums import Arch, RoundMode
from simulator.isa.highlevel.calls import (
    HALF_FLOAT,
    NO_SCRATCH,
    Scratch,
    checked,
    composite,
    declare_high_level,
    in_pieces,
    parse_unary,
    run_registers,
    scratch_tensors,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.core import AICore
    from simulator.instruction import InstructionSpec, Plan
    from simulator.isa.highlevel.registers import Register, RegisterSteps
    from simulator.isa.highlevel.steps import UbSteps
    from simulator.tensor import LocalTensor

    Formula = Callable[..., None]


class _Given(NamedTuple):
    dst: LocalTensor
    src: LocalTensor
    tmp: LocalTensor | None
    number: int
    reuse: bool


@dataclass(frozen=True)
class _Unary:
    """How a call of one source is calculated; see :func:`unary`."""

    formula: Formula
    scratch: dict[DType, Scratch]
    reuse_scratch: Scratch | None
    convert_half: bool
    back: RoundMode
    registers: Callable[[RegisterSteps, Register], Register] | None
    native_950: bool

    def on_910b(self, core: AICore, spec: InstructionSpec, given: _Given) -> None:
        """Issue the basic calls on UB, piece by piece."""
        dst, src = given.dst, given.src
        converted = dst.dtype is half and self.convert_half
        scratch = self.scratch.get(dst.dtype, NO_SCRATCH)
        reused = given.reuse and dst.dtype is float32 and self.reuse_scratch is not None
        if reused and self.reuse_scratch is not None:
            scratch = self.reuse_scratch
        split = given.number
        temps: list[LocalTensor] = []
        if scratch.slots:
            split, temps = scratch_tensors(core, spec, given.tmp, scratch)

        def body(steps: UbSteps, at: int) -> None:
            if converted:
                values = temps[-1]
                steps.cast(values, src[at])
                self.formula(steps, values, values, *temps[:-1])
                steps.cast(dst[at], values, self.back)
            else:
                extra = [src[at]] if reused else []
                self.formula(steps, dst[at], src[at], *temps, *extra)

        in_pieces(given.number, split, body)

    def on_950(self, steps: RegisterSteps, given: _Given) -> list[Plan]:
        """Return the steps of the vector function."""
        values = steps.load(given.src)
        narrow = values.dtype is half and not self.native_950
        if narrow:
            converted = steps.register(float32)
            steps.cast(converted, values)
            values = converted
        if self.registers is not None:
            result = self.registers(steps, values)
        else:
            result = steps.register(values.dtype)
            slots = self.scratch.get(float32, NO_SCRATCH).slots
            temps = [steps.register(values.dtype) for _ in range(slots)]
            self.formula(steps, result, values, *temps)
        if narrow:
            stored = steps.register(half)
            steps.cast(stored, result)
            result = stored
        return steps.finish(given.dst, result)


def unary(
    page: str,
    *,
    half_scratch: Scratch = NO_SCRATCH,
    float_scratch: Scratch = NO_SCRATCH,
    reuse_scratch: Scratch | None = None,
    convert_half: bool = True,
    back: RoundMode = RoundMode.CAST_NONE,
    registers: Callable[[RegisterSteps, Register], Register] | None = None,
    native_950: bool = False,
    dtypes: dict[Arch, str] = HALF_FLOAT,
) -> Callable[[Formula], Callable[..., None]]:
    """Declare ``(dst, src[, sharedTmpBuffer][, calCount])`` from a formula.

    ``formula(steps, dst, src, *slots)`` writes ``dst`` with basic calls; ``slots`` are temporary
    values of the type of the calculation.

    Parameters
    ----------
    page : str
        Reference page below 高阶API.
    half_scratch, float_scratch : Scratch
        Temporary space on 910B. With ``convert_half`` the last slot of half holds the converted
        values; the formula gets the others.
    reuse_scratch : Scratch, optional
        Space for float with ``isReuseSource``; the formula then gets ``src`` as its last slot.
    convert_half : bool
        Whether 910B calculates half in float.
    back : RoundMode
        Rounding of the conversion back to half on 910B.
    registers : callable, optional
        ``registers(steps, values)`` is the formula of the 950 where it differs.
    native_950 : bool
        Whether 950 calculates half in half.
    dtypes : dict
        Element types per architecture.
    """

    def decorate(formula: Formula) -> Callable[..., None]:
        name = formula.__name__
        scratch = {half: half_scratch, float32: float_scratch}
        rules = _Unary(formula, scratch, reuse_scratch, convert_half, back, registers, native_950)

        def call(
            dst: Any, src: Any, *args: Any, calCount: Any = None, isReuseSource: bool = False
        ) -> None:
            tmp, count = parse_unary(name, args, calCount)
            core, spec, number = checked(name, (dst, src), ("dst", "src"), count)
            given = _Given(dst, src, tmp, number, isReuseSource)
            frame = sys._getframe(1)
            with composite(core, frame):
                if core.arch is Arch.DAV_3510:
                    key = (name, dst._key, src._key, number, core.numeric_mode)
                    run_registers(
                        core, key, name, number, lambda steps: rules.on_950(steps, given), frame
                    )
                elif number:
                    rules.on_910b(core, spec, given)

        call.__name__ = call.__qualname__ = name
        call.__module__ = formula.__module__
        call.__doc__ = formula.__doc__
        declare_high_level(call, dtypes, page)
        return call

    return decorate
