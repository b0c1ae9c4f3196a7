"""Waits through global memory: a block goes on when the stores that it polls for are complete."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator.ascendc import (
    Adds,
    GetBlockIdx,
    GlobalTensor,
    IBSet,
    IBWait,
    InitDetermineComputeWorkspace,
    LocalTensor,
    NotifyNextBlock,
    SyncAll,
    TPipe,
    TPosition,
    WaitPreBlock,
    float32,
    int32_t,
    kernel,
)
from simulator.run import Run

SLOT = 8
"""Elements of a block's 32 bytes."""
LATE = 200
"""Calls by which block 2 is late."""


def ub(place: int, count: int = 2048) -> LocalTensor:
    return LocalTensor(float32, TPosition.VECCALC, place, count)


def work(calls: int) -> None:
    x = ub(0x10000)
    for _ in range(calls):
        Adds(x, x, 1.0, 2048)


def workspaces(address: Any, slots: int) -> tuple[GlobalTensor, LocalTensor]:
    tensor = GlobalTensor(int32_t)
    tensor.SetGlobalBuffer(address, slots * SLOT)
    return tensor, LocalTensor(int32_t, TPosition.VECCALC, 0, slots * SLOT)


@kernel
def meeting(address: Any, times: int) -> None:
    TPipe()
    gm, local = workspaces(address, 4)
    for _ in range(times):
        work(LATE if GetBlockIdx() == 2 else 1)
        SyncAll(gm, local)
    work(1)


@kernel
def relay(address: Any) -> None:
    """Block 0 waits for block 2 and nobody else waits."""
    TPipe()
    gm, local = workspaces(address, 4)
    work(LATE if GetBlockIdx() == 2 else 1)
    if GetBlockIdx() == 2:
        IBSet(gm, local, 2, 0)
    if GetBlockIdx() == 0:
        IBWait(gm, local, 2, 0)
    work(1)


@kernel
def in_turn(address: Any) -> None:
    """Each block works when the one before has finished."""
    TPipe()
    gm, local = workspaces(address, 5)
    InitDetermineComputeWorkspace(gm, local)
    SyncAll()
    WaitPreBlock(gm, local)
    work(20)
    NotifyNextBlock(gm, local)


def launch(body: Any, *arguments: Any) -> Run:
    run: Run = body.launch(4, np.zeros(5 * SLOT, np.int32), *arguments)
    return run


def calls(run: Run, block: int) -> list[Any]:
    return [i for i in run.instructions if i.name == "Adds" and i.block == block]


@pytest.mark.parametrize("times", [1, 3])
def test_no_block_leaves_sync_all_before_the_last_one_has_come(times: int) -> None:
    run = launch(meeting, times)
    late = calls(run, 2)[-2].end
    assert all(calls(run, block)[-1].start > late for block in range(4))
    # Those that were there first have waited for the one that was late, each time.
    waited = run.timeline.blocks[0].stream.waits[0]["other cores"]
    assert waited >= times * 0.8 * (LATE - 1) * 56


def test_a_block_waits_for_the_block_that_it_names_only() -> None:
    run = launch(relay)
    late = calls(run, 2)[LATE - 1].end
    assert calls(run, 0)[-1].start > late
    assert calls(run, 1)[-1].end < late
    assert calls(run, 3)[-1].end < late


def test_blocks_in_turn_do_not_overlap() -> None:
    run = launch(in_turn)
    for block in range(1, 4):
        assert calls(run, block)[0].start > calls(run, block - 1)[-1].end


def test_the_way_through_memory_costs_time() -> None:
    run = launch(meeting, 1)
    [store] = [
        i for i in run.instructions if i.block == 2 and i.pipe == "MTE3" and i.name == "DataCopy"
    ]
    first = calls(run, 0)[-1]
    assert first.start >= store.end + run.platform.timing.cycles(
        run.platform.timing.read_latency_ns
    )


def test_every_cycle_has_a_reason_when_blocks_poll() -> None:
    line = launch(in_turn).timeline
    for pipe in (0, 1, 4, 5):
        assert line.busy(pipe) + sum(line.waits(pipe).values()) == line.cycles * line.cores


def test_a_saved_run_and_another_chip_wait_as_well(tmp_path: Any) -> None:
    run = launch(relay)
    run.save(tmp_path / "relay.ascrun")
    assert Run.load(tmp_path / "relay.ascrun").cycles == run.cycles
    slower = run.what_if(**{"timing.clock_mhz": 900}).run
    assert calls(slower, 0)[-1].start > calls(slower, 2)[LATE - 1].end
