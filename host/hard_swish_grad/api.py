"""The two-phase call aclnnHardswishBackward.

out = gradOutput * d(self), with d = 0 for self < -3, 1 for self > 3, self / 3 + 0.5 between.

Source: hicann/ops-nn activation/hard_swish_grad/op_api/aclnn_hardswish_backward.cpp ("source") and
activation/hard_swish_grad/docs/aclnnHardswishBackward.md ("doc").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from host.aclnn import OUT, OutPointer, get_workspace_size, run_executor
from host.checks import (
    MAX_SUPPORT_DIMS,
    check_dtype_supported,
    check_max_dim,
    check_same_dtype,
    check_same_shape,
    require,
)
from host.datatypes import DataType
from host.executor import AclOpExecutor
from host.l0 import Contiguous, ViewCopy
from host.runtime import current

if TYPE_CHECKING:
    from host.platform_ascendc import PlatformInfo
    from host.runtime import DevicePtr, Stream
    from host.tensor import Tensor

API: Final = "aclnnHardswishBackward"

SOURCE: Final = "hicann/ops-nn activation/hard_swish_grad/op_api/aclnn_hardswish_backward.cpp"


@get_workspace_size(API)
def aclnn_hardswish_backward_get_workspace_size(
    grad_output: Tensor | None,
    self_: Tensor | None,
    out: Tensor | None,
    workspace_size: OutPointer | None = OUT,
    executor: OutPointer | None = OUT,
) -> AclOpExecutor:
    """Check the arguments and plan the call; returns ``(status, workspace size, executor)``.

    Parameters
    ----------
    grad_output, self_, out : Tensor
        FLOAT, FLOAT16 or (not on 910) BF16, all of one dtype and shape, rank at most 8, any
        strides; no broadcast.
    workspace_size, executor : OutPointer
        The C function's out-pointers; ``None`` stands for a null pointer.

    Returns
    -------
    tuple
        161001 for a null argument, 161002 for a data type or shape that does not fit, 561003
        without a kernel for the SoC; an empty gradOutput or self gives an executor without tasks.
    """
    require("workspaceSize", workspace_size, SOURCE)
    require("executor", executor, SOURCE)
    grad = require("gradOutput", grad_output, SOURCE)
    features = require("self", self_, SOURCE)
    result = require("out", out, SOURCE)
    runtime = current()
    _check_dtypes(grad, features, result, runtime.platform_info)
    check_max_dim("gradOutput", grad, MAX_SUPPORT_DIMS, SOURCE)
    check_max_dim("self", features, MAX_SUPPORT_DIMS, SOURCE)
    check_same_shape("gradOutput", grad, "self", features, SOURCE)
    check_same_shape("out", result, "self", features, SOURCE)
    plan = AclOpExecutor(runtime, API, (grad, features, result))
    if grad.is_empty or features.is_empty:
        return plan
    features = Contiguous(features, plan)
    grad = Contiguous(grad, plan)
    product = plan.AllocTensor(features.view_shape, features.dtype, features.format)
    plan.launch("HardSwishGrad", [grad, features], [product])
    ViewCopy(product, result, plan)
    return plan


def aclnn_hardswish_backward(
    workspace: DevicePtr | None,
    workspace_size: int,
    executor: AclOpExecutor | None,
    stream: Stream | None,
) -> int:
    """Enqueue the planned call in ``stream``; it runs when the stream is synchronised.

    Returns 161001 for a null executor or a null workspace of non-zero size. A workspace that is
    too small is not detected by the library; here it is reported as a finding.
    """
    return run_executor(API, workspace, workspace_size, executor, stream)


def _check_dtypes(grad: Tensor, self_: Tensor, out: Tensor, platform: PlatformInfo) -> None:
    # bf16 needs arch 2201 or a register-based architecture.
    has_bf16 = platform.npu_arch != "1001"
    allowed = (DataType.FLOAT, DataType.FLOAT16, *([DataType.BF16] if has_bf16 else []))
    where = platform.short_soc_version
    check_dtype_supported("self", self_, allowed, SOURCE, where)
    check_dtype_supported("gradOutput", grad, allowed, SOURCE, where)
    check_same_dtype("gradOutput", grad, "self", self_, SOURCE)
    check_same_dtype("out", out, "self", self_, SOURCE)
