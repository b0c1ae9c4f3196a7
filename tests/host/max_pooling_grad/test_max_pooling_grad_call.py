"""max_pooling_grad on arrays against the formula, and the published kernel against its faults."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host import acl
from host.ops import max_pooling_grad

TYPES = [np.float32, np.float16]
SPECIALS = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.0**-24, 65504.0]


def bits(array):
    return np.ascontiguousarray(array).view(f"u{array.itemsize}")


def formula(dy, x, y):
    """Dy where x equals y; the bit pattern of +0 elsewhere."""
    chosen = bits(dy).copy()
    chosen[~(x == y)] = 0
    return chosen


def published(dy, x, y):
    """The difference of equal infinities is NaN; only whole blocks of 32 bytes are moved."""
    chosen = bits(dy).copy().reshape(-1)
    chosen[~((x == y) & np.isfinite(x)).reshape(-1)] = 0
    chosen[dy.nbytes // 32 * 32 // dy.itemsize :] = 0
    return chosen.reshape(dy.shape)


def shapes(most=4000):
    sizes = st.one_of(st.integers(0, 5), st.sampled_from([1, 7, 16, 31, 33, 63, 65, 127, 129]))
    lists = st.lists(sizes, max_size=8).map(tuple)
    return lists.filter(lambda shape: np.prod(shape, dtype=int) <= most)


@st.composite
def operands(draw):
    """Dy, x and y of one shape: any bit patterns, specials, and y equal to x in many places."""
    dtype, shape = draw(st.sampled_from(TYPES)), draw(shapes())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = np.prod(shape, dtype=int)
    word = np.dtype(f"u{np.dtype(dtype).itemsize}")

    def any_bits():
        return rng.integers(0, 2 ** (8 * word.itemsize), size, dtype=word).view(dtype)

    def from_specials():
        return rng.choice(np.array(SPECIALS).astype(dtype), size)

    dy, x = any_bits(), rng.choice([any_bits, from_specials])()
    other = rng.choice([any_bits, from_specials])()
    y = np.where(rng.random(size) < 0.5, x, other)
    return tuple(array.reshape(shape) for array in (dy, x, y))


@given(operands())
def test_the_call_equals_the_formula_on_any_values(arrays):
    with np.errstate(all="ignore"):
        expected = formula(*arrays)
    np.testing.assert_array_equal(bits(max_pooling_grad(*arrays)), expected)


@given(operands())
def test_the_published_kernel_differs_in_its_two_faults_only(arrays):
    with np.errstate(all="ignore"):
        expected = published(*arrays)
    np.testing.assert_array_equal(bits(max_pooling_grad(*arrays, variant="source")), expected)


@settings(max_examples=40)
@given(operands().filter(lambda arrays: arrays[0].ndim > 0), st.data())
def test_the_document_s_strided_arrays_give_the_formula(arrays, data):
    def strided(array):
        order = data.draw(st.permutations(range(array.ndim)))
        back = np.argsort(order)
        return np.repeat(array.transpose(order).copy(), 2, axis=-1)[..., ::2].transpose(back)

    views = [strided(array) for array in arrays]
    got = max_pooling_grad(*views, strict="doc")
    np.testing.assert_array_equal(bits(got), formula(*arrays))


def test_every_half_pattern_against_itself_and_its_neighbour():
    x = np.arange(65536, dtype=np.uint16).view(np.float16)
    dy = np.linspace(-8, 8, 65536).astype(np.float16)
    for y in (x, np.roll(x, 1)):
        np.testing.assert_array_equal(bits(max_pooling_grad(dy, x, y)), formula(dy, x, y))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("platform", ["910b1", "910b3", "910b4"])
def test_a_large_call_equals_the_formula(dtype, platform):
    rng = np.random.default_rng(5)
    dy, x = (rng.standard_normal(2**22 + 3).astype(dtype) for _ in range(2))
    y = np.where(rng.random(x.size) < 0.5, x, x + dtype(1))
    got = max_pooling_grad(dy, x, y, platform=platform)
    np.testing.assert_array_equal(bits(got), formula(dy, x, y))
    got = max_pooling_grad(dy, x, y, platform=platform, variant="source")
    np.testing.assert_array_equal(bits(got), published(dy, x, y))


def test_the_document_s_example():
    ramp = np.array([[1, 2], [3, 4]], np.float32)
    ones = np.ones((2, 2), np.float32)
    np.testing.assert_array_equal(max_pooling_grad(ones, ramp, ramp), ones)
    # 16 bytes are no whole block: the published kernel writes nothing.
    nothing = max_pooling_grad(ones, ramp, ramp, variant="source")
    np.testing.assert_array_equal(nothing, np.zeros((2, 2)))


def test_failures_carry_status_and_argument():
    x = np.ones(4, np.float32)
    with pytest.raises(acl.AclnnError) as caught:
        max_pooling_grad(x, x.astype(np.float16), x)
    assert (caught.value.status, caught.value.argument) == (161002, "x")
    with pytest.raises(acl.AclnnError) as caught:
        max_pooling_grad(x, x, np.ones(8, np.float32)[::2])
    assert (caught.value.status, caught.value.argument) == (561000, "y")
    with pytest.raises(acl.AclError) as raised:
        max_pooling_grad(x, x[:3], x)
    assert raised.value.status == 507044
    with pytest.raises(acl.AclnnError) as caught:
        max_pooling_grad(x, x, x, platform="950")
    assert caught.value.status == 561003
