"""Blocks that take turns in the order of their index, for results that must not vary.

Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/同步控制/核间同步
(InitDetermineComputeWorkspace.md, WaitPreBlock.md, NotifyNextBlock.md) and
impl/basic_api/kernel_operator_determine_compute_sync_impl.h.
"""

from __future__ import annotations

import sys
from typing import Any

from simulator.core import current_core
from simulator.enums import Arch, HardEvent, PipeID
from simulator.isa.block_slots import SLOT, called_from, check_workspaces, flag, poll, slots
from simulator.isa.data_copy import DataCopy
from simulator.isa.families import declare, publish, spec_for
from simulator.isa.fill import Duplicate
from simulator.isa.sync import barrier

_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/同步控制/核间同步/{}.md"


def _init_order_rule() -> None:
    """Prepare the workspace with which blocks take turns in the order of their index."""


def _wait_order_rule() -> None:
    """Wait until all lower blocks have called NotifyNextBlock in this turn."""


def _notify_order_rule() -> None:
    """Let the next block go on."""


def _declare(rule: Any, name: str, page: str) -> Any:
    return declare(
        rule, "sync", (), {Arch.DAV_2201: "", Arch.DAV_3510: ""}, _PAGE.format(page),
        pipe=PipeID.PIPE_S, forms=("cross core",), name=name,
    )  # fmt: skip


_INIT_ORDER = _declare(
    _init_order_rule, "InitDetermineComputeWorkspace", "InitDetermineComputeWorkspace"
)
_WAIT_ORDER = _declare(_wait_order_rule, "WaitPreBlock", "WaitPreBlock")
_NOTIFY_ORDER = _declare(_notify_order_rule, "NotifyNextBlock", "NotifyNextBlock")


def InitDetermineComputeWorkspace(gmWorkspace: Any, ubWorkspace: Any) -> None:
    """Prepare WaitPreBlock and NotifyNextBlock; UB holds 32 bytes more than GM."""
    core = current_core()
    with called_from(core, sys._getframe(1)):
        spec = spec_for("InitDetermineComputeWorkspace", core)
        whole = SLOT * core.block_num
        check_workspaces(spec, gmWorkspace, ubWorkspace, whole, whole + SLOT)
        frame = core.caller or core.kernel_site
        barrier(core, PipeID.PIPE_ALL, frame)
        if core.block_idx == 0:
            Duplicate(ubWorkspace, 0, whole)
            flag(core, HardEvent.V_MTE3)
            DataCopy(gmWorkspace, ubWorkspace, whole)
        ubWorkspace.SetValue(whole, 1)
        barrier(core, PipeID.PIPE_ALL, frame)


def WaitPreBlock(gmWorkspace: Any, ubWorkspace: Any) -> None:
    """Wait until every lower block has called NotifyNextBlock as often as this one will have."""
    core = current_core()
    with called_from(core, sys._getframe(1)):
        spec = spec_for("WaitPreBlock", core)
        count, index = core.block_num, core.block_idx
        whole = SLOT * count
        check_workspaces(spec, gmWorkspace, ubWorkspace, whole, whole + SLOT)
        frame = core.caller or core.kernel_site
        barrier(core, PipeID.PIPE_ALL, frame)
        turn = ubWorkspace.GetValue(whole)
        wanted = [turn] * index + [0] * (count - index)
        poll(
            core,
            spec,
            lambda: slots(gmWorkspace, count).tolist() == wanted,
            lambda: (
                f"WaitPreBlock, turn {turn}: the slots in GM hold "
                f"{slots(gmWorkspace, count).tolist()} and not {wanted}"
            ),
        )
        DataCopy(ubWorkspace, gmWorkspace, whole)
        flag(core, HardEvent.MTE2_S)
        flag(core, HardEvent.S_MTE2)
        barrier(core, PipeID.PIPE_ALL, frame)


def NotifyNextBlock(gmWorkspace: Any, ubWorkspace: Any) -> None:
    """Let the next block pass WaitPreBlock; the last block starts the next turn."""
    core = current_core()
    with called_from(core, sys._getframe(1)):
        spec = spec_for("NotifyNextBlock", core)
        count, index = core.block_num, core.block_idx
        whole = SLOT * count
        check_workspaces(spec, gmWorkspace, ubWorkspace, whole, whole + SLOT)
        frame = core.caller or core.kernel_site
        barrier(core, PipeID.PIPE_ALL, frame)
        turn = ubWorkspace.GetValue(whole)
        if index + 1 == count:
            Duplicate(ubWorkspace, 0, whole)
            flag(core, HardEvent.V_MTE3)
            DataCopy(gmWorkspace, ubWorkspace, whole)
        else:
            own = SLOT * index
            flag(core, HardEvent.S_V)
            Duplicate(ubWorkspace[own], turn, SLOT)
            flag(core, HardEvent.V_MTE3)
            DataCopy(gmWorkspace[own], ubWorkspace[own], SLOT)
        ubWorkspace.SetValue(whole, turn + 1)
        barrier(core, PipeID.PIPE_ALL, frame)


for _call, _spec in (
    (InitDetermineComputeWorkspace, _INIT_ORDER), (WaitPreBlock, _WAIT_ORDER),
    (NotifyNextBlock, _NOTIFY_ORDER),
):  # fmt: skip
    publish(_call, _spec)
