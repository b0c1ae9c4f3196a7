"""aclnnSquaredRelu in its two phases, and the call on numpy arrays."""

from typing import Any

from numpy.typing import NDArray

from host.aclnn import OUT, OutPointer, get_workspace_size, run_executor
from host.checks import (
    MAX_SUPPORT_DIMS,
    check_dtype_supported,
    check_max_dim,
    check_same_dtype,
    check_same_shape,
    require,
)
from host.executor import AclOpExecutor
from host.l0 import Contiguous, ViewCopy
from host.op_call import call_operator
from host.runtime import DevicePtr, Stream, current
from host.tensor import Tensor
from squared_relu.definition import DTYPES

API = "aclnnSquaredRelu"
RULES = "this operator's own documentation"


@get_workspace_size(API)
def aclnn_squared_relu_get_workspace_size(
    self_: Tensor | None,
    out: Tensor | None,
    workspace_size: OutPointer | None = OUT,
    executor: OutPointer | None = OUT,
) -> AclOpExecutor:
    """Phase 1: check the arguments in order and plan the kernels."""
    require("workspaceSize", workspace_size, RULES)
    require("executor", executor, RULES)
    x, y = require("self", self_, RULES), require("out", out, RULES)
    check_dtype_supported("self", x, DTYPES, RULES, current().platform_info.short_soc_version)
    check_same_dtype("out", y, "self", x, RULES)
    check_max_dim("self", x, MAX_SUPPORT_DIMS, RULES)
    check_same_shape("out", y, "self", x, RULES)
    plan = AclOpExecutor(current(), API, (x, y))
    if x.is_empty:
        return plan
    dense = Contiguous(x, plan)
    result = plan.AllocTensor(dense.view_shape, dense.dtype, dense.format)
    plan.launch("SquaredRelu", [dense], [result])
    ViewCopy(result, y, plan)
    return plan


def aclnn_squared_relu(
    workspace: DevicePtr | None, size: int, executor: AclOpExecutor | None, stream: Stream | None
) -> int:
    """Phase 2: enqueue the planned kernels."""
    return run_executor(API, workspace, size, executor, stream)


def squared_relu(self_: NDArray[Any], *, platform: str = "910b") -> NDArray[Any]:
    """Return ``max(self, 0) ** 2`` as the device computes it."""
    return call_operator(
        aclnn_squared_relu_get_workspace_size,
        aclnn_squared_relu,
        {"self": self_},
        {"out": (self_.shape, self_.dtype)},
        platform,
    ).outputs[0]
