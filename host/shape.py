"""``Shape`` and ``StorageShape`` as infershape and tiling functions see them (gert::Shape)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

UNKNOWN_DIM: Final = -1
UNKNOWN_RANK: Final = (-2,)


class Shape:
    """Dimensions of a tensor, changed in place by an infershape function.

    A dim of -1 is unknown; the single dim -2 stands for an unknown rank; no dims at all is rank 0,
    which has one element.
    """

    def __init__(self, dims: Iterable[int] = ()) -> None:
        self._dims = [int(d) for d in dims]

    def GetDimNum(self) -> int:
        """Rank."""
        return len(self._dims)

    def GetDim(self, index: int) -> int:
        """Dim at ``index``."""
        return self._dims[index]

    def GetShapeSize(self) -> int:
        """Element count: the product of all dims, 1 for rank 0."""
        return math.prod(self._dims)

    def SetDim(self, index: int, value: int) -> None:
        """Replace one dim."""
        self._dims[index] = int(value)

    def SetDimNum(self, count: int) -> None:
        """Set the rank; new dims are 0."""
        self._dims = (self._dims + [0] * count)[:count]

    def AppendDim(self, value: int) -> None:
        """Add a last dim."""
        self._dims.append(int(value))

    def IsScalar(self) -> bool:
        """Whether the rank is 0."""
        return not self._dims

    def assign(self, other: Iterable[int]) -> None:
        """Copy all dims of another shape, as ``*out = *in`` does in C++."""
        self._dims = [int(d) for d in other]

    def __iter__(self) -> Iterator[int]:
        return iter(self._dims)

    def __len__(self) -> int:
        return len(self._dims)

    def __getitem__(self, index: int) -> int:
        return self._dims[index]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Shape | tuple | list):
            return self._dims == list(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # mutable: no key

    def __repr__(self) -> str:
        return str(self._dims)


class StorageShape:
    """Origin and storage shape of a tensor; the two differ for private formats only."""

    def __init__(self, origin: Iterable[int], storage: Iterable[int] | None = None) -> None:
        self._origin = Shape(origin)
        self._storage = Shape(self._origin if storage is None else storage)

    def GetOriginShape(self) -> Shape:
        """Shape that the operator's formula speaks of."""
        return self._origin

    def GetStorageShape(self) -> Shape:
        """Shape of the data in memory."""
        return self._storage
