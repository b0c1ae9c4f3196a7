"""What the tests of the core share: an array in, and the line of a call."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from simulator.ascendc import (
    Add,
    DataCopy,
    GetBlockIdx,
    GlobalTensor,
    TBuf,
    TPipe,
    TPosition,
    float32,
    kernel,
    launch,
)


@kernel
def _twice(x, y):
    pipe = TPipe()
    buffer = TBuf(TPosition.VECCALC)
    pipe.InitBuffer(buffer, 512)
    local = buffer.Get(float32)
    src, dst = GlobalTensor(float32), GlobalTensor(float32)
    src.SetGlobalBuffer(x)
    dst.SetGlobalBuffer(y)
    start = GetBlockIdx() * 128
    DataCopy(local, src[start], 128)
    Add(local, local, local, 128)
    DataCopy(dst[start], local, 128)


@pytest.fixture
def machine_still_right():
    """After the test, an ordinary launch in the same process must give the right sums."""
    yield
    x = np.arange(512, dtype=np.float32)
    y = np.zeros_like(x)
    launch(_twice, 4, x, y)
    np.testing.assert_array_equal(y, np.arange(512) * 2)


@pytest.fixture
def line_of():
    """Return the number of the first line of a kernel that holds a text."""

    def find(kernel_, text):
        lines, first = inspect.getsourcelines(kernel_.function)
        (offset,) = [n for n, line in enumerate(lines) if text in line][:1]
        return first + offset

    return find
