"""Floating-point arithmetic: where infinities and NaN are born or lost, and whose bits it works on.

Elements are followed where every source has as many elements as the destination, or one; sums are
followed where all of them have equally many terms.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.analysis.formulas import FORMULAS, SUMS
from simulator.analysis.numbers.fields import FORMATS, Field, is_finite, is_nan, peak
from simulator.analysis.numbers.notes import Note, number
from simulator.analysis.numbers.origins import is_integer_code
from simulator.analysis.numbers.scene import Look, Scene
from simulator.enums import Arch
from simulator.sanitizer.place import tensor_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from simulator.core import Entry
    from simulator.instruction import Plan
    from simulator.memory import Bytes

    Bits = NDArray[Any]

EXTREMES: Final = frozenset(
    {
        "BlockReduceMax", "BlockReduceMin", "ReduceMax", "ReduceMin", "WholeReduceMax",
        "WholeReduceMin",
    }
)  # fmt: skip
_CLAMPS: Final = frozenset({"Max", "Min", "Maxs", "Mins", "Relu"})
_FLUSHING: Final = frozenset({"Div", "Exp", "ExpSub", "Reciprocal", "Rsqrt", "Sqrt"})
"""Calls that flush subnormals on 950."""

_NAN: Final = "num.nan_branch"
_BORN: Final = "num.first_nonfinite"


class Arithmetic(Look):
    """A unary or binary call, one with a scalar, or a reduction."""

    def __init__(self, plan: Plan, ub: Bytes, arch: Arch, switched: bool) -> None:
        super().__init__(plan, ub)
        self.floats = [source for source in self.sources if source.form is not None]
        self.target = self.targets[0] if self.targets else None
        if self.target is not None and not self.target.is_unique():
            self.target = None
        self.is_sum = self.name in SUMS
        self.is_extreme = self.name in EXTREMES
        computes = self.target is not None and self.target.form is not None
        self.looks = computes and bool(self.sources)
        self.drops = self.looks and (switched or self.is_extreme or self.name in _CLAMPS)
        self.flushes = self.looks and self.name in _FLUSHING and arch is Arch.DAV_3510
        self.in_place = [
            self.target is not None and self.target.overlaps(source) for source in self.sources
        ]
        self.in_register = self.is_sum and not self.targets and bool(self.floats)

    def around(self, scene: Scene, run: Callable[[], None]) -> None:
        """Execute the call and look at its operands and results."""
        for source in self.floats:
            others = scene.origins.others(source)
            if len(others):
                _note_other_bits(scene, source, others)
        if not self.looks:
            run()
            if self.in_register:
                self._register(scene)
            self.wrote(scene)
            return
        target = self.target
        if target is None:
            return
        before = [
            source.copied() if mine else None
            for source, mine in zip(self.sources, self.in_place, strict=True)
        ]
        run()
        scene.origins.wrote(target)
        form = FORMATS[target.dtype]
        bits = target.bits()
        if peak(bits, form) >= form.exponent and not self.is_extreme:
            self._born(scene, target, bits, before)
        if self.drops:
            self._dropped(scene, target, bits, before)
        if self.flushes:
            self._flushed(scene, target, bits, before)

    def wrote(self, scene: Scene) -> None:
        """Take note of the types of what the call wrote."""
        for target in self.targets:
            if target.dtype.is_float and not self.is_extreme:
                scene.origins.wrote(target)
            elif target.dtype.is_float:
                scene.origins.wrote_bits(target)
            else:
                scene.origins.counted(target, self.sources)

    # -- infinities and NaN ------------------------------------------------------------------------

    def _born(self, scene: Scene, target: Field, bits: Bits, before: list[Bits | None]) -> None:
        where = births(target, bits, self.sources, before, scalars_of(scene), summed=self.is_sum)
        if len(where):
            scene.notes.add(
                _BORN, scene.spot, target, where, say_born,
                partial(self._facts, scene, target, bits.copy(), before),
            )  # fmt: skip

    def _facts(
        self, scene: Scene, target: Field, bits: Bits, before: list[Bits | None], at: int
    ) -> dict[str, Any]:
        entry = scene.spot.entry
        operands: dict[str, Any] = {}
        for source, old in zip(self.sources, before, strict=True):
            held = source.bits() if old is None else old
            operands |= _operand(entry, source, held, at, len(bits))
        for value in scalars_of(scene):
            operands["scalar"] = value
        return {"result": target.one(bits, at), "operands": operands}

    def _register(self, scene: Scene) -> None:
        """Look at a sum that 910B leaves in a register."""
        source = self.floats[0]
        local = scene.block.local
        form = FORMATS[source.dtype]
        if local is None:
            return
        bits = local.reduce_registers[:1].astype(source.word)
        held = source.bits()
        if peak(bits, form) < form.exponent or peak(held, form) >= form.exponent:
            return
        scene.notes.add(
            _BORN, scene.spot, source, np.arange(len(held)), say_born,
            lambda at: {
                "result": source.one(bits, 0), "operands": _terms(scene.spot.entry, source, held),
                "in_register": True,
            },
            as_one=True,
        )  # fmt: skip

    def _dropped(self, scene: Scene, target: Field, bits: Bits, before: list[Bits | None]) -> None:
        form = FORMATS[target.dtype]
        for source, old in zip(self.sources, before, strict=True):
            # The slope of a positive element is not used.
            if source.form is None or (self.name == "Prelu" and source is self.sources[1]):
                continue
            held = source.bits() if old is None else old
            if peak(held, source.form) <= source.form.exponent:
                continue
            lost = is_nan(held, source.form)
            if self.is_extreme or self.is_sum:
                if is_nan(bits, form).any():
                    continue
            elif len(held) == len(bits):
                lost &= ~is_nan(bits, form)
            else:
                continue
            where = np.flatnonzero(lost)
            if len(where):
                scene.notes.add(
                    _NAN, scene.spot, source, where, say_dropped,
                    partial(_result, target, bits.copy()),
                )  # fmt: skip
                return

    # -- subnormals --------------------------------------------------------------------------------

    def _flushed(self, scene: Scene, target: Field, bits: Bits, before: list[Bits | None]) -> None:
        form = FORMATS[target.dtype]
        zero = np.flatnonzero(np.bitwise_and(bits, form.magnitude) == 0)
        if not len(zero) or any(len(source) != len(bits) for source in self.sources):
            return
        values = []
        for source, old in zip(self.sources, before, strict=True):
            held = (source.bits() if old is None else old)[zero]
            values.append(source.values(held).astype(np.float64))
        scalars = [np.float64(s) for s in scalars_of(scene)]
        with np.errstate(all="ignore"):
            exact = FORMULAS[self.name](np.zeros(len(zero)), *values, *scalars)
        least = float(np.ones(1, target.word).view(target.dtype.numpy)[0])
        lost = np.isfinite(exact) & (np.abs(exact) > least / 2)
        where = zero[lost]
        if len(where):
            first = float(exact[lost][0])
            x = [float(v[lost][0]) for v in values]
            scene.notes.add(
                "num.zero_sign", scene.spot, target, where, _say_flushed,
                lambda at: {"result": target.one(bits, at), "exact": first, "operands": x},
            )  # fmt: skip


def scalars_of(scene: Scene) -> list[float]:
    """Return the scalar arguments of the call under way."""
    return [float(p) for p in scene.params if isinstance(p, np.generic | int | float)]


def births(
    target: Field,
    bits: Bits,
    sources: list[Field],
    before: list[Bits | None],
    scalars: list[float],
    *,
    summed: bool = False,
) -> NDArray[np.int64]:
    """Return the elements that are not finite although all their operands are."""
    bad = ~is_finite(bits, FORMATS[target.dtype])
    nowhere = np.zeros(0, np.int64)
    if not all(np.isfinite(scalar) for scalar in scalars):
        return nowhere
    for source, old in zip(sources, before, strict=True):
        if source.form is None:
            continue
        held = source.bits() if old is None else old
        finite = is_finite(held, source.form)
        if len(held) == len(bits):
            bad &= finite
        elif summed and len(held) % len(bits) == 0:
            bad &= finite.reshape(len(bits), -1).all(axis=1)
        elif not finite.all():
            return nowhere
    return np.flatnonzero(bad)


def _result(target: Field, bits: Bits, at: int) -> dict[str, Any]:
    return {"result": target.one(bits, at if at < len(bits) else 0)}


def _operand(entry: Entry, source: Field, held: Bits, at: int, count: int) -> dict[str, Any]:
    """Return name and value of what an operand contributed to element ``at`` of ``count``."""
    name = tensor_name(entry, source.operand)
    if len(held) == count:
        return {name: source.one(held, at)}
    if len(held) == 1:
        return {name: source.one(held, 0)}
    each = len(held) // count
    return _terms(entry, source, held[at * each : (at + 1) * each])


def _terms(entry: Entry, source: Field, held: Bits) -> dict[str, Any]:
    values = source.values(held).astype(np.float64)
    name = tensor_name(entry, source.operand)
    return {
        f"{len(values)} elements of {name}, the largest": float(values[np.abs(values).argmax()])
    }


# -- bits of another type --------------------------------------------------------------------------


def _note_other_bits(scene: Scene, source: Field, others: NDArray[np.int64]) -> None:
    """Report bits of another type.

    Bits of integers that are ordinary numbers may have been made to be numbers.
    """
    form = FORMATS[source.dtype]
    bits = source.bits()[others]
    magnitude = np.bitwise_and(bits, form.magnitude)
    odd = (magnitude >= form.exponent) | ((magnitude < form.normal) & (magnitude > 0))
    told = odd | ~is_integer_code(scene.origins.codes_of(source, others))
    where = others[told]
    if not len(where):
        return
    special = where[magnitude[told] >= form.exponent]
    example = int(special[0] if len(special) else where[0])
    facts = {
        "written_as": scene.origins.type_of(source, example).name,
        "element": source.element(example),
        "value": source.one(source.bits(), example),
        "special": 0,
    }
    note = scene.notes.add(
        "num.bits_as_other", scene.spot, source, where, _say_bits, lambda at: facts
    )
    note.facts["special"] += len(special)


# -- what is said ----------------------------------------------------------------------------------


def _kind(value: float) -> str:
    return "NaN" if np.isnan(value) else number(value)


def say_born(note: Note) -> tuple[str, str]:
    """Return message and fix for the first infinity or NaN."""
    operands = note.facts["operands"]
    values = ", ".join(f"{name} = {number(value)}" for name, value in operands.items())
    result = note.facts["result"]
    where = "" if note.facts.get("in_register") else f" at {note.name}[{note.at}]"
    message = (
        f"{note.call} makes the first {_kind(result)}{where} of finite operands: {values}; "
        f"{note.elements()} in all"
    )
    name = note.call
    if name in SUMS:
        fix = "add up in float, or scale the elements before they are added"
    elif name in ("Div", "Divs", "Reciprocal", "Rsqrt", "Ln", "Log"):
        fix = "keep zeros out of this call, for example with Maxs or Select in front of it"
    elif np.isnan(result):
        fix = "keep values out of this call for which it is not defined"
    else:
        fix = (
            "scale the operands down before this call instead of its result behind it, or compute "
            "in float"
        )
    return message, fix


def say_dropped(note: Note) -> tuple[str, str]:
    """Return message and fix for NaN that a call turns into a number."""
    return (
        f"{note.call} makes {number(note.facts['result'])} of NaN in {note.name}[{note.at}]; "
        f"{note.elements()} in all",
        "put NaN back behind it where the operator has to keep it: compare the input with itself "
        "(CMPMODE.EQ) and Select",
    )


def _say_flushed(note: Note) -> tuple[str, str]:
    config = note.api.removesuffix("Sub")
    return (
        f"{note.api} flushes {note.name}[{note.at}] to {number(note.facts['result'])}, exactly it "
        f"is {number(note.facts['exact'])}; {note.elements()} in all",
        f"choose an algorithm that keeps subnormals (config={config}Config(...)), or scale the "
        "operands up first",
    )


def _say_bits(note: Note) -> tuple[str, str]:
    written, special = note.facts["written_as"], note.facts["special"]
    shown = note.shown.dtype.name
    text = (
        f"{note.api} computes with {note.name} as {shown}, and {note.elements()} of it were "
        f"written as {written}: {note.name}[{note.facts['element']}] is "
        f"{_kind(note.facts['value'])} in that view"
    )
    if special:
        text += f", {special} of them NaN or infinite"
    return (
        text,
        f"Cast from {written} to {shown} to convert the values; to move bits, use Copy or an "
        "integer view",
    )
