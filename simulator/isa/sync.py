"""Event flags and pipe barriers.

Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/同步控制/核内同步
(SetFlag-WaitFlag(ISASI).md, PipeBarrier(ISASI).md) and impl/basic_api/kernel_event.h.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.core import AICore, current_core
from simulator.enums import Arch, HardEvent, MemDsbT, PipeID
from simulator.errors import ArgumentError, FlagError
from simulator.instruction import Plan
from simulator.isa.families import declare, publish, spec_for

if TYPE_CHECKING:
    from types import FrameType

    from simulator.core import Site

_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/同步控制/核内同步/{}(ISASI).md"

EVENT_ID0: Final = 0
EVENT_ID1: Final = 1
EVENT_ID2: Final = 2
EVENT_ID3: Final = 3
EVENT_ID4: Final = 4
EVENT_ID5: Final = 5
EVENT_ID6: Final = 6
EVENT_ID7: Final = 7

VECTOR_CORE_EVENTS: Final = frozenset(
    HardEvent[name]
    for name in (
        "MTE2_V", "V_MTE2", "MTE3_V", "V_MTE3", "V_V", "MTE3_MTE2", "MTE2_MTE3",
        "S_V", "V_S", "S_MTE2", "MTE2_S", "S_MTE3", "MTE3_S",
    )
)  # fmt: skip
"""Events that the vector core has (kernel_event.h, HardEventAiv)."""

_SORTED_EVENTS: Final = sorted(VECTOR_CORE_EVENTS)
_V_V: Final = HardEvent.V_V

_BARRIER_PIPES: Final = (
    PipeID.PIPE_V,
    PipeID.PIPE_MTE2,
    PipeID.PIPE_MTE3,
    PipeID.PIPE_ALL,
    PipeID.PIPE_M,
    PipeID.PIPE_MTE1,
    PipeID.PIPE_FIX,
)


def _set_flag_rule() -> None:
    """Raise flag ``eventID`` of ``event`` when earlier work of the source pipe is complete."""


def _wait_flag_rule() -> None:
    """Stop the destination pipe of ``event`` until flag ``eventID`` is up, then lower it."""


def _pipe_barrier_rule() -> None:
    """Later instructions of ``pipe`` start after all earlier ones have finished."""


def _data_barrier_rule() -> None:
    """Later instructions wait for earlier accesses to a memory."""


_NO_TENSOR: dict[Arch, str] = {Arch.DAV_2201: "", Arch.DAV_3510: "", Arch.DAV_1001: ""}
_SET = declare(
    _set_flag_rule, "sync", (), _NO_TENSOR, _PAGE.format("SetFlag-WaitFlag"),
    pipe=PipeID.PIPE_S, forms=("event",), name="SetFlag",
)  # fmt: skip
_WAIT = declare(
    _wait_flag_rule, "sync", (), _NO_TENSOR, _PAGE.format("SetFlag-WaitFlag"),
    pipe=PipeID.PIPE_S, forms=("event",), name="WaitFlag",
)  # fmt: skip
_BARRIER = declare(
    _pipe_barrier_rule, "sync", (), _NO_TENSOR, _PAGE.format("PipeBarrier"),
    pipe=PipeID.PIPE_S, forms=("pipe",), name="PipeBarrier",
)  # fmt: skip
_DATA_BARRIER = declare(
    _data_barrier_rule, "sync", (), {Arch.DAV_2201: "", Arch.DAV_3510: ""},
    _PAGE.format("DataSyncBarrier"), pipe=PipeID.PIPE_S, forms=("memory",), name="DataSyncBarrier",
)  # fmt: skip


def SetFlag(event: HardEvent, eventID: int) -> None:
    """Raise flag ``eventID`` (0..7) of a pipe pair, for example ``HardEvent.MTE2_V``."""
    set_flag(current_core(), event, eventID, sys._getframe(1))


def WaitFlag(event: HardEvent, eventID: int) -> None:
    """Make the destination pipe of ``event`` wait for flag ``eventID`` (0..7)."""
    wait_flag(current_core(), event, eventID, sys._getframe(1))


def PipeBarrier(pipe: PipeID) -> None:
    """Order ``pipe`` (or ``PIPE_ALL``): what follows starts after what came before."""
    barrier(current_core(), pipe, sys._getframe(1))


pipe_barrier = PipeBarrier
"""The intrinsic's name of the same call."""


def set_flag_between(source: PipeID, destination: PipeID, eventID: int) -> None:
    """``set_flag(PIPE_MTE2, PIPE_V, id)``: SetFlag by its pipe pair."""
    event = event_between("set_flag", source, destination)
    set_flag(current_core(), event, eventID, sys._getframe(1))


def wait_flag_between(source: PipeID, destination: PipeID, eventID: int) -> None:
    """``wait_flag(PIPE_MTE2, PIPE_V, id)``: WaitFlag by its pipe pair."""
    event = event_between("wait_flag", source, destination)
    wait_flag(current_core(), event, eventID, sys._getframe(1))


class TQueSync:
    """``TQueSync(PIPE_S, PIPE_MTE3)``: flags of one pipe pair with portable spelling.

    Source: mirror-cann/asc-devkit
    docs/zh/api/SIMD-API/基础API/同步控制/核内同步/SetFlag-WaitFlag.md.
    """

    def __init__(self, src: PipeID, dst: PipeID) -> None:
        self._event = event_between("TQueSync", src, dst)

    def SetFlag(self, id: int) -> None:
        """Raise flag ``id`` (0..7) when earlier work of the source pipe is complete."""
        set_flag(current_core(), self._event, id, sys._getframe(1))

    def WaitFlag(self, id: int) -> None:
        """Make the destination pipe wait for flag ``id`` (0..7)."""
        wait_flag(current_core(), self._event, id, sys._getframe(1))


def DataSyncBarrier(arg0: MemDsbT = MemDsbT.ALL) -> None:
    """Stop the scalar unit until earlier accesses to ``arg0`` (ALL, DDR, UB, SEQ) are complete."""
    core = current_core()
    key = ("DataSyncBarrier", arg0)
    plan = core.plans.get(key)
    if plan is None:
        spec = spec_for("DataSyncBarrier", core)
        if arg0 not in MemDsbT.__members__.values():
            raise ArgumentError(
                f"{arg0!r} is no memory",
                api="DataSyncBarrier",
                got=repr(arg0),
                legal=", ".join(f"MemDsbT.{m.name}" for m in MemDsbT),
                source=spec.source,
            )
        plan = core.plans[key] = Plan(
            spec,
            "barrier",
            details={"pipe": PipeID.PIPE_ALL.name, "memory": MemDsbT(arg0).name},
        )
    core.barrier(plan, sys._getframe(1))


publish(SetFlag, _SET)
publish(WaitFlag, _WAIT)
publish(PipeBarrier, _BARRIER)
publish(DataSyncBarrier, _DATA_BARRIER)


def set_flag(core: AICore, event: Any, event_id: Any, frame: FrameType | Site) -> None:
    """Issue SetFlag for the code at ``frame``; on V_V it is a barrier (kernel_event.h)."""
    if event is _V_V:
        barrier(core, PipeID.PIPE_V, frame)
    else:
        core.set_flag(_flag_plan(core, "SetFlag", "set", event, event_id), frame)


def wait_flag(core: AICore, event: Any, event_id: Any, frame: FrameType | Site) -> None:
    """Issue WaitFlag for the code at ``frame``; on V_V it does nothing."""
    if event is not _V_V:
        core.wait_flag(_flag_plan(core, "WaitFlag", "wait", event, event_id), frame)


def barrier(core: AICore, pipe: Any, frame: FrameType | Site) -> None:
    """Issue PipeBarrier for the code at ``frame``."""
    key = ("PipeBarrier", pipe)
    plan = core.plans.get(key)
    if plan is None:
        if pipe not in _BARRIER_PIPES:
            raise ArgumentError(
                "PIPE_S cannot be a barrier (hardware error)"
                if pipe == PipeID.PIPE_S
                else f"{pipe!r} is no pipe of the vector core",
                api="PipeBarrier",
                argument="pipe",
                got=repr(pipe),
                legal=", ".join(p.name for p in _BARRIER_PIPES),
                source=_BARRIER.source,
            )
        issuer = PipeID.PIPE_S if pipe == PipeID.PIPE_ALL else PipeID(pipe)
        plan = core.plans[key] = Plan(
            _BARRIER, "barrier", pipe=issuer, details={"pipe": PipeID(pipe).name}
        )
    core.barrier(plan, frame)


def split_event(event: HardEvent) -> tuple[PipeID, PipeID]:
    """Return source and destination pipe of an event."""
    source, destination = event.name.split("_")
    return PipeID[f"PIPE_{source}"], PipeID[f"PIPE_{destination}"]


def event_between(api: str, source: Any, destination: Any) -> HardEvent:
    """Return the event of a pipe pair.

    Raises
    ------
    FlagError
        If the vector core has no flags between the two.
    """
    if isinstance(source, PipeID) and isinstance(destination, PipeID):
        found = HardEvent.__members__.get(f"{source.label}_{destination.label}")
        if found in VECTOR_CORE_EVENTS:
            return HardEvent(found)
    raise FlagError(
        f"the vector core has no flags from {source!r} to {destination!r}",
        api=api,
        got=f"{source!r}, {destination!r}",
        legal=", ".join(" to ".join(p.name for p in split_event(e)) for e in _SORTED_EVENTS),
        source=_SET.source,
    )


def _flag_plan(core: AICore, api: str, form: str, event: Any, event_id: Any) -> Plan:
    key = (api, event, event_id)
    plan = core.plans.get(key)
    if plan is not None:
        return plan
    spec = spec_for(api, core)
    if event not in VECTOR_CORE_EVENTS:
        raise FlagError(
            f"{event!r} is no event of the vector core",
            api=api,
            argument="event",
            got=repr(event),
            legal=", ".join(f"HardEvent.{e.name}" for e in _SORTED_EVENTS),
            source=spec.source,
        )
    ids = core.local.EVENT_IDS
    if isinstance(event_id, np.integer):
        event_id = int(event_id)
    if not isinstance(event_id, int) or not 0 <= event_id < ids:
        raise FlagError(
            "the event id is out of range",
            api=api,
            argument="eventID",
            got=repr(event_id),
            legal=f"0..{ids - 1}",
            source=spec.source,
        )
    chosen = HardEvent(event)
    source, destination = split_event(chosen)
    plan = Plan(
        spec,
        form,
        pipe=source if form == "set" else destination,
        details={"event": chosen.name, "eventID": event_id},
    )
    plan.event = int(chosen)
    plan.flag = int(chosen) * ids + event_id
    core.plans[key] = plan
    return plan
