"""Findings about global memory: types that disagree, and outputs with gaps."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from simulator.dtypes import BY_NAME
from simulator.enums import PipeID
from simulator.sanitizer.classes import READS
from simulator.sanitizer.finding import Finding
from simulator.sanitizer.place import place, tensor_name
from simulator.sanitizer.streams import pointer_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from simulator.dtypes import DType
    from simulator.memory import Allocation
    from simulator.run import Run
    from simulator.sanitizer.global_order import Layout
    from simulator.sanitizer.streams import GmAccess, Stream, Use


def find_stale_tiling(run: Run) -> Iterator[Finding]:
    """Yield fields of tiling data that the kernel reads and the host never set."""
    for _, value in run.arguments:
        for name, location in getattr(value, "stale_reads", {}).items():
            kind = type(value).__name__
            yield Finding(
                "tile.stale",
                f"the kernel reads {kind}.{name}, which the host has never set",
                location,
                fix=f"set {name} in every tiling, also when it is 0",
                tensor=f"{kind}.{name}",
                platform=run.platform.name,
                details={"field": name},
            )


def find_misdeclared(run: Run, streams: Sequence[Stream]) -> Iterator[Finding]:
    """Yield reads of a caller's array of floating-point numbers as another floating-point type."""
    seen: set[tuple[Allocation, DType]] = set()
    for stream in streams:
        reads = [a for a in stream.global_accesses if a.kind == READS]
        for block in stream.blocks:
            for access in reads:
                pointer = pointer_of(block.entries[access.at])
                if pointer is None:
                    continue
                key = (pointer.allocation, access.operand.dtype)
                if key in seen:
                    continue
                seen.add(key)
                held = _declared(pointer.allocation)
                if held is not None and _disagree(held, access.operand.dtype):
                    yield _misdeclared(run, stream, block.index, access, pointer.allocation, held)


def _declared(allocation: Allocation) -> DType | None:
    """Return the element type of the array behind an allocation; None for memory without one."""
    owner: Any = allocation.owner
    dtype = getattr(owner, "dtype", None)
    # numpy takes None for double.
    return next((d for d in BY_NAME.values() if dtype is not None and d.numpy == dtype), None)


def _disagree(held: DType, read: DType) -> bool:
    # Integers and bytes are how kernels move bits of any type; only two different formats of
    # floating-point numbers cannot both be meant.
    return held.is_float and read.is_float and held.numpy != read.numpy


def _misdeclared(
    run: Run, stream: Stream, block: int, access: GmAccess, allocation: Allocation, held: DType
) -> Finding:
    entry = run.blocks[block].entries[access.at]
    dtype = access.operand.dtype
    pointer = pointer_of(entry)
    low = pointer.offset if pointer is not None else 0
    raw = run.initial.get(allocation, allocation.data)
    size = max(held.itemsize, dtype.itemsize)
    first = low // size * size
    values = [
        float(np.frombuffer(raw[first : first + d.itemsize].tobytes(), d.numpy)[0])
        for d in (held, dtype)
        if len(raw) >= first + d.itemsize
    ]
    shown = (
        f"; its first value is {values[0]:g} and is read as {values[1]:g}"
        if len(values) == 2
        else ""
    )
    return Finding(
        "gm.misdeclared",
        f"{allocation.name or 'the array'} holds {held} and is read as {dtype}{shown}",
        place(entry),
        fix=f"declare it as GlobalTensor({held}), or pass an array of {dtype}",
        block=block,
        pipe=PipeID(access.plan.pipe).label,
        api=access.plan.spec.name,
        tensor=tensor_name(entry, access.operand),
        bytes=(low, low + size),
        index=access.at,
        platform=run.platform.name,
        details={"space": "GM", "held": held.name, "read": dtype.name},
    )


def find_atomic_order(run: Run, layouts: dict[Allocation, Layout]) -> Iterator[Finding]:
    """Yield places to which three or more floating-point additions come from several blocks."""
    for layout in layouts.values():
        for first, behind in layout.clusters():
            numbers = dict.fromkeys(layout.owners[first:behind].tolist())
            sums = [layout.uses[n] for n in numbers if layout.uses[n].access.combines == "add"]
            floats = [u for u in sums if u.access.operand.dtype.is_float]
            if len(floats) > 2 and len({u.block for u in floats}) > 1:
                yield _unordered_sum(run, floats, int(layout.starts[first]))
                break


def _unordered_sum(run: Run, uses: Sequence[Use], low: int) -> Finding:
    entries = [run.blocks[u.block].entries[u.access.at] for u in uses[:2]]
    operand = uses[0].access.operand
    name = uses[0].allocation.name or "global memory"
    return Finding(
        "atomic.order",
        f"{len(uses)} additions of {operand.dtype} from {len({u.block for u in uses})} blocks "
        f"reach {name} from byte {low} on, in no fixed order",
        place(entries[1]),
        fix="let every block store its part, and add the parts in a fixed order behind SyncAll()",
        other=place(entries[0]),
        block=uses[1].block,
        pipe=PipeID(uses[1].access.plan.pipe).label,
        api=entries[1][0].spec.name,
        tensor=name,
        bytes=(low, low + operand.dtype.itemsize),
        index=uses[1].access.at,
        platform=run.platform.name,
        details={"space": "GM", "additions": len(uses)},
    )


def find_gaps(run: Run, layouts: dict[Allocation, Layout]) -> Iterator[Finding]:
    """Yield outputs that the blocks write without holes of their own but with gaps between them.

    Only memory that is written and never read counts, and only where every block's share is one
    unbroken range: a kernel that scatters its results leaves bytes alone on purpose.
    """
    for layout in layouts.values():
        if any(use.access.kind == READS for use in layout.uses) or len(layout.starts) < 2:
            continue
        shares = _shares(layout)
        if shares is None or len(shares) < 2:
            continue
        for (block, _, end), (following, start, _) in pairwise(shares):
            if start > end:
                yield _gap(run, layout, block, following, end, start)
                break


def _shares(layout: Layout) -> list[tuple[int, int, int]] | None:
    """Return (block, start, end) of every block's share by address, None if one has holes."""
    blocks = np.array([use.block for use in layout.uses])[layout.owners]
    shares = []
    for block in dict.fromkeys(blocks.tolist()):
        mine = np.flatnonzero(blocks == block)
        starts, stops = layout.starts[mine], layout.stops[mine]
        if np.any(starts[1:] > np.maximum.accumulate(stops)[:-1]):
            return None
        shares.append((block, int(starts[0]), int(stops.max())))
    return sorted(shares, key=lambda share: share[1])


def _gap(run: Run, layout: Layout, block: int, following: int, low: int, high: int) -> Finding:
    use = next(u for u in reversed(layout.uses) if u.block == block)
    entry = run.blocks[block].entries[use.access.at]
    size = max(1, use.access.operand.dtype.itemsize)
    name = use.allocation.name or "global memory"
    return Finding(
        "tile.cover",
        f"no block writes bytes {low}..{high} of {name} (elements {low // size}.."
        f"{-(-high // size)}): block {block} ends at {low} and block {following} starts at {high}",
        place(entry),
        fix=f"let the shares meet: block {following} has to start at element {low // size}",
        block=block,
        pipe=PipeID(use.access.plan.pipe).label,
        api=use.access.plan.spec.name,
        tensor=name,
        bytes=(low, high),
        elements=(low // size, -(-high // size)),
        index=use.access.at,
        platform=run.platform.name,
        details={"space": "GM", "other_block": following},
    )
