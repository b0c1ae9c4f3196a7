"""Parameter structs of the calls that fill, copy, gather, transpose and sort.

Fields are in the order of AscendC's constructors. Source: mirror-cann/asc-devkit include/basic_api
(kernel_struct_brcb.h, kernel_struct_data_copy.h, kernel_struct_gather.h, kernel_struct_transpose.h,
kernel_struct_proposal.h).
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simulator.errors import ArgumentError
from simulator.isa.params import check_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.tensor import LocalTensor

_QUEUES: Final = 4


def _check(api: str, params: Any, limits: dict[str, int]) -> None:
    for name, high in limits.items():
        check_range(api, name, getattr(params, name), 0, high)


class BrcbRepeatParams(NamedTuple):
    """Strides of Brcb's destination, in 32-byte blocks."""

    dstBlkStride: int = 1
    dstRepStride: int = 8

    def check(self, api: str) -> None:
        """Refuse strides outside their fields, and a block stride of 0, which is undefined.

        Raises
        ------
        ArgumentError
        """
        check_range(api, "dstBlkStride", self.dstBlkStride, 1, 65535)
        check_range(api, "dstRepStride", self.dstRepStride, 0, 65535)


class GatherRepeatParams(NamedTuple):
    """Strides of Gatherb's destination, in 32-byte blocks; a block stride of 0 counts as 1."""

    dstBlkStride: int = 1
    dstRepStride: int = 8

    def check(self, api: str) -> None:
        """Refuse strides outside their fields.

        Raises
        ------
        ArgumentError
        """
        _check(api, self, {"dstBlkStride": 255, "dstRepStride": 255})


class GatherMaskParams(NamedTuple):
    """Repeats of GatherMask; strides in 32-byte blocks."""

    src0BlockStride: int = 1
    repeatTimes: int = 0
    src0RepeatStride: int = 8
    src1RepeatStride: int = 8

    def check(self, api: str) -> None:
        """Refuse values outside their fields.

        Raises
        ------
        ArgumentError
        """
        limits = {"src0BlockStride": 255, "repeatTimes": 65535}
        _check(api, self, limits | {"src0RepeatStride": 65535, "src1RepeatStride": 255})


class CopyRepeatParams(NamedTuple):
    """Strides of Copy in 32-byte blocks: between blocks, then between repeats."""

    dstStride: int = 1
    srcStride: int = 1
    dstRepeatSize: int = 8
    srcRepeatSize: int = 8

    def strides(self) -> tuple[tuple[int, int], ...]:
        """Return (block stride, repeat stride) for dst and src."""
        return (self.dstStride, self.dstRepeatSize), (self.srcStride, self.srcRepeatSize)

    def check(self, api: str) -> None:
        """Refuse strides outside their fields.

        Raises
        ------
        ArgumentError
        """
        limits = {"dstStride": 65535, "srcStride": 65535}
        _check(api, self, limits | {"dstRepeatSize": 4095, "srcRepeatSize": 4095})


class TransDataTo5HDParams(NamedTuple):
    """Halves (8-bit types) and repeats of TransDataTo5HD; strides in 32-byte blocks."""

    dstHighHalf: bool = False
    srcHighHalf: bool = False
    repeatTimes: int = 1
    dstRepStride: int = 0
    srcRepStride: int = 0

    def check(self, api: str) -> None:
        """Refuse values outside their fields.

        Raises
        ------
        ArgumentError
        """
        _check(api, self, {"repeatTimes": 255, "dstRepStride": 65535, "srcRepStride": 65535})


class TransposeType(IntEnum):
    """Kinds of an enhanced Transpose; the last three move data."""

    TRANSPOSE_TYPE_NONE = 0
    TRANSPOSE_NZ2ND_0213 = 1
    TRANSPOSE_NZ2NZ_0213 = 2
    TRANSPOSE_NZ2NZ_012_WITH_N = 3
    TRANSPOSE_NZ2ND_012_WITH_N = 4
    TRANSPOSE_NZ2ND_012_WITHOUT_N = 5
    TRANSPOSE_NZ2NZ_012_WITHOUT_N = 6
    TRANSPOSE_ND2ND_ONLY = 7
    TRANSPOSE_ND_UB_GM = 8
    TRANSPOSE_GRAD_ND_UB_GM = 9
    TRANSPOSE_ND2ND_B16 = 10
    TRANSPOSE_NCHW2NHWC = 11
    TRANSPOSE_NHWC2NCHW = 12


class TransposeParamsExt(NamedTuple):
    """Shape and kind of an enhanced Transpose."""

    nSize: int = 0
    cSize: int = 0
    hSize: int = 0
    wSize: int = 0
    transposeType: TransposeType = TransposeType.TRANSPOSE_ND2ND_B16

    def check(self, api: str) -> None:
        """Refuse sizes outside their range: N 65535, C 4095, H*W 4095.

        Raises
        ------
        ArgumentError
        """
        _check(api, self, {"nSize": 65535, "cSize": 4095, "hSize": 4095, "wSize": 4095})
        check_range(api, "hSize * wSize", self.hSize * self.wSize, 0, 4095)


class MrgSort4Info(NamedTuple):
    """Queue lengths (records) and control of MrgSort."""

    elementLengths: Sequence[int] = (0, 0, 0, 0)
    ifExhaustedSuspension: bool = False
    validBit: int = 0
    repeatTimes: int = 1

    def check(self, api: str) -> None:
        """Refuse lengths outside 0..4095 and valid bits other than 3, 7 and 15.

        Raises
        ------
        ArgumentError
        """
        if len(self.elementLengths) != _QUEUES:
            raise ArgumentError(
                "a merge has four queue lengths",
                api=api,
                argument="elementLengths",
                got=tuple(self.elementLengths),
                legal="4 integers; 0 for a queue that is not used",
            )
        for length in self.elementLengths:
            check_range(api, "elementLengths", length, 0, 4095)
        if self.validBit not in (3, 7, 15):
            raise ArgumentError(
                "validBit says which of the queues take part",
                api=api,
                argument="validBit",
                got=self.validBit,
                legal="3 (first two), 7 (first three) or 15 (all four)",
            )
        check_range(api, "repeatTimes", self.repeatTimes, 0, 255)


class MrgSortSrcList(NamedTuple):
    """The queues of a merge; unused ones may be left out."""

    src1: LocalTensor
    src2: LocalTensor
    src3: LocalTensor | None = None
    src4: LocalTensor | None = None
