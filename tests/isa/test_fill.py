import math

import ml_dtypes
import numpy as np
import pytest
from harness import Filled, on_core

from simulator.ascendc import Brcb, Duplicate, SetVectorMask
from simulator.dtypes import as_dtype
from simulator.errors import ArgumentError, DTypeError, UnsupportedError
from simulator.isa.rearrange_params import BrcbRepeatParams

NARROW = [np.int16, np.uint16, np.float16, ml_dtypes.bfloat16, np.int32, np.uint32, np.float32]


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("arch", ["910b", "950"])
def test_duplicate_fills_exactly_count_elements(arch, dtype):
    done = on_core(lambda t: Duplicate(t.dst, 3, 37), platform=arch, dst=np.full(64, 9, dtype))
    assert done["dst"].astype(float).tolist() == [3.0] * 37 + [9.0] * 27
    assert done.changed_outside("dst").size == 0


@pytest.mark.parametrize("value", [math.nan, -0.0, math.inf])
def test_duplicate_keeps_the_sign_of_zero_and_nan(value):
    done = on_core(lambda t: Duplicate(t.dst, value, 64), dst=np.ones(64, np.float32))
    want = np.array([value], np.float32).view(np.uint32)[0]
    assert set(done["dst"].view(np.uint32).tolist()) == {int(want)}


@pytest.mark.parametrize("mask", [5, 128, [0xF0F0_0000_0000_0001, 1 << 63]])
def test_duplicate_honours_mask_and_strides(mask):
    done = on_core(lambda t: Duplicate(t.dst, 7, mask, 3, 2, 17), dst=np.zeros(1024, np.uint16))
    want = np.zeros(1024, np.uint16)
    for r in range(3):
        for lane in range(128):
            word = 0 if isinstance(mask, int) else mask[lane // 64] >> (lane % 64) & 1
            if lane < mask if isinstance(mask, int) else word:
                want[16 * (17 * r + 2 * (lane // 16)) + lane % 16] = 7
    assert done["dst"].tolist() == want.tolist()


def test_duplicate_uses_the_mask_register_when_told_not_to_set_it():
    def body(t):
        SetVectorMask(0, 0b101)
        Duplicate(t.dst, 1, 0, 2, 1, 8, False)

    done = on_core(body, dst=np.zeros(128, np.int32))
    assert np.flatnonzero(done["dst"]).tolist() == [0, 2, 64, 66]


@pytest.mark.parametrize(
    ("name", "value", "bits"),
    [
        ("bool", True, 1), ("int8_t", -2, 0xFE), ("uint8_t", 200, 200),
        ("fp8_e4m3fn_t", 448.0, 0x7E), ("fp8_e5m2_t", 1.0, 0x3C), ("fp8_e8m0_t", 1.0, 127),
        ("hifloat8_t", 0x12, 0x12), ("fp4x2_e2m1_t", 0x7A, 0x7A), ("fp4x2_e1m2_t", 0x35, 0x35),
        ("complex32", 1 - 2j, 0xC000_3C00), ("int64_t", -1, 2**64 - 1), ("uint64_t", 2**63, 2**63),
        ("complex64", 1 - 2j, 0xC000_0000_3F80_0000),
    ],
)  # fmt: skip
def test_950_fills_every_other_type_in_the_count_form_only(name, value, bits):
    storage = as_dtype(name).numpy
    blank = Filled(name, np.zeros(96, storage))
    done = on_core(lambda t: Duplicate(t.dst, value, 70), platform="950", dst=blank)
    assert done["dst"].view(f"u{storage.itemsize}").tolist() == [bits] * 70 + [0] * 26
    with pytest.raises(UnsupportedError, match="count form only"):
        on_core(lambda t: Duplicate(t.dst, value, 8, 1), platform="950", dst=blank)
    with pytest.raises(DTypeError):
        on_core(lambda t: Duplicate(t.dst, value, 70), dst=blank)


def test_950_spreads_element_0_of_a_tensor():
    src = np.arange(16, dtype=np.float16)
    done = on_core(
        lambda t: Duplicate(t.dst, t.src[3], 40),
        platform="950", src=src, dst=np.zeros(64, np.float16),
    )  # fmt: skip
    assert done["dst"].tolist() == [3.0] * 40 + [0.0] * 24
    with pytest.raises(UnsupportedError, match="tensor"):
        on_core(lambda t: Duplicate(t.dst, t.src, 16), src=src, dst=np.zeros(64, np.float16))


@pytest.mark.parametrize("dtype", NARROW)
def test_brcb_fills_a_block_with_each_element(dtype):
    src = np.arange(1, 25).astype(dtype)
    per = 32 // np.dtype(dtype).itemsize
    done = on_core(
        lambda t: Brcb(t.dst, t.src, 3, BrcbRepeatParams(2, 17)),
        src=src, dst=np.zeros(per * 50, dtype),
    )  # fmt: skip
    want = np.zeros(per * 50)
    for i in range(24):
        start = per * (17 * (i // 8) + 2 * (i % 8))
        want[start : start + per] = i + 1
    assert done["dst"].astype(float).tolist() == want.tolist()
    assert done.changed_outside("dst").size == 0


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64])
def test_brcb_of_8_and_64_bit_types_exists_on_950_only(dtype):
    src = np.arange(1, 9).astype(dtype)
    per = 32 // np.dtype(dtype).itemsize
    arrays = {"src": src, "dst": np.zeros(8 * per, dtype)}
    done = on_core(lambda t: Brcb(t.dst, t.src, 1, (1, 8)), platform="950", **arrays)
    assert done["dst"].tolist() == [i for i in range(1, 9) for _ in range(per)]
    with pytest.raises(DTypeError):
        on_core(lambda t: Brcb(t.dst, t.src, 1, (1, 8)), **arrays)


def test_brcb_refuses_a_block_stride_of_0_and_does_nothing_for_0_repeats():
    arrays = {"src": np.zeros(8, np.float16), "dst": np.ones(128, np.float16)}
    with pytest.raises(ArgumentError, match="dstBlkStride"):
        on_core(lambda t: Brcb(t.dst, t.src, 1, BrcbRepeatParams(0, 8)), **arrays)
    done = on_core(lambda t: Brcb(t.dst, t.src, 0, BrcbRepeatParams(1, 8)), **arrays)
    assert done.changed().size == 0
