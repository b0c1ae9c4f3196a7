"""The memories of a run at any moment, rebuilt from checkpoints by executing the record again.

Plans are bound to the bytes of the launch's local memory. While they are executed again, the
session's bytes are put there and its copies take the place of global memory; afterwards everything
is as it was, so that looking changes nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.debug.effects import Touches, pointer_of
from simulator.debug.journal import Journal
from simulator.debug.order import Order
from simulator.enums import PipeID
from simulator.errors import ConfigError
from simulator.memory import DataCache

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from simulator.memory import Allocation, Bytes, LocalMemory, Saved
    from simulator.run import Run

CHECKPOINT_STEPS: Final = 64
"""Fewest instructions between two checkpoints of a block."""

MAX_CHECKPOINTS: Final = 320
"""Checkpoints of all blocks; at most 80 MiB for the largest unified buffer."""

RECENT: Final = 16
"""Rebuilt states that are kept, for steps in the neighbourhood."""

V: Final = int(PipeID.PIPE_V)


class _Cache(DataCache):
    """A data cache that notes which lines it wrote back."""

    __slots__ = ("cleaned",)

    def __init__(self) -> None:
        super().__init__()
        self.cleaned: list[tuple[Allocation, int]] = []

    def _clean(self, key: tuple[Allocation, int]) -> None:
        if key in self._dirty:
            self.cleaned.append(key)
        super()._clean(key)

    def copy(self) -> _Cache:
        made = _Cache()
        made._lines = {key: line.copy() for key, line in self._lines.items()}
        made._dirty = set(self._dirty)
        return made


class Local(NamedTuple):
    """What a core holds: the unified buffer and the registers that vector calls write."""

    ub: Bytes
    cmpmask: Bytes
    reduce_registers: NDArray[np.uint64]


class _State(NamedTuple):
    step: int
    saved: Saved
    cache: _Cache


def inputs_of(run: Run) -> dict[Allocation, Bytes]:
    """Return copies of what a run has only read, as it is now."""
    found: dict[Allocation, Bytes] = {}
    for block in run.blocks:
        for entry in block.entries:
            pointer = pointer_of(entry[3])
            if pointer is not None:
                allocation = pointer.allocation
                if allocation not in found and allocation not in run.initial:
                    found[allocation] = allocation.data.copy()
    return found


class History:
    """Memories of a run, by block and step or by block and cycle.

    Parameters
    ----------
    inputs : mapping
        Bytes of the allocations that the run only reads.
    count : int
        Blocks of the launch.

    Attributes
    ----------
    order : Order
    touches : Touches
    ends : list of array
        By block and step: the cycle at which its effect is there.
    initial : dict
        Global memory before the launch.
    """

    def __init__(self, run: Run, inputs: Mapping[Allocation, Bytes], count: int) -> None:
        local = run.blocks[0].local if run.blocks else None
        if local is None:
            raise ConfigError(
                "the run has no local memory to execute its record on",
                legal="a run of this process, as a launch returns it",
            )
        self.run = run
        self.local: LocalMemory = local
        self.order = Order(run, local, count)
        self.touches = Touches()
        self.initial: dict[Allocation, Bytes] = {**inputs, **run.initial}
        self.ends = [
            np.array(placed.stream.end, np.int64)[order.steps] + placed.start
            for placed, order in zip(run.timeline.blocks, self.order.blocks, strict=True)
        ]
        self.journal = Journal()
        self._turns: list[list[int]] = [[] for _ in run.blocks]
        for number, turn in enumerate(self.order.turns):
            self._turns[turn.block].append(number)
        self._gm = {a: d.copy() if a in run.initial else d for a, d in self.initial.items()}
        self._gm_count = 0
        self._checkpoints: list[list[_State]] = [[] for _ in run.blocks]
        self._recent: OrderedDict[tuple[int, int], _State] = OrderedDict()
        self._record()
        self._written_at = np.array(
            [self.ends[b][s] for b, s in zip(self.journal.block, self.journal.step, strict=True)],
            np.int64,
        )

    # -- the first pass ------------------------------------------------------------------------

    def _record(self) -> None:
        total = sum(len(order.steps) for order in self.order.blocks)
        every = max(CHECKPOINT_STEPS, -(-total // MAX_CHECKPOINTS))
        states: dict[int, _State] = {}
        with self._device():
            for number, turn in enumerate(self.order.turns):
                state = states.get(turn.block)
                cache = self._bring(state)
                step = turn.first_step
                while step < turn.end_step:
                    until = min(turn.end_step, (step // every + 1) * every)
                    self._execute(turn.block, step, until, cache, number)
                    step = until
                    if step % every == 0:
                        kept = _State(step, self.local.save(), cache.copy())
                        self._checkpoints[turn.block].append(kept)
                if number != self._turns[turn.block][-1]:
                    states[turn.block] = _State(step, self.local.save(), cache)
        self._gm_count = len(self.journal)

    def _bring(self, state: _State | None) -> _Cache:
        if state is None:
            self.local.reset()
            return _Cache()
        self.local.restore(state.saved)
        return state.cache.copy()

    # -- executing -----------------------------------------------------------------------------

    @contextmanager
    def _device(self) -> Iterator[None]:
        """Let plans work on the session's bytes."""
        before = self.local.save()
        outside = {allocation: allocation.data for allocation in self._gm}
        for allocation, data in self._gm.items():
            allocation.data = data
        try:
            with np.errstate(all="ignore"):
                yield
        finally:
            for allocation, data in outside.items():
                allocation.data = data
            self.local.restore(before)

    def _execute(
        self, block: int, step: int, until: int, cache: _Cache, turn: int | None = None
    ) -> None:
        """Execute steps; note their writes to global memory when ``turn`` is given."""
        entries = self.run.blocks[block].entries
        written = self.touches.written
        for number in range(step, until):
            plan, _, _, params = entries[self.order.blocks[block].steps[number]]
            if plan.event >= 0:
                continue
            if plan.spec.family in ("scalar", "cache") and plan.pipe == PipeID.PIPE_S:
                self._execute_scalar(plan, params, cache)
            else:
                plan.run(*params)
            if turn is None:
                cache.cleaned.clear()
                continue
            pointer = pointer_of(params)
            if pointer is not None and plan.spec.name != "GlobalTensor.SetValue":
                for is_global, where in written(plan):
                    if is_global:
                        self.journal.note(
                            turn, block, number, pointer.allocation, where, pointer.offset
                        )
            for allocation, line in cache.cleaned:
                start = line * DataCache.LINE
                place = slice(start, min(start + DataCache.LINE, len(allocation.data)))
                self.journal.note(turn, block, number, allocation, place, 0)
            cache.cleaned.clear()

    def _execute_scalar(self, plan: Any, params: tuple[Any, ...], cache: _Cache) -> None:
        plan.run(*(cache if isinstance(p, DataCache) else p for p in params))
        if plan.spec.name == "GlobalTensor.GetValue":
            cache.read(params[0], plan.operands[0].dtype.itemsize)

    # -- program order -------------------------------------------------------------------------

    def local_at(self, block: int, step: int) -> Local:
        """Return what the core of a block holds before its step ``step``."""
        return Local(*self._state(block, step).saved[:3])

    def _state(self, block: int, step: int) -> _State:
        base = self._nearest(block, step)
        if base is not None and base.step == step:
            return base
        with self._device():
            cache = self._bring(base)
            self._advance(block, 0 if base is None else base.step, step, cache)
            made = _State(step, self.local.save(), cache)
        self._keep(block, made)
        return made

    def _nearest(self, block: int, step: int) -> _State | None:
        kept = self._checkpoints[block]
        at = bisect_right(kept, step, key=lambda state: state.step)
        best = kept[at - 1] if at else None
        for (owner, number), state in self._recent.items():
            if owner == block and number <= step and (best is None or number > best.step):
                best = state
        return best

    def _keep(self, block: int, state: _State) -> None:
        self._recent[block, state.step] = state
        self._recent.move_to_end((block, state.step))
        if len(self._recent) > RECENT:
            self._recent.popitem(last=False)

    def _advance(self, block: int, step: int, until: int, cache: _Cache) -> None:
        """Execute steps again, with global memory as it was when they ran."""
        for number in self._turns[block]:
            turn = self.order.turns[number]
            if turn.end_step <= step:
                continue
            if step >= until:
                break
            self._load(self.journal.count_before(number, step))
            stop = min(until, turn.end_step)
            self._execute(block, step, stop, cache)
            step = stop
            self._gm_count = self.journal.count_before(number, step)

    def _load(self, count: int) -> None:
        """Bring the session's global memory to the state after ``count`` writes."""
        if count < self._gm_count:
            for allocation in self.run.initial:
                self._gm[allocation][:] = self.initial[allocation]
            self._gm_count = 0
        self.journal.apply(self._gm, np.arange(self._gm_count, count))
        self._gm_count = count

    def global_at(self, block: int, issued: int) -> Mapping[Allocation, Bytes]:
        """Return global memory when a block is about to issue instruction ``issued``.

        Valid until the next question.
        """
        turns = self._turns[block]
        number = next((n for n in turns if issued < self.order.turns[n].end_issue), None)
        step = self.order.blocks[block].steps_before(issued)
        if number is not None:
            count = self.journal.count_before(number, step)
        else:
            count = self.journal.count_before(turns[-1], step) if turns else 0
        self._load(count)
        return self._gm

    # -- machine time --------------------------------------------------------------------------

    def local_at_cycle(self, block: int, cycle: int) -> Local:
        """Return what the core of a block holds at a cycle.

        It holds the effects of exactly the instructions that ended by then. Where two of them wrote
        the same byte the later one in the record counts, as in the run.
        """
        ends = self.ends[block]
        late = np.flatnonzero(ends > cycle)
        whole = int(late[0]) if len(late) else len(ends)
        ahead = whole + np.flatnonzero(ends[whole:] <= cycle)
        state = self._state(block, whole)
        if not len(ahead):
            return Local(*state.saved[:3])
        ub, cmpmask = state.saved[0].copy(), state.saved[1].copy()
        registers = state.saved[2].copy()
        entries, steps = self.run.blocks[block].entries, self.order.blocks[block].steps
        with self._device():
            cache = self._bring(state)
            at = whole
            for step in map(int, ahead):
                self._advance(block, at, step + 1, cache)
                at = step + 1
                plan = entries[steps[step]][0]
                for is_global, where in self.touches.written(plan):
                    if not is_global:
                        ub[where] = self.local.ub[where]
                if plan.pipe == V:
                    cmpmask[:] = self.local.cmpmask
                    registers[:] = self.local.reduce_registers
        return Local(ub, cmpmask, registers)

    def global_at_cycle(self, cycle: int) -> Mapping[Allocation, Bytes]:
        """Return global memory with the effects of exactly the instructions ended by a cycle."""
        memory = {
            a: data.copy() if a in self.run.initial else data for a, data in self.initial.items()
        }
        self.journal.apply(memory, np.flatnonzero(self._written_at <= cycle))
        return memory

    # -- borrowing -----------------------------------------------------------------------------

    @contextmanager
    def borrowed(self, local: Local, memory: Mapping[Allocation, Bytes]) -> Iterator[None]:
        """Show ``local`` and ``memory`` through the tensors of the kernel inside the block."""
        with self._device():
            self.local.ub[:] = local.ub
            self.local.cmpmask[:] = local.cmpmask
            self.local.reduce_registers[:] = local.reduce_registers
            for allocation, data in memory.items():
                allocation.data = data
            yield
