"""Arithmetic of the scalar unit: conversions, bit counts, division helpers, square root.

Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/标量计算,
impl/basic_api/kernel_scalar.h, kernel_scalar_convert.h and utils/kernel_utils_ceil_oom_que.h.
"""

# ruff: noqa: RUF001 - the names of pages of the manual

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.core import current_core
from simulator.dtypes import DType, as_dtype, bfloat16_t, float32, half, int32_t
from simulator.enums import Arch, PipeID, RoundMode
from simulator.errors import ArgumentError
from simulator.isa.families import check_scalar, declare, publish, spec_for
from simulator.isa.params import check_range
from simulator.isa.scalar import as_number
from simulator.numerics import caster, hif8_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.instruction import InstructionSpec

_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/标量计算/{}.md"
_KERNEL_SCALAR = "mirror-cann/asc-devkit impl/basic_api/kernel_scalar.h"
_CEIL = "mirror-cann/asc-devkit impl/basic_api/utils/kernel_utils_ceil_oom_que.h"
_BOTH: Final = (Arch.DAV_2201, Arch.DAV_3510)
_950: Final = (Arch.DAV_3510,)

_TO_FLOAT_950: Final = "bfloat16_t hifloat8_t fp8_e5m2_t fp8_e4m3fn_t fp4x2_e1m2_t fp4x2_e2m1_t"


def _declare(
    rule: Callable[[], None], name: str, source: str, arches: tuple[Arch, ...] = _BOTH
) -> InstructionSpec:
    return declare(
        rule, "scalar", (), dict.fromkeys(arches, ""), source,
        pipe=PipeID.PIPE_S, forms=("scalar",), name=name,
    )  # fmt: skip


# -- conversions -----------------------------------------------------------------------------------


def _to_float_rule() -> None:
    """Return a scalar as float."""


def _to_bfloat_rule() -> None:
    """Return a float rounded to the nearest bfloat16_t, ties to even."""


def _scalar_cast_rule() -> None:
    """Return a float as half (CAST_ODD) or int32_t (ROUND, CEIL, FLOOR, RINT)."""


def _bitcode_rule() -> None:
    """Return the bits of a scalar as another type of the same width."""


_TO_FLOAT = _declare(_to_float_rule, "ToFloat", _PAGE.format("Cast（多类型转float）"))
_TO_BFLOAT = _declare(_to_bfloat_rule, "ToBfloat16", _PAGE.format("Cast（float转bfloat16_t）"))
_SCALAR_CAST = _declare(
    _scalar_cast_rule, "ScalarCast", _PAGE.format("Cast（float转half-int32_t）")
)
_BITCODE = _declare(_bitcode_rule, "GetScalarBitcodeValue", _KERNEL_SCALAR)

_CAST_MODES: Final = {
    half: (RoundMode.CAST_ODD,),
    int32_t: (
        RoundMode.CAST_ROUND,
        RoundMode.CAST_CEIL,
        RoundMode.CAST_FLOOR,
        RoundMode.CAST_RINT,
    ),
}


def ToFloat(value: Any, dtype: Any = bfloat16_t) -> float:
    """Return a scalar of type ``dtype`` as float.

    GetValue returns floating-point values as numbers already; the packed and 8-bit formats that it
    returns as bits are decoded (950): ``ToFloat(bits, hifloat8_t)``. Packed fp4 converts its low
    nibble.
    """
    core = current_core()
    spec = spec_for("ToFloat", core)
    source = as_dtype(dtype)
    legal = _TO_FLOAT_950.split() if core.arch is Arch.DAV_3510 else ["bfloat16_t"]
    if source.name not in legal:
        raise ArgumentError(
            f"{source} does not convert to float",
            api=spec.name,
            argument="dtype",
            got=source.name,
            legal=", ".join(legal),
            source=spec.source,
        )
    if source.name.startswith("fp4"):
        check_range(spec.name, "value", value, 0, 255, spec.source)
        return _fp4(int(value) & 0xF, source)
    if source.name == "hifloat8_t":
        check_range(spec.name, "value", value, 0, 255, spec.source)
        return float(hif8_values()[int(value)])
    return float(check_scalar(spec, source, value, "value"))


def _fp4(bits: int, dtype: DType) -> float:
    """Return the value of a 4-bit float: sign, 2 + 1 or 1 + 2 bits of exponent and mantissa."""
    sign = -1.0 if bits & 8 else 1.0
    mantissa_bits = 1 if dtype.name == "fp4x2_e2m1_t" else 2
    exponent = (bits & 7) >> mantissa_bits
    mantissa = bits & (1 << mantissa_bits) - 1
    lead = 1 if exponent else 0
    magnitude = (lead + mantissa / (1 << mantissa_bits)) * 2.0 ** (max(exponent, 1) - 1)
    return sign * magnitude


def ToBfloat16(value: float) -> float:
    """Return a float rounded to the nearest bfloat16_t, ties to even; NaN becomes 0x7FFF."""
    core = current_core()
    spec = spec_for("ToBfloat16", core)
    single = check_scalar(spec, float32, value, "value")
    if np.isnan(single):
        return math.nan
    return float(bfloat16_t.numpy.type(single))


def ScalarCast(src: Any, dst: Any, roundMode: RoundMode, value: float) -> Any:
    """``ScalarCast(float32, int32_t, RoundMode.CAST_RINT, x)``: a float as int32_t or half."""
    core = current_core()
    spec = spec_for("ScalarCast", core)
    source, target = as_dtype(src), as_dtype(dst)
    if source is not float32 or roundMode not in _CAST_MODES.get(target, ()):
        raise ArgumentError(
            f"{source} does not convert to {target} with {roundMode!r}",
            api=spec.name,
            got=f"{source} to {target}, {roundMode!r}",
            legal="; ".join(
                f"float to {t}: {', '.join(m.name for m in modes)}"
                for t, modes in _CAST_MODES.items()
            ),
            source=spec.source,
        )
    single = np.array([check_scalar(spec, float32, value, "value")], np.float32)
    out = np.empty(1, target.numpy)
    caster(core.arch, source, target, RoundMode(roundMode))(single, out)
    return as_number(out[0], target)


def GetScalarBitcodeValue(src: Any, dst: Any, value: Any) -> Any:
    """``GetScalarBitcodeValue(float32, uint32_t, 1.0)``: the bits of a scalar as another type."""
    spec = spec_for("GetScalarBitcodeValue", current_core())
    source, target = as_dtype(src), as_dtype(dst)
    if source.bits != target.bits or source.bits < 8:
        raise ArgumentError(
            "both types must have the same width",
            api=spec.name,
            got=f"{source} ({source.bits} bits), {target} ({target.bits} bits)",
            legal="equal widths of 8 bits and more",
            source=spec.source,
        )
    scalar = check_scalar(spec, source, value, "value")
    return as_number(np.array([scalar], source.numpy).view(target.numpy)[0], target)


# -- bits ------------------------------------------------------------------------------------------


def _bit_count_rule() -> None:
    """Return how many bits of a uint64_t are 0, or 1."""


def _leading_rule() -> None:
    """Return the zeros above the highest set bit of a uint64_t, 64 for 0."""


def _sign_bits_rule() -> None:
    """Return the bits below the sign of an int64_t that equal it, -1 for 0 and -1."""


def _first_rule() -> None:
    """Return the position of the lowest 0, or 1, of a uint64_t, -1 when there is none."""


_BIT_COUNT = _declare(_bit_count_rule, "GetBitCount", _PAGE.format("GetBitCount"))
_OLD_BIT_COUNT = _declare(_bit_count_rule, "ScalarGetCountOfValue", _PAGE.format("GetBitCount"))
_LEADING = _declare(_leading_rule, "CountLeadingZero", _PAGE.format("CountLeadingZero"))
_OLD_LEADING = _declare(_leading_rule, "ScalarCountLeadingZero", _PAGE.format("CountLeadingZero"))
_SIGN_BITS = _declare(
    _sign_bits_rule, "CountBitsCntSameAsSignBit", _PAGE.format("CountBitsCntSameAsSignBit")
)
_FIRST = _declare(_first_rule, "GetSFFValue", _PAGE.format("GetSFFValue"))
_OLD_FIRST = _declare(_first_rule, "ScalarGetSFFValue", _PAGE.format("GetSFFValue"))


def _word(spec: InstructionSpec, value: Any) -> int:
    check_range(spec.name, "valueIn", value, 0, 2**64 - 1, spec.source)
    return int(value)


def _chosen_bits(name: str, count_value: Any, value: Any) -> int:
    """Return ``value`` with the bits in question set."""
    spec = spec_for(name, current_core())
    check_range(spec.name, "countValue", count_value, 0, 1, spec.source)
    word = _word(spec, value)
    return word if count_value else word ^ 2**64 - 1


def GetBitCount(countValue: int, valueIn: int) -> int:
    """``GetBitCount(1, x)``: return how many of the 64 bits of ``x`` are 1 (or 0)."""
    return bin(_chosen_bits("GetBitCount", countValue, valueIn)).count("1")


def ScalarGetCountOfValue(countValue: int, valueIn: int) -> int:
    """Old name of GetBitCount."""
    return bin(_chosen_bits("ScalarGetCountOfValue", countValue, valueIn)).count("1")


def CountLeadingZero(valueIn: int) -> int:
    """Return the zeros above the highest set bit of a uint64_t, 64 for 0."""
    spec = spec_for("CountLeadingZero", current_core())
    return 64 - _word(spec, valueIn).bit_length()


def ScalarCountLeadingZero(valueIn: int) -> int:
    """Old name of CountLeadingZero."""
    spec = spec_for("ScalarCountLeadingZero", current_core())
    return 64 - _word(spec, valueIn).bit_length()


def CountBitsCntSameAsSignBit(valueIn: int) -> int:
    """Return the bits below the sign of an int64_t that equal it, -1 for 0 and -1."""
    spec = spec_for("CountBitsCntSameAsSignBit", current_core())
    check_range(spec.name, "valueIn", valueIn, -(2**63), 2**64 - 1, spec.source)
    word = int(valueIn) & 2**64 - 1
    if word >> 63:
        word ^= 2**64 - 1
    return 63 - word.bit_length() if word else -1


def GetSFFValue(countValue: int, valueIn: int) -> int:
    """``GetSFFValue(1, x)``: return the place of the lowest 1 (or 0) of ``x``, -1 without one."""
    bits = _chosen_bits("GetSFFValue", countValue, valueIn)
    return (bits & -bits).bit_length() - 1


def ScalarGetSFFValue(countValue: int, valueIn: int) -> int:
    """Old name of GetSFFValue."""
    bits = _chosen_bits("ScalarGetSFFValue", countValue, valueIn)
    return (bits & -bits).bit_length() - 1


# -- division and roots ----------------------------------------------------------------------------


def _ceil_rule() -> None:
    """Return a quotient rounded up."""


def _align_rule() -> None:
    """Return the smallest multiple of ``b`` that is not below ``a``."""


def _magic_rule() -> None:
    """Return factor and shift that replace a division by a constant."""


def _sqrt_rule() -> None:
    """Return the square root of a scalar."""


_CEIL_DIVISION = _declare(_ceil_rule, "CeilDivision", _PAGE.format("CeilDivision"))
_DIV_CEIL = _declare(_ceil_rule, "DivCeil", _CEIL)
_ALIGN_UP = _declare(_align_rule, "AlignUp", _CEIL)
_MAGIC = _declare(_magic_rule, "GetUintDivMagicAndShift", _KERNEL_SCALAR, _950)
_SQRT = _declare(_sqrt_rule, "sqrt", "mirror-cann/asc-devkit impl/utils/std/cmath/sqrt.h")


def CeilDivision(num1: int, num2: int) -> int:
    """Return ``num1 / num2`` rounded up, for positive int32_t numbers; 0 for a zero divisor."""
    spec = spec_for("CeilDivision", current_core())
    check_range(spec.name, "num1", num1, 0, 2**31 - 1, spec.source)
    check_range(spec.name, "num2", num2, 0, 2**31 - 1, spec.source)
    return -(-num1 // num2) if num2 else 0


def DivCeil(a: int, b: int) -> int:
    """Return ``a / b`` rounded up, for uint32_t numbers."""
    return _div_ceil(spec_for("DivCeil", current_core()), a, b)


def AlignUp(a: int, b: int) -> int:
    """Return the smallest multiple of ``b`` that is not below ``a``, for uint32_t numbers."""
    return _div_ceil(spec_for("AlignUp", current_core()), a, b) * b & 0xFFFF_FFFF


def _div_ceil(spec: InstructionSpec, a: Any, b: Any) -> int:
    check_range(spec.name, "a", a, 0, 2**32 - 1, spec.source)
    check_range(spec.name, "b", b, 1, 2**32 - 1, spec.source)
    return int((a + b - 1 & 0xFFFF_FFFF) // b)


def GetUintDivMagicAndShift(dtype: Any, divisor: int) -> tuple[int, int]:
    """Return (magic, shift) with which ``x / divisor`` is ``((x * magic >> n) + x) >> shift``.

    ``n`` is the width of ``dtype``, uint32_t or uint64_t; the divisor must be positive and below
    2**(n - 1) (950).
    """
    spec = spec_for("GetUintDivMagicAndShift", current_core())
    target = as_dtype(dtype)
    if target.name not in ("uint32_t", "uint64_t"):
        raise ArgumentError(
            f"{target} has no magic division",
            api=spec.name,
            got=target.name,
            legal="uint32_t, uint64_t",
            source=spec.source,
        )
    check_range(spec.name, "divisor", divisor, 1, 2 ** (target.bits - 1) - 1, spec.source)
    shift = (divisor - 1).bit_length()
    magic = (((1 << shift) - divisor) << target.bits) // divisor + 1
    return magic & (1 << target.bits) - 1, shift


def sqrt(x: Any) -> Any:
    """Return the square root of a float, or of an int64_t cut to an integer.

    The documents name no rounding; the float result is the correctly rounded one.
    """
    spec = spec_for("sqrt", current_core())
    if isinstance(x, int | np.integer) and not isinstance(x, bool):
        check_range(spec.name, "x", int(x), 0, 2**63 - 1, spec.source)
        return math.isqrt(int(x))
    return float(np.sqrt(check_scalar(spec, float32, x, "x")))


for _call, _spec in (
    (ToFloat, _TO_FLOAT), (ToBfloat16, _TO_BFLOAT), (ScalarCast, _SCALAR_CAST),
    (GetScalarBitcodeValue, _BITCODE), (GetBitCount, _BIT_COUNT),
    (ScalarGetCountOfValue, _OLD_BIT_COUNT), (CountLeadingZero, _LEADING),
    (ScalarCountLeadingZero, _OLD_LEADING), (CountBitsCntSameAsSignBit, _SIGN_BITS),
    (GetSFFValue, _FIRST), (ScalarGetSFFValue, _OLD_FIRST), (CeilDivision, _CEIL_DIVISION),
    (DivCeil, _DIV_CEIL), (AlignUp, _ALIGN_UP), (GetUintDivMagicAndShift, _MAGIC), (sqrt, _SQRT),
):  # fmt: skip
    publish(_call, _spec)
