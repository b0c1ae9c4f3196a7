import ml_dtypes
import numpy as np
import pytest
from harness import on_core

from simulator.ascendc import (
    GatherMask,
    GetGatherMaskRemainCount,
    SetMaskCount,
    SetVectorMask,
)
from simulator.errors import ArgumentError, DTypeError, OutOfBoundsError, UnsupportedError
from simulator.isa.rearrange_params import GatherMaskParams

BOTH = [np.int16, np.uint16, np.float16, ml_dtypes.bfloat16, np.int32, np.uint32, np.float32]
STAYS = {
    1: lambda i: i % 2 == 0,
    2: lambda i: i % 2 == 1,
    3: lambda i: i % 4 == 0,
    4: lambda i: i % 4 == 1,
    5: lambda i: i % 4 == 2,
    6: lambda i: i % 4 == 3,
    7: lambda i: True,
}


def kept(src, repeats, elements, blk, rep, stays):
    per = 32 // src.itemsize
    return [
        src[per * (rep * r + blk * (i // per)) + i % per]
        for r in range(repeats)
        for i in range(elements)
        if stays(r, i)
    ]


@pytest.mark.parametrize("pattern", list(STAYS))
@pytest.mark.parametrize(
    ("reduce", "mask", "elements"), [(False, 0, None), (True, 70, 70), (True, 5, 5)]
)
@pytest.mark.parametrize("dtype", [np.uint16, np.uint32])
@pytest.mark.parametrize("arch", ["910b", "950"])
def test_fixed_patterns(arch, dtype, pattern, reduce, mask, elements):
    src = np.arange(1, 1001).astype(dtype)
    size = src.itemsize
    count = [None]
    done = on_core(
        lambda t: GatherMask(t.dst, t.src, pattern, reduce, mask, (2, 3, 9, 0), count),
        platform=arch, src=src, dst=np.zeros(1000, dtype),
    )  # fmt: skip
    want = kept(src, 3, elements or 256 // size, 2, 9, lambda r, i: STAYS[pattern](i))
    assert done["dst"][: len(want)].tolist() == want
    assert not done["dst"][len(want) :].any()
    assert done.returned == count[0] == len(want)


@pytest.mark.parametrize(
    ("arch", "dtype"),
    [("910b", d) for d in BOTH] + [("950", d) for d in [*BOTH, np.int8, np.uint8]],
)
@pytest.mark.parametrize(("reduce", "mask"), [(False, 0), (True, 70)])
def test_a_pattern_tensor_is_consumed_bit_by_bit_within_a_repeat(arch, dtype, reduce, mask):
    size = np.dtype(dtype).itemsize
    raw = np.random.default_rng(1).integers(0, 256, 1024 * size, dtype=np.uint8)
    src = raw.view(f"u{size}")
    pattern = np.random.default_rng(2).integers(0, 256, 128, dtype=np.uint8)
    params = GatherMaskParams(1, 2, 8, 1)
    done = on_core(
        lambda t: GatherMask(t.dst, t.src, t.pattern, reduce, mask, params),
        platform=arch, src=src.view(dtype), pattern=pattern.view(f"u{size}"),
        dst=np.zeros(1024, src.dtype).view(dtype),
    )  # fmt: skip
    want = kept(
        src, 2, mask or 256 // size, 1, 8, lambda r, i: pattern[32 * r + i // 8] >> (i % 8) & 1
    )
    assert done["dst"].view(src.dtype)[: len(want)].tolist() == want
    assert not done["dst"].view(src.dtype)[len(want) :].any()
    assert done.returned == len(want)


def test_in_place_keeps_the_rest_of_the_tensor():
    src = np.arange(1, 257, dtype=np.uint32)
    done = on_core(lambda t: GatherMask(t.a, t.a, 2, False, 0, (1, 4, 8, 0)), a=src)
    assert done["a"].tolist() == [*range(2, 257, 2), *range(129, 257)]


def test_the_mask_register_and_mode_afterwards():
    def body(t):
        SetMaskCount()
        SetVectorMask(0, 17)
        GatherMask(t.a, t.a, 1, True, 20, (1, 1, 8, 0))
        return t.a._core.counter_mode, t.a._core.mask

    arrays = {"a": np.zeros(64, np.float32)}
    assert on_core(body, **arrays).returned == (False, (20, 0))
    assert on_core(body, platform="950", **arrays).returned == (False, (0x5555_5555_5555_5555, 0))


def test_the_remaining_count_is_readable_later_on_910b():
    def body(t):
        none = GetGatherMaskRemainCount()
        GatherMask(t.a, t.a, 3, False, 0, (1, 2, 8, 0))
        return none, GetGatherMaskRemainCount()

    assert on_core(body, a=np.zeros(256, np.int16)).returned == (0, 64)
    with pytest.raises(UnsupportedError):
        on_core(body, platform="950", a=np.zeros(256, np.int16))


def test_zero_repeats_keep_nothing():
    done = on_core(
        lambda t: GatherMask(t.a, t.a, 7, False, 0, (1, 0, 8, 0)), a=np.arange(64, dtype=np.int32)
    )
    assert done.returned == 0
    assert done.changed().size == 0


def test_wrong_calls_are_refused():
    arrays = {
        "a": np.zeros(256, np.int32),
        "p": np.zeros(64, np.uint16),
        "small": np.zeros(8, np.int32),
    }
    with pytest.raises(ArgumentError, match="src1Pattern"):
        on_core(lambda t: GatherMask(t.a, t.a, 8, False, 0, (1, 1, 8, 0)), **arrays)
    with pytest.raises(ArgumentError, match="mask"):
        on_core(lambda t: GatherMask(t.a, t.a, 1, True, 0, (1, 1, 8, 0)), **arrays)
    with pytest.raises(DTypeError, match="width"):
        on_core(lambda t: GatherMask(t.a, t.a, t.p, False, 0, (1, 1, 8, 0)), **arrays)
    with pytest.raises(OutOfBoundsError, match="stay"):
        on_core(lambda t: GatherMask(t.small, t.a, 7, False, 0, (1, 1, 8, 0)), **arrays)
    with pytest.raises(OutOfBoundsError, match="src0 holds"):
        on_core(lambda t: GatherMask(t.a, t.a, 1, False, 0, (1, 5, 8, 0)), **arrays)
