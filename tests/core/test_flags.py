"""SetFlag and WaitFlag: order, pairing, and deadlocks that are found and explained."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.ascendc import (
    EVENT_ID0,
    PIPE_ALL,
    PIPE_MTE2,
    PIPE_MTE3,
    PIPE_S,
    PIPE_V,
    Adds,
    DataCopy,
    DataSyncBarrier,
    Duplicate,
    GlobalTensor,
    HardEvent,
    LocalTensor,
    MemDsbT,
    PipeBarrier,
    SetFlag,
    TPosition,
    TQueSync,
    WaitFlag,
    float32,
    kernel,
    launch,
    pipe_barrier,
    set_flag,
    wait_flag,
)
from simulator.core import current_core
from simulator.errors import ArgumentError, DeadlockError, FlagError, UnsupportedError

pytestmark = pytest.mark.usefixtures("machine_still_right")


def local(addr=0, count=64):
    return LocalTensor(float32, TPosition.VECCALC, addr, count)


def gm(array):
    tensor = GlobalTensor(float32)
    tensor.SetGlobalBuffer(array)
    return tensor


@kernel
def copy_and_add(x, y):
    tile = local()
    DataCopy(tile, gm(x), 64)
    SetFlag(HardEvent.MTE2_V, EVENT_ID0)
    WaitFlag(HardEvent.MTE2_V, EVENT_ID0)
    Adds(tile, tile, 1, 64)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(y), tile, 64)


@kernel
def wait_first(x, y):
    tile = local()
    WaitFlag(HardEvent.MTE2_V, 3)
    Adds(tile, tile, 1, 64)
    SetFlag(HardEvent.V_MTE3, 3)
    DataCopy(tile, gm(x), 64)
    SetFlag(HardEvent.MTE2_V, 3)
    WaitFlag(HardEvent.V_MTE3, 3)
    DataCopy(gm(y), tile, 64)


@kernel
def wait_first_by_pipe_pair(x, y):
    tile = local()
    wait_flag(PIPE_MTE2, PIPE_V, 3)
    Adds(tile, tile, 1, 64)
    set_flag(PIPE_V, PIPE_MTE3, 3)
    DataCopy(tile, gm(x), 64)
    set_flag(PIPE_MTE2, PIPE_V, 3)
    wait_flag(PIPE_V, PIPE_MTE3, 3)
    DataCopy(gm(y), tile, 64)
    pipe_barrier(PIPE_ALL)


@kernel
def ordered_by_sync_objects(x, y):
    tile = local()
    loaded, summed = TQueSync(PIPE_MTE2, PIPE_V), TQueSync(PIPE_V, PIPE_MTE3)
    loaded.WaitFlag(1)
    Adds(tile, tile, 1, 64)
    summed.SetFlag(1)
    DataCopy(tile, gm(x), 64)
    loaded.SetFlag(1)
    summed.WaitFlag(1)
    DataCopy(gm(y), tile, 64)


@pytest.mark.parametrize(
    "function", [copy_and_add, wait_first, wait_first_by_pipe_pair, ordered_by_sync_objects]
)
def test_a_pipe_does_what_is_behind_a_wait_when_the_flag_is_up(function):
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    launch(function, 1, x, y)
    np.testing.assert_array_equal(y, np.arange(64) + 1)


def test_the_other_pipes_go_on_while_one_waits():
    seen = []

    @kernel
    def look(y):
        a, b = local(), local(256)
        WaitFlag(HardEvent.MTE2_V, 0)
        Duplicate(a, 1, 64)
        DataCopy(b, gm(y), 64)
        seen.append(b.GetValue(5))
        seen.append(repr(current_core().pipes))
        SetFlag(HardEvent.MTE2_V, 0)
        seen.append(a.GetValue(5))

    launch(look, 1, np.arange(64, dtype=np.float32))
    assert seen[0] == 5
    assert (
        "<pipe V: waits for flag MTE2_V id 0, which nothing sets; behind it: Duplicate>" in seen[1]
    )
    assert seen[2] == 1


@kernel
def never_set(x):
    tile = local()
    DataCopy(tile, gm(x), 64)
    SetFlag(HardEvent.MTE2_V, 1)
    WaitFlag(HardEvent.MTE2_V, 2)
    Adds(tile, tile, 1, 64)


@kernel
def scalar_waits(x):
    DataCopy(local(), gm(x), 64)
    WaitFlag(HardEvent.MTE2_S, 5)
    local().GetValue(0)


@kernel
def each_waits_for_the_other(x):
    WaitFlag(HardEvent.MTE3_V, 0)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    SetFlag(HardEvent.MTE3_V, 0)


@kernel
def barrier_behind_a_wait(x):
    WaitFlag(HardEvent.MTE2_MTE3, 7)
    PipeBarrier(PIPE_ALL)


@pytest.mark.parametrize(
    ("function", "text", "event", "number", "pipe"),
    [
        (never_set, "WaitFlag", "MTE2_V", 2, "V"),
        (scalar_waits, "WaitFlag", "MTE2_S", 5, "S"),
        (each_waits_for_the_other, "WaitFlag", "MTE3_V", 0, "V"),
        (barrier_behind_a_wait, "WaitFlag", "MTE2_MTE3", 7, "MTE3"),
    ],
)
def test_a_deadlock_names_pipe_flag_id_and_line(function, text, event, number, pipe, line_of):
    with pytest.raises(DeadlockError) as caught:
        launch(function, 1, np.zeros(64, np.float32))
    error = caught.value
    assert (error.event, error.event_id, error.pipe) == (event, number, pipe)
    assert error.line == error.location.line == line_of(function, text)
    assert error.location.file == __file__
    assert error.block == 0
    assert f"SetFlag(HardEvent.{event}, {number})" in error.fix
    assert f"flag {event} id {number}" in str(error)


def test_a_deadlock_tells_the_flags_that_are_up():
    with pytest.raises(DeadlockError) as caught:
        launch(never_set, 1, np.zeros(64, np.float32))
    assert "flags that are up: MTE2_V id 1" in caught.value.got


def test_a_cycle_of_waits_is_explained_pipe_by_pipe():
    with pytest.raises(DeadlockError) as caught:
        launch(each_waits_for_the_other, 1, np.zeros(64, np.float32))
    v, mte3 = caught.value.waits
    assert v.startswith("V waits")
    assert mte3.startswith("MTE3 waits")
    assert "is itself blocked" in v
    assert "is itself blocked" in mte3


def test_a_flag_that_is_set_twice_is_an_error(line_of):
    @kernel
    def twice():
        SetFlag(HardEvent.V_MTE3, 4)
        SetFlag(HardEvent.V_MTE3, 4)  # second

    with pytest.raises(FlagError, match="V_MTE3 id 4 is set again") as caught:
        launch(twice, 1)
    assert caught.value.location.line == line_of(twice, "# second")
    assert caught.value.pipe == "V"


def test_a_flag_that_is_set_and_never_awaited_is_no_error_of_the_core():
    @kernel
    def once():
        SetFlag(HardEvent.V_MTE3, 4)

    launch(once, 1)


@pytest.mark.parametrize("number", [-1, 8, 1.5, None])
@pytest.mark.parametrize("call", [SetFlag, WaitFlag])
def test_an_id_outside_0_to_7_is_refused(call, number, line_of):
    @kernel
    def body():
        call(HardEvent.V_MTE3, number)  # here

    with pytest.raises((FlagError, ArgumentError)) as caught:
        launch(body, 1)
    assert caught.value.location.line == line_of(body, "# here")
    assert "0..7" in str(caught.value.legal)
    assert str(number) in str(caught.value.got)


def test_an_event_of_the_cube_core_is_refused():
    @kernel
    def body():
        SetFlag(HardEvent.M_FIX, 0)

    with pytest.raises((ArgumentError, UnsupportedError, FlagError)) as caught:
        launch(body, 1)
    assert "M_FIX" in str(caught.value)


def test_no_event_between_a_pipe_and_itself_but_v():
    @kernel
    def body():
        set_flag(PIPE_MTE2, PIPE_MTE2, 0)

    with pytest.raises((ArgumentError, FlagError)):
        launch(body, 1)


def test_flags_are_down_when_the_next_block_starts():
    @kernel
    def body():
        SetFlag(HardEvent.V_MTE3, 4)

    launch(body, 3)


def test_a_flag_is_down_after_its_wait():
    up = []

    @kernel
    def body():
        SetFlag(HardEvent.S_V, 2)
        up.append(list(current_core().flags))
        WaitFlag(HardEvent.S_V, 2)
        up.append(list(current_core().flags))

    launch(body, 1)
    assert up == [[("S_V", 2)], []]


def test_barriers_of_the_scalar_unit_and_of_memory_are_recorded():
    @kernel
    def body():
        PipeBarrier(PIPE_V)
        PipeBarrier(PIPE_ALL)
        DataSyncBarrier(MemDsbT.ALL)

    run = launch(body, 1)
    assert [i.name for i in run.instructions] == ["PipeBarrier", "PipeBarrier", "DataSyncBarrier"]
    assert [i.pipe for i in run.instructions][:2] == ["V", "S"]


def test_a_barrier_of_the_scalar_pipe_alone_is_refused():
    @kernel
    def body():
        PipeBarrier(PIPE_S)

    with pytest.raises((ArgumentError, UnsupportedError)):
        launch(body, 1)
