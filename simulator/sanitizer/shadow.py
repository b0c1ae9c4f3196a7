"""What every byte of the unified buffer holds: data, nothing yet, filler, or what came of those.

Element-wise calls pass the state of their sources on lane by lane, so that a stale tail which is
computed with and then thrown away is no error; a reduction, a scalar read or a copy to global
memory that takes such bytes is. The states of a range are interned, so that a call that meets the
same states again costs look-ups only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.enums import PipeID
from simulator.isa.copy_plan import FIRST_ELEMENT, UNDEFINED
from simulator.sanitizer.ranges import fillers_of, touched_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simulator.instruction import Operand, Plan
    from simulator.sanitizer.ranges import Ranges, Touch
    from simulator.sanitizer.regions import Regions

    States = NDArray[np.uint8]

CLEAN: Final = 0
REPEATED: Final = 1
"""Filler that repeats the first element of its row."""
UNWRITTEN: Final = 2
RANDOM: Final = 3
"""Filler of unspecified value. The worst state of several is the largest."""

_FILLERS: Final = {FIRST_ELEMENT: REPEATED, UNDEFINED: RANDOM}
"""Filler that a kernel gave a value for is data."""

_DECIDES: Final = frozenset({"reduction", "scalar", "sort"})
"""Families whose result depends on every byte they read."""


_GATHERS: Final = frozenset({"Gather", "Gatherb"})


class StaleRead(NamedTuple):
    """An instruction whose result depends on bytes that hold no data.

    ``root`` is the call that first took them, itself for a direct read; ``root_operand`` is what it
    read.
    ``origin`` is UNWRITTEN, REPEATED or RANDOM; ``low..high`` and ``nbytes`` are the stale bytes of
    ``touch``, and ``all_stale`` says whether it has no others.
    """

    at: int
    touch: Touch
    origin: int
    low: int
    high: int
    nbytes: int
    all_stale: bool
    root: int
    root_operand: Operand
    times: int = 1


class Effect(NamedTuple):
    """What one call does to the states: which source is stale, and the states it leaves."""

    reads: tuple[tuple[Touch, int, int, int, int, bool], ...]
    writes: tuple[tuple[int, bytes], ...]
    fatal: bool


class Effects:
    """What calls do to the states of their ranges, by plan and the states they meet.

    It depends on nothing else, so that all streams of a run share it.
    """

    def __init__(self, ranges: Ranges) -> None:
        self.ranges = ranges
        self._clean: dict[int, bytes] = {}
        self._where: dict[int, slice | NDArray[np.int64]] = {}
        self._known: dict[Any, Effect] = {}
        self._fills: dict[Plan, bool] = {}

    def of(self, plan: Plan, touches: list[Touch], states: tuple[bytes, ...]) -> Effect:
        """Return what a call does that finds its ranges in ``states``."""
        key = (plan, states)
        effect = self._known.get(key)
        if effect is None:
            effect = self._known[key] = self._work_out(plan, touches, states)
        return effect

    def leaves_filler(self, plan: Plan) -> bool:
        """Whether a copy fills up with bytes that are no data."""
        known = self._fills.get(plan)
        if known is None:
            kinds = [kind for kind, _ in fillers_of(plan)]
            known = self._fills[plan] = any(_FILLERS.get(kind, CLEAN) != CLEAN for kind in kinds)
        return known

    def all_clean(self, rid: int) -> bytes:
        """Return the states of a range that holds data only."""
        found = self._clean.get(rid)
        if found is None:
            low, high = self.ranges.spans[rid]
            size = high - low if self.ranges.dense[rid] else len(self._addresses(rid))
            found = self._clean[rid] = bytes(size)
        return found

    def place(self, rid: int) -> slice | NDArray[np.int64]:
        """Return the index of the bytes of a range."""
        where = self._where.get(rid)
        if where is None:
            if self.ranges.dense[rid]:
                where = slice(*self.ranges.spans[rid])
            else:
                where = touched_bytes(self.ranges.accesses[rid])
            self._where[rid] = where
        return where

    def _addresses(self, rid: int) -> NDArray[np.int64]:
        where = self.place(rid)
        return np.arange(where.start, where.stop) if isinstance(where, slice) else where

    def _work_out(self, plan: Plan, touches: list[Touch], states: tuple[bytes, ...]) -> Effect:
        stale: list[tuple[Operand, States]] = []
        reads = []
        for touch, digest in zip(touches, states, strict=True):
            if not touch.reads or digest == self.all_clean(touch.rid):
                continue
            state = np.frombuffer(digest, np.uint8)
            if _is_table(plan, touch.operand) and not state.all():
                continue
            stale.append((touch.operand, state))
            bad = self._addresses(touch.rid)[state != CLEAN]
            reads.append(
                (
                    touch,
                    int(state.max()),
                    int(bad.min()),
                    int(bad.max()) + 1,
                    len(bad),
                    bool(state.all()),
                )
            )
        fatal = _is_fatal(plan)
        # What comes of a read that is reported itself would only repeat the finding.
        passed = [] if fatal else stale
        writes = [
            (touch.rid, self._left(plan, touch, passed).tobytes())
            for touch in touches
            if touch.writes
        ]
        return Effect(tuple(reads), tuple(writes), fatal)

    def _left(self, plan: Plan, touch: Touch, stale: list[tuple[Operand, States]]) -> States:
        where = self._addresses(touch.rid)
        left = _passed_on(touch.operand, len(where), stale)
        # A row of one element is filled up with that element: kernels broadcast this way.
        broadcast = plan.details.get("blockBytes") == touch.operand.dtype.itemsize <= 4
        for kind, accesses in fillers_of(plan):
            state = _FILLERS.get(kind, CLEAN)
            if state != CLEAN and not (state == REPEATED and broadcast):
                left[np.isin(where, touched_bytes(accesses))] = state
        return left


class Shadow:
    """State of the UB bytes while a stream is followed in program order."""

    def __init__(self, ub_bytes: int, effects: Effects, regions: Regions) -> None:
        self.state: States = np.full(ub_bytes, UNWRITTEN, np.uint8)
        self.ranges = effects.ranges
        self.effects = effects
        self.regions = regions
        self.reads: dict[Plan, StaleRead] = {}
        self._settled: set[Plan] = set()
        self._digests: dict[int, tuple[int, bytes]] = {}
        self._versions = [0] * regions.count
        self._clean: set[int] = set()
        self._roots: dict[int, tuple[int, Operand]] = {}

    def follow(self, plans: Sequence[Plan], course: Sequence[int] = ()) -> list[StaleRead]:
        """Follow a stream; return, for each plan, its first read of bytes without data.

        ``course`` is the order of the calls, that of the program by default.
        """
        settled = self._settled
        for index, plan in [(i, plans[i]) for i in course] if course else enumerate(plans):
            if plan in settled:
                continue
            touches = self.ranges.touches(plan)
            if self._is_clean(plan, touches):
                settled.add(plan)
            else:
                self._step(index, plan, touches)
        return list(self.reads.values())

    def _is_clean(self, plan: Plan, touches: list[Touch]) -> bool:
        """Whether a call meets data only and leaves data, so that it changes nothing."""
        region, clean = self.regions.of, self._clean
        for touch in touches:
            if region[touch.rid] not in clean:
                return False
        return not self.effects.leaves_filler(plan)

    def _step(self, index: int, plan: Plan, touches: list[Touch]) -> None:
        states = tuple([self._digest(t.rid) for t in touches])
        effect = self.effects.of(plan, touches, states)
        if effect.reads:
            self._note(index, plan, effect)
        for rid, digest in effect.writes:
            self._store(rid, digest)
        if not effect.reads and all(
            digest == self.effects.all_clean(r) for r, digest in effect.writes
        ):
            self._settled.add(plan)
        elif effect.reads and not effect.fatal:
            touch = effect.reads[0][0]
            root = self._roots.get(touch.rid, (index, touch.operand))
            for rid, digest in effect.writes:
                if digest != self.effects.all_clean(rid):
                    self._roots[rid] = root

    def _note(self, index: int, plan: Plan, effect: Effect) -> None:
        if not effect.fatal:
            return
        known = self.reads.get(plan)
        if known is not None:
            self.reads[plan] = known._replace(times=known.times + 1)
            return
        touch, origin, low, high, nbytes, all_stale = effect.reads[0]
        root, operand = self._root_of(touch, index)
        self.reads[plan] = StaleRead(
            index, touch, origin, low, high, nbytes, all_stale, root, operand
        )

    def _root_of(self, touch: Touch, index: int) -> tuple[int, Operand]:
        for rid in (touch.rid, *self.regions.overlapping(touch.rid)):
            if rid in self._roots:
                return self._roots[rid]
        return index, touch.operand

    # -- states ------------------------------------------------------------------------------------

    def _digest(self, rid: int) -> bytes:
        version = self._versions[self.regions.of[rid]]
        known = self._digests.get(rid)
        if known is not None and known[0] == version:
            return known[1]
        clean = self.effects.all_clean(rid)
        found = self.state[self.effects.place(rid)].tobytes()
        if found == clean:
            # The one object, so that its hash is known.
            found = clean
        self._digests[rid] = (version, found)
        return found

    def _store(self, rid: int, digest: bytes) -> None:
        if self._digest(rid) == digest:
            return
        if digest != self.effects.all_clean(rid):
            self._settled.clear()
        else:
            self._roots.pop(rid, None)
        self.state[self.effects.place(rid)] = np.frombuffer(digest, np.uint8)
        region = self.regions.of[rid]
        self._versions[region] += 1
        self._digests[rid] = (self._versions[region], digest)
        if self.state[slice(*self.regions.hull(region))].any():
            self._clean.discard(region)
        else:
            self._clean.add(region)


def _is_fatal(plan: Plan) -> bool:
    return plan.pipe == PipeID.PIPE_MTE3 or plan.spec.family in _DECIDES


def _is_table(plan: Plan, operand: Operand) -> bool:
    """Whether offsets choose what a call takes of an operand, which need not be full then."""
    return plan.spec.name in _GATHERS and operand.name == "src"


def _passed_on(dst: Operand, nbytes: int, stale: list[tuple[Operand, States]]) -> States:
    """Return the state of the bytes of ``dst``: lane by lane where the shapes allow it."""
    if not stale:
        return np.zeros(nbytes, np.uint8)
    size = dst.dtype.itemsize
    lanes = nbytes // size
    result = np.zeros(lanes, np.uint8)
    for operand, state in stale:
        item = operand.dtype.itemsize
        per_lane = state[: len(state) // item * item].reshape(-1, item).max(axis=1)
        if len(per_lane) == lanes:
            result = np.maximum(result, per_lane)
        elif len(per_lane) == 8 * lanes * size and size == 1:
            # One bit a lane: a byte of the mask counts as data as long as one of its bits is.
            result = np.maximum(result, per_lane.reshape(-1, 8).min(axis=1))
        elif operand.name == "selMask":
            spread = np.repeat(state, 8)[:lanes]
            result[: len(spread)] = np.maximum(result[: len(spread)], spread)
        else:
            result[:] = np.maximum(result, per_lane.max(initial=CLEAN))
    whole = np.repeat(result, size)
    return whole if len(whole) == nbytes else np.resize(whole, nbytes)
