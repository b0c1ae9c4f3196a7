"""aclnnHardswishBackward, the first version: order of checks, ends of the line, tiling."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from host import acl
from host.errors import TilingError
from host.hard_swish_grad.api import aclnn_hardswish_backward_get_workspace_size as plan
from host.infershape import infer
from host.ops import hardswish_backward
from host.platform_ascendc import PlatformInfo
from host.tensor import Tensor
from host.tiling import tiling
from simulator.platforms import load_platform

TYPES = [np.float32, np.float16, ml_dtypes.bfloat16]
PLATFORMS = ["910b", "950"]


def tensor(shape=(2, 3), dtype="float32", **more):
    return Tensor(shape, dtype, **more)


def model(grad, x):
    """The documented order of float operations, then one rounding."""
    g, s = grad.astype(np.float32), x.astype(np.float32)
    with np.errstate(all="ignore"):
        d = s * np.float32(0.33333334) + np.float32(0.5)
        d = np.where(s >= -3, d, np.float32(0))
        d = np.where(s <= 3, d, np.float32(1))
        return (g * d).astype(x.dtype)


def bits(array):
    """Bit patterns with every NaN made the same."""
    words = np.ascontiguousarray(array).view(f"u{array.itemsize}").copy()
    words[np.isnan(array.astype(np.float32))] = 0xFFFF
    return words


@pytest.mark.parametrize(
    ("args", "argument", "status"),
    [
        ((None, None, None), "gradOutput", 161001),
        ((tensor(dtype="int64"), None, None), "self", 161001),
        ((tensor(dtype="int64"), tensor(dtype="int8"), None), "out", 161001),
        # Unlike the second version, self's data type is looked at first.
        ((tensor(dtype="int64"), tensor(dtype="int8"), tensor()), "self", 161002),
        ((tensor(dtype="int64"), tensor(), tensor()), "gradOutput", 161002),
        ((tensor(dtype="float16"), tensor(), tensor(dtype="int8")), "gradOutput", 161002),
        ((tensor((1,) * 9), tensor((2,)), tensor(dtype="float16")), "out", 161002),
        ((tensor((1,) * 9), tensor((1,) * 9), tensor()), "gradOutput", 161002),
        ((tensor(), tensor((1,) * 9), tensor()), "self", 161002),
        ((tensor((3, 2)), tensor(), tensor((4,))), "gradOutput", 161002),
        ((tensor(), tensor(), tensor((3, 2))), "out", 161002),
    ],
)
def test_the_first_failing_check_decides(runtime, args, argument, status):
    assert plan(*args) == (status, 0, None)
    assert runtime.last_error.argument == argument
    assert "aclnn_hardswish_backward.cpp" in acl.get_recent_err_msg()


def test_strided_views_are_copied_self_first(runtime):
    strided = tensor(strides=(1, 2))
    _, size, executor = plan(strided, strided, strided)
    ops = [node.op_type for node in executor.nodes if node.tiling is not None]
    assert ops == ["Contiguous", "Contiguous", "HardSwishGrad", "ViewCopy"]
    assert executor.nodes[0].inputs[0] is strided
    assert size == 3 * 512 + 16 * 2**20


def test_empty_tensors_make_an_executor_without_tasks(runtime):
    status, size, executor = plan(*[tensor((0, 3))] * 3)
    assert (status, size, executor.nodes) == (0, 0, [])


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_ends_of_the_line_belong_to_it(platform):
    x = np.array([-3, 3, -3.5, 3.5, np.nan, np.inf, -np.inf], np.float32)
    out = hardswish_backward(np.full(7, 2, np.float32), x, platform=platform)
    expected = np.array([-1, 3, 0, 2, 2, 2, 0], np.float32)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_every_16_bit_pattern_of_self(dtype, platform):
    x = np.arange(65536, dtype=np.uint16).view(dtype)
    grad = np.ones_like(x)
    got = hardswish_backward(grad, x, platform=platform)
    np.testing.assert_array_equal(bits(got), bits(model(grad, x)))


@given(
    st.lists(st.sampled_from([0, 1, 2, 3, 5, 17, 64, 65]), max_size=8).filter(
        lambda shape: np.prod(shape, dtype=int) <= 5000
    ),
    st.sampled_from(TYPES),
    st.sampled_from(PLATFORMS),
    st.integers(0, 2**32 - 1),
    st.booleans(),
)
def test_the_call_equals_the_model(shape, dtype, platform, seed, strided):
    rng = np.random.default_rng(seed)
    grad, x = ((rng.standard_normal(shape) * 3).astype(dtype) for _ in range(2))
    x = np.where(rng.random(shape) < 0.2, np.array(3).astype(dtype), x)
    if strided:
        grad, x = np.asarray(grad).T.copy().T, np.asarray(x)[..., None].repeat(2, -1)[..., 0]
    got = hardswish_backward(grad, x, platform=platform)
    np.testing.assert_array_equal(bits(got), bits(model(np.asarray(grad), x)))


@pytest.mark.slow
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("dtype", TYPES)
def test_a_large_call_equals_the_model(dtype, platform):
    rng = np.random.default_rng(7)
    grad, x = ((rng.standard_normal(2**22) * 3).astype(dtype) for _ in range(2))
    got = hardswish_backward(grad, x, platform=platform)
    np.testing.assert_array_equal(bits(got), bits(model(grad, x)))


def test_infershape_takes_gradoutput_s_shape():
    ((shape, dtype),) = infer("HardSwishGrad", [(2, -1), (7,)], [0, 0])
    assert (shape, dtype) == ((2, -1), 0)


def test_950_tiling_compares_element_counts_only():
    same_count = tiling("HardSwishGrad", "950", [(4, 6), (24,)], "float32")
    assert same_count.data.as_dict()["totalNum"] == 24
    with pytest.raises(TilingError, match="23 elements"):
        tiling("HardSwishGrad", "950", [(4, 6), (23,)], "float32")


@pytest.mark.parametrize(
    ("dtype", "count", "tile", "key"),
    [
        # 253952 bytes of UB in 5, 8 or 11 parts, in whole multiples of 64 elements.
        ("float32", 1024, 12672, 0),
        ("float32", 1025, 7936, 256),
        ("float16", 1024, 15872, 1),
        ("bfloat16", 1025, 11520, 283),
        ("float32", 0, 0, 0),
    ],
)
def test_950_tiling_fields(dtype, count, tile, key):
    info = PlatformInfo.from_platform(load_platform("950"))
    result = tiling("HardSwishGrad", info, [(count,)] * 2, dtype)
    assert type(result.data).__name__ == "HardSwishGradTilingData"
    assert (result.data.ubFactor, result.key, result.workspace) == (tile, key, (0,))
    assert result.block_dim == max(1, -(-count // -(-count // info.aiv))) if count else 1
