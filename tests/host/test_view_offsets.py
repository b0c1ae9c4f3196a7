"""The offset of a view counts once, whoever applies it: the address or the copy kernel."""

from __future__ import annotations

import numpy as np
import pytest

from host import rt
from host.aclnn import get_workspace_size, run_executor
from host.executor import AclOpExecutor
from host.l0 import Contiguous, ViewCopy
from host.ops import hardswish_backward_v2
from host.runtime import current
from host.tensor import Tensor


@get_workspace_size("aclnnCopy")
def plan_copy(source, target):
    """Copy a tensor of the caller: its memory cannot be redirected, so ViewCopy is launched."""
    plan = AclOpExecutor(current(), "aclnnCopy", (source, target))
    ViewCopy(Contiguous(source, plan), target, plan)
    return plan


@pytest.mark.parametrize(
    ("strides", "places"),
    [((3, 1), [2, 3, 4, 5, 6, 7]), ((4, 1), [2, 3, 4, 6, 7, 8]), ((1, 2), [2, 4, 6, 3, 5, 7])],
    ids=["dense", "gaps", "transposed"],
)
@pytest.mark.parametrize("source_offset", [0, 5])
def test_view_copy_of_a_caller_s_tensor_to_a_view_with_offset(
    runtime, strides, places, source_offset
):
    storage = np.full(12, -7, np.float32)
    values = np.arange(source_offset + 6, dtype=np.float32)
    source = Tensor.from_numpy(values, view_shape=(2, 3), strides=(3, 1), offset=source_offset)
    target = Tensor.from_numpy(storage, view_shape=(2, 3), strides=strides, offset=2)
    _, stream = rt.create_stream()
    status, size, executor = plan_copy(source, target)
    assert (status, size) == (0, 0)
    assert run_executor("aclnnCopy", None, 0, executor, stream) == 0
    assert rt.synchronize_stream(stream) == 0
    expected = storage.copy()
    expected[places] = values[source_offset:]
    whole = Tensor((12,), "float32", data=target.data).to_numpy()
    np.testing.assert_array_equal(whole, expected)
    assert [run.name for run in executor.runs] == ["ViewCopy"]


def test_contiguous_reads_a_strided_view_with_offset_once(runtime):
    storage = np.arange(20, dtype=np.float32)
    source = Tensor.from_numpy(storage, view_shape=(3, 2), strides=(1, 6), offset=4)
    target = Tensor.from_numpy(np.zeros((3, 2), np.float32))
    _, stream = rt.create_stream()
    _, size, executor = plan_copy(source, target)
    _, workspace = rt.malloc(max(size, 1))
    run_executor("aclnnCopy", workspace, size, executor, stream)
    assert rt.synchronize_stream(stream) == 0
    expected = np.array([[4, 10], [5, 11], [6, 12]], np.float32)
    np.testing.assert_array_equal(target.to_numpy(), expected)


def test_a_view_of_a_view_keeps_its_values():
    grid = np.arange(48, dtype=np.float32).reshape(6, 8)
    part = grid[1::2, 2:6]
    np.testing.assert_array_equal(hardswish_backward_v2(part, part + 3), part)
