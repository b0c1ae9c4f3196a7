"""aclnnMaxPoolingGrad as a CANN host program: the published C++ example, call by call.

dx = dy where x equals y, else 0. Run it with ``python examples/aclnn_max_pooling_grad.py`` or
``ascsim run examples/aclnn_max_pooling_grad.py``. The program that it follows:
hicann/ops-nn experimental/pooling/max_pooling_grad/examples/test_aclnn_max_pooling_grad.cpp.
"""

import numpy as np

from host import acl, rt
from host.max_pooling_grad.api import (
    aclnn_max_pooling_grad,
    aclnn_max_pooling_grad_get_workspace_size,
)

DEVICE_ID = 0
SHAPE = (64, 512)


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

    # 2. Inputs and output. The first five elements are of interest; elsewhere x, y and dy are 0.
    dy, x, y, dx = (np.zeros(SHAPE, np.float32) for _ in range(4))
    dy[0, :5] = [0.5, 1.5, 3.0, 2.0, 9.9]
    x[0, :5] = [2, 1, 5, 0, 1]
    y[0, :5] = [2, 1, 5, 0, 2]
    dy_addr, dy_tensor = create_acl_tensor(dy, "dy")
    x_addr, x_tensor = create_acl_tensor(x, "x")
    y_addr, y_tensor = create_acl_tensor(y, "y")
    dx_addr, dx_tensor = create_acl_tensor(dx, "dx")

    # 3. The two phases of the call.
    ret, workspace_size, executor = aclnn_max_pooling_grad_get_workspace_size(
        dy_tensor, x_tensor, y_tensor, dx_tensor
    )
    check_ret(ret, "aclnnMaxPoolingGradGetWorkspaceSize")
    workspace_addr = None
    if workspace_size > 0:
        ret, workspace_addr = rt.malloc(workspace_size)
        check_ret(ret, "allocate workspace")
    ret = aclnn_max_pooling_grad(workspace_addr, workspace_size, executor, stream)
    check_ret(ret, "aclnnMaxPoolingGrad")

    # 4. Wait until the task has finished.
    check_ret(rt.synchronize_stream(stream), "aclrtSynchronizeStream")

    # 5. Copy the result back.
    result = np.zeros(SHAPE, np.float32)
    size = result.nbytes
    ret = rt.memcpy(result, size, dx_addr, size, rt.MemcpyKind.DEVICE_TO_HOST)
    check_ret(ret, "copy dx result from device to host")
    print("MaxPoolingGrad result (first 5 elements):")
    for i in range(5):
        print(f"  dx[{i}] = {result[0, i]:f}  (dy={dy[0, i]:f})")

    # 6. Release everything.
    for tensor in (dy_tensor, x_tensor, y_tensor, dx_tensor):
        acl.destroy_tensor(tensor)
    for addr in (dy_addr, x_addr, y_addr, dx_addr):
        rt.free(addr)
    if workspace_size > 0:
        rt.free(workspace_addr)
    rt.destroy_stream(stream)
    rt.reset_device(DEVICE_ID)
    acl.finalize()


if __name__ == "__main__":
    main()
