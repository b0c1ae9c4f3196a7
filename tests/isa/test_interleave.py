import ml_dtypes
import numpy as np
import pytest
from harness import on_core

from simulator.ascendc import DeInterleave, Interleave
from simulator.errors import ArgumentError, UnsupportedError

TYPES = [
    np.int8, np.uint8, np.int16, np.uint16, np.float16, ml_dtypes.bfloat16, np.int32, np.uint32,
    np.float32, np.int64, np.uint64,
]  # fmt: skip


def blanks(dtype, count):
    return {"d0": np.zeros(count, dtype), "d1": np.zeros(count, dtype)}


@pytest.mark.parametrize("dtype", TYPES)
def test_interleave_and_back(dtype):
    a, b = np.arange(60).astype(dtype), np.arange(60, 120).astype(dtype)

    def body(t):
        Interleave(t.d0, t.d1, t.a, t.b, 60)
        DeInterleave(t.e0, t.e1, t.d0, t.d1, 60)

    done = on_core(
        body, platform="950", a=a, b=b, **blanks(dtype, 64), e0=np.zeros(64, dtype),
        e1=np.zeros(64, dtype),
    )  # fmt: skip
    mixed = [float(v) for pair in zip(a, b, strict=True) for v in pair]
    assert done["d0"].astype(float).tolist() == mixed[:60] + [0.0] * 4
    assert done["d1"].astype(float).tolist() == mixed[60:] + [0.0] * 4
    assert done["e0"].astype(float).tolist() == a.astype(float).tolist() + [0.0] * 4
    assert done["e1"].astype(float).tolist() == b.astype(float).tolist() + [0.0] * 4


def test_one_source_is_split_in_halves():
    src = np.arange(1, 41, dtype=np.float32)
    done = on_core(
        lambda t: DeInterleave(t.d0, t.d1, t.src, 40),
        platform="950", src=src, **blanks(np.float32, 24),
    )  # fmt: skip
    assert done["d0"].tolist() == [*range(1, 41, 2)] + [0] * 4
    assert done["d1"].tolist() == [*range(2, 41, 2)] + [0] * 4


def test_an_odd_count_and_910b_are_refused():
    arrays = {"a": np.zeros(32, np.float16), **blanks(np.float16, 32)}
    with pytest.raises(ArgumentError, match="even"):
        on_core(lambda t: Interleave(t.d0, t.d1, t.a, t.a, 31), platform="950", **arrays)
    with pytest.raises(UnsupportedError, match="910B"):
        on_core(lambda t: Interleave(t.d0, t.d1, t.a, t.a, 32), **arrays)
