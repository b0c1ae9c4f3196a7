"""An independent reference of Cast: Python integers, one value at a time.

Floats are decoded to sign, significand and exponent by their published field widths; rounding is
division with remainder. Nothing here uses the conversions of numpy or of the simulator.
"""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import pytest

# Exponent bits, mantissa bits, bias, first magnitude code past the largest finite value.
FORMATS = {
    "half": (5, 10, 15, 0x7C00),
    "bfloat16_t": (8, 7, 127, 0x7F80),
    "float": (8, 23, 127, 0x7F800000),
    "double": (11, 52, 1023, 0x7FF0000000000000),
    "fp8_e5m2_t": (5, 2, 15, 0x7C),
    "fp8_e4m3fn_t": (4, 3, 7, 0x7F),
    "fp4x2_e2m1_t": (2, 1, 1, 0x8),
    "fp4x2_e1m2_t": (1, 2, 1, 0x8),
}


def decode(code: int, name: str) -> tuple[int, int | None, int]:
    """Sign, significand and exponent; the significand is None for NaN and -1 for inf."""
    exponent_bits, mantissa_bits, bias, _ = FORMATS[name]
    sign = code >> (exponent_bits + mantissa_bits)
    exponent = (code >> mantissa_bits) & ((1 << exponent_bits) - 1)
    mantissa = code & ((1 << mantissa_bits) - 1)
    if exponent == (1 << exponent_bits) - 1:
        return sign, None if mantissa else -1, 0
    if exponent == 0:
        return sign, mantissa, 1 - bias - mantissa_bits
    return sign, mantissa | 1 << mantissa_bits, exponent - bias - mantissa_bits


def round_units(sign: int, significand: int, exponent: int, mode: str) -> int:
    """``significand * 2**exponent`` as a whole number, rounded; the sign directs floor and ceil."""
    if exponent >= 0:
        return significand << exponent
    unit = 1 << -exponent
    kept, rest = divmod(significand, unit)
    if rest == 0:
        return kept
    up = {
        "RINT": 2 * rest > unit or (2 * rest == unit and kept % 2 == 1),
        "ROUND": 2 * rest >= unit,
        "TRUNC": False,
        "FLOOR": sign == 1,
        "CEIL": sign == 0,
        "ODD": kept % 2 == 0,
    }[mode]
    return kept + up


def encode(sign: int, significand: int, exponent: int, name: str, mode: str) -> int:
    """Magnitude code of a finite number, at most the overflow code of the format."""
    _, mantissa_bits, bias, overflow = FORMATS[name]
    if significand == 0:
        return 0
    top = significand.bit_length() - 1 + exponent
    unit = max(top, 1 - bias) - mantissa_bits
    kept = round_units(sign, significand, exponent - unit, mode)
    if kept >> (mantissa_bits + 1):
        kept, unit = kept >> 1, unit + 1
    if not kept >> mantissa_bits:
        return kept
    biased = unit + mantissa_bits + bias
    return min((biased << mantissa_bits) + kept - (1 << mantissa_bits), overflow)


def wrap(value: int, low: int, high: int) -> int:
    """Low bits of a whole number, read in the range of the destination."""
    return (value - low) % (high - low + 1) + low


def clamp(value: int, low: int, high: int) -> int:
    return max(low, min(high, value))


def to_integer(decoded, mode: str, low: int, high: int, *, low_bits: bool) -> int:
    sign, significand, exponent = decoded
    if significand is None:
        return 0
    if significand == -1:
        return low if sign else high
    value = round_units(sign, significand, exponent, mode)
    value = -value if sign else value
    return wrap(value, low, high) if low_bits else clamp(value, low, high)


def to_float(decoded, name: str, mode: str, *, saturate: bool) -> int | None:
    """Code in the destination; None for NaN."""
    exponent_bits, mantissa_bits, _, overflow = FORMATS[name]
    sign, significand, exponent = decoded
    if significand is None:
        return 0 if saturate else None
    code = overflow if significand == -1 else encode(sign, significand, exponent, name, mode)
    if code == overflow and saturate:
        code -= 1
    if code == overflow and name == "fp8_e4m3fn_t":
        return None
    return code | sign << (exponent_bits + mantissa_bits)


def integral(code: int, name: str, mode: str) -> int | None:
    """Code of the value rounded to a whole number, in the same format."""
    exponent_bits, mantissa_bits, _, _ = FORMATS[name]
    sign, significand, exponent = decode(code, name)
    if significand is None:
        return None
    if significand == -1:
        return code
    whole = round_units(sign, significand, exponent, mode)
    return encode(sign, whole, 0, name, "TRUNC") | sign << (exponent_bits + mantissa_bits)


@cache
def all_codes(name: str):
    """Decoded form of each of the 65,536 codes of a 16-bit type."""
    if name in FORMATS:
        return [decode(code, name) for code in range(1 << 16)]
    values = [
        code - (1 << 16) if code >> 15 and name == "int16_t" else code for code in range(1 << 16)
    ]
    return [(int(value < 0), abs(value), 0) for value in values]


@pytest.fixture(scope="session")
def exact() -> SimpleNamespace:
    return SimpleNamespace(
        decode=decode,
        encode=encode,
        round_units=round_units,
        to_integer=to_integer,
        to_float=to_float,
        integral=integral,
        all_codes=all_codes,
        wrap=wrap,
        clamp=clamp,
    )
