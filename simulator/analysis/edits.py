"""Changed instruction streams: what a block would issue if its kernel were written differently.

An edit works on the record alone. It keeps the instructions of the kernel and changes how often
they come, how large they are, or what orders them; where a stream does not have the shape that an
edit needs, the edit refuses with the reason.
"""

from __future__ import annotations

from collections import Counter, deque
from copy import copy
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simulator.analysis.lanes import SYNC_FORMS
from simulator.enums import HardEvent, PipeID
from simulator.instruction import CopyWork, InstructionSpec, Plan, VectorWork

if TYPE_CHECKING:
    from simulator.core import Entry
    from simulator.platforms import Memory
    from simulator.run import Run

S: Final = int(PipeID.PIPE_S)
MTE2: Final = int(PipeID.PIPE_MTE2)

BACKWARD: Final = frozenset(
    {int(HardEvent.V_MTE2), int(HardEvent.MTE3_V), int(HardEvent.MTE3_MTE2)}
)
"""Events by which a later pipe gives a buffer back to an earlier one."""


class NotApplicable(Exception):  # noqa: N818 - a finding about the stream, not a fault
    """An edit does not fit a stream; the message says why."""


class FlagPair(NamedTuple):
    """Positions of a SetFlag and of the WaitFlag that takes it."""

    setter: int
    waiter: int


def flag_pairs(entries: list[Entry]) -> list[FlagPair]:
    """Return sets with their waits: first in, first out per flag."""
    sets: dict[int, deque[int]] = {}
    for position, entry in enumerate(entries):
        if entry[0].form == "set":
            sets.setdefault(entry[0].flag, deque()).append(position)
    pairs = []
    for position, entry in enumerate(entries):
        if entry[0].form == "wait" and (waiting := sets.get(entry[0].flag)):
            pairs.append(FlagPair(waiting.popleft(), position))
    return pairs


class Plans:
    """Changed copies of plans; equal changes give the same object, so equal streams stay equal.

    Flags of changed plans have numbers that ``run`` does not use.
    """

    def __init__(self, run: Run) -> None:
        self._first = 1 + max(
            (entry[0].flag for block in run.blocks for entry in block.entries), default=0
        )
        self._known: dict[tuple[Plan, Any], Plan] = {}
        self._flags: dict[tuple[str, int, HardEvent, int], Plan] = {}
        self._groups: dict[Any, int] = {}
        # The stream is kept with its loop so that its identity stays its own.
        self._loops: dict[int, tuple[list[Entry], Loop]] = {}

    def loop(self, entries: list[Entry]) -> Loop:
        """Return the loop of a stream, found once.

        Raises
        ------
        NotApplicable
            As :func:`find_loop` does.
        """
        found = self._loops.get(id(entries))
        if found is None:
            found = self._loops[id(entries)] = (entries, find_loop(entries, self))
        return found[1]

    def flag(self, group: Any) -> int:
        """Return the flag number of a group."""
        return self._groups.setdefault(group, self._first + len(self._groups))

    def with_flag(self, plan: Plan, flag: int) -> Plan:
        """Return ``plan`` with another flag."""
        return self._changed(plan, ("flag", flag), "flag", flag)

    def with_work(self, plan: Plan, work: Any) -> Plan:
        """Return ``plan`` with another size."""
        return self._changed(plan, ("work", work), "work", work)

    def sync(self, form: str, pipe: int, event: HardEvent, flag: int) -> Plan:
        """Return a set or wait of a flag that the stream did not have."""
        key = (form, pipe, event, flag)
        made = self._flags.get(key)
        if made is None:
            details = {"event": event.name, "eventID": 0}
            made = Plan(_SPECS[form], form, pipe=PipeID(pipe), details=details)
            made.flag, made.event = flag, int(event)
            self._flags[key] = made
        return made

    def _changed(self, plan: Plan, key: Any, field: str, value: Any) -> Plan:
        made = self._known.get((plan, key))
        if made is None:
            made = self._known[plan, key] = copy(plan)
            setattr(made, field, value)
        return made


_SPECS: Final = {
    form: InstructionSpec(
        name=name,
        family="sync",
        pipe=PipeID.PIPE_S,
        dtypes={},
        operands=(),
        source="edited stream",
    )
    for form, name in (("set", "SetFlag"), ("wait", "WaitFlag"))
}


def _replace(entry: Entry, plan: Plan) -> Entry:
    return (plan, *entry[1:])


# -- buffers -----------------------------------------------------------------------------------


class BufferGroup(NamedTuple):
    """Waits for a free buffer that one line of the kernel issues: those of one queue.

    Attributes
    ----------
    pairs : list of FlagPair
    buffers : int
        Buffers in use, by the addresses that are filled after the waits.
    nbytes : int
        Bytes of one buffer that are filled.
    """

    pairs: list[FlagPair]
    buffers: int
    nbytes: int


def buffer_groups(entries: list[Entry]) -> list[BufferGroup]:
    """Return the groups of buffers of a stream that wait to be free."""
    grouped: dict[Any, list[FlagPair]] = {}
    for pair in flag_pairs(entries):
        plan, code, lasti, _ = entries[pair.waiter]
        # Position -1 is the end of the kernel, where queues are drained and nothing is filled.
        if plan.event in BACKWARD and lasti >= 0:
            grouped.setdefault((plan.event, code, lasti), []).append(pair)
    groups = []
    for pairs in grouped.values():
        filled = [_filled(entries, pair.waiter) for pair in pairs]
        places = {place for place in filled if place is not None}
        if places:
            sizes = [end - start for start, end in places]
            groups.append(BufferGroup(pairs, len({s for s, _ in places}), max(sizes)))
    return groups


def _filled(entries: list[Entry], wait: int) -> tuple[int, int] | None:
    """Return the UB bytes that the first instruction behind a wait writes."""
    pipe = entries[wait][0].pipe
    for position in range(wait + 1, len(entries)):
        plan = entries[position][0]
        if plan.pipe == pipe and plan.form not in SYNC_FORMS and plan.work is not None:
            for operand in plan.operands:
                if operand.space == "UB" and operand.role != "read" and operand.accesses:
                    return operand.accesses[0].span()
            return None
    return None


def ub_bytes_used(entries: list[Entry], memory: Memory) -> int:
    """Return how far the stream uses UB, the part reserved for the system left out."""
    spans = {
        access.span()[1]
        for plan in {entry[0] for entry in entries}
        for operand in plan.operands
        if operand.space == "UB"
        for access in operand.accesses
    }
    return max((end for end in spans if end <= memory.ub_reserved_offset), default=0)


def with_buffers(entries: list[Entry], wanted: int, plans: Plans, memory: Memory) -> list[Entry]:
    """Give every queue at least ``wanted`` buffers: the first waits for a free one fall away.

    Raises
    ------
    NotApplicable
        If no queue has fewer, or UB has no room.
    """
    groups = [group for group in buffer_groups(entries) if group.buffers < wanted]
    if not groups:
        count = "a buffer" if wanted == 1 else f"{wanted} buffers"
        raise NotApplicable(f"every queue has {count} or more already")
    extra = sum((wanted - group.buffers) * group.nbytes for group in groups)
    used = ub_bytes_used(entries, memory)
    if used + extra > memory.ub_bytes:
        raise NotApplicable(
            f"{extra:,} more bytes do not fit: {memory.ub_bytes - used:,} of {memory.ub_bytes:,} "
            "bytes of UB are left"
        )
    changed = list(entries)
    dropped: set[int] = set()
    for group in groups:
        flag = plans.flag(("buffers", *entries[group.pairs[0].waiter][1:3]))
        for pair in group.pairs:
            for position in pair:
                plan = plans.with_flag(entries[position][0], flag)
                changed[position] = _replace(entries[position], plan)
        waits = sorted(pair.waiter for pair in group.pairs)
        dropped.update(waits[: wanted - group.buffers])
    return [entry for position, entry in enumerate(changed) if position not in dropped]


# -- tiles -------------------------------------------------------------------------------------


class Loop(NamedTuple):
    """A stream as a prologue, equal iterations (the tiles) and an epilogue.

    Flags are renumbered by the places that set and take them, so that any number of iterations
    may follow each other.
    """

    prologue: list[Entry]
    tiles: list[list[Entry]]
    epilogue: list[Entry]


def find_loop(entries: list[Entry], plans: Plans) -> Loop:
    """Split a stream at its copies from GM.

    Raises
    ------
    NotApplicable
        If there are no such copies, or the work between them differs.
    """
    entries = _renumbered(entries, plans)
    anchor = next(
        (e[1:3] for e in entries if e[0].pipe == MTE2 and isinstance(e[0].work, CopyWork)), None
    )
    if anchor is None:
        raise NotApplicable("the kernel has no loop over copies from global memory")
    starts = []
    for position, entry in enumerate(entries):
        if entry[1:3] == anchor and isinstance(entry[0].work, CopyWork):
            start = position
            # What the copy itself waits for belongs to its tile.
            while (
                start
                and entries[start - 1][0].form == "wait"
                and entries[start - 1][0].pipe == MTE2
            ):
                start -= 1
            starts.append(start)
    end = next((p for p, e in enumerate(entries) if p > starts[-1] and e[2] < 0), len(entries))
    # One place may copy in several inputs of a tile, in a loop over their queues.
    for copies in range(1, len(starts) // 2 + 1):
        if len(starts) % copies == 0:
            tiles = [entries[a:b] for a, b in pairwise([*starts[::copies], end])]
            if _are_alike(tiles):
                return Loop(entries[: starts[0]], tiles, entries[end:])
    if len(starts) > 1:
        raise NotApplicable("the tiles of a block do not all issue the same instructions")
    return Loop(entries[: starts[0]], [entries[starts[0] : end]], entries[end:])


def _are_alike(tiles: list[list[Entry]]) -> bool:
    shapes = {tuple((e[1], e[2], e[0].spec.name) for e in _work(tile)) for tile in tiles}
    return len(shapes) == 1


def _work(tile: list[Entry]) -> list[Entry]:
    return [entry for entry in tile if entry[0].form not in SYNC_FORMS]


def _renumbered(entries: list[Entry], plans: Plans) -> list[Entry]:
    """Give all flags that the same places set and take one number; they pair first in, first out.

    The waits at the end of the kernel, which drain the queues, belong to the places that set.
    """
    parent: dict[Any, Any] = {}

    def group(site: Any) -> Any:
        while parent.setdefault(site, site) != site:
            site = parent[site]
        return site

    pairs = flag_pairs(entries)
    sites = [(("set", *entries[p.setter][1:3]), ("wait", *entries[p.waiter][1:3])) for p in pairs]
    for (setter, waiter), pair in zip(sites, pairs, strict=True):
        if entries[pair.waiter][2] >= 0:
            parent[group(waiter)] = group(setter)
    changed = list(entries)
    for (setter, _), pair in zip(sites, pairs, strict=True):
        event = entries[pair.setter][0].event
        flag = plans.flag((group(setter), event))
        for position in pair:
            changed[position] = _replace(
                entries[position], plans.with_flag(entries[position][0], flag)
            )
    return changed


def joined(loop: Loop, tiles: list[list[Entry]]) -> list[Entry]:
    """Return the stream with other tiles; waits whose flag nothing sets any more fall away."""
    entries = [*loop.prologue, *(e for tile in tiles for e in tile), *loop.epilogue]
    sets = Counter(e[0].flag for e in entries if e[0].form == "set")
    kept = []
    for entry in entries:
        if entry[0].form == "wait":
            sets[entry[0].flag] -= 1
            if sets[entry[0].flag] < 0:
                continue
        kept.append(entry)
    return kept


def with_larger_tiles(
    entries: list[Entry], factor: int, plans: Plans, memory: Memory
) -> list[Entry]:
    """Let every tile do the work of ``factor`` tiles.

    Raises
    ------
    NotApplicable
        If there is no loop over tiles, it has one only, or the larger ones do not fit UB.
    """
    loop = plans.loop(entries)
    if len(loop.tiles) < 2:
        raise NotApplicable("the busiest block has one tile only")
    used = ub_bytes_used(entries, memory)
    if used * factor > memory.ub_bytes:
        raise NotApplicable(
            f"tiles of {factor} times the size do not fit: {used:,} of {memory.ub_bytes:,} bytes "
            "of UB are in use"
        )
    tiles = []
    for number in range(-(-len(loop.tiles) // factor)):
        shape = loop.tiles[number]
        parts = [_work(t) for t in loop.tiles[number * factor : (number + 1) * factor]]
        works = iter(zip(*parts, strict=True))
        tiles.append(
            [e if e[0].form in SYNC_FORMS else _fused(e, next(works), plans) for e in shape]
        )
    return joined(loop, tiles)


def _fused(entry: Entry, parts: tuple[Entry, ...], plans: Plans) -> Entry:
    works = [part[0].work for part in parts]
    first = works[0]
    if isinstance(first, CopyWork):
        nbytes = sum(w.nbytes for w in works)
        if first.bursts == 1:
            work: Any = first._replace(nbytes=nbytes, burst_bytes=sum(w.burst_bytes for w in works))
        else:
            work = first._replace(nbytes=nbytes, bursts=sum(w.bursts for w in works))
    elif isinstance(first, VectorWork):
        work = first._replace(
            repeats=sum(w.repeats for w in works),
            elements=sum(w.elements for w in works),
            partial=works[-1].partial,
        )
    else:
        return parts[0]
    return _replace(entry, plans.with_work(parts[0][0], work))


def with_tiles(entries: list[Entry], number: int, plans: Plans) -> list[Entry]:
    """Let the block have ``number`` tiles: the first ones, or its last one repeated.

    Raises
    ------
    NotApplicable
        If there is no loop over tiles, or so short a one that no tile waits for an earlier one.
    """
    loop = plans.loop(entries)
    extra = number - len(loop.tiles)
    if extra <= 0:
        return joined(loop, loop.tiles[:number])
    # The last tile may be short; the one before it is what a further one would be.
    typical = next((tile for tile in loop.tiles[-2:] if _waits_for_earlier(tile)), None)
    if typical is None:
        raise NotApplicable(
            f"with {len(loop.tiles)} tiles in a block no tile waits for an earlier one, so nothing "
            "is known about longer blocks"
        )
    return joined(loop, [*loop.tiles[:-1], *([typical] * extra), loop.tiles[-1]])


def _waits_for_earlier(tile: list[Entry]) -> bool:
    return any(
        (plan.form == "wait" and plan.event in BACKWARD)
        or (plan.form == "barrier" and plan.pipe == S)
        for plan, *_ in tile
    )


# -- alignment ---------------------------------------------------------------------------------


def aligned(entries: list[Entry], alignment: int, plans: Plans) -> list[Entry]:
    """Let every copy start at a multiple of ``alignment`` bytes in GM.

    Raises
    ------
    NotApplicable
        If all do.
    """
    changed = [
        _replace(e, plans.with_work(e[0], e[0].work._replace(gm_alignment=alignment)))
        if isinstance(e[0].work, CopyWork) and e[0].work.gm_alignment < alignment
        else e
        for e in entries
    ]
    if all(a is b for a, b in zip(changed, entries, strict=True)):
        raise NotApplicable(f"all copies start at a multiple of {alignment} bytes")
    return changed
