"""Filling global memory, and the rest of the unified buffer that it uses."""

from __future__ import annotations

import numpy as np
import pytest
from harness import on_core

from simulator.ascendc import (
    Fill,
    GlobalTensor,
    InitGlobalMemory,
    InitOutput,
    PopStackBuffer,
    float32,
    half,
    kernel,
    launch,
)
from simulator.errors import (
    ArgumentError,
    OutOfBoundsError,
    QueueError,
)


def ask(body, **data):
    data = data or {"x": np.arange(64, dtype=np.float32)}
    return on_core(body, **data).returned


def outside(body, count=64):
    return on_core(
        body, x=np.zeros(8, np.float32), gm={"g": np.arange(count, dtype=np.float32)}
    ).returned


@pytest.mark.parametrize("call", [InitOutput, InitGlobalMemory, Fill])
@pytest.mark.parametrize("count", [1, 7, 64, 1000, 40000])
@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.float16])
def test_memory_is_filled_to_the_last_element(call, count, dtype):
    done = on_core(
        lambda t: call(t.g, count, 3), x=np.zeros(8, np.float32), gm={"g": np.full(40100, 9, dtype)}
    )
    assert set(done["g"][:count].tolist()) == {3}
    assert set(done["g"][count:].tolist()) == {9}


def test_filling_needs_a_pipe_and_room_behind_its_buffers():
    @kernel
    def body(x):
        g = GlobalTensor(float32)
        g.SetGlobalBuffer(x)
        InitGlobalMemory(g, 8, 0)

    with pytest.raises(QueueError, match="no TPipe"):
        launch(body, 1, np.zeros(8, np.float32))


def test_the_rest_of_the_unified_buffer_is_a_tensor():
    def body(t):
        rest = PopStackBuffer(half)
        return rest.GetPhyAddr() + rest.GetLength(), rest.GetPhyAddr() % 32

    end, misaligned = ask(body)
    assert misaligned == 0
    assert end <= 192 * 1024


def test_a_fill_takes_a_global_tensor_and_a_count():
    with pytest.raises(ArgumentError, match="GlobalTensor"):
        ask(lambda t: Fill(t.x, 8, 0))
    with pytest.raises(ArgumentError, match="size"):
        outside(lambda t: Fill(t.g, -1, 0))
    with pytest.raises(OutOfBoundsError):
        outside(lambda t: Fill(t.g, 65, 0))
