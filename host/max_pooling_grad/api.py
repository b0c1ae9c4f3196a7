"""The two-phase call aclnnMaxPoolingGrad, which is generated from the operator's definition.

dx = dy where x equals y, else 0. Source: hicann/ops-nn experimental/pooling/max_pooling_grad
(op_host/CMakeLists.txt asks for the generated kind, "source") and its
docs/aclnnMaxPoolingGrad.md ("doc").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from host.aclnn import OUT, OutPointer, get_workspace_size, run_executor
from host.checks import MAX_SUPPORT_DIMS, check_max_dim, check_min_dim, check_same_shape
from host.datatypes import DataType
from host.errors import AclnnError
from host.executor import Binary
from host.individual_op import IndividualOp
from host.runtime import current
from host.status import Aclnn

if TYPE_CHECKING:
    from host.executor import AclOpExecutor
    from host.runtime import DevicePtr, Stream
    from host.tensor import Tensor

API: Final = "aclnnMaxPoolingGrad"

DOC: Final = "hicann/ops-nn experimental/pooling/max_pooling_grad/docs/aclnnMaxPoolingGrad.md"
KERNEL: Final = "hicann/ops-nn experimental/pooling/max_pooling_grad/op_kernel/max_pooling_grad.h"

Strict = Literal["source", "doc"]
Variant = Literal["source", "fixed"]

BINARIES: Final[dict[str, Binary]] = {
    "source": Binary("max_pooling_grad", strict=False),
    "fixed": Binary("max_pooling_grad_fixed"),
}
"""Kernel of each variant; the published one runs as on a board, which refuses nothing."""


@get_workspace_size(API)
def aclnn_max_pooling_grad_get_workspace_size(
    dy: Tensor | None,
    x: Tensor | None,
    y: Tensor | None,
    dx: Tensor | None,
    workspace_size: OutPointer | None = OUT,
    executor: OutPointer | None = OUT,
    *,
    strict: Strict = "source",
    variant: Variant = "source",
) -> AclOpExecutor:
    """Check the arguments and plan the call; returns ``(status, workspace size, executor)``.

    Parameters
    ----------
    dy, x, y, dx : Tensor
        All FLOAT or all FLOAT16, format ND, of one shape.
    workspace_size, executor : OutPointer
        The C function's out-pointers; ``None`` stands for a null pointer.
    strict : str
        Where document and source disagree, follow ``"source"`` (shapes and rank are not compared,
        a strided input fails in phase 2) or ``"doc"`` (161002 for another shape than dy's or a rank
        outside 1 to 8; strided tensors are copied).
    variant : str
        Kernel to launch: ``"source"`` as published, which leaves the last elements of a tensor
        unwritten when its bytes are no multiple of 32 and gives 0 for equal infinities, or
        ``"fixed"``, which does neither.

    Returns
    -------
    tuple
        161001 for a null argument; 561003 on any other SoC than 910B; 161002 for data types or
        formats that are not registered. An empty dx gives an executor without tasks.
    """
    if variant not in BINARIES:
        raise AclnnError(
            f"there is no variant {variant!r} of the kernel",
            status=Aclnn.PARAM_INVALID,
            argument="variant",
            got=repr(variant),
            legal=", ".join(BINARIES),
        )
    documented = strict == "doc"
    op = IndividualOp(
        API,
        "MaxPoolingGrad",
        BINARIES[variant],
        checks=_check_documented if documented else None,
        auto_contiguous=documented,
    )
    plan = op.build((dy, x, y, dx), workspace_size, executor)
    if variant == "source" and plan.nodes and plan.tensors[0].dtype is DataType.FLOAT:
        _report_selector()
    return plan


def aclnn_max_pooling_grad(
    workspace: DevicePtr | None,
    workspace_size: int,
    executor: AclOpExecutor | None,
    stream: Stream | None,
) -> int:
    """Enqueue the planned call in ``stream``; it runs when the stream is synchronised.

    Returns 161001 for a null executor or a null workspace where one is needed, 161002 for a
    workspace that is too small and 561000 for an input whose view is not contiguous.
    """
    return run_executor(API, workspace, workspace_size, executor, stream)


def _check_documented(tensors: dict[str, Tensor]) -> None:
    for name, tensor in tensors.items():
        check_max_dim(name, tensor, MAX_SUPPORT_DIMS, DOC)
        check_min_dim(name, tensor, 1, DOC)
    for name in ("x", "y", "dx"):
        check_same_shape(name, tensors[name], "dy", tensors["dy"], DOC)


def _report_selector() -> None:
    current().note(
        "host.selector_type",
        "the kernel declares its bit mask as float; CompareScalar writes one bit an element "
        "and takes uint8_t, and a build with checks refuses anything else",
        api="CompareScalar",
        argument="dst",
        got="float",
        legal="uint8_t",
        fix="declare the selector uint8_t: it then needs 1/32 of the bytes",
    )
