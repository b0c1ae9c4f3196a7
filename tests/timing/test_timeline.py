"""The timeline of small kernels against cycles worked out by hand from the cost rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator.ascendc import (
    PIPE_ALL,
    PIPE_V,
    Add,
    BinaryRepeatParams,
    DataCopy,
    GetBlockIdx,
    GlobalTensor,
    HardEvent,
    PipeBarrier,
    SetFlag,
    TBuf,
    TPipe,
    WaitFlag,
    float32,
    kernel,
)
from simulator.platforms import load_platform

B1 = load_platform("910b1")
ADD_HEAD_TAIL, ADD_STREAM_MIN = 24, 3.09


def adds(repeats: int, calls: int, *, barrier: bool, auto_sync: bool = False) -> Any:
    """Adds whose sources lie in different bank groups and whose result lies in another bank."""

    @kernel(auto_sync=auto_sync)
    def body() -> None:
        pipe, buf = TPipe(), TBuf()
        pipe.InitBuffer(buf, 0x20000 + 256 * repeats)
        x, y, z = (
            buf.GetWithOffset(64 * repeats, place, float32) for place in (0, 0x10100, 0x20000)
        )
        for _ in range(calls):
            Add(z, x, y, 64, repeats, BinaryRepeatParams())
            if barrier:
                PipeBarrier(PIPE_V)

    return body


def vector_times(run: Any) -> list[tuple[int, int]]:
    return [(i.start, i.end) for i in run.instructions if i.name == "Add"]


def test_one_call_costs_head_slope_and_tail() -> None:
    run = adds(32, 1, barrier=False)[1]()
    [(start, end)] = vector_times(run)
    assert end - start == ADD_HEAD_TAIL + 32


def test_streamed_calls_start_a_slope_apart_and_barriers_end_the_stream() -> None:
    streamed = vector_times(adds(32, 3, barrier=False)[1]())
    serial = vector_times(adds(32, 3, barrier=True)[1]())
    assert streamed[1][0] - streamed[0][0] == 32
    assert serial[1][0] == serial[0][1]


def test_short_streamed_calls_are_limited_by_the_issue_interval() -> None:
    times = vector_times(adds(1, 2, barrier=False)[1]())
    assert times[1][0] - times[0][0] == round(ADD_STREAM_MIN)


def copies(count: int) -> Any:
    @kernel(auto_sync=False)
    def body(x: Any) -> None:
        pipe, buf = TPipe(), TBuf()
        pipe.InitBuffer(buf, 8192 * count)
        gm = GlobalTensor(float32)
        gm.SetGlobalBuffer(x + GetBlockIdx() * count * 8192)
        for k in range(count):
            DataCopy(buf.GetWithOffset(2048, k * 8192, float32), gm[k * 2048], 2048)

    return body


# One core of a 910B1: max(134 + 6.5 * KiB, 12.2 * KiB) ns a copy (msKPP table), one after another.
@pytest.mark.parametrize("count", [1, 2, 4])
def test_copies_of_one_core_take_turns(count: int) -> None:
    run = copies(count)[1](np.zeros(2048 * count, np.float32))
    first, last = run.instructions[0], run.instructions[count - 1]
    nanoseconds = count * max(134 + 6.5 * 8, 12.2 * 8)
    assert last.end - first.start == pytest.approx(nanoseconds * 1.85, rel=0.01)


# 950: 203 ns to the first byte, then 62 GB/s (Add of one core: 467 ns for two copies of 8 KiB).
@pytest.mark.parametrize("count", [1, 2, 4])
def test_copies_of_a_950_share_one_latency(count: int) -> None:
    run = copies(count).launch(1, np.zeros(2048 * count, np.float32), platform="950")
    first, last = run.instructions[0], run.instructions[count - 1]
    nanoseconds = 203 + count * 8192 / 62
    assert last.end - first.start == pytest.approx(nanoseconds * 1.65, rel=0.01)


def test_every_cycle_of_every_pipe_is_busy_or_has_a_reason() -> None:
    @kernel(auto_sync=False)
    def body(x: Any, z: Any) -> None:
        pipe, buf = TPipe(), TBuf()
        pipe.InitBuffer(buf, 4096)
        t = buf.Get(float32)
        gm, out = GlobalTensor(float32), GlobalTensor(float32)
        gm.SetGlobalBuffer(x)
        out.SetGlobalBuffer(z)
        for _ in range(1 + GetBlockIdx() % 3):
            DataCopy(t, gm, 1024)
            SetFlag(HardEvent.MTE2_V, 0)
            WaitFlag(HardEvent.MTE2_V, 0)
            Add(t, t, t, 1024)
            SetFlag(HardEvent.V_MTE3, 0)
            WaitFlag(HardEvent.V_MTE3, 0)
            DataCopy(out, t, 1024)
            PipeBarrier(PIPE_ALL)

    run = body[60](np.ones(1024, np.float32), np.zeros(1024, np.float32))
    timeline = run.timeline
    for pipe in (0, 1, 4, 5):
        whole = timeline.busy(pipe) + sum(timeline.waits(pipe).values())
        assert whole == timeline.cycles * timeline.cores


def test_a_wait_before_its_set_in_program_order_is_scheduled_after_the_set() -> None:
    @kernel(auto_sync=False)
    def body(x: Any) -> None:
        pipe, buf = TPipe(), TBuf()
        pipe.InitBuffer(buf, 4096)
        t = buf.Get(float32)
        gm = GlobalTensor(float32)
        gm.SetGlobalBuffer(x)
        WaitFlag(HardEvent.MTE2_V, 0)
        Add(t, t, t, 1024)
        DataCopy(t, gm, 1024)
        SetFlag(HardEvent.MTE2_V, 0)

    run = body[1](np.arange(1024, dtype=np.float32))
    _, add, copy, *_ = run.instructions
    assert add.start >= copy.end
    assert add.waited_for == "flag MTE2_V"


def test_equal_blocks_are_scheduled_once_and_count_fully() -> None:
    run = copies(2)[48](np.zeros(48 * 4096, np.float32))
    assert run.timeline.distinct_streams == 1
    assert run.timeline.instructions(4) == 96


def test_blocks_beyond_the_cores_run_in_further_rounds() -> None:
    body = copies(2)
    x = np.zeros(49 * 4096, np.float32)
    one_block, one_round, two_rounds = body[1](x), body[48](x), body[49](x)
    assert two_rounds.timeline.cores == 48
    last = two_rounds.timeline.blocks[48]
    assert last.core == 0
    assert last.start == one_round.timeline.blocks[0].end + one_round.timeline.start_cycles
    # The last block has the memory for itself.
    assert last.stream.total == one_block.timeline.blocks[0].stream.total


def test_more_cores_share_the_bandwidth_of_the_memory() -> None:
    body = copies(4)
    x = np.zeros(48 * 8192, np.float32)
    alone, together = body[1](x).timeline, body[48](x).timeline
    work = [t.cycles - t.start_cycles for t in (alone, together)]
    own, share = B1.timing.read_rate_gbps, B1.timing.read_cap_gbps / 48
    assert own > share
    assert work[1] > work[0]


def test_a_full_queue_stops_the_scalar_unit() -> None:
    run = adds(32, 200, barrier=False)[1]()
    assert run.timeline.waits(0).get("queue full", 0) > 0
    assert adds(32, 20, barrier=False)[1]().timeline.waits(0).get("queue full", 0) == 0
    endless = run.what_if(**{"timing.queue_depth": 10**12}).run
    assert endless.timeline.waits(0).get("queue full", 0) == 0


def test_calls_without_a_cost_row_are_listed_as_unmeasured(monkeypatch: Any) -> None:
    from simulator.timing.cost_table import CostTable

    known = adds(1, 1, barrier=False)[1]()
    assert known.timeline.unmeasured == []
    monkeypatch.setattr(CostTable, "find", lambda *_: None)
    unknown = adds(1, 1, barrier=False)[1]()
    assert unknown.timeline.unmeasured == ["Add float"]
    report = unknown.report()
    assert "unmeasured" in report
    assert "Add float" in report


def test_timing_of_the_950_is_called_provisional() -> None:
    run = adds(1, 1, barrier=False).launch(1, platform="950")
    assert "provisional" in run.report()
