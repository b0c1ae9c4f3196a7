"""Rectified and converted sums, differences and products; complex numbers; zeros and NaN."""

from fractions import Fraction
from itertools import product
from math import exp, isnan

import ml_dtypes
import numpy as np
import pytest
from exact import clamp, nearest_even, wrap
from harness import Filled, on_core

from simulator.ascendc import (
    Abs,
    AbsSub,
    Add,
    AddDeqRelu,
    AddRelu,
    AddReluCast,
    Adds,
    BinaryRepeatParams,
    Div,
    ExpSub,
    LeakyRelu,
    Max,
    Maxs,
    Min,
    Mins,
    Mul,
    MulCast,
    Muls,
    Prelu,
    SetDeqScale,
    Sub,
    SubRelu,
    SubReluCast,
    Subs,
)
from simulator.core import current_core
from simulator.isa.saturation import SATURATE_FLOAT

BOTH = pytest.mark.parametrize("platform", ["910b", "950"])
NAN, INF = float("nan"), float("inf")


def binary(call, left, right, dtype, platform, *, src=None, count=None):
    a, b = np.array(left, src or dtype), np.array(right, src or dtype)
    done = on_core(
        lambda t: call(t.dst, t.a, t.b, len(a) if count is None else count),
        a=a,
        b=b,
        dst=np.zeros(len(a), dtype),
        platform=platform,
    )
    return done["dst"]


def same(result, expected):
    expected = np.array(expected, result.dtype)
    np.testing.assert_array_equal(result.astype(float), expected.astype(float))
    number = ~np.isnan(expected.astype(float))
    signs = [np.signbit(values.astype(float))[number].tolist() for values in (result, expected)]
    assert signs[0] == signs[1]


# -- zeros and NaN -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("platform", "dtype"),
    [
        ("910b", np.float16),
        ("910b", np.float32),
        ("950", np.float16),
        ("950", np.float32),
        ("950", ml_dtypes.bfloat16),
    ],
)
def test_extremes_of_zeros_and_nan(platform, dtype):
    left = [0.0, -0.0, 0.0, -0.0, NAN, 1.0, -INF, -1.0]
    right = [0.0, 0.0, -0.0, -0.0, 1.0, NAN, INF, -0.0]
    largest = [0.0, 0.0, 0.0, -0.0, NAN, NAN, INF, -0.0]
    least = [0.0, -0.0, -0.0, -0.0, NAN, NAN, -INF, -1.0]
    same(binary(Max, left, right, dtype, platform), largest)
    same(binary(Min, left, right, dtype, platform), least)


@BOTH
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("scalar", [0.0, -0.0, 1.0, NAN])
def test_extremes_with_a_scalar(scalar, dtype, platform):
    values = [0.0, -0.0, -2.0, 2.0, NAN]

    def body(t):
        Maxs(t.largest, t.src, scalar, 5)
        Mins(t.least, t.src, scalar, 5)

    blank = np.zeros(5, dtype)
    done = on_core(body, src=np.array(values, dtype), largest=blank, least=blank, platform=platform)

    def pick(value, order):
        if isnan(value) or isnan(scalar):
            return NAN
        if value == scalar == 0:
            sign = order(*(float(np.copysign(1, v)) for v in (value, scalar)))
            return float(np.copysign(0.0, sign))
        return order(value, scalar)

    same(done["largest"], [pick(v, max) for v in values])
    same(done["least"], [pick(v, min) for v in values])


@BOTH
def test_in_place_extremes_see_their_old_operands(platform):
    values = np.array([-0.0, 0.0, 3.0, NAN], np.float32)
    done = on_core(
        lambda t: Max(t.a, t.a, t.b, 4),
        a=values,
        b=np.array([0.0, -0.0, 1.0, 1.0], np.float32),
        platform=platform,
    )
    same(done["a"], [0.0, 0.0, 3.0, NAN])


@BOTH
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_the_sign_bit_decides_in_leaky_relu(dtype, platform):
    values = [2.0, -2.0, 0.0, -0.0, NAN, -INF]
    done = on_core(
        lambda t: LeakyRelu(t.x, t.x, 0.25, 6), x=np.array(values, dtype), platform=platform
    )
    same(done["x"], [2.0, -0.5, 0.0, -0.0, NAN, -INF])
    done = on_core(
        lambda t: LeakyRelu(t.x, t.x, NAN, 6), x=np.array(values, dtype), platform=platform
    )
    same(done["x"], [2.0, NAN, 0.0, NAN, NAN, NAN])


def test_prelu_takes_a_slope_for_each_element():
    left, slopes = [2.0, -2.0, -0.0, -4.0], [9.0, 0.5, -3.0, NAN]
    same(binary(Prelu, left, slopes, np.float32, "950"), [2.0, -1.0, 0.0, NAN])


# -- saturation of floats ----------------------------------------------------------------------


@BOTH
def test_half_results_clamp_in_saturation_mode_and_float_never(platform):
    def body(t):
        current_core().numeric_mode = SATURATE_FLOAT
        Add(t.half, t.half, t.half, 3)
        Add(t.float, t.float, t.float, 3)

    done = on_core(
        body,
        half=np.array([60000, -60000, NAN], np.float16),
        float=np.array([3e38, -3e38, NAN], np.float32),
        platform=platform,
    )
    same(done["half"], [65504, -65504, 0.0])
    same(done["float"], [INF, -INF, NAN])


# -- rectified sums and conversions ------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_rectified_sums_and_differences(dtype, platform):
    left, right = [1.0, -3.0, -0.0, NAN, 0.1], [2.0, 1.0, -0.0, 1.0, 0.2]
    a, b = np.array(left, dtype).tolist(), np.array(right, dtype).tolist()
    total = [
        nearest_even(Fraction(x) + Fraction(y), dtype) if not isnan(x) else NAN
        for x, y in zip(a, b, strict=True)
    ]
    same(binary(AddRelu, left, right, dtype, platform), [3.0, 0.0, 0.0, NAN, total[4]])
    same(binary(SubRelu, right, left, dtype, platform)[:4], [1.0, 4.0, 0.0, NAN])


@BOTH
def test_sums_are_converted_to_nearest_even_and_clamped(platform):
    left, right = [0.5, 1.5, -5.0, 100.0, 500.0, NAN], [0.0, 0.0, 1.0, 27.5, 0.0, 0.0]
    result = binary(AddReluCast, left, right, np.int8, platform, src=np.float16)
    assert result.tolist() == [0, 2, 0, 127, 127, 0]
    result = binary(SubReluCast, left, right, np.int8, platform, src=np.float16)
    assert result.tolist() == [0, 2, 0, 72, 127, 0]
    # 2049 is a tie of half between 2048 and 2050.
    halves = binary(
        AddReluCast, [2048.0, 2050.0, -1.0, 7e4], [1.0, 1.0, 0.5, 0], np.float16, platform,
        src=np.float32,
    )  # fmt: skip
    same(halves, [2048.0, 2052.0, 0.0, INF])


@pytest.mark.parametrize(("platform", "limit"), [("910b", clamp), ("950", wrap)])
def test_16_bit_sums_clamp_on_910b_and_wrap_on_950_before_the_conversion(platform, limit):
    pairs = list(product([-32768, -1, 0, 100, 32767], repeat=2))
    left, right = zip(*pairs, strict=True)
    for call, sign in ((AddReluCast, 1), (SubReluCast, -1)):
        result = binary(call, left, right, np.int8, platform, src=np.int16)
        exact = [max(0, limit(a + sign * b, np.int16)) for a, b in pairs]
        assert result.tolist() == [clamp(v, np.int8) for v in exact]


@BOTH
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_products_are_rounded_to_half_and_then_converted(dtype, platform):
    left, right = [1.5, 2.5, -3.0, 20.0, -0.5], [1.0, 1.0, 2.0, 20.0, 1.0]
    result = binary(MulCast, left, right, dtype, platform, src=np.float16)
    assert result.tolist() == [clamp(v, dtype) for v in (2, 2, -6, 400, 0)]


def test_64_bit_results_are_converted_on_950():
    left, right = [3, -(2**62), 2**40 + 1, 2**31], [5, 4, 1, 1]
    exact = [wrap(a * b, np.int64) for a, b in zip(left, right, strict=True)]
    floats = binary(MulCast, left, right, np.float32, "950", src=np.int64)
    assert floats.tolist() == [nearest_even(Fraction(v), np.float32) for v in exact]
    words = binary(MulCast, left, right, np.int32, "950", src=np.int64)
    assert words.tolist() == [clamp(v, np.int32) for v in exact]
    sums = binary(AddReluCast, left, right, np.int32, "950", src=np.int64)
    rectified = [max(0, a + b) for a, b in zip(left, right, strict=True)]
    assert sums.tolist() == [clamp(v, np.int32) for v in rectified]


def test_a_narrow_destination_takes_half_the_blocks_of_a_repeat():
    values = (np.arange(256) % 11).astype(np.float16)
    done = on_core(
        lambda t: MulCast(t.dst, t.x, t.x, 128, 2, BinaryRepeatParams(1, 1, 1, 4, 8, 8)),
        x=values,
        dst=np.full(256, -1, np.int8),
    )
    assert done["dst"].tolist() == [int(v) ** 2 for v in values]


@BOTH
def test_sums_of_integers_are_scaled_to_half(platform):
    def body(t):
        SetDeqScale(0.1)
        AddDeqRelu(t.dst, t.a, t.b, 4)
        SetDeqScale(2.0)
        AddDeqRelu(t.twice, t.a, t.b, 4)

    a, b = [70, 36, -90, 2**24], [19, 33, 34, 1]
    done = on_core(
        body,
        a=np.array(a, np.int32),
        b=np.array(b, np.int32),
        dst=np.zeros(4, np.float16),
        twice=np.zeros(4, np.float16),
        platform=platform,
    )
    scale = Fraction(float(np.float16(0.1)))
    expected = [
        nearest_even(Fraction(x + y) * scale, np.float16) for x, y in zip(a, b, strict=True)
    ]
    assert done["dst"].tolist() == [max(0.0, v) for v in expected]
    assert done["twice"].tolist() == [178.0, 138.0, 0.0, INF]


# -- calls of 950 ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_absolute_differences(dtype):
    result = binary(AbsSub, [1, 5, -0.0, INF], [4, 2, 0.0, INF], dtype, "950")
    same(result, [3, 3, 0.0, NAN])


@pytest.mark.parametrize("src", [np.float16, np.float32])
def test_exponentials_of_differences_are_float(src):
    left, right = [1.0, 2.5, -3.0, 0.0, -200.0], [1.0, 0.5, 1.0, INF, 0.0]
    result = binary(ExpSub, left, right, np.float32, "950", src=src)
    exact = [exp(a - b) for a, b in zip(left, right, strict=True)]
    np.testing.assert_array_max_ulp(result, np.array(exact, np.float32), 1, np.float32)


def complex_tensor(values, dtype):
    array = np.array(values, np.complex64)
    if dtype == "complex64":
        return Filled("complex64", array)
    halves = array.view(np.float32).astype(np.float16)
    return Filled("complex32", halves.view(np.uint32))


def complex_values(raw, dtype):
    if dtype == "complex64":
        return raw.tolist()
    return raw.view(np.float16).astype(np.float32).view(np.complex64).tolist()


@pytest.mark.parametrize("dtype", ["complex32", "complex64"])
def test_complex_numbers_are_computed_part_by_part(dtype):
    left, right = [1 + 2j, -3 + 0.5j, 4j, 0], [3 - 1j, 0.5 + 2j, 2 + 0j, 1j]
    n = len(left)

    def body(t):
        Add(t.sum, t.left, t.right, n)
        Sub(t.difference, t.left, t.right, n)
        Mul(t.product, t.left, t.right, n)
        Div(t.quotient, t.left, t.right, n)
        Adds(t.plus, t.left, 1 + 1j, n)
        Muls(t.times, t.left, 2j, n)
        Subs(t.minus, 1 + 1j, t.left, n)
        Abs(t.magnitude, t.left, n)

    blank = complex_tensor([0] * n, dtype)
    names = ("sum", "difference", "product", "quotient", "plus", "times", "minus")
    done = on_core(
        body,
        left=complex_tensor(left, dtype),
        right=complex_tensor(right, dtype),
        **dict.fromkeys(names, blank),
        magnitude=np.zeros(n, np.float16 if dtype == "complex32" else np.float32),
        platform="950",
    )
    got = {name: complex_values(done[name], dtype) for name in names}
    pairs = list(zip(left, right, strict=True))
    assert got["sum"] == [a + b for a, b in pairs]
    assert got["difference"] == [a - b for a, b in pairs]
    assert got["product"] == [a * b for a, b in pairs]
    assert got["plus"] == [a + 1 + 1j for a in left]
    assert got["times"] == [a * 2j for a in left]
    assert got["minus"] == [1 + 1j - a for a in left]
    tolerance = 2e-3 if dtype == "complex32" else 1e-6
    for value, (a, b) in zip(got["quotient"], pairs, strict=True):
        assert value == pytest.approx(a / b, rel=tolerance, abs=tolerance)
    assert done["magnitude"].tolist() == pytest.approx([abs(a) for a in left], rel=tolerance)


def test_complex_division_by_zero_divides_both_parts():
    done = on_core(
        lambda t: Div(t.x, t.x, t.zero, 2),
        x=complex_tensor([1 - 2j, 0], "complex64"),
        zero=complex_tensor([0, 0], "complex64"),
        platform="950",
    )
    parts = done["x"].view(np.float32)
    np.testing.assert_array_equal(parts, np.array([INF, -INF, NAN, NAN], np.float32))
