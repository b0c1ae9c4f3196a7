"""aclnnHardswishBackwardV2: order of checks, texts, graph, and the call on arrays."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from host import acl, rt
from host.hard_swish_grad_v2.api import (
    aclnn_hardswish_backward_v2_get_workspace_size as plan,
)
from host.ops import hardswish_backward_v2
from host.tensor import Tensor


def tensor(shape=(2, 3), dtype="float32", **more):
    return Tensor(shape, dtype, **more)


@pytest.mark.parametrize(
    ("args", "argument", "status"),
    [
        # Everything is wrong at once: the first check in the source's order decides.
        ((None, None, None), "gradOutput", 161001),
        ((tensor(dtype="int64"), None, None), "self", 161001),
        ((tensor(dtype="int64"), tensor((9,) * 9, "int8"), None), "out", 161001),
        ((tensor(dtype="int64"), tensor((9,) * 9, "int8"), tensor()), "gradOutput", 161002),
        ((tensor(), tensor((9,) * 9, "int8"), tensor()), "self", 161002),
        ((tensor(dtype="float16"), tensor((2,)), tensor()), "gradOutput", 161002),
        ((tensor((1,) * 9), tensor((2,)), tensor(dtype="float16")), "out", 161002),
        ((tensor((1,) * 9), tensor((2,) * 9), tensor()), "gradOutput", 161002),
        ((tensor(), tensor((1,) * 9), tensor((4,))), "self", 161002),
        ((tensor((3, 2)), tensor(), tensor((4,))), "gradOutput", 161002),
        ((tensor(), tensor(), tensor((3, 2))), "out", 161002),
    ],
)
def test_the_first_failing_check_decides(runtime, args, argument, status):
    assert plan(*args) == (status, 0, None)
    assert runtime.last_error.argument == argument
    text = acl.get_recent_err_msg()
    assert text.startswith("[host.aclnn] aclnnHardswishBackwardV2GetWorkspaceSize: ")
    assert "aclnn_hardswish_backward_v2.cpp" in text


@pytest.mark.parametrize("null", ["workspace_size", "executor"])
def test_null_out_pointers_are_tested_first(runtime, null):
    assert plan(None, None, None, **{null: None})[0] == 161001
    wanted = {"workspace_size": "workspaceSize", "executor": "executor"}[null]
    assert runtime.last_error.argument == wanted


def test_rank_zero_divides_document_and_source(runtime):
    scalar = tensor(())
    assert plan(scalar, scalar, scalar)[0] == 0
    assert plan(scalar, scalar, scalar, strict="doc")[0] == 161002
    assert "docs/aclnnHardswishBackwardV2.md" in acl.get_recent_err_msg()


def test_bf16_is_refused_on_910():
    with acl.Runtime("910"):
        acl.init()
        args = [tensor(dtype="bfloat16")] * 3
        assert plan(*args)[0] == 161002
        assert "Ascend910 does not support" in acl.get_recent_err_msg()
        assert plan(*[tensor(dtype="float16")] * 3)[0] == 0


def test_empty_tensors_make_an_executor_without_tasks(runtime):
    status, size, executor = plan(*[tensor((0, 3))] * 3)
    assert (status, size, executor.nodes) == (0, 0, [])


def test_dense_views_need_one_kernel_and_only_its_workspace(runtime):
    _, size, executor = plan(tensor(), tensor(), tensor())
    launched = [node.op_type for node in executor.nodes if node.tiling is not None]
    assert launched == ["HardSwishGradV2"]
    assert size == 16 * 2**20


def test_strided_views_are_copied_through_the_workspace(runtime):
    strided = {"shape": (2, 3), "strides": (1, 2)}
    _, size, executor = plan(tensor(**strided), tensor(**strided), tensor(**strided))
    launched = [node.op_type for node in executor.nodes if node.tiling is not None]
    assert launched == ["Contiguous", "Contiguous", "HardSwishGradV2", "ViewCopy"]
    # Three intermediates of 24 bytes, alive together at the operator: 512 bytes each.
    assert size == 3 * 512 + 16 * 2**20
    text = executor.graph()
    for part in ("strides [1, 2]", "@workspace+0", "@workspace+512", "@workspace+1024", "key 0"):
        assert part in text


def test_950_needs_no_kernel_workspace():
    with acl.Runtime("950"):
        acl.init()
        status, size, executor = plan(tensor(), tensor(), tensor())
        assert (status, size) == (0, 0)
        (node,) = (n for n in executor.nodes if n.tiling is not None)
        assert node.tiling.key == 0


def exact_ratio(value):
    return Fraction(float(value))


def round_to(dtype, value):
    """Nearest-even rounding of a Fraction, by way of the two neighbours in ``dtype``."""
    guess = np.array([float(value)]).astype(dtype)
    candidates = [
        np.nextafter(guess, dtype(-np.inf)),
        guess,
        np.nextafter(guess, dtype(np.inf)),
    ]
    bits = f"u{guess.itemsize}"
    return min(
        (c[0] for c in candidates),
        key=lambda c: (abs(exact_ratio(c) - value), int(np.array([c]).view(bits)[0]) & 1),
    )


def expected(grad, self_, dtype):
    """The formula step by step with exact fractions, rounded where the kernel rounds."""
    third = exact_ratio(np.float32(0.33333334))
    out = []
    for g, s in zip(grad.reshape(-1), self_.reshape(-1), strict=True):
        if s <= -3:
            d = Fraction(0)
        elif s >= 3:
            d = Fraction(1)
        else:
            scaled = exact_ratio(round_to(np.float32, exact_ratio(s) * third))
            d = exact_ratio(round_to(np.float32, scaled + Fraction(1, 2)))
        product = round_to(np.float32, exact_ratio(g) * d)
        out.append(round_to(dtype, exact_ratio(product)) if dtype != np.float32 else product)
    return np.array(out, dtype).reshape(grad.shape)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5), (4865,)])
def test_result_equals_the_formula_in_exact_arithmetic(dtype, shape):
    rng = np.random.default_rng(5)
    grad = (rng.integers(-64, 65, shape) / 16).astype(dtype)
    self_ = (rng.integers(-512, 513, shape) / 128).astype(dtype)
    grad, self_ = np.asarray(grad), np.asarray(self_)
    got = hardswish_backward_v2(grad, self_)
    assert got.dtype == dtype
    want = expected(grad, self_, dtype)
    np.testing.assert_array_equal(got.astype(np.float64), want.astype(np.float64))


def test_the_call_raises_what_the_check_found():
    with pytest.raises(acl.AclnnError) as caught:
        hardswish_backward_v2(np.zeros(3, np.float32), np.zeros(4, np.float32))
    error = caught.value
    assert (error.status, error.status_name, error.argument) == (
        161002,
        "ACLNN_ERR_PARAM_INVALID",
        "gradOutput",
    )
    assert "[3]" in str(error)
    assert "[4]" in str(error)


def test_run_returns_the_executor_and_its_runs():
    result = hardswish_backward_v2.run(np.ones(9, np.float32), np.zeros(9, np.float32))
    np.testing.assert_array_equal(result.outputs[0], np.full(9, 0.5, np.float32))
    (run,) = result.runs
    assert run.cycles > 0
    assert run.block_dim == 1


def test_an_empty_array_gives_an_empty_array():
    out = hardswish_backward_v2(np.zeros((0, 3), np.float16), np.zeros((0, 3), np.float16))
    assert out.shape == (0, 3)


def test_inputs_are_not_changed():
    grad, self_ = np.ones(5, np.float32), np.arange(5, dtype=np.float32)
    grad.flags.writeable = self_.flags.writeable = False
    hardswish_backward_v2(grad, self_)
    np.testing.assert_array_equal(self_, np.arange(5))


def test_in_place_output_over_an_input(runtime):
    _, stream = rt.create_stream()
    grad = Tensor.from_numpy(np.ones(5, np.float32))
    self_ = Tensor.from_numpy(np.array([-4, 0, 4, 3, -3], np.float32))
    from host.hard_swish_grad_v2.api import aclnn_hardswish_backward_v2 as launch

    _, size, executor = plan(grad, self_, self_)
    _, workspace = rt.malloc(size)
    assert launch(workspace, size, executor, stream) == 0
    assert rt.synchronize_stream(stream) == 0
    np.testing.assert_array_equal(self_.to_numpy(), np.array([0, 0.5, 1, 1, 0], np.float32))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize(
    "view",
    [
        lambda a: a.T,
        lambda a: a[::3, 1:],
        lambda a: a[:, ::2],
        lambda a: a[::-1],
        lambda a: np.broadcast_to(a[:1], a.shape),
    ],
    ids=["transposed", "sliced", "stepped", "reversed", "broadcast"],
)
def test_a_strided_array_gives_the_result_of_its_dense_copy(dtype, view):
    rng = np.random.default_rng(11)
    grad, self_ = (view((rng.integers(-512, 513, (30, 41)) / 128).astype(dtype)) for _ in range(2))
    dense = hardswish_backward_v2(np.ascontiguousarray(grad), np.ascontiguousarray(self_))
    got = hardswish_backward_v2(grad, self_)
    np.testing.assert_array_equal(got.view(np.uint8), dense.view(np.uint8))
