"""What must hold for every kernel: more work or more waiting never takes less time, and so on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.analysis.hotspots import hotspots
from simulator.ascendc import (
    PIPE_ALL,
    PIPE_MTE2,
    PIPE_MTE3,
    PIPE_V,
    Add,
    Adds,
    BinaryRepeatParams,
    DataCopy,
    GetBlockIdx,
    GlobalTensor,
    HardEvent,
    LocalTensor,
    PipeBarrier,
    SetFlag,
    TPosition,
    UnaryRepeatParams,
    WaitFlag,
    float32,
    kernel,
)
from simulator.enums import PipeID
from simulator.platforms import load_platform
from simulator.timing import timeline as timeline_module
from simulator.timing.schedule import ALL_PIPES, S

REGION = 8192
"""Elements of one of four regions of UB and of one of a block's GM."""
EVENTS = (
    HardEvent.MTE2_V, HardEvent.V_MTE3, HardEvent.V_MTE2, HardEvent.MTE3_V, HardEvent.MTE3_MTE2,
    HardEvent.MTE2_MTE3,
)  # fmt: skip


@dataclass(frozen=True)
class Step:
    """One instruction (or a pair of flag calls) of a random kernel.

    ``size`` is in units of 64 elements for copies and in repeats for vector calls; ``place`` picks
    the region or the event.
    """

    kind: str
    place: int
    size: int = 1


@kernel
def play(x: Any, steps: tuple[Step, ...], uneven: bool) -> None:
    gm = GlobalTensor(float32)
    gm.SetGlobalBuffer(x + GetBlockIdx() * 4 * REGION * 4)
    ub = [LocalTensor(float32, TPosition.VECCALC, k * REGION * 4, REGION) for k in range(4)]
    for _ in range(1 + (GetBlockIdx() % 3 if uneven else 0)):
        for step in steps:
            one, other = ub[step.place % 4], ub[(step.place + 1) % 4]
            if step.kind == "in":
                DataCopy(one, gm[step.place % 4 * REGION], step.size * 64)
            elif step.kind == "out":
                DataCopy(gm[step.place % 4 * REGION], one, step.size * 64)
            elif step.kind == "adds":
                Adds(one, one, 1.0, 64, step.size, UnaryRepeatParams())
            elif step.kind == "add":
                Add(one, other, ub[(step.place + 2) % 4], 64, step.size, BinaryRepeatParams())
            elif step.kind == "count":
                Adds(one, other, 1.0, step.size * 64)
            elif step.kind == "get":
                one.GetValue(step.size)
            elif step.kind == "flag":
                SetFlag(EVENTS[step.place % len(EVENTS)], 0)
                WaitFlag(EVENTS[step.place % len(EVENTS)], 0)
            else:
                PipeBarrier((PIPE_V, PIPE_MTE2, PIPE_MTE3, PIPE_ALL)[step.place % 4])


SIZED = ("in", "out", "adds", "add", "count")
steps = st.lists(
    st.builds(
        Step,
        st.sampled_from((*SIZED, "get", "flag", "barrier")),
        st.integers(0, 23),
        st.integers(1, 100),
    ),
    min_size=1,
    max_size=14,
)
kernels = st.tuples(steps, st.sampled_from((1, 3, 48)), st.booleans())
platforms = pytest.mark.parametrize("platform", ["910b1", "950"])
GM = np.zeros(64 * 4 * REGION, np.float32)


def run(program: Any, blocks: int, uneven: bool, platform: Any) -> Any:
    return play.launch(blocks, GM, tuple(program), uneven, platform=platform)


@platforms
@settings(deadline=None, max_examples=40)
@given(kernels, st.data())
def test_more_bytes_or_repeats_never_take_less_time(platform: str, chosen: Any, data: Any) -> None:
    program, blocks, uneven = chosen
    at = data.draw(st.integers(0, len(program) - 1))
    step = program[at]
    more = data.draw(st.integers(0, 28)) if step.kind in SIZED else 0
    larger = [*program[:at], replace(step, size=step.size + more), *program[at + 1 :]]
    before, after = (run(p, blocks, uneven, platform).cycles for p in (program, larger))
    assert after >= before


@platforms
@settings(deadline=None, max_examples=40)
@given(kernels, st.data())
def test_more_waiting_never_takes_less_time(platform: str, chosen: Any, data: Any) -> None:
    program, blocks, uneven = chosen
    at = data.draw(st.integers(0, len(program)))
    wait = Step(data.draw(st.sampled_from(("flag", "barrier"))), data.draw(st.integers(0, 23)))
    before = run(program, blocks, uneven, platform).cycles
    assert run([*program[:at], wait, *program[at:]], blocks, uneven, platform).cycles >= before


RATES = (
    "read_rate_gbps", "write_rate_gbps", "read_burst_rate_gbps", "write_burst_rate_gbps",
    "read_cap_gbps", "write_cap_gbps", "write_back_cap_gbps", "l2_hit_rate_gbps", "l2_hit_cap_gbps",
)  # fmt: skip


@platforms
@settings(deadline=None, max_examples=40)
@given(kernels, st.sampled_from(RATES), st.floats(1.01, 8.0), st.booleans())
def test_more_bandwidth_never_slows_a_kernel(
    platform: str, chosen: Any, key: str, factor: float, little_l2: bool
) -> None:
    program, blocks, uneven = chosen
    slow = load_platform(platform)
    if little_l2:
        slow = slow.override(**{"memory.l2_bytes": 1 << 15})
    fast = slow.override(**{f"timing.{key}": getattr(slow.timing, key) * factor})
    assert run(program, blocks, uneven, fast).cycles <= run(program, blocks, uneven, slow).cycles


@platforms
@settings(deadline=None, max_examples=40)
@given(kernels)
def test_busy_cycles_and_waits_of_every_pipe_add_up(platform: str, chosen: Any) -> None:
    line = run(*chosen, platform).timeline
    for pipe in ALL_PIPES:
        assert line.busy(pipe) + sum(line.waits(pipe).values()) == line.cycles * line.cores
        for block in line.blocks:
            stream = block.stream
            assert stream.busy[pipe] + sum(stream.waits[pipe].values()) == stream.total


# Around and per repeat as published (hw-native-sys/pto-isa, a comment and fitted tables): Add with
# both sources in one bank group 2 r + 24, Adds r + 25; on 950 Add 55.07 + 1.247 n up to 32 loops.
@settings(deadline=None, max_examples=40)
@given(st.integers(1, 100), st.integers(0, 23))
def test_a_kernel_of_one_call_costs_what_is_around_it_and_its_repeats(
    size: int, place: int
) -> None:
    for kind, around, each in (("add", 24, 2), ("adds", 25, 1)):
        launched = run([Step(kind, place, size)], 1, False, "910b1")
        [call] = [i for i in launched.instructions if i.pipe == "V"]
        assert call.end - call.start == around + each * size
        assert launched.timeline.busy(int(PipeID.PIPE_V)) == around + each * size
    launched = run([Step("add", place, min(size, 32))], 1, False, "950")
    assert launched.timeline.busy(int(PipeID.PIPE_V)) == round(55.07 + 1.247 * min(size, 32))


@platforms
@settings(deadline=None, max_examples=25)
@given(kernels)
def test_rows_of_instructions_and_of_lines_add_up_to_the_totals(platform: str, chosen: Any) -> None:
    launched = run(*chosen, platform)
    line = launched.timeline
    lines = hotspots(launched)
    for pipe in ALL_PIPES:
        label = PipeID(pipe).label
        own = [i for i in launched.instructions if i.pipe == label]
        assert len(own) == line.instructions(pipe)
        if pipe == S:
            # It issues what runs elsewhere, which takes it cycles that no row shows.
            continue
        assert sum(use.cycles for use in lines if use.pipe == label) == line.busy(pipe)
        told = line.waits(pipe)
        # No instruction is there for the idle cycles of the start and behind the last one.
        unowned = told.pop("start-up", 0) + told.pop("finished", 0)
        assert sum(i.wait for i in own) == sum(told.values())
        assert line.busy(pipe) + sum(told.values()) + unowned == line.cycles * line.cores


@platforms
@settings(deadline=None, max_examples=25)
@given(kernels)
def test_folding_equal_streams_changes_no_number(platform: str, chosen: Any) -> None:
    launched = run(*chosen, platform)
    folded = launched.timeline
    assert folded.distinct_streams <= (3 if chosen[2] else 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timeline_module, "_needs_neighbours", lambda _: True)
        del launched.__dict__["timeline"]
        alone = launched.timeline
    assert alone.distinct_streams == len(launched.blocks)
    for one, other in zip(folded.blocks, alone.blocks, strict=True):
        assert one[:3] == other[:3]
        for name in ("issued", "start", "end", "wait", "reason", "busy", "waits", "total"):
            assert getattr(one.stream, name) == getattr(other.stream, name)


@platforms
@settings(deadline=None, max_examples=25)
@given(kernels)
def test_instructions_of_a_pipe_start_in_order(platform: str, chosen: Any) -> None:
    last: dict[tuple[int, str], int] = {}
    for i in run(*chosen, platform).instructions:
        if i.name == "SetFlag":
            # A flag goes up when the work before it is done; what comes behind need not wait.
            continue
        assert i.issued <= i.start or i.pipe == "S"
        assert i.start <= i.end
        assert i.start >= last.get((i.block, i.pipe), 0)
        last[i.block, i.pipe] = i.start


def test_a_kernel_without_instructions_takes_its_start_up_only() -> None:
    launched = run([], 1, False, "910b1")
    assert launched.cycles == launched.timeline.start_cycles
