"""The published host program of aclnnPreluBackward, line by line, on a simulated device.

Run it with ``python examples/aclnn_prelu_backward.py`` or
``ascsim run examples/aclnn_prelu_backward.py``; the latter takes ``--platform 950`` for the
published kernels, where 910B has this simulator's own. Source of the program and of its data:
hicann/ops-nn activation/p_relu_grad_update/examples/test_aclnn_prelu_backward.cpp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from host import acl, rt
from host.prelu_backward.api import (
    aclnn_prelu_backward,
    aclnn_prelu_backward_get_workspace_size,
)

if TYPE_CHECKING:
    from host.runtime import DevicePtr
    from host.tensor import Tensor


def check(status: int, what: str) -> None:
    """CHECK_RET: stop at the first call that fails."""
    if status != 0:
        raise SystemExit(f"{what} failed. ERROR: {status}\n{acl.get_recent_err_msg()}")


def create_acl_tensor(values: list[float], shape: tuple[int, ...]) -> tuple[Tensor, DevicePtr]:
    """Device memory with ``values`` in it, and the tensor over it."""
    host_data = np.array(values, np.float32)
    status, device_addr = rt.malloc(host_data.nbytes)
    check(status, "aclrtMalloc")
    to_device = rt.MemcpyKind.HOST_TO_DEVICE
    check(
        rt.memcpy(device_addr, host_data.nbytes, host_data, host_data.nbytes, to_device),
        "aclrtMemcpy",
    )
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = shape[axis + 1] * strides[axis + 1]
    tensor = acl.create_tensor(
        shape, acl.DataType.FLOAT, strides, 0, acl.Format.ND, shape, device_addr
    )
    return tensor, device_addr


def main() -> None:
    """Compute the gradients of PReLU for eight numbers in two channels."""
    # 1. The device and a stream.
    check(acl.init(), "aclInit")
    check(rt.set_device(0), "aclrtSetDevice")
    status, stream = rt.create_stream()
    check(status, "aclrtCreateStream")

    # 2. Inputs and outputs.
    self_, self_addr = create_acl_tensor([0, 1, 2, 3, 4, 5, 6, 7], (4, 2))
    weight, weight_addr = create_acl_tensor([0.5, 0.5], (2,))
    grad_output, grad_output_addr = create_acl_tensor([1] * 8, (4, 2))
    grad_input, grad_input_addr = create_acl_tensor([0] * 8, (4, 2))
    grad_weight, grad_weight_addr = create_acl_tensor([0, 0], (2,))

    # 3. The two phases, with the workspace that the first one asks for.
    status, workspace_size, executor = aclnn_prelu_backward_get_workspace_size(
        grad_output, self_, weight, grad_input, grad_weight
    )
    check(status, "aclnnPreluBackwardGetWorkspaceSize")
    workspace_addr = None
    if workspace_size > 0:
        status, workspace_addr = rt.malloc(workspace_size)
        check(status, "allocate workspace")
    check(
        aclnn_prelu_backward(workspace_addr, workspace_size, executor, stream),
        "aclnnPreluBackward",
    )

    # 4. Wait: the kernels run now.
    check(rt.synchronize_stream(stream), "aclrtSynchronizeStream")

    # 5. The results.
    to_host = rt.MemcpyKind.DEVICE_TO_HOST
    for name, address, count in (
        ("gradInput", grad_input_addr, 8),
        ("gradWeight", grad_weight_addr, 2),
    ):
        result = np.zeros(count, np.float32)
        check(
            rt.memcpy(result, result.nbytes, address, result.nbytes, to_host),
            "copy result from device to host",
        )
        for index, value in enumerate(result):
            print(f"{name}[{index}] is: {value:f}")

    # 6. Tensors, memory, stream, device.
    for tensor in (grad_output, self_, weight, grad_input, grad_weight):
        acl.destroy_tensor(tensor)
    for address in (
        self_addr,
        grad_output_addr,
        weight_addr,
        grad_input_addr,
        grad_weight_addr,
    ):
        rt.free(address)
    if workspace_addr is not None:
        rt.free(workspace_addr)
    rt.destroy_stream(stream)
    rt.reset_device(0)
    acl.finalize()


if __name__ == "__main__":
    main()
