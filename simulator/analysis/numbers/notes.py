"""Collecting what is seen, line by line: the first element, how many, and what to say of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from simulator.enums import PipeID
from simulator.sanitizer.finding import Finding
from simulator.sanitizer.place import buffer_name, place, tensor_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from simulator.analysis.numbers.fields import Field
    from simulator.core import Entry
    from simulator.run import Block, Run

    Where = NDArray[np.int64]

Says = Callable[["Note"], tuple[str, str]]
"""Returns message and fix; it is asked when everything has been counted."""


class Spot(NamedTuple):
    """The call that is being executed."""

    block: Block
    position: int

    @property
    def entry(self) -> Entry:
        """Its record."""
        return self.block.entries[self.position]


@dataclass
class Note:
    """One kind at one call of the source.

    Attributes
    ----------
    spot : Spot
        First occurrence.
    shown : Field
        The operand that it is about.
    first, last : int
        Elements of that operand at the first occurrence; the last one is included.
    count, total : int
        Elements concerned, and elements looked at where these are counted.
    facts : dict
        What is known of the first one.
    """

    code: str
    spot: Spot
    shown: Field
    says: Says
    first: int
    last: int
    count: int = 0
    total: int = 0
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def api(self) -> str:
        """Name of the call."""
        return self.spot.entry[0].spec.name

    @property
    def call(self) -> str:
        """Name of the call in the source, which may be that of a library call."""
        return str(self.facts.get("call", self.api))

    @property
    def name(self) -> str:
        """What the user calls the operand."""
        return tensor_name(self.spot.entry, self.shown.operand)

    @property
    def at(self) -> int:
        """Index of the first element in the tensor."""
        return self.shown.element(self.first)

    def elements(self) -> str:
        """Return the number of elements in words."""
        return "1 element" if self.count == 1 else f"{self.count} elements"


class Notes:
    """Everything seen so far; equal kinds at one call of the source are one note."""

    def __init__(self) -> None:
        self.found: dict[tuple[Any, ...], Note] = {}
        self._totals: dict[tuple[Any, ...], int] = {}

    def add(
        self,
        code: str,
        spot: Spot,
        shown: Field,
        where: Where,
        says: Says,
        facts: Callable[[int], dict[str, Any]],
        *,
        as_one: bool = False,
    ) -> Note:
        """Count elements ``where``, or all of them ``as_one``.

        ``facts(first)`` is asked at the first occurrence only.
        """
        entry = spot.entry
        key = (code, entry[1], entry[2])
        note = self.found.get(key)
        if note is None:
            first, last = int(where[0]), int(where[-1])
            note = Note(code, spot, shown, says, first, last, facts=facts(first))
            self.found[key] = note
        note.count += 1 if as_one else len(where)
        return note

    def looked_at(self, code: str, spot: Spot, count: int) -> None:
        """Count elements among which a kind is looked for."""
        entry = spot.entry
        key = (code, entry[1], entry[2])
        self._totals[key] = self._totals.get(key, 0) + count

    def findings(self, run: Run) -> list[Finding]:
        """Return the notes as findings."""
        for key, note in self.found.items():
            note.total = self._totals.get(key, 0)
        return [_finding(run, note) for note in self.found.values()]


def _finding(run: Run, note: Note) -> Finding:
    message, fix = note.says(note)
    block, index = note.spot
    operand = note.shown.operand
    starts, size = note.shown.starts, note.shown.size
    low, high = int(starts[note.first]), int(starts[note.last]) + size
    elements = (note.shown.element(note.first), note.shown.element(note.last) + 1)
    details = {**note.facts, "space": operand.space}
    if operand.space == "UB":
        details["buffer"] = buffer_name(block, low, high)
    return Finding(
        note.code,
        message,
        place(note.spot.entry),
        fix=fix,
        block=block.index,
        pipe=PipeID(note.spot.entry[0].pipe).label,
        api=note.call,
        tensor=note.name,
        bytes=(low, high),
        elements=elements,
        index=index,
        count=note.count,
        platform=run.platform.name,
        details=details,
    )


def number(value: float | int) -> str:
    """Return a number for a message: whole ones in full, others with nine digits."""
    if isinstance(value, int):
        return str(value)
    if value == 0:
        return "-0" if str(value).startswith("-") else "0"
    return f"{value:.9g}"
