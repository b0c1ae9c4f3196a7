"""prelu_backward on arrays, against a model of the documented arithmetic written in numpy."""

from __future__ import annotations

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from host import acl
from host.ops import prelu_backward
from host.p_relu_grad_reduce.axes import reduce_axes
from simulator.platforms import load_platform

BF16 = ml_dtypes.bfloat16
TYPES = [np.float32, np.float16, BF16]
PLATFORMS = ["910b", "950"]
UNITS = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
"""Half of the distance between neighbours, relative."""

SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 6e-8, -6e-8, 65504.0, -300.0, 300.0]

dtypes = pytest.mark.parametrize("dtype", TYPES, ids=lambda t: np.dtype(t).name)
platforms = pytest.mark.parametrize("platform", PLATFORMS)


def by_channel(weight, self_):
    """Weight in a shape that broadcasts along axis 1."""
    if weight.size == 1:
        return weight.reshape(())
    return weight.reshape(-1, *[1] * (self_.ndim - 2))


def summed_axes(self_, weight):
    return tuple(axis for axis in range(self_.ndim) if weight.size == 1 or axis != 1)


def model(grad, self_, weight):
    """grad_input and update by the formula: products in float, rounded to the element type."""
    g, x = np.broadcast_to(grad, self_.shape).astype(np.float32), self_.astype(np.float32)
    with np.errstate(all="ignore"):
        product = (by_channel(weight, self_).astype(np.float32) * g).astype(self_.dtype)
        update = (x * g).astype(self_.dtype)
    positive = x > 0
    zero = np.zeros((), self_.dtype)
    return np.where(positive, np.broadcast_to(grad, self_.shape), product), np.where(
        positive, zero, update
    )


def same_bits(got, want):
    nan = np.isnan(want.astype(np.float32))
    unsigned = f"u{want.dtype.itemsize}"
    return np.array_equal(np.isnan(got.astype(np.float32)), nan) and np.array_equal(
        got.view(unsigned)[~nan], want.view(unsigned)[~nan]
    )


def check_sum(got, update, self_, weight):
    """Compare with the sum in double: NaN where it is, else within what float can lose."""
    axes = summed_axes(self_, weight)
    wide = update.astype(np.float64)
    with np.errstate(all="ignore"):
        want, size = (np.ravel(a.sum(axis=axes)) for a in (wide, np.abs(wide)))
        # A tree of additions in float less than 64 levels high, then one rounding to the type.
        slack = size * 64 * 2.0**-24
        unit = UNITS[got.dtype.name]
        low, high = (
            (want + sign * (slack + (np.abs(want) + slack) * unit + 2.0**-24)).astype(got.dtype)
            for sign in (-1, 1)
        )
    have = np.ravel(got)
    nan = np.isnan(want)
    np.testing.assert_array_equal(np.isnan(have.astype(np.float64)), nan)
    infinite = np.isinf(want)
    np.testing.assert_array_equal(have[infinite].astype(np.float64), want[infinite])
    inside = ~nan & ~infinite
    assert (low[inside] <= have[inside]).all()
    assert (have[inside] <= high[inside]).all()


def check(grad, self_, weight, **options):
    result = prelu_backward.run(grad, self_, weight, **options)
    dx, da = result.outputs
    want, update = model(grad, self_, weight)
    assert same_bits(dx, want)
    assert da.dtype == self_.dtype
    check_sum(da, update, self_, weight)
    return result


def whole_numbers(rng, shape, dtype, limit):
    return np.asarray(rng.integers(-limit, limit + 1, shape)).astype(dtype)


SHAPES = [
    ((), (), ()),
    ((), (), (1, 1, 1)),
    ((1,), (1,), (1,)),
    ((7,), (7,), (1,)),
    ((1,), (7,), (1,)),
    ((4, 2), (4, 2), (2,)),
    ((2,), (4, 2), (2,)),
    ((4, 1), (4, 2), (1, 2)),
    ((1, 9), (1, 9), (9,)),
    ((3, 5, 1, 1), (3, 5, 1, 1), (5,)),
    ((2, 4, 3, 2), (2, 4, 3, 2), (2, 2)),
    ((3, 1, 5), (3, 4, 5), (1, 4, 1)),
    ((2, 3, 1), (2, 3, 8), (3,)),
    ((1, 2, 3, 1, 2, 3, 1, 2), (1, 2, 3, 1, 2, 3, 1, 2), (2,)),
    ((2, 1, 3, 1, 2, 1, 2, 1), (2, 3, 3, 2, 2, 2, 2, 2), (3,)),
    ((300, 3), (300, 3), (3,)),
    ((5, 33, 130), (5, 33, 130), (33,)),
    ((2, 64, 64), (2, 64, 64), (64,)),
    ((3, 1100), (3, 1100), (1100,)),
    ((2, 1, 2100), (2, 3, 2100), (3,)),
    ((1, 1025), (4, 1025), (1025,)),
    ((64, 7, 1), (64, 7, 1), (7,)),
]


@dtypes
@platforms
@pytest.mark.parametrize(("grad_shape", "shape", "weight_shape"), SHAPES)
def test_results_equal_the_formula(dtype, platform, grad_shape, shape, weight_shape):
    rng = np.random.default_rng(1)
    grad = whole_numbers(rng, grad_shape, dtype, 2)
    self_ = whole_numbers(rng, shape, dtype, 2)
    weight = whole_numbers(rng, weight_shape, dtype, 3) / dtype(2)
    dx, da = prelu_backward(grad, self_, np.asarray(weight), platform=platform)
    want, update = model(grad, self_, np.asarray(weight))
    assert same_bits(dx, want)
    total = update.astype(np.float64).sum(axis=summed_axes(self_, np.asarray(weight)))
    # Sums of small whole numbers are exact in float, whatever their order.
    np.testing.assert_array_equal(
        da.astype(np.float64).reshape(-1), np.atleast_1d(total).astype(dtype).astype(np.float64)
    )
    assert da.shape == (weight_shape if weight.size == 1 else (weight.size,))


@st.composite
def calls(draw):
    """Shapes of rank 0 to 8, a gradOutput that broadcasts, one weight or one per channel."""
    shape = draw(
        st.lists(
            st.one_of(st.integers(1, 5), st.sampled_from([8, 9, 17, 31, 32, 65])),
            max_size=8,
        )
    )
    while np.prod(shape) > 6000:
        shape[int(np.argmax(shape))] //= 2
    repeat = draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
    grad = [1 if r else dim for r, dim in zip(repeat, shape, strict=True)]
    grad = grad[draw(st.integers(0, len(grad))) :] if draw(st.booleans()) else grad
    channels = shape[1] if len(shape) > 1 else 1
    count = channels if draw(st.booleans()) else 1
    rank = draw(st.integers(0 if count == 1 else 1, 3))
    place = draw(st.integers(0, rank - 1)) if rank else 0
    weight = tuple(count if axis == place else 1 for axis in range(rank))
    return tuple(shape), tuple(grad), weight


def views(array, how):
    """Arrays of the same values whose memory is laid out otherwise."""
    if not array.ndim:
        return array
    if how == "reversed":
        return np.ascontiguousarray(array[::-1])[::-1]
    if how == "transposed":
        return np.ascontiguousarray(array.T).T
    if how == "stepped":
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        wide[..., ::2] = array
        return wide[..., ::2]
    return array


@given(
    call=calls(),
    dtype=st.sampled_from(TYPES),
    platform=st.sampled_from(PLATFORMS),
    how=st.tuples(*[st.sampled_from(["dense", "transposed", "stepped", "reversed"])] * 3),
    specials=st.booleans(),
    seed=st.integers(0, 2**16),
)
@settings(max_examples=60)
@example(
    call=((2, 3, 4), (3, 1), (3,)),
    dtype=np.float16,
    platform="950",
    how=("dense",) * 3,
    specials=True,
    seed=0,
)
def test_any_call_equals_the_formula(call, dtype, platform, how, specials, seed):
    shape, grad_shape, weight_shape = call
    rng = np.random.default_rng(seed)
    made = []
    for size, view in zip((grad_shape, shape, weight_shape), how, strict=True):
        values = rng.standard_normal(size) * 4
        if specials:
            chosen = rng.random(size) < 0.3
            values = np.where(chosen, rng.choice(SPECIAL, size), values)
        made.append(views(np.asarray(values).astype(dtype), view))
    check(*made, platform=platform)


@dtypes
@platforms
@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "weight_shape"),
    [((2**22,), (1,)), ((64, 64, 1024), (64,)), ((4096, 1024), (1024,)), ((2**20, 4), (4,))],
)
def test_four_million_elements_equal_the_formula(dtype, platform, shape, weight_shape):
    rng = np.random.default_rng(2)
    grad, self_ = (rng.standard_normal(shape).astype(dtype) for _ in range(2))
    check(grad, self_, rng.standard_normal(weight_shape).astype(dtype), platform=platform)


@platforms
@pytest.mark.parametrize("dtype", [np.float16, BF16], ids=["float16", "bfloat16"])
def test_every_16_bit_pattern_of_self(dtype, platform):
    self_ = np.arange(65536, dtype=np.uint32).astype(np.uint16).view(dtype)
    weight = np.array([0.25], dtype)
    dx, _ = prelu_backward(np.ones_like(self_), self_, weight, platform=platform)
    assert same_bits(dx, model(np.ones_like(self_), self_, weight)[0])


@dtypes
def test_the_sum_is_the_same_for_any_number_of_cores_of_910b(dtype):
    rng = np.random.default_rng(3)
    grad, self_ = (rng.standard_normal((40, 50, 60)).astype(dtype) for _ in range(2))
    weight = rng.standard_normal(50).astype(dtype)
    results = []
    for cores in (48, 24, 7, 1):
        device = load_platform("910b")
        device = replace(device, chip=replace(device.chip, aiv=cores))
        result = prelu_backward.run(grad, self_, weight, platform=device)
        assert max(run.block_dim for run in result.runs) <= cores
        results.append(result.outputs)
    for dx, da in results[1:]:
        assert same_bits(dx, results[0][0])
        assert same_bits(da, results[0][1])


@platforms
def test_half_products_overflow_before_they_are_summed(platform):
    grad = np.array([[300], [-300]], np.float16)
    self_ = np.array([[-300], [-300]], np.float16)
    _, da = prelu_backward(grad, self_, np.array([0.5], np.float16), platform=platform)
    assert np.isnan(da).all()
    _, da = prelu_backward(*(a.astype(np.float32) for a in (grad, self_)), np.ones(1, np.float32))
    assert da == 0


@platforms
def test_the_sum_is_kept_in_float(platform):
    grad = np.array([2048.0] + [1.0] * 3, np.float16).reshape(4, 1)
    self_ = -np.ones((4, 1), np.float16)
    _, da = prelu_backward(grad, self_, np.ones(1, np.float16), platform=platform)
    # 2051 lies between 2050 and 2052, and half rounds it to the even one.
    assert da == -2052


def test_nhwc_data_is_read_as_if_axis_1_were_the_channel():
    self_ = -np.ones((1, 2, 2, 3), np.float32)
    with pytest.raises(acl.AclnnError, match="2 channels") as caught:
        prelu_backward(np.ones_like(self_), self_, np.ones(3, np.float32))
    assert caught.value.argument == "weight"


def test_the_document_gives_grad_weight_weights_shape():
    self_ = -np.ones((2, 3, 4), np.float32)
    weight = np.ones((1, 3, 1), np.float32)
    _, da = prelu_backward(np.ones_like(self_), self_, weight, strict="doc")
    np.testing.assert_array_equal(da, np.full((1, 3, 1), -8))
    _, da = prelu_backward(np.ones_like(self_), self_, weight)
    np.testing.assert_array_equal(da, np.full(3, -8))


@pytest.mark.parametrize(("shape", "weight"), [((0, 3), (3,)), ((2, 0, 4), (0,)), ((3, 0), (1,))])
def test_empty_arrays_give_zeros(shape, weight):
    empty = np.zeros(shape, np.float16)
    dx, da = prelu_backward(empty, empty, np.ones(weight, np.float16))
    assert dx.shape == shape
    np.testing.assert_array_equal(da, np.zeros(weight))


@platforms
def test_inputs_are_not_changed(platform):
    arrays = [np.full((2, 3), -1, np.float32), np.full((2, 3), -2, np.float32)]
    arrays.append(np.ones(3, np.float32))
    for array in arrays:
        array.flags.writeable = False
    prelu_backward(*arrays, platform=platform)
    assert [float(array.flat[0]) for array in arrays] == [-1, -2, 1]


def test_run_names_its_kernels():
    ones = np.ones((2, 3), np.float32)
    result = prelu_backward.run(ones, ones, np.ones(3, np.float32), platform="950")
    assert [run.name for run in result.runs] == ["PReluGradUpdate", "PReluGradReduce"]
    assert all(run.cycles > 0 for run in result.runs)


def test_the_published_axes_of_a_weight_of_one_rank_less():
    assert reduce_axes((2, 4, 3, 5), (4, 1, 1)) == [0, 1, 2]
    assert reduce_axes((2, 4, 3, 5), (4,)) == [0, 2, 3]
    assert reduce_axes((7,), (7,)) == [0]
