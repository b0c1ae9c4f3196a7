"""How the freedom that the rules leave is used: as timed, as late as legal, at random."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final

from simulator.enums import PipeID
from simulator.replay.steps import S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.replay.held import Held, HeldWrites
    from simulator.replay.interleave import Interleaver

_UPSTREAM_LAST: Final = (
    S,
    int(PipeID.PIPE_MTE3),
    int(PipeID.PIPE_V),
    int(PipeID.PIPE_MTE2),
)


class Visible:
    """Every write is visible at once."""

    def hides(self) -> bool:
        """No write is held back."""
        return False

    def shows(self, held: dict[int, HeldWrites]) -> Sequence[tuple[int, int]]:
        """Nothing is held."""
        return ()

    def arrange(self, held: list[Held]) -> list[Held]:
        """As they are."""
        return held

    def gives_way(self) -> bool:
        """A block goes on as far as it can."""
        return False


class Eager(Visible):
    """Program order: every pipe goes on as soon as it can."""

    def choose(self, ready: Sequence[int], player: Interleaver) -> int:
        """Return a pipe with something to do; the scalar unit last."""
        return ready[-1]


class Timed(Visible):
    """The move that takes effect first by the timeline."""

    def __init__(self, issued: Sequence[int], effects: Sequence[int]) -> None:
        self.issued = issued
        self.effects = effects

    def choose(self, ready: Sequence[int], player: Interleaver) -> int:
        """Return the pipe whose next instruction takes effect, or is issued, first."""
        return min(ready, key=lambda pipe: (self.cycle(pipe, player), pipe == S))

    def cycle(self, pipe: int, player: Interleaver) -> int:
        """Return the cycle of the next move of a pipe."""
        index = player.next_of(pipe)
        return self.issued[index] if pipe == S else self.effects[index]

    def gives_way(self) -> bool:
        """After every move, so that blocks go on side by side."""
        return True


class Latest:
    """Writes appear when something forces them, and the pipe furthest downstream moves first.

    Readers thus come as early, and what they may read too early as late, as the flags allow. Writes
    that become visible together do so backwards, because nothing orders them.
    """

    def choose(self, ready: Sequence[int], player: Interleaver) -> int:
        """Return the pipe furthest downstream."""
        return next(pipe for pipe in _UPSTREAM_LAST if pipe in ready)

    def hides(self) -> bool:
        """Every write is held back."""
        return True

    def shows(self, held: dict[int, HeldWrites]) -> Sequence[tuple[int, int]]:
        """Nothing appears without need."""
        return ()

    def arrange(self, held: list[Held]) -> list[Held]:
        """Backwards."""
        return held[::-1]

    def gives_way(self) -> bool:
        """A block goes on as far as it can."""
        return False


class Shuffled:
    """A seeded choice: pipes run ahead of each other for a while, writes are held now and then."""

    def __init__(self, seed: int, block: int) -> None:
        self.random = Random(seed * 1_000_003 + block)
        self.weights: dict[int, float] = {}
        self.left = 0
        # Some orders hold nothing back, so that early writes meet late reads; some hold nearly all.
        self.share = self.random.choice((0.0, 0.3, 0.9))
        self.release = self.random.choice((0.0, 0.1, 0.5))
        self.switch = self.random.choice((0.0, 0.05, 0.5))

    def choose(self, ready: Sequence[int], player: Interleaver) -> int:
        """Return a pipe by weights that change from time to time."""
        if not self.left:
            self.left = self.random.randrange(1, 60)
            self.weights = {pipe: 10.0 ** self.random.uniform(-3, 0) for pipe in _UPSTREAM_LAST}
        self.left -= 1
        if len(ready) == 1:
            return ready[0]
        weights = [self.weights[pipe] for pipe in ready]
        return self.random.choices(ready, weights)[0]

    def hides(self) -> bool:
        """Hold a share of the writes back."""
        return self.random.random() < self.share

    def shows(self, held: dict[int, HeldWrites]) -> Sequence[tuple[int, int]]:
        """Show one of the held writes now and then."""
        if not self.release or self.random.random() >= self.release:
            return ()
        places = [(pipe, at) for pipe, items in held.items() for at in range(len(items.items))]
        return (self.random.choice(places),) if places else ()

    def arrange(self, held: list[Held]) -> list[Held]:
        """In any order."""
        mixed = list(held)
        self.random.shuffle(mixed)
        return mixed

    def gives_way(self) -> bool:
        """Let other blocks in now and then."""
        return self.random.random() < self.switch
