"""What a command answers, and what a command is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tools.debugger import show

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.debug import Stop
    from tools.debugger.commands import Debugger

MOVING = "moving"
STOPPING = "stopping"
LOOKING = "looking"
OTHER = "other"


@dataclass
class Answer:
    """What a command has to say.

    Attributes
    ----------
    text : str
        For people.
    data : dict
        The same for programs; has ``ok``.
    ends : bool
        Whether the debugger is to be left.
    """

    text: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    ends: bool = False

    @property
    def ok(self) -> bool:
        """Whether the command could be done."""
        return bool(self.data.get("ok", True))


@dataclass(frozen=True)
class Command:
    """A command: its names, what follows them, what it does, and the handler."""

    names: tuple[str, ...]
    usage: str
    help: str
    group: str
    run: Callable[[Debugger, str], Answer]


def stopped(debugger: Debugger, stop: Stop) -> Answer:
    """Answer with where the session stands."""
    return Answer(show.stop_text(debugger.session, stop), {"stop": stop.as_dict()})


def told(text: str, **data: Any) -> Answer:
    """Answer with a text, and the same as data."""
    return Answer(text, data or {"text": text})
