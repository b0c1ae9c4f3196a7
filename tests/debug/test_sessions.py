"""Golden sessions: scripted runs over real kernels, compared line by line with stored texts.

The stored texts were checked against the kernels' sources, the timeline and plain numpy; the facts
that matter most are asserted on their own below.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import numpy as np
import pytest
from recorded import (
    TILE,
    dividing,
    hanging,
    operator_launch,
    queued,
    racy,
    record,
    source_of,
)

from simulator.debug import MACHINE, Session
from tools.debugger.commands import Debugger

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"


def transcript(debugger, commands):
    """Return commands and answers; addresses of Python objects are left out."""
    lines = [debugger.welcome().text]
    for command in commands:
        answer = debugger.execute(command)
        assert answer.ok, answer.text
        lines += [f"(ascsim) {command}", answer.text]
    lines = [line.replace(f"{ROOT}/", "") for line in lines]
    return re.sub(r" at 0x[0-9a-f]{9,}>", ">", "\n".join(lines)) + "\n"


def check_golden(name, text, request):
    path = GOLDEN / name
    if request.config.getoption("rewrite_golden", default=False):
        path.write_text(text, encoding="utf-8")
        return
    stored = path.read_text(encoding="utf-8")
    difference = "\n".join(
        difflib.unified_diff(stored.splitlines(), text.splitlines(), name, "now", lineterm="", n=1)
    )
    assert text == stored, difference


FORWARDS = (
    "break CompareScalar",
    "continue",
    "pipes",
    "flags",
    "queues",
    "print d",
    "next",
    "next",
    "instruction MTE3",
    "pipes",
    "flags",
    "clock machine",
    "change 3",
    "pipes",
    "flags",
    "goto cycle 5200",
    "pipes",
    "timeline",
    "continue",
    "back continue",
    "clock program",
    "back continue",
    "flags",
    "back next",
    "back out",
)


def test_session_over_hard_swish_grad_v2(request, monkeypatch):
    monkeypatch.chdir(ROOT)
    launch, _ = operator_launch("hardswish_backward_v2", (4, 512), "float16")
    check_golden("hard_swish_grad_v2.txt", transcript(Debugger([launch]), FORWARDS), request)


def test_session_over_max_pooling_grad(request, monkeypatch):
    monkeypatch.chdir(ROOT)
    launch, _ = operator_launch("max_pooling_grad", (4, 512), "float32")
    commands = (
        "break Select", "continue", "queues", "flags", "pipes", "print dy", "print dx",
        "mask selector 0 4", "ub", "next", "print dx", "break queue 3 full", "continue", "queues",
        "clock", "change", "pipes", "back change 2", "pipes", "clock", "back continue",
        "back out", "queues", "locals",
    )  # fmt: skip
    check_golden("max_pooling_grad.txt", transcript(Debugger([launch]), commands), request)


def test_session_over_a_racy_kernel(arrays, request, monkeypatch):
    monkeypatch.chdir(ROOT)
    launch = record(racy, 1, *arrays)
    commands = (
        "until Adds", "print a", "clock machine", "instruction MTE3", "pipes", "print a",
        "instruction V", "pipes", "print a", "change 9", "print a", "findings", "goto finding 1",
        "back change 2", "pipes", "flags",
    )  # fmt: skip
    check_golden("racy.txt", transcript(Debugger([launch]), commands), request)


# -- the facts on their own ------------------------------------------------------------------------


def test_hard_swish_values_at_every_compute_line_are_those_of_the_formula():
    launch, inputs = operator_launch("hardswish_backward_v2", (4, 512), "float16")
    session = Session(launch)
    x = inputs["self_"].reshape(-1).astype(np.float32)
    session.add_breakpoint("instruction", name="CompareScalar")
    stop = session.run_on()
    assert source_of(stop).startswith("CompareScalar(half.above, d, -3.0")
    block = stop.block
    moment = session.moment
    count = moment.locals()["count"]
    part = x[block * count : (block + 1) * count]
    assert np.array_equal(moment.values(moment.evaluate("d"))[:count], part)
    for text, expected in (
        ("Muls", part),
        ("Adds", part * np.float32(0.33333334)),
        ("Select", part * np.float32(0.33333334) + np.float32(0.5)),
    ):
        session.run_to("instruction", name=text)
        moment = session.moment
        assert np.array_equal(moment.values(moment.evaluate("d"))[:count], expected), text
    session.run_to("instruction", back=True, name="Muls")
    moment = session.moment
    assert np.array_equal(moment.values(moment.evaluate("d"))[:count], part)


def test_stepping_back_retraces_every_stop_of_stepping_forward():
    launch, _ = operator_launch("max_pooling_grad", (4, 512), "float32")
    session = Session(launch)
    there = [session.stop("start")]
    while there[-1].reason != "end":
        there.append(session.step_into())
    there.pop()
    back = [session.step_into(back=True) for _ in there]
    places = [(s.location, s.index, s.cycle) for s in there]
    assert [(s.location, s.index, s.cycle) for s in reversed(back)] == places


def test_running_back_meets_the_breakpoints_of_running_forward_in_both_clocks():
    launch, _ = operator_launch("max_pooling_grad", (4, 512), "float32")
    for clock in ("program", "machine"):
        session = Session(launch)
        session.set_clock(clock)
        session.add_breakpoint("instruction", name="Select")
        session.add_breakpoint("flag", event="MTE2_V", id=None, form="set")
        there = []
        while (stop := session.run_on()).reason == "breakpoint":
            there.append(session.position)
        back = []
        while (stop := session.run_on(back=True)).reason == "breakpoint":
            back.append(session.position)
        assert stop.reason == "start"
        assert len(there) > 2
        assert back == there[::-1]


def test_a_racy_kernel_shows_the_copy_out_under_way_while_the_sum_is_not_there(arrays):
    session = Session(record(racy, 1, *arrays))
    session.set_clock(MACHINE)
    session.next_instruction("MTE3")
    moment = session.moment
    by_name = {pipe.name: pipe for pipe in moment.pipes}
    adds = next(i for i in range(9) if moment.instruction(i).name == "Adds")
    assert by_name["MTE3"].busy
    assert moment.instruction(by_name["MTE3"].running).name == "DataCopy"
    assert moment.instruction(adds).end > moment.position.cycle
    assert {f.code for f in session.findings} >= {"race.raw"}
    session.next_instruction("V")
    assert moment.instruction(adds).start <= session.position.cycle


def test_a_deadlock_opens_at_the_wait_with_the_error(arrays):
    debugger = Debugger([record(hanging, 2, *arrays)])
    answer = debugger.welcome()
    assert "WaitFlag(HardEvent.V_S, 3)" in answer.text
    assert "flag V_S id 3, which nothing sets" in answer.text
    assert answer.data["error"]["code"] == "sync.deadlock"
    assert answer.data["stop"]["reason"] == "error"
    (scalar,) = [p for p in debugger.moment.pipes if p.name == "S"]
    assert scalar.waits_for == "flag V_S id 3, which nothing sets"


def test_an_error_of_python_opens_at_the_line_that_raised(arrays):
    debugger = Debugger([record(dividing, 1, *arrays)])
    answer = debugger.welcome()
    assert answer.text.endswith("return one // other")
    assert "integer division" in answer.text
    assert debugger.execute("print one + other").text == "3"
    assert "divide(3, 0)" in debugger.execute("back out").text


@pytest.mark.parametrize(
    ("command", "stops"),
    [("step", "DataCopy"), ("next", "DataCopy")],
)
def test_lines_and_values_of_a_loop(arrays, command, stops):
    debugger = Debugger([record(queued, 1, *arrays, 2)])
    debugger.execute("until DataCopy")
    moment = debugger.moment
    assert moment.next_instruction.name == stops
    assert moment.locals()["tile"] == 0
    debugger.execute(command)
    assert debugger.moment.locals()["tile"] == 0
    debugger.execute("goto instruction 11")
    assert debugger.moment.locals()["tile"] == 1
    debugger.execute("back until Add")
    moment = debugger.moment
    expected = np.arange(TILE, dtype=np.float32)
    assert np.array_equal(moment.values(moment.evaluate("a")), expected)
    assert moment.state_of(moment.evaluate("b")) == "unwritten"
