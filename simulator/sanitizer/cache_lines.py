"""Findings about the scalar unit's data cache: shared lines, and lines not cleaned or not dropped.

Scalar stores to global memory stay in lines of 64 bytes until DataCacheCleanAndInvalid writes a
line back as a whole; scalar reads answer from the lines that are held. Copies go past the cache.
Source:
mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/缓存控制 (系统缓存概述.md,
DataCacheCleanAndInvalid.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simulator.enums import PipeID
from simulator.memory import DataCache
from simulator.sanitizer.catalog import WARNING
from simulator.sanitizer.classes import READS, S
from simulator.sanitizer.finding import Finding, Insertion
from simulator.sanitizer.place import place, same_line, statement_lines, tensor_name
from simulator.sanitizer.ranges import span
from simulator.sanitizer.streams import pointer_of, same_place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulator.memory import Allocation
    from simulator.run import Block, Run
    from simulator.sanitizer.handshakes import Handshakes
    from simulator.sanitizer.races import Races
    from simulator.sanitizer.streams import GmAccess, Stream

    Line = tuple[Allocation, int]

_LINE: Final = DataCache.LINE
_CLEAN: Final = "DataCacheCleanAndInvalid"


class _Touch(NamedTuple):
    """One access of one block to one line."""

    block: Block
    access: GmAccess
    low: int
    high: int


def find_cache(run: Run, streams: Sequence[Stream], races: Races) -> Iterator[Finding]:
    """Yield the findings about the data cache; nothing to do without scalar access to GM.

    ``races`` knows which loops of the kernel wait for other blocks.
    """
    scalar = [s for s in streams if any(a.plan.pipe == S for a in s.global_accesses)]
    if not scalar:
        return
    lines: dict[Line, list[_Touch]] = {}
    for stream in scalar:
        for block in stream.blocks:
            yield from _own_order(run, stream, block)
            for touch in _touches(stream, block):
                if touch.access.plan.pipe == S and touch.access.kind != READS:
                    for line in _lines(block, touch):
                        lines.setdefault(line, []).append(touch)
    yield from _shared(run, streams, lines)
    if lines:
        yield from _published(run, streams, lines, races.handshakes)


def _touches(stream: Stream, block: Block) -> Iterator[_Touch]:
    for access in stream.global_accesses:
        pointer = pointer_of(block.entries[access.at])
        if pointer is not None:
            low, high = span(access.operand.accesses)
            yield _Touch(block, access, low + pointer.offset, high + pointer.offset)


def _lines(block: Block, touch: _Touch) -> list[Line]:
    pointer = pointer_of(block.entries[touch.access.at])
    if pointer is None:
        return []
    numbers = range(touch.low // _LINE, -(-touch.high // _LINE))
    return [(pointer.allocation, number) for number in numbers]


# -- between blocks --------------------------------------------------------------------------------


def _shared(
    run: Run, streams: Sequence[Stream], lines: dict[Line, list[_Touch]]
) -> Iterator[Finding]:
    """Find lines that one block writes by scalar stores and another one writes as well."""
    stores: dict[Line, list[_Touch]] = {}
    for stream in streams:
        writes = [a for a in stream.global_accesses if a.kind != READS and a.plan.pipe != S]
        for block in stream.blocks if writes else ():
            for touch in _touches(stream, block):
                if touch.access.kind != READS and touch.access.plan.pipe != S:
                    for line in _lines(block, touch):
                        if line in lines:
                            stores.setdefault(line, []).append(touch)
    told: set[Any] = set()
    for line, touches in lines.items():
        first = touches[0]
        others = [t for t in (*touches, *stores.get(line, ())) if t.block is not first.block]
        if not others:
            continue
        second = others[0]
        if first.low < second.high and second.low < first.high:
            continue  # The same bytes: that is a race whatever the lines are.
        entries = [t.block.entries[t.access.at] for t in (first, second)]
        key = tuple(e[1:3] for e in entries)
        if key not in told:
            told.add(key)
            yield _shared_line(run, line, first, second)


def _shared_line(run: Run, line: Line, first: _Touch, second: _Touch) -> Finding:
    allocation, number = line
    entry, other = (t.block.entries[t.access.at] for t in (second, first))
    name = allocation.name or "global memory"
    low, high = number * _LINE, min((number + 1) * _LINE, len(allocation.data))
    how = "by a scalar store as well" if second.access.plan.pipe == S else "by a copy"
    size = max(1, second.access.operand.dtype.itemsize)
    return Finding(
        "cache.line",
        f"block {first.block.index} writes the 64-byte line {low}..{high} of {name} by a scalar "
        f"store and block {second.block.index} {how}; the line is written back as a whole",
        place(entry),
        fix=f"give each block lines of its own ({_LINE // size} elements apart), or store by "
        "DataCopyPad",
        other=place(other),
        block=second.block.index,
        pipe=PipeID(second.access.plan.pipe).label,
        api=entry[0].spec.name,
        tensor=tensor_name(entry, second.access.operand),
        bytes=(low, high),
        elements=(low // size, high // size),
        index=second.access.at,
        platform=run.platform.name,
        details={"space": "GM", "other_block": first.block.index},
    )


def _published(
    run: Run,
    streams: Sequence[Stream],
    lines: dict[Line, list[_Touch]],
    hands: Handshakes,
) -> Iterator[Finding]:
    """Find reads of what another block's scalar unit stored and did not clean, or not order."""
    told: set[Any] = set()
    for stream in streams:
        reads = [a for a in stream.global_accesses if a.kind == READS]
        for block in stream.blocks if reads else ():
            for touch in _touches(stream, block):
                if touch.access.kind != READS:
                    continue
                for line in _lines(block, touch):
                    for store in lines.get(line, ()):
                        if (
                            store.block is not block
                            and store.low < touch.high
                            and touch.low < store.high
                        ):
                            yield from _once(told, _verdict(run, touch, store, hands))


def _verdict(run: Run, touch: _Touch, store: _Touch, hands: Handshakes) -> Finding | None:
    """Judge a read of another block's scalar store; None when it was cleaned and reported."""
    entries = store.block.entries
    if hands.is_word(touch.block.index, touch.block.entries[touch.access.at], store.block.index):
        return None
    words = hands.sends.get(store.block.index, {})
    report = next(
        (
            i
            for i in range(store.access.at + 1, len(entries))
            if entries[i][0].form in ("cross set", "poll") or i in words
        ),
        None,
    )
    waited = any(
        e[0].form in ("cross wait", "poll") for e in touch.block.entries[: touch.access.at]
    ) or any(at < touch.access.at for at in hands.waits.get(touch.block.index, ()))
    what = tensor_name(entries[store.access.at], store.access.operand)
    if report is None or not waited:
        return _unordered(run, touch, store, what)
    line = store.low // _LINE
    for index in range(store.access.at + 1, report):
        if entries[index][0].spec.name != _CLEAN:
            continue
        pointer = pointer_of(entries[index])
        if pointer is None or pointer.offset // _LINE == line:
            return None
    here = place(entries[store.access.at])
    return _flush(
        run, touch, store, max(touch.low, store.low), min(touch.high, store.high),
        f"block {touch.block.index} reads {what}, but the scalar store of block "
        f"{store.block.index} in line {here.line} is still in its data cache when the blocks meet",
        here, what, "after",
    )  # fmt: skip


def _polls(touch: _Touch) -> bool:
    """Whether a block reads one place again and again."""
    mine = touch.block.entries[touch.access.at]
    alike = (same_place(entry, mine) and same_line(entry, mine) for entry in touch.block.entries)
    return sum(alike) > 1


def _unordered(run: Run, touch: _Touch, store: _Touch, what: str) -> Finding:
    entry, other = (t.block.entries[t.access.at] for t in (touch, store))
    low, high = max(touch.low, store.low), min(touch.high, store.high)
    size = max(1, touch.access.operand.dtype.itemsize)
    top = statement_lines(place(entry))[0]
    polls = _polls(touch)
    remark = "; it polls: what a handshake of the kernel's own orders is not followed"
    return Finding(
        "core.overlap",
        f"block {touch.block.index} reads bytes {low}..{high} of {what}, which block "
        f"{store.block.index} stores in line {place(other).line}, and no cross-core "
        f"synchronisation lies between{remark if polls else ''}",
        place(entry),
        fix=f"clean the line ({_CLEAN}) behind the store and put SyncAll() in front of line {top}",
        other=place(other),
        block=touch.block.index,
        pipe=PipeID(touch.access.plan.pipe).label,
        api=entry[0].spec.name,
        tensor=tensor_name(entry, touch.access.operand),
        bytes=(low, high),
        elements=(low // size, -(-high // size)),
        index=touch.access.at,
        severity=WARNING if polls else "",
        platform=run.platform.name,
        details={"space": "GM", "other_block": store.block.index},
    )


# -- inside a block --------------------------------------------------------------------------------


def _own_order(run: Run, stream: Stream, block: Block) -> Iterator[Finding]:
    """Follow one block: what its cache holds when it reads, and what copies find in memory."""
    dirty: dict[Line, _Touch] = {}
    loaded: dict[Line, int] = {}
    changed: dict[Line, _Touch] = {}
    accesses = {a.at: a for a in stream.global_accesses}
    cleans = stream.places({p for p in stream.distinct if p.spec.name == _CLEAN})
    told: set[Any] = set()
    for index in sorted({*accesses, *cleans}):
        if index not in accesses:
            _clean(block, index, dirty, loaded)
            continue
        access = accesses[index]
        pointer = pointer_of(block.entries[index])
        if pointer is None:
            continue
        low, high = (edge + pointer.offset for edge in span(access.operand.accesses))
        touch = _Touch(block, access, low, high)
        if access.plan.pipe == S:
            for line in _lines(block, touch):
                if access.kind != READS:
                    loaded.setdefault(line, index)
                    dirty[line] = touch
                    continue
                since = loaded.setdefault(line, index)
                stale = changed.get(line)
                if (
                    stale is not None
                    and stale.access.at > since
                    and stale.low < high
                    and low < stale.high
                ):
                    yield from _once(told, _not_dropped(run, touch, stale))
        elif access.kind == READS:
            for line in [k for k in dirty if k[0] is pointer.allocation]:
                store = dirty[line]
                if store.low < high and low < store.high:
                    yield from _once(told, _not_cleaned(run, touch, store))
        else:
            for line in _lines(block, touch):
                changed[line] = touch


def _clean(block: Block, index: int, dirty: dict[Line, _Touch], loaded: dict[Line, int]) -> None:
    plan = block.entries[index][0]
    if plan.form == "scalar" and not plan.operands:
        if plan.details.get("extent") == "ENTIRE_DATA_CACHE":
            dirty.clear()
            loaded.clear()
        return
    pointer = pointer_of(block.entries[index])
    if pointer is not None:
        line = (pointer.allocation, pointer.offset // _LINE)
        dirty.pop(line, None)
        loaded.pop(line, None)


def _once(told: set[Any], finding: Finding | None) -> Iterator[Finding]:
    if finding is None:
        return
    key = (finding.location, finding.other)
    if key not in told:
        told.add(key)
        yield finding


def _not_cleaned(run: Run, touch: _Touch, store: _Touch) -> Finding:
    entry, other = (t.block.entries[t.access.at] for t in (touch, store))
    what = tensor_name(other, store.access.operand)
    return _flush(
        run, touch, store, max(touch.low, store.low), min(touch.high, store.high),
        f"{entry[0].spec.name} reads {what} from global memory, but the scalar store of line "
        f"{place(other).line} is still in the data cache",
        place(other), what, "after",
    )  # fmt: skip


def _not_dropped(run: Run, touch: _Touch, stale: _Touch) -> Finding:
    entry, other = (t.block.entries[t.access.at] for t in (touch, stale))
    what = tensor_name(entry, touch.access.operand)
    return _flush(
        run, touch, stale, max(touch.low, stale.low), min(touch.high, stale.high),
        f"{entry[0].spec.name} answers from a line of the data cache that was loaded before "
        f"{other[0].spec.name} in line {place(other).line} changed {what} in global memory",
        place(entry), what, "before",
    )  # fmt: skip


def _flush(
    run: Run, touch: _Touch, other: _Touch, low: int, high: int, message: str, at: Any, what: str,
    where: str,
) -> Finding:  # fmt: skip
    entry, second = (t.block.entries[t.access.at] for t in (touch, other))
    size = max(1, touch.access.operand.dtype.itemsize)
    statement = (
        f"{_CLEAN}(CacheLine.ENTIRE_DATA_CACHE, DcciDst.CACHELINE_OUT, {what.partition('[')[0]})"
    )
    top, bottom = statement_lines(at)
    line = bottom if where == "after" else top
    preposition = "behind" if where == "after" else "in front of"
    return Finding(
        "cache.flush",
        message,
        place(entry),
        fix=f"put {statement} {preposition} line {line}",
        other=place(second),
        block=touch.block.index,
        pipe=PipeID(touch.access.plan.pipe).label,
        api=entry[0].spec.name,
        tensor=tensor_name(entry, touch.access.operand),
        bytes=(low, high),
        elements=(low // size, -(-high // size)),
        index=touch.access.at,
        platform=run.platform.name,
        insert=(Insertion(at.file, line, where, statement),),
        details={"space": "GM"},
    )
