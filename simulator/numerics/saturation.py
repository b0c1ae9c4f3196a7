"""Saturating float results and clamped integer arithmetic.

Rules: in saturating mode (CTRL[48] = 0) half and bfloat16_t results clamp, inf to +-MAX and NaN to
0; float never does. Integer arithmetic wraps, or clamps on 910B with CTRL[48] = 0 and on 950 with
CTRL[53] = 1. Sources: mirror-cann/asc-devkit docs/zh/api/附录/Memory矢量计算接口边界值汇总.md;
docs/zh/api/SIMD-API/基础API/特殊寄存器访问/SetCtrlSpr(ISASI).md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from simulator.dtypes import DType, bfloat16_t, half
from simulator.errors import ArgumentError

Array = NDArray[Any]

_INFINITY: Final = {half: np.uint16(0x7C00), bfloat16_t: np.uint16(0x7F80)}
_SIGN: Final = np.uint16(0x8000)
_MAGNITUDE: Final = np.uint16(0x7FFF)
_ZERO: Final = np.uint16(0)
_ONE: Final = np.uint16(1)

_WIDER: Final = {1: np.dtype(np.int32), 2: np.dtype(np.int64), 4: np.dtype(np.int64)}
_UINT32: Final = np.dtype(np.uint32)
_UINT64: Final = np.dtype(np.uint64)


def saturate_float(out: Array, dtype: DType) -> None:
    """Inf becomes +-MAX and NaN becomes +0, in place; only half and bfloat16_t change.

    Parameters
    ----------
    out : array
        Values stored as ``dtype``; any shape, strided views included.
    dtype : DType
        Element type of ``out``.
    """
    infinity = _INFINITY.get(dtype)
    if infinity is None or not out.size:
        return
    bits = out.view(np.uint16)
    magnitude = bits & _MAGNITUDE
    if np.maximum.reduce(magnitude, axis=None) < infinity:
        return
    # The largest finite code is the one just below inf.
    bits -= (magnitude == infinity).astype(np.uint16)
    np.copyto(bits, _ZERO, where=magnitude > infinity)


def _bounds(dtype: np.dtype[Any]) -> tuple[int, int]:
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def narrow_integer(src: Array, out: Array, *, low_bits: bool = False) -> None:
    """Write integers into a narrower type: clamped to its range, or only their low bits.

    Parameters
    ----------
    src, out : arrays of integer types
        Same shape.
    low_bits : bool
        Keep the low bits instead of clamping.
    """
    if not low_bits and src.size:
        low, high = _bounds(out.dtype)
        if np.minimum.reduce(src, axis=None) < low or np.maximum.reduce(src, axis=None) > high:
            own_low, own_high = _bounds(src.dtype)
            kind = src.dtype.type
            src = np.clip(src, kind(max(low, own_low)), kind(min(high, own_high)))
    np.copyto(out, src, casting="unsafe")


Binary = Callable[[Any, Any, Array], None]


def _wrapping(operation: np.ufunc) -> Binary:
    def run(a: Any, b: Any, out: Array) -> None:
        operation(a, b, out=out)

    return run


def _clamping(operation: np.ufunc) -> Binary:
    def run(a: Any, b: Any, out: Array) -> None:
        wider = _WIDER.get(out.dtype.itemsize)
        if operation is np.multiply and out.dtype == _UINT32:
            wider = _UINT64
        if wider is not None:
            narrow_integer(operation(a, b, dtype=wider), out)
            return
        exact = np.asarray(operation(np.asarray(a, object), np.asarray(b, object)), object)
        low, high = _bounds(out.dtype)
        out[...] = np.clip(exact, low, high)

    return run


_OPERATIONS: Final = {"add": np.add, "sub": np.subtract, "mul": np.multiply}
_RUNS: Final = {
    (name, clamp): _clamping(ufunc) if clamp else _wrapping(ufunc)
    for name, ufunc in _OPERATIONS.items()
    for clamp in (False, True)
}


def integer_arithmetic(name: str, *, clamp: bool) -> Binary:
    """Return ``run(a, b, out)``: ``out = a <name> b`` wrapped or clamped to the type of ``out``.

    Parameters
    ----------
    name : str
        ``"add"``, ``"sub"`` or ``"mul"``.
    clamp : bool
        Clamp to the range of ``out`` instead of keeping the low bits.

    Returns
    -------
    callable
        ``a`` and ``b`` are arrays or numpy scalars of the element type of ``out``. 64-bit types
        clamp through Python integers, which is exact but slow.

    Raises
    ------
    ArgumentError
        If ``name`` is no integer operation.
    """
    try:
        return _RUNS[name, clamp]
    except KeyError:
        raise ArgumentError(
            f"{name!r} is not an integer operation", got=name, legal=", ".join(_OPERATIONS)
        ) from None
