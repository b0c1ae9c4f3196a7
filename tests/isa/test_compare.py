import math
import operator

import ml_dtypes
import numpy as np
import pytest
from harness import on_core

from simulator.ascendc import CMPMODE, Compare, Compares, CompareScalar
from simulator.errors import ArgumentError, DTypeError, OutOfBoundsError, UnsupportedError
from simulator.isa.params import BinaryRepeatParams, UnaryRepeatParams

RULES = {
    CMPMODE.LT: operator.lt,
    CMPMODE.GT: operator.gt,
    CMPMODE.EQ: operator.eq,
    CMPMODE.LE: operator.le,
    CMPMODE.GE: operator.ge,
    CMPMODE.NE: operator.ne,
}

SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 2.0**-24]

WIDE = [
    np.int8, np.uint8, np.int16, np.uint16, np.float16, ml_dtypes.bfloat16, np.int32, np.uint32,
    np.float32, np.int64, np.uint64, np.float64,
]  # fmt: skip


def expected_bits(left, right, mode, arch):
    """Bits from Python's own comparisons; 910B answers false to anything with NaN."""
    out = []
    for pair in zip(left, right, strict=True):
        a, b = (int(x) if isinstance(x, np.integer) else float(x) for x in pair)
        nan = math.isnan(a) or math.isnan(b)
        out.append(bool(RULES[mode](a, b)) and not (nan and arch == "910b"))
    return out


def bits_of(raw, count):
    return [bool(raw.view(np.uint8)[i // 8] >> (i % 8) & 1) for i in range(count)]


def pairs(dtype, count):
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        values = [info.min, info.max, 0, 1, info.max - 1, info.min + 1, 5, 7]
    else:
        values = SPECIAL
    left = np.array((values * count)[:count], dtype)
    right = np.array([v for v in values for _ in values] * count, dtype)[:count]
    return left, right


@pytest.mark.parametrize("mode", list(CMPMODE))
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("arch", ["910b", "950"])
def test_every_mode_compares_special_values_as_the_tables_say(arch, dtype, mode):
    left, right = pairs(dtype, 256)
    done = on_core(
        lambda t: Compare(t.dst, t.a, t.b, mode, 256),
        platform=arch, dst=np.zeros(64, np.uint8), a=left, b=right,
    )  # fmt: skip
    assert bits_of(done["dst"], 256) == expected_bits(left, right, mode, arch)
    assert done.changed_outside("dst").size == 0
    assert not done["dst"][32:].any()


@pytest.mark.parametrize("mode", list(CMPMODE))
@pytest.mark.parametrize("dtype", WIDE)
def test_950_compares_every_type(dtype, mode):
    left, right = pairs(dtype, 256)
    done = on_core(
        lambda t: Compare(t.dst, t.a, t.b, mode, 256),
        platform="950", dst=np.zeros(32, np.int8), a=left, b=right,
    )  # fmt: skip
    assert bits_of(done["dst"], 256) == expected_bits(left, right, mode, "950")


@pytest.mark.parametrize(
    ("dtype", "unit"), [(np.uint8, 256), (np.float16, 128), (np.float32, 64), (np.int64, 64)]
)
def test_950_fills_the_last_repeat_with_zero_bits(dtype, unit):
    count = unit + 3
    values = np.ones(count, dtype)
    done = on_core(
        lambda t: Compare(t.dst, t.a, t.a, CMPMODE.EQ, count),
        platform="950", dst=np.full(128, 0xEE, np.uint8), a=values,
    )  # fmt: skip
    written = 2 * unit // 8
    assert bits_of(done["dst"], 2 * unit) == [i < count for i in range(2 * unit)]
    assert (done["dst"][written:] == 0xEE).all()


def test_910b_refuses_a_partial_repeat_and_names_the_rounded_count():
    with pytest.raises(ArgumentError, match="100 elements of float") as caught:
        on_core(
            lambda t: Compare(t.dst, t.a, t.a, CMPMODE.EQ, 100),
            dst=np.zeros(32, np.uint8), a=np.zeros(128, np.float32),
        )  # fmt: skip
    assert "128" in caught.value.fix


def test_910b_leaves_a_partial_repeat_unwritten_when_not_strict():
    done = on_core(
        lambda t: CompareScalar(t.dst, t.a, 0.0, CMPMODE.EQ, 100),
        strict=False, dst=np.full(32, 0xEE, np.uint8), a=np.zeros(100, np.float32),
    )  # fmt: skip
    assert done["dst"].tolist() == [255] * 8 + [0xEE] * 24


def test_910b_compares_int32_for_equality_only():
    values = np.arange(64, dtype=np.int32)
    other = np.where(values % 3 == 0, values, -values).astype(np.int32)

    def both(mode):
        return on_core(
            lambda t: Compare(t.dst, t.a, t.b, mode, 64),
            dst=np.zeros(32, np.uint8), a=values, b=other,
        )  # fmt: skip

    assert bits_of(both(CMPMODE.EQ)["dst"], 64) == [i % 3 == 0 for i in range(64)]
    with pytest.raises(ArgumentError, match="equality only"):
        both(CMPMODE.LT)


@pytest.mark.parametrize("scalar", [math.nan, 1.0, -0.0, math.inf])
@pytest.mark.parametrize("mode", list(CMPMODE))
@pytest.mark.parametrize("arch", ["910b", "950"])
def test_a_scalar_compares_like_a_tensor_of_it(arch, mode, scalar):
    left = np.array(SPECIAL * 8, np.float32)
    done = on_core(
        lambda t: Compares(t.dst, t.a, scalar, mode, 64),
        platform=arch, dst=np.zeros(32, np.uint8), a=left,
    )  # fmt: skip
    assert bits_of(done["dst"], 64) == expected_bits(left, [scalar] * 64, mode, arch)


def test_the_scalar_is_rounded_to_the_element_type_first():
    done = on_core(
        lambda t: CompareScalar(t.dst, t.a, 0.1, CMPMODE.EQ, 128),
        dst=np.zeros(32, np.uint8), a=np.full(128, 0.1, np.float16),
    )  # fmt: skip
    assert done["dst"][:16].tolist() == [255] * 16


def strided_reference(left, right, mode, repeats, lanes, blk, rep, chosen):
    """Bit (repeat, lane) from the address formula of the manual, elements counted in Python."""
    per_block = 32 // left.itemsize
    bits = []
    for r in range(repeats):
        for lane in range(lanes):
            at = [
                per_block * (r * rep[k] + lane // per_block * blk[k]) + lane % per_block
                for k in (0, 1)
            ]
            bits.append(lane in chosen and bool(RULES[mode](left[at[0]], right[at[1]])))
    return bits


@pytest.mark.parametrize("mask", [5, 64, [0x8000_0000_0000_0101], [0, 0]])
def test_950_honours_the_mask_and_the_source_strides(mask):
    rng = np.random.default_rng(3)
    left, right = (rng.integers(0, 3, 1024).astype(np.float32) for _ in range(2))
    params = BinaryRepeatParams(1, 2, 1, 8, 16, 4)
    done = on_core(
        lambda t: Compare(t.dst, t.a, t.b, CMPMODE.GE, mask, 3, params),
        platform="950", dst=np.full(64, 0xEE, np.uint8), a=left, b=right,
    )  # fmt: skip
    chosen = range(mask) if isinstance(mask, int) else [i for i in range(64) if mask[0] >> i & 1]
    want = strided_reference(left, right, CMPMODE.GE, 3, 64, (2, 1), (16, 4), chosen)
    assert bits_of(done["dst"], 192) == want
    assert (done["dst"][24:] == 0xEE).all()


def test_910b_ignores_the_mask_of_a_strided_compare():
    rng = np.random.default_rng(4)
    left, right = (rng.integers(0, 3, 1024).astype(np.float16) for _ in range(2))
    params = BinaryRepeatParams(1, 1, 2, 8, 8, 16)
    done = on_core(
        lambda t: Compare(t.dst, t.a, t.b, CMPMODE.LT, 1, 2, params),
        dst=np.zeros(64, np.uint8), a=left, b=right,
    )  # fmt: skip
    want = strided_reference(left, right, CMPMODE.LT, 2, 128, (1, 2), (8, 16), range(128))
    assert bits_of(done["dst"], 256) == want


def test_repeat_time_0_and_count_0_leave_dst_alone_on_910b():
    done = on_core(
        lambda t: (
            Compare(t.dst, t.a, t.a, CMPMODE.EQ, 0),
            CompareScalar(t.dst, t.a, 0.0, CMPMODE.EQ, 64, 0, UnaryRepeatParams()),
        ),
        dst=np.full(32, 0xEE, np.uint8), a=np.zeros(64, np.float32),
    )  # fmt: skip
    assert done.changed().size == 0


def test_950_takes_the_scalar_from_either_side_or_from_a_tensor():
    left = np.array(SPECIAL * 8, np.float16)
    element = np.array([9.0, 1.0] * 8, np.float16)

    def body(t):
        Compares(t.number, 1.0, t.a, CMPMODE.LT, 64)
        Compares(t.right, t.a, t.e[1], CMPMODE.LT, 64)
        Compares(t.left, t.e[1], t.a, CMPMODE.LT, 64, config=0)
        Compares(t.mask, 1.0, t.a, CMPMODE.LE, 7, 1, UnaryRepeatParams())

    done = on_core(
        body, platform="950", a=left, e=element,
        **{n: np.zeros(32, np.uint8) for n in ("number", "right", "left", "mask")},
    )  # fmt: skip
    ones = [1.0] * 64
    assert bits_of(done["number"], 64) == expected_bits(ones, left, CMPMODE.LT, "950")
    assert bits_of(done["left"], 64) == expected_bits(ones, left, CMPMODE.LT, "950")
    assert bits_of(done["right"], 64) == expected_bits(left, ones, CMPMODE.LT, "950")
    want = expected_bits(ones[:7], left[:7], CMPMODE.LE, "950") + [False] * 121
    assert bits_of(done["mask"], 128) == want


def test_910b_has_no_flexible_scalar_position():
    with pytest.raises(UnsupportedError, match="950 only"):
        on_core(
            lambda t: Compares(t.dst, 1.0, t.a, CMPMODE.LT, 64),
            dst=np.zeros(32, np.uint8), a=np.zeros(64, np.float32),
        )  # fmt: skip


def test_wrong_types_modes_and_sizes_are_refused():
    a = np.zeros(64, np.float32)
    with pytest.raises(DTypeError, match="int16_t"):
        on_core(
            lambda t: Compare(t.dst, t.a, t.a, CMPMODE.LT, 128),
            dst=np.zeros(32, np.uint8), a=np.zeros(128, np.int16),
        )  # fmt: skip
    with pytest.raises(ArgumentError, match="cmpMode"):
        on_core(lambda t: Compare(t.dst, t.a, t.a, 77, 64), dst=np.zeros(32, np.uint8), a=a)
    with pytest.raises(OutOfBoundsError, match="dst holds 12 bytes"):
        on_core(
            lambda t: Compare(t.dst, t.a, t.a, CMPMODE.LT, 128),
            dst=np.zeros(12, np.uint8), a=np.zeros(128, np.float32),
        )  # fmt: skip
    with pytest.raises(ArgumentError, match="equality only"):
        on_core(
            lambda t: Compares(t.dst, t.a, 1.0, CMPMODE.LT, 64),
            platform="950", dst=np.zeros(32, np.uint8), a=np.zeros(64, np.float64),
        )  # fmt: skip
