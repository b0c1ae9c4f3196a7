"""Mutexes between the pipes of a core (950): each pipe takes its turn in program order.

``Lock`` stops a pipe until the Unlock of the Lock before it, in program order and on any pipe, has
been executed. Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/同步控制/核内同步
(Mutex(ISASI).md, Lock.md, Unlock.md) and include/basic_api/kernel_common.h.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from simulator.core import AICore, current_core
from simulator.enums import Arch, PipeID
from simulator.errors import ArgumentError, QueueError, SyncError
from simulator.instruction import Plan
from simulator.isa.families import declare, publish, spec_for
from simulator.stalls import MUTEX

if TYPE_CHECKING:
    from simulator.instruction import InstructionSpec

_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/同步控制/核内同步/{}.md"
_950 = {Arch.DAV_3510: ""}

IDS: Final = 32
"""Mutexes of a core; 28 and up are meant for the system."""

_PIPES: Final = (PipeID.PIPE_S, PipeID.PIPE_V, PipeID.PIPE_MTE2, PipeID.PIPE_MTE3)


class MutexState:
    """One mutex of a core: Locks issued, Unlocks executed, and the pipe of an open Lock."""

    __slots__ = ("holder", "issued", "reserved", "released")

    def __init__(self) -> None:
        self.issued = 0
        self.released = 0
        self.holder: PipeID | None = None
        self.reserved = False

    def __repr__(self) -> str:
        held = f"held by {self.holder.label}" if self.holder is not None else "free"
        return f"<mutex {held}, {self.issued} locks>"


def _lock_rule() -> None:
    """Stop a pipe until the mutex is free, then take it."""


def _unlock_rule() -> None:
    """Free the mutex when earlier work of the pipe is complete."""


def _alloc_rule() -> None:
    """Reserve and return the lowest free mutex id."""


def _release_rule() -> None:
    """Give a mutex id back."""


_LOCK = declare(
    _lock_rule, "sync", (), _950, _PAGE.format("Lock"),
    pipe=PipeID.PIPE_S, forms=("mutex",), name="Mutex.Lock",
)  # fmt: skip
_UNLOCK = declare(
    _unlock_rule, "sync", (), _950, _PAGE.format("Unlock"),
    pipe=PipeID.PIPE_S, forms=("mutex",), name="Mutex.Unlock",
)  # fmt: skip
_ALLOC = declare(
    _alloc_rule, "sync", (), _950, _PAGE.format("AllocMutexID-(ISASI)"),
    pipe=PipeID.PIPE_S, forms=("scalar",), name="AllocMutexID",
)  # fmt: skip
_RELEASE = declare(
    _release_rule, "sync", (), _950, _PAGE.format("ReleaseMutexID-(ISASI)"),
    pipe=PipeID.PIPE_S, forms=("scalar",), name="ReleaseMutexID",
)  # fmt: skip


class Mutex:
    """``Mutex.Lock(PIPE_V, id)`` and ``Mutex.Unlock(PIPE_V, id)`` (950)."""

    @staticmethod
    def Lock(pipe: PipeID, id: int) -> None:
        """Stop ``pipe`` until mutex ``id`` is free, then take it."""
        core = current_core()
        spec = spec_for("Mutex.Lock", core)
        plan = _plan(core, spec, "lock", pipe, id)
        state = _state(core, id)
        if state.holder is not None:
            raise _unpaired(spec, f"mutex {id} is locked again before it is unlocked", pipe, state)
        turn = state.issued
        state.issued += 1
        state.holder = PipeID(pipe)
        core.order(plan, (turn,), sys._getframe(1))

    @staticmethod
    def Unlock(pipe: PipeID, id: int) -> None:
        """Free mutex ``id`` when earlier work of ``pipe`` is complete."""
        core = current_core()
        spec = spec_for("Mutex.Unlock", core)
        plan = _plan(core, spec, "unlock", pipe, id)
        state = _state(core, id)
        if state.holder != pipe:
            raise _unpaired(spec, f"mutex {id} is not locked by this pipe", pipe, state)
        state.holder = None
        core.order(plan, (), sys._getframe(1))


def AllocMutexID() -> int:
    """Reserve and return the lowest free mutex id (950)."""
    core = current_core()
    spec = spec_for("AllocMutexID", core)
    for number in range(IDS):
        state = _state(core, number)
        if not state.reserved:
            state.reserved = True
            return number
    raise QueueError(
        "all mutex ids are in use",
        code="queue.mutex_ids",
        api=spec.name,
        got=f"{IDS} ids in use",
        legal=f"<= {IDS}",
        fix="ReleaseMutexID when a mutex is no longer needed",
        source=spec.source,
    )


def ReleaseMutexID(id: int) -> None:
    """Give an id of AllocMutexID back (950)."""
    core = current_core()
    spec = spec_for("ReleaseMutexID", core)
    state = core.mutexes.get(id)
    if state is None or not state.reserved:
        raise QueueError(
            f"mutex id {id!r} is not allocated",
            code="queue.mutex_ids",
            api=spec.name,
            got=repr(id),
            legal=f"one of {sorted(i for i, m in core.mutexes.items() if m.reserved)}",
            source=spec.source,
        )
    state.reserved = False


publish(AllocMutexID, _ALLOC)
publish(ReleaseMutexID, _RELEASE)


def _state(core: AICore, number: int) -> MutexState:
    state = core.mutexes.get(number)
    if state is None:
        state = core.mutexes[number] = MutexState()
    found: MutexState = state
    return found


def _plan(core: AICore, spec: InstructionSpec, form: str, pipe: Any, number: Any) -> Plan:
    key = (spec.name, pipe, number)
    plan = core.plans.get(key)
    if plan is not None:
        return plan
    if pipe not in _PIPES:
        raise ArgumentError(
            f"{pipe!r} is no pipe of the vector core",
            api=spec.name,
            argument="pipe",
            got=repr(pipe),
            legal=", ".join(p.name for p in _PIPES),
            source=spec.source,
        )
    if not isinstance(number, int) or not 0 <= number < IDS:
        raise ArgumentError(
            "the mutex id is out of range",
            api=spec.name,
            argument="id",
            got=repr(number),
            legal=f"0..{IDS - 1} (28 and up are meant for the system)",
            source=spec.source,
        )
    plan = Plan(spec, form, pipe=PipeID(pipe), details={"mutex": number})
    plan.event = MUTEX
    plan.flag = number
    core.plans[key] = plan
    return plan


def _unpaired(spec: InstructionSpec, message: str, pipe: Any, state: MutexState) -> SyncError:
    held = state.holder.label if state.holder is not None else "no pipe"
    return SyncError(
        message,
        code="sync.mutex",
        api=spec.name,
        got=f"{spec.name}({pipe!r}, …) while {held} holds it",
        legal="Lock and Unlock of one pipe, strictly in turns",
        source=spec.source,
    )
