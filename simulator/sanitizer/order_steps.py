"""The plans of a stream as the order check sees them: what orders, and what may conflict with what.

The latest access to each region of memory is noted in a slot for its pipe and kind, so that a call
is compared with a handful of numbers however many ranges the region has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.enums import PipeID
from simulator.sanitizer.classes import READS, S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.instruction import Plan
    from simulator.sanitizer.classes import Classes
    from simulator.sanitizer.regions import Regions

    Rivals = tuple[tuple[int, int], ...]

WAITS: Final = 6
"""Clock slot behind those of the pipes: cross-core waits that are known to have been passed."""

ALL: Final = -1
"""``Step.barred`` of a barrier of all pipes."""

OPERATION: Final = 0
SET: Final = 1
WAIT: Final = 2
BARRIER: Final = 3
CROSS_SET: Final = 4
CROSS_WAIT: Final = 5
LOCK: Final = 6
UNLOCK: Final = 7

_FORMS: Final = {
    "set": SET,
    "wait": WAIT,
    "barrier": BARRIER,
    "cross set": CROSS_SET,
    "cross wait": CROSS_WAIT,
    "poll": CROSS_WAIT,
    "lock": LOCK,
    "unlock": UNLOCK,
}

_KINDS: Final = 2
_EACH: Final = _KINDS * WAITS
"""Slots of a region: reads and writes of every pipe."""


class Step:
    """A plan as the check sees it.

    Attributes
    ----------
    kind : int
        ``OPERATION``, or how the call orders others.
    classes : tuple of int
        Access classes of its operands in the unified buffer.
    slots : tuple of int
        Where its accesses are noted.
    checks : tuple of (int, int)
        Slots, and their pipes, of the accesses it may conflict with.
    follows : tuple of (int, int)
        Those that the compiler orders before it; only of calls of the scalar unit.
    """

    __slots__ = (
        "barred", "checks", "classes", "flag", "follows", "kind", "pipe", "plan", "slots",
    )  # fmt: skip

    def __init__(self, plan: Plan, classes: Classes) -> None:
        self.plan = plan
        self.pipe = plan.pipe
        self.flag = plan.flag
        self.barred = ALL
        waits = plan.event >= 0 or plan.form in ("barrier", "poll")
        self.kind = _FORMS.get(plan.form, OPERATION) if waits else OPERATION
        self.classes = classes.of_plan(plan) if self.kind == OPERATION else ()
        self.slots: tuple[int, ...] = ()
        self.checks: Rivals = ()
        self.follows: Rivals = ()
        if self.kind == BARRIER and plan.details["pipe"] != PipeID.PIPE_ALL.name:
            self.barred = int(PipeID[plan.details["pipe"]])


class Slots:
    """The slots of the latest accesses of one stream."""

    def __init__(self, classes: Classes, regions: Regions) -> None:
        self.classes = classes
        self.regions = regions
        self._used: set[int] = set()
        self._known: dict[tuple[int, ...], tuple[Rivals, Rivals]] = {}

    @property
    def count(self) -> int:
        """Slots of all regions."""
        return self.regions.count * _EACH

    def of(self, numbers: Sequence[int]) -> tuple[int, ...]:
        """Return the slots that classes are noted in, each once."""
        table, region = self.classes.table, self.regions.of
        found = []
        for number in numbers:
            rid, pipe, kind, _ = table[number]
            found.append(region[rid] * _EACH + _KINDS * pipe + (kind != READS))
        self._used.update(found)
        return tuple(found) if len(found) == 1 else tuple(dict.fromkeys(found))

    def rivals(self, mine: tuple[int, ...]) -> tuple[Rivals, Rivals]:
        """Return the slots, and their pipes, that accesses of some slots may conflict with.

        The first are those that nothing orders by itself, the second those that the compiler orders
        before the scalar unit. Slots that no step has are left out.
        """
        known = self._known.get(mine)
        if known is None:
            checks: dict[tuple[int, int], None] = {}
            follows: dict[tuple[int, int], None] = {}
            for slot in mine:
                self._gather(slot, checks, follows)
            known = self._known[mine] = (tuple(checks), tuple(follows))
        return known

    def _gather(
        self, mine: int, checks: dict[tuple[int, int], None], follows: dict[tuple[int, int], None]
    ) -> None:
        base = mine - mine % _EACH
        pipe, writes = divmod(mine - base, _KINDS)
        for other in range(WAITS):
            for kind in (0, 1) if writes else (1,):
                slot = base + _KINDS * other + kind
                if slot not in self._used:
                    continue
                if (other, pipe) not in self.classes.exempt:
                    checks[slot, other] = None
                elif pipe == S and other != S:
                    follows[slot, other] = None
