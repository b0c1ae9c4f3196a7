"""Exact values beside a memory: for every element that has one, a float64 and the type it is of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.dtypes import DType
    from simulator.memory import Bytes

    Addresses = NDArray[np.int64]
    Doubles = NDArray[np.float64]
    Codes = NDArray[np.uint8]

NONE = 0
"""No exact value is known; the element counts as exact as it is."""


def code_of(dtype: DType) -> int:
    """Return the code that marks exact values of elements of ``dtype``."""
    return dtype.code + 1


class Shadows:
    """Exact values of the elements of one memory, by the address of their first byte.

    Parameters
    ----------
    memory : array of bytes
        The memory itself; elements without an exact value are read from it.
    unit : int
        Bytes that every element address is a multiple of.
    """

    def __init__(self, memory: Bytes, unit: int = 1) -> None:
        self.memory = memory
        self.unit = unit
        size = -(-len(memory) // unit)
        self.values = np.zeros(size, np.float64)
        self.codes = np.zeros(size, np.uint8)
        self._sizes: dict[int, int] = {}

    def actual(self, at: Addresses, dtype: DType) -> NDArray[Any]:
        """Return the elements of ``dtype`` that memory holds at ``at``."""
        raw = self.memory[at[:, None] + np.arange(dtype.itemsize)]
        elements: NDArray[Any] = raw.reshape(-1).view(dtype.numpy)
        return elements

    def raw(self, at: Addresses, size: int) -> NDArray[Any]:
        """Return the bits of the elements of ``size`` bytes at ``at``."""
        taken: NDArray[Any] = self.memory[at[:, None] + np.arange(size)].reshape(-1)
        return taken.view(f"u{size}")

    def write_raw(self, at: Addresses, bits: NDArray[Any]) -> None:
        """Write the bits of elements."""
        size = bits.itemsize
        self.memory[at[:, None] + np.arange(size)] = bits.view(np.uint8).reshape(-1, size)

    def exact(self, at: Addresses, dtype: DType) -> Doubles:
        """Return the exact values at ``at``; where there is none, what memory holds."""
        held = self.actual(at, dtype).astype(np.float64)
        where = at // self.unit
        known = self.codes[where] == code_of(dtype)
        return np.where(known, self.values[where], held)

    def carried(self, at: Addresses) -> tuple[Doubles, Codes]:
        """Return values and type codes at ``at``."""
        where = at // self.unit
        return self.values[where], self.codes[where]

    def put(self, at: Addresses, size: int, values: Doubles, codes: Codes | int) -> None:
        """Set the exact values of elements of ``size`` bytes; code ``NONE`` forgets them."""
        self.forget(at, size)
        where = at // self.unit
        self.values[where] = values
        self.codes[where] = codes
        for code in np.unique(codes):
            if code != NONE:
                self._sizes[int(code)] = max(size, self._sizes.get(int(code), 0))

    def forget(self, at: Addresses, size: int) -> None:
        """Forget the exact values of every element that shares bytes with those at ``at``."""
        for offset in range(0, size, self.unit):
            self.codes[(at + offset) // self.unit] = NONE
        longest = max(self._sizes.values(), default=0)
        if not longest or (longest == size and len(set(self._sizes.values())) == 1):
            return
        for offset in range(self.unit, longest, self.unit):
            before = at - offset
            before = before[before >= 0] // self.unit
            reaching = [code for code, length in self._sizes.items() if length > offset]
            self.codes[before[np.isin(self.codes[before], reaching)]] = NONE
