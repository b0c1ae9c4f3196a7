"""The blocks of a replayed run: who goes on, what they wait for, and whose bytes UB holds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from simulator.blocks import Blocks
from simulator.errors import DeadlockError, InternalError
from simulator.memory import DataCache
from simulator.replay.steps import CROSS_SET, CROSS_WAIT, POLL, pointer_of, with_cache
from simulator.stalls import place_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulator.memory import LocalMemory, Saved
    from simulator.replay.sharing import Sharing
    from simulator.replay.steps import Step, Write
    from simulator.run import Block, Run
    from simulator.sanitizer.handshakes import Handshakes

    Key = tuple[int, int]


class Player(ABC):
    """A block on its way through its record in some order.

    Attributes
    ----------
    reads : dict of int to bytes
        What the scalar unit read, by position in the record.
    """

    def __init__(self, block: Block, steps: Sequence[Step], device: Device) -> None:
        if block.local is None:
            raise InternalError(f"block {block.index} of the run has no local memory")
        self.block = block
        self.index = block.index
        self.entries = block.entries
        self.steps = steps
        self.device = device
        self.local: LocalMemory = block.local
        self.ub = block.local.ub
        self.cache = DataCache()
        self.reads: dict[int, bytes] = {}
        self.saved: Saved | None = None
        self.finished = False

    @abstractmethod
    def can_go(self) -> bool:
        """Whether the block can go on."""

    @abstractmethod
    def advance(self) -> None:
        """Go on until the block must or may give way."""

    @abstractmethod
    def completed(self, count: int) -> bool:
        """Whether the first ``count`` instructions of the record have taken effect."""

    @abstractmethod
    def shown(self, index: int) -> bool:
        """Whether what an instruction stores can be seen by other blocks."""

    @property
    def next_key(self) -> int:
        """Cycle at which the block goes on."""
        return 0

    @abstractmethod
    def waits_at(self) -> int:
        """Return the position in the record of a wait that holds the block back."""

    def stands_at_wait(self, at: int, count: int) -> bool:
        """Whether instruction ``at`` is the last of ``count`` and waits for other blocks.

        A block that was suspended had issued what it waited at.
        """
        return at == count - 1 and self.steps[at].kind in (CROSS_WAIT, POLL)

    def release(self) -> bool:
        """Make a write that is held back visible, since time passes; whether there was any."""
        return False

    def perform(self, index: int, step: Step) -> None:
        """Execute an instruction, and let an observer see it."""
        observer = self.device.observer
        if observer is None:
            self._do(index, step)
        else:
            observer.around(self, index, step, lambda: self._do(index, step))

    def _do(self, index: int, step: Step) -> None:
        if step.is_special:
            self.execute(index, step)
        else:
            step.run(*self.entries[index][3])

    def execute(self, index: int, step: Step) -> None:
        """Execute an instruction of the scalar unit, of cross-core order, or with a result."""
        params = self.entries[index][3]
        if step.kind == CROSS_SET:
            self.device.blocks.arrive(self.index, step.plan)
        elif step.kind == CROSS_WAIT:
            self.device.blocks.counters(self.index)[step.flag] -= 1
        elif step.is_scalar_global:
            self._scalar_global(index, step, params)
        else:
            step.run(*params)
            if step.scalar is not None:
                if self.device.handshakes.spins(self.entries[index]):
                    return
                low, high = step.scalar
                self.reads[index] = self.ub[low:high].tobytes()
            elif step.result is not None:
                self.reads[index] = step.result.tobytes()

    def _scalar_global(self, index: int, step: Step, params: tuple[Any, ...]) -> None:
        step.run(*with_cache(params, self.cache))
        if step.plan.spec.name == "GlobalTensor.GetValue":
            pointer = params[0]
            raw = self.cache.read(pointer, step.plan.operands[0].dtype.itemsize)
            if not self.device.sharing.is_written_by_others(pointer.allocation, self.index):
                self.reads[index] = raw


class Observer(Protocol):
    """Looks on while instructions are executed."""

    def around(self, player: Player, index: int, step: Step, run: Callable[[], None]) -> None:
        """Call ``run``, which executes an instruction."""
        ...


Chooser = Callable[[Sequence[Player]], Player]
"""Picks the block that goes on."""


def lowest(candidates: Sequence[Player]) -> Player:
    """Return the block with the lowest index."""
    return candidates[0]


def earliest(candidates: Sequence[Player]) -> Player:
    """Return the block that goes on at the earliest cycle."""
    return min(candidates, key=lambda player: player.next_key)


class Device:
    """Everything that the players of one replay share.

    Attributes
    ----------
    blocks : Blocks
        The cross-core flags.
    late : list of Write
        Writes to global memory of blocks that have finished, visible at the end of the kernel.
    """

    def __init__(
        self,
        run: Run,
        sharing: Sharing,
        handshakes: Handshakes,
        observer: Observer | None = None,
    ) -> None:
        self.observer = observer
        self.handshakes = handshakes
        local = run.blocks[0].local
        if local is None:
            raise InternalError("the run has no local memory")
        self.sharing = sharing
        self.cores = run.platform.chip.aiv
        self.blocks = Blocks(local, len(run.blocks), self.cores, run.task_ratio)
        self.late: list[Write] = []
        self._resident: dict[int, Player] = {}
        self._course = run.course
        self._needs: dict[tuple[int, int], Mapping[int, int]] | None = None
        self.players: Sequence[Player] = ()
        self._relaxed: set[tuple[int, int]] = set()

    # -- taking turns --------------------------------------------------------------------------

    def play(self, players: Sequence[Player], choose: Chooser = lowest) -> None:
        """Let all blocks run to their end.

        Raises
        ------
        DeadlockError
            If no block can go on.
        """
        self.players = players
        with np.errstate(all="ignore"):
            self._play(players, choose)

    def _play(self, players: Sequence[Player], choose: Chooser) -> None:
        waiting = list(players)
        live: list[Player] = []
        stuck: set[int] = set()
        while live or waiting:
            while waiting and len(live) < self.cores and (len(stuck) == len(live) or self.mixes):
                live.append(waiting.pop(0))
            candidates = [player for player in live if player.index not in stuck]
            if not candidates:
                self._help(live)
                stuck.clear()
                continue
            player = choose(candidates)
            if not player.can_go():
                stuck.add(player.index)
                continue
            self._bring(player)
            player.advance()
            stuck.clear()
            if player.finished:
                live.remove(player)

    def play_course(self, players: Sequence[Player], course: Sequence[tuple[int, int]]) -> None:
        """Let blocks take turns as they did when the run was recorded, then to their end."""
        self.players = players
        with np.errstate(all="ignore"):
            for index, count in course:
                player = players[index]
                self._bring(player)
                while not player.finished and player.can_go():
                    if 0 < count <= player.waits_at() < len(player.entries):
                        break
                    player.advance()
            self._play([player for player in players if not player.finished], lowest)

    @property
    def mixes(self) -> bool:
        """Whether it matters in which order blocks take turns."""
        return self.sharing.matters

    def _bring(self, player: Player) -> None:
        local = player.local
        resident = self._resident.get(id(local))
        if resident is player:
            return
        if resident is not None and not resident.finished:
            resident.saved = local.save()
        if player.saved is None:
            local.reset()
        else:
            local.restore(player.saved)
            player.saved = None
        self._resident[id(local)] = player

    def _help(self, live: Sequence[Player]) -> None:
        """Let writes arrive, or one block pass a poll whose recorded course cannot be kept up.

        Raises
        ------
        DeadlockError
            If there are none, and no block stands at a poll.
        """
        if self.handshakes and any([player.release() for player in live]):
            return
        for player in live:
            at = player.waits_at()
            if player.steps[at].kind != CROSS_WAIT and (player.index, at) not in self._relaxed:
                self._relaxed.add((player.index, at))
                return
        first = live[0]
        entry = first.entries[first.waits_at()]
        raise DeadlockError(
            f"no block can go on: block {first.index} waits at {place_of(entry)} "
            f"({entry[0].spec.name})",
            location=place_of(entry),
            block=first.index,
        )

    # -- waiting for other blocks ----------------------------------------------------------------

    def may_pass(self, player: Player, index: int, step: Step) -> bool:
        """Whether a block can go past an instruction as far as other blocks are concerned."""
        if step.kind == CROSS_WAIT:
            return self.blocks.counters(player.index)[step.flag] > 0
        if step.kind != POLL and not self._polls(player, index, step):
            return True
        if (player.index, index) in self._relaxed:
            return True
        if not step.is_scalar_global and step.kind != POLL:
            return all(
                self.players[other].shown(at)
                for (_, other, at), _ in self.handshakes.waits[player.index][index]
            )
        # A read past the cache that had to wait looks again afterwards.
        hard = step.kind == POLL or step.plan.spec.name == "ReadGmByPassDCache"
        needs = self._needed(player.index, index, hard=hard)
        return all(
            self.players[other].completed(count)
            for other, count in needs.items()
            if other != player.index
        )

    def _polls(self, player: Player, index: int, step: Step) -> bool:
        """Whether a loop, or the scalar unit, reads what other blocks write."""
        if not step.is_scalar_global:
            return index in self.handshakes.waits.get(player.index, ())
        pointer = pointer_of(player.entries[index][3])
        return pointer is not None and self.sharing.is_written_by_others(
            pointer.allocation, player.index
        )

    def _needed(self, block: int, index: int, *, hard: bool) -> Mapping[int, int]:
        """Return how far other blocks had come when a block went past a poll."""
        done: dict[int, int] = {}
        for owner, count in self._course:
            if owner == block and count > index and not (hard and count == index + 1):
                return done
            done[owner] = count
        return done
