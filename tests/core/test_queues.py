"""TQue and TQueBind: the states of their buffers, the events they set and wait for."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.ascendc import (
    Adds,
    DataCopy,
    GlobalTensor,
    HardEvent,
    TPipe,
    TPosition,
    TQue,
    TQueBind,
    float32,
    kernel,
    launch,
)
from simulator.core import current_core
from simulator.enums import TBufState
from simulator.errors import (
    ArgumentError,
    DeadlockError,
    QueueError,
    SimulatorError,
)

pytestmark = pytest.mark.usefixtures("machine_still_right")

TILE = 64
NBYTES = 4 * TILE


def gm(pointer):
    tensor = GlobalTensor(float32)
    tensor.SetGlobalBuffer(pointer)
    return tensor


def flags(run):
    """The flags of a run as (set or wait, event, id), in program order."""
    plans = [entry[0] for entry in run.blocks[0].entries]
    return [
        (plan.form, HardEvent(plan.event).name, plan.flag % 8)
        for plan in plans
        if plan.form in ("set", "wait")
    ]


@kernel
def stream(x, y, tiles, buffers):
    pipe = TPipe()
    given, done = TQue(TPosition.VECIN, buffers), TQue(TPosition.VECOUT, buffers)
    pipe.InitBuffer(given, buffers, NBYTES)
    pipe.InitBuffer(done, buffers, NBYTES)
    for at in range(0, tiles * TILE, TILE):
        tile = given.AllocTensor(float32)
        DataCopy(tile, gm(x)[at], TILE)
        given.EnQue(tile)
        tile, result = given.DeQue(float32), done.AllocTensor(float32)
        Adds(result, tile, 1, TILE)
        done.EnQue(result)
        given.FreeTensor(tile)
        result = done.DeQue(float32)
        DataCopy(gm(y)[at], result, TILE)
        done.FreeTensor(result)


@pytest.mark.parametrize("buffers", [1, 2, 4])
def test_tiles_pass_through_the_queues(buffers):
    x, y = np.arange(5 * TILE, dtype=np.float32), np.zeros(5 * TILE, np.float32)
    launch(stream, 1, x, y, 5, buffers)
    np.testing.assert_array_equal(y, x + 1)


def test_every_hand_over_is_one_flag_set_and_waited():
    # Loaded (MTE2_V), input free again (V_MTE2), result complete (V_MTE3), output free (MTE3_V):
    # with one buffer the second tile waits for the frees of the first; the last frees are waited
    # for when the pipe is destroyed.
    x, y = np.zeros(2 * TILE, np.float32), np.zeros(2 * TILE, np.float32)
    assert flags(launch(stream, 1, x, y, 2, 1)) == [
        ("set", "MTE2_V", 0),
        ("wait", "MTE2_V", 0),
        ("set", "V_MTE3", 0),
        ("set", "V_MTE2", 0),
        ("wait", "V_MTE3", 0),
        ("set", "MTE3_V", 0),
        ("wait", "V_MTE2", 0),
        ("set", "MTE2_V", 0),
        ("wait", "MTE2_V", 0),
        ("wait", "MTE3_V", 0),
        ("set", "V_MTE3", 0),
        ("set", "V_MTE2", 0),
        ("wait", "V_MTE3", 0),
        ("set", "MTE3_V", 0),
        ("wait", "V_MTE2", 0),
        ("wait", "MTE3_V", 0),
    ]


def test_two_buffers_hold_two_event_ids():
    x, y = np.zeros(3 * TILE, np.float32), np.zeros(3 * TILE, np.float32)
    found = flags(launch(stream, 1, x, y, 3, 2))
    # The third tile reuses the first buffer, and both have been freed with different ids.
    assert [f for f in found if f[1] == "V_MTE2"] == [
        ("set", "V_MTE2", 0),
        ("set", "V_MTE2", 1),
        ("wait", "V_MTE2", 0),
        ("set", "V_MTE2", 0),
        ("wait", "V_MTE2", 0),
        ("wait", "V_MTE2", 1),
    ]


@pytest.mark.parametrize(
    ("length", "num"), [(0, 1), (-32, 1), (32, 0), (1.5, 1), (None, 1)], ids=repr
)
def test_sizes_that_are_none_are_refused(length, num):
    @kernel
    def body():
        TPipe().InitBuffer(TQue(TPosition.VECIN, 1), num, length)

    with pytest.raises(SimulatorError):
        launch(body, 1)


def test_eight_event_ids_per_direction():
    @kernel
    def body(count):
        pipe, queue = TPipe(), TQue(TPosition.VECIN, 16)
        pipe.InitBuffer(queue, 16, 32)
        for _ in range(count):
            queue.EnQue(queue.AllocTensor(float32))
        for _ in range(count):
            queue.FreeTensor(queue.DeQue(float32))

    launch(body, 1, 8)
    with pytest.raises(QueueError, match="all 8 ids of MTE2_V are in use"):
        launch(body, 1, 9)


def run_steps(*steps, depth=1, num=1, position=TPosition.VECIN):
    """Launch a kernel that does the named steps with one queue; return the states in between."""
    states = []

    @kernel
    def body():
        pipe, queue = TPipe(), TQue(position, depth)
        pipe.InitBuffer(queue, num, NBYTES)
        held = []
        for step in steps:
            if step == "alloc":
                held.append(queue.AllocTensor(float32))
            elif step == "enque":
                queue.EnQue(held[-1])
            elif step == "deque":
                held.append(queue.DeQue(float32))
            else:
                queue.FreeTensor(held[-1])
            states.append(queue.buffers[0].state)

    launch(body, 1)
    return states


def test_a_buffer_goes_through_four_states():
    assert run_steps("alloc", "enque", "deque", "free") == [
        TBufState.OCCUPIED,
        TBufState.ENQUE,
        TBufState.DEQUE,
        TBufState.FREE,
    ]


@pytest.mark.parametrize(
    ("steps", "code", "words"),
    [
        (["alloc", "alloc"], "queue.no_free_buffer", "all 1 buffers"),
        (["deque"], "queue.empty", "is empty"),
        (["alloc", "deque"], "queue.empty", "is empty"),
        (["alloc", "enque", "enque"], "queue.enque_state", "ENQUE"),
        (["alloc", "free", "free"], "queue.freetensor_state", "FREE"),
        (["alloc", "free", "enque"], "queue.enque_state", "FREE"),
        (["alloc", "enque", "deque", "alloc"], "queue.no_free_buffer", "all 1 buffers"),
    ],
    ids="-".join,
)
def test_a_step_out_of_turn_is_refused_instead_of_a_hang(steps, code, words):
    with pytest.raises(QueueError) as caught:
        run_steps(*steps)
    assert caught.value.kind == code
    assert words in str(caught.value)


def test_a_tensor_can_be_freed_without_passing_the_queue():
    assert run_steps("alloc", "free", "alloc", "enque", "deque", "free")[-1] is TBufState.FREE


def test_more_enques_than_the_depth_are_refused():
    with pytest.raises(QueueError, match="the depth is 1"):
        run_steps("alloc", "enque", "alloc", "enque", num=2, depth=1)
    run_steps("alloc", "enque", "alloc", "enque", "deque", "free", "deque", "free", num=2, depth=2)


def test_queued_tensors_come_out_in_order():
    seen = []

    @kernel
    def body():
        pipe, queue = TPipe(), TQue(TPosition.VECIN, 3)
        pipe.InitBuffer(queue, 3, NBYTES)
        for _ in range(3):
            queue.EnQue(queue.AllocTensor(float32))
        seen.append((queue.GetTensorCountInQue(), queue.HasIdleBuffer(), queue.VacantInQue()))
        seen.append([queue.DeQue(float32).GetPhyAddr() for _ in range(3)])
        seen.append((queue.GetTensorCountInQue(), queue.HasTensorInQue()))

    launch(body, 1)
    assert seen == [(3, False, False), [0, NBYTES, 2 * NBYTES], (0, False)]


def test_a_tensor_of_another_queue_is_refused():
    @kernel
    def body():
        pipe, one, other = TPipe(), TQue(TPosition.VECIN, 1), TQue(TPosition.VECIN, 1)
        pipe.InitBuffer(one, 1, NBYTES)
        pipe.InitBuffer(other, 1, NBYTES)
        other.EnQue(one.AllocTensor(float32))

    with pytest.raises(QueueError, match="does not belong to this queue"):
        launch(body, 1)


def test_a_queue_without_buffers_is_refused():
    @kernel
    def body():
        TQue(TPosition.VECIN, 1).AllocTensor(float32)

    with pytest.raises(QueueError, match="InitBuffer"):
        launch(body, 1)


@pytest.mark.parametrize(
    ("source", "drain", "expected"),
    [
        (TPosition.VECIN, TPosition.VECOUT, ["MTE2_MTE3", "MTE3_MTE2"]),
        (TPosition.GM, TPosition.VECIN, ["MTE2_V", "V_MTE2"]),
        (TPosition.VECOUT, TPosition.GM, ["V_MTE3", "MTE3_V"]),
    ],
)
def test_a_bound_queue_uses_the_events_of_its_two_sides(source, drain, expected):
    @kernel
    def body():
        pipe, queue = TPipe(), TQueBind(source, drain, 1)
        pipe.InitBuffer(queue, 1, NBYTES)
        queue.EnQue(queue.AllocTensor(float32))
        queue.FreeTensor(queue.DeQue(float32))

    found = flags(launch(body, 1))
    assert [f[:2] for f in found] == [
        ("set", expected[0]),
        ("wait", expected[0]),
        ("set", expected[1]),
        ("wait", expected[1]),
    ]


def test_a_queue_between_vector_calls_orders_the_vector_pipe():
    @kernel
    def body():
        pipe, queue = TPipe(), TQue(TPosition.VECCALC, 1)
        pipe.InitBuffer(queue, 1, NBYTES)
        queue.EnQue(queue.AllocTensor(float32))
        queue.FreeTensor(queue.DeQue(float32))

    run = launch(body, 1)
    assert flags(run) == []
    assert (run.instructions[0].name, run.instructions[0].pipe) == ("PipeBarrier", "V")


def test_enque_with_positions_chooses_the_event():
    @kernel
    def body(other):
        pipe, queue = TPipe(), TQueBind(TPosition.VECIN, TPosition.VECOUT, 1)
        pipe.InitBuffer(queue, 1, NBYTES)
        queue.EnQue(TPosition.GM, TPosition.VECIN, queue.AllocTensor(float32))
        sides = (TPosition.VECOUT, TPosition.GM) if other else (TPosition.GM, TPosition.VECIN)
        queue.FreeTensor(queue.DeQue(*sides, float32))

    assert flags(launch(body, 1, False))[:2] == [("set", "MTE2_V", 0), ("wait", "MTE2_V", 0)]
    with pytest.raises(QueueError, match="different positions"):
        launch(body, 1, True)


def test_depth_zero_hands_one_tensor_over_in_place():
    @kernel
    def body(x, y):
        pipe, queue = TPipe(), TQueBind(TPosition.VECIN, TPosition.VECOUT, 0)
        pipe.InitBuffer(queue, 1, NBYTES)
        for at in range(0, 3 * TILE, TILE):
            tile = queue.AllocTensor(float32)
            DataCopy(tile, gm(x)[at], TILE)
            queue.EnQue(tile)
            queue.DeQue(tile)
            DataCopy(gm(y)[at], tile, TILE)
            queue.FreeTensor(tile)

    x, y = np.arange(3 * TILE, dtype=np.float32), np.zeros(3 * TILE, np.float32)
    launch(body, 1, x, y)
    np.testing.assert_array_equal(y, x)


def test_the_id_of_a_user_is_left_out_by_the_queues():
    @kernel
    def body():
        pipe, queue = TPipe(), TQue(TPosition.VECIN, 1)
        pipe.InitBuffer(queue, 1, NBYTES)
        pipe.AllocEventID(HardEvent.MTE2_V)
        queue.EnQue(queue.AllocTensor(float32))
        queue.FreeTensor(queue.DeQue(float32))

    assert flags(launch(body, 1))[0] == ("set", "MTE2_V", 1)


def test_a_queue_that_waits_for_a_copy_behind_a_lost_flag_is_a_deadlock():
    from simulator.ascendc import WaitFlag

    @kernel
    def body(x):
        pipe, queue = TPipe(), TQue(TPosition.VECIN, 1)
        pipe.InitBuffer(queue, 1, NBYTES)
        tile = queue.AllocTensor(float32)
        WaitFlag(HardEvent.V_MTE2, 6)
        DataCopy(tile, gm(x), TILE)
        queue.EnQue(tile)
        tile = queue.DeQue(float32)
        Adds(tile, tile, 1, TILE)
        queue.FreeTensor(tile)

    with pytest.raises(DeadlockError) as caught:
        launch(body, 1, np.zeros(TILE, np.float32))
    assert "V_MTE2 id 6" in str(caught.value)


def test_a_debugger_sees_queues_pipes_and_flags():
    seen = []

    @kernel
    def body(x):
        pipe, queue = TPipe(), TQue(TPosition.VECIN, 2)
        pipe.InitBuffer(queue, 2, NBYTES)
        tile = queue.AllocTensor(float32)
        DataCopy(tile, gm(x), TILE)
        queue.EnQue(tile)
        core = current_core()
        seen.append((repr(core.queues), repr(core.pipes), repr(core.flags), repr(core)))

    launch(body, 1, np.zeros(TILE, np.float32))
    queues, pipes, up, core = seen[0]
    assert "VECIN queue" in queues
    assert "ENQUE" in queues
    assert "FREE" in queues
    assert "<pipe MTE2: 2 issued, idle>" in pipes
    assert up == "<flags up: MTE2_V id 0>"
    assert core.startswith("<core of block 0 of 1 on 910b")


@pytest.mark.parametrize("position", [TPosition.GM, TPosition.A1, TPosition.CO1])
def test_positions_of_the_cube_core_are_refused(position):
    @kernel
    def body():
        TQue(position, 1)

    with pytest.raises(ArgumentError):
        launch(body, 1)
