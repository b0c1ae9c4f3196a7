"""Replaying a run: initial bytes in, one legal order, what differs, everything back."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any, Final

from simulator.errors import ConfigError
from simulator.replay.compare import compare, scalar_differences
from simulator.replay.conflicts import Conflicts
from simulator.replay.device import Device, earliest, lowest
from simulator.replay.interleave import Interleaver
from simulator.replay.play import SequencePlayer
from simulator.replay.policies import Eager, Latest, Shuffled, Timed
from simulator.replay.sequence import PIPES, effects, is_simple, program_order, timed_order
from simulator.replay.sharing import Sharing
from simulator.replay.steps import Steps
from simulator.run import ORDERS
from simulator.sanitizer.handshakes import Handshakes
from simulator.sanitizer.streams import is_atomic_switch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.instruction import Plan
    from simulator.memory import Allocation, Bytes
    from simulator.replay.compare import Difference, ScalarDifference
    from simulator.replay.device import Chooser, Observer, Player
    from simulator.replay.interleave import Policy
    from simulator.replay.sequence import Order
    from simulator.replay.steps import Step
    from simulator.run import Block, Run

PROGRAM, HARDWARE, LATEST, RANDOM = ORDERS


@dataclass(frozen=True)
class Replay:
    """What came of a replay.

    Attributes
    ----------
    order : str
        ``program``, ``hardware``, ``latest`` or ``random``.
    seed : int
        Seed of a random order.
    differences : list of Difference
        Elements of global memory that do not hold what program order leaves there.
    scalars : list of ScalarDifference
        Values that the scalar unit read and that are not those of program order. The kernel would
        have gone on with other numbers, perhaps on another path; the replay goes on as recorded.
    """

    order: str
    seed: int
    differences: list[Difference]
    scalars: list[ScalarDifference]

    @property
    def equal(self) -> bool:
        """Whether the order makes no difference."""
        return not self.differences and not self.scalars

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "order": self.order,
            "seed": self.seed,
            "equal": self.equal,
            "differences": [found.as_dict() for found in self.differences],
            "scalars": [found.as_dict() for found in self.scalars],
        }

    def __str__(self) -> str:
        name = f"{self.order} order" + (f", seed {self.seed}" if self.order == RANDOM else "")
        if self.equal:
            return f"{name}: the same bits as in program order"
        parts = [f"{name}: other values than in program order"]
        parts += [f"  {found}" for found in (*self.differences[:_SHOWN], *self.scalars[:_SHOWN])]
        more = len(self.differences) + len(self.scalars) - len(parts) + 1
        if more > 0:
            parts.append(f"  and {more} more")
        return "\n".join(parts)


_SHOWN: Final = 8


class _Stream:
    """What blocks with the same instructions have in common."""

    def __init__(self, block: Block, steps: list[Step], sites: list[object]) -> None:
        self.sites = sites
        self.block = block
        self.steps = steps
        self.is_simple = is_simple(steps)
        self.orders: dict[str, Order] = {}
        combining = False
        atomic = []
        for step in steps:
            if is_atomic_switch(step.plan):
                combining = step.plan.details["operation"] != "none"
            atomic.append(combining and step.touches_global)
        self.atomic = atomic if any(atomic) else None


class Replayer:
    """Replays of one run; program order is executed once and every other order compared with it.

    Global memory must hold what the launch found or left there, apart from what it wrote itself.

    Parameters
    ----------
    run : Run
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self._steps = Steps()
        self._streams: dict[tuple[Plan, ...], _Stream] = {}
        self._conflicts = Conflicts(run.platform.arch, auto_sync=run.auto_sync, pipes=PIPES)
        self._of_block = [self._stream(block) for block in run.blocks]
        self._sharing = Sharing(run, lambda block: self._of_block[block.index].steps)
        self._handshakes = Handshakes(run if self._sharing.matters else None)
        self._expected: dict[Allocation, Bytes] | None = None
        self._reads: list[dict[int, bytes]] = []

    @property
    def blocks_meet(self) -> bool:
        """Whether blocks wait for each other, or share bytes of which one writes some."""
        return self._sharing.matters

    def _stream(self, block: Block) -> _Stream:
        plans = tuple([entry[0] for entry in block.entries])
        stream = self._streams.get(plans)
        if stream is None:
            stream = self._streams[plans] = _Stream(
                block, self._steps.of(plans), self._conflicts.library_sites(block.entries)
            )
        return stream

    # -- replaying -----------------------------------------------------------------------------

    def replay(self, order: str = HARDWARE, seed: int = 0, *, keep: bool = False) -> Replay:
        """Execute the record in another legal order and compare global memory.

        Parameters
        ----------
        order : str
            ``"hardware"``: as the timeline interleaves it. ``"latest"``: writes become visible
            only when flags, barriers or the end of the kernel force it. ``"random"``: a legal
            order drawn with ``seed``. ``"program"``: as it was recorded.
        keep : bool
            Leave the outputs of this order in memory; without it, what is there now comes back.

        Raises
        ------
        ConfigError
            If there is no such order.
        DeadlockError
            If the record cannot be executed to its end.
        """
        if order not in ORDERS:
            raise ConfigError(
                "there is no such order", got=repr(order), legal=", ".join(map(repr, ORDERS))
            )
        before = {allocation: allocation.data.copy() for allocation in self.run.initial}
        done = False
        try:
            expected = self._program_order()
            players = self._play(order, seed)
            differences = compare(self.run, expected)
            reads = [player.reads for player in players]
            found = Replay(
                order, seed, differences, scalar_differences(self.run, self._reads, reads)
            )
            done = True
        finally:
            if not (done and keep):
                for allocation, data in before.items():
                    allocation.data[:] = data
        return found

    def execute(
        self, order: str = PROGRAM, seed: int = 0, observer: Observer | None = None
    ) -> None:
        """Execute the record and leave what it writes in memory, without comparing."""
        self._play(order, seed, observer)

    def _program_order(self) -> dict[Allocation, Bytes]:
        if self._expected is None:
            players = self._play(PROGRAM, 0)
            self._reads = [player.reads for player in players]
            self._expected = {a: a.data.copy() for a in self.run.initial}
        return self._expected

    def _play(self, order: str, seed: int, observer: Observer | None = None) -> Sequence[Player]:
        with ExitStack() as stack:
            for local in {id(b.local): b.local for b in self.run.blocks if b.local}.values():
                stack.enter_context(local.lock)
            return self._play_alone(order, seed, observer)

    def _play_alone(self, order: str, seed: int, observer: Observer | None) -> Sequence[Player]:
        for allocation, data in self.run.initial.items():
            allocation.data[:] = data
        device = Device(self.run, self._sharing, self._handshakes, observer)
        players = [self._player(block, device, order, seed) for block in self.run.blocks]
        choose: Chooser = lowest
        if order == HARDWARE:
            choose = earliest
        elif order == RANDOM:
            choose = Random(seed).choice
        if order == PROGRAM and device.mixes:
            device.play_course(players, self.run.course)
        else:
            device.play(players, choose)
        for memory, where, new in device.late:
            memory[where] = new
        return players

    # -- players -------------------------------------------------------------------------------

    def _player(self, block: Block, device: Device, order: str, seed: int) -> Player:
        if order == PROGRAM:
            return self._in_program_order(block, device)
        if order == HARDWARE:
            return self._in_timeline_order(block, device)
        latest = order == LATEST
        return self._interleaved(block, device, Latest() if latest else Shuffled(seed, block.index))

    def _in_program_order(self, block: Block, device: Device) -> Player:
        stream = self._of_block[block.index]
        if not stream.is_simple:
            return self._interleaved(block, device, Eager())
        order = stream.orders.get(PROGRAM)
        if order is None:
            order = stream.orders[PROGRAM] = program_order(stream.steps, block.entries)
        return SequencePlayer(block, stream.steps, device, order, 0)

    def _in_timeline_order(self, block: Block, device: Device) -> Player:
        stream = self._of_block[block.index]
        placed = self.run.timeline.blocks[block.index]
        if not stream.is_simple:
            policy = Timed(placed.stream.issued, effects(stream.steps, placed.stream))
            return self._interleaved(block, device, policy)
        order = stream.orders.get(HARDWARE)
        if order is None:
            when = effects(stream.steps, placed.stream)
            order = timed_order(stream.steps, when, self._conflicts, stream.sites)
            stream.orders[HARDWARE] = order
        return SequencePlayer(block, stream.steps, device, order, placed.start)

    def _interleaved(self, block: Block, device: Device, policy: Policy) -> Player:
        stream = self._of_block[block.index]
        return Interleaver(
            block, stream.steps, device, self._conflicts, policy, stream.atomic, stream.sites
        )
