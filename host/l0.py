"""L0 building blocks that every hand-written aclnn call uses: Contiguous, ViewCopy, Reshape.

Source: hicann/opbase docs/zh/api/nnopbase/opdev/L0. That a dense tensor needs no copy is stated
there for Contiguous. That a dense output is written in place by its producer, so that ViewCopy
launches nothing, is a choice of this simulator: profiles of dense calls show one kernel.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from host.errors import AclnnError
from host.status import Aclnn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.executor import AclOpExecutor
    from host.tensor import Tensor


def Contiguous(tensor: Tensor, executor: AclOpExecutor) -> Tensor:
    """Return a dense tensor with the elements of ``tensor``: itself when it is dense already."""
    if tensor.is_contiguous:
        dense = tensor if tensor.offset == 0 else executor.CreateView(tensor, tensor.view_shape)
        executor.skip("Contiguous", [tensor], [dense], "the view is dense")
        return dense
    dense = executor.AllocTensor(tensor.view_shape, tensor.dtype, tensor.format)
    executor.launch("Contiguous", [tensor], [dense])
    return dense


def ViewCopy(source: Tensor, target: Tensor, executor: AclOpExecutor) -> Tensor:
    """Copy a dense tensor to ``target``, whose view may have any strides.

    Raises
    ------
    AclnnError
        561103 if ``source`` is not dense or differs from ``target`` in shape or dtype.
    """
    fits = source.view_shape == target.view_shape and source.dtype == target.dtype
    if not fits or not source.is_contiguous:
        raise AclnnError(
            "ViewCopy needs a dense source of the target's shape and data type",
            status=Aclnn.INNER_NULLPTR,
            got=f"{source!r} to {target!r}",
        )
    if target.is_contiguous and executor.redirect(source, target):
        executor.skip("ViewCopy", [source], [target], "the output is dense and written in place")
    else:
        executor.launch("ViewCopy", [source], [target])
    return target


def Reshape(tensor: Tensor, shape: Sequence[int], executor: AclOpExecutor) -> Tensor:
    """Return a dense tensor's memory under another shape; launches nothing.

    Raises
    ------
    AclnnError
        561103 if the tensor is not dense or the element counts differ.
    """
    if not tensor.is_contiguous or math.prod(shape) != tensor.element_count:
        raise AclnnError(
            f"Reshape cannot turn {tensor!r} into shape {list(shape)}",
            status=Aclnn.INNER_NULLPTR,
            got=f"{tensor.element_count} elements",
            legal=f"a dense tensor of {math.prod(shape)} elements",
        )
    view = executor.CreateView(tensor, shape)
    executor.skip("Reshape", [tensor], [view], "metadata only")
    return view
