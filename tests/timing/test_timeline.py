"""The timeline of small kernels against cycles worked out by hand from the cost rows."""

from __future__ import annotations

from math import ceil
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


def adds(repeats: int, calls: int, *, barrier: bool) -> Any:
    @kernel(auto_sync=False)
    def body() -> None:
        pipe, buf = TPipe(), TBuf()
        pipe.InitBuffer(buf, 3 * 256 * repeats)
        x, y, z = (buf.GetWithOffset(64 * repeats, k * 256 * repeats, float32) for k in range(3))
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
    assert times[1][0] - times[0][0] == ceil(ADD_STREAM_MIN)


def copies(count: int) -> Any:
    @kernel(auto_sync=False)
    def body(x: Any) -> None:
        pipe, buf = TPipe(), TBuf()
        pipe.InitBuffer(buf, 8192 * count)
        gm = GlobalTensor(float32)
        gm.SetGlobalBuffer(x)
        for k in range(count):
            DataCopy(buf.GetWithOffset(2048, k * 8192, float32), gm[k * 2048], 2048)

    return body


@pytest.mark.parametrize("count", [1, 2, 4])
def test_copies_pay_the_latency_once_and_the_data_each(count: int) -> None:
    run = copies(count)[1](np.zeros(2048 * count, np.float32))
    first, last = run.instructions[0], run.instructions[count - 1]
    latency = ceil(122 * 1.85)
    data = ceil(8192 / (84.0 * 1000 / 1850))
    assert last.end - first.start == pytest.approx(latency + count * data, rel=0.02)


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
    run = copies(2)[48](np.zeros(4096, np.float32))
    assert run.timeline.distinct_streams == 1
    assert run.timeline.instructions(4) == 96


def test_blocks_beyond_the_cores_run_in_further_rounds() -> None:
    body = copies(2)
    x = np.zeros(4096, np.float32)
    one_round, two_rounds = body[48](x), body[49](x)
    assert two_rounds.cycles == 2 * one_round.cycles
    assert two_rounds.timeline.cores == 48


def test_more_cores_share_the_bandwidth_of_the_memory() -> None:
    body = copies(4)
    x = np.zeros(8192, np.float32)
    alone, together = body[1](x).timeline, body[48](x).timeline
    work = [t.cycles - t.start_cycles for t in (alone, together)]
    own, share = B1.timing.read_rate_gbps, B1.timing.read_cap_gbps / 48
    assert own > share
    assert work[1] > work[0]


def test_a_full_queue_stops_the_scalar_unit() -> None:
    run = adds(32, 200, barrier=False)[1]()
    assert run.timeline.waits(0).get("queue full", 0) > 0
    assert adds(32, 20, barrier=False)[1]().timeline.waits(0).get("queue full", 0) == 0


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
