"""Writes of one pipe that are not visible yet, and which of them may share bytes with a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from simulator.replay.steps import Step, Write


class Held(NamedTuple):
    """An instruction whose writes are not visible yet: its number on its pipe, and the writes.

    ``cells`` are the parts of the unified buffer that it touches.
    """

    number: int
    at: int
    step: Step
    writes: list[Write]
    cells: Sequence[int]


class HeldWrites:
    """Held instructions of a pipe in program order, found by the cells that they touch.

    Attributes
    ----------
    items : list of Held
    """

    def __init__(self) -> None:
        self.items: list[Held] = []
        self._by_cell: dict[int, dict[int, Held]] = {}

    def append(self, held: Held) -> None:
        """Hold one more."""
        self.items.append(held)
        for cell in held.cells:
            self._by_cell.setdefault(cell, {})[held.number] = held

    def near(self, cells: Sequence[int]) -> list[Held]:
        """Return those that touch any of some cells, in program order."""
        found: dict[int, Held] = {}
        for cell in cells:
            found.update(self._by_cell.get(cell, ()))
        return [found[number] for number in sorted(found)]

    def pop(self, place: int) -> Held:
        """Take one away."""
        held = self.items.pop(place)
        self._forget(held)
        return held

    def pop_until(self, number: int) -> list[Held]:
        """Take those with a number up to ``number``."""
        count = 0
        while count < len(self.items) and self.items[count].number <= number:
            count += 1
        taken, self.items = self.items[:count], self.items[count:]
        for held in taken:
            self._forget(held)
        return taken

    def take(self, numbers: Collection[int]) -> None:
        """Take those with one of some numbers away."""
        for held in self.items:
            if held.number in numbers:
                self._forget(held)
        self.items = [held for held in self.items if held.number not in numbers]

    def _forget(self, held: Held) -> None:
        for cell in held.cells:
            del self._by_cell[cell][held.number]
