"""Bitwise And, Or, Not, Ands and Ors.

910B computes 16-bit lanes. Its count forms also take 32-bit tensors, and then count 16-bit lanes:
``And(dst, src0, src1, count)`` covers ``count / 2`` words
(mirror-cann/asc-devkit impl/basic_api/dav_c220/kernel_operator_vec_binary_impl.h).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from simulator.dtypes import DType, int16_t, int32_t, uint16_t, uint32_t
from simulator.enums import Arch
from simulator.isa.families import binary, unary, vector_scalar

_PAGE: Final = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/逻辑计算/{}.md"

_INTEGERS: Final = "int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t"
_B8_B64: Final = "int8_t uint8_t int64_t uint64_t"
_ON_910B: Final = "int16_t uint16_t int32_t uint32_t"
_COUNT_ONLY: Final = {Arch.DAV_2201: "int32_t uint32_t", Arch.DAV_3510: _B8_B64}
_LANES: Final[dict[tuple[Arch, DType], DType]] = {
    (Arch.DAV_2201, int32_t): int16_t,
    (Arch.DAV_2201, uint32_t): uint16_t,
}


@binary(
    {Arch.DAV_2201: _ON_910B, Arch.DAV_3510: _INTEGERS},
    _PAGE.format("And"),
    count_only=_COUNT_ONLY,
    lanes=_LANES,
)
def And(out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = src0[i] & src1[i]``; on 910B a count of a 32-bit tensor counts 16-bit lanes."""
    np.bitwise_and(src0, src1, out)


@binary(
    {Arch.DAV_2201: _ON_910B, Arch.DAV_3510: _INTEGERS},
    _PAGE.format("Or"),
    count_only=_COUNT_ONLY,
    lanes=_LANES,
)
def Or(out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = src0[i] | src1[i]``; on 910B a count of a 32-bit tensor counts 16-bit lanes."""
    np.bitwise_or(src0, src1, out)


@binary(
    {Arch.DAV_3510: _INTEGERS},
    "mirror-cann/asc-devkit docs/zh/api/SIMD-API/高阶API/数学计算/BitwiseAnd接口/BitwiseAnd.md",
    forms=("count",),
    constraints="dst must not overlap a source",
    cost="And",
)
def BitwiseAnd(out: Any, src0: Any, src1: Any) -> None:
    """``dst[i] = src0[i] & src1[i]`` for every integer type, count form only."""
    np.bitwise_and(src0, src1, out)


@unary(
    {Arch.DAV_2201: _ON_910B, Arch.DAV_3510: f"{_INTEGERS} half float"},
    _PAGE.format("Not"),
    count_only=_COUNT_ONLY,
    lanes=_LANES,
    build=lambda rule, context: rule,
)
def Not(out: Any, src: Any) -> None:
    """``dst[i] = ~src[i]``, every bit; on 910B a count of a 32-bit tensor counts 16-bit lanes."""
    words = np.dtype(f"u{out.dtype.itemsize}")
    np.invert(src.view(words), out.view(words))


@vector_scalar(
    {Arch.DAV_3510: "int16_t uint16_t int64_t uint64_t"},
    _PAGE.format("Ands"),
    count_only={Arch.DAV_3510: "int64_t uint64_t"},
    flexible=True,
)
def Ands(out: Any, left: Any, right: Any) -> None:
    """``dst[i] = src[i] & scalarValue``."""
    np.bitwise_and(left, right, out)


@vector_scalar(
    {Arch.DAV_3510: "int16_t uint16_t int64_t uint64_t"},
    _PAGE.format("Ors"),
    count_only={Arch.DAV_3510: "int64_t uint64_t"},
    flexible=True,
)
def Ors(out: Any, left: Any, right: Any) -> None:
    """``dst[i] = src[i] | scalarValue``."""
    np.bitwise_or(left, right, out)
