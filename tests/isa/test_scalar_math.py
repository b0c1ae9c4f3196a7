"""Arithmetic of the scalar unit against Python integers and exact fractions."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from harness import on_core
from hypothesis import given
from hypothesis import strategies as st

from simulator.ascendc import (
    AlignUp,
    CeilDivision,
    CountBitsCntSameAsSignBit,
    CountLeadingZero,
    DivCeil,
    GetBitCount,
    GetScalarBitcodeValue,
    GetSFFValue,
    GetUintDivMagicAndShift,
    RoundMode,
    ScalarCast,
    ScalarCountLeadingZero,
    ScalarGetCountOfValue,
    ScalarGetSFFValue,
    ToBfloat16,
    ToFloat,
    bfloat16_t,
    float32,
    fp4x2_e1m2_t,
    fp4x2_e2m1_t,
    fp8_e4m3fn_t,
    half,
    hifloat8_t,
    int32_t,
    sqrt,
    uint32_t,
)
from simulator.errors import ArgumentError, UnsupportedError

WORDS = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**63, 2**64 - 1])


def on_scalar_unit(body, platform="910b"):
    return on_core(lambda t: body(), platform=platform, x=np.zeros(8, np.float32)).returned


@given(words=st.lists(WORDS, min_size=20, max_size=20))
def test_counts_of_bits(words):
    def body():
        return [
            (
                GetBitCount(1, w), GetBitCount(0, w), ScalarGetCountOfValue(1, w),
                CountLeadingZero(w), ScalarCountLeadingZero(w),
                GetSFFValue(1, w), GetSFFValue(0, w), ScalarGetSFFValue(1, w),
            )
            for w in words
        ]  # fmt: skip

    for word, found in zip(words, on_scalar_unit(body), strict=True):
        text = f"{word:064b}"
        ones = text.count("1")
        zeros = len(text) - len(text.lstrip("0"))
        first = [text[::-1].find(c) for c in "10"]
        assert found == (ones, 64 - ones, ones, zeros, zeros, first[0], first[1], first[0])


@pytest.mark.parametrize(
    ("word", "count"),
    [
        (1, 62),
        (-2, 62),
        (0, -1),
        (-1, -1),
        (2**62, 0),
        (-(2**63), 0),
        (2**64 - 2, 62),
        (-(2**40), 23),
    ],
)
def test_bits_that_equal_the_sign(word, count):
    assert on_scalar_unit(lambda: CountBitsCntSameAsSignBit(word)) == count


@given(pairs=st.lists(st.tuples(st.integers(0, 2**31 - 1), st.integers(1, 2**31 - 1)), min_size=5))
def test_divisions_round_up(pairs):
    def body():
        return [(CeilDivision(a, b), DivCeil(a // 2, b), AlignUp(a // 2, b)) for a, b in pairs]

    for (a, b), found in zip(pairs, on_scalar_unit(body), strict=True):
        up = math.ceil(Fraction(a, b))
        half_up = math.ceil(Fraction(a // 2, b))
        assert found == (up, half_up, half_up * b % 2**32)


def test_a_zero_divisor():
    assert on_scalar_unit(lambda: CeilDivision(5, 0)) == 0
    with pytest.raises(ArgumentError):
        on_scalar_unit(lambda: DivCeil(5, 0))


@given(divisor=st.integers(1, 2**31 - 1), values=st.lists(st.integers(0, 2**31 - 1), min_size=5))
def test_magic_and_shift_divide(divisor, values):
    magic, shift = on_scalar_unit(lambda: GetUintDivMagicAndShift(uint32_t, divisor), "950")
    for value in values:
        assert ((value * magic >> 32) + value) >> shift == value // divisor


def test_magic_division_exists_on_950_only():
    with pytest.raises(UnsupportedError):
        on_scalar_unit(lambda: GetUintDivMagicAndShift(uint32_t, 3))
    with pytest.raises(ArgumentError):
        on_scalar_unit(lambda: GetUintDivMagicAndShift(int32_t, 3), "950")


@pytest.mark.parametrize(
    ("value", "expected"),
    [(2.0, 1.4142135381698608), (0.0, 0.0), (np.inf, np.inf), (17, 4), (16, 4), (2**62, 2**31)],
)
def test_square_roots(value, expected):
    assert on_scalar_unit(lambda: sqrt(value)) == expected


def test_the_root_of_a_negative_number():
    assert math.isnan(on_scalar_unit(lambda: sqrt(-1.0)))
    with pytest.raises(ArgumentError):
        on_scalar_unit(lambda: sqrt(-1))


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1 + 2**-8, 1.0), (1 + 3 * 2**-8, 1 + 2**-6), (-(1 + 2**-8 + 2**-20), -(1 + 2**-7)),
     (3.4e38, np.inf), (-np.inf, -np.inf), (2**-133, 2**-133), (2**-134, 0.0)],
)  # fmt: skip
def test_a_float_as_bfloat16(value, expected):
    assert on_scalar_unit(lambda: ToBfloat16(value)) == expected


def test_nan_as_bfloat16_is_nan():
    assert math.isnan(on_scalar_unit(lambda: ToBfloat16(np.nan)))


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (RoundMode.CAST_RINT, [2, 2, -2, 4, -4]),
        (RoundMode.CAST_ROUND, [2, 3, -3, 4, -4]),
        (RoundMode.CAST_FLOOR, [1, 2, -3, 3, -4]),
        (RoundMode.CAST_CEIL, [2, 3, -2, 4, -3]),
    ],
)
def test_a_float_as_an_integer(mode, expected):
    values = [1.5, 2.5, -2.5, 3.75, -3.75]
    found = on_scalar_unit(lambda: [ScalarCast(float32, int32_t, mode, v) for v in values])
    assert found == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.0, 1.0),
        (1 + 2**-12, 1 + 2**-10),
        (-(1 + 2**-12), -(1 + 2**-10)),
        (1 + 3 * 2**-11, 1 + 2**-10),
    ],
)
def test_rounding_to_odd_keeps_a_trace_of_what_is_lost(value, expected):
    assert on_scalar_unit(lambda: ScalarCast(float32, half, RoundMode.CAST_ODD, value)) == expected


@pytest.mark.parametrize(
    ("target", "mode"),
    [(half, RoundMode.CAST_RINT), (int32_t, RoundMode.CAST_ODD), ("int8_t", RoundMode.CAST_RINT)],
)  # fmt: skip
def test_other_conversions_are_refused(target, mode):
    with pytest.raises(ArgumentError, match="CAST_ODD"):
        on_scalar_unit(lambda: ScalarCast(float32, target, mode, 1.0))


def test_bits_of_a_scalar():
    def body():
        return (
            GetScalarBitcodeValue(float32, uint32_t, -1.5),
            GetScalarBitcodeValue(uint32_t, float32, 0x40490FDB),
            GetScalarBitcodeValue("int64_t", "uint64_t", -1),
            GetScalarBitcodeValue(half, "uint16_t", 0.5),
        )

    assert on_scalar_unit(body) == (
        struct.unpack("<I", struct.pack("<f", -1.5))[0],
        struct.unpack("<f", struct.pack("<I", 0x40490FDB))[0],
        2**64 - 1,
        0x3800,
    )


def test_bits_of_another_width_are_refused():
    with pytest.raises(ArgumentError, match="same width"):
        on_scalar_unit(lambda: GetScalarBitcodeValue(float32, half, 1.0))


@pytest.mark.parametrize(
    ("value", "dtype", "platform", "expected"),
    [
        (1 + 2**-7, bfloat16_t, "910b", 1 + 2**-7),
        (448.0, fp8_e4m3fn_t, "950", 448.0),
        (0x08, hifloat8_t, "950", 1.0),
        (0x88, hifloat8_t, "950", -1.0),
        # e2m1: 0 0.5 1 1.5 2 3 4 6, e1m2: 0 0.25 0.5 0.75 1 1.25 1.5 1.75.
        (0x51, fp4x2_e2m1_t, "950", 0.5),
        (0x0F, fp4x2_e2m1_t, "950", -6.0),
        (0x03, fp4x2_e1m2_t, "950", 0.75),
        (0x0F, fp4x2_e1m2_t, "950", -1.75),
    ],
)
def test_narrow_formats_as_float(value, dtype, platform, expected):
    assert on_scalar_unit(lambda: ToFloat(value, dtype), platform) == expected


def test_910b_converts_bfloat16_only():
    with pytest.raises(ArgumentError, match="bfloat16_t"):
        on_scalar_unit(lambda: ToFloat(1, hifloat8_t))


@pytest.mark.parametrize(
    "call",
    [
        lambda: GetBitCount(2, 1),
        lambda: GetBitCount(1, -1),
        lambda: CountLeadingZero(2**64),
        lambda: CeilDivision(-1, 3),
        lambda: AlignUp(2**32, 3),
        lambda: ToBfloat16("x"),
    ],
)
def test_arguments_outside_their_types_are_refused(call):
    with pytest.raises(ArgumentError):
        on_scalar_unit(call)
