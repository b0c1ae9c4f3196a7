"""Where a debugger stands: a block, what it has issued, a source line and a cycle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from simulator.errors import SourceLocation

PROGRAM: Final = "program"
"""The clock of the source: what my code does next."""

MACHINE: Final = "machine"
"""The clock of the device: what the pipes do at a cycle."""


class Position(NamedTuple):
    """A moment of one block.

    Attributes
    ----------
    block : int
        Place of the block in the run.
    issued : int
        Instructions it has issued; the next one is instruction ``issued``.
    event : int
        Event of its trace whose line is under way; one more than there are at the end.
    cycle : int
        Cycle from the start of the launch.
    """

    block: int
    issued: int
    event: int
    cycle: int


@dataclass(frozen=True)
class Stop:
    """Where a command ended and why.

    Attributes
    ----------
    reason : str
        ``step``, ``breakpoint``, ``start``, ``end``, ``error`` or ``jump``.
    text : str
        The reason in words.
    instruction : str
        The next instruction of the block; empty at its end.
    """

    reason: str
    text: str
    block: int
    index: int
    cycle: int
    clock: str
    location: SourceLocation | None
    instruction: str
    breakpoint: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        place = self.location
        return {
            "reason": self.reason,
            "text": self.text,
            "block": self.block,
            "index": self.index,
            "cycle": self.cycle,
            "clock": self.clock,
            "file": place.file if place else None,
            "line": place.line if place else None,
            "function": place.function if place else None,
            "instruction": self.instruction,
            "breakpoint": self.breakpoint,
        }
