"""The state of a block at one moment: memories, pipes, flags, queues, registers and locals."""

from __future__ import annotations

from bisect import bisect_right
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simulator.core import ACTIVE
from simulator.debug.position import MACHINE
from simulator.errors import ConfigError, OutOfBoundsError
from simulator.instruction import READ, Instruction
from simulator.memory import DataCache
from simulator.tensor import GlobalTensor, LocalTensor
from simulator.tensor_state import Contents, contents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from simulator.core import AICore
    from simulator.debug.history import Local
    from simulator.debug.pipes import PipeView
    from simulator.debug.position import Position
    from simulator.debug.session import Session
    from simulator.errors import SourceLocation
    from simulator.memory import Allocation, Bytes


class Call(NamedTuple):
    """A frame of the kernel: where it stands and how to find its locals."""

    location: SourceLocation
    frame: int
    event: int


class Queue(NamedTuple):
    """A queue or TBuf and the states of its buffers: (address, bytes, state)."""

    number: int
    name: str
    kind: str
    depth: int | None
    buffers: tuple[tuple[int, int, str], ...]


class Area(NamedTuple):
    """A piece of UB: who owns it, its last writer, and whether the next instruction uses it."""

    low: int
    high: int
    owner: str
    state: str
    writer: int | None
    is_hot: bool


class Difference(NamedTuple):
    """Bytes that differ between two moments."""

    space: str
    name: str
    low: int
    high: int
    before: bytes
    after: bytes


class Moment:
    """Everything that a debugger shows at a position; computed when it is asked for.

    Attributes
    ----------
    position : Position
    clock : str
    """

    def __init__(self, session: Session, position: Position, clock: str) -> None:
        self.session = session
        self.position = position
        self.clock = clock
        self.view = session.view(position.block)

    # -- memories ------------------------------------------------------------------------------

    @cached_property
    def local(self) -> Local:
        """What the core holds: unified buffer, CMPMASK and registers of reductions."""
        history, position = self.session.history, self.position
        if self.clock == MACHINE:
            return history.local_at_cycle(position.block, position.cycle)
        return history.local_at(position.block, self.view.order.steps_before(position.issued))

    @property
    def ub(self) -> Bytes:
        """Bytes of the unified buffer."""
        return self.local.ub

    @cached_property
    def memory(self) -> Mapping[Allocation, Bytes]:
        """Bytes of global memory by allocation."""
        history, position = self.session.history, self.position
        if self.clock == MACHINE:
            return history.global_at_cycle(position.cycle)
        shared = history.global_at(position.block, position.issued)
        return {
            a: data.copy() if a in self.session.run.initial else data for a, data in shared.items()
        }

    def read(self, space: str, address: int, nbytes: int) -> bytes:
        """Return bytes of ``UB`` or ``GM``.

        Raises
        ------
        OutOfBoundsError
            If they are not all there.
        """
        if space == "UB":
            if address >= 0 and address + nbytes <= len(self.ub):
                return self.ub[address : address + nbytes].tobytes()
        else:
            for allocation, data in self.memory.items():
                offset = address - allocation.address
                if offset >= 0 and offset + nbytes <= len(data):
                    return data[offset : offset + nbytes].tobytes()
        raise OutOfBoundsError(
            f"{space} has no {nbytes} bytes at {address:#x}",
            got=f"{address:#x}..{address + nbytes:#x}",
            legal=", ".join(
                f"{name} {low:#x}..{high:#x}" for name, low, high in self.ranges(space)
            ),
        )

    def ranges(self, space: str) -> list[tuple[str, int, int]]:
        """Return (name, first address, end) of what a memory consists of."""
        if space == "UB":
            return [("UB", 0, len(self.session.history.local.ub))]
        return sorted(
            (
                (a.name or "memory", a.address, a.address + len(d))
                for a, d in self.session.history.initial.items()
            ),
            key=lambda found: found[1],
        )

    @cached_property
    def done(self) -> Any:
        """Which instructions of the block have taken effect, as a mask over the record."""
        pipes, position = self.view.pipes, self.position
        if self.clock == MACHINE:
            return pipes.end <= position.cycle
        return pipes.issued_when_done <= position.issued

    # -- pipes and source ------------------------------------------------------------------------

    @property
    def pipes(self) -> list[PipeView]:
        """The pipes: S, V, MTE2, MTE3."""
        pipes, position = self.view.pipes, self.position
        if self.clock == MACHINE:
            return pipes.at_cycle(position.cycle)
        return pipes.in_program(position.issued)

    @property
    def flags(self) -> list[tuple[str, int]]:
        """The flags that are up: (event, id)."""
        pipes, position = self.view.pipes, self.position
        if self.clock == MACHINE:
            return pipes.flags_at_cycle(position.cycle)
        return pipes.flags_in_program(position.issued)

    def instruction(self, index: int) -> Instruction:
        """Return an instruction of the block."""
        return self.session.run.instructions.of_block(self.position.block, index)

    @property
    def next_instruction(self) -> Instruction | None:
        """The instruction that issues next; None at the end."""
        at = self.position.issued
        return self.instruction(at) if at < len(self.view) else None

    @property
    def stack(self) -> list[Call]:
        """Frames of the kernel, innermost first."""
        trace = self.view.trace
        if not trace.at:
            return []
        calls = []
        for frame, event in trace.stack(self.position.event):
            place = self.view.location(event)
            if place is not None:
                calls.append(Call(place, frame, event))
        return calls

    def locals(self, level: int = 0) -> dict[str, Any]:
        """Return the locals of a frame of the stack, 0 for the innermost."""
        stack = self.stack
        if not 0 <= level < len(stack):
            return {}
        return self.view.trace.frame_locals(stack[level].frame, self.position.event)

    @property
    def registers(self) -> dict[str, str]:
        """Scalar registers and mask state, CMPMASK and the registers of reductions."""
        found = dict(_last(self.view.trace.registers, self.position.event) or {})
        found["CMPMASK"] = self.local.cmpmask[::-1].tobytes().hex()
        names = ("accumulator", "extreme value", "extreme index")
        for name, value in zip(names, self.local.reduce_registers, strict=True):
            found[name] = f"{int(value):#x}"
        return found

    @property
    def queues(self) -> list[Queue]:
        """Queues and TBufs with the states of their buffers before the line ran."""
        recorded = _last(self.view.trace.queues, self.position.event)
        if recorded is None:
            return []
        layout, states = recorded
        found, at = [], 0
        for number, entry in enumerate(layout):
            queue = entry.queue
            buffers = tuple(
                (b.addr, b.length, state.name)
                for b, state in zip(
                    entry.buffers, states[at : at + len(entry.buffers)], strict=True
                )
            )
            at += len(entry.buffers)
            kind = type(queue).__name__
            name = getattr(queue, "name", f"{queue.position.name} TBuf")
            found.append(Queue(number, name, kind, getattr(queue, "depth", None), buffers))
        return found

    # -- UB map --------------------------------------------------------------------------------

    @property
    def areas(self) -> list[Area]:
        """The allocations of UB in order of their address."""
        upcoming = self.next_instruction
        hot = [] if upcoming is None else self.view.touches.of(upcoming.plan)
        found = []
        for queue in self.queues:
            for low, size, state in queue.buffers:
                is_hot = any(not t.is_global and t.meets(low, low + size) for t in hot)
                writer = self.view.last_writer(self.done, low, low + size)
                shown = "" if queue.depth is None else state
                found.append(Area(low, low + size, queue.name, shown, writer, is_hot))
        return sorted(found)

    def contents(self, low: int, high: int) -> Contents:
        """Return what UB bytes ``low..high`` hold: data, filler or nothing yet."""
        entries = self.view.entries
        steps = self.view.order.steps
        order = steps[self.done[steps]][::-1]
        return contents(((int(i), entries[i][0]) for i in order), low, high)

    def in_flight(self, low: int, high: int) -> list[int]:
        """Return instructions that write UB ``low..high`` and are issued but not complete."""
        issued = self.position.issued
        late = np.flatnonzero(~self.done[:issued])
        return [
            int(i)
            for i in late
            if any(
                t.writes and not t.is_global and t.meets(low, high)
                for t in self.view.touches.of(self.view.entries[i][0])
            )
        ]

    def state_of(self, tensor: LocalTensor) -> str:
        """Return the state of a tensor in words."""
        return self._state(None, tensor.addr, tensor.addr + tensor.nbytes)

    def _state(self, _: Any, low: int, high: int) -> str:
        parts = [str(self.contents(low, high))] if high > low else ["empty"]
        for index in self.in_flight(low, high):
            entry = self.view.entries[index][0]
            parts.append(f"in flight: {entry.spec.name} #{index}")
        return ", ".join(parts)

    # -- looking through the kernel's own objects ------------------------------------------------

    def evaluate(self, expression: str, level: int = 0) -> Any:
        """Return the value of a Python expression over the kernel's locals and globals.

        Tensors show what they hold at this moment. Nothing is issued.

        Raises
        ------
        ConfigError
            If no locals were recorded.
        """
        if not self.view.has_source:
            raise ConfigError(
                "this run was not recorded for debugging, so its locals are not known",
                fix="launch it inside record_for_debug(), or with ascsim debug",
            )
        names = self.locals(level)
        stack = self.stack
        space = self.view.trace.frames[stack[level].frame].namespace if stack else {}
        code = compile(expression.strip(), "<debug>", "eval")
        if _needs_no_memory(code.co_names, names):
            return eval(code, dict(space), names)
        with self.shown():
            return _detached(eval(code, dict(space), names))

    def describe(self, value: Any) -> str:
        """Return the text of a value of the kernel, as it is at this moment."""
        with self.shown():
            return repr(value)

    def values(self, tensor: LocalTensor | GlobalTensor, count: int | None = None) -> Any:
        """Return the first elements of a tensor as an array of their type."""
        dtype = tensor.dtype
        length = tensor.length if count is None else min(count, tensor.length)
        nbytes = dtype.bytes_for(length)
        if isinstance(tensor, LocalTensor):
            raw = self.read("UB", tensor.addr, nbytes)
        else:
            raw = b"" if tensor.ptr is None else self.read("GM", tensor.ptr.address, nbytes)
        return np.frombuffer(raw, dtype.numpy)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Let the kernel's tensors and queues show this moment inside the block."""
        with ExitStack() as stack:
            stack.enter_context(self.session.history.borrowed(self.local, self.memory))
            core = self.session.launch.cores.get(self.view.index)
            if core is not None:
                stack.enter_context(_reading_only(core, self._state))
            recorded = _last(self.view.trace.queues, self.position.event)
            if recorded is not None:
                buffers = [b for q in recorded[0] for b in q.buffers]
                stack.enter_context(_buffer_states(buffers, recorded[1]))
            yield

    # -- comparing -----------------------------------------------------------------------------

    def differences(self, other: Moment) -> list[Difference]:
        """Return the runs of bytes of UB and GM that are different at ``other``."""
        found = []
        if self.position.block == other.position.block:
            found += _differing("UB", "UB", 0, self.ub, other.ub)
        for allocation, data in sorted(self.memory.items(), key=lambda kv: kv[0].address):
            name = allocation.name or "memory"
            later = other.memory[allocation]
            if later is not data:
                found += _differing("GM", name, allocation.address, data, later)
        return found


def _differing(space: str, name: str, base: int, one: Bytes, other: Bytes) -> list[Difference]:
    places = np.flatnonzero(one != other)
    if not len(places):
        return []
    # Equal bytes between different ones are common within one array; a gap of 32 ends a run.
    breaks = np.flatnonzero(np.diff(places) > 32)
    starts = [places[0], *places[breaks + 1]]
    ends = [*places[breaks], places[-1]]
    return [
        Difference(
            space, name, base + int(low), base + int(high) + 1,
            one[low : high + 1].tobytes(), other[low : high + 1].tobytes(),
        )
        for low, high in zip(starts, ends, strict=True)
    ]  # fmt: skip


def _last(recorded: Mapping[int, Any], event: int) -> Any:
    """Return what was noted last at or before an event."""
    events = list(recorded)
    number = bisect_right(events, event)
    return recorded[events[number - 1]] if number else None


_PLAIN = (int, float, str, bool, bytes, type(None))


def _needs_no_memory(names: tuple[str, ...], found: Mapping[str, Any]) -> bool:
    return all(isinstance(found.get(name), _PLAIN) and name in found for name in names)


def _detached(value: Any) -> Any:
    """Return a value that stays what it is when the memory is given back."""
    return value.copy() if isinstance(value, np.ndarray) else value


@contextmanager
def _buffer_states(buffers: list[Any], states: tuple[Any, ...]) -> Iterator[None]:
    before = [buffer.state for buffer in buffers]
    for buffer, state in zip(buffers, states, strict=True):
        buffer.state = state
    try:
        yield
    finally:
        for buffer, state in zip(buffers, before, strict=True):
            buffer.state = state


@contextmanager
def _reading_only(core: AICore, state_of: Callable[[AICore, int, int], str]) -> Iterator[None]:
    """Let GetValue answer without being issued, and refuse everything that would be.

    Tensors tell the state that ``state_of`` gives.
    """
    replaced = {
        "issue": _issue_reads, "set_flag": _refuse, "wait_flag": _refuse, "order": _refuse,
        "barrier": _refuse, "watch": _ignore, "cache": DataCache(), "state_of": state_of,
    }  # fmt: skip
    before = {name: vars(core)[name] for name in replaced if name in vars(core)}
    outside = ACTIVE.core
    vars(core).update(replaced)
    ACTIVE.core = None
    try:
        yield
    finally:
        ACTIVE.core = outside
        for name in replaced:
            del vars(core)[name]
        vars(core).update(before)


def _issue_reads(plan: Any, *_: Any) -> None:
    if any(op.role != READ for op in plan.operands):
        _refuse(plan)


def _refuse(plan: Any, *_: Any) -> None:
    raise ConfigError(
        f"{plan.spec.name} would change the run", legal="expressions that only look, such as x(0)"
    )


def _ignore(*_: Any) -> None:
    return None
