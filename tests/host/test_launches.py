"""Executors with copy nodes, and kernels launched directly into a stream.

The copy kernels here move one element at a time with the scalar unit, straight from the definition
of the tiling struct, so that addresses, workspace places and tiling are tested by themselves.
"""

from __future__ import annotations

import numpy as np
import pytest

from host import acl, kernel_binary, rt
from host.hard_swish_grad_v2.api import (
    aclnn_hardswish_backward_v2 as launch,
)
from host.hard_swish_grad_v2.api import (
    aclnn_hardswish_backward_v2_get_workspace_size as plan,
)
from host.tensor import Tensor
from simulator.ascendc import GetBlockIdx, GlobalTensor, float32, kernel


def places(tiling):
    """Pairs of (dense element, view element) of this block."""
    start = GetBlockIdx() * tiling.blockFactor
    for dense in range(start, min(start + tiling.blockFactor, tiling.totalNum)):
        rest, at = dense, tiling.offset
        for axis in reversed(range(tiling.rank)):
            rest, digit = divmod(rest, tiling.shape[axis])
            at += digit * tiling.strides[axis]
        yield dense, at


@kernel(template=("DTYPE",))
def contiguous(DTYPE, x, y, workspace, tiling):
    source, target = GlobalTensor(DTYPE), GlobalTensor(DTYPE)
    source.SetGlobalBuffer(x)
    target.SetGlobalBuffer(y)
    for dense, at in places(tiling):
        target.SetValue(dense, source.GetValue(at))


@kernel(template=("DTYPE",))
def view_copy(DTYPE, x, y, workspace, tiling):
    source, target = GlobalTensor(DTYPE), GlobalTensor(DTYPE)
    source.SetGlobalBuffer(x)
    target.SetGlobalBuffer(y)
    for dense, at in places(tiling):
        target.SetValue(at, source.GetValue(dense))


@kernel
def double(x, y):
    source, target = GlobalTensor(float32), GlobalTensor(float32)
    source.SetGlobalBuffer(x)
    target.SetGlobalBuffer(y)
    for i in range(3):
        target.SetValue(i, source.GetValue(i) * 2)


@pytest.fixture
def element_wise_copies(monkeypatch):
    mine = {"Contiguous": contiguous, "ViewCopy": view_copy}
    found = kernel_binary.find_kernel

    def find(definition, soc, platform):
        return mine.get(definition.op_type) or found(definition, soc, platform)

    monkeypatch.setattr("host.executor_task.find_kernel", find)


# self / 3 + 1/2 is exact at multiples of 1.5; the rest is saturated.
SELF = np.array([[-1.5, 0, 1.5], [-9, 9, 3]], np.float32)
D = np.array([[0, 0.5, 1], [0, 1, 1]], np.float32)
GRAD = np.array([[2, 4, 6], [8, 10, 12]], np.float32)


@pytest.mark.parametrize(
    "views",
    [
        lambda g, s, o: (np.ascontiguousarray(g.T).T, s, o),
        lambda g, s, o: (g, np.repeat(s, 3, axis=1)[:, 1::3], o),
        lambda g, s, o: (np.broadcast_to(g[:1], (2, 3)), s, o),
        lambda g, s, o: (g, s, np.full((3, 2), -7, np.float32).T),
        lambda g, s, o: (
            np.ascontiguousarray(g.T).T,
            np.repeat(s, 2, axis=0)[::2],
            np.full((4, 5), -7, np.float32)[1:3, 2:],
        ),
    ],
    ids=["transposed", "stepped", "broadcast", "output transposed", "all three"],
)
def test_strided_views_are_gathered_and_scattered(runtime, element_wise_copies, views):
    grad, self_, out = views(GRAD, SELF, np.full((2, 3), -7, np.float32))
    _, stream = rt.create_stream()
    given = [Tensor.from_numpy(a) for a in (grad, self_, out)]
    status, size, executor = plan(*given)
    assert status == 0
    _, workspace = rt.malloc(size)
    assert launch(workspace, size, executor, stream) == 0
    assert rt.synchronize_stream(stream) == 0
    np.testing.assert_array_equal(given[2].to_numpy(), grad * D)
    assert len(executor.runs) > 1


def test_view_copy_touches_nothing_between_the_view_s_elements(runtime, element_wise_copies):
    storage = np.full(12, -7, np.float32)
    _, stream = rt.create_stream()
    out = Tensor.from_numpy(storage, view_shape=(2, 3), strides=(6, 2), offset=1)
    _, size, executor = plan(Tensor.from_numpy(GRAD), Tensor.from_numpy(SELF), out)
    _, workspace = rt.malloc(size)
    launch(workspace, size, executor, stream)
    assert rt.synchronize_stream(stream) == 0
    whole = Tensor((12,), "float32", data=out.data).to_numpy()
    expected = storage.copy()
    expected[[1, 3, 5, 7, 9, 11]] = (GRAD * D).reshape(-1)
    np.testing.assert_array_equal(whole, expected)


def test_a_workspace_that_is_too_small_faults_at_synchronise(runtime, element_wise_copies):
    _, stream = rt.create_stream()
    given = [Tensor.from_numpy(a) for a in (GRAD.T, SELF.T, np.zeros((3, 2), np.float32))]
    _, size, executor = plan(*given)
    _, workspace = rt.malloc(512)
    with pytest.warns(acl.HostProgramWarning, match="512 usable bytes"):
        assert launch(workspace, size, executor, stream) == 0
    assert rt.synchronize_stream(stream) in (507035, 507044, 507045)


def test_a_kernel_launched_into_a_stream_runs_at_synchronise(runtime):
    _, stream = rt.create_stream()
    x = Tensor.from_numpy(np.array([1, 2.5, -3], np.float32))
    _, out = rt.malloc(12)
    double[1, stream](rt.gm_addr(x.data), rt.gm_addr(out))
    y = Tensor((3,), "float32", data=out)
    assert np.isnan(y.to_numpy()).all()
    assert stream.runs == []
    assert rt.synchronize_stream(stream) == 0
    np.testing.assert_array_equal(y.to_numpy(), np.array([2, 5, -6], np.float32))
    assert [run.platform for run in stream.runs] == [runtime.platform]


def test_a_pointer_to_freed_memory_has_no_gm_address(runtime):
    _, ptr = rt.malloc(12)
    rt.free(ptr)
    with pytest.raises(IndexError, match="no allocation holds"):
        rt.gm_addr(ptr)


def test_more_memory_than_the_device_has_is_refused(runtime):
    assert rt.malloc(runtime.platform.memory.hbm_bytes) == (207018, None)


def test_a_missing_kernel_is_found_out_in_phase_two(runtime, monkeypatch):
    def missing(definition, soc, platform):
        raise acl.AclnnError("no binary", status=acl.Aclnn.INNER_FIND_KERNEL_ERROR)

    _, stream = rt.create_stream()
    _, size, executor = plan(*(Tensor.from_numpy(a) for a in (GRAD, SELF, SELF)))
    _, workspace = rt.malloc(size)
    monkeypatch.setattr("host.executor_task.find_kernel", missing)
    assert launch(workspace, size, executor, stream) == 561003
