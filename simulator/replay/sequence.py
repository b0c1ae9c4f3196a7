"""One stream of instructions in the order of the program or in that of the timeline.

Both are orders of whole instructions, worked out in one pass. Streams in which a pipe other than
the scalar unit waits for other blocks or for a mutex have no such order of their own; they are
played step by step (:mod:`simulator.replay.interleave`).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from simulator.enums import HardEvent, PipeID
from simulator.errors import DeadlockError, FlagError
from simulator.replay.steps import (
    BARRIER,
    CROSS_SET,
    CROSS_WAIT,
    LOCK,
    OPERATION,
    POLL,
    SET,
    UNLOCK,
    WAIT,
    S,
)
from simulator.stalls import place_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simulator.core import Entry
    from simulator.replay.conflicts import Conflicts
    from simulator.replay.steps import Step
    from simulator.timing.schedule import Stream

    Numbers = NDArray[np.int64]

_MTE3: Final = int(PipeID.PIPE_MTE3)
PIPES: Final = (S, int(PipeID.PIPE_V), int(PipeID.PIPE_MTE2), _MTE3)
_WIDTH: Final = max(PipeID) + 1
_IDS: Final = 8


class Order(NamedTuple):
    """Positions of a stream in the order of execution, and the cycle of each."""

    positions: Numbers
    keys: Numbers


def is_simple(steps: Sequence[Step]) -> bool:
    """Whether only the scalar unit waits for other blocks, and nothing for a mutex."""
    return not any(
        step.kind in (LOCK, UNLOCK) or (step.kind == CROSS_WAIT and step.pipe != S)
        for step in dict.fromkeys(steps)
    )


def program_order(steps: Sequence[Step], entries: Sequence[Entry]) -> Order:
    """Return the order in which a stream runs when every pipe goes on as soon as it can.

    Raises
    ------
    FlagError
        If a flag is set again before anything waited for it.
    DeadlockError
        If a pipe waits for a flag that nothing sets.
    """
    done: list[int] = []
    flags: set[int] = set()
    stalled: dict[int, deque[int]] = {}

    def takes(index: int) -> bool:
        """Execute an instruction, unless it waits."""
        step = steps[index]
        if step.kind == SET:
            if step.flag in flags:
                raise _set_twice(step, entries[index])
            flags.add(step.flag)
        elif step.kind == WAIT:
            if step.flag not in flags:
                return False
            flags.discard(step.flag)
        done.append(index)
        return True

    def pump() -> None:
        moved = True
        while moved and stalled:
            moved = False
            for pipe, queue in list(stalled.items()):
                while queue and takes(queue[0]):
                    queue.popleft()
                    moved = True
                if not queue:
                    del stalled[pipe]

    for index, step in enumerate(steps):
        pipe = step.pipe
        if pipe in stalled:
            if pipe == S:
                break
            stalled[pipe].append(index)
        elif step.waits_for_all and stalled:
            raise _stuck(entries[next(iter(stalled.values()))[0]])
        elif not takes(index):
            stalled[pipe] = deque((index,))
        elif stalled and step.kind == SET:
            pump()
    if stalled:
        raise _stuck(entries[stalled.get(S, next(iter(stalled.values())))[0]])
    positions = np.array(done, np.int64)
    return Order(positions, positions)


def effects(steps: Sequence[Step], stream: Stream) -> Sequence[int]:
    """Return the cycle at which each instruction takes effect, as one moment.

    A copy to global memory reads the unified buffer first and then takes its way, so it counts from
    its start; everything else counts at its end, when its result is there.
    """
    start, end = stream.start, stream.end
    return [
        start[i] if step.pipe == _MTE3 and step.kind == OPERATION else end[i]
        for i, step in enumerate(steps)
    ]


def timed_order(
    steps: Sequence[Step], when: Sequence[int], conflicts: Conflicts, sites: Sequence[object]
) -> Order:
    """Return the order in which a stream takes effect by the timeline, made legal where it is not.

    ``when`` are the cycles of :func:`effects`, ``sites`` the library calls that instructions belong
    to, if any.
    """
    return _Timed(steps, when, conflicts, sites).run()


class _Timed:
    """The pass behind :func:`timed_order`.

    Attributes
    ----------
    floor : list of int
        Per pipe the cycle before which its next instruction cannot take effect.
    top : list of int
        Per pipe the cycle at which everything so far has taken effect.
    register : int
        The cycle at which the compare mask was used last.
    """

    def __init__(
        self,
        steps: Sequence[Step],
        when: Sequence[int],
        conflicts: Conflicts,
        sites: Sequence[object],
    ) -> None:
        self.sites = sites
        self.last_site: dict[int, object] = {}
        self.steps = steps
        self.when = when
        self.conflicts = conflicts
        self.floor = [0] * _WIDTH
        self.top = [0] * _WIDTH
        self.register = 0
        self.in_order = [(pipe, pipe) in conflicts.exempt for pipe in range(_WIDTH)]
        self.keys = [0] * len(steps)
        self.done: list[int] = []
        self.flags: dict[int, deque[int]] = {}
        self.stalled: dict[int, deque[tuple[int, int]]] = {}
        self.follows = bool(conflicts.before[S][1:]) and any(
            step.pipe == S and step.kind == OPERATION and step.plan.operands
            for step in dict.fromkeys(steps)
        )
        self.recent: list[int] = []

    def run(self) -> Order:
        stalled = self.stalled
        for index, step in enumerate(self.steps):
            pipe = step.pipe
            if pipe in stalled:
                stalled[pipe].append((index, self.floor[S]))
            elif not self._take(index, step, self.floor[S]):
                stalled[pipe] = deque(((index, self.floor[S]),))
            elif stalled and step.kind == SET:
                self._pump()
        keys = np.array(self.keys, np.int64)
        done = np.array(self.done, np.int64)
        positions = done[np.argsort(keys[done], kind="stable")]
        return Order(positions, keys[positions])

    def _pump(self) -> None:
        moved = True
        while moved and self.stalled:
            moved = False
            for pipe, queue in list(self.stalled.items()):
                while queue and self._take(queue[0][0], self.steps[queue[0][0]], queue[0][1]):
                    queue.popleft()
                    moved = True
                if not queue:
                    del self.stalled[pipe]

    def _take(self, index: int, step: Step, issued: int) -> bool:
        """Give an instruction its cycle; False when its flag has not been set yet."""
        pipe, kind, top, floor = step.pipe, step.kind, self.top, self.floor
        key = self.when[index]
        key = max(key, floor[pipe], issued)
        if kind == OPERATION:
            if self.in_order[pipe] or (self.sites and self._is_inside(index, pipe)):
                key = max(key, top[pipe])
            if step.uses_register:
                key = self.register = max(key, self.register)
            if self.follows:
                key = self._follow(index, step, key)
            if pipe == S:
                floor[S] = key
        elif kind == SET:
            key = max(key, top[pipe])
            self.flags.setdefault(step.flag, deque()).append(key)
        elif kind == WAIT:
            pending = self.flags.get(step.flag)
            if not pending:
                return False
            key = max(key, pending.popleft())
            floor[pipe] = key
        elif step.waits_for_all or kind in (CROSS_WAIT, POLL):
            # Everything so far goes first, so that other blocks find what they wait for.
            key = max(key, *top)
            floor[:] = [key] * _WIDTH
        elif kind in (BARRIER, CROSS_SET):
            key = max(key, top[pipe])
            if kind == BARRIER:
                floor[pipe] = key
        top[pipe] = max(top[pipe], key)
        self.keys[index] = key
        self.done.append(index)
        return True

    def _is_inside(self, index: int, pipe: int) -> bool:
        """Whether a library call issued both an instruction and the one before it on its pipe."""
        before, site = self.last_site.get(pipe), self.sites[index]
        self.last_site[pipe] = site
        return site is not None and site == before

    def _follow(self, index: int, step: Step, key: int) -> int:
        """Raise the cycle of a scalar access behind the accesses that the compiler puts first."""
        if step.pipe != S:
            self.recent.append(index)
            return key
        ordered = self.conflicts.before[S]
        for other in self.recent:
            earlier = self.steps[other]
            if (
                self.keys[other] > key
                and earlier.pipe in ordered
                and self.conflicts.between(earlier.plan, step.plan)
            ):
                key = self.keys[other]
        self.recent = [other for other in self.recent if self.keys[other] > key]
        return key


def _set_twice(step: Step, entry: Entry) -> FlagError:
    event, number = HardEvent(step.event), step.flag % _IDS
    return FlagError(
        f"flag {event.name} id {number} is set again before anything waited for it",
        code="sync.double_set",
        api="SetFlag",
        pipe=PipeID(step.pipe).label,
        location=place_of(entry),
    )


def _stuck(entry: Entry) -> DeadlockError:
    plan, place = entry[0], place_of(entry)
    event = HardEvent(plan.event)
    return DeadlockError(
        f"the block can never finish: {PipeID(plan.pipe).label} waits at {place} for flag "
        f"{event.name} id {plan.flag % _IDS}, which nothing sets",
        location=place,
        pipe=PipeID(plan.pipe).label,
    )
