"""Comparisons: NaN, negative zeros, and elements at the threshold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.analysis.numbers.fields import Field, is_nan, peak
from simulator.analysis.numbers.notes import Note, Notes, Spot, number
from simulator.analysis.numbers.scene import Look, Scene
from simulator.enums import Arch

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from simulator.instruction import Plan
    from simulator.memory import Bytes

_SIGNS: Final = {"LT": "<", "GT": ">", "EQ": "==", "LE": "<=", "GE": ">=", "NE": "!="}
_OTHER: Final = {"LT": "LE", "LE": "LT", "GT": "GE", "GE": "GT"}
"""The mode that differs at equality only."""

_TRUE_AT_EQUAL: Final = frozenset({"LE", "GE"})


@dataclass
class Threshold:
    """The first scalar of a comparison, and whether an element came near one in any call."""

    spot: Spot
    source: Field
    mode: str
    value: float | int
    neighbours: tuple[float | int, float | int]
    is_met: bool = False


class Comparison(Look):
    """Compare or CompareScalar; what it writes are bits."""

    def __init__(self, plan: Plan, ub: Bytes, arch: Arch) -> None:
        super().__init__(plan, ub)
        self.mode = str(plan.details.get("cmpMode", ""))
        left, right = (*self.sources, None, None)[:2]
        self.element: Field | None = None
        if self.name == "CompareScalar" and right is not None:
            self.element, right = right, None
        self.left, self.right = left, right
        tests_itself = (
            left is not None and right is not None
            and left.operand.accesses == right.operand.accesses
        )  # fmt: skip
        ordered = self.mode != "NE" or arch is not Arch.DAV_3510
        self.sees_nan = ordered and not (tests_itself and self.mode == "EQ")

    def around(self, scene: Scene, run: Callable[[], None]) -> None:
        """Look at what is compared and execute the call."""
        if self.left is not None and self.mode:
            self._look(scene, self.left)
        run()
        self.wrote(scene)

    def _look(self, scene: Scene, left: Field) -> None:
        bits = left.bits()
        other = None if self.right is None else self.right.bits()
        if other is not None and len(other) != len(bits):
            return
        if left.form is not None and self.sees_nan:
            self._nan(scene, left, bits, other)
        if other is not None:
            if left.form is not None:
                self._zeros(scene, left, bits, other)
            return
        scalar = self._scalar(scene, left)
        if scalar is None:
            return
        if self.mode in ("LT", "GE") and _is_zero(left, scalar):
            self._negative_zero(scene, left, bits)
        if self.mode in _OTHER:
            self._threshold(scene, left, bits, scalar)

    def _scalar(self, scene: Scene, left: Field) -> NDArray[Any] | None:
        """Return the bits of the scalar as an array of one; None if it is not finite."""
        if self.element is not None:
            bits = self.element.bits()[:1]
        else:
            found = [p for p in scene.params if isinstance(p, np.generic)]
            if not found or found[-1].dtype != left.dtype.numpy:
                return None
            bits = np.array(found[-1:], left.dtype.numpy).view(left.word)
        if left.form is not None and peak(bits, left.form) >= left.form.exponent:
            return None
        return bits.copy()

    # -- NaN ---------------------------------------------------------------------------------------

    def _nan(
        self, scene: Scene, left: Field, bits: NDArray[Any], other: NDArray[Any] | None
    ) -> None:
        form = left.form
        if form is None:
            return
        for source, held in ((left, bits), (self.right, other)):
            if source is None or held is None or peak(held, form) <= form.exponent:
                continue
            where = np.flatnonzero(is_nan(held, form))
            scene.notes.add(
                "num.nan_branch", scene.spot, source, where, _say_nan,
                lambda at: {"mode": self.mode, "result": 0},
            )  # fmt: skip
            return

    # -- negative zeros ----------------------------------------------------------------------------

    def _zeros(self, scene: Scene, left: Field, bits: NDArray[Any], other: NDArray[Any]) -> None:
        """Look for -0 on the side whose sign a comparison with zero is meant to test."""
        form = left.form
        if form is None or self.mode not in _OTHER or self.right is None:
            return
        sign = int(form.magnitude) + 1
        of_left = self.mode in ("LT", "GE")
        tested, zero = (bits, other) if of_left else (other, bits)
        negative = tested == sign
        if not negative.any():
            return
        where = np.flatnonzero(negative & (np.bitwise_and(zero, form.magnitude) == 0))
        if len(where):
            self._note_zero(scene, left if of_left else self.right, where)

    def _negative_zero(self, scene: Scene, left: Field, bits: NDArray[Any]) -> None:
        if left.form is None:
            return
        where = np.flatnonzero(bits == int(left.form.magnitude) + 1)
        if len(where):
            self._note_zero(scene, left, where)

    def _note_zero(self, scene: Scene, source: Field, where: NDArray[np.int64]) -> None:
        result = self.mode in ("GE", "LE")
        scene.notes.add(
            "num.zero_sign", scene.spot, source, where, _say_zero,
            lambda at: {"mode": self.mode, "result": result},
        )  # fmt: skip

    # -- thresholds --------------------------------------------------------------------------------

    def _threshold(
        self, scene: Scene, left: Field, bits: NDArray[Any], scalar: NDArray[Any]
    ) -> None:
        near, equal = _nearness(left, bits, scalar)
        key = scene.spot.entry[1:3]
        known = scene.context.thresholds.get(key)
        if known is None:
            value = left.one(scalar, 0)
            known = scene.context.thresholds[key] = Threshold(
                scene.spot, left, self.mode, value, _neighbours(left, scalar)
            )
        if not near.any():
            return
        known.is_met = True
        where = np.flatnonzero(equal(near))
        if len(where):
            scene.notes.add(
                "cmp.boundary", scene.spot, left, where, _say_boundary,
                lambda at: {"mode": self.mode, "threshold": left.one(scalar, 0)},
            )  # fmt: skip


def _is_zero(left: Field, scalar: NDArray[Any]) -> bool:
    """Whether a floating-point scalar is a zero of either sign."""
    return left.form is not None and not int(scalar[0]) & int(left.form.magnitude)


def _nearness(
    left: Field, bits: NDArray[Any], scalar: NDArray[Any]
) -> tuple[NDArray[np.bool_], Callable[[NDArray[np.bool_]], NDArray[np.bool_]]]:
    """Return which elements are the threshold or next to it, and which of these it is.

    Neighbouring numbers of one sign have neighbouring bit patterns, and so have integers.
    """
    one = left.word.type(1)
    if left.form is not None and _is_zero(left, scalar):
        size = np.bitwise_and(bits, left.form.magnitude)
        return size <= one, lambda near: near & (size == 0)
    distance = bits - (scalar[0] - one)
    return distance <= left.word.type(2), lambda near: near & (distance == one)


def _neighbours(left: Field, scalar: NDArray[Any]) -> tuple[float | int, float | int]:
    """Return the elements below and above a threshold; integers may wrap."""
    one = left.word.type(1)
    pair = np.array([scalar[0] - one, scalar[0] + one], left.word)
    if left.form is not None and _is_zero(left, scalar):
        pair = np.array([int(left.form.magnitude) + 2, 1], left.word)
    first, second = left.one(pair, 0), left.one(pair, 1)
    return (second, first) if left.form is not None and first > second else (first, second)


def note_untested(notes: Notes, thresholds: dict[tuple[Any, int], Threshold]) -> None:
    """Report thresholds that no element came near to."""
    for known in thresholds.values():
        if known.is_met:
            continue
        everything = np.arange(len(known.source))
        notes.add(
            "cmp.boundary", known.spot, known.source, everything, _say_untested,
            partial(_untested, known), as_one=True,
        )  # fmt: skip


def _untested(known: Threshold, _: int) -> dict[str, Any]:
    return {
        "mode": known.mode, "threshold": known.value, "neighbours": list(known.neighbours),
    }  # fmt: skip


# -- what is said ----------------------------------------------------------------------------------


def _say_nan(note: Note) -> tuple[str, str]:
    sign = _SIGNS[note.facts["mode"]]
    return (
        f"{note.name}[{note.at}] is NaN, for which {note.api} with {sign} gives false; "
        f"{note.elements()} in all",
        "turn the comparison and the branches of Select round if NaN belongs to the other one, or "
        "clamp with Relu, Max or Min, which keep NaN",
    )


def _say_zero(note: Note) -> tuple[str, str]:
    mode, result = note.facts["mode"], note.facts["result"]
    truth = "true" if result else "false"
    test = f"{note.name}[{note.at}]"
    return (
        f"{test} is -0, and {note.api} with {_SIGNS[mode]} takes it for +0: its test against zero "
        f"gives {truth} although the sign bit is set; {note.elements()} in all",
        "take the sign bit with And from an integer view where -0 has to count as negative",
    )


def _say_boundary(note: Note) -> tuple[str, str]:
    mode, threshold = note.facts["mode"], number(note.facts["threshold"])
    taken = "true" if mode in _TRUE_AT_EQUAL else "false"
    verb = "equals" if note.count == 1 else "equal"
    return (
        f"{note.elements()} of {note.name} {verb} the threshold {threshold}, first "
        f"{note.name}[{note.at}]: {_SIGNS[mode]} is {taken} there, {_SIGNS[_OTHER[mode]]} would "
        "take the other branch",
        f"use CMPMODE.{_OTHER[mode]} if the operator defines it so; nothing depends on it where "
        "both branches agree at the threshold, as in Mins and Maxs",
    )


def _say_untested(note: Note) -> tuple[str, str]:
    threshold = number(note.facts["threshold"])
    below, above = (number(n) for n in note.facts["neighbours"])
    mode = note.facts["mode"]
    return (
        f"no element that was compared with {threshold} equals it or is next to it, where "
        f"{_SIGNS[mode]} and {_SIGNS[_OTHER[mode]]} would show",
        f"add {below}, {threshold} and {above} to the test inputs",
    )
