"""Values of arithmetic progressions, rounded as the scalar unit and the registers round them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.dtypes import BY_NAME
from simulator.isa.saturation import SATURATE_FLOAT
from simulator.numerics import saturate_float

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simulator.dtypes import DType
    from simulator.tensor import LocalTensor


def first_values(first: Any, dtype: DType, number: int, step: Any = 1) -> NDArray[Any]:
    """Return ``first + i * step`` as the scalar unit makes it: in float, or wrapping integers."""
    if dtype.is_float:
        index = np.arange(number, dtype=np.float32)
        return (np.float32(first) + np.float32(step) * index).astype(dtype.numpy)
    return _wrapped(int(first), int(step), number, dtype)


def _wrapped(first: int, step: int, number: int, dtype: DType) -> NDArray[Any]:
    bits = 8 * dtype.itemsize
    start, gap = (np.uint64(value & 0xFFFF_FFFF_FFFF_FFFF) for value in (first, step))
    words = start + gap * np.arange(number, dtype=np.uint64)
    return words.astype(f"u{bits // 8}").view(dtype.numpy)


def store_first(
    dst: LocalTensor, values: NDArray[Any], places: Sequence[int] | None = None
) -> None:
    """Store values with the scalar unit, at elements ``places`` (default: from the first on)."""
    words = values.view(f"u{values.itemsize}")
    target = dst.ReinterpretCast(BY_NAME[f"uint{8 * values.itemsize}_t"])
    for place, word in zip(places or range(len(words)), words, strict=True):
        target.SetValue(place, int(word))


def register_rows(
    first: Any, step: Any, dtype: DType, shape: tuple[int, int], mode: int
) -> NDArray[Any]:
    """Return registers of a progression, one a row: lanes made at once, rows by adding.

    ``mode`` holds the saturation switches; integers wrap.
    """
    rows, lanes = shape
    kind = dtype.numpy.type
    out = np.empty(shape, dtype.numpy)
    clamp = dtype if mode & SATURATE_FLOAT and dtype.is_float else None
    if not dtype.is_float:
        out.reshape(-1)[:] = _wrapped(int(first), int(step), rows * lanes, dtype)
        return out
    out[0] = np.arange(lanes).astype(dtype.numpy) * kind(step)
    _clamped(out[0], clamp)
    out[0] += kind(first)
    _clamped(out[0], clamp)
    gap = np.array([kind(lanes) * kind(step)])
    _clamped(gap, clamp)
    for row in range(1, rows):
        np.add(out[row - 1], gap, out[row])
        _clamped(out[row], clamp)
    return out


def _clamped(values: NDArray[Any], dtype: DType | None) -> None:
    if dtype is not None:
        saturate_float(values, dtype)
