"""What the copies of a run ask of global memory: hits in L2, write-backs, sharing between cores.

The order of all copies is approximated by letting the blocks of a round go in step: first copy of
each block, second copy of each block, and so on. A copy hits L2 when some core has touched the same
bytes before and no more than the capacity of L2 has come in since; bytes that were only partly
touched by other copies count as new. L2 starts empty, allocates on reads and on writes, and
SetL2CacheHint(CACHE_MODE_DISABLE) copies go around it.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from simulator.enums import PipeID
from simulator.instruction import CopyWork
from simulator.memory import GlobalAddress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.core import Entry
    from simulator.instruction import Plan
    from simulator.platforms import Platform

READ_PIPE = int(PipeID.PIPE_MTE2)


class Traits(NamedTuple):
    """What decides the cost of a copy besides its size.

    Attributes
    ----------
    aligned : bool
        Its bursts start on the boundaries that the bus works in.
    hit : bool
        Its bytes are in L2.
    sharers : int
        Cores that read the same bytes at the same time.
    """

    aligned: bool
    hit: bool = False
    sharers: int = 1


class Request(NamedTuple):
    """A copy of a block: its position in the record, its plan and its GM address.

    The address is -1 when nobody knows it; the bytes are then taken to be touched once only.
    """

    position: int
    plan: Plan
    address: int


class Demand(NamedTuple):
    """Bytes that a run asks of memory, over all cores.

    Attributes
    ----------
    read_missing, read_hitting : int
        Bytes of copies to UB from beyond L2, and from L2.
    written : int
        Bytes of copies from UB.
    footprint : int
        Bytes that came into L2.
    write_back : float
        Share (0..1) of the written bytes that L2 passes on to memory while the kernel runs.
    """

    read_missing: int
    read_hitting: int
    written: int
    footprint: int
    write_back: float

    @property
    def hit_rate(self) -> float:
        """Share of the read bytes that hit L2."""
        read = self.read_missing + self.read_hitting
        return self.read_hitting / read if read else 0.0


def is_global_copy(plan: Plan) -> bool:
    """Whether a plan is a copy between GM and a core."""
    return isinstance(plan.work, CopyWork) and plan.pipe in (READ_PIPE, int(PipeID.PIPE_MTE3))


def bypasses_l2(plan: Plan) -> bool:
    """Whether a copy goes around L2."""
    return plan.details.get("l2") == "bypass"


def requests_of(entries: Sequence[Entry], positions: Sequence[int]) -> list[Request]:
    """Return the copies at ``positions`` of a record."""
    found = []
    for position in positions:
        plan, _, _, params = entries[position]
        pointer: Any = params[0] if params else None
        if pointer.__class__ is not GlobalAddress:
            pointer = next((p for p in params if isinstance(p, GlobalAddress)), None)
        address = -1 if pointer is None else pointer.allocation.address + pointer.offset
        found.append(Request(position, plan, address))
    return found


class L2Cache:
    """Least recently used cache over whole copies; see the module text."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.filled = 0
        self._last: dict[tuple[int, tuple[int, ...]], int] = {}

    def touch(self, address: int, shape: tuple[int, ...], nbytes: int) -> bool:
        """Access a copy's bytes; return whether they were there."""
        key = (address, shape)
        seen = self._last.get(key)
        hit = seen is not None and self.filled - seen <= self.capacity
        if not hit:
            self.filled += nbytes
        self._last[key] = self.filled
        return hit


def classify(
    rounds: Sequence[Sequence[list[Request]]], platform: Platform
) -> tuple[Demand, list[dict[int, tuple[bool, int]]]]:
    """Return what the copies of all blocks ask of memory, and which of them are special.

    ``rounds`` holds, for each round of blocks on the cores, the copies of each block. The second
    result has one dictionary for each block: (hit, sharers) by the number of the copy, for copies
    that hit L2 or that several cores make together.
    """
    shapes: dict[Plan, tuple[int, ...]] = {}
    around: set[Plan] = set()
    distinct: set[object] = set()
    number = missing = hitting = written = passing = 0
    for requests in (requests for blocks in rounds for requests in blocks):
        number += len(requests)
        for _, plan, address in requests:
            shape = shapes.get(plan)
            if shape is None:
                shape = shapes[plan] = _shape(plan)
                if bypasses_l2(plan):
                    around.add(plan)
            distinct.add((address, shape) if address >= 0 else len(distinct))
            nbytes = shape[-1]
            if plan.pipe == READ_PIPE:
                missing += nbytes
            else:
                written += nbytes
            if plan in around:
                passing += nbytes
    footprint = missing + written - passing
    special: list[dict[int, tuple[bool, int]]] = [{} for blocks in rounds for _ in blocks]
    if len(distinct) < number:
        cache = L2Cache(platform.memory.l2_bytes)
        first = 0
        for blocks in rounds:
            own = special[first : first + len(blocks)]
            hitting += _play(blocks, cache, shapes, around, own)
            first += len(blocks)
        missing -= hitting
        footprint = cache.filled
    share = write_back(footprint, platform.memory.l2_bytes)
    return Demand(missing, hitting, written, footprint, share), special


def write_back(footprint: int, capacity: int) -> float:
    """``1 - capacity / footprint``: share of written lines that are evicted while a kernel runs."""
    return 1.0 - capacity / footprint if footprint > capacity else 0.0


def _play(
    blocks: Sequence[list[Request]],
    cache: L2Cache,
    shapes: dict[Plan, tuple[int, ...]],
    around: set[Plan],
    special: list[dict[int, tuple[bool, int]]],
) -> int:
    """Let the blocks of one round go in step; return the bytes read from L2.

    Blocks that read the same bytes in one step wait for them together: they all hit or all miss,
    but memory is asked once only.
    """
    hitting = 0
    for step in range(max(map(len, blocks), default=0)):
        together = [
            (i, requests[step]) for i, requests in enumerate(blocks) if step < len(requests)
        ]
        keys = [(r.address, shapes[r.plan], r.plan.pipe) for _, r in together]
        shared = Counter(keys) if len(set(keys)) < len(keys) else {}
        decided: dict[tuple[int, tuple[int, ...], int], bool] = {}
        for (block, request), key in zip(together, keys, strict=True):
            sharers = shared.get(key, 1)
            hit = False
            if request.address < 0:
                cache.filled += key[1][-1]
                continue
            if request.plan not in around:
                hit = cache.touch(request.address, key[1], key[1][-1])
                if key[2] == READ_PIPE:
                    hitting += key[1][-1] * hit
                    hit = decided.setdefault(key, hit)
            if hit or sharers > 1:
                special[block][step] = hit, sharers
    return hitting


def _shape(plan: Plan) -> tuple[int, ...]:
    """Return what tells copies at one address apart; the last part is their bytes."""
    work: CopyWork = plan.work
    return (work.bursts, work.burst_bytes, plan.details.get("gmStep", 0), work.nbytes)


def cut_offset(plan: Plan, boundary: int) -> int:
    """Return 0 if all bursts of a copy lie on a bus of ``boundary`` as the first one does."""
    return int(plan.details.get("gmStep", 0)) % boundary if plan.work.bursts > 1 else 0
