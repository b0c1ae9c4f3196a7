"""Which type every byte of the unified buffer was last written as.

Calls that compute leave their own type. Moves pass the type of what they move on. Bits that may
have been made for another view have none: what logic, shifts, integer fills and integer arithmetic
on anything but integers leave, masks, and copies of integers from global memory whose array holds
something else or is not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.dtypes import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from simulator.analysis.numbers.fields import Field
    from simulator.dtypes import DType
    from simulator.memory import Allocation

ANY: Final = 0
"""Bits without a type."""

_BY_CODE: Final = {dtype.code + 1: dtype for dtype in BY_NAME.values()}


class Origins:
    """The types of the bytes of one block's unified buffer."""

    def __init__(self, ub_bytes: int) -> None:
        self.codes: NDArray[np.uint8] = np.zeros(ub_bytes, np.uint8)

    def wrote(self, target: Field) -> None:
        """Take note of results of the operand's type."""
        self.codes[target.where] = target.dtype.code + 1

    def wrote_bits(self, target: Field) -> None:
        """Take note of bits that have no type."""
        self.codes[target.where] = ANY

    def moved(self, target: Field, sources: Iterable[Field]) -> None:
        """Take note of a call that moves elements without changing them."""
        kinds = {self._only(source) for source in sources}
        self.codes[target.where] = kinds.pop() if len(kinds) == 1 else ANY

    def counted(self, target: Field, sources: Iterable[Field]) -> None:
        """Take note of integer results: integers if all sources are integers of this type."""
        code = target.dtype.code + 1
        pure = all(self._only(source) == source.dtype.code + 1 for source in sources)
        self.codes[target.where] = code if pure else ANY

    def loaded(self, target: Field, allocation: Allocation) -> None:
        """Take note of a copy from global memory."""
        if target.dtype.is_float or _element_type(allocation) == target.dtype.numpy:
            self.wrote(target)
        else:
            self.wrote_bits(target)

    def others(self, source: Field) -> NDArray[np.int64]:
        """Return the elements whose bytes were last written as another type."""
        codes = self.codes[source.where]
        code = source.dtype.code + 1
        if not np.count_nonzero(codes != code):
            return _NOWHERE
        first = codes[:: source.size]
        return np.flatnonzero((first != code) & (first != ANY))

    def type_of(self, source: Field, at: int) -> DType:
        """Return the type that element ``at`` of an operand was written as."""
        return _BY_CODE[int(self.codes[source.starts[at]])]

    def codes_of(self, source: Field, at: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return the type codes of some elements."""
        return self.codes[source.starts[at]]

    def _only(self, source: Field) -> int:
        codes = self.codes[source.where]
        if not len(codes):
            return ANY
        first = int(codes[0])
        return ANY if np.count_nonzero(codes != first) else first


_NOWHERE: Final = np.zeros(0, np.int64)


def is_integer_code(codes: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which type codes are those of integers."""
    return _INTEGER[codes]


_INTEGER: Final = np.array(
    [code in _BY_CODE and _BY_CODE[code].kind in "iub" for code in range(256)]
)


def _element_type(allocation: Allocation) -> Any:
    """Return the element type of the array behind global memory; None if it has none."""
    found = getattr(allocation.owner, "dtype", None)
    return None if found is None or found == np.uint8 else found
