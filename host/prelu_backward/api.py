"""The two-phase call aclnnPreluBackward.

gradInput = gradOutput where self > 0, else w * gradOutput; gradWeight = sum of self * gradOutput
over the elements with self <= 0 (or NaN), per channel, which is axis 1, or over all with one
weight.

Source: hicann/ops-nn activation/p_relu_grad_update/op_api/aclnn_prelu_backward.cpp ("source") and
activation/p_relu_grad_update/docs/aclnnPreluBackward.md ("doc").
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Literal, NoReturn

from host.aclnn import OUT, OutPointer, get_workspace_size, run_executor
from host.checks import (
    MAX_SUPPORT_DIMS,
    check_dtype_supported,
    check_max_dim,
    check_min_dim,
    check_same_dtype,
    check_same_shape,
    require,
)
from host.datatypes import DataType
from host.errors import AclnnError
from host.executor import AclOpExecutor
from host.l0 import Contiguous, Reshape, ViewCopy
from host.runtime import current
from host.status import Aclnn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from host.platform_ascendc import PlatformInfo
    from host.runtime import DevicePtr, Runtime, Stream
    from host.tensor import Tensor

API: Final = "aclnnPreluBackward"

_FOLDER: Final = "hicann/ops-nn activation/p_relu_grad_update/"
SOURCE: Final = _FOLDER + "op_api/aclnn_prelu_backward.cpp"
DOC: Final = _FOLDER + "docs/aclnnPreluBackward.md"

Strict = Literal["source", "doc"]


@get_workspace_size(API)
def aclnn_prelu_backward_get_workspace_size(
    grad_output: Tensor | None,
    self_: Tensor | None,
    weight: Tensor | None,
    grad_input: Tensor | None,
    grad_weight: Tensor | None,
    workspace_size: OutPointer | None = OUT,
    executor: OutPointer | None = OUT,
    *,
    strict: Strict = "source",
) -> AclOpExecutor:
    """Check the arguments and plan the call; returns ``(status, workspace size, executor)``.

    Parameters
    ----------
    grad_output : Tensor
        FLOAT, FLOAT16 or (not on 910) BF16, rank at most 8, any strides; must broadcast to exactly
        self's shape.
    self_ : Tensor
        Same data type, rank at most 8. Its channels are the dim of axis 1, or 1 below rank 2,
        whatever the format label says.
    weight : Tensor
        Same data type, rank at most 8, one element or one per channel.
    grad_input, grad_weight : Tensor
        Outputs, same data type: self's shape; and [channels], or weight's shape for one weight.
    workspace_size, executor : OutPointer
        The C function's out-pointers; ``None`` stands for a null pointer. The library dereferences
        null here and the program crashes; this simulator answers 161001.
    strict : str
        Where document and source disagree, follow ``"source"`` (only the number of weights counts,
        and grad_weight is [channels]) or ``"doc"`` (more than one weight must be [channels] or have
        self's rank with ones off the channel axis, and grad_weight has weight's shape).

    Returns
    -------
    tuple
        161001 for a null argument, 161002 for a data type or shape that does not fit, 561003
        without a kernel for the SoC, 561103 when the two operators cannot be planned; an empty
        input gives an executor without tasks, which leaves grad_weight as it is.
    """
    require("workspaceSize", workspace_size, SOURCE)
    require("executor", executor, SOURCE)
    grad = require("gradOutput", grad_output, SOURCE)
    features = require("self", self_, SOURCE)
    weights = require("weight", weight, SOURCE)
    dx = require("gradInput", grad_input, SOURCE)
    da = require("gradWeight", grad_weight, SOURCE)
    runtime = current()
    _check_dtypes(grad, features, weights, dx, da, runtime.platform_info)
    _check_shapes(grad, features, weights, dx, da, strict)
    plan = AclOpExecutor(runtime, API, (grad, features, weights, dx, da))
    if grad.is_empty or features.is_empty or weights.is_empty:
        _note_unwritten(da, runtime)
        return plan
    grad = Contiguous(grad, plan)
    features = Contiguous(features, plan)
    if features.rank == 1:
        features = Reshape(features, (1, features.element_count), plan)
    weights = Contiguous(weights, plan)
    if weights.rank != 1:
        weights = Reshape(weights, (weights.element_count,), plan)
    with _mapped_status():
        product = plan.AllocTensor(features.view_shape, features.dtype, features.format)
        update = plan.AllocTensor(features.view_shape, features.dtype, features.format)
        plan.launch("PReluGradUpdate", [grad, features, weights], [product, update])
        total = plan.AllocTensor(weights.view_shape, weights.dtype, weights.format)
        plan.launch("PReluGradReduce", [grad, features, weights, update], [total])
        if product.view_shape != dx.view_shape:
            product = Reshape(product, dx.view_shape, plan)
    ViewCopy(product, dx, plan)
    if total.view_shape != da.view_shape:
        total = Reshape(total, da.view_shape, plan)
    ViewCopy(total, da, plan)
    return plan


def aclnn_prelu_backward(
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


def _note_unwritten(da: Tensor, runtime: Runtime) -> None:
    """Record that gradWeight keeps what it holds, where its elements ought to be 0.

    No warning: the call succeeds, and a program that does not look at gradWeight is right.
    """
    if da.is_empty:
        return
    message = (
        f"gradWeight has {da.element_count} elements; with an empty input the call launches "
        "nothing and leaves them as they are, where the sum of nothing is 0."
    )
    runtime.note(
        "host.output_not_written",
        message,
        fix="fill gradWeight with zeros, or do not call for an empty input",
    )


@contextmanager
def _mapped_status() -> Iterator[None]:
    """Give every failure of the two operators the one status that the source returns.

    A missing kernel keeps its own status, which the library finds at the launch.
    """
    try:
        yield
    except AclnnError as error:
        if error.status == Aclnn.INNER_FIND_KERNEL_ERROR:
            raise
        raise AclnnError(error.message, status=Aclnn.INNER_NULLPTR, source=SOURCE) from error


def _check_dtypes(
    grad: Tensor, self_: Tensor, weight: Tensor, dx: Tensor, da: Tensor, platform: PlatformInfo
) -> None:
    # The source asks for a SoC from ASCEND910B to ASCEND910E; of the profiles here, all but 910.
    has_bf16 = platform.npu_arch != "1001"
    allowed = (DataType.FLOAT, DataType.FLOAT16, *([DataType.BF16] if has_bf16 else []))
    check_dtype_supported("self", self_, allowed, SOURCE, platform.short_soc_version)
    for name, tensor in (
        ("gradOutput", grad),
        ("weight", weight),
        ("gradInput", dx),
        ("gradWeight", da),
    ):
        check_same_dtype(name, tensor, "self", self_, SOURCE)


def _check_shapes(
    grad: Tensor, self_: Tensor, weight: Tensor, dx: Tensor, da: Tensor, strict: Strict
) -> None:
    for name, tensor in (
        ("gradOutput", grad),
        ("self", self_),
        ("weight", weight),
        ("gradInput", dx),
        ("gradWeight", da),
    ):
        check_max_dim(name, tensor, MAX_SUPPORT_DIMS, SOURCE)
    check_same_shape("gradInput", dx, "self", self_, SOURCE)
    if weight.element_count != 1:
        check_min_dim("self", self_, 1, SOURCE)
        _check_weight(self_, weight, da, strict)
    else:
        check_same_shape("gradWeight", da, "weight", weight, SOURCE)
    _check_broadcast(grad, self_)


def _check_weight(self_: Tensor, weight: Tensor, da: Tensor, strict: Strict) -> None:
    channels = self_.view_shape[1] if self_.rank > 1 else 1
    if weight.element_count != channels:
        _invalid(
            "weight",
            f"weight has {weight.element_count} elements, self has {channels} channels",
            got=f"weight {list(weight.view_shape)}, self {list(self_.view_shape)}",
            legal=f"1 or {channels} elements: one per entry of self's axis 1",
        )
    if strict == "doc":
        off_channel = tuple(channels if axis == 1 else 1 for axis in range(self_.rank))
        if weight.view_shape not in ((channels,), off_channel):
            _invalid(
                "weight",
                "weight has a shape that the document does not allow",
                got=list(weight.view_shape),
                legal=f"[{channels}] or {list(off_channel)}",
                source=DOC,
            )
        check_same_shape("gradWeight", da, "weight", weight, DOC)
    elif da.view_shape != (channels,):
        _invalid(
            "gradWeight",
            "gradWeight of several weights has one axis, whatever the shape of weight",
            got=list(da.view_shape),
            legal=f"[{channels}]",
        )


def _check_broadcast(grad: Tensor, self_: Tensor) -> None:
    """Refuse a gradOutput that does not broadcast, or that would make the result larger."""
    fits = grad.rank <= self_.rank and all(
        dim in (1, whole)
        for dim, whole in zip(reversed(grad.view_shape), reversed(self_.view_shape), strict=False)
    )
    if not fits:
        _invalid(
            "gradOutput",
            "gradOutput does not broadcast to the shape of self",
            got=f"gradOutput {list(grad.view_shape)}, self {list(self_.view_shape)}",
            legal="dims of self or 1, aligned at the last axis",
        )


def _invalid(name: str, message: str, *, got: object, legal: str, source: str = SOURCE) -> NoReturn:
    raise AclnnError(
        message, status=Aclnn.PARAM_INVALID, argument=name, got=got, legal=legal, source=source
    )
