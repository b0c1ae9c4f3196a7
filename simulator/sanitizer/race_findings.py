"""What is said about order: the two parties of a race and the statements that order them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.enums import HardEvent, PipeID
from simulator.sanitizer.catalog import INFO, WARNING
from simulator.sanitizer.classes import COMBINES, READS, WRITES, S
from simulator.sanitizer.finding import Finding, Insertion
from simulator.sanitizer.place import (
    branches,
    buffer_at,
    buffer_name,
    indentation,
    place,
    same_site,
    statement_lines,
    tensor_name,
)
from simulator.sanitizer.ranges import span
from simulator.sanitizer.values import same_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.core import Entry
    from simulator.errors import SourceLocation
    from simulator.run import Block, Run
    from simulator.sanitizer.block_order import Unbalanced
    from simulator.sanitizer.classes import Classes
    from simulator.sanitizer.global_order import Meeting
    from simulator.sanitizer.order import Conflict, Leftover

_KINDS: Final = {(False, True): "war", (True, False): "raw", (True, True): "waw"}
_VERBS: Final = {
    "raw": ("reads", "writes"),
    "war": ("overwrites", "reads"),
    "waw": ("writes", "writes as well"),
}
_IDS: Final = 8
_RESERVED_IDS: Final = 6
"""Ids from this one on belong to the framework in static programs (kernel_tpipe_impl.h)."""


def race_finding(run: Run, classes: Classes, block: Block, conflict: Conflict) -> Finding:
    """Return the finding for two accesses of one block."""
    mine = classes.table[conflict.second_class]
    theirs = classes.table[conflict.first_class]
    first, second = block.entries[conflict.first], block.entries[conflict.second]
    low, high = classes.common(conflict.first_class, conflict.second_class)
    pipes = (PipeID(theirs.pipe), PipeID(mine.pipe))
    kind = _KINDS[theirs.kind != READS, mine.kind != READS]
    in_ub = mine.operand.space == "UB"
    here, there = place(second), place(first)
    name = tensor_name(second, mine.operand)
    now, before = _VERBS[kind]
    where = f"UB bytes {low}..{high}" if in_ub else f"bytes {low}..{high} of global memory"
    message = (
        f"{second[0].spec.name} on {pipes[1].label} {now} {where} ({name}), which "
        f"{first[0].spec.name} on {pipes[0].label} {before}, and nothing orders the two"
    )
    code = _code(kind, pipes, (theirs.kind, mine.kind))
    role = _role(block, low, high, pipes) if in_ub and code in _BETWEEN_PIPES else ""
    if role:
        code, message = "que.role", f"{message}; {role}"
    if conflict.flag is not None and code in _BETWEEN_PIPES:
        code = "flag.wrong_pipe"
        event = HardEvent(conflict.flag.plan.event).name
        line = place(block.entries[conflict.flag.wait_index]).line
        message = (
            f"{message}; the flag {event} of line {line} stands between them and orders neither"
        )
    fix, insert = _order_fix(block, pipes, there, here)
    if _is_one_statement(first, second):
        fix, insert = _split_fix(fix, first, second), ()
    start = span(classes.ranges.accesses[mine.rid])[0]
    bits = max(1, mine.operand.dtype.bits)
    return Finding(
        code,
        message,
        here,
        fix=fix,
        insert=insert,
        other=there,
        block=block.index,
        pipe=pipes[1].label,
        api=second[0].spec.name,
        tensor=name,
        bytes=(low, high),
        elements=((low - start) * 8 // bits, -(-(high - start) * 8 // bits)),
        index=conflict.second,
        count=conflict.count,
        severity="" if conflict.matters else INFO,
        platform=run.platform.name,
        details={
            "kind": kind,
            "space": mine.operand.space,
            "buffer": buffer_name(block, low, high) if in_ub else "",
            "other_pipe": pipes[0].label,
            "other_api": first[0].spec.name,
            "other_instruction": conflict.first,
        },
    )


_BETWEEN_PIPES: Final = frozenset({"race.raw", "race.war", "race.waw"})


def _code(kind: str, pipes: tuple[PipeID, PipeID], kinds: tuple[int, int]) -> str:
    if COMBINES in kinds and WRITES in kinds:
        return "core.init_race"
    if pipes[0] is pipes[1]:
        return "race.samepipe"
    return "race.scalar" if S in pipes else f"race.{kind}"


def _role(block: Block, low: int, high: int, pipes: tuple[PipeID, PipeID]) -> str:
    """Say that a queue does not order two pipes; empty if it does or there is no queue."""
    found = buffer_at(block, low, high)
    events = [getattr(found[0], name, None) for name in ("filled", "freed")] if found else []
    ordered = {event.name for event in events if isinstance(event, HardEvent)}
    pair = f"{pipes[0].label}_{pipes[1].label}"
    if found is None or not ordered or pair in ordered:
        return ""
    name = getattr(found[0], "name", "queue")
    return f"the {name} orders {' and '.join(sorted(ordered))} only, not {pair}"


def _order_fix(
    block: Block, pipes: tuple[PipeID, PipeID], there: SourceLocation, here: SourceLocation
) -> tuple[str, tuple[Insertion, ...]]:
    """Return the fix in words and as statements."""
    top, _ = statement_lines(here)
    if pipes[0] is pipes[1]:
        statement = f"PipeBarrier({pipes[0].name})"
        return (
            f"put {statement} in front of line {top}",
            (Insertion(here.file, top, "before", statement),),
        )
    event = HardEvent[f"{pipes[0].label}_{pipes[1].label}"]
    number = _free_id(block, event)
    set_flag = f"SetFlag(HardEvent.{event.name}, {number})"
    wait_flag = f"WaitFlag(HardEvent.{event.name}, {number})"
    _, bottom = statement_lines(there)
    if _is_straight(there, here):
        return (
            f"put {set_flag} behind line {bottom} and {wait_flag} in front of line {top}, or hand "
            "the tensor over with EnQue and DeQue",
            (
                Insertion(there.file, bottom, "after", set_flag),
                Insertion(here.file, top, "before", wait_flag),
            ),
        )
    # Set and wait in one place stay in pairs, whatever loop or branch the two lines stand in.
    return (
        f"put {set_flag} and {wait_flag} in front of line {top}, or hand the tensor over with "
        "EnQue and DeQue",
        (
            Insertion(here.file, top, "before", set_flag),
            Insertion(here.file, top, "before", wait_flag),
        ),
    )


def _is_one_statement(first: Entry, second: Entry) -> bool:
    """Whether two calls stand in one line, or one statement, the second behind the first."""
    here, there = place(second), place(first)
    return (
        first[1] is second[1]
        and first[2] < second[2]
        and here.file == there.file
        and statement_lines(here) == statement_lines(there)
    )


def _split_fix(fix: str, first: Entry, second: Entry) -> str:
    """Return a fix that goes in front of a line as one that goes between two of its calls."""
    line = statement_lines(place(second))[0]
    between = f"between {first[0].spec.name} and {second[0].spec.name} in line {line}"
    return fix.replace(f"in front of line {line}", between)


def _is_straight(there: SourceLocation, here: SourceLocation) -> bool:
    """Whether two lines stand in one block of one function, the second below the first."""
    return (
        (there.file, there.function) == (here.file, here.function)
        and there.line < here.line
        and indentation(there) == indentation(here) >= 0
        and not _dedents(there, here)
    )


def _dedents(there: SourceLocation, here: SourceLocation) -> bool:
    """Whether a line between the two ends the block they seem to share."""
    import linecache

    depth = indentation(here)
    for number in range(there.line + 1, here.line):
        line = linecache.getline(there.file, number)
        closing = line.strip()[:1] in (")", "]", "}", "#")
        if line.strip() and not closing and len(line) - len(line.lstrip()) < depth:
            return True
    return False


def _free_id(block: Block, event: HardEvent) -> int:
    """Return the lowest event id that the block does not use for ``event``."""
    used = {entry[0].flag % _IDS for entry in block.entries if entry[0].event == int(event)}
    return next((n for n in range(_RESERVED_IDS) if n not in used), 0)


def leftover_finding(run: Run, block: Block, leftover: Leftover) -> Finding:
    """Return the finding for a flag that is up at the end of a block."""
    plan = leftover.plan
    event, number = HardEvent(plan.event), plan.flag % _IDS
    here = place(block.entries[leftover.at])
    sets, waits = (
        sum(e[0].flag == plan.flag and e[0].event == plan.event and e[0].form == form
            for e in block.entries)
        for form in ("set", "wait")
    )  # fmt: skip
    statement = f"WaitFlag(HardEvent.{event.name}, {number})"
    return Finding(
        "flag.pair",
        f"flag {event.name} id {number} is set {_times(sets)} and waited for {_times(waits)}: it "
        "is still up when the kernel ends",
        here,
        fix=f"put {statement} where the last SetFlag is to be taken back, at the latest before the "
        "kernel ends, or leave out the SetFlag that has no wait",
        block=block.index,
        pipe=PipeID(plan.pipe).label,
        api="SetFlag",
        index=leftover.at,
        platform=run.platform.name,
        insert=(Insertion(here.file, statement_lines(here)[1], "after", statement),)
        if sets == 1
        else (),
        details={"event": event.name, "event_id": number, "sets": sets, "waits": waits},
    )


def _times(count: int) -> str:
    return "once" if count == 1 else "never" if count == 0 else f"{count} times"


# -- between blocks ------------------------------------------------------------------------------


def meeting_finding(run: Run, meetings: Sequence[Meeting], *, ordered_by_sync: bool) -> Finding:
    """Return the finding for accesses of two blocks from one pair of lines."""
    first, second, low, high = meetings[0]
    if first.access.at > second.access.at:
        first, second = second, first
    mine, theirs = (run.blocks[u.block].entries[u.access.at] for u in (second, first))
    here, there = place(mine), place(theirs)
    kinds = (first.access.kind, second.access.kind)
    name = first.allocation.name or "global memory"
    verbs = ["reads" if k == READS else "adds to" if k == COMBINES else "writes" for k in kinds]
    code = "core.init_race" if set(kinds) == {WRITES, COMBINES} else "core.overlap"
    if set(kinds) == {COMBINES}:
        code = "atomic.order"
    severity, same = "", ""
    if set(kinds) == {WRITES} and not ordered_by_sync and same_values(run, meetings):
        severity, same = WARNING, "; both write the same values"
    bits = second.access.operand.dtype.bits
    size = max(1, bits // 8)
    insert: tuple[Insertion, ...] = ()
    owner = (
        f"block {first.block} goes up to byte {_end_of(run, meetings[0], first.block)} of {name}"
    )
    if same_site(mine, theirs):
        fix = (
            f"give each block a range of its own: {owner}, and block {second.block} starts at {low}"
        )
    else:
        fix, insert = _meet_fix(there, here)
    return Finding(
        code,
        f"block {second.block} {verbs[1]} bytes {low}..{high} of {name}, which block {first.block} "
        f"{verbs[0]} in line {there.line}, and no cross-core synchronisation lies between{same}",
        here,
        fix=fix,
        insert=insert,
        other=there,
        block=second.block,
        pipe=PipeID(mine[0].pipe).label,
        api=mine[0].spec.name,
        tensor=name,
        bytes=(low, high),
        elements=(low // size, -(-high // size)),
        index=second.access.at,
        count=len(meetings),
        severity=severity,
        platform=run.platform.name,
        details={
            "space": "GM",
            "other_block": first.block,
            "other_api": theirs[0].spec.name,
            "other_instruction": first.access.at,
        },
    )


def _meet_fix(there: SourceLocation, here: SourceLocation) -> tuple[str, tuple[Insertion, ...]]:
    """Return where all blocks have to meet, so that each of them does: not in one branch only."""
    alone = "or give each block a range of its own"
    top, bottom = statement_lines(here)[0], statement_lines(there)[1]
    mine, theirs = branches(here), branches(there)
    if (there.file, there.function) != (here.file, here.function):
        mine = theirs = []
    while mine and theirs and mine[0] == theirs[0]:
        mine, theirs = mine[1:], theirs[1:]
    if mine and theirs and mine[0].line == theirs[0].line:
        return (
            f"put SyncAll() behind line {bottom} and in front of line {top}, {alone}",
            (
                Insertion(there.file, bottom, "after", "SyncAll()"),
                Insertion(here.file, top, "before", "SyncAll()"),
            ),
        )
    line = mine[0].line if mine and mine[0].line > there.line else top
    return (
        f"put SyncAll() in front of line {line}, {alone}",
        (Insertion(here.file, line, "before", "SyncAll()"),),
    )


def _end_of(run: Run, meeting: Meeting, block: int) -> int:
    use = meeting.first if meeting.first.block == block else meeting.second
    return span(use.access.operand.accesses)[1] + use.offset


def drift_finding(run: Run, drift: Unbalanced) -> Finding:
    """Return the finding for a cross-core flag that is set more often than it is waited for."""
    entry = drift.block.entries[drift.at]
    here = place(entry)
    bottom = statement_lines(here)[1]
    return Finding(
        "sync.balance",
        f"cross-core flag {drift.flag} is set {_times(drift.sets)} for block {drift.block.index} "
        f"and waited for {_times(drift.waits)}: its counter is still up when the kernel ends",
        here,
        fix=f"put CrossCoreWaitFlag({drift.flag}) where the last CrossCoreSetFlag is to be taken "
        "back, or leave out the set",
        block=drift.block.index,
        pipe=PipeID(entry[0].pipe).label,
        api=entry[0].spec.name,
        index=drift.at,
        insert=(Insertion(here.file, bottom, "after", f"CrossCoreWaitFlag({drift.flag})"),),
        platform=run.platform.name,
        details={"flag": drift.flag, "sets": drift.sets, "waits": drift.waits},
    )
