"""What the source of one block did: lines, calls, locals, queue states and scalar registers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simulator.instruction import locate

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType

    from simulator.core import Entry
    from simulator.queues import Buffer

LINE: Final = "line"
BACK: Final = "back"
"""A call has returned and the line of its caller goes on."""

UNSET: Final = object()
"""Stands for a local that a frame no longer has."""


class Frame(NamedTuple):
    """A call of a function: code, calling frame, event at which it was called, and globals."""

    code: CodeType
    parent: int
    called_at: int
    namespace: dict[str, Any]


class QueueState(NamedTuple):
    """A queue or TBuf, its buffers, and where their states begin in the recorded tuples."""

    queue: Any
    buffers: tuple[Buffer, ...]


class Trace:
    """What the source of one block did, event by event.

    Attributes
    ----------
    at : list of int
        For each event how many instructions had been issued.
    kind, frame, line : lists
        LINE or BACK, number of the frame, line number.
    frames : list of Frame
    changes : list of dict
        Locals of the frame that changed with the event.
    queues : dict of int to tuple
        Buffer states from an event on: (layout, states).
    registers : dict of int to dict
        Scalar registers from an event on.
    """

    def __init__(self) -> None:
        self.at: list[int] = []
        self.kind: list[str] = []
        self.frame: list[int] = []
        self.line: list[int] = []
        self.frames: list[Frame] = []
        self.changes: list[dict[str, Any]] = []
        self.queues: dict[int, tuple[tuple[QueueState, ...], tuple[Any, ...]]] = {}
        self.registers: dict[int, dict[str, Any]] = {}

    def locals_at(self, event: int) -> dict[str, Any]:
        """Return the locals of the event's frame before its line ran."""
        return self.frame_locals(self.frame[event], event)

    def frame_locals(self, frame: int, event: int) -> dict[str, Any]:
        """Return the locals of a frame as of an event."""
        found: dict[str, Any] = {}
        event = min(event, len(self.at) - 1)
        first = self.frames[frame].called_at
        for number in range(event, first, -1):
            if self.frame[number] == frame:
                for name, value in self.changes[number].items():
                    found.setdefault(name, value)
        return {name: value for name, value in found.items() if value is not UNSET}

    def stack(self, event: int) -> list[tuple[int, int]]:
        """Return (frame, event at its current line), innermost first."""
        found = []
        event = min(event, len(self.at) - 1)
        while True:
            frame = self.frame[event]
            found.append((frame, event))
            if self.frames[frame].parent < 0:
                return found
            event = self.frames[frame].called_at

    def depth(self, event: int) -> int:
        """Return how many frames are below the event's own."""
        return len(self.stack(event)) - 1


def trace_of_record(entries: Sequence[Entry]) -> Trace:
    """Return what a record alone tells of the source: the lines that issue instructions."""
    trace = Trace()
    frames: dict[CodeType, int] = {}
    lines: dict[tuple[CodeType, int], int] = {}
    last: tuple[CodeType, int] | None = None
    for index, (_, code, lasti, _) in enumerate(entries):
        line = lines.get((code, lasti))
        if line is None:
            line = lines[code, lasti] = locate(code, lasti).line
        if (code, line) == last:
            continue
        last = (code, line)
        if code not in frames:
            frames[code] = len(trace.frames)
            trace.frames.append(Frame(code, -1, -1, {}))
        trace.at.append(index)
        trace.kind.append(LINE)
        trace.frame.append(frames[code])
        trace.line.append(line)
        trace.changes.append({})
    return trace
