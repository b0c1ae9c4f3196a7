"""LocalMemAllocator: tensors in the unified buffer one behind another, without a TPipe."""

# ruff: noqa: N802 - AscendC's own spelling

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.core import current_core
from simulator.dtypes import as_dtype
from simulator.enums import Hardware, TPosition
from simulator.errors import ArgumentError, UbExhaustedError
from simulator.isa.params import check_range
from simulator.tensor import UB_POSITIONS, LocalTensor

if TYPE_CHECKING:
    from simulator.dtypes import DType

_ALLOCATOR_SOURCE: Final = (
    "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/资源管理/LocalMemAllocator/Alloc.md"
)


class LocalMemAllocator:
    """Hands out UB in programs without a TPipe: ``LocalMemAllocator(Hardware.UB)``.

    Tensors follow each other without gaps, so that their sizes should be multiples of 32 bytes.
    """

    def __init__(self, hard: Hardware = Hardware.UB) -> None:
        if hard != Hardware.UB:
            raise ArgumentError(
                f"the vector core has no {hard!r}",
                api="LocalMemAllocator",
                got=repr(hard),
                legal="Hardware.UB",
                source=_ALLOCATOR_SOURCE,
            )
        self._core = current_core()
        self._head = 0

    def GetCurAddr(self) -> int:
        """Return the byte address that the next tensor gets."""
        return self._head

    def Alloc(self, *args: Any) -> LocalTensor:
        """``Alloc(half, tileSize)`` or ``Alloc(TPosition.VECIN, half, tileSize)``."""
        if len(args) not in (2, 3):
            raise ArgumentError(
                "needs an element type and a number of elements",
                api="LocalMemAllocator.Alloc",
                got=repr(args),
                legal="(dtype, tileSize) or (position, dtype, tileSize)",
                source=_ALLOCATOR_SOURCE,
            )
        position = args[0] if len(args) == 3 else TPosition.VECCALC
        dtype: DType = as_dtype(args[-2])
        check_range(
            "LocalMemAllocator.Alloc", "tileSize", args[-1], 1, 2**31 - 1, _ALLOCATOR_SOURCE
        )
        if position not in UB_POSITIONS:
            raise ArgumentError(
                f"{position!r} is not in UB",
                api="LocalMemAllocator.Alloc",
                got=repr(position),
                legal="VECIN, VECOUT, VECCALC",
                source=_ALLOCATOR_SOURCE,
            )
        capacity = self._core.platform.memory.ub_bytes
        end = self._head + dtype.bytes_for(args[-1])
        if end > capacity:
            raise UbExhaustedError(
                f"{args[-1]} elements of {dtype} do not fit: {capacity - self._head} bytes left",
                api="LocalMemAllocator.Alloc",
                got=f"{end} bytes in all",
                legal=f"<= {capacity} bytes",
                fix="use smaller tiles",
                source=_ALLOCATOR_SOURCE,
            )
        tensor = LocalTensor(self._core, self._head, dtype, args[-1], TPosition(position))
        self._head = end
        return tensor

    def __repr__(self) -> str:
        return f"<LocalMemAllocator: {self._head} bytes of UB in use>"
