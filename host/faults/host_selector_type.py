"""host.selector_type: a kernel declares its bit mask as another type than uint8_t.

The published kernel of MaxPoolingGrad keeps the mask of CompareScalar in a tensor of floats. The
device does not care; a build with checks does, and the tensor is 32 times as large as the bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from host import acl, rt
from host.faults.calls import device, upload
from host.max_pooling_grad.api import aclnn_max_pooling_grad_get_workspace_size

if TYPE_CHECKING:
    from host.max_pooling_grad.api import Variant

CODE = "host.selector_type"


def broken() -> None:
    """Plan the kernel as it was published."""
    with device():
        _plan("source")


def fixed() -> None:
    """Plan the kernel with a mask of uint8_t."""
    with device():
        _plan("fixed")


def _plan(variant: Variant) -> None:
    dy, x, y, dx = (upload(name) for name in ("dy", "x", "y", "dx"))
    _, _, executor = aclnn_max_pooling_grad_get_workspace_size(dy, x, y, dx, variant=variant)
    acl.destroy_acl_op_executor(executor)
    for tensor in (dy, x, y, dx):
        rt.free(tensor.data)
