"""``Tensor``: a view of device memory with shape, strides and offset (aclTensor).

Source: hicann/opbase docs/en/api/nnopbase/aclnn/aclCreateTensor.md and hicann/ops-nn
docs/zh/context/non_contiguous_tensor.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from host.datatypes import DataType, Format, as_data_type, as_format
from host.errors import AclError
from host.status import Acl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from host.runtime import DevicePtr


def dense_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides of ``shape`` in elements."""
    strides, step = [], 1
    for dim in reversed(shape):
        strides.append(step)
        step *= dim
    return tuple(reversed(strides))


class Tensor:
    """Description of a tensor; the memory behind it is borrowed.

    Parameters
    ----------
    view_shape : sequence of int
        Shape that the operator sees; ``()`` has one element, a dim 0 makes it empty.
    dtype : DataType or anything that ``as_data_type`` accepts
    strides : sequence of int, optional
        In elements, not negative; dense row-major when omitted. Stride 0 repeats an element.
    offset : int
        First element of the view, counted from ``data``.
    format : Format or str
        A label; it never permutes data.
    storage_shape : sequence of int, optional
        Shape of the buffer behind the view, of any rank; the view shape when omitted.
    data : DevicePtr, optional
        Device address; ``None`` for a tensor that is used for its shape only.
    name : str
        Shown in messages.

    Raises
    ------
    AclError
        100000 for negative dims, strides or offset, or strides of another rank; 100026 for an
        unsupported data type.
    """

    def __init__(
        self,
        view_shape: Sequence[int],
        dtype: object,
        strides: Sequence[int] | None = None,
        offset: int = 0,
        format: Format | str = Format.ND,
        storage_shape: Sequence[int] | None = None,
        data: DevicePtr | None = None,
        *,
        name: str = "",
    ) -> None:
        self.view_shape = tuple(int(d) for d in view_shape)
        self.dtype: DataType = as_data_type(dtype)
        self.format: Format = as_format(format)
        self.strides = (
            dense_strides(self.view_shape) if strides is None else tuple(int(s) for s in strides)
        )
        self.offset = int(offset)
        self.storage_shape = (
            self.view_shape if storage_shape is None else tuple(int(d) for d in storage_shape)
        )
        self.data = data
        self.name = name
        self.destroyed = False
        self._validate()

    def _validate(self) -> None:
        if len(self.strides) != len(self.view_shape):
            raise self._invalid(
                "strides", f"{len(self.strides)} strides for rank {len(self.view_shape)}"
            )
        for argument, values in (
            ("viewDims", self.view_shape),
            ("strides", self.strides),
            ("offset", (self.offset,)),
            ("storageDims", self.storage_shape),
        ):
            if any(v < 0 for v in values):
                raise self._invalid(argument, f"{list(values)} holds a negative number")

    def _invalid(self, argument: str, why: str) -> AclError:
        return AclError(
            f"tensor{f' {self.name}' if self.name else ''}: {why}",
            status=Acl.INVALID_PARAM,
            argument=argument,
            api="aclCreateTensor",
            legal="one stride per dim; nothing negative",
            source="hicann/opbase docs/en/api/nnopbase/aclnn/aclCreateTensor.md",
        )

    @property
    def rank(self) -> int:
        """Number of dims of the view."""
        return len(self.view_shape)

    @property
    def element_count(self) -> int:
        """Elements of the view; 1 for rank 0."""
        return math.prod(self.view_shape)

    @property
    def is_empty(self) -> bool:
        """Whether some dim is 0."""
        return 0 in self.view_shape

    @property
    def nbytes(self) -> int:
        """Bytes of the view's elements when dense."""
        return self.element_count * self.dtype.itemsize

    @property
    def storage_bytes(self) -> int:
        """Bytes of the buffer behind the view."""
        return math.prod(self.storage_shape) * self.dtype.itemsize

    @property
    def is_contiguous(self) -> bool:
        """Whether the view's elements lie densely in row-major order.

        Axes of length 1 do not matter, and an empty view is contiguous.
        """
        if self.is_empty:
            return True
        dense = dense_strides(self.view_shape)
        return all(
            have == want
            for have, want, dim in zip(self.strides, dense, self.view_shape, strict=True)
            if dim != 1
        )

    @property
    def span(self) -> tuple[int, int]:
        """Elements ``[first, end)`` of the storage that the view touches."""
        if self.is_empty:
            return self.offset, self.offset
        reach = sum((d - 1) * s for d, s in zip(self.view_shape, self.strides, strict=True))
        return self.offset, self.offset + reach + 1

    @property
    def first_byte(self) -> DevicePtr | None:
        """Address of the view's first element."""
        return None if self.data is None else self.data + self.offset * self.dtype.itemsize

    @classmethod
    def from_numpy(
        cls,
        array: NDArray[Any],
        *,
        view_shape: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
        offset: int = 0,
        storage_shape: Sequence[int] | None = None,
        format: Format | str = Format.ND,
        name: str = "",
    ) -> Tensor:
        """Upload an array's memory to the current device and describe it as a tensor.

        A numpy view becomes a view of the same strides over the memory that it spans: nothing is
        made dense on the way. With ``strides`` or ``view_shape`` the array is the storage instead,
        and they describe the view. The caller frees ``tensor.data`` with ``rt.free``.

        Raises
        ------
        AclError
            100026 for an unsupported dtype; 100000 for negative strides or strides that are not
            whole elements (make a copy: ``np.ascontiguousarray``); and what ``rt.malloc`` raises.
        """
        from host.transfer import upload

        dtype = as_data_type(array.dtype)
        if strides is not None or view_shape is not None:
            storage = np.ascontiguousarray(array)
            shape = array.shape if view_shape is None else view_shape
            tensor = cls(
                shape, dtype, strides, offset, format, storage_shape or array.shape, name=name
            )
        else:
            storage, numpy_strides = numpy_storage(array)
            tensor = cls(
                array.shape, dtype, numpy_strides, offset, format, storage_shape or storage.shape
            )
            tensor.name = name
        tensor.data = upload(storage, name)
        return tensor

    def to_numpy(self) -> NDArray[Any]:
        """Copy the view's elements from the device into an array.

        Raises
        ------
        AclError
            If the tensor has no data or its view leaves device memory.
        """
        from host.transfer import download

        return download(self)

    def __repr__(self) -> str:
        parts = [f"shape {list(self.view_shape)}", self.dtype.name]
        if not self.is_contiguous:
            parts.append(f"strides {list(self.strides)}")
        if self.offset:
            parts.append(f"offset {self.offset}")
        if self.format is not Format.ND:
            parts.append(self.format.name)
        return f"<tensor {self.name + ': ' if self.name else ''}{', '.join(parts)}>"


def numpy_storage(array: NDArray[Any]) -> tuple[NDArray[Any], tuple[int, ...]]:
    """Return the flat memory that an array spans, uncopied, and its strides in elements.

    Raises
    ------
    AclError
        100000 for a negative stride or one that is not a whole number of elements.
    """
    size = array.dtype.itemsize
    relevant = [s for s, d in zip(array.strides, array.shape, strict=True) if d > 1]
    if array.size and any(s < 0 or s % size for s in relevant):
        raise AclError(
            "an aclTensor cannot express these numpy strides",
            status=Acl.INVALID_PARAM,
            argument="strides",
            got=f"{array.strides} bytes for elements of {size} bytes",
            legal="non-negative multiples of the element size",
            fix="pass np.ascontiguousarray(array)",
        )
    strides = tuple(
        s // size if d > 1 else 1 for s, d in zip(array.strides, array.shape, strict=True)
    )
    if array.size == 0:
        return np.empty(0, array.dtype), dense_strides(array.shape)
    length = 1 + sum((d - 1) * s for d, s in zip(array.shape, strides, strict=True))
    return np.lib.stride_tricks.as_strided(array, (length,), (size,), writeable=False), strides
