"""What is recorded for the debugger, and what a session knows of a run that was not."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from recorded import TILE, meeting, queued, racy, record

from simulator.ascendc import LocalTensor, TPosition, float32, kernel, launch
from simulator.debug import MACHINE, Session, record_for_debug
from simulator.errors import ConfigError


def test_lines_of_blocks_that_wait_are_recorded_to_the_end(arrays):
    recorded = record(meeting, 2, *arrays)
    first, second = recorded.traces[0], recorded.traces[1]
    assert first.line == second.line
    names = {frame.code.co_name for frame in first.frames}
    assert names == {"meeting", "gm"}


def test_the_trace_function_is_put_back(arrays):
    def outside(frame, event, argument):
        return None

    before = sys.gettrace()
    sys.settrace(outside)
    try:
        record(queued, 1, *arrays, 1)
        assert sys.gettrace() is outside
    finally:
        sys.settrace(before)


@kernel
def counting(x):
    """Changes a local, a list and an attribute."""
    total, seen, box = 0, [], Box()
    for step in range(3):
        total += step
        seen.append(step)
        box.count = total
    LocalTensor(float32, TPosition.VECCALC, 0, 8).SetValue(0, 1.0)


class Box:
    count = -1


def test_locals_are_those_of_the_moment_and_not_of_the_end():
    session = Session(record(counting, 1, np.zeros(8, np.float32)))
    found = []
    while True:
        stop = session.step_over()
        if stop.reason == "end":
            break
        moment = session.moment
        values = moment.locals()
        if {"box", "step"} <= set(values):
            found.append((values["total"], list(values["seen"]), moment.evaluate("box.count")))
    # Before each line of the loop body and before its head, three times; then behind the loop.
    assert found == [
        (0, [], -1), (0, [], -1), (0, [0], -1), (0, [0], 0),
        (0, [0], 0), (1, [0], 0), (1, [0, 1], 0), (1, [0, 1], 1),
        (1, [0, 1], 1), (3, [0, 1], 1), (3, [0, 1, 2], 1), (3, [0, 1, 2], 3),
        (3, [0, 1, 2], 3),
    ]  # fmt: skip


def test_a_plain_run_has_lines_of_instructions_and_memory_but_no_locals(arrays):
    x, y = arrays
    run = launch(queued, 1, x, y, 2, check="off")
    session = Session(run)
    session.run_to("instruction", name="Add")
    moment = session.moment
    assert moment.read("UB", 0, TILE * 4) == x[:TILE].tobytes()
    assert session.step_into().location.line > 0
    assert moment.locals() == {}
    with pytest.raises(ConfigError, match="not recorded for debugging"):
        moment.evaluate("a")


@pytest.mark.parametrize(
    "expression", ["a.SetValue(0, 1.0)", "DataCopy(a, a, 8)", "target.EnQue(a)"]
)
def test_an_expression_cannot_change_the_run(arrays, expression):
    session = Session(record(queued, 1, *arrays, 1))
    session.run_to("instruction", name="Add")
    before = session.moment.ub.tobytes(), len(session.here.entries)
    with pytest.raises(Exception, match=r"change the run|running kernel|no attribute|belong"):
        session.moment.evaluate(expression)
    session.run_to("instruction", name="Add", back=True)
    session.to_instruction(3)
    assert (session.moment.ub.tobytes(), len(session.here.entries)) == before


def test_nothing_is_traced_without_a_recorder(arrays):
    seen = []
    before = sys.gettrace()
    launch(queued, 1, *arrays, 1, check="off")
    assert sys.gettrace() is before
    with record_for_debug() as recorder:
        pass
    assert recorder.launches == seen


def test_machine_time_ends_with_the_work_of_the_block(arrays):
    session = Session(record(racy, 1, *arrays))
    session.set_clock(MACHINE)
    stop = session.to_end()
    assert stop.cycle == session.here.placed.end
    assert session.to_cycle(10**9).cycle == stop.cycle
    assert session.to_cycle(0).cycle == session.here.placed.start
