"""The elements of an operand as arrays: in the order of their lanes, as values and as bit patterns.

Plans are bound to one unified buffer, so the arrays of an operand are made once a plan. Tests for
infinities and NaN look at bit patterns, which is much faster than numpy's own for 16-bit types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.dtypes import DType, bfloat16_t, double, float32, half
from simulator.sanitizer.ranges import is_dense, span, touched_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.instruction import Access, Operand
    from simulator.memory import Bytes

    Bits = NDArray[Any]


class Format(NamedTuple):
    """Words of a floating-point type: everything but the sign, the exponent, the least normal."""

    word: np.dtype[Any]
    magnitude: Any
    exponent: Any
    normal: Any


def _format(bits: int, mantissa: int) -> Format:
    word = np.dtype(f"u{bits // 8}")
    magnitude = (1 << (bits - 1)) - 1
    exponent = magnitude >> mantissa << mantissa
    return Format(word, word.type(magnitude), word.type(exponent), word.type(1 << mantissa))


FORMATS: Final[dict[DType, Format]] = {
    half: _format(16, 10),
    bfloat16_t: _format(16, 7),
    float32: _format(32, 23),
    double: _format(64, 52),
}
"""The floating-point types that calls compute in."""


class Field:
    """One operand of a plan as arrays over its elements.

    Attributes
    ----------
    operand : Operand
    form : Format or None
        Of a type that calls compute in; None for integers and the narrow formats.
    low, high : int
        Hull of its bytes.
    is_dense : bool
        Whether the elements follow each other.
    where : slice or array of int
        Byte addresses of everything it touches.
    """

    def __init__(self, operand: Operand, memory: Bytes) -> None:
        self.operand = operand
        self.dtype = operand.dtype
        self.form = FORMATS.get(operand.dtype)
        self.low, self.high = span(operand.accesses)
        self.size = operand.dtype.itemsize
        self.is_dense = is_dense(operand.accesses)
        self.word = np.dtype(f"u{self.size}")
        self.where: slice | NDArray[np.int64]
        self._starts: NDArray[np.int64] | None = None
        if self.is_dense and (self.high - self.low) % self.size == 0:
            self.where = slice(self.low, self.high)
            self._view = memory[self.where].view(self.word)
            self._index = None
        else:
            self.where = touched_bytes(operand.accesses)
            starts = self._starts = _lane_addresses(operand.accesses, self.size)
            self._view = memory[: len(memory) // self.size * self.size].view(self.word)
            self._index = starts // self.size

    @property
    def starts(self) -> NDArray[np.int64]:
        """Byte address of each element."""
        if self._starts is None:
            self._starts = np.arange(self.low, self.high, self.size)
        return self._starts

    def __len__(self) -> int:
        return len(self._view) if self._index is None else len(self._index)

    def bits(self) -> Bits:
        """Return the bit patterns; those of a dense operand are memory itself."""
        return self._view if self._index is None else self._view[self._index]

    def copied(self) -> Bits:
        """Return the bit patterns as an array of their own."""
        return self._view.copy() if self._index is None else self._view[self._index]

    def values(self, bits: Bits | None = None) -> NDArray[Any]:
        """Return the elements in the storage type, or what ``bits`` mean in it."""
        return (self.bits() if bits is None else bits).view(self.dtype.numpy)

    def one(self, bits: Bits, at: int) -> float | int:
        """Return one element as a Python number."""
        value = bits[at : at + 1].view(self.dtype.numpy)[0]
        return float(value) if self.dtype.is_float else int(value)

    def element(self, at: int) -> int:
        """Return where in the operand's tensor its element ``at`` is."""
        return (int(self.starts[at]) - self.low) // self.size

    def overlaps(self, other: Field) -> bool:
        """Whether the hulls of two operands meet."""
        return self.low < other.high and other.low < self.high

    def is_unique(self) -> bool:
        """Whether no element is touched twice."""
        return self._index is None or len(np.unique(self._index)) == len(self._index)


def peak(bits: Bits, form: Format) -> int:
    """Return the largest bit pattern without its sign.

    At least ``form.exponent`` means an infinity or NaN, more than that NaN.
    """
    if not bits.size:
        return 0
    return int(np.maximum.reduce(np.bitwise_and(bits, form.magnitude)))


def is_finite(bits: Bits, form: Format) -> NDArray[np.bool_]:
    """Return where elements are finite."""
    found: NDArray[np.bool_] = np.bitwise_and(bits, form.magnitude) < form.exponent
    return found


def is_nan(bits: Bits, form: Format) -> NDArray[np.bool_]:
    """Return where elements are NaN."""
    found: NDArray[np.bool_] = np.bitwise_and(bits, form.magnitude) > form.exponent
    return found


def _lane_addresses(accesses: tuple[Access, ...], size: int) -> NDArray[np.int64]:
    """Return the address of each element, repeat after repeat.

    A mask form is described by its whole 32-byte blocks of all repeats, and then by the lanes that
    are left over in each; here both parts of a repeat follow each other, so that operands of
    different widths line up.
    """
    parts = []
    waiting = list(accesses)
    while waiting:
        rows = _rows(waiting.pop(0), size)
        if waiting and _is_rest(rows, _rows(waiting[0], size), waiting[0]):
            rows = np.concatenate([rows, _rows(waiting.pop(0), size)], axis=1)
        parts.append(rows.reshape(-1))
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _rows(access: Access, size: int) -> NDArray[np.int64]:
    inside = np.arange(0, access.inner - size + 1, size)
    flat = (access.run_starts()[:, None] + inside).reshape(-1)
    repeats = access.dims[0][0] if access.dims else 1
    return flat.reshape(max(1, repeats), -1)


def _is_rest(blocks: NDArray[np.int64], rest: NDArray[np.int64], access: Access) -> bool:
    """Whether an access holds the lanes that whole blocks of the same repeats leave over."""
    if len(access.dims) != 1 or len(blocks) != len(rest) or not blocks.size or not rest.size:
        return False
    steps = [np.diff(rows[:, 0]) for rows in (blocks, rest)]
    return bool(rest[0, 0] > blocks[0, -1] and (steps[0] == steps[1]).all())
