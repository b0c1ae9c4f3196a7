"""infer.shape: the output has another shape than the infershape function gives.

A generated call does not compare the two: the kernel writes as many elements as its tiling says.
In graph mode the output gets the inferred shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from host import acl, rt
from host.faults.calls import device, upload
from host.max_pooling_grad.api import aclnn_max_pooling_grad_get_workspace_size

if TYPE_CHECKING:
    from host.tensor import Tensor

CODE = "infer.shape"


def broken() -> None:
    """Plan with an output of half the rows."""
    with device():
        tensors = [upload(name, (4, 16)) for name in ("dy", "x", "y")]
        _plan([*tensors, upload("dx", (2, 16))])


def fixed() -> None:
    """Plan with an output like the input."""
    with device():
        _plan([upload(name, (4, 16)) for name in ("dy", "x", "y", "dx")])


def _plan(tensors: list[Tensor]) -> None:
    dy, x, y, dx = tensors
    _, _, executor = aclnn_max_pooling_grad_get_workspace_size(dy, x, y, dx, variant="fixed")
    acl.destroy_acl_op_executor(executor)
    for tensor in tensors:
        rt.free(tensor.data)
