"""Why a core stands still: what its pipes wait for, as text, as state to look at, as an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.enums import HardEvent, PipeID
from simulator.errors import DeadlockError, SourceLocation
from simulator.instruction import locate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.core import AICore, Entry
    from simulator.instruction import Plan

CROSS: Final = 64
"""``Plan.event`` of a cross-core flag; ``Plan.flag`` is its counter."""

MUTEX: Final = 65
"""``Plan.event`` of a mutex call; ``Plan.flag`` is its id."""

FIRST_MODE_4: Final = 16
"""Counters 0..15 belong to the flags of modes 0..2, the following ones to those of mode 4."""

_SOURCE: Final = "mirror-cann/asc-devkit docs/zh/api SetFlag-WaitFlag(ISASI).md"
_CACHE_SOURCE: Final = (
    "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/缓存控制/DataCacheCleanAndInvalid.md"
)


def place_of(entry: Any) -> SourceLocation:
    """Return file and line of a recorded call."""
    return locate(entry[1], entry[2])


def event_of(plan: Plan, ids: int) -> tuple[str, int]:
    """Return name and number of the flag that a call sets or waits for."""
    if plan.event == CROSS:
        return "cross-core flag", plan.details["flagId"]
    if plan.event == MUTEX:
        return "mutex", plan.flag
    return HardEvent(plan.event).name, plan.flag % ids


def awaited(core: AICore, entry: Entry) -> str:
    """Return what a waiting call waits for, and why it does not come."""
    plan = entry[0]
    if plan.event < 0:
        return f"all pipes ({plan.spec.name})"
    name, number = event_of(plan, core.local.EVENT_IDS)
    if plan.event == CROSS:
        return core.blocks.describe_flag(core.block_idx, plan)
    if plan.event == MUTEX:
        holder = core.mutexes[plan.flag].holder
        return f"mutex {number}, which pipe {holder.label if holder else '?'} has not unlocked"
    setters = [
        place_of(e)
        for queue in core.stalled.values()
        for e in list(queue)[1:]
        if e[0].form == "set" and e[0].flag == plan.flag
    ]
    if setters:
        return f"flag {name} id {number}, whose SetFlag at {setters[0]} is itself blocked"
    return f"flag {name} id {number}, which nothing sets"


def describe_waits(core: AICore, scalar: Entry | None) -> list[str]:
    """Return one phrase for each waiting pipe, the scalar unit first."""
    waits = [(PipeID(pipe), queue[0]) for pipe, queue in sorted(core.stalled.items())]
    if scalar is not None:
        waits.insert(0, (PipeID.PIPE_S, scalar))
    return [
        f"{pipe.label} waits at {place_of(entry)} for {awaited(core, entry)}"
        for pipe, entry in waits
    ]


def deadlock(core: AICore, scalar: Entry | None) -> DeadlockError:
    """Return the error for a block whose own pipes wait for each other or for nothing.

    The wait that is to blame is the scalar unit's, or the first waiting pipe's when the scalar unit
    stands at a barrier or at the end of the block.
    """
    waits = [(PipeID(pipe), queue[0]) for pipe, queue in sorted(core.stalled.items())]
    if scalar is not None and scalar[0].event >= 0:
        waits.insert(0, (PipeID.PIPE_S, scalar))
    pipe, blamed = waits[0]
    plan = blamed[0]
    name, number = event_of(plan, core.local.EVENT_IDS)
    described = describe_waits(core, scalar)
    up = ", ".join(f"{e.name} id {i}" for e, i in core.raised_flags()) or "none"
    behind = [
        " id ".join(map(str, event_of(e[0], core.local.EVENT_IDS)))
        for queue in core.stalled.values()
        for e in queue
        if e[0].form == "set"
    ]
    if plan.event == MUTEX:
        fix = f"Mutex.Unlock({number}) on the pipe that holds it, before this Lock"
    else:
        fix = (
            f"issue SetFlag(HardEvent.{name}, {number}) on pipe {name.partition('_')[0]}, before "
            "the wait is reached"
        )
    place = place_of(blamed)
    return DeadlockError(
        "the block can never finish: " + "; ".join(described),
        got=f"flags that are up: {up}; waiting to be set behind a wait: "
        f"{', '.join(behind) or 'none'}",
        fix=fix,
        source=_SOURCE,
        location=place,
        block=core.block_idx,
        pipe=pipe.label,
        event=name,
        event_id=number,
        line=place.line,
        waits=described,
    )


def spinning(core: AICore, space: str, address: int, value: bytes) -> DeadlockError:
    """Return the error for a loop that reads one place over and over and does nothing else."""
    place = place_of(core.record[-1])
    cached = space == "cache"
    return DeadlockError(
        f"the block reads {'GM' if cached else space} {address:#x} for ever, and nothing between "
        "the reads can change what it finds" + (": the data cache answers them" if cached else ""),
        got=f"the bytes {value.hex()} every time",
        fix="DataCacheCleanAndInvalid before each read, or ReadGmByPassDCache"
        if cached
        else "copy to the place between the reads",
        source=_CACHE_SOURCE if cached else _SOURCE,
        location=place,
        block=core.block_idx,
        pipe=PipeID.PIPE_S.label,
        line=place.line,
        waits=[f"S spins at {place}"],
    )


class PipeState:
    """A pipe as a debugger sees it.

    Attributes
    ----------
    name : str
        ``S``, ``V``, ``MTE2`` or ``MTE3``.
    waiting : bool
        Whether it stands at a wait.
    waits_for : str
        What it waits for; empty when it does not.
    pending : list of str
        Names of the calls queued behind the wait.
    """

    def __init__(self, core: AICore, pipe: PipeID) -> None:
        queue = core.stalled.get(pipe)
        self.name = pipe.label
        self.waiting = queue is not None
        self.waits_for = awaited(core, queue[0]) if queue else ""
        self.pending = [entry[0].spec.name for entry in list(queue or ())[1:]]
        self.issued = sum(entry[0].pipe == pipe for entry in core.record)

    def __repr__(self) -> str:
        if not self.waiting:
            return f"<pipe {self.name}: {self.issued} issued, idle>"
        behind = ", ".join(self.pending) or "nothing"
        return f"<pipe {self.name}: waits for {self.waits_for}; behind it: {behind}>"


class FlagState:
    """The flags of a core that are up; iterate for ("MTE2_V", 0) pairs."""

    def __init__(self, core: AICore) -> None:
        self._up = [(event.name, number) for event, number in core.raised_flags()]
        self._counters = [
            ("cross-core", number) for number, n in enumerate(core.blocks.peek(core.block_idx)) if n
        ]

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return iter(self._up + self._counters)

    def __len__(self) -> int:
        return len(self._up) + len(self._counters)

    def __contains__(self, flag: object) -> bool:
        return flag in self._up or flag in self._counters

    def __repr__(self) -> str:
        up = ", ".join(f"{name} id {number}" for name, number in self)
        return f"<flags up: {up or 'none'}>"
