"""Calls that the library makes of several others: looked at as one, from their inputs to the end.

What happens between the steps is the library's own affair: an infinity that it divides away again
is nobody's fault.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.analysis.numbers.arithmetic import births, say_born, say_dropped
from simulator.analysis.numbers.fields import FORMATS, Field, is_nan, peak
from simulator.instruction import REGISTRY
from simulator.sanitizer.place import called_in, place, tensor_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from simulator.analysis.numbers.notes import Spot
    from simulator.analysis.numbers.scene import Look, Scene
    from simulator.core import Entry

    Bits = NDArray[Any]

_MOVES: Final = frozenset({"Broadcast", "BroadCast"})


@dataclass
class Composite:
    """The steps of one library call so far.

    Attributes
    ----------
    inputs : list of (Field, bits)
        What the steps read and none of them had written.
    result : (Field, bits) or None
        What the last of them wrote; the bits are kept where they are worth a look.
    """

    spot: Spot
    inputs: list[tuple[Field, Bits]] = field(default_factory=list)
    written: list[Field] = field(default_factory=list)
    result: tuple[Field, Bits | None] | None = None
    has_nan: bool = False


def step(scene: Scene, look: Look, run: Callable[[], None]) -> None:
    """Execute a step of a library call."""
    whole = scene.composite
    if whole is None:
        whole = scene.composite = Composite(scene.spot)
    for source in look.sources:
        if source.form is None or any(source.overlaps(target) for target in whole.written):
            continue
        if all(source.operand.accesses != known.operand.accesses for known, _ in whole.inputs):
            bits = source.copied()
            whole.inputs.append((source, bits))
            whole.has_nan |= peak(bits, source.form) > source.form.exponent
    run()
    look.wrote(scene)
    for target in look.targets:
        whole.written.append(target)
        if target.form is None:
            continue
        bits = target.bits()
        interesting = whole.has_nan or peak(bits, target.form) >= target.form.exponent
        whole.result = (target, target.copied() if interesting else None)


def finish(scene: Scene) -> None:
    """Look at a library call whose last step has been executed."""
    whole, scene.composite = scene.composite, None
    if whole is None or whole.result is None or whole.result[1] is None or not whole.inputs:
        return
    target, bits = whole.result
    name = _name_of(whole.spot.entry)
    if bits is None or not name or not target.is_unique():
        return
    sources = [source for source, _ in whole.inputs]
    held: list[Bits | None] = [kept for _, kept in whole.inputs]
    where = births(target, bits, sources, held, [])
    if len(where):
        scene.notes.add(
            "num.first_nonfinite", whole.spot, target, where, say_born,
            lambda at: {
                "result": target.one(bits, at), "call": name, "operands": _operands(whole, at),
            },
        )  # fmt: skip
    if not whole.has_nan:
        return
    for source, kept in whole.inputs:
        if source.form is None or len(kept) != len(bits):
            continue
        lost = is_nan(kept, source.form) & ~is_nan(bits, FORMATS[target.dtype])
        where = np.flatnonzero(lost)
        if len(where):
            scene.notes.add(
                "num.nan_branch", whole.spot, source, where, say_dropped,
                lambda at: {"result": target.one(bits, at), "call": name},
            )  # fmt: skip
            return


def _operands(whole: Composite, at: int) -> dict[str, Any]:
    entry = whole.spot.entry
    return {
        tensor_name(entry, source.operand): source.one(kept, at if at < len(kept) else 0)
        for source, kept in whole.inputs
    }


def _name_of(entry: Entry) -> str:
    """Return the library call in the line of a step; empty for one that moves elements."""
    calls = [name for name in called_in(place(entry)) or () if name in REGISTRY]
    return "" if not calls or calls[0] in _MOVES else calls[0]
