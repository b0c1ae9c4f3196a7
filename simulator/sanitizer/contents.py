"""Findings about what UB holds: unwritten bytes, filler, dead and damaged writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from simulator.enums import PipeID
from simulator.sanitizer.catalog import ERROR, INFO
from simulator.sanitizer.finding import Finding
from simulator.sanitizer.lifetimes import Lifetimes
from simulator.sanitizer.place import (
    buffer_name,
    is_written_there,
    place,
    tensor_name,
)
from simulator.sanitizer.ranges import fillers_of, is_dense, span, touched_bytes
from simulator.sanitizer.shadow import RANDOM, UNWRITTEN, Effects, Shadow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from simulator.run import Run
    from simulator.sanitizer.lifetimes import Damage, DeadWrite
    from simulator.sanitizer.ranges import Ranges
    from simulator.sanitizer.shadow import StaleRead
    from simulator.sanitizer.streams import Stream

_REDUCTIONS: Final = frozenset({"reduction", "sort"})


def find_contents(
    run: Run, streams: Sequence[Stream], ranges: Ranges, courses: Mapping[int, Sequence[int]]
) -> Iterator[Finding]:
    """Yield the findings about the contents of the unified buffer.

    ``courses`` holds, by first block of a stream, the order in which its calls take effect.
    """
    size = run.platform.memory.ub_bytes
    effects, lifetimes = Effects(ranges), Lifetimes(ranges)
    for stream in streams:
        if stream.is_clean("contents"):
            continue
        course = courses.get(stream.first.index, ())
        regions = stream.regions(ranges)
        reads = Shadow(size, effects, regions).follow(stream.plans, course)
        for read in reads:
            yield _stale(run, stream, read)
        dead, damages = lifetimes.follow(stream, course)
        if not (reads or dead or damages or course):
            stream.note_clean("contents")
        for write in dead:
            if is_written_there(stream.entries[write.index]):
                yield _lost(run, stream, write)
        for damage in damages:
            yield _alias(run, stream, damage)


def _stale(run: Run, stream: Stream, read: StaleRead) -> Finding:
    if read.origin == UNWRITTEN and read.root_operand.name == "selMask":
        return _mask_bits(run, stream, read)
    entry, root = stream.entries[read.at], stream.entries[read.root]
    plan = entry[0]
    name = tensor_name(entry, read.touch.operand)
    start = span(read.touch.operand.accesses)[0]
    bits = max(1, read.touch.operand.dtype.bits)
    first = (read.low - start) * 8 // bits
    behind = -(-(read.high - start) * 8 // bits)
    code, severity, holds, fix = _verdict(stream, read, first, behind, name)
    via = ""
    if read.root != read.at:
        via = f", through {root[0].spec.name} in line {place(root).line}"
    verb = "stores" if plan.pipe == PipeID.PIPE_MTE3 else "takes"
    filler = _filler_of(stream, read)
    other = None
    if read.root != read.at:
        other = place(root)
    elif filler is not None:
        other = place(stream.entries[filler])
    return Finding(
        code,
        f"{plan.spec.name} {verb} {read.nbytes} bytes of {name} (UB {read.low}..{read.high}, "
        f"elements {first}..{behind}) {holds}{via}",
        place(entry),
        fix=fix,
        other=other,
        block=stream.first.index,
        pipe=PipeID(plan.pipe).label,
        api=plan.spec.name,
        tensor=name,
        bytes=(read.low, read.high),
        elements=(first, behind),
        index=read.at,
        count=read.times * len(stream.blocks),
        severity=severity,
        platform=run.platform.name,
        details={
            "space": "UB",
            "buffer": buffer_name(stream.first, read.low, read.high),
            "stale_bytes": read.nbytes,
        },
    )


def _mask_bits(run: Run, stream: Stream, read: StaleRead) -> Finding:
    """Return the finding for a selection by mask bytes that nothing has written."""
    entry, operand = stream.entries[read.root], read.root_operand
    low, high = span(operand.accesses)
    name = tensor_name(entry, operand)
    other, wrote, fix = None, "", f"write the mask first, for example with Compare({name}, …)"
    for index in range(read.root - 1, -1, -1):
        target = stream.plans[index].operands[:1]
        if (
            stream.plans[index].spec.family.startswith("compare")
            and target
            and target[0].space == "UB"
        ):
            start, stop = span(target[0].accesses)
            other = place(stream.entries[index])
            wrote = f"; {stream.plans[index].spec.name} in line {other.line} wrote {start}..{stop}"
            offset = low - start
            if offset > 0:
                fix = (
                    f"a mask has one bit an element: for element {offset} it starts at byte "
                    f"{offset // 8}, {name.partition('[')[0]}[{offset // 8}]"
                )
            break
    return Finding(
        "sel.mask_unit",
        f"Select chooses by UB bytes {low}..{high} of {name}, which no comparison has "
        f"written{wrote}",
        place(entry),
        fix=fix,
        other=other,
        block=stream.first.index,
        pipe="V",
        api="Select",
        tensor=name,
        bytes=(low, high),
        elements=(0, (high - low) * 8 // max(1, operand.dtype.bits)),
        index=read.root,
        count=read.times * len(stream.blocks),
        platform=run.platform.name,
        details={"space": "UB", "buffer": buffer_name(stream.first, low, high)},
    )


def _verdict(
    stream: Stream, read: StaleRead, first: int, behind: int, name: str
) -> tuple[str, str, str, str]:
    """Return code, severity, what the bytes are, and the fix."""
    plan = stream.plans[read.at]
    if read.origin != UNWRITTEN:
        filler = _filler_of(stream, read)
        if filler is not None and _is_packed(stream, read, filler):
            rows = stream.plans[filler].details
            pitch = rows["ubStep"]
            return (
                "copy.pitch",
                ERROR,
                f"as if its rows were packed: the copy puts row r at r*{pitch} bytes and fills up "
                "the rest",
                f"address row r at r*{pitch // read.touch.operand.dtype.itemsize} elements, or "
                "copy the rectangle as one burst",
            )
        kind = (
            "of unspecified value" if read.origin == RANDOM else "that repeat a row's first element"
        )
        return (
            "copy.dummy",
            ERROR if read.origin == RANDOM else "",
            f"that are filler {kind}",
            "give DataCopyPad a neutral padding value: DataCopyPadExtParams(True, 0, elements, "
            "value), or take the data elements only",
        )
    if plan.spec.family in _REDUCTIONS and not read.all_stale:
        return (
            "vec.tail_lanes",
            "",
            "that nothing has written",
            f"reduce {first} elements only, or give elements {first}..{behind} a neutral value: "
            f"Duplicate({name}[{first}:], neutral, {behind - first}) before the data is written",
        )
    return (
        "ub.uninit",
        "",
        "that nothing has written in this launch",
        f"write elements {first}..{behind} first, for example Duplicate({name}, 0, {behind}), or "
        "take fewer elements",
    )


def _filler_of(stream: Stream, read: StaleRead) -> int | None:
    """Return the last copy before the read whose filler it takes."""
    root = read.root if read.root != read.at else read.at
    for index in range(root - 1, -1, -1):
        for _, accesses in fillers_of(stream.plans[index]):
            places = touched_bytes(accesses)
            target = touched_bytes(read.root_operand.accesses)
            if len(np.intersect1d(places, target)):
                return index
    return None


def _is_packed(stream: Stream, read: StaleRead, filler: int) -> bool:
    """Whether the reader takes as many bytes as the rows of a copy have without their filler."""
    rows = stream.plans[filler].details
    copied = rows["blockCount"] * rows["blockBytes"]
    accesses = read.root_operand.accesses
    low, high = span(accesses)
    target = next(op for op in stream.plans[filler].operands if op.space == "UB")
    return (
        rows["blockCount"] > 1
        and is_dense(accesses)
        and low == span(target.accesses)[0]
        and high - low == copied
    )


def _lost(run: Run, stream: Stream, write: DeadWrite) -> Finding:
    entry, again = stream.entries[write.index], stream.entries[write.again]
    operand = write.operand
    name = tensor_name(entry, operand)
    low, high = span(operand.accesses)
    return Finding(
        "ub.lost_write",
        f"what {entry[0].spec.name} writes to {name} (UB {low}..{high}) is overwritten by "
        f"{again[0].spec.name} in line {place(again).line} before anything has read it",
        place(entry),
        fix="leave the first write out, or give the second one a tensor of its own",
        other=place(again),
        block=stream.first.index,
        pipe=PipeID(entry[0].pipe).label,
        api=entry[0].spec.name,
        tensor=name,
        bytes=(low, high),
        elements=(0, (high - low) * 8 // max(1, operand.dtype.bits)),
        index=write.index,
        count=write.times * len(stream.blocks),
        severity="" if write.matters else INFO,
        platform=run.platform.name,
        details={
            "space": "UB",
            "buffer": buffer_name(stream.first, low, high),
            "other_api": again[0].spec.name,
        },
    )


def _alias(run: Run, stream: Stream, damage: Damage) -> Finding:
    written, by, read = (stream.entries[i] for i in (damage.written, damage.by, damage.read))
    mine, theirs = span(damage.operand.accesses), span(damage.by_operand.accesses)
    low, high = max(mine[0], theirs[0]), min(mine[1], theirs[1])
    names = tensor_name(written, damage.operand), tensor_name(by, damage.by_operand)
    bits = max(1, damage.operand.dtype.bits)
    return Finding(
        "ub.alias",
        f"{names[1]} (UB {theirs[0]}..{theirs[1]}) shares bytes {low}..{high} with {names[0]} "
        f"(UB {mine[0]}..{mine[1]}): {by[0].spec.name} overwrites them although "
        f"{read[0].spec.name} in line {place(read).line} still reads what {written[0].spec.name} "
        f"wrote in line {place(written).line}",
        place(by),
        fix=f"start {names[1]} at byte {-(-mine[1] // 32) * 32} or behind"
        if theirs[0] >= mine[0]
        else f"start {names[0]} at byte {-(-theirs[1] // 32) * 32} or behind",
        other=place(written),
        block=stream.first.index,
        pipe=PipeID(by[0].pipe).label,
        api=by[0].spec.name,
        tensor=names[1],
        bytes=(low, high),
        elements=((low - mine[0]) * 8 // bits, -(-(high - mine[0]) * 8 // bits)),
        index=damage.by,
        count=damage.times * len(stream.blocks),
        platform=run.platform.name,
        details={
            "space": "UB",
            "buffer": buffer_name(stream.first, low, high),
            "read_line": place(read).line,
            "other_api": written[0].spec.name,
        },
    )
