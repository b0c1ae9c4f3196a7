"""aclnnHardswishBackwardV2 as a CANN host program: the published C++ example, call by call.

out = gradOutput * d(self), with d = 0 for self <= -3, 1 for self >= 3, self / 3 + 0.5 between.
Run it with ``python examples/aclnn_hardswish_backward_v2.py`` or
``ascsim run examples/aclnn_hardswish_backward_v2.py``. The program that it follows:
hicann/ops-nn activation/hard_swish_grad_v2/examples/test_aclnn_hard_swish_backward_v2.cpp.
"""

import numpy as np

from host import acl, rt
from host.hard_swish_grad_v2.api import (
    aclnn_hardswish_backward_v2,
    aclnn_hardswish_backward_v2_get_workspace_size,
)

DEVICE_ID = 0
SHAPE = (4, 2)


def check_ret(ret: int, what: str) -> None:
    """CHECK_RET and LOG_PRINT."""
    if ret != 0:
        raise SystemExit(f"{what} failed. ERROR: {ret}\n{acl.get_recent_err_msg() or ''}")


def init() -> acl.Stream | None:
    """Initialise the device and create a stream."""
    check_ret(acl.init(), "aclInit")
    check_ret(rt.set_device(DEVICE_ID), "aclrtSetDevice")
    ret, stream = rt.create_stream()
    check_ret(ret, "aclrtCreateStream")
    return stream


def create_acl_tensor(
    host_data: np.ndarray, name: str
) -> tuple[acl.DevicePtr | None, acl.Tensor | None]:
    """Allocate device memory, copy the data there and describe it."""
    size = host_data.nbytes
    ret, device_addr = rt.malloc(size)
    check_ret(ret, "aclrtMalloc")
    ret = rt.memcpy(device_addr, size, host_data, size, rt.MemcpyKind.HOST_TO_DEVICE)
    check_ret(ret, "aclrtMemcpy")
    shape = host_data.shape
    strides = [1] * len(shape)
    for i in reversed(range(len(shape) - 1)):
        strides[i] = shape[i + 1] * strides[i + 1]
    tensor = acl.create_tensor(
        shape, acl.DataType.FLOAT, strides, 0, acl.Format.ND, shape, device_addr, name=name
    )
    return device_addr, tensor


def main() -> None:
    """Run the whole program."""
    # 1. Device and stream.
    stream = init()

    # 2. Inputs and output.
    ramp = np.arange(8, dtype=np.float32).reshape(SHAPE)
    self_addr, self_ = create_acl_tensor(ramp, "self")
    grad_output_addr, grad_output = create_acl_tensor(ramp, "gradOutput")
    out_addr, out = create_acl_tensor(np.zeros(SHAPE, np.float32), "out")

    # 3. The two phases of the call.
    ret, workspace_size, executor = aclnn_hardswish_backward_v2_get_workspace_size(
        grad_output, self_, out
    )
    check_ret(ret, "aclnnHardswishBackwardV2GetWorkspaceSize")
    workspace_addr = None
    if workspace_size > 0:
        ret, workspace_addr = rt.malloc(workspace_size)
        check_ret(ret, "allocate workspace")
    ret = aclnn_hardswish_backward_v2(workspace_addr, workspace_size, executor, stream)
    check_ret(ret, "aclnnHardswishBackwardV2")

    # 4. Wait until the task has finished.
    check_ret(rt.synchronize_stream(stream), "aclrtSynchronizeStream")

    # 5. Copy the result back.
    result = np.zeros(SHAPE, np.float32)
    size = result.nbytes
    ret = rt.memcpy(result, size, out_addr, size, rt.MemcpyKind.DEVICE_TO_HOST)
    check_ret(ret, "copy result from device to host")
    for i, value in enumerate(result.reshape(-1)):
        print(f"result[{i}] is: {value:f}")

    # 6. Destroy the tensors.
    for tensor in (self_, grad_output, out):
        acl.destroy_tensor(tensor)

    # 7. Release the device.
    for addr in (self_addr, grad_output_addr, out_addr):
        rt.free(addr)
    if workspace_size > 0:
        rt.free(workspace_addr)
    rt.destroy_stream(stream)
    rt.reset_device(DEVICE_ID)
    acl.finalize()


if __name__ == "__main__":
    main()
