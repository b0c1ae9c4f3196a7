"""Parameter structs of the copy calls beyond DataCopyParams, with AscendC's field order.

Source: mirror-cann/asc-devkit include/basic_api/kernel_struct_data_copy.h and
docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据搬运.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.errors import AlignmentError, ArgumentError
from simulator.isa.params import check_range

if TYPE_CHECKING:
    from collections.abc import Sequence

UNSET_PAD: Final = 0xFFFF
"""``NdDmaConfig.unsetPad``: padding sizes come from the loop info."""

MAX_DIMS: Final = 5


class SliceInfo(NamedTuple):
    """One dimension of a slice: first and last element, gap, burst, length of the dimension.

    ``burstLen`` counts 32-byte blocks and matters in the innermost dimension only; ``stride``
    is the number of elements left out between two parts.
    """

    startIndex: int = 0
    endIndex: int = 0
    stride: int = 0
    burstLen: int = 1
    shapeValue: int = 0


class LoopModeParams(NamedTuple):
    """Two outer loops around a copy (950): sizes, and byte distances of source and destination."""

    loop1Size: int = 0
    loop2Size: int = 0
    loop1SrcStride: int = 0
    loop1DstStride: int = 0
    loop2SrcStride: int = 0
    loop2DstStride: int = 0

    def check(self, api: str, source: str, *, to_ub: bool) -> None:
        """Refuse sizes and strides outside their fields.

        Raises
        ------
        ArgumentError, AlignmentError
        """
        for name in ("loop1Size", "loop2Size"):
            check_range(api, name, getattr(self, name), 0, 2**21 - 1, source)
        ub, gm = ("Dst", "Src") if to_ub else ("Src", "Dst")
        for loop in ("loop1", "loop2"):
            check_range(api, f"{loop}{gm}Stride", getattr(self, f"{loop}{gm}Stride"), 0, 2**40 - 1)
            name = f"{loop}{ub}Stride"
            stride = getattr(self, name)
            check_range(api, name, stride, 0, 2**21 - 1, source)
            if stride % 32:
                raise AlignmentError(
                    f"{name} is a distance in UB",
                    api=api,
                    argument=name,
                    got=f"{stride} bytes",
                    legal="a multiple of 32",
                    source=source,
                )


class _NdDmaLoopInfo(NamedTuple):
    loopSrcStride: tuple[int, ...]
    loopDstStride: tuple[int, ...]
    loopSize: tuple[int, ...]
    loopLpSize: tuple[int, ...]
    loopRpSize: tuple[int, ...]


class NdDmaLoopInfo(_NdDmaLoopInfo):
    """Box of an NDDMA copy, one entry a dimension, innermost first.

    Strides and sizes count elements; ``loopLpSize`` and ``loopRpSize`` are left and right padding.
    """

    __slots__ = ()

    def __new__(
        cls,
        loopSrcStride: Sequence[int],
        loopDstStride: Sequence[int],
        loopSize: Sequence[int],
        loopLpSize: Sequence[int] | None = None,
        loopRpSize: Sequence[int] | None = None,
    ) -> NdDmaLoopInfo:
        """Take sequences of equal length; padding is 0 where it is left out."""
        none = (0,) * len(loopSize)
        parts = (loopSrcStride, loopDstStride, loopSize, loopLpSize or none, loopRpSize or none)
        return super().__new__(cls, *(tuple(int(n) for n in part) for part in parts))

    def check(self, api: str, source: str) -> None:
        """Refuse wrong numbers of dimensions and values outside their fields.

        Raises
        ------
        ArgumentError
        """
        dims = len(self.loopSize)
        if not 1 <= dims <= MAX_DIMS or any(len(part) != dims for part in self):
            raise ArgumentError(
                "an NDDMA copy has 1 to 5 dimensions, each with all of its entries",
                api=api,
                argument="loopInfo",
                got=", ".join(
                    f"{n}: {len(p)} entries" for n, p in zip(self._fields, self, strict=True)
                ),
                legal="five lists of one length, 1..5",
                source=source,
            )
        limits = (2**40 - 1, 2**20 - 1, 2**20 - 1, 255, 255)
        for name, part, high in zip(self._fields, self, limits, strict=True):
            for value in part:
                check_range(api, name, value, 1 if name == "loopSize" else 0, high, source)


class NdDmaParams(NamedTuple):
    """``NdDmaParams(loopInfo, constantValue)``: the box and the value of its padding."""

    loopInfo: NdDmaLoopInfo
    constantValue: float = 0


class NdDmaConfig(NamedTuple):
    """Template argument of an NDDMA copy: nearest-value padding, padding of all dimensions."""

    isNearestValueMode: bool = False
    loopLpSize: int = UNSET_PAD
    loopRpSize: int = UNSET_PAD
    ascOptimize: bool = False


class Nd2NzParams(NamedTuple):
    """Matrices from rows to 32-byte column blocks; strides in elements, the Nz ones in blocks."""

    ndNum: int = 0
    nValue: int = 0
    dValue: int = 0
    srcNdMatrixStride: int = 0
    srcDValue: int = 0
    dstNzC0Stride: int = 0
    dstNzNStride: int = 0
    dstNzMatrixStride: int = 0


class Nz2NdParamsFull(NamedTuple):
    """Matrices from column blocks of 16 elements to rows."""

    ndNum: int = 1
    nValue: int = 0
    dValue: int = 0
    srcNdMatrixStride: int = 1
    srcNStride: int = 0
    dstDStride: int = 0
    dstNdMatrixStride: int = 1
