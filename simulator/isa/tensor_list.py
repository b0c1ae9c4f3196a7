"""ListTensorDesc and TensorDesc: the tensors of a dynamic input, read from the list in GM.

A launch makes such a list from a Python list of arrays. Source: mirror-cann/asc-devkit
docs/zh/api/SIMD-API/基础API/辅助数据结构 (ListTensorDesc.md, TensorDesc) and
impl/basic_api/dav_c220/kernel_operator_list_tensor_impl.h.
"""

from __future__ import annotations

import sys
from math import prod
from typing import Any, Final

from simulator.core import AICore, current_core
from simulator.dtypes import DType, as_dtype, uint64_t
from simulator.errors import ArgumentError, OutOfBoundsError
from simulator.isa.params import check_range
from simulator.memory import GlobalAddress
from simulator.tensor import GlobalTensor

_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/辅助数据结构/ListTensorDesc.md"

UNCHECKED: Final = 0xFFFF_FFFF
"""``length`` or ``shapeSize`` that asks for no check."""


class TensorDesc:
    """Shape, index and address of one tensor of a list; ``TensorDesc(half)``.

    ``SetShapeAddr`` takes the list that ListTensorDesc.GetDesc writes the shape into.
    """

    def __init__(self, dtype: Any) -> None:
        self._dtype: DType = as_dtype(dtype)
        self._shape: list[int] | None = None
        self._dim = 0
        self._index = 0
        self._pointer: GlobalAddress | None = None

    def SetShapeAddr(self, shapePtr: list[int]) -> None:
        """Name the list that receives the shape; it needs one entry a dimension."""
        if not isinstance(shapePtr, list):
            raise ArgumentError(
                "needs a list for the lengths",
                api="TensorDesc.SetShapeAddr",
                got=type(shapePtr).__name__,
                legal="list, for example [0] * 8",
                source=_PAGE,
            )
        self._shape = shapePtr

    def GetDim(self) -> int:
        """Return the number of dimensions."""
        return self._dim

    def GetIndex(self) -> int:
        """Return the position in the list."""
        return self._index

    def GetShape(self, offset: int) -> int:
        """Return the length of dimension ``offset``."""
        if self._shape is None or not 0 <= offset < self._dim:
            raise OutOfBoundsError(
                f"the tensor has no dimension {offset}",
                api="TensorDesc.GetShape",
                argument="offset",
                got=offset,
                legal=f"0..{self._dim - 1}" if self._dim else "none: GetDesc has not filled it",
                source=_PAGE,
            )
        return self._shape[offset]

    def GetDataPtr(self) -> GlobalAddress:
        """Return the address of the tensor's data."""
        if self._pointer is None:
            raise ArgumentError(
                "the description is empty",
                api="TensorDesc.GetDataPtr",
                fix="ListTensorDesc.GetDesc(desc, index) first",
                source=_PAGE,
            )
        return self._pointer

    def GetDataObj(self) -> GlobalTensor:
        """Return the data as a GlobalTensor of all elements."""
        tensor = GlobalTensor(self._dtype)
        lengths = (self._shape or [])[: self._dim]
        tensor.SetGlobalBuffer(self.GetDataPtr(), prod(lengths))
        return tensor

    def __repr__(self) -> str:
        shape = (self._shape or [])[: self._dim]
        return f"<tensor {self._index} of a list: {self._dtype}{shape}>"


class ListTensorDesc:
    """The list of a dynamic input: ``ListTensorDesc(address)``, then GetDataPtr and GetDesc."""

    def __init__(
        self, data: Any = None, length: int = UNCHECKED, shapeSize: int = UNCHECKED
    ) -> None:
        self._core: AICore = current_core()
        self._words: GlobalTensor | None = None
        self._data = 0
        self._dim = 0
        self._count = 0
        if data is not None:
            self._open("ListTensorDesc", data, length, shapeSize, sys._getframe(1))

    def Init(self, data: Any, length: int = UNCHECKED, shapeSize: int = UNCHECKED) -> None:
        """Read the head of the list at ``data``; check ``length`` and ``shapeSize`` if given."""
        self._open("ListTensorDesc.Init", data, length, shapeSize, sys._getframe(1))

    def _open(self, api: str, data: Any, length: int, shape_size: int, frame: Any) -> None:
        if not isinstance(data, GlobalAddress):
            raise ArgumentError(
                "needs the GM address of a tensor list",
                api=api,
                argument="data",
                got=repr(data),
                legal="GM_ADDR, as kernels receive it for a list of arrays",
                source=_PAGE,
            )
        self._words = GlobalTensor(uint64_t)
        self._words.SetGlobalBuffer(data)
        offset = self._word(0, frame)
        head = self._word(1, frame)
        self._data = offset // 8
        self._dim, high = head & 0xFFFF_FFFF, head >> 32
        record = 1 + self._dim if self._dim else 2
        self._count = high or (self._word(self._data - record, frame) >> 32) + 1
        whole = offset + 8 * self._count
        shaped = self._dim and offset == 8 * (1 + self._count * record)
        bare = not self._dim and offset == 24
        if not (shaped or bare) or (
            UNCHECKED not in (length, shape_size) and (length, shape_size) != (whole, self._count)
        ):
            raise ArgumentError(
                "the memory holds no tensor list of that size",
                api=api,
                argument="data",
                got=f"pointers from byte {offset}, {self._count} tensors, {self._dim} dimensions",
                legal=f"length {whole}, shapeSize {self._count}",
                source=_PAGE,
            )

    def _word(self, index: int, frame: Any) -> int:
        """Read a word of the list with the scalar unit, for the user's line."""
        if self._words is None:
            raise ArgumentError(
                "the list has not been initialised",
                api="ListTensorDesc",
                fix="Init(address) first",
                source=_PAGE,
            )
        before = self._core.caller
        self._core.caller = before or frame
        try:
            return int(self._words.GetValue(index))
        finally:
            self._core.caller = before

    def GetSize(self) -> int:
        """Return the number of tensors."""
        return self._count

    def GetDataPtr(self, dtype: Any, index: int) -> GlobalAddress:
        """``GetDataPtr(half, index)``: return the address of tensor ``index``."""
        as_dtype(dtype)
        check_range("ListTensorDesc.GetDataPtr", "index", index, 0, self._count - 1, _PAGE)
        address = self._word(self._data + index, sys._getframe(1))
        return GlobalAddress(*self._core.memory.find(address))

    def GetDesc(self, desc: TensorDesc, index: int) -> None:
        """Fill ``desc`` with shape and address of tensor ``index``."""
        check_range("ListTensorDesc.GetDesc", "index", index, 0, self._count - 1, _PAGE)
        shape = desc._shape
        if shape is None or len(shape) < self._dim or not self._dim:
            raise ArgumentError(
                "the list holds no shapes"
                if not self._dim
                else "the description has no room for the shape",
                api="ListTensorDesc.GetDesc",
                argument="desc",
                got=f"{0 if shape is None else len(shape)} entries",
                legal=f"SetShapeAddr with at least {self._dim} entries" if self._dim else "none",
                source=_PAGE,
            )
        frame = sys._getframe(1)
        first = 1 + index * (1 + self._dim)
        desc._dim = self._dim
        desc._index = index
        for number in range(self._dim):
            shape[number] = self._word(first + 1 + number, frame)
        address = self._word(self._data + index, frame)
        desc._pointer = GlobalAddress(*self._core.memory.find(address))

    def __repr__(self) -> str:
        return f"<list of {self._count} tensors, {self._dim} dimensions>"
