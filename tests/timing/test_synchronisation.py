"""Waits that cost time: queues, scalar access, automatic synchronisation, other cores, mutexes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from simulator.ascendc import (
    PIPE_MTE2,
    PIPE_V,
    Adds,
    CrossCoreSetFlag,
    CrossCoreWaitFlag,
    DataCopy,
    GetBlockIdx,
    GlobalTensor,
    LocalTensor,
    Mutex,
    SyncAll,
    TPosition,
    UnaryRepeatParams,
    float32,
    kernel,
)
from simulator.enums import PipeID
from simulator.platforms import load_platform

B1 = load_platform("910b1")


def ub(place: int, count: int = 2048) -> LocalTensor:
    return LocalTensor(float32, TPosition.VECCALC, place, count)


def named(run: Any, name: str, block: int = 0) -> list[Any]:
    return [i for i in run.instructions if i.name.endswith(name) and i.block == block]


# -- scalar unit -----------------------------------------------------------------------------------


def reading_a_result(auto_sync: bool) -> Any:
    @kernel(auto_sync=auto_sync)
    def body() -> None:
        x = ub(0)
        Adds(x, x, 1.0, 2048)
        x.GetValue(0)

    return body[1]()


def test_a_scalar_read_waits_for_the_vector_call_that_writes_its_element() -> None:
    run = reading_a_result(auto_sync=True)
    [add], [get] = named(run, "Adds"), named(run, "GetValue")
    # The flag takes ten cycles, the access eleven.
    assert get.end == add.end + 10 + 10
    assert get.waited_for == "auto sync"
    assert run.timeline.waits(0)["auto sync"] == get.wait


def test_without_automatic_synchronisation_a_scalar_read_does_not_wait() -> None:
    run = reading_a_result(auto_sync=False)
    [add], [get] = named(run, "Adds"), named(run, "GetValue")
    assert get.end < add.end


def test_a_scalar_read_of_other_bytes_does_not_wait() -> None:
    @kernel
    def body() -> None:
        Adds(ub(0), ub(0), 1.0, 2048)
        ub(0x10000).GetValue(0)

    run = body[1]()
    assert named(run, "GetValue")[0].end < named(run, "Adds")[0].end


# z = x + y element by element: 34 cycles for two reads, an addition and a write (asc-devkit
# add_high_performance, 910B).
def test_a_scalar_loop_takes_the_measured_cycles() -> None:
    @kernel
    def body(count: int) -> None:
        for i in range(count):
            ub(0x4000).SetValue(i, ub(0).GetValue(i) + ub(0x2000).GetValue(i))

    long, short = body[1](600), body[1](100)
    assert (long.cycles - short.cycles) / 500 == pytest.approx(34, rel=0.04)


def test_a_queue_holds_32_instructions() -> None:
    @kernel(auto_sync=False)
    def body(calls: int) -> None:
        for k in range(calls):
            Adds(ub(8192 * (k % 8)), ub(0x10000), 1.0, 64, 32, UnaryRepeatParams())

    run = body[1](40)
    calls = named(run, "Adds")
    # Calls are issued every 3 cycles and start every 32; the queue is full from the 37th on.
    assert calls[35].issued == calls[0].issued + 35 * 3
    assert [calls[k].issued for k in (37, 38)] == [calls[k - 32].start for k in (37, 38)]


# -- mutexes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("hop", [10, 30])
def test_a_lock_waits_for_the_unlock_before_it_as_for_a_flag(hop: int) -> None:
    @kernel(auto_sync=False)
    def body(x: Any) -> None:
        gm, tile = GlobalTensor(float32), ub(0)
        gm.SetGlobalBuffer(x)
        for _ in range(3):
            Mutex.Lock(PIPE_MTE2, 0)
            DataCopy(tile, gm, 2048)
            Mutex.Unlock(PIPE_MTE2, 0)
            Mutex.Lock(PIPE_V, 0)
            Adds(tile, tile, 1.0, 2048)
            Mutex.Unlock(PIPE_V, 0)

    chip = load_platform("950").override(**{"timing.flag_hop_cycles": hop})
    run = body.launch(1, np.zeros(2048, np.float32), platform=chip)
    turns = sorted((*named(run, "DataCopy"), *named(run, "Adds")), key=lambda i: i.start)
    assert [i.name for i in turns] == ["DataCopy", "Adds"] * 3
    for one, after in itertools.pairwise(turns):
        assert after.start == one.end + hop
    assert all(i.waited_for == "mutex" for i in turns[1:])


def test_a_lock_that_nobody_held_costs_nothing() -> None:
    @kernel
    def body() -> None:
        for number in range(3):
            Mutex.Lock(PIPE_V, number)
            Adds(ub(0), ub(0), 1.0, 64, 8, UnaryRepeatParams())
            Mutex.Unlock(PIPE_V, number)

    run = body.launch(1, platform="950")
    assert "mutex" not in run.timeline.waits(int(PipeID.PIPE_V))


def test_an_unlock_behind_the_last_work_is_part_of_its_block() -> None:
    @kernel
    def body() -> None:
        Mutex.Lock(PIPE_V, 0)
        Adds(ub(0), ub(0), 1.0, 64, 8, UnaryRepeatParams())
        Mutex.Unlock(PIPE_V, 0)

    run = body.launch(1, platform="950")
    [call], [unlock] = named(run, "Adds"), named(run, "Unlock")
    assert (unlock.start, unlock.end) == (call.end, call.end + 1)
    assert run.cycles == unlock.end
    assert min(run.critical_path.slack(0)) == 0


# -- other cores -----------------------------------------------------------------------------------


def late(block: int) -> int:
    return 4 if block == 2 else 1


@kernel
def meeting(times: int) -> None:
    x = ub(0)
    for _ in range(times):
        for _ in range(late(GetBlockIdx())):
            Adds(x, x, 1.0, 2048)
        SyncAll()
    Adds(x, x, 1.0, 2048)


HOP = round(B1.timing.cycles(B1.timing.cross_core_hop_ns))


@pytest.mark.parametrize("times", [1, 3])
def test_sync_all_waits_for_the_last_core(times: int) -> None:
    run = meeting[4](times)
    last = [named(run, "Adds", block)[-1].start for block in range(4)]
    arrival = named(run, "Adds", 2)[-2].end
    assert len(set(last)) == 1
    assert last[0] >= arrival + HOP
    assert run.timeline.waits(0)["other cores"] > 0


def test_cores_that_arrive_together_still_pay_the_way_through_memory() -> None:
    @kernel
    def body(sync: bool) -> None:
        Adds(ub(0), ub(0), 1.0, 2048)
        if sync:
            SyncAll()
        Adds(ub(0), ub(0), 1.0, 2048)

    with_sync, without = body[48](True), body[48](False)
    assert with_sync.timeline.distinct_streams == 1
    assert with_sync.cycles >= without.cycles + HOP


def test_a_flag_between_the_cores_of_a_pair_reaches_that_pair_only() -> None:
    @kernel(task_ratio=2)
    def body() -> None:
        x = ub(0)
        for _ in range(late(GetBlockIdx())):
            Adds(x, x, 1.0, 2048)
        CrossCoreSetFlag(1, PIPE_V, 3)
        CrossCoreWaitFlag(1, PIPE_V, 3)
        Adds(x, x, 1.0, 2048)

    run = body[2]()
    first = [named(run, "Adds", block)[-1].start for block in range(4)]
    assert first[0] == first[1]
    assert first[2] == first[3]
    assert first[2] > first[0]


def test_every_cycle_has_a_reason_when_cores_wait_for_each_other() -> None:
    line = meeting[5](2).timeline
    for pipe in (0, 1, 4, 5):
        assert line.busy(pipe) + sum(line.waits(pipe).values()) == line.cycles * line.cores


# -- start-up and launch ---------------------------------------------------------------------------


@kernel
def one_copy(x: Any) -> None:
    gm = GlobalTensor(float32)
    gm.SetGlobalBuffer(x + GetBlockIdx() * 4096)
    DataCopy(ub(0), gm, 1024)


def test_a_task_is_its_launch_its_start_up_and_its_work() -> None:
    timing = B1.timing
    for blocks in (1, 48):
        line = one_copy[blocks](np.zeros(48 * 1024, np.float32)).timeline
        launch = timing.launch_ns + timing.launch_per_block_ns * blocks
        assert line.task_microseconds - line.microseconds == pytest.approx(launch / 1000)
        assert line.blocks[0].start == round(timing.cycles(timing.block_start_ns))
