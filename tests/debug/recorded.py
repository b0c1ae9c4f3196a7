"""Recorded launches that the tests of the debugger look at."""

from __future__ import annotations

import linecache

import numpy as np

from simulator.ascendc import (
    Add,
    Adds,
    DataCopy,
    GetBlockIdx,
    GlobalTensor,
    HardEvent,
    LocalTensor,
    SetFlag,
    SyncAll,
    TPipe,
    TPosition,
    TQue,
    WaitFlag,
    float32,
    kernel,
    launch,
)
from simulator.debug import record_for_debug
from simulator.launch import default_options
from simulator.platforms import load_platform
from tools.operators import find_operator

TILE = 64


def gm(pointer, start=0):
    tensor = GlobalTensor(float32)
    tensor.SetGlobalBuffer(pointer)
    return tensor[start]


@kernel
def queued(x, y, tiles):
    """y = x + x, tile by tile through two queues of two buffers."""
    pipe = TPipe()
    source, target = TQue(TPosition.VECIN, 2), TQue(TPosition.VECOUT, 2)
    pipe.InitBuffer(source, 2, TILE * 4)
    pipe.InitBuffer(target, 2, TILE * 4)
    first = GetBlockIdx() * tiles * TILE
    for tile in range(tiles):
        a = source.AllocTensor(float32)
        DataCopy(a, gm(x, first + tile * TILE), TILE)
        source.EnQue(a)
        a = source.DeQue(float32)
        b = target.AllocTensor(float32)
        Add(b, a, a, TILE)
        source.FreeTensor(a)
        target.EnQue(b)
        b = target.DeQue(float32)
        DataCopy(gm(y, first + tile * TILE), b, TILE)
        target.FreeTensor(b)


@kernel(auto_sync=False)
def racy(x, y):
    """The copy out does not wait for the addition."""
    a = LocalTensor(float32, TPosition.VECCALC, 0, TILE)
    DataCopy(a, gm(x), TILE)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Adds(a, a, 1.0, TILE)
    DataCopy(gm(y), a, TILE)


@kernel(auto_sync=False)
def backwards(x, y):
    """The wait of the vector pipe comes before the copy that it waits for."""
    a = LocalTensor(float32, TPosition.VECCALC, 0, TILE)
    WaitFlag(HardEvent.MTE2_V, 0)
    Adds(a, a, 1.0, TILE)
    SetFlag(HardEvent.V_MTE3, 0)
    DataCopy(a, gm(x), TILE)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(y), a, TILE)


@kernel
def meeting(x, y):
    """Every block writes its share, meets the others, and reads the share of its neighbour."""
    pipe = TPipe()
    queue = TQue(TPosition.VECIN, 1)
    pipe.InitBuffer(queue, 1, TILE * 4)
    a = queue.AllocTensor(float32)
    mine = GetBlockIdx()
    DataCopy(a, gm(x, mine * TILE), TILE)
    queue.EnQue(a)
    a = queue.DeQue(float32)
    Adds(a, a, 1.0, TILE)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(y, mine * TILE), a, TILE)
    SetFlag(HardEvent.MTE3_MTE2, 0)
    WaitFlag(HardEvent.MTE3_MTE2, 0)
    SyncAll()
    DataCopy(a, gm(y, (1 - mine) * TILE), TILE)
    SetFlag(HardEvent.MTE2_MTE3, 0)
    WaitFlag(HardEvent.MTE2_MTE3, 0)
    DataCopy(gm(x, mine * TILE), a, TILE)
    queue.FreeTensor(a)


@kernel
def hanging(x, y):
    """Waits for a flag that nothing sets."""
    a = LocalTensor(float32, TPosition.VECCALC, 0, TILE)
    DataCopy(a, gm(x), TILE)
    WaitFlag(HardEvent.V_S, 3)
    DataCopy(gm(y), a, TILE)


@kernel
def dividing(x, y):
    """Fails with an error of Python, and one call deeper."""
    a = LocalTensor(float32, TPosition.VECCALC, 0, TILE)
    DataCopy(a, gm(x), TILE)
    divide(3, 0)


def divide(one, other):
    return one // other


def record(function, blocks, *arrays):
    """Launch for the debugger, without checks; return the launch, whether it failed or not."""
    with record_for_debug() as recorder, default_options(check="off"):
        try:
            launch(function, blocks, *arrays)
        except Exception as error:
            failed = error
        else:
            failed = None
    assert recorder.launches[-1].error is failed
    return recorder.launches[-1]


def operator_launch(name, shape, dtype):
    """Return the only launch of an operator, and its inputs."""
    operator = find_operator(name)
    inputs = operator.inputs(np.random.default_rng(0), shape, np.dtype(dtype))
    with record_for_debug() as recorder, default_options(check="off"):
        operator.run(inputs, load_platform("910b"))
    (found,) = recorder.launches
    return found, inputs


def source_of(stop):
    """Return the text of the source line that a stop is at."""
    place = stop.location
    return linecache.getline(place.file, place.line).strip()
