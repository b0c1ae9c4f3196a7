"""A block played step by step: pipes as queues, and writes that stay invisible for a while.

The scalar unit puts instructions on the queues of their pipes in program order. A pipe starts the
head of its queue when flags allow. What an instruction writes may be held back until something
makes it visible: a flag, a barrier, a mutex or a cross-core flag of its pipe, an access that
hardware or compiler order behind it, or the end of the kernel.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, Protocol

from simulator.replay.device import Player
from simulator.replay.held import Held, HeldWrites
from simulator.replay.sequence import PIPES
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
    run_hidden,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.replay.conflicts import Conflicts
    from simulator.replay.device import Device
    from simulator.replay.steps import Step
    from simulator.run import Block

QUEUED: Final = PIPES[1:]


class Policy(Protocol):
    """What is left open by the rules."""

    def choose(self, ready: Sequence[int], player: Interleaver) -> int:
        """Return the pipe that makes the next move."""
        ...

    def hides(self) -> bool:
        """Whether the writes of the next instruction are held back."""
        ...

    def shows(self, held: dict[int, HeldWrites]) -> Sequence[tuple[int, int]]:
        """Return which held writes become visible without need, as (pipe, place in its list)."""
        ...

    def arrange(self, held: list[Held]) -> list[Held]:
        """Return held writes in the order in which they become visible together."""
        ...

    def gives_way(self) -> bool:
        """Whether another block may come in now."""
        ...


class Interleaver(Player):
    """Plays a block as ``policy`` decides; every choice it is given is legal.

    Attributes
    ----------
    at : int
        Next instruction that the scalar unit issues.
    queues : dict of int to deque of int
        Issued instructions that have not started, per pipe.
    flags : dict of int to deque of (int, int)
        Flags that are up: pipe that set them, and its last instruction before that.
    held : dict of int to HeldWrites
        Per pipe the writes that are not visible yet.
    """

    def __init__(
        self,
        block: Block,
        steps: Sequence[Step],
        device: Device,
        conflicts: Conflicts,
        policy: Policy,
        atomic: Sequence[bool] | None,
        sites: Sequence[object],
    ) -> None:
        super().__init__(block, steps, device)
        self.conflicts = conflicts
        self.policy = policy
        self.at = 0
        self.queues: dict[int, deque[int]] = {pipe: deque() for pipe in QUEUED}
        self.flags: dict[int, deque[tuple[int, int]]] = {}
        self.mutexes: dict[int, tuple[int, int, int]] = {}
        self.held = {pipe: HeldWrites() for pipe in PIPES}
        self.started = dict.fromkeys(PIPES, 0)
        self.atomic = atomic
        self.sites = sites

    # -- moves ---------------------------------------------------------------------------------

    def can_go(self) -> bool:
        """Whether some pipe can make a move, or all are done."""
        return bool(self._ready()) or self._is_done()

    def _is_done(self) -> bool:
        return self.at == len(self.entries) and not any(self.queues.values())

    def advance(self) -> None:
        """Make moves until none is possible or the policy gives way."""
        while ready := self._ready():
            self._move(self.policy.choose(ready, self))
            if self.device.mixes and self.policy.gives_way():
                return
        if self._is_done():
            self._finish()

    def _ready(self) -> list[int]:
        """Return the pipes that can make a move."""
        ready = []
        if self.at < len(self.entries):
            step = self.steps[self.at]
            if step.pipe in self.queues or self._may_start(self.at, step):
                ready.append(S)
        for pipe, queue in self.queues.items():
            if queue and self._may_start(queue[0], self.steps[queue[0]]):
                ready.append(pipe)
        return ready

    def next_of(self, pipe: int) -> int:
        """Return the instruction that ``pipe`` would move on with."""
        return self.at if pipe == S else self.queues[pipe][0]

    def _may_start(self, index: int, step: Step) -> bool:
        kind = step.kind
        if kind == WAIT:
            return bool(self.flags.get(step.flag))
        if kind == LOCK:
            turn = self.entries[index][3][0]
            return bool(self.mutexes.get(step.flag, (0, 0, 0))[0] == turn)
        if step.waits_for_all:
            return not any(self.queues.values())
        if not self.device.may_pass(self, index, step):
            return False
        return step.pipe != S or kind != OPERATION or not self._is_behind_queued(step)

    def _is_behind_queued(self, step: Step) -> bool:
        """Whether the compiler orders a scalar access behind a queued instruction."""
        between = self.conflicts.between
        return any(
            pipe != S
            and any(between(self.steps[index].plan, step.plan) for index in self.queues[pipe])
            for pipe in self.conflicts.before[S]
        )

    def _move(self, pipe: int) -> None:
        if pipe == S:
            index = self.at
            self.at += 1
            step = self.steps[index]
            queue = self.queues.get(step.pipe)
            if queue is not None:
                queue.append(index)
                return
        else:
            index = self.queues[pipe].popleft()
            step = self.steps[index]
        if step.kind == OPERATION:
            self._operate(index, step)
        else:
            self._order(index, step)
        for owner, place in self.policy.shows(self.held):
            self._show([self.held[owner].pop(place)])

    # -- instructions ----------------------------------------------------------------------------

    def _operate(self, index: int, step: Step) -> None:
        pipe = step.pipe
        for earlier in self.conflicts.before.get(pipe, ()):
            self._show_conflicting(earlier, step)
        if self.sites and self.sites[index] is not None:
            self._show_conflicting(pipe, step, self.sites[index])
        number = self.started[pipe] = self.started.get(pipe, 0) + 1
        if step.spots and not step.is_special and not self._combines(index) and self.policy.hides():
            writes = run_hidden(step, self.entries[index][3], self.ub)
            cells = self.conflicts.cells(step.plan)
            self.held[pipe].append(Held(number, index, step, writes, cells))
        else:
            self.perform(index, step)

    def _combines(self, index: int) -> bool:
        """Whether an instruction adds to what global memory holds when it takes effect."""
        return self.atomic is not None and self.atomic[index]

    def _order(self, index: int, step: Step) -> None:
        kind, pipe = step.kind, step.pipe
        if kind == SET:
            self.flags.setdefault(step.flag, deque()).append((pipe, self.started[pipe]))
        elif kind == WAIT:
            self._show_until(*self.flags[step.flag].popleft())
        elif step.waits_for_all:
            for owner in PIPES:
                self._show_until(owner, self.started[owner])
        elif kind == BARRIER:
            if pipe in self.held:
                self._show_until(pipe, self.started[pipe])
        elif kind == LOCK:
            _, owner, number = self.mutexes.get(step.flag, (0, S, 0))
            self._show_until(owner, number)
        elif kind == UNLOCK:
            turn = self.mutexes.get(step.flag, (0, S, 0))[0]
            self.mutexes[step.flag] = (turn + 1, pipe, self.started[pipe])
        elif kind == CROSS_SET:
            self._show_until(pipe, self.started[pipe])
            self.execute(index, step)
        elif kind in (CROSS_WAIT, POLL):
            self.execute(index, step)

    # -- visibility ------------------------------------------------------------------------------

    def _show_until(self, pipe: int, number: int) -> None:
        """Make visible what ``pipe`` wrote with its first ``number`` instructions."""
        due = self.held[pipe].pop_until(number)
        if due:
            self._show(self.policy.arrange(due))

    def _show_conflicting(self, pipe: int, step: Step, site: object = None) -> None:
        """Make visible what shares bytes with ``step``, or of that what ``site`` issued."""
        held = self.held[pipe]
        if held.items:
            between = self.conflicts.between
            due = [
                h
                for h in held.near(self.conflicts.cells(step.plan))
                if (site is None or self.sites[h.at] == site) and between(h.step.plan, step.plan)
            ]
            if due:
                held.take({h.number for h in due})
                self._show(due)

    @staticmethod
    def _show(held: list[Held]) -> None:
        for item in held:
            for memory, where, new in item.writes:
                memory[where] = new

    def shown(self, index: int) -> bool:
        """Whether an instruction has run and nothing of it is held back."""
        pipe = self.steps[index].pipe
        return (
            index < self.at
            and index not in self.queues.get(pipe, ())
            and all(h.at != index for h in self.held[pipe].items)
        )

    def release(self) -> bool:
        """Make the first of what is held back visible; whether there was anything."""
        rest = self.policy.arrange([h for held in self.held.values() for h in held.items])
        if rest:
            self.held[rest[0].step.pipe].take({rest[0].number})
            self._show(rest[:1])
        return bool(rest)

    def _finish(self) -> None:
        """Leave writes to global memory to the end of the kernel; drop what UB would get."""
        rest = self.policy.arrange([h for held in self.held.values() for h in held.items])
        self.held = {pipe: HeldWrites() for pipe in PIPES}
        self.finished = True
        if self.device.sharing.polls or self.device.handshakes:
            self._show(rest)
            return
        writes = [w for item in rest for w in item.writes if w.memory is not self.ub]
        self.device.late = writes + self.device.late

    # -- looking ---------------------------------------------------------------------------------

    def waits_at(self) -> int:
        """Return the position in the record of what holds the block back."""
        heads = [queue[0] for queue in self.queues.values() if queue]
        if self.at < len(self.entries):
            heads.append(self.at)
        at = [i for i in heads if self.steps[i].kind in (POLL, CROSS_WAIT)]
        return (at or heads or [len(self.entries)])[0]

    def completed(self, count: int) -> bool:
        """Whether the first ``count`` instructions of the record have taken effect."""
        if self.at < count and not self.stands_at_wait(self.at, count):
            return False
        if any(queue and queue[0] < count for queue in self.queues.values()):
            return False
        return not any(h.items and h.items[0].at < count for h in self.held.values())
