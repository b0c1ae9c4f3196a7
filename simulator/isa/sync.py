"""Event flags and pipe barriers.

Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/同步控制/核内同步
(SetFlag-WaitFlag(ISASI).md, PipeBarrier(ISASI).md) and impl/basic_api/kernel_event.h.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from simulator.core import AICore, current_core
from simulator.enums import Arch, HardEvent, PipeID
from simulator.errors import ArgumentError, FlagError
from simulator.instruction import Plan
from simulator.isa.families import declare, publish, spec_for

if TYPE_CHECKING:
    from types import FrameType

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


def SetFlag(event: HardEvent, eventID: int) -> None:
    """Raise flag ``eventID`` (0..7) of a pipe pair, for example ``HardEvent.MTE2_V``."""
    set_flag(current_core(), event, eventID, sys._getframe(1))


def WaitFlag(event: HardEvent, eventID: int) -> None:
    """Make the destination pipe of ``event`` wait for flag ``eventID`` (0..7)."""
    wait_flag(current_core(), event, eventID, sys._getframe(1))


def PipeBarrier(pipe: PipeID) -> None:
    """Order ``pipe`` (or ``PIPE_ALL``): what follows starts after what came before."""
    barrier(current_core(), pipe, sys._getframe(1))


publish(SetFlag, _SET)
publish(WaitFlag, _WAIT)
publish(PipeBarrier, _BARRIER)


def set_flag(core: AICore, event: Any, event_id: Any, frame: FrameType) -> None:
    """Issue SetFlag for the code at ``frame``."""
    core.set_flag(_flag_plan(core, "SetFlag", "set", event, event_id), frame)


def wait_flag(core: AICore, event: Any, event_id: Any, frame: FrameType) -> None:
    """Issue WaitFlag for the code at ``frame``."""
    core.wait_flag(_flag_plan(core, "WaitFlag", "wait", event, event_id), frame)


def barrier(core: AICore, pipe: Any, frame: FrameType) -> None:
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
            legal=", ".join(f"HardEvent.{e.name}" for e in sorted(VECTOR_CORE_EVENTS)),
            source=spec.source,
        )
    ids = core.local.EVENT_IDS
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
