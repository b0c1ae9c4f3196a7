"""When the buffers of a unified buffer hold data that somebody still reads.

A buffer is taken from the start of the first instruction that writes it to the end of the last one
that reads it before it is written anew. Buffers are those of the kernel's queues and TBufs; bytes
that belong to none are grouped into ranges that are used together.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple

from simulator.instruction import WRITE
from simulator.queues import TQueBind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simulator.instruction import Plan
    from simulator.run import Block
    from simulator.timing.schedule import Stream


class Buffer(NamedTuple):
    """A range of UB bytes with the name of its owner; ``queue`` counts owners in a kernel."""

    name: str
    queue: int
    start: int
    length: int


class Occupancy(NamedTuple):
    """Buffers of one stream and, for each, the (start, end) cycles in which it holds data."""

    buffers: list[Buffer]
    lives: list[list[tuple[int, int]]]


class _Life:
    """State of one buffer while a stream is read."""

    __slots__ = ("end", "read", "spans", "start")

    def __init__(self) -> None:
        self.start: int | None = None
        self.end = 0
        self.read = False
        self.spans: list[tuple[int, int]] = []

    def touch(self, start: int, end: int, *, reads: bool, writes: bool) -> None:
        if writes and not reads and self.read:
            self.close()
        if self.start is None:
            self.start = start
        self.read = self.read or reads
        self.end = max(self.end, end)

    def close(self) -> None:
        if self.start is not None:
            if self.spans and self.start <= self.spans[-1][1]:
                self.start = self.spans.pop()[0]
            self.spans.append((self.start, self.end))
        self.start, self.end, self.read = None, 0, False


def occupancy(block: Block, stream: Stream) -> Occupancy:
    """Return the buffers of ``block`` and when they hold data, in cycles of its schedule."""
    plans = {id(entry[0]): entry[0] for entry in block.entries}
    buffers = _buffers(block, plans.values())
    starts = [b.start for b in buffers]
    touched = {key: _touched(plan, buffers, starts) for key, plan in plans.items()}
    lives = [_Life() for _ in buffers]
    for index, entry in enumerate(block.entries):
        for number, reads, writes in touched[id(entry[0])]:
            lives[number].touch(stream.start[index], stream.end[index], reads=reads, writes=writes)
    for life in lives:
        life.close()
    return Occupancy(buffers, [life.spans for life in lives])


def _spans(plan: Plan) -> list[tuple[int, int, str]]:
    return [
        (*access.span(), operand.role)
        for operand in plan.operands
        if operand.space == "UB"
        for access in operand.accesses
        if access.span()[0] < access.span()[1]
    ]


def _buffers(block: Block, plans: Iterable[Plan]) -> list[Buffer]:
    owned: list[Buffer] = []
    for number, queue in enumerate(block.queues):
        if isinstance(queue, TQueBind):
            parts, kind = queue.buffers, "queue"
        else:
            parts, kind = [queue.buffer], "TBuf"
        name = f"{queue.position.name} {kind} {number}"
        owned += [Buffer(name, number, part.addr, part.length) for part in parts]
    buffers = _disjoint(owned)
    starts = [b.start for b in buffers]
    ends = [b.start + b.length for b in buffers]
    loose = []
    for plan in plans:
        for low, high, _ in _spans(plan):
            if bisect_right(ends, low) >= bisect_left(starts, high):
                loose.append(Buffer(f"UB {low:#x}", -1, low, high - low))
    return sorted(buffers + _disjoint(loose), key=lambda b: b.start)


def _disjoint(buffers: Sequence[Buffer]) -> list[Buffer]:
    """Unite buffers that share bytes, as those of a pool that is used twice."""
    united: list[Buffer] = []
    for buffer in sorted(buffers, key=lambda b: (b.start, -b.length)):
        last = united[-1] if united else None
        if last is None or buffer.start >= last.start + last.length:
            united.append(buffer)
            continue
        end = max(last.start + last.length, buffer.start + buffer.length)
        shared = last.queue < 0 or buffer.name in last.name.split(", ")
        name = last.name if shared else f"{last.name}, {buffer.name}"
        united[-1] = Buffer(name, last.queue, last.start, end - last.start)
    return united


def _touched(plan: Plan, buffers: list[Buffer], starts: list[int]) -> list[tuple[int, bool, bool]]:
    """Return (buffer, read, written) for a plan."""
    found: dict[int, list[bool]] = {}
    for low, high, role in _spans(plan):
        first = max(0, bisect_right(starts, low) - 1)
        for number in range(first, bisect_left(starts, high)):
            if buffers[number].start + buffers[number].length <= low:
                continue
            state = found.setdefault(number, [False, False])
            state[0] |= role != WRITE
            state[1] |= role in (WRITE, "read-write")
    return [(number, *state) for number, state in found.items()]  # type: ignore[misc]
