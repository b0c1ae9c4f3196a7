"""``ascsim debug``: from a file of commands, line by line, as JSON, and its mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tools.cli import app
from tools.debugger.line_mode import complete

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(__file__).parent / "scripts"
SCRIPT = str(SCRIPTS / "add_one.py")


@pytest.fixture
def ascsim(monkeypatch):
    monkeypatch.chdir(ROOT)
    runner = CliRunner()
    return lambda *args, stdin="": runner.invoke(app, [str(a) for a in args], input=stdin)


@pytest.fixture
def commands(tmp_path):
    def write(*lines):
        path = tmp_path / "script.dbg"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


def test_batch_echoes_commands_and_answers(ascsim, commands):
    done = ascsim(
        "debug", SCRIPT, "--batch", "-x",
        commands("# a comment", "", "break Adds", "continue", "print bias", "quit", "never"),
    )  # fmt: skip
    assert done.exit_code == 0
    assert "(ascsim) break Adds\nbreakpoint 1: instruction Adds (4 places)\n" in done.stdout
    assert done.stdout.endswith("(ascsim) print bias\n1.0\n(ascsim) quit\n")


def test_batch_stops_at_the_first_mistake_with_code_1(ascsim, commands):
    done = ascsim("debug", SCRIPT, "-x", commands("brake Adds", "continue"))
    assert done.exit_code == 1
    assert done.stdout.endswith(
        "(ascsim) brake Adds\n"
        "error: there is no command 'brake'; fix: did you mean break or back?\n"
    )


def test_json_answers_one_line_each_and_goes_on_after_a_mistake(ascsim):
    done = ascsim(
        "debug", SCRIPT, "--json",
        stdin="until Adds\nflags\nnonsense\nprint local\nback step\nquit\n",
    )  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [a["ok"] for a in answers] == [True, True, True, False, True, True, True]
    assert answers[1]["stop"]["instruction"] == "Adds"
    assert answers[4]["dtype"] == "float"
    assert answers[4]["values"] == list(range(64))
    assert answers[4]["state"] == "written"
    assert done.exit_code == 1
    assert "sum" in done.stderr


def test_line_mode_repeats_the_last_movement_on_an_empty_line(ascsim):
    done = ascsim("debug", SCRIPT, "--line", stdin="instruction\n\n\nwhere\nquit\n")
    assert done.exit_code == 0
    assert "instruction 3 of" in done.stdout
    assert done.stdout.count("(ascsim) ") == 5


def test_an_operator_is_debugged_with_the_options_of_run(ascsim):
    done = ascsim(
        "debug", "hardswish_backward_v2", "--shape", "4,512", "--dtype", "float32", "--batch",
        stdin="break Mul\ncontinue\nprint self.dtype\n",
    )  # fmt: skip
    assert done.exit_code == 0
    assert done.stdout.endswith("(ascsim) print self.dtype\nfloat\n")


def test_a_failing_launch_opens_at_the_error(ascsim):
    done = ascsim("debug", SCRIPTS / "stuck.py", "--batch", stdin="where\n")
    assert done.exit_code == 0
    assert "[sync.deadlock]" in done.stdout
    assert "WaitFlag(HardEvent.MTE3_S, 1)" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("no_such_operator",), "there is no operator or script 'no_such_operator'"),
        ((SCRIPT, "--launch", "7"), "there is no launch 7"),
        ((SCRIPT, "-x", "/no/such.dbg"), "the commands '/no/such.dbg' cannot be read"),
    ],
)
def test_a_wrong_request_is_one_line_and_code_2(ascsim, arguments, message):
    done = ascsim("debug", *arguments)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"ascsim: error: {message}")


def test_every_command_has_help_and_every_movement_a_way_back(ascsim):
    done = ascsim("debug", SCRIPT, "--batch", stdin="help\nhelp goto\nback next\nback continue\n")
    assert done.exit_code == 0
    for name in ("step", "break", "watch", "timeline", "bookmark", "clock"):
        assert f"\n  {name}" in done.stdout
    assert "goto instruction N | cycle N" in done.stdout


def test_completion_knows_commands_locals_and_places(arrays):
    from recorded import queued, record

    from tools.debugger.commands import Debugger

    debugger = Debugger([record(queued, 1, *arrays, 2)])
    debugger.execute("until Add")
    assert complete(debugger, "ti", "ti") == ["timeline"]
    assert complete(debugger, "print so", "so") == ["source"]
    assert complete(debugger, "break Cast", "Cast")[:1] == ["Cast"]
    assert complete(debugger, "goto ", "")[0] == "block"


@pytest.mark.parametrize(
    ("setting", "where"),
    [
        ("break 35 if tile == 1", {"tile": "1"}),
        ("break pipe MTE3", {"tile": "0"}),
        ("break flag set V_MTE3", {"tile": "0"}),
        ("break queue 0 empty", {"tile": "0"}),
        ("watch first read target", {"tile": "0"}),
        ("break if tile == 2", {"tile": "2"}),
        ("watch GM 0x120000000000+4", None),
    ],
)
def test_every_kind_of_breakpoint_stops(arrays, setting, where):
    from recorded import queued, record

    from tools.debugger.commands import Debugger

    debugger = Debugger([record(queued, 1, *arrays, 3)])
    debugger.execute("until DataCopy")
    setting = setting.replace("target", "a")
    if "35" in setting:
        line = debugger.session.stop("x").location.line
        setting = setting.replace("35", str(line))
    answer = debugger.execute(setting)
    assert answer.ok, answer.text
    stop = debugger.execute("continue").data["stop"]
    assert stop["reason"] == ("breakpoint" if where else "end")
    if where:
        assert {k: str(debugger.moment.locals()[k]) for k in where} == where
