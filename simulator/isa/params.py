"""Parameter structs of the call forms, with AscendC's field order and defaults.

Source: mirror-cann/asc-devkit include/basic_api/kernel_struct_unary.h, kernel_struct_binary.h,
kernel_struct_data_copy.h.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simulator.errors import ArgumentError


def check_range(api: str, name: str, value: Any, low: int, high: int, source: str = "") -> None:
    """Refuse an integer argument outside ``low..high``.

    Raises
    ------
    ArgumentError
    """
    if not isinstance(value, int) and not hasattr(value, "__index__"):
        raise ArgumentError(
            f"{name} must be an integer",
            api=api,
            got=f"{value!r} ({type(value).__name__})",
            legal=f"{low}..{high}",
        )
    if not low <= value <= high:
        raise ArgumentError(
            f"{name} is out of range",
            api=api,
            argument=name,
            got=value,
            legal=f"{low}..{high}",
            source=source or None,
        )


def plain(params: Any) -> Any:
    """Return a parameter struct with its integers as Python's, which have no width to overflow."""
    if any(v.__class__ is not int and isinstance(v, np.integer) for v in params):
        return params._make(int(v) if isinstance(v, np.integer) else v for v in params)
    return params


class UnaryRepeatParams(NamedTuple):
    """Strides of a one-source call, in 32-byte blocks.

    ``dstBlkStride``/``srcBlkStride`` step between blocks of a repeat (0..65535),
    ``dstRepStride``/``srcRepStride`` between repeats (0..255).
    """

    dstBlkStride: int = 1
    srcBlkStride: int = 1
    dstRepStride: int = 8
    srcRepStride: int = 8

    def strides(self) -> tuple[tuple[int, int], ...]:
        """Return (block stride, repeat stride) for dst and src."""
        return (self.dstBlkStride, self.dstRepStride), (self.srcBlkStride, self.srcRepStride)

    def check(self, api: str) -> None:
        """Refuse strides outside their fields.

        Raises
        ------
        ArgumentError
        """
        for name in ("dstBlkStride", "srcBlkStride"):
            check_range(api, name, getattr(self, name), 0, 65535)
        for name in ("dstRepStride", "srcRepStride"):
            check_range(api, name, getattr(self, name), 0, 255)


class BinaryRepeatParams(NamedTuple):
    """Strides of a two-source call, in 32-byte blocks (0..255 each)."""

    dstBlkStride: int = 1
    src0BlkStride: int = 1
    src1BlkStride: int = 1
    dstRepStride: int = 8
    src0RepStride: int = 8
    src1RepStride: int = 8

    def strides(self) -> tuple[tuple[int, int], ...]:
        """Return (block stride, repeat stride) for dst, src0 and src1."""
        return (
            (self.dstBlkStride, self.dstRepStride),
            (self.src0BlkStride, self.src0RepStride),
            (self.src1BlkStride, self.src1RepStride),
        )

    def check(self, api: str) -> None:
        """Refuse strides outside their fields.

        Raises
        ------
        ArgumentError
        """
        for name, value in zip(self._fields, self, strict=True):
            check_range(api, name, value, 0, 255)


class DataCopyParams(NamedTuple):
    """Bursts of a DataCopy: ``blockLen`` and both gaps in 32-byte blocks.

    For DataCopyPad ``blockLen`` is in bytes, and so is the gap on the GM side.
    """

    blockCount: int = 1
    blockLen: int = 0
    srcStride: int = 0
    dstStride: int = 0


class DataCopyExtParams(NamedTuple):
    """Bursts of a DataCopyPad: ``blockLen`` in bytes; GM gap in bytes, UB gap in 32-byte blocks."""

    blockCount: int = 1
    blockLen: int = 0
    srcStride: int = 0
    dstStride: int = 0
    rsv: int = 0


class DataCopyPadParams(NamedTuple):
    """Padding of a DataCopyPad (fixed 64-bit padding value)."""

    isPad: bool = False
    leftPadding: int = 0
    rightPadding: int = 0
    paddingValue: int = 0


class DataCopyPadExtParams(NamedTuple):
    """Padding of a DataCopyPad in elements, with a value of the element type."""

    isPad: bool = False
    leftPadding: int = 0
    rightPadding: int = 0
    paddingValue: float | int = 0
