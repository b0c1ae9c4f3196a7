"""The order of calls of a host program, its status codes and its reported faults."""

from __future__ import annotations

import json

import numpy as np
import pytest

from host import acl, rt
from host.hard_swish_grad_v2.api import (
    aclnn_hardswish_backward_v2 as launch,
)
from host.hard_swish_grad_v2.api import (
    aclnn_hardswish_backward_v2_get_workspace_size as plan,
)
from host.tensor import Tensor

GRAD = np.array([1, 1, 1, 1, 2], np.float32)
SELF = np.array([-3, 3, 0, 9, -1.5], np.float32)
# 0 at and below -3, 1 at and above 3, self / 3 + 1/2 between; all exact in float.
OUT = np.array([0, 1, 0.5, 1, 0], np.float32)


def tensors():
    """Upload the two inputs and an output that is not written yet."""
    names = {"gradOutput": GRAD, "self": SELF, "out": np.full(5, -7, np.float32)}
    return [Tensor.from_numpy(array, name=name) for name, array in names.items()]


def enqueue(stream, given):
    status, size, executor = plan(*given)
    assert status == 0
    _, workspace = rt.malloc(size, name="workspace")
    assert launch(workspace, size, executor, stream) == 0
    return executor


def test_the_eleven_steps_of_a_program():
    with acl.Runtime("910b") as runtime:
        assert acl.init() == 0
        assert rt.set_device(0) == 0
        status, stream = rt.create_stream()
        assert status == 0
        made, pointers = [], []
        for host_array in (GRAD, SELF, None):
            status, ptr = rt.malloc(20)
            assert status == 0
            pointers.append(ptr)
            if host_array is not None:
                kind = rt.MemcpyKind.HOST_TO_DEVICE
                assert rt.memcpy(ptr, 20, host_array, 20, kind) == 0
            made.append(acl.create_tensor((5,), acl.DataType.FLOAT, data=ptr))
        status, size, executor = plan(*made)
        assert (status, size) == (0, 16 * 1024 * 1024)
        status, workspace = rt.malloc(size)
        assert launch(workspace, size, executor, stream) == 0
        assert rt.synchronize_stream(stream) == 0
        result = np.empty(5, np.float32)
        assert rt.memcpy(result, 20, pointers[2], 20, rt.MemcpyKind.DEVICE_TO_HOST) == 0
        np.testing.assert_array_equal(result, OUT)
        for tensor in made:
            assert acl.destroy_tensor(tensor) == 0
        for ptr in (*pointers, workspace):
            assert rt.free(ptr) == 0
        assert rt.destroy_stream(stream) == 0
        assert rt.reset_device(0) == 0
        assert acl.finalize() == 0
        assert runtime.findings == []
        assert [run.name for run in executor.runs] == ["HardSwishGradV2"]
        assert stream.runs == executor.runs


def test_nothing_runs_before_synchronise(runtime):
    _, stream = rt.create_stream()
    given = tensors()
    executor = enqueue(stream, given)
    assert executor.runs == []
    with pytest.warns(acl.HostProgramWarning, match="V2 still writes"):
        before = given[2].to_numpy()
    assert (before == -7).all()
    rt.synchronize_stream(stream)
    np.testing.assert_array_equal(given[2].to_numpy(), OUT)
    assert [f.code for f in runtime.findings] == ["life.workspace"]


def test_reading_an_input_of_a_pending_task_is_no_fault(runtime):
    _, stream = rt.create_stream()
    given = tensors()
    enqueue(stream, given)
    np.testing.assert_array_equal(given[1].to_numpy(), SELF)
    assert runtime.findings == []


def test_overwriting_an_input_of_a_pending_task_is_reported(runtime):
    _, stream = rt.create_stream()
    given = tensors()
    enqueue(stream, given)
    with pytest.warns(
        acl.HostProgramWarning, match=r"this call overwrites .* still reads \(self\)"
    ):
        rt.memcpy(given[1].data, 20, SELF, 20, rt.MemcpyKind.HOST_TO_DEVICE)


def test_an_executor_is_used_up_by_its_run(runtime):
    _, stream = rt.create_stream()
    given = tensors()
    _, size, executor = plan(*given)
    _, workspace = rt.malloc(size)
    assert launch(workspace, size, executor, stream) == 0
    with pytest.warns(acl.HostProgramWarning, match="used up"):
        assert launch(workspace, size, executor, stream) == 561000


def test_a_repeatable_executor_runs_again_until_destroyed(runtime):
    _, stream = rt.create_stream()
    given = tensors()
    _, size, executor = plan(*given)
    assert acl.set_acl_op_executor_repeatable(executor) == 0
    _, workspace = rt.malloc(size)
    for _ in range(2):
        assert launch(workspace, size, executor, stream) == 0
        rt.synchronize_stream(stream)
    assert len(executor.runs) == 2
    assert acl.destroy_acl_op_executor(executor) == 0
    assert acl.destroy_acl_op_executor(executor) == 561000


def test_a_small_workspace_is_reported_but_not_refused(runtime):
    _, stream = rt.create_stream()
    _, size, executor = plan(*tensors())
    _, workspace = rt.malloc(64)
    with pytest.warns(acl.HostProgramWarning, match=f"64 usable bytes, {size} are needed"):
        assert launch(workspace, size, executor, stream) == 0


def test_a_null_workspace_is_refused(runtime):
    _, stream = rt.create_stream()
    _, size, executor = plan(*tensors())
    assert launch(None, size, executor, stream) == 161001
    assert "workspace is null" in acl.get_recent_err_msg()


def test_a_null_or_destroyed_stream_is_a_runtime_error(runtime):
    _, stream = rt.create_stream()
    _, size, executor = plan(*tensors())
    _, workspace = rt.malloc(size)
    assert launch(workspace, size, executor, None) == 361001
    rt.destroy_stream(stream)
    assert launch(workspace, size, executor, stream) == 361001


def test_destroying_a_tensor_before_synchronise_is_reported(runtime):
    _, stream = rt.create_stream()
    given = tensors()
    enqueue(stream, given)
    with pytest.warns(acl.HostProgramWarning, match="has not run yet"):
        acl.destroy_tensor(given[0])
    assert rt.synchronize_stream(stream) == 0
    assert acl.destroy_tensor(given[1]) == 0


def test_destroying_a_stream_with_work_is_reported(runtime):
    _, stream = rt.create_stream()
    enqueue(stream, tensors())
    with pytest.warns(acl.HostProgramWarning, match="never executed: aclnnHardswishBackwardV2"):
        rt.destroy_stream(stream)


def test_memory_freed_before_synchronise_makes_the_device_fault(runtime):
    _, stream = rt.create_stream()
    given = tensors()
    enqueue(stream, given)
    with pytest.warns(
        acl.HostProgramWarning, match="this call frees device memory that the pending"
    ):
        rt.free(given[1].data)
    assert rt.synchronize_stream(stream) == 507044
    assert "freed" in acl.get_recent_err_msg()
    assert rt.synchronize_stream(stream) == 507044


def test_a_tensor_larger_than_its_memory_faults_when_written(runtime):
    _, stream = rt.create_stream()
    grad, self_, _ = tensors()
    _, small = rt.malloc(8)
    status, size, executor = plan(grad, self_, Tensor((5,), "float32", data=small, name="out"))
    _, workspace = rt.malloc(size)
    launch(workspace, size, executor, stream)
    assert status == 0
    assert rt.synchronize_stream(stream) in (507044, 507045)
    assert runtime.last_error.kernel_error.location.file.endswith("kernel_2201.py")


def test_leaks_are_listed_at_finalize():
    with acl.Runtime("910b") as runtime:
        acl.init()
        rt.set_device(0)
        rt.create_stream()
        rt.malloc(100, name="forgotten")
        tensor = acl.create_tensor((2,), acl.DataType.FLOAT)
        plan(tensor, tensor, tensor)
        with pytest.warns(acl.HostProgramWarning) as warned:
            assert acl.finalize() == 0
    codes = sorted(f.code for f in runtime.findings)
    assert codes == [
        "host.leak_executor",
        "host.leak_memory",
        "host.leak_stream",
        "host.leak_tensor",
    ]
    assert any("100 bytes" in str(w.message) and "forgotten" in str(w.message) for w in warned)
    assert all(__file__ in str(w.message) for w in warned)


@pytest.mark.parametrize(
    ("calls", "status"),
    [
        (["acl.init()", "acl.init()"], 100002),
        (["acl.finalize()"], 100001),
        (["acl.init()", "acl.finalize()", "acl.finalize()"], 100037),
        (["rt.set_device(0)"], 100001),
        (["acl.init()", "rt.set_device(1)"], 107001),
        (["acl.init()", "rt.create_stream()[0]"], 107002),
        (["acl.init()", "rt.malloc(4)[0]"], 107002),
        (["acl.init()", "rt.set_device(0)", "rt.malloc(0)[0]"], 107000),
        (["acl.init()", "rt.set_device(0)", "rt.free(None)"], 107000),
        (["acl.init()", "rt.set_device(0)", "rt.free(rt.malloc(64)[1] + 32)"], 207002),
        (["acl.init()", "rt.set_device(0)", "rt.synchronize_stream(None)"], 107017),
        (["acl.init()", "acl.destroy_tensor(None)"], 100000),
        (["acl.init('/no/such/file')"], 100003),
    ],
)
def test_a_call_out_of_order_returns_the_documented_code(calls, status):
    with acl.Runtime("910b"):
        *before, last = calls
        for call in before:
            assert eval(call) == 0
        assert eval(last) == status


def test_raise_on_error_raises_the_same_status(tmp_path):
    config = tmp_path / "acl.json"
    config.write_text(json.dumps({"raise_on_error": True, "device_count": 2}), "utf-8")
    with acl.Runtime("910b"):
        acl.init(config)
        assert rt.set_device(1) == 0
        with pytest.raises(acl.AclError) as caught:
            rt.set_device(2)
    assert (caught.value.status, caught.value.argument) == (107001, "deviceId")
    assert caught.value.status_name == "ACL_ERROR_RT_INVALID_DEVICEID"


def test_a_config_with_an_unknown_key_is_refused():
    with acl.Runtime("910b"):
        assert acl.init({"plattform": "950"}) == 100003
        assert "plattform" in acl.get_recent_err_msg()


def test_a_copy_past_either_memory_is_refused(runtime):
    _, ptr = rt.malloc(32)
    kind = rt.MemcpyKind.HOST_TO_DEVICE
    assert rt.memcpy(ptr, 4, np.zeros(2, np.float32), 8, kind) == 107000
    assert rt.memcpy(ptr, 8, np.zeros(1, np.float32), 8, kind) == 107000
    assert rt.memcpy(ptr, 4096, np.zeros(4096, np.uint8), 4096, kind) == 107000
    assert rt.memcpy(np.zeros((4, 4), np.float32)[:, 1], 16, ptr, 16, kind) == 107000


def test_two_runtimes_do_not_see_each_other():
    with acl.Runtime("910b") as outer:
        acl.init()
        with acl.Runtime("950") as inner:
            assert acl.init() == 0
            assert rt.get_soc_name().startswith("Ascend950")
        assert rt.get_soc_name() == "Ascend910B1"
        assert acl.current() is outer
        assert inner.findings == outer.findings == []


def test_a_recent_error_text_is_given_once(runtime):
    rt.set_device(9)
    assert "no device 9" in acl.get_recent_err_msg()
    assert acl.get_recent_err_msg() is None
