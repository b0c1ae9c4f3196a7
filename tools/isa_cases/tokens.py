"""Values of the case files: tokens and patterns to arrays, arrays to plain numbers, comparison."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.dtypes import BY_NAME, DType
from simulator.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

_E2M1: Final = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_E1M2: Final = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75)

_FP4: Final = {"fp4x2_e2m1_t": _E2M1, "fp4x2_e1m2_t": _E1M2}
"""Magnitudes of the eight codes of the two 4-bit formats; bit 3 is the sign."""

_PATTERN: Final = re.compile(r"(full|cycle|mix|range|wraprange)\((\d+):(.*)\)")


def dtype_named(name: str) -> DType:
    """Return the element type that the tables call ``name``."""
    return BY_NAME["fp8_e4m3fn_t" if name == "fp8_e4m3_t" else name]


def is_packed(dtype: DType) -> bool:
    """Whether two elements share a byte."""
    return dtype.bits < 8 or dtype.name in _FP4


def number(token: str, dtype: DType) -> int | float:
    """Return the number that a token stands for.

    Raises
    ------
    ConfigError
        If an integer type cannot hold it.
    """
    if dtype.kind not in "iub":
        return float(token)
    value = int(token) if re.fullmatch(r"[+-]?\d+", token) else int(float(token))
    signed = dtype.kind == "i"
    low, high = (-(1 << dtype.bits - 1) if signed else 0), (1 << dtype.bits - signed) - 1
    if not low <= value <= high:
        raise ConfigError(f"{token} does not fit {dtype}", got=token, legal=f"{low}..{high}")
    return value


def to_storage(values: Sequence[int | float], dtype: DType) -> NDArray[Any]:
    """Return numbers as an array of the storage of ``dtype``; packed types take an even count."""
    if not is_packed(dtype):
        with np.errstate(all="ignore"):
            return np.array(values, dtype.numpy)
    codes = np.array([_code(value, dtype) for value in values], np.uint8)
    if len(codes) % 2:
        codes = np.append(codes, codes[-1:])
    return codes[0::2] | codes[1::2] << 4


def _code(value: int | float, dtype: DType) -> int:
    table = _FP4.get(dtype.name)
    if table is None:
        return int(value) & 15
    sign = 8 if math.copysign(1, value) < 0 else 0
    return table.index(abs(value)) | sign


def from_storage(raw: NDArray[Any], dtype: DType) -> list[int | float]:
    """Return the elements of an array of the storage of ``dtype`` as plain numbers."""
    if not is_packed(dtype):
        return [int(v) for v in raw] if dtype.kind in "iub" else [float(v) for v in raw]
    codes = [code for byte in raw.view(np.uint8).tolist() for code in (byte & 15, byte >> 4)]
    table = _FP4.get(dtype.name)
    if table is None:
        return [code - 16 if code > 7 else code for code in codes]
    return [math.copysign(table[code & 7], -1 if code > 7 else 1) for code in codes]


def expand(text: str, dtype: DType) -> list[int | float]:
    """Return the elements of ``full(n:v)``, ``cycle``, ``mix``, ``range``, ``wraprange``.

    A plain token is a list of one.
    """
    found = _PATTERN.fullmatch(text)
    if found is None:
        return [number(text, dtype)]
    kind, size, rest = found[1], int(found[2]), found[3]
    return _EXPANDERS[kind](rest.split(","), size, dtype)


def _full(parts: list[str], size: int, dtype: DType) -> list[int | float]:
    return [number(parts[0], dtype)] * size


def _cycle(parts: list[str], size: int, dtype: DType) -> list[int | float]:
    values = [number(p, dtype) for p in parts]
    return (values * -(-size // len(values)))[:size]


def _mix(parts: list[str], size: int, dtype: DType) -> list[int | float]:
    out: list[int | float] = []
    for part in parts:
        token, _, count = part.partition("*")
        out += [number(token, dtype)] * int(count or 1)
    if len(out) != size:
        raise ConfigError("the parts of a mix do not add up", got=len(out), legal=size)
    return out


def _range(parts: list[str], size: int, dtype: DType) -> list[int | float]:
    start, step = (number(p, dtype) for p in parts)
    return [start + i * step for i in range(size)]


def _wraprange(parts: list[str], size: int, dtype: DType) -> list[int | float]:
    low = -(1 << dtype.bits - 1) if dtype.kind == "i" else 0
    return [(int(v) - low) % (1 << dtype.bits) + low for v in _range(parts, size, dtype)]


_EXPANDERS: Final[dict[str, Callable[[list[str], int, DType], list[int | float]]]] = {
    "full": _full,
    "cycle": _cycle,
    "mix": _mix,
    "range": _range,
    "wraprange": _wraprange,
}


def same(got: int | float, wanted: int | float, tol: float = 0.0) -> bool:
    """Whether two numbers are equal, NaN with NaN, with the sign of zero, or within ``tol``."""
    if math.isnan(wanted) or math.isnan(got):
        return math.isnan(wanted) and math.isnan(got)
    if isinstance(wanted, int) and isinstance(got, int):
        return got == wanted
    if math.copysign(1, got) != math.copysign(1, wanted):
        return False
    return got == wanted or abs(got - wanted) <= tol
