"""Which stores a block has polled for: what another block must have written before it goes on.

Calls such as IBWait, WaitPreBlock and SyncAll with a workspace read global memory again and again
until other blocks have written there. The record holds one wait and, behind it, the copy that reads
the same bytes. The stores that let the wait pass are the last ones to those bytes before the block
went on, in the order in which the blocks really took turns.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.timing.global_memory import READ_PIPE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.timing.global_memory import Request

POLL: Final = "poll"

_SLOT: Final = 32
"""Bytes that calls which poll give to a block."""


class Store(NamedTuple):
    """A copy to global memory: block and position in its record."""

    block: int
    position: int


def _extent(request: Request) -> tuple[int, int]:
    """First address of a copy and the one behind its last byte."""
    work = request.plan.work
    step = request.plan.details.get("gmStep", work.burst_bytes)
    return request.address, request.address + (work.bursts - 1) * step + work.burst_bytes


def awaited_stores(
    polls: Sequence[Sequence[int]],
    requests: Sequence[Sequence[Request]],
    course: Sequence[tuple[int, int]],
) -> list[dict[int, list[Store]]]:
    """Return, for each block, the stores of other blocks that each of its polls waited for.

    Parameters
    ----------
    polls : sequence of sequences of int
        Positions of the polls in the record of each block.
    requests : sequence of sequences of Request
        Copies of each block, in order.
    course : sequence of (int, int)
        In which order blocks took turns: block, and how many instructions it had issued then.
    """
    looks = [_looks(own, copies) for own, copies in zip(polls, requests, strict=True)]
    slots = sorted({s for own in looks for low, high in own.values() for s in range(low, high)})
    found: list[dict[int, list[Store]]] = [{} for _ in polls]
    last: dict[int, Store] = {}
    issued = [0] * len(polls)
    copied = [0] * len(polls)
    for block, until in course:
        for position in polls[block]:
            # A poll passes in the turn that goes on behind it.
            if issued[block] <= position + 1 < until and position in looks[block]:
                low, high = looks[block][position]
                others = {last[s] for s in range(low, high) if s in last and last[s].block != block}
                found[block].setdefault(position, sorted(others))
        issued[block] = until
        while copied[block] < len(requests[block]):
            request = requests[block][copied[block]]
            if request.position >= until:
                break
            copied[block] += 1
            if request.plan.pipe == READ_PIPE or request.address < 0:
                continue
            start, end = _extent(request)
            at = bisect_left(slots, start // _SLOT)
            while at < len(slots) and slots[at] * _SLOT < end:
                last[slots[at]] = Store(block, request.position)
                at += 1
    return found


def _looks(polls: Sequence[int], requests: Sequence[Request]) -> dict[int, tuple[int, int]]:
    """Slots that each poll looks at: those of the first read behind it."""
    found = {}
    reads = [r for r in requests if r.plan.pipe == READ_PIPE and r.address >= 0]
    positions = [r.position for r in reads]
    for position in polls:
        at = bisect_left(positions, position)
        if at < len(reads):
            start, end = _extent(reads[at])
            found[position] = (start // _SLOT, -(-end // _SLOT))
    return found
