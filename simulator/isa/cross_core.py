"""Synchronisation between blocks: SyncAll, cross-core flags, IBSet and IBWait.

Blocks really wait for each other (``simulator.blocks``). The calls that poll global memory on the
device leave the same bytes there; the polling itself is one wait. Source: mirror-cann/asc-devkit
docs/zh/api/SIMD-API/基础API/同步控制/核间同步 and impl/basic_api/dav_c220, dav_3510
kernel_operator_sync_impl.h, kernel_operator_block_sync_intf_impl.h.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simulator.core import AICore, current_core
from simulator.enums import Arch, HardEvent, PipeID
from simulator.errors import ArgumentError, FlagError
from simulator.instruction import Plan
from simulator.isa.block_slots import SLOT, called_from, check_workspaces, flag, poll, slots
from simulator.isa.data_copy import DataCopy
from simulator.isa.families import declare, publish, spec_for
from simulator.isa.params import check_range
from simulator.isa.sync import barrier
from simulator.stalls import CROSS, FIRST_MODE_4

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.instruction import InstructionSpec

_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/同步控制/核间同步/{}.md"

SYNC_AIV_ONLY_ALL: Final = 14
SYNC_AIV: Final = 12
SYNC_AIC_AIV: Final = 13

_VECTOR_PIPES: Final = (PipeID.PIPE_V, PipeID.PIPE_MTE2, PipeID.PIPE_MTE3)
_SYNC_PIPES: Final = (PipeID.PIPE_ALL, PipeID.PIPE_MTE2, PipeID.PIPE_MTE3)
_MODES: Final = {Arch.DAV_2201: (0, 1, 2), Arch.DAV_3510: (0, 1, 2, 4)}


class SyncAllConfig(NamedTuple):
    """Template argument of SyncAll on 950: the pipe that reports and the pipe that waits."""

    triggerPipe: PipeID = PipeID.PIPE_ALL
    waitPipe: PipeID = PipeID.PIPE_ALL


# -- declarations ----------------------------------------------------------------------------------


def _sync_rule() -> None:
    """Stop every block until all blocks have arrived."""


def _cross_set_rule() -> None:
    """Report that earlier work of a pipe is complete to the cores that share a flag."""


def _cross_wait_rule() -> None:
    """Stop until all cores that share a flag have reported, then count it down."""


def _ib_set_rule() -> None:
    """Set the slot of a block and event in GM to 1 when it is 0."""


def _ib_wait_rule() -> None:
    """Wait until the slot of a block and event in GM is 1, then set it to 0."""


def _declare(rule: Callable[[], None], name: str, page: str) -> InstructionSpec:
    return declare(
        rule, "sync", (), {Arch.DAV_2201: "", Arch.DAV_3510: ""}, _PAGE.format(page),
        pipe=PipeID.PIPE_S, forms=("cross core",), name=name,
    )  # fmt: skip


_SYNC_ALL = _declare(_sync_rule, "SyncAll", "SyncAll")
_CROSS_SET = _declare(_cross_set_rule, "CrossCoreSetFlag", "CrossCoreSetFlag(ISASI)")
_CROSS_WAIT = _declare(_cross_wait_rule, "CrossCoreWaitFlag", "CrossCoreWaitFlag(ISASI)")
_IB_SET = _declare(_ib_set_rule, "IBSet", "IBSet")
_IB_WAIT = _declare(_ib_wait_rule, "IBWait", "IBWait")


# -- cross-core flags ------------------------------------------------------------------------------


def CrossCoreSetFlag(modeId: int, pipe: PipeID, flagId: int) -> None:
    """``CrossCoreSetFlag(0, PIPE_MTE3, 5)``: report that earlier work of ``pipe`` is complete.

    Modes: 0 all vector cores, 1 the vector cores of an AI core, 2 cube core and its vector cores, 4
    cube core and one vector core (950).
    """
    core = current_core()
    spec = spec_for("CrossCoreSetFlag", core)
    _order(core, spec, "cross set", modeId, pipe, flagId, sys._getframe(1))


def CrossCoreWaitFlag(*args: Any, modeId: int = 0, pipe: PipeID = PipeID.PIPE_S) -> None:
    """``CrossCoreWaitFlag(5)`` or ``CrossCoreWaitFlag(0, PIPE_MTE2, 5)``: wait for a flag.

    910B stops the whole core; 950 only ``pipe``.
    """
    core = current_core()
    spec = spec_for("CrossCoreWaitFlag", core)
    if len(args) not in (1, 3):
        raise ArgumentError(
            "needs a flag id, or mode, pipe and flag id",
            api=spec.name,
            got=repr(args),
            legal="(flagId) or (modeId, pipe, flagId)",
            source=spec.source,
        )
    if len(args) == 3:
        modeId, pipe, flag = args
    else:
        (flag,) = args
    if core.arch is not Arch.DAV_3510:
        _check_mode(core, spec, modeId)
        pipe = PipeID.PIPE_S
    _order(core, spec, "cross wait", modeId, pipe, flag, sys._getframe(1))


def _check_mode(core: AICore, spec: InstructionSpec, mode: Any) -> None:
    if mode not in _MODES[core.arch]:
        raise ArgumentError(
            f"mode {mode!r} does not exist on {core.arch.family}",
            api=spec.name,
            argument="modeId",
            got=repr(mode),
            legal=", ".join(map(str, _MODES[core.arch])),
            source=spec.source,
        )


def _order(
    core: AICore, spec: InstructionSpec, form: str, mode: Any, pipe: Any, flag: Any, frame: Any
) -> None:
    key = (spec.name, form, mode, pipe, flag)
    plan = core.plans.get(key)
    if plan is None:
        _check_mode(core, spec, mode)
        scalar_too = mode == 4 or form == "cross wait"
        legal = (*_VECTOR_PIPES, PipeID.PIPE_S) if scalar_too else _VECTOR_PIPES
        if pipe not in legal:
            raise ArgumentError(
                f"{pipe!r} cannot take part",
                api=spec.name,
                argument="pipe",
                got=repr(pipe),
                legal=", ".join(p.name for p in legal),
                source=spec.source,
            )
        number = _flag_id(core, spec, flag)
        plan = core.plans[key] = Plan(
            spec,
            form,
            pipe=PipeID(pipe),
            details={"mode": mode, "flagId": number, "pipe": PipeID(pipe).name},
        )
        plan.event = CROSS
        plan.flag = number + (FIRST_MODE_4 if mode == 4 else 0)
    core.order(plan, (), frame)


def _flag_id(core: AICore, spec: InstructionSpec, flag: Any) -> int:
    if isinstance(flag, int) and not core.strict:
        return flag & 0xF
    if not isinstance(flag, int) or not 0 <= flag <= 15:
        raise FlagError(
            "the flag id is out of range; a board takes its low four bits",
            api=spec.name,
            argument="flagId",
            got=repr(flag),
            legal="0..15 (0..10 for users: SyncAll and matmul objects use others)",
            source=spec.source,
        )
    return flag


# -- SyncAll ---------------------------------------------------------------------------------------


def SyncAll(
    gmWorkspace: Any = None,
    ubWorkspace: Any = None,
    usedCores: int = 0,
    *,
    isAIVOnly: bool = True,
    config: SyncAllConfig | None = None,
) -> None:
    """``SyncAll()`` by hardware flags, ``SyncAll(gmWorkspace, ubWorkspace[, usedCores])`` by GM.

    The workspaces of the second form hold 32 bytes a block, int32_t, zeros in GM before first use;
    ``usedCores`` limits it to the first blocks. ``config`` names the pipes that report and wait
    (950).
    """
    core = current_core()
    spec = spec_for("SyncAll", core)
    frame = sys._getframe(1)
    if gmWorkspace is not None:
        with called_from(core, frame):
            _soft_sync_all(core, spec, gmWorkspace, ubWorkspace, usedCores)
        return
    if config is not None and core.arch is not Arch.DAV_3510:
        raise ArgumentError(
            f"SyncAll has no config on {core.arch.family}",
            api="SyncAll",
            argument="config",
            got=repr(config),
            legal="none; SyncAllConfig on 950",
            source=spec.source,
        )
    chosen = config or SyncAllConfig()
    for name, pipe in zip(chosen._fields, chosen, strict=True):
        if pipe not in _SYNC_PIPES:
            raise ArgumentError(
                f"{name} cannot be {pipe!r}",
                api="SyncAll",
                argument=name,
                got=repr(pipe),
                legal=", ".join(p.name for p in _SYNC_PIPES),
                source=spec.source,
            )
    trigger, waiter = chosen
    barrier(core, trigger if isAIVOnly else PipeID.PIPE_ALL, frame)
    reporter = PipeID.PIPE_MTE3 if trigger == PipeID.PIPE_ALL else trigger
    stopped = PipeID.PIPE_S if waiter == PipeID.PIPE_ALL else waiter
    if isAIVOnly:
        _order(core, spec, "cross set", 0, reporter, SYNC_AIV_ONLY_ALL, frame)
        _order(core, spec, "cross wait", 0, stopped, SYNC_AIV_ONLY_ALL, frame)
    else:
        _order(core, spec, "cross set", 2, PipeID.PIPE_MTE3, SYNC_AIV, frame)
        _order(core, spec, "cross wait", 2, PipeID.PIPE_S, SYNC_AIC_AIV, frame)


def _soft_sync_all(core: AICore, spec: InstructionSpec, gm: Any, ub: Any, used_cores: Any) -> None:
    count = core.blocks.count
    check_range(spec.name, "usedCores", used_cores, 0, count, spec.source)
    total = used_cores or count
    check_workspaces(spec, gm, ub, SLOT * total, SLOT * total)
    frame = core.caller or core.kernel_site
    barrier(core, PipeID.PIPE_ALL, frame)
    own = SLOT * core.block_idx
    if core.block_idx >= total:
        check_workspaces(spec, gm, ub, own + SLOT, own + SLOT)
    mine = ub[own] if core.arch is not Arch.DAV_3510 else ub
    DataCopy(mine, gm[own], SLOT)
    flag(core, HardEvent.MTE2_S)
    turn = mine.GetValue(0) + 1
    mine.SetValue(0, turn)
    flag(core, HardEvent.S_MTE3)
    DataCopy(gm[own], mine, SLOT)
    flag(core, HardEvent.MTE3_MTE2)
    poll(
        core,
        spec,
        lambda: int(slots(gm, total).sum()) >= total * turn,
        lambda: (
            f"SyncAll: the slots of {total} blocks in GM hold {slots(gm, total).tolist()} and "
            f"do not add up to {total * turn}"
        ),
    )
    DataCopy(ub, gm, SLOT * total)
    flag(core, HardEvent.MTE2_S)


# -- IBSet, IBWait ---------------------------------------------------------------------------------


def IBSet(
    gmWorkspace: Any, ubWorkspace: Any, blockIdx: int, eventID: int, *, isAIVOnly: bool = True
) -> None:
    """Set the slot of ``blockIdx`` and ``eventID`` to 1; waits while an earlier 1 is not taken."""
    core = current_core()
    with called_from(core, sys._getframe(1)):
        _exchange(core, _IB_SET, gmWorkspace, ubWorkspace, (blockIdx, eventID), isAIVOnly, 0)


def IBWait(
    gmWorkspace: Any, ubWorkspace: Any, blockIdx: int, eventID: int, *, isAIVOnly: bool = True
) -> None:
    """Wait until the slot of ``blockIdx`` and ``eventID`` is 1, then set it to 0."""
    core = current_core()
    with called_from(core, sys._getframe(1)):
        _exchange(core, _IB_WAIT, gmWorkspace, ubWorkspace, (blockIdx, eventID), isAIVOnly, 1)


def _exchange(
    core: AICore,
    declared: InstructionSpec,
    gm: Any,
    ub: Any,
    slot: tuple[int, int],
    vector_only: bool,
    awaited: int,
) -> None:
    """Wait until a slot holds ``awaited`` and store the other of 0 and 1 there."""
    spec = spec_for(declared.name, core)
    block, event = slot
    blocks = core.block_num if vector_only else 2 * core.block_num
    check_range(spec.name, "blockIdx", block, 0, blocks - 1, spec.source)
    check_range(spec.name, "eventID", event, 0, 2**31 - 1, spec.source)
    start = SLOT * (blocks * event + block)
    check_workspaces(spec, gm, ub, start + SLOT, SLOT)
    frame = core.caller or core.kernel_site
    barrier(core, PipeID.PIPE_ALL, frame)
    place = gm[start]
    poll(
        core,
        spec,
        lambda: int(slots(place, 1)[0]) == awaited,
        lambda: (
            f"{spec.name} of block {block}, event {event}: its slot in GM holds "
            f"{slots(place, 1)[0]} and not {awaited}"
        ),
    )
    DataCopy(ub, place, SLOT)
    flag(core, HardEvent.MTE2_S)
    ub.GetValue(0)
    ub.SetValue(0, 1 - awaited)
    flag(core, HardEvent.S_MTE3)
    DataCopy(place, ub, SLOT)
    barrier(core, PipeID.PIPE_ALL, frame)


for _call, _spec in (
    (CrossCoreSetFlag, _CROSS_SET), (CrossCoreWaitFlag, _CROSS_WAIT), (SyncAll, _SYNC_ALL),
    (IBSet, _IB_SET), (IBWait, _IB_WAIT),
):  # fmt: skip
    publish(_call, _spec)
