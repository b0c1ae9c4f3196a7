"""A scripted editor talks to ``ascsim dap`` over its standard input and output."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(__file__).parent / "scripts"
SCRIPT = SCRIPTS / "add_one.py"


def line_of(text, path=SCRIPT):
    lines = path.read_text(encoding="utf-8").splitlines()
    (found,) = [n for n, line in enumerate(lines, 1) if text in line]
    return found


class Editor:
    """Sends requests and collects what comes back, as an editor does."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tools.cli", "dap"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        self.sequence = 0
        self.events = []

    def receive(self):
        header = self.process.stdout.readline()
        assert header.startswith(b"Content-Length: "), header
        assert self.process.stdout.readline() == b"\r\n"
        return json.loads(self.process.stdout.read(int(header.split(b":")[1])))

    def request(self, command, *, ok=True, **arguments):
        self.sequence += 1
        body = json.dumps(
            {
                "seq": self.sequence,
                "type": "request",
                "command": command,
                "arguments": arguments,
            }
        ).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()
        while True:
            message = self.receive()
            if message["type"] == "event":
                self.events.append(message)
                continue
            assert message["request_seq"] == self.sequence
            assert message["command"] == command
            assert message["success"] is ok, message
            return message["body"] if ok else message

    def event(self, name):
        """Return the body of the next event of a name."""
        while True:
            for number, message in enumerate(self.events):
                if message["event"] == name:
                    del self.events[number]
                    return message["body"]
            message = self.receive()
            assert message["type"] == "event", message
            self.events.append(message)

    def move(self, command, **arguments):
        """Ask for a movement; return the stop and the innermost frame."""
        self.request(command, **arguments)
        stop = self.event("stopped")
        (frame, *_) = self.request("stackTrace", threadId=stop["threadId"])["stackFrames"]
        return stop, frame

    def scope(self, frame, name):
        """Return the variables of a scope: name to variable."""
        scopes = self.request("scopes", frameId=frame["id"])["scopes"]
        (found,) = [s for s in scopes if s["name"] == name]
        variables = self.request("variables", variablesReference=found["variablesReference"])
        return {v["name"]: v for v in variables["variables"]}


@pytest.fixture
def editor():
    made = Editor()
    yield made
    made.process.stdin.close()
    made.process.stdout.close()
    made.process.stderr.close()
    assert made.process.wait(timeout=30) == 0


def start(editor, program=SCRIPT, breakpoints=(), **launch):
    capabilities = editor.request("initialize", adapterID="ascsim", linesStartAt1=True)
    assert capabilities["supportsStepBack"]
    assert capabilities["supportsReadMemoryRequest"]
    editor.request("launch", program=str(program), **launch)
    editor.event("initialized")
    found = editor.request(
        "setBreakpoints",
        source={"path": str(program)},
        breakpoints=[{"line": n} if isinstance(n, int) else n for n in breakpoints],
    )["breakpoints"]
    editor.request("configurationDone")
    return found


def test_a_session_from_launch_to_disconnect(editor):
    (point,) = start(editor, breakpoints=[line_of("Adds(local")])
    assert point["verified"]
    assert editor.event("stopped")["reason"] == "entry"
    threads = editor.request("threads")["threads"]
    assert [t["name"] for t in threads] == ["block 0", "block 1"]

    stop, frame = editor.move("continue", threadId=1)
    assert (stop["reason"], stop["threadId"]) == ("breakpoint", 1)
    assert stop["hitBreakpointIds"] == [point["id"]]
    assert (frame["name"], frame["line"]) == ("copy_and_add", line_of("Adds(local"))
    assert frame["source"]["path"] == str(SCRIPT)
    frames = editor.request("stackTrace", threadId=1)["stackFrames"]
    assert [f["name"] for f in frames] == ["copy_and_add", "add_one"]

    values = editor.scope(frame, "Locals")
    assert values["bias"]["value"] == "1.0"
    assert values["local"]["type"] == "LocalTensor"
    assert "VECIN float[64] @UB 0x0" in values["local"]["value"]
    elements = editor.request(
        "variables", variablesReference=values["local"]["variablesReference"]
    )["variables"]
    assert [float(e["value"]) for e in elements] == list(range(64))
    assert list(editor.scope(frame, "Pipes")) == ["S", "V", "MTE2", "MTE3"]
    queues = editor.scope(frame, "Queues")
    assert [q["value"] for q in queues.values()] == ["0x0+256 DEQUE"]
    assert "CMPMASK" in editor.scope(frame, "Registers")
    assert editor.scope(frame, "Flags") == {}

    reference = values["local"]["memoryReference"]
    memory = editor.request("readMemory", memoryReference=reference, offset=4, count=8)
    assert base64.b64decode(memory["data"]) == np.array([1, 2], np.float32).tobytes()

    _, frame = editor.move("next", threadId=1)
    assert frame["line"] == line_of("hand_over(HardEvent.V_MTE3)")
    answer = editor.request("evaluate", expression="local(3) + bias", frameId=frame["id"])
    assert answer["result"] == "5.0"
    _, frame = editor.move("stepBack", threadId=1)
    assert frame["line"] == line_of("Adds(local")
    answer = editor.request("evaluate", expression="local(3)", frameId=frame["id"])
    assert answer["result"] == "3.0"

    _, frame = editor.move("stepOut", threadId=1)
    assert frame["name"] == "add_one"
    _, frame = editor.move("stepIn", threadId=1)
    assert frame["line"] == line_of("for tile in range")

    threads = []
    for _ in range(3):
        stop, frame = editor.move("continue", threadId=stop["threadId"])
        threads.append((stop["threadId"], frame["line"]))
    line = line_of("Adds(local")
    assert threads == [(1, line), (2, line), (2, line)]
    stop, _ = editor.move("reverseContinue", threadId=2)
    assert (stop["threadId"], stop["reason"]) == (2, "breakpoint")
    editor.request("disconnect")


def test_the_scripts_own_output_does_not_disturb_the_protocol(editor):
    start(editor)
    editor.request("disconnect")
    assert b"sum 32896" in editor.process.stderr.read()


def test_conditions_functions_and_data_breakpoints(editor):
    start(
        editor,
        breakpoints=[{"line": line_of("DataCopy(local"), "condition": "source(0) >= 128"}],
    )
    editor.event("stopped")
    stop, frame = editor.move("continue", threadId=1)
    assert stop["threadId"] == 2
    answer = editor.request("evaluate", expression="source(0)", frameId=frame["id"])
    assert answer["result"] == "128.0"

    info = editor.request("dataBreakpointInfo", name="target")
    editor.request("setBreakpoints", source={"path": str(SCRIPT)}, breakpoints=[])
    editor.request(
        "setDataBreakpoints", breakpoints=[{"dataId": info["dataId"], "accessType": "write"}]
    )
    _, frame = editor.move("continue", threadId=2)
    assert frame["line"] == line_of("DataCopy(target")
    editor.request("setDataBreakpoints", breakpoints=[])
    (point,) = editor.request("setFunctionBreakpoints", breakpoints=[{"name": "flag set MTE2_V"}])[
        "breakpoints"
    ]
    assert point["verified"]
    _, frame = editor.move("reverseContinue", threadId=2)
    assert frame["line"] == line_of("queue.EnQue(local)")
    editor.request("disconnect")


def test_a_deadlock_stops_as_an_exception_at_the_wait(editor):
    script = SCRIPTS / "stuck.py"
    start(editor, script)
    stop = editor.event("stopped")
    assert stop["reason"] == "exception"
    (frame,) = editor.request("stackTrace", threadId=1)["stackFrames"]
    assert frame["line"] == line_of("WaitFlag(HardEvent.MTE3_S, 1)", script)
    assert "flag MTE3_S id 1, which nothing sets" in editor.request("exceptionInfo")["description"]
    assert list(editor.scope(frame, "Flags")) == ["MTE2_V 0"]
    editor.request("disconnect")


def test_mistakes_are_failed_responses_and_the_session_goes_on(editor):
    editor.request("initialize", adapterID="ascsim")
    assert "nothing has been launched" in editor.request("threads", ok=False)["message"]
    assert "not supported" in editor.request("dance", ok=False)["message"]
    missing = editor.request("launch", ok=False, program="no_such_operator")
    assert "no_such_operator" in missing["message"]
    editor.request("launch", program="hardswish_backward_v2", shape=[4, 512], dtype="float32")
    editor.event("initialized")
    editor.request("configurationDone")
    editor.event("stopped")
    frames = editor.request("stackTrace", threadId=1)["stackFrames"]
    wrong = editor.request("evaluate", ok=False, expression="nothing", frameId=frames[0]["id"])
    assert "NameError" in wrong["message"]
    editor.request("disconnect")
