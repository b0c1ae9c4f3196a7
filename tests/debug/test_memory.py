"""Memories at any moment: what they hold does not depend on the way there."""

from __future__ import annotations

import numpy as np
import pytest
from recorded import (
    TILE,
    backwards,
    hanging,
    meeting,
    operator_launch,
    queued,
    racy,
    record,
)

from simulator.debug import MACHINE, PROGRAM, Session
from simulator.instruction import READ


def launches(arrays):
    x, y = arrays
    return {
        "queued": lambda: record(queued, 2, x, y, 3),
        "racy": lambda: record(racy, 1, x, y),
        "backwards": lambda: record(backwards, 1, x, y),
        "meeting": lambda: record(meeting, 2, x, y),
        "hanging": lambda: record(hanging, 2, x, y),
        "hardswish": lambda: operator_launch("hardswish_backward_v2", (40, 512), "float16")[0],
        "max_pooling": lambda: operator_launch("max_pooling_grad", (40, 512), "float32")[0],
    }


NAMES = ("queued", "racy", "backwards", "meeting", "hanging", "hardswish", "max_pooling")


def digest(moment):
    return (
        moment.ub.tobytes(),
        moment.local.cmpmask.tobytes(),
        moment.local.reduce_registers.tobytes(),
        tuple(data.tobytes() for data in moment.memory.values() if data.size < 1 << 20),
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_instruction_has_the_same_memory_from_the_start_and_from_the_end(arrays, name):
    recorded = launches(arrays)[name]()
    forwards, backwards_ = Session(recorded), Session(recorded)
    backwards_.history._checkpoints = [[] for _ in backwards_.run.blocks]
    moments = [
        (block.index, index)
        for block in forwards.run.blocks[:3]
        for index in range(len(block.entries) + 1)
    ]
    seen = {}
    for block, index in moments:
        forwards.to_instruction(index, block)
        seen[block, index] = hash(digest(forwards.moment))
    for block, index in reversed(moments):
        backwards_.to_instruction(index, block)
        assert hash(digest(backwards_.moment)) == seen[block, index], (block, index)


@pytest.mark.parametrize("name", NAMES)
def test_a_cycle_holds_exactly_the_effects_of_the_instructions_that_ended_by_then(arrays, name):
    """Effects are taken one by one from whole memories before and after each instruction."""
    session = Session(launches(arrays)[name]())
    session.set_clock(MACHINE)
    for block in session.run.blocks[:2]:
        view = session.view(session.place_of(block.index))
        place = view.place
        steps = view.order.steps
        program = [session.history.local_at(place, n).ub.copy() for n in range(len(steps) + 1)]
        ends = [int(view.pipes.end[index]) for index in steps]
        for cycle in sorted({c + d for c in ends for d in (-1, 0)} | {view.placed.start}):
            expected = program[0].copy()
            for number, index in enumerate(steps):
                if ends[number] > cycle:
                    continue
                plan = block.entries[index][0]
                for operand in plan.operands:
                    if operand.space != "UB" or operand.role == READ:
                        continue
                    for access in operand.accesses:
                        for start in access.run_starts():
                            part = slice(int(start), int(start) + access.inner)
                            expected[part] = program[number + 1][part]
            got = session.history.local_at_cycle(place, cycle).ub
            assert np.array_equal(got, expected), cycle


def test_the_start_holds_poison_and_the_callers_arrays(arrays):
    x, y = arrays
    before = x.copy(), y.copy()
    session = Session(record(queued, 2, x, y, 3))
    assert set(session.moment.ub.view(np.uint16)) == {0x7FFB}
    assert session.moment.read("GM", *_range(session, "y")) == before[1].tobytes()
    assert session.moment.read("GM", *_range(session, "x")) == before[0].tobytes()


def _range(session, name):
    ((_, low, high),) = [r for r in session.moment.ranges("GM") if r[0] == name]
    return low, high - low


@pytest.mark.parametrize("clock", [PROGRAM, MACHINE])
def test_the_end_holds_what_the_kernel_left(arrays, clock):
    x, y = arrays
    session = Session(record(queued, 2, x, y, 3))
    session.set_clock(clock)
    session.run_on()
    assert session.moment.read("GM", *_range(session, "y")) == y.tobytes()
    assert np.array_equal(y[: 6 * TILE], 2 * x[: 6 * TILE])


def test_looking_leaves_arrays_record_and_local_memory_alone(arrays):
    x, y = arrays
    recorded = record(meeting, 2, x, y)
    run = recorded.run
    local = run.blocks[0].local
    before = x.tobytes(), y.tobytes(), local.ub.tobytes(), [len(b.entries) for b in run.blocks]
    session = Session(recorded)
    for _ in range(12):
        session.next_instruction()
        digest(session.moment)
        session.moment.evaluate("a.peek()") if "a" in session.moment.locals() else None
    session.set_clock(MACHINE)
    for _ in range(12):
        session.next_change()
        digest(session.moment)
    after = x.tobytes(), y.tobytes(), local.ub.tobytes(), [len(b.entries) for b in run.blocks]
    assert after == before


def test_arrays_that_change_after_the_launch_do_not_change_the_past(arrays):
    x, y = arrays
    recorded = record(queued, 1, x, y, 1)
    x[:] = -1
    y[:] = -1
    session = Session(recorded)
    session.run_on()
    expected = 2 * np.arange(TILE, dtype=np.float32)
    assert session.moment.read("GM", *_range(session, "y"))[: TILE * 4] == expected.tobytes()


def test_a_wait_before_its_set_shows_the_order_of_effects(arrays):
    """The addition is the second call and takes effect behind the copy, the fourth."""
    x, y = arrays
    session = Session(record(backwards, 1, x, y))
    view = session.here
    names = [view.entries[i][0].spec.name for i in view.order.steps]
    assert names == [
        "DataCopy", "SetFlag", "WaitFlag", "Adds", "SetFlag", "WaitFlag", "DataCopy",
    ]  # fmt: skip
    session.to_instruction(3)
    vector = next(p for p in session.moment.pipes if p.name == "V")
    assert vector.pending == [0, 1, 2]
    assert vector.waits_for == "flag MTE2_V id 0, which instruction 4 sets"
    assert session.moment.contents(0, TILE * 4).unwritten == TILE * 4
    session.to_instruction(5)
    assert session.moment.read("UB", 0, 8) == np.array([1, 2], np.float32).tobytes()


def test_a_block_that_waited_sees_what_the_other_one_wrote_meanwhile(arrays):
    x, y = arrays
    session = Session(record(meeting, 2, x, y))
    low, _ = _range(session, "y")
    copies = [i for i, e in enumerate(session.view(0).entries) if e[0].spec.name == "DataCopy"]
    session.to_instruction(copies[2], 0)
    assert session.moment.read("GM", low + TILE * 4, 4) == np.float32(TILE + 1).tobytes()
    session.to_instruction(copies[1] + 1, 0)
    assert session.moment.read("GM", low, 4) == np.float32(1).tobytes()
    assert session.moment.read("GM", low + TILE * 4, 4) == np.float32(0).tobytes()
