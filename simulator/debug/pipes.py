"""What the pipes and flags of a block do at a moment, in both clocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.debug.order import NEVER
from simulator.enums import PipeID
from simulator.stalls import CROSS, MUTEX, event_of
from simulator.timing.schedule import ALL_PIPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simulator.core import Entry
    from simulator.debug.order import BlockOrder
    from simulator.instruction import Plan
    from simulator.timing.timeline import PlacedBlock

    Numbers = NDArray[np.int64]

IDS: Final = 8


@dataclass(frozen=True)
class PipeView:
    """A pipe at a moment.

    Attributes
    ----------
    name : str
        ``S``, ``V``, ``MTE2`` or ``MTE3``.
    running : int or None
        Instruction under way; in program order the last one that took effect.
    busy : bool
        Whether ``running`` does work at this moment; a WaitFlag does not.
    waits_for : str
        What the pipe waits for before it goes on with its queue; empty when it works or is idle.
    pending : list of int
        Instructions in the queue of the pipe, oldest first.
    """

    name: str
    running: int | None
    busy: bool
    waits_for: str
    pending: list[int]


class Pipes:
    """The pipes of one block."""

    def __init__(self, entries: Sequence[Entry], placed: PlacedBlock, order: BlockOrder) -> None:
        self._plans: list[Plan] = [entry[0] for entry in entries]
        count = len(entries)
        stream = placed.stream
        self.pipe = np.array([plan.pipe for plan in self._plans], np.int64)
        self.issue = np.array(stream.issued, np.int64) + placed.start
        self.start = np.array(stream.start, np.int64) + placed.start
        self.end = np.array(stream.end, np.int64) + placed.start
        self.reason = stream.reason
        self.begin = placed.start
        self.issued_when_done = np.full(count, NEVER, np.int64)
        self.issued_when_done[order.steps] = order.issued
        never = order.step_of < 0
        self.start[never] = NEVER
        self.end[never] = NEVER
        self._steps = order.steps
        self._step_of = order.step_of
        self._flag = np.array([plan.flag for plan in self._plans], np.int64)
        kinds = {"set": 1, "wait": -1}
        self._change = np.array(
            [kinds.get(plan.form, 0) if 0 <= plan.event < CROSS else 0 for plan in self._plans],
            np.int64,
        )
        self.cycles: Numbers = np.unique(
            np.concatenate([self.issue, self.start[~never], self.end[~never]])
        )

    # -- program order -------------------------------------------------------------------------

    def in_program(self, issued: int) -> list[PipeView]:
        """Return the pipes when instruction ``issued`` is about to issue."""
        done = self.issued_when_done[:issued] <= issued
        waiting = np.flatnonzero(~done)
        views = []
        for pipe in ALL_PIPES:
            mine = np.flatnonzero(done & (self.pipe[:issued] == pipe))
            queue = [int(i) for i in waiting if self.pipe[i] == pipe]
            views.append(
                PipeView(
                    PipeID(pipe).label,
                    int(mine[-1]) if len(mine) else None,
                    False,
                    self.awaited(queue[0]) if queue else "",
                    queue,
                )
            )
        return views

    def flags_in_program(self, issued: int) -> list[tuple[str, int]]:
        """Return the flags that are up when instruction ``issued`` is about to issue."""
        return self._up(self.issued_when_done <= issued)

    # -- machine time --------------------------------------------------------------------------

    def at_cycle(self, cycle: int) -> list[PipeView]:
        """Return the pipes at a cycle."""
        sent = self.issue <= cycle
        views = []
        for pipe in ALL_PIPES:
            mine = self.pipe == pipe
            under_way = np.flatnonzero(mine & (self.start <= cycle) & (self.end > cycle))
            queue = [int(i) for i in np.flatnonzero(mine & sent & (self.start > cycle))]
            running = int(under_way[0]) if len(under_way) else None
            waits = ""
            busy = running is not None and self._change[running] >= 0
            if running is not None and not busy:
                waits = self.awaited(running)
            elif queue and not busy:
                waits = self.awaited(queue[0])
            views.append(PipeView(PipeID(pipe).label, running, busy, waits, queue))
        return views

    def flags_at_cycle(self, cycle: int) -> list[tuple[str, int]]:
        """Return the flags that are up at a cycle: set and not yet waited for."""
        return self._up(self.end <= cycle)

    def issued_at(self, cycle: int) -> int:
        """Return how many instructions the scalar unit has issued by a cycle."""
        return int(np.searchsorted(self.issue, cycle, "right"))

    def cycle_of(self, issued: int) -> int:
        """Return the cycle at which the block has issued so many instructions."""
        return int(self.issue[issued - 1]) if issued else self.begin

    # -- both ----------------------------------------------------------------------------------

    def _up(self, done: NDArray[np.bool_]) -> list[tuple[str, int]]:
        flags = done & (self._change != 0)
        # Waits take a flag whose set is recorded later too, so sums count and not places.
        level = np.zeros(int(self._flag.max(initial=0)) + 1, np.int64)
        np.add.at(level, self._flag[flags], self._change[flags])
        found = []
        for flag in np.flatnonzero(level > 0):
            plan = self._plans[int(np.flatnonzero((self._flag == flag) & (self._change > 0))[0])]
            found.append(event_of(plan, IDS))
        return found

    def awaited(self, index: int) -> str:
        """Return what an instruction waits for, in words."""
        plan = self._plans[index]
        if plan.event < 0:
            return self.reason[index] or "its turn"
        name, number = event_of(plan, IDS)
        if plan.event in (CROSS, MUTEX):
            return f"{name} {number}"
        setter = self.setter_of(index)
        by = f", which instruction {setter} sets" if setter is not None else ", which nothing sets"
        return f"flag {name} id {number}{by}"

    def setter_of(self, wait: int) -> int | None:
        """Return the SetFlag that a WaitFlag takes the flag of."""
        same = self._flag == self._flag[wait]
        sets = np.flatnonzero(same & (self._change > 0))
        waits = np.flatnonzero(same & (self._change < 0))
        number = int(np.searchsorted(waits, wait))
        return int(sets[number]) if number < len(sets) else None

    def describe(self, index: int) -> dict[str, Any]:
        """Return the cycles of an instruction as plain values; None for what never happened."""

        def known(value: Any) -> int | None:
            return None if value >= NEVER else int(value)

        return {
            "issued": int(self.issue[index]),
            "start": known(self.start[index]),
            "end": known(self.end[index]),
            "waited_for": self.reason[index],
        }
