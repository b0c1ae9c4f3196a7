"""The helper of these tests sees what a call wrote, and what it should not have written."""

import numpy as np
import pytest
from harness import Filled, on_core

from simulator.ascendc import Add, DataCopy, GetBlockIdx, int4b_t
from simulator.errors import ConfigError, DTypeError


@pytest.mark.parametrize("platform", ["910b", "950"])
def test_values_go_in_and_come_out(platform):
    a, b = np.arange(100, dtype=np.int32), np.full(100, 7, np.int32)
    done = on_core(
        lambda t: Add(t.dst, t.a, t.b, 90),
        a=a,
        b=b,
        dst=np.full(100, -1, np.int32),
        platform=platform,
    )
    assert done["dst"].tolist() == [i + 7 for i in range(90)] + [-1] * 10
    assert done["a"].tolist() == a.tolist()
    start, stop = done.places["dst"]
    assert done.changed_outside("dst").size == 0
    assert set(done.changed()) <= set(range(start, stop))


def test_a_write_outside_the_named_tensor_is_seen():
    a = np.arange(64, dtype=np.float32)
    done = on_core(lambda t: Add(t.dst, t.a, t.a, 64), a=a, dst=np.zeros(64, np.float32))
    # 0 + 0 leaves element 0 as it was; 1 + 1 changes the upper two bytes of the word.
    assert done.changed_outside("a")[0] == done.places["dst"][0] + 4 + 3


def test_what_the_body_returns_comes_back_and_errors_pass_through():
    done = on_core(lambda t: (GetBlockIdx(), t.x.GetSize()), x=Filled(int4b_t, [0] * 32))
    assert done.returned == (0, 64)
    with pytest.raises(DTypeError):
        on_core(lambda t: Add(t.x, t.x, t.x, 32), x=np.zeros(32, np.uint8))


def test_global_memory_can_be_written():
    done = on_core(
        lambda t: DataCopy(t.out, t.x, 16),
        x=np.arange(16, dtype=np.float16),
        gm={"out": np.zeros(32, "f2")},
    )
    assert done["out"].tolist() == [*range(16), *[0] * 16]


def test_tensors_that_do_not_fit_are_refused():
    with pytest.raises(ConfigError):
        on_core(lambda t: None, x=np.zeros(1 << 18, np.uint8))
