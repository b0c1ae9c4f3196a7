"""Comparison of a result with its reference."""

import ml_dtypes
import numpy as np
import pytest

from tools.accuracy import compare


def floats(*bits, dtype=np.float32):
    return np.array(bits, f"u{np.dtype(dtype).itemsize}").view(dtype)


def test_equal_bits_are_equal():
    a = np.array([1.5, -0.0, np.inf], np.float16)
    found = compare(a, a.copy())
    assert found.equal
    assert found.sentence() == "equal to the reference, bit for bit (3 elements)"


@pytest.mark.parametrize(
    ("dtype", "one_and_next"),
    [
        (np.float32, (0x3F800000, 0x3F800001)),
        (np.float16, (0x3C00, 0x3C01)),
        (ml_dtypes.bfloat16, (0x3F80, 0x3F81)),
    ],
)
def test_neighbours_are_one_ulp_apart(dtype, one_and_next):
    one, following = (floats(bits, dtype=dtype) for bits in one_and_next)
    assert compare(one, following).max_ulp == 1


def test_the_distance_counts_through_zero():
    # -denormal, -0, +0, +denormal are four neighbours.
    assert compare(floats(0x80000001), floats(0x00000001)).max_ulp == 3


def test_zeros_of_different_sign_differ():
    found = compare(floats(0x80000000), floats(0x00000000))
    assert (found.equal, found.max_ulp, found.max_abs_error) == (False, 1, 0.0)


def test_nan_equals_nan_whatever_its_payload():
    assert compare(floats(0x7FC00000), floats(0xFFC00001)).equal


def test_nan_on_one_side_is_counted_and_worst():
    found = compare(np.array([1.0, np.nan, 2.0]), np.array([1.5, 0.0, 2.0]))
    assert (found.differing, found.one_sided_nans) == (2, 1)
    assert found.worst is not None
    assert found.worst[0] == (1,)
    assert "1 NaN on one side only" in found.sentence()


def test_the_worst_element_is_named_by_its_index():
    got, expected = np.zeros((2, 3), np.float32), np.zeros((2, 3), np.float32)
    got[1, 2] = 0.5
    got[0, 1] = 0.25
    found = compare(got, expected)
    assert found.worst == ((1, 2), 0.5, 0.0)
    assert found.max_abs_error == 0.5
    assert "worst at [1, 2]: got 0.5, expected 0.0" in found.sentence()


def test_infinity_against_a_number_is_no_abs_error_but_a_difference():
    found = compare(np.array([np.inf, 1.0]), np.array([1.0, 1.0]))
    assert (found.equal, found.max_abs_error) == (False, 0.0)


def test_rank_0_is_compared():
    found = compare(np.array(1.0, np.float32), np.array(2.0, np.float32))
    assert found.worst == ((), 1.0, 2.0)


def test_empty_is_equal():
    empty = np.zeros((0, 4), np.float16)
    assert compare(empty, empty).sentence() == "empty, as the reference"
