"""Typed views of memory that kernels work with: ``LocalTensor`` (UB) and ``GlobalTensor`` (GM).

Names and rules follow mirror-cann/asc-devkit docs/zh/api (LocalTensor, GlobalTensor).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.core import AICore, current_core
from simulator.dtypes import DType, as_dtype
from simulator.enums import TPosition
from simulator.errors import AlignmentError, ArgumentError, OutOfBoundsError
from simulator.memory import GlobalAddress

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TENSOR_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/数据结构"


class LocalTensor:
    """A typed range of the unified buffer.

    Kernels get local tensors from ``TQue.AllocTensor``, ``TQue.DeQue`` or ``TBuf.Get``.

    Attributes
    ----------
    addr : int
        Byte address in UB.
    dtype : DType
        Element type.
    length : int
        Number of elements.
    position : TPosition
        Logical position (VECIN, VECOUT, VECCALC).
    """

    __slots__ = ("_core", "_key", "addr", "dtype", "length", "position", "shape_info")

    def __init__(
        self, core: AICore, addr: int, dtype: DType, length: int, position: TPosition
    ) -> None:
        self._core = core
        self.addr = addr
        self.dtype = dtype
        self.length = length
        self.position = position
        self._key = dtype.code | addr << 6 | length << 28
        self.shape_info: tuple[int, ...] | None = None

    @property
    def nbytes(self) -> int:
        """Bytes from the first to the last element."""
        return self.dtype.bytes_for(self.length)

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, offset: int | slice) -> LocalTensor:
        """``tensor[offset]``: the same memory from element ``offset`` on."""
        if isinstance(offset, slice):
            start, stop, step = offset.indices(self.length)
            if step != 1:
                raise ArgumentError("a tensor slice has no step", api="LocalTensor", got=step, legal=1)
            return self._view(start, max(0, stop - start))
        return self._view(offset, self.length - offset)

    def _view(self, offset: int, length: int) -> LocalTensor:
        if not 0 <= offset <= self.length:
            raise OutOfBoundsError(
                f"element offset {offset} is outside the tensor",
                api="LocalTensor.operator[]",
                got=offset,
                legal=f"0..{self.length}",
                source=f"{_TENSOR_PAGE}/LocalTensor",
            )
        bits = offset * self.dtype.bits
        if bits % 8:
            raise AlignmentError(
                f"offset {offset} of {self.dtype} splits a byte",
                api="LocalTensor.operator[]",
                got=offset,
                legal="an even offset for 4-bit types",
            )
        return LocalTensor(self._core, self.addr + bits // 8, self.dtype, length, self.position)

    def ReinterpretCast(self, dtype: Any) -> LocalTensor:
        """Return the same bytes as a tensor of another element type."""
        target = as_dtype(dtype)
        return LocalTensor(
            self._core, self.addr, target, self.nbytes * 8 // target.bits, self.position
        )

    def GetSize(self) -> int:
        """Return the number of elements."""
        return self.length

    def SetSize(self, size: int) -> None:
        """Set the number of elements; the bytes must lie inside UB."""
        end = self.addr + self.dtype.bytes_for(size)
        if size < 0 or end > len(self._core.local.ub):
            raise OutOfBoundsError(
                f"size {size} reaches past the unified buffer",
                api="LocalTensor.SetSize",
                got=size,
                legal=f"0..{(len(self._core.local.ub) - self.addr) * 8 // self.dtype.bits}",
            )
        self.length = size
        self._key = self.dtype.code | self.addr << 6 | size << 28

    def GetPhyAddr(self, offset: int = 0) -> int:
        """Return the UB byte address of element ``offset``."""
        return self.addr + self.dtype.bytes_for(offset)

    def GetPosition(self) -> TPosition:
        """Return the logical position."""
        return self.position

    def SetShapeInfo(self, shape: tuple[int, ...]) -> None:
        """Attach a shape for DumpTensor; it changes no access."""
        self.shape_info = tuple(shape)

    def GetShapeInfo(self) -> tuple[int, ...]:
        """Return the attached shape, or ``(length,)``."""
        return self.shape_info or (self.length,)

    def GetValue(self, index: int) -> Any:
        """Read one element with the scalar unit (pipe S).

        Returns a Python number; floating-point values are exact.
        """
        return scalar_access.read_local(self, index, sys._getframe(1))

    def SetValue(self, index: int, value: Any) -> None:
        """Write one element with the scalar unit (pipe S)."""
        scalar_access.write_local(self, index, value, sys._getframe(1))

    def peek(self) -> NDArray[Any]:
        """Return a copy of the values for looking at; issues no instruction.

        Four-bit and 8-bit custom formats come back as their bytes.
        """
        data = self._core.local.ub[self.addr : self.addr + self.nbytes]
        return np.frombuffer(data.tobytes(), self.dtype.numpy)

    def __repr__(self) -> str:
        values = np.array2string(self.peek()[:8], separator=", ", max_line_width=200)
        more = f" … {self.length} elements" if self.length > 8 else ""
        return f"<{self.position.name} {self.dtype}[{self.length}] @UB {self.addr:#x} {values}{more}>"


class GlobalTensor:
    """A typed range of global memory: ``GlobalTensor(half)``, then ``SetGlobalBuffer``."""

    __slots__ = ("_core", "bypass_l2", "dtype", "length", "ptr")

    def __init__(self, dtype: Any) -> None:
        self._core = current_core()
        self.dtype = as_dtype(dtype)
        self.ptr: GlobalAddress | None = None
        self.length = 0
        self.bypass_l2 = False

    def SetGlobalBuffer(self, buffer: GlobalAddress, bufferSize: int | None = None) -> None:
        """Point the tensor at ``buffer``, for ``bufferSize`` elements (default: all there are).

        ``buffer + n`` moves by *bytes*; indexing the tensor moves by elements.
        """
        if not isinstance(buffer, GlobalAddress):
            raise ArgumentError(
                "the buffer must be a GM address, as kernels receive for array arguments",
                api="GlobalTensor.SetGlobalBuffer",
                got=type(buffer).__name__,
                legal="GM_ADDR",
            )
        self.ptr = buffer
        if bufferSize is None:
            self.length = max(0, buffer.size) * 8 // self.dtype.bits
        else:
            self.length = int(bufferSize)
            if self.length < 0:
                raise ArgumentError(
                    "a buffer size cannot be negative",
                    api="GlobalTensor.SetGlobalBuffer",
                    got=bufferSize,
                    legal=">= 0",
                )

    def GetSize(self) -> int:
        """Return the number of elements."""
        return self.length

    def GetPhyAddr(self, offset: int = 0) -> GlobalAddress:
        """Return the GM address of element ``offset``."""
        return self._pointer() + self.dtype.bytes_for(offset)

    def SetL2CacheHint(self, mode: Any) -> None:
        """Set whether copies of this tensor allocate in L2 (``CACHE_MODE_DISABLE`` bypasses)."""
        self.bypass_l2 = bool(int(mode) == 0)

    def __getitem__(self, offset: int) -> GlobalTensor:
        """``tensor[offset]``: the same memory from element ``offset`` on."""
        view = GlobalTensor.__new__(GlobalTensor)
        view._core = self._core
        view.dtype = self.dtype
        view.ptr = self._pointer() + (offset * self.dtype.bits >> 3)
        view.length = self.length - offset
        view.bypass_l2 = self.bypass_l2
        return view

    def GetValue(self, offset: int) -> Any:
        """Read one element with the scalar unit through the data cache (pipe S)."""
        return scalar_access.read_global(self, offset, sys._getframe(1))

    def SetValue(self, offset: int, value: Any) -> None:
        """Write one element with the scalar unit through the data cache (pipe S)."""
        scalar_access.write_global(self, offset, value, sys._getframe(1))

    def _pointer(self) -> GlobalAddress:
        if self.ptr is None:
            raise ArgumentError(
                "the global tensor has no memory yet",
                api="GlobalTensor",
                fix="call SetGlobalBuffer(address, size) first",
            )
        return self.ptr

    def __repr__(self) -> str:
        where = "unset" if self.ptr is None else f"{self.ptr.address:#x}"
        return f"<GM {self.dtype}[{self.length}] @{where}>"


class _ScalarAccess:
    """The scalar load and store instructions; ``simulator.isa.scalar`` fills them in."""

    read_local: Any
    write_local: Any
    read_global: Any
    write_global: Any


scalar_access = _ScalarAccess()
