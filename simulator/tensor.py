"""Typed views of memory that kernels work with: ``LocalTensor`` (UB) and ``GlobalTensor`` (GM).

Names and rules follow mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/数据结构 and
impl/basic_api/kernel_tensor_impl.h.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.core import AICore, current_core
from simulator.dtypes import DType, as_dtype
from simulator.enums import CacheMode, CacheRwMode, TPosition
from simulator.errors import AlignmentError, ArgumentError, OutOfBoundsError
from simulator.memory import GlobalAddress
from simulator.tensor_state import live_state

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_TENSOR_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/数据结构"

UB_POSITIONS: Final = frozenset((TPosition.VECIN, TPosition.VECOUT, TPosition.VECCALC))
"""Logical positions that are unified buffer."""


class ShapeInfo(NamedTuple):
    """``ShapeInfo(shapeDim, shape)``: the shape attached to a tensor, outermost dimension first."""

    shapeDim: int = 0
    shape: tuple[int, ...] = ()


def as_shape(value: ShapeInfo | Sequence[int]) -> ShapeInfo:
    """Return a ShapeInfo for a ShapeInfo or a plain sequence of lengths.

    Raises
    ------
    ArgumentError
        If ``shapeDim`` and ``shape`` disagree.
    """
    info = value if isinstance(value, ShapeInfo) else ShapeInfo(len(value), tuple(value))
    if info.shapeDim > len(info.shape):
        raise ArgumentError(
            "the shape has fewer lengths than shapeDim says",
            api="ShapeInfo",
            got=f"shapeDim {info.shapeDim}, shape {tuple(info.shape)}",
            legal="shapeDim <= number of lengths",
        )
    return ShapeInfo(info.shapeDim, tuple(int(n) for n in info.shape[: info.shapeDim]))


class LocalTensor:
    """A typed range of the unified buffer.

    Kernels get local tensors from ``TQue.AllocTensor``, ``TQue.DeQue``, ``TBuf.Get`` or, without a
    TPipe, from ``LocalTensor(dtype, position, addr, tileSize)`` with a byte address and a number of
    elements.

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

    __slots__ = ("_core", "_key", "addr", "dtype", "length", "position", "shape_info", "user_tag")

    def __init__(
        self,
        core: Any,
        addr: Any,
        dtype: Any,
        length: int,
        position: TPosition = TPosition.VECCALC,
    ) -> None:
        if core.__class__ is not AICore:
            core, addr, dtype, position = _static(core, addr, dtype, length)
            length = _plain(length)
        self._core: AICore = core
        self.addr: int = addr
        self.dtype: DType = dtype
        self.length = length
        self.position = position
        self._key = dtype.code | addr << 6 | length << 28
        self.shape_info: ShapeInfo | None = None
        self.user_tag = -1

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
                raise ArgumentError(
                    "a tensor slice has no step", api="LocalTensor", got=step, legal=1
                )
            return self._view(start, max(0, stop - start))
        number: int = offset if offset.__class__ is int else _plain(offset)
        return self._view(number, self.length - number)

    def __setitem__(self, where: slice, value: TensorExpression) -> None:
        """``dst[:] = a + b``: run the vector instruction that the operator stands for."""
        if where != slice(None) or not isinstance(value, TensorExpression):
            raise ArgumentError(
                "only a whole tensor can be assigned, and only from an operator on tensors",
                api="LocalTensor",
                got=f"tensor[{where}] = {value!r}",
                legal="dst[:] = a + b, with + - * / & | < > <= >=",
                fix="SetValue writes one element, Duplicate fills a tensor",
            )
        tensor_operators.assign(self, value, sys._getframe(1))

    def __add__(self, other: LocalTensor) -> TensorExpression:
        return TensorExpression("+", self, other)

    def __sub__(self, other: LocalTensor) -> TensorExpression:
        return TensorExpression("-", self, other)

    def __mul__(self, other: LocalTensor) -> TensorExpression:
        return TensorExpression("*", self, other)

    def __truediv__(self, other: LocalTensor) -> TensorExpression:
        return TensorExpression("/", self, other)

    def __and__(self, other: LocalTensor) -> TensorExpression:
        return TensorExpression("&", self, other)

    def __or__(self, other: LocalTensor) -> TensorExpression:
        return TensorExpression("|", self, other)

    def __lt__(self, other: LocalTensor) -> TensorExpression:
        return TensorExpression("<", self, other)

    def __gt__(self, other: LocalTensor) -> TensorExpression:
        return TensorExpression(">", self, other)

    def __le__(self, other: LocalTensor) -> TensorExpression:
        return TensorExpression("<=", self, other)

    def __ge__(self, other: LocalTensor) -> TensorExpression:
        return TensorExpression(">=", self, other)

    def _view(self, offset: int, length: int) -> LocalTensor:
        if not 0 <= offset <= self.length:
            raise OutOfBoundsError(
                f"element offset {offset} is outside the tensor",
                api="LocalTensor.operator[]",
                got=offset,
                legal=f"0..{self.length}",
                source=f"{_TENSOR_PAGE}/LocalTensor/operator.md",
            )
        return LocalTensor(
            self._core, self.addr + self._bytes_at(offset), self.dtype, length, self.position
        )

    def _bytes_at(self, offset: int) -> int:
        bits = offset * self.dtype.bits
        if bits % 8:
            raise AlignmentError(
                f"offset {offset} of {self.dtype} splits a byte",
                api="LocalTensor.operator[]",
                got=offset,
                legal="an even offset for 4-bit types",
            )
        return bits // 8

    def __call__(self, index: int) -> Any:
        """``tensor(index)``: GetValue."""
        return scalar_access.read_local(self, index, sys._getframe(1))

    def ReinterpretCast(self, dtype: Any) -> LocalTensor:
        """Return the same bytes as a tensor of another element type."""
        target = as_dtype(dtype)
        return LocalTensor(
            self._core, self.addr, target, self.nbytes * 8 // target.bits, self.position
        )

    def GetSize(self) -> int:
        """Return the number of elements."""
        return self.length

    def GetLength(self) -> int:
        """Return the number of bytes."""
        return self.nbytes

    def SetSize(self, size: int) -> None:
        """Set the number of elements; the bytes must lie inside UB."""
        self._resize("LocalTensor.SetSize", self.addr, size)

    def SetBufferLen(self, dataLen: int) -> None:
        """Set the length in bytes; it must lie inside UB."""
        self._resize("LocalTensor.SetBufferLen", self.addr, dataLen * 8 // self.dtype.bits)

    def SetAddrWithOffset(self, src: LocalTensor, offset: int) -> None:
        """Start at element ``offset`` of ``src``; the rest of ``src`` is the new length."""
        view = src._view(offset, src.length - offset)
        self._resize("LocalTensor.SetAddrWithOffset", view.addr, view.nbytes * 8 // self.dtype.bits)
        self.position = src.position

    def _resize(self, api: str, addr: int, size: int) -> None:
        capacity = len(self._core.local.ub)
        if size < 0 or addr + self.dtype.bytes_for(size) > capacity:
            raise OutOfBoundsError(
                f"{size} elements reach past the unified buffer",
                api=api,
                got=size,
                legal=f"0..{(capacity - addr) * 8 // self.dtype.bits}",
                source=f"{_TENSOR_PAGE}/LocalTensor",
            )
        self.addr = addr
        self.length = size
        self._key = self.dtype.code | addr << 6 | size << 28

    def GetPhyAddr(self, offset: int = 0) -> int:
        """Return the UB byte address of element ``offset``."""
        return self.addr + self.dtype.bytes_for(offset)

    def GetPosition(self) -> TPosition:
        """Return the logical position."""
        return self.position

    def SetUserTag(self, tag: int) -> None:
        """Attach a number of the user's choice."""
        self.user_tag = tag

    def GetUserTag(self) -> int:
        """Return the attached number, -1 when none was set."""
        return self.user_tag

    def SetShapeInfo(self, shapeInfo: ShapeInfo | Sequence[int]) -> None:
        """Attach a shape for calls that take their rows and columns from it."""
        self.shape_info = as_shape(shapeInfo)

    def GetShapeInfo(self) -> ShapeInfo:
        """Return the attached shape, or one dimension of all elements."""
        return self.shape_info or ShapeInfo(1, (self.length,))

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
        saved = self._core.saved
        memory = saved[0] if saved is not None else self._core.local.ub
        return np.frombuffer(
            memory[self.addr : self.addr + self.nbytes].tobytes(), self.dtype.numpy
        )

    def __repr__(self) -> str:
        values = np.array2string(self.peek()[:8], separator=", ", max_line_width=200)
        more = f" … {self.length} elements" if self.length > 8 else ""
        shape = f" shape {self.shape_info.shape}" if self.shape_info is not None else ""
        state = (self._core.state_of or live_state)(self._core, self.addr, self.addr + self.nbytes)
        return (
            f"<{self.position.name} {self.dtype}[{self.length}]{shape} @UB {self.addr:#x} "
            f"{values}{more}, {state}>"
        )


def _plain(number: Any) -> Any:
    """Return an integer of numpy as one of Python, whose products do not wrap."""
    return int(number) if isinstance(number, np.integer) else number


def _static(
    dtype: Any, position: Any, addr: Any, length: Any
) -> tuple[AICore, int, DType, TPosition]:
    """Check the arguments of ``LocalTensor(dtype, position, addr, tileSize)``."""
    core = current_core()
    target = as_dtype(dtype)
    if position not in UB_POSITIONS:
        raise ArgumentError(
            f"{position!r} is no position in the unified buffer",
            api="LocalTensor",
            argument="position",
            got=repr(position),
            legal="VECIN, VECOUT, VECCALC",
            source=f"{_TENSOR_PAGE}/LocalTensor/LocalTensor构造函数.md",
        )
    capacity = len(core.local.ub)
    addr, length = _plain(addr), _plain(length)
    if addr % 32:
        raise AlignmentError(
            "a tensor starts at a 32-byte boundary of UB",
            api="LocalTensor",
            argument="addr",
            got=addr,
            legal="a multiple of 32",
            source=f"{_TENSOR_PAGE}/LocalTensor/LocalTensor构造函数.md",
        )
    if addr < 0 or length < 0 or addr + target.bytes_for(length) > capacity:
        raise OutOfBoundsError(
            "the tensor reaches past the unified buffer",
            api="LocalTensor",
            got=f"bytes {addr}..{addr + target.bytes_for(length)}",
            legal=f"0..{capacity}",
            source=f"{_TENSOR_PAGE}/LocalTensor/LocalTensor构造函数.md",
        )
    return core, int(addr), target, TPosition(position)


class GlobalTensor:
    """A typed range of global memory: ``GlobalTensor(half)``, then ``SetGlobalBuffer``.

    Attributes
    ----------
    length : int
        Elements from the start of the tensor to the end of what it was given.
    ptr : GlobalAddress or None
    bypass_l2 : bool
        Whether copies go around the L2 cache (SetL2CacheHint).
    """

    __slots__ = ("_core", "_declared", "bypass_l2", "dtype", "length", "ptr", "shape_info")

    def __init__(self, dtype: Any) -> None:
        self._core = current_core()
        self.dtype = as_dtype(dtype)
        self.ptr: GlobalAddress | None = None
        self.length = 0
        self._declared = 0
        self.bypass_l2 = False
        self.shape_info: ShapeInfo | None = None

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
            self._declared = 0
            self.length = max(0, buffer.size) * 8 // self.dtype.bits
            return
        self._declared = self.length = int(bufferSize)
        if self.length < 0:
            raise ArgumentError(
                "a buffer size cannot be negative",
                api="GlobalTensor.SetGlobalBuffer",
                got=bufferSize,
                legal=">= 0",
            )

    def GetSize(self) -> int:
        """Return the count given to SetGlobalBuffer; 0 without one, unchanged for a slice."""
        return self._declared

    def GetPhyAddr(self, offset: int = 0) -> GlobalAddress:
        """Return the GM address of element ``offset``."""
        return self._pointer() + self.dtype.bytes_for(offset)

    def SetL2CacheHint(self, *args: Any) -> None:
        """``SetL2CacheHint(mode)`` or ``(rwMode, mode)``: DISABLE makes copies bypass the L2."""
        mode = args[-1] if args else None
        if (
            len(args) not in (1, 2)
            or not isinstance(mode, CacheMode)
            or (len(args) == 2 and not isinstance(args[0], CacheRwMode))
        ):
            raise ArgumentError(
                "needs a cache mode",
                api="GlobalTensor.SetL2CacheHint",
                got=repr(args),
                legal="CacheMode, or CacheRwMode and CacheMode",
                source=f"{_TENSOR_PAGE}/GlobalTensor/SetL2CacheHint.md",
            )
        self.bypass_l2 = mode is CacheMode.CACHE_MODE_DISABLE

    def SetShapeInfo(self, shapeInfo: ShapeInfo | Sequence[int]) -> None:
        """Attach a shape, used by the slice form of DataCopy."""
        self.shape_info = as_shape(shapeInfo)

    def GetShapeInfo(self) -> ShapeInfo:
        """Return the attached shape, or one dimension of all elements."""
        return self.shape_info or ShapeInfo(1, (self.length,))

    def ReinterpretCast(self, dtype: Any) -> GlobalTensor:
        """Return the same bytes as a tensor of another element type."""
        view = self[0]
        view.dtype = as_dtype(dtype)
        view.length = self.length * self.dtype.bits // view.dtype.bits
        view._declared = self._declared * self.dtype.bits // view.dtype.bits
        return view

    def __getitem__(self, offset: int) -> GlobalTensor:
        """``tensor[offset]``: the same memory from element ``offset`` on."""
        if offset.__class__ is not int:
            offset = _plain(offset)
        view = GlobalTensor.__new__(GlobalTensor)
        view._core = self._core
        view.dtype = self.dtype
        view.ptr = self._pointer() + (offset * self.dtype.bits >> 3)
        view.length = self.length - offset
        view._declared = self._declared
        view.bypass_l2 = self.bypass_l2
        view.shape_info = None
        return view

    def __call__(self, offset: int) -> Any:
        """``tensor(offset)``: GetValue."""
        return scalar_access.read_global(self, offset, sys._getframe(1))

    def GetValue(self, offset: int) -> Any:
        """Read one element with the scalar unit through the data cache (pipe S)."""
        return scalar_access.read_global(self, offset, sys._getframe(1))

    def SetValue(self, offset: int, value: Any) -> None:
        """Write one element with the scalar unit into the data cache (pipe S)."""
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


class TensorExpression(NamedTuple):
    """An operator on two tensors that waits for its destination: ``dst[:] = left + right``.

    AscendC writes ``dst = left + right``. Python binds a name there, so the destination is indexed;
    and it keeps ``==`` and ``!=`` for itself, so these two are spelt ``Compare(..., CMPMODE.EQ)``.
    """

    operator: str
    left: LocalTensor
    right: LocalTensor

    def __bool__(self) -> bool:
        raise ArgumentError(
            "an operator on tensors has no truth value; it is executed by the vector unit",
            api="LocalTensor",
            got=f"left {self.operator} right",
            legal="dst[:] = left " + self.operator + " right",
            fix="take one element with GetValue(offset) to decide in scalar code",
        )

    def __repr__(self) -> str:
        return f"{self.left!r} {self.operator} {self.right!r}"


class _TensorOperators:
    """The instructions behind operators; ``simulator.isa.operators`` fills them in."""

    assign: Any


tensor_operators = _TensorOperators()


class _ScalarAccess:
    """The scalar load and store instructions; ``simulator.isa.scalar`` fills them in."""

    read_local: Any
    write_local: Any
    read_global: Any
    write_global: Any


scalar_access = _ScalarAccess()
