"""Python's own debugger stops in kernels, and what it prints says what the device has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from simulator.ascendc import (
    PIPE_ALL,
    Adds,
    DataCopy,
    DataCopyExtParams,
    DataCopyPad,
    DataCopyPadExtParams,
    Duplicate,
    GlobalTensor,
    HardEvent,
    LocalTensor,
    PipeBarrier,
    SetFlag,
    TPosition,
    WaitFlag,
    float32,
    half,
    kernel,
    launch,
)
from simulator.core import current_core

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).parent / "scripts" / "meeting.py"


def pdb(*commands):
    """Run the script and answer its prompts; return the lines that pdb printed."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT)],
        input="\n".join(commands) + "\n",
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONBREAKPOINT": ""},
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [line.replace("(Pdb) ", "") for line in done.stdout.splitlines()]


def test_breakpoint_stops_once_per_block_before_and_behind_a_meeting():
    lines = pdb("p block", "c", "p block", "c", "p block", "c", "p block", "c")
    assert [line for line in lines if line.isdigit()] == ["0", "1", "0", "1"]
    assert lines[-1] == "finished"


def test_tensor_and_core_can_be_printed_at_a_breakpoint():
    lines = pdb("p a", "p core.pipes", "p core.flags", "p core.queues", "p core.cycle > 0", *"cccc")
    text = "\n".join(lines)
    assert (
        "<VECIN float[64] @UB 0x0 [0., 1., 2., 3., 4., 5., 6., 7.] … 64 elements, written" in text
    )
    assert "<pipe MTE2: 2 issued, idle>" in text
    assert "<flags up: MTE2_V id 0>" in text
    assert "<256 B at UB 0x0: ENQUE>" in text
    assert "True" in lines


def test_next_goes_on_by_line_inside_a_kernel():
    lines = pdb("n", "p a.addr + 7000", "n", *"cccc")
    assert "-> a = queue.DeQue(float32)" in lines
    assert "7000" in lines
    assert "-> SyncAll()" in lines


# -- what a printed tensor says --------------------------------------------------------------------


def printed(body):
    """Run a kernel body on one block; return the texts that it collects."""
    texts = []

    @kernel(auto_sync=False)
    def run(x):
        xGm = GlobalTensor(float32)
        xGm.SetGlobalBuffer(x)
        body(LocalTensor(float32, TPosition.VECCALC, 64, 16), xGm, lambda t: texts.append(repr(t)))

    launch(run, 1, np.arange(64, dtype=np.float32), check="off")
    return texts


def test_a_fresh_tensor_is_unwritten():
    (text,) = printed(lambda a, xGm, show: show(a))
    assert text.startswith("<VECCALC float[16] @UB 0x40 [nan, nan, ")
    assert text.endswith("… 16 elements, unwritten>")


def test_a_copy_is_in_flight_until_a_flag_is_waited_for():
    def body(a, xGm, show):
        DataCopy(a, xGm, 16)
        show(a)
        SetFlag(HardEvent.MTE2_V, 0)
        show(a)
        WaitFlag(HardEvent.MTE2_V, 0)
        show(a)

    states = [text.partition("elements, ")[2] for text in printed(body)]
    flying = "written, in flight: nothing has waited for DataCopy on MTE2>"
    assert states == [flying, flying, "written>"]


def test_a_barrier_ends_the_flight():
    def body(a, xGm, show):
        DataCopy(a, xGm, 16)
        PipeBarrier(PIPE_ALL)
        show(a)

    (text,) = printed(body)
    assert text.endswith("elements, written>")


def test_a_call_behind_a_waiting_pipe_is_in_flight():
    def body(a, xGm, show):
        WaitFlag(HardEvent.MTE2_V, 0)
        Adds(a, a, 1.0, 16)
        show(a)
        DataCopy(a, xGm, 16)
        SetFlag(HardEvent.MTE2_V, 0)

    (text,) = printed(body)
    assert text.endswith("elements, in flight: Adds stands in the queue of a waiting pipe>")


def test_filler_and_unwritten_bytes_are_counted():
    def body(a, xGm, show):
        padding = DataCopyPadExtParams(True, 0, 3, 0.0)
        DataCopyPad(a, xGm, DataCopyExtParams(1, 5 * 4), padding)
        PipeBarrier(PIPE_ALL)
        show(a)

    (text,) = printed(body)
    # Five elements of data, three of padding: one block of 32 bytes; the other half is not written.
    assert text.endswith("32 of 64 bytes unwritten, 12 bytes filler>")


def test_a_shape_is_shown_when_one_is_attached():
    def body(a, xGm, show):
        Duplicate(a, 1.0, 16)
        PipeBarrier(PIPE_ALL)
        a.SetShapeInfo((2, 8))
        show(a)

    (text,) = printed(body)
    assert text.startswith("<VECCALC float[16] shape (2, 8) @UB 0x40 [1., 1., ")


def test_printing_issues_nothing():
    counts = []

    @kernel
    def run(x):
        a = LocalTensor(half, TPosition.VECCALC, 0, 16)
        core = current_core()
        before = len(core.record)
        repr(a), repr(core.pipes), repr(core.flags), repr(core.queues), repr(core)
        _ = core.cycle
        counts.append(len(core.record) - before)

    launch(run, 1, np.zeros(8, np.float32), check="off")
    assert counts == [0]


def test_an_empty_tensor_is_empty():
    def body(a, xGm, show):
        show(a[16])

    (text,) = printed(body)
    assert text.endswith(", empty>")
