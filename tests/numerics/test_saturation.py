"""Saturating floats and clamped integers against Python integers."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from simulator.dtypes import BY_NAME, bfloat16_t, float32, half
from simulator.errors import ArgumentError
from simulator.numerics import integer_arithmetic, narrow_integer, saturate_float

CODES = np.arange(1 << 16).astype(np.uint16)
OPERATIONS = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}


@pytest.mark.parametrize(("dtype", "inf"), [(half, 0x7C00), (bfloat16_t, 0x7F80)])
def test_every_code_saturates_to_max_or_zero_and_finite_ones_stay(dtype, inf):
    words = CODES.copy()
    saturate_float(words.view(dtype.numpy), dtype)
    for code in range(1 << 16):
        magnitude = code & 0x7FFF
        wanted = code if magnitude < inf else code - 1 if magnitude == inf else 0
        assert words[code] == wanted, hex(code)


def test_finite_and_empty_arrays_are_left_alone():
    values = np.array([1, -65504, -0.0], np.float16)
    saturate_float(values, half)
    np.testing.assert_array_equal(values.view(np.uint16), [0x3C00, 0xFBFF, 0x8000])
    saturate_float(values[:0], half)


def test_a_strided_view_saturates_in_place():
    values = np.full((4, 6), np.inf, np.float16)
    saturate_float(values[1:3, ::2], half)
    expected = np.full((4, 6), np.inf, np.float16)
    expected[1:3, ::2] = 65504
    np.testing.assert_array_equal(values, expected)


def test_float_never_saturates():
    values = np.array([np.inf, np.nan], np.float32)
    saturate_float(values, float32)
    np.testing.assert_array_equal(values, np.array([np.inf, np.nan], np.float32))


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize(
    "dtype",
    ["int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t"],
)
def test_integer_arithmetic_wraps_or_clamps(exact, name, dtype):
    kind = BY_NAME[dtype].numpy
    info = np.iinfo(kind)
    low, high = int(info.min), int(info.max)
    rng = np.random.default_rng(11)
    edges = [low, low + 1, 0, 1, high - 1, high, high // 2, 3]
    values = [(a, b) for a in edges for b in edges]
    values += [tuple(map(int, pair)) for pair in rng.integers(low, high, (300, 2), kind)]
    a, b = (np.array(column, kind) for column in zip(*values, strict=True))
    for clamp, limit in ((False, exact.wrap), (True, exact.clamp)):
        out = np.empty_like(a)
        integer_arithmetic(name, clamp=clamp)(a, b, out)
        expected = [limit(OPERATIONS[name](x, y), low, high) for x, y in values]
        np.testing.assert_array_equal(out, np.array(expected, kind))


def test_clamped_arithmetic_accepts_a_scalar_and_may_write_over_an_operand():
    values = np.array([32767, -32768, 5], np.int16)
    integer_arithmetic("add", clamp=True)(values, np.int16(10), values)
    np.testing.assert_array_equal(values, [32767, -32758, 15])


def test_an_unknown_operation_is_refused():
    with pytest.raises(ArgumentError):
        integer_arithmetic("div", clamp=True)


def test_narrow_integer_clamps_or_keeps_low_bits():
    values = np.array([300, -300, 127], np.int32)
    out = np.empty(3, np.int8)
    narrow_integer(values, out)
    np.testing.assert_array_equal(out, [127, -128, 127])
    narrow_integer(values, out, low_bits=True)
    np.testing.assert_array_equal(out, [44, -44, 127])
    narrow_integer(values[:0], out[:0])
