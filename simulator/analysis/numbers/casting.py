"""Cast: rounding twice, rounding another way, values out of range, and integers that do not fit.

Left out are the packed 4-bit types and complex numbers. A conversion between equal types rounds to
whole numbers on purpose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.analysis.numbers.fields import Field, is_nan, peak
from simulator.analysis.numbers.notes import Note, number
from simulator.analysis.numbers.scene import SWITCHES, Kept, Look, Scene
from simulator.dtypes import DType, bfloat16_t, double, float32, half
from simulator.enums import Arch, RoundMode
from simulator.numerics import Overflow, cast_rules, caster
from simulator.numerics.rounding import to_integral
from simulator.numerics.wide import any_float_to_integer, float_to_narrower, integer_range
from simulator.sanitizer.place import place

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from simulator.instruction import Plan
    from simulator.memory import Bytes

    Values = NDArray[Any]

_EXACT: Final = (Overflow.EXACT, Overflow.IEEE)
_IN_RANGE: Final = (*_EXACT, Overflow.ROUNDED)
_ONE_SIDED: Final = frozenset(
    {RoundMode.CAST_FLOOR, RoundMode.CAST_CEIL, RoundMode.CAST_ROUND, RoundMode.CAST_TRUNC}
)
_PRECISION: Final = {half: 11, bfloat16_t: 8, float32: 24, double: 53}
_LARGEST: Final = {half: 65504.0, bfloat16_t: 2.0**128 - 2.0**120, float32: 2.0**128 - 2.0**104}

_LARGEST_FP8: Final = {"fp8_e4m3fn_t": 448.0, "fp8_e5m2_t": 57344.0}


@dataclass(frozen=True)
class _Settings:
    """Control bits of a conversion; see ``simulator.numerics.caster``."""

    nonsaturating: bool = True
    cast_truncate: bool = False


_DEFAULT: Final = _Settings()
_ALL: Final = tuple(_Settings(n, t) for n in (True, False) for t in (False, True))


class Conversion(Look):
    """A Cast."""

    def __init__(self, plan: Plan, ub: Bytes, arch: Arch) -> None:
        super().__init__(plan, ub)
        self.arch = arch
        self.source = self.sources[0] if self.sources else None
        self.target = self.targets[0] if self.targets else None
        self.mode = RoundMode[plan.details.get("roundMode", "CAST_NONE")]
        self.rule = None
        # A step of a library call that works on registers tells no mode.
        if self.source is None or self.target is None or "roundMode" not in plan.details:
            return
        kinds = (self.source.dtype, self.target.dtype)
        if any(k.kind not in "fiu" or k.bits < 8 or "x2" in k.name for k in kinds):
            return
        if kinds[0].kind == "f" and self.source.form is None:
            return
        if len(self.source) == len(self.target) and self.target.is_unique():
            self.rule = cast_rules(arch).get(kinds)
        self.rounds = self.rule is not None and rounds(arch, *kinds)

    def around(self, scene: Scene, run: Callable[[], None]) -> None:
        """Execute the Cast and look at what it does to its elements."""
        source, target, rule = self.source, self.target, self.rule
        if source is None or target is None or rule is None:
            run()
            self.wrote(scene)
            return
        held = source.copied() if source.overlaps(target) else source.bits()
        kept = self._kept(scene, source, held) if self.rounds and scene.kept else None
        run()
        scene.origins.wrote(target)
        scaled = rule.ignores_mode and scene.context.scaled
        if scaled or not len(held):
            return
        values = source.values(held)
        self._nan(scene, source, target, held)
        if rule.overflow not in _IN_RANGE:
            self._range(scene, source, target, held, values)
        if source.form is None and target.form is not None:
            self._integers(scene, source, target, values)
        if self.mode in _ONE_SIDED and not rule.ignores_mode and source.dtype is not target.dtype:
            self._mode(scene, source, target, values)
        if kept is not None:
            self._twice(scene, target, *kept)
        if self.rounds and scene.context.recast[target.where].any():
            self._keep(scene, target, values, source.dtype)

    # -- NaN ---------------------------------------------------------------------------------------

    def _nan(self, scene: Scene, source: Field, target: Field, held: Values) -> None:
        form = source.form
        if form is None or peak(held, form) <= form.exponent:
            return
        nan = is_nan(held, form)
        results = target.values()
        if target.dtype.is_float:
            nan &= ~np.isnan(results.astype(np.float64))
        where = np.flatnonzero(nan)
        if len(where) and target.dtype.name != "hifloat8_t":
            bits = target.copied()
            scene.notes.add(
                "num.nan_branch", scene.spot, source, where, _say_nan,
                lambda at: {"result": target.one(bits, at)},
            )  # fmt: skip

    # -- out of range ------------------------------------------------------------------------------

    def _range(
        self, scene: Scene, source: Field, target: Field, held: Values, values: Values
    ) -> None:
        if self._fits(source, target, held, values):
            return
        where, saturated, other = self._beyond(source, target, values)
        if not len(where):
            return
        result = target.one(target.bits()[where[:1]], 0)
        first = source.one(held[where[:1]], 0)
        scene.notes.add(
            "cast.sat", scene.spot, source, where, _say_range,
            lambda at: {
                "value": first, "saturated": saturated, "otherwise": other, "result": result,
                "type": target.dtype.name, "set_in_line": _setter(scene), "is_fixed": self._fixed,
            },
        )  # fmt: skip

    @property
    def _fixed(self) -> bool:
        return self.rule is not None and self.rule.overflow in (Overflow.CLAMP, Overflow.EXTREME)

    def _fits(self, source: Field, target: Field, held: Values, values: Values) -> bool:
        """Whether a quick look shows that all values are in range."""
        limit = _limit(target.dtype)
        if limit is None:
            return True
        if source.form is None:
            low = -limit if target.dtype.kind != "u" else 0
            return bool(np.minimum.reduce(values) >= low and np.maximum.reduce(values) <= limit)
        top = np.array([limit]).astype(source.dtype.numpy)
        if float(top[0]) > limit:
            top = np.nextafter(top, source.dtype.numpy.type(0))
        most = int(top.view(source.word)[0])
        if target.dtype.kind == "u":
            return int(np.maximum.reduce(held)) <= most
        return peak(held, source.form) <= most

    def _beyond(
        self, source: Field, target: Field, values: Values
    ) -> tuple[NDArray[np.int64], float | int, float | int]:
        """Return the elements out of range, and for the first what both settings give."""
        if target.dtype.kind != "f":
            low, high = integer_range(target.dtype)
            whole = values
            if source.form is not None:
                whole = to_integral(values.astype(np.float64), self.mode)
            out = np.flatnonzero((whole < low) | (whole > high))
            if not len(out):
                return out, 0, 0
            first = whole[out[0]]
            limit = low if first < low else high
            if source.form is not None and not np.isfinite(first):
                return out, limit, limit
            return out, limit, _wrapped(int(first), target.dtype)
        largest = _limit(target.dtype) or 0.0
        wide = values.astype(np.float64)
        if target.form is not None:
            result = self._converted(source, target, values, self.mode, _DEFAULT)
            beyond = np.isinf(result.astype(np.float64)) & np.isfinite(wide)
        else:
            beyond = np.isfinite(wide) & (np.abs(wide) > largest)
        out = np.flatnonzero(beyond)
        if not len(out):
            return out, 0, 0
        sign = float(np.sign(wide[out[0]]))
        return out, sign * largest, sign * np.inf

    # -- integers in floating-point types ----------------------------------------------------------

    def _integers(self, scene: Scene, source: Field, target: Field, values: Values) -> None:
        precision = _PRECISION[target.dtype]
        if source.dtype.bits - (source.dtype.kind == "i") <= precision:
            return
        most = 1 << precision
        if np.maximum.reduce(values) <= most and np.minimum.reduce(values) >= -most:
            return
        results = target.values().astype(np.float64)
        finite = np.isfinite(results)
        if source.dtype.bits < 64:
            lost = results != values.astype(np.float64)
        else:
            inside = np.abs(results) < 2.0**63
            back = np.where(inside, results, 0.0).astype(np.int64).astype(values.dtype)
            lost = ~inside | (back != values)
        where = np.flatnonzero(finite & lost)
        if len(where):
            first = int(values[where[0]])
            scene.notes.add(
                "num.int_via_float", scene.spot, source, where, _say_integer,
                lambda at: {
                    "value": first, "rounded": int(results[at]), "type": target.dtype.name,
                },
            )  # fmt: skip

    # -- rounding ----------------------------------------------------------------------------------

    def _converted(
        self, source: Field, target: Field, values: Values, mode: RoundMode, settings: _Settings
    ) -> Values:
        out = np.empty(len(values), target.dtype.numpy)
        caster(
            self.arch, source.dtype, target.dtype, mode,
            nonsaturating=settings.nonsaturating, cast_truncate=settings.cast_truncate,
        )(np.ascontiguousarray(values), out)  # fmt: skip
        return out

    def _mode(self, scene: Scene, source: Field, target: Field, values: Values) -> None:
        rule = self.rule
        if rule is None or RoundMode.CAST_RINT not in rule.modes:
            return
        scene.notes.looked_at("cast.mode", scene.spot, len(values))
        actual = target.bits()
        settings = _DEFAULT
        if scene.context.switched:
            for settings in _ALL:
                again = self._converted(source, target, values, self.mode, settings)
                if (again.view(target.word) == actual).all():
                    break
        nearest = self._converted(source, target, values, RoundMode.CAST_RINT, settings)
        changed = np.flatnonzero(nearest.view(target.word) != actual)
        if len(changed):
            x, kept = values[changed[:1]].astype(np.float64)[0], actual[changed[:1]].copy()
            near = nearest[changed[:1]].view(target.word)
            scene.notes.add(
                "cast.mode", scene.spot, target, changed, _say_mode,
                lambda at: {
                    "value": float(x), "result": target.one(kept, 0),
                    "nearest": target.one(near, 0), "mode": self.mode.name,
                },
            )  # fmt: skip

    # -- two roundings -----------------------------------------------------------------------------

    def _keep(self, scene: Scene, target: Field, values: Values, source: DType) -> None:
        for start, old in list(scene.kept.items()):
            if old.target.overlaps(target):
                del scene.kept[start]
        scene.kept[target.low] = Kept(target, values.copy(), source, target.copied())

    def _kept(
        self, scene: Scene, source: Field, held: Values
    ) -> tuple[Kept, NDArray[np.bool_], slice] | None:
        """Return what an earlier Cast left in the source, and where it is still there."""
        for kept in scene.kept.values():
            target = kept.target
            if target.dtype is not source.dtype or not target.overlaps(source):
                continue
            part = _part_of(target, source)
            if part is not None:
                same = kept.bits[part] == held
                return (kept, same, part) if same.any() else None
        return None

    def _twice(
        self, scene: Scene, target: Field, kept: Kept, same: NDArray[np.bool_], part: slice
    ) -> None:
        original = kept.original[part]
        single = _rounded_once(original, target.dtype, self.mode)
        if single is None:
            return
        bits = target.bits()
        # An exact second step leaves the first as the only rounding.
        exact = target.values(bits).astype(np.float64) == kept.target.values(
            kept.bits[part]
        ).astype(np.float64)
        differs = same & ~exact & (single.view(target.word) != bits)
        if target.form is not None:
            differs &= np.isfinite(single.astype(np.float64))
            differs &= np.isfinite(target.values(bits).astype(np.float64))
        where = np.flatnonzero(differs)
        if len(where):
            at = int(where[0])
            facts = {
                "value": float(original[at]),
                "between": kept.target.one(kept.bits[part], at),
                "result": target.one(bits, at),
                "once": target.one(single.view(target.word), at),
                "types": [kept.source.name, kept.target.dtype.name, target.dtype.name],
            }
            scene.notes.add("cast.double", scene.spot, target, where, _say_twice, lambda at: facts)


def rounds(arch: Arch, source: DType, target: DType) -> bool:
    """Whether a conversion loses bits and is not the rounding to whole numbers of one type."""
    rule = cast_rules(arch).get((source, target))
    return rule is not None and rule.overflow not in _EXACT and source is not target


def _limit(dtype: DType) -> float | None:
    """Return the largest magnitude that is in range for either sign (unsigned: the highest)."""
    if dtype.kind != "f":
        return float(integer_range(dtype)[1]) if dtype.bits < 64 else 2.0**62
    if dtype in _LARGEST:
        return _LARGEST[dtype]
    return _LARGEST_FP8.get(dtype.name)


def _wrapped(value: int, dtype: DType) -> int:
    """Return the low bits of an integer as ``dtype``."""
    low = value & ((1 << dtype.bits) - 1)
    return low - (1 << dtype.bits) if dtype.kind == "i" and low >> (dtype.bits - 1) else low


def _part_of(whole: Field, part: Field) -> slice | None:
    """Return which elements of ``whole`` are those of ``part``; None if not all of them are."""
    if whole.is_dense and part.is_dense:
        first, rest = divmod(part.low - whole.low, whole.size)
        if rest or first < 0 or part.high > whole.high:
            return None
        return slice(first, first + len(part))
    same = len(whole) == len(part) and (whole.starts == part.starts).all()
    return slice(0, len(part)) if same else None


def _rounded_once(values: Values, dtype: DType, mode: RoundMode) -> Values | None:
    """Return values rounded straight to ``dtype``; None where that is not known here."""
    if values.dtype.kind in "iu" and values.dtype.itemsize > 4:
        return None
    wide = values.astype(np.float64)
    if dtype.kind != "f":
        return any_float_to_integer(wide, dtype, mode, False).astype(dtype.numpy)
    if dtype not in _LARGEST:
        return None
    out = np.empty(len(wide), dtype.numpy)
    float_to_narrower(dtype, RoundMode.CAST_RINT if mode is RoundMode.CAST_NONE else mode)(
        wide, out
    )
    return out


def _setter(scene: Scene) -> int:
    """Return the line that last changed what happens out of range; 0 for none."""
    entries = scene.block.entries
    for index in range(scene.index - 1, -1, -1) if scene.context.switched else ():
        if entries[index][0].spec.name in SWITCHES:
            return place(entries[index]).line
    return 0


# -- what is said ----------------------------------------------------------------------------------


def _say_nan(note: Note) -> tuple[str, str]:
    return (
        f"Cast makes {number(note.facts['result'])} of NaN in {note.name}[{note.at}]; "
        f"{note.elements()} in all",
        "replace NaN in front of the Cast by what the operator defines for it",
    )


def _say_range(note: Note) -> tuple[str, str]:
    facts = note.facts
    infinite = isinstance(facts["otherwise"], float)
    alternative = "without saturation it is" if infinite else "wrap-around"
    if facts["result"] == facts["saturated"]:
        active = "saturates"
    else:
        active = "does not saturate" if infinite else "wraps"
    if facts["set_in_line"]:
        origin = f"as line {facts['set_in_line']} sets it"
    else:
        origin = "as always for this pair" if facts["is_fixed"] else "by default"
    verb = "is" if note.count == 1 else "are"
    kind, name = facts["type"], note.name
    return (
        f"{note.elements()} of {name} {verb} out of range of {kind}, first {name}[{note.at}] = "
        f"{number(facts['value'])}: saturation gives {number(facts['saturated'])}, {alternative} "
        f"{number(facts['otherwise'])}; the Cast {active}, {origin}",
        "bring the values into range in front of the Cast, with Maxs and Mins where saturation is "
        "meant",
    )


def _say_integer(note: Note) -> tuple[str, str]:
    facts = note.facts
    precision = {d.name: p for d, p in _PRECISION.items()}[facts["type"]]
    verb = "is" if note.count == 1 else "are"
    return (
        f"{note.elements()} of {note.name} {verb} no numbers of {facts['type']}: "
        f"{note.name}[{note.at}] = {facts['value']} becomes {facts['rounded']}",
        f"keep integers beyond 2^{precision} in an integer type",
    )


def _say_mode(note: Note) -> tuple[str, str]:
    facts = note.facts
    verb = "changes" if note.count == 1 else "change"
    return (
        f"{note.count} of {note.total} results {verb} with CAST_RINT instead of {facts['mode']}, "
        f"first {note.name}[{note.at}]: {number(facts['value'])} gives {number(facts['result'])}, "
        f"to nearest {number(facts['nearest'])}",
        f"use RoundMode.CAST_RINT unless the operator asks for {facts['mode']}",
    )


def _say_twice(note: Note) -> tuple[str, str]:
    facts = note.facts
    first, between, last = facts["types"]
    return (
        f"{number(facts['value'])} of {first} is {number(facts['between'])} as {between} and "
        f"{number(facts['result'])} as {last} in {note.name}[{note.at}], rounded once it is "
        f"{number(facts['once'])}; {note.elements()} in all",
        f"round where the {first} is converted, to an integer that {between} or a wider type "
        f"holds exactly, and convert that to {last}",
    )
