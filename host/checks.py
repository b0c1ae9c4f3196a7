"""Argument checks of hand-written aclnn calls (the ``OP_CHECK_*`` macro families).

Every check raises ``AclnnError`` with the argument, the value, the rule and its source. Source of
the families: hicann/ops-nn common/stub/op_api/aclnn_kernels/common/op_error_check.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn, TypeVar

from host.errors import AclnnError
from host.status import Aclnn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.datatypes import DataType
    from host.tensor import Tensor

MAX_SUPPORT_DIMS: Final = 8

_T = TypeVar("_T")


def require(name: str, value: _T | None, source: str) -> _T:
    """OP_CHECK_NULL: return ``value``, which must not be ``None``; 161001."""
    if value is None:
        raise AclnnError(
            f"{name} is null",
            status=Aclnn.PARAM_NULLPTR,
            argument=name,
            got="null",
            legal="a valid pointer",
            source=source,
        )
    return value


def check_dtype_supported(
    name: str, tensor: Tensor, allowed: Sequence[DataType], source: str, where: str = ""
) -> None:
    """OP_CHECK_DTYPE_NOT_SUPPORT: the dtype is in the list; 161002."""
    if tensor.dtype not in allowed:
        _invalid(
            name,
            f"{name} has data type {tensor.dtype.name}, which {where or 'the operator'} "
            "does not support",
            got=tensor.dtype.name,
            legal=", ".join(d.name for d in allowed),
            source=source,
        )


def check_same_dtype(
    name: str, tensor: Tensor, other_name: str, other: Tensor, source: str
) -> None:
    """OP_CHECK_DTYPE_NOT_SAME: two tensors have one dtype; 161002."""
    if tensor.dtype != other.dtype:
        _invalid(
            name,
            f"{name} has data type {tensor.dtype.name}, {other_name} has {other.dtype.name}",
            got=tensor.dtype.name,
            legal=f"{other.dtype.name}, as {other_name}",
            source=source,
        )


def check_max_dim(name: str, tensor: Tensor, limit: int, source: str) -> None:
    """OP_CHECK_MAX_DIM: the rank is at most ``limit``; 161002."""
    if tensor.rank > limit:
        _invalid(
            name,
            f"{name} has rank {tensor.rank}",
            got=f"shape {list(tensor.view_shape)}",
            legal=f"rank <= {limit}",
            source=source,
        )


def check_min_dim(name: str, tensor: Tensor, limit: int, source: str) -> None:
    """OP_CHECK_MIN_DIM: the rank is at least ``limit``; 161002."""
    if tensor.rank < limit:
        _invalid(
            name,
            f"{name} has rank {tensor.rank}",
            got=f"shape {list(tensor.view_shape)}",
            legal=f"rank >= {limit}",
            source=source,
        )


def check_same_shape(
    name: str, tensor: Tensor, other_name: str, other: Tensor, source: str
) -> None:
    """OP_CHECK_SHAPE_NOT_EQUAL: two view shapes are equal; 161002."""
    if tensor.view_shape != other.view_shape:
        _invalid(
            name,
            f"the shapes of {name} and {other_name} differ",
            got=f"{name} {list(tensor.view_shape)}, {other_name} {list(other.view_shape)}",
            legal=f"{name} of shape {list(other.view_shape)}; there is no broadcast",
            source=source,
        )


def _invalid(name: str, message: str, *, got: str, legal: str, source: str) -> NoReturn:
    raise AclnnError(
        message, status=Aclnn.PARAM_INVALID, argument=name, got=got, legal=legal, source=source
    )
