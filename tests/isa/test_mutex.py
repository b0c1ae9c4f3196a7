"""Mutex, the ids of mutexes, and pipes that wait for each other through them."""

from __future__ import annotations

import numpy as np
import pytest
from harness import on_core

from simulator.ascendc import (
    PIPE_MTE2,
    PIPE_MTE3,
    PIPE_S,
    PIPE_V,
    Adds,
    AllocMutexID,
    DataCopy,
    Duplicate,
    GlobalTensor,
    HardEvent,
    LocalTensor,
    Mutex,
    ReleaseMutexID,
    SetFlag,
    TPosition,
    WaitFlag,
    float32,
    kernel,
    launch,
)
from simulator.errors import (
    ArgumentError,
    DeadlockError,
    QueueError,
    SyncError,
    UnsupportedError,
)


def test_a_mutex_orders_pipes_without_flags():
    # V may take the tile only when MTE2 has given it back, MTE3 only after V.
    @kernel
    def body(x, y):
        tile = LocalTensor(float32, TPosition.VECIN, 0, 64)
        g, out = GlobalTensor(float32), GlobalTensor(float32)
        g.SetGlobalBuffer(x)
        out.SetGlobalBuffer(y)
        number = AllocMutexID()
        for turn in range(3):
            Mutex.Lock(PIPE_MTE2, number)
            DataCopy(tile, g[64 * turn], 64)
            Mutex.Unlock(PIPE_MTE2, number)
            Mutex.Lock(PIPE_V, number)
            Adds(tile, tile, 1, 64)
            Mutex.Unlock(PIPE_V, number)
            Mutex.Lock(PIPE_MTE3, number)
            DataCopy(out[64 * turn], tile, 64)
            Mutex.Unlock(PIPE_MTE3, number)
        ReleaseMutexID(number)

    x, y = np.arange(192, dtype=np.float32), np.zeros(192, np.float32)
    launch(body, 1, x, y, platform="950")
    np.testing.assert_array_equal(y, x + 1)


def test_ids_of_mutexes_are_handed_out_from_zero():
    def body(t):
        first = [AllocMutexID() for _ in range(3)]
        ReleaseMutexID(1)
        return first, AllocMutexID()

    assert on_core(body, platform="950", x=np.zeros(8)).returned == ([0, 1, 2], 1)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (lambda: (Mutex.Lock(PIPE_V, 0), Mutex.Lock(PIPE_MTE3, 0)), SyncError),
        (lambda: Mutex.Unlock(PIPE_V, 0), SyncError),
        (lambda: (Mutex.Lock(PIPE_V, 0), Mutex.Unlock(PIPE_MTE3, 0)), SyncError),
        (lambda: Mutex.Lock(PIPE_V, 32), ArgumentError),
        (lambda: Mutex.Lock("V", 0), ArgumentError),
        (lambda: ReleaseMutexID(3), QueueError),
        (lambda: [AllocMutexID() for _ in range(33)], QueueError),
    ],
)
def test_mutexes_out_of_turn_are_refused(body, kind):
    with pytest.raises(kind):
        on_core(lambda t: body(), platform="950", x=np.zeros(8))


def test_mutexes_exist_on_950_only():
    with pytest.raises(UnsupportedError, match="910B"):
        on_core(lambda t: Mutex.Lock(PIPE_V, 0), x=np.zeros(8))


def test_a_pipe_waits_for_the_mutex_that_another_holds():
    # MTE3 gets the mutex in its turn, after the flag that V waits for has let V unlock it.
    @kernel
    def body(x):
        a, b = (LocalTensor(float32, TPosition.VECCALC, 256 * i, 64) for i in range(2))
        g = GlobalTensor(float32)
        g.SetGlobalBuffer(x)
        Duplicate(b, 9, 64)
        Mutex.Lock(PIPE_V, 0)
        WaitFlag(HardEvent.MTE2_V, 0)
        Duplicate(a, 5, 64)
        Mutex.Unlock(PIPE_V, 0)
        Mutex.Lock(PIPE_MTE3, 0)
        DataCopy(g, a, 64)
        Mutex.Unlock(PIPE_MTE3, 0)
        SetFlag(HardEvent.MTE2_V, 0)

    x = np.zeros(64, np.float32)
    launch(body, 1, x, platform="950")
    assert set(x.tolist()) == {5}


def test_a_mutex_that_is_never_unlocked_is_a_deadlock():
    @kernel
    def body():
        Mutex.Lock(PIPE_V, 2)
        WaitFlag(HardEvent.MTE2_V, 0)
        Mutex.Unlock(PIPE_V, 2)
        Mutex.Lock(PIPE_S, 2)

    with pytest.raises(DeadlockError) as caught:
        launch(body, 1, platform="950")
    assert any("mutex 2" in wait for wait in caught.value.waits)
