"""host.output_not_written: a call that launches nothing leaves an output as it was.

With an empty input aclnnPreluBackward returns success without a launch. gradWeight, which is the
sum of nothing, keeps what it held.
"""

from __future__ import annotations

import numpy as np

from host import acl, rt
from host.faults.calls import device, upload
from host.prelu_backward.api import aclnn_prelu_backward_get_workspace_size

CODE = "host.output_not_written"

ROWS = 0


def broken() -> None:
    """Take the output of a call with an empty input."""
    with device():
        weight, grad_weight = upload("weight", (4,)), upload("gradWeight", (4,))
        empty = [acl.Tensor((ROWS, 4), acl.DataType.FLOAT) for _ in range(3)]
        _, _, executor = aclnn_prelu_backward_get_workspace_size(
            empty[0], empty[1], weight, empty[2], grad_weight
        )
        acl.destroy_acl_op_executor(executor)
        rt.free(weight.data)
        rt.free(grad_weight.data)


def fixed() -> None:
    """Do not call for an empty input: the sum of nothing is 0."""
    with device():
        grad_weight = upload("gradWeight", (4,))
        if ROWS == 0:
            zeros = np.zeros(4, np.float32)
            rt.memcpy(grad_weight.data, 16, zeros, 16, rt.MemcpyKind.HOST_TO_DEVICE)
        rt.free(grad_weight.data)
