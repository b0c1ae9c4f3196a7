"""How closely a result agrees with its reference."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Agreement:
    """Comparison of two float arrays of one type and shape; every NaN equals every NaN.

    Attributes
    ----------
    elements, differing : int
        Number of elements, and of those whose bits differ.
    one_sided_nans : int
        Elements where exactly one side is NaN.
    max_ulp : int
        Largest distance in representable values, one-sided NaNs left out.
    max_abs_error : float
        Largest absolute difference over the elements where both sides are finite.
    worst : tuple, optional
        Index, value got and value expected of the element with the largest distance.
    """

    elements: int
    differing: int
    one_sided_nans: int
    max_ulp: int
    max_abs_error: float
    worst: tuple[tuple[int, ...], float, float] | None

    @property
    def equal(self) -> bool:
        """Whether all elements have the same bits."""
        return self.differing == 0

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"equal": self.equal, **asdict(self)}

    def sentence(self) -> str:
        """Say how the result compares."""
        if self.elements == 0:
            return "empty, as the reference"
        if self.equal:
            elements = "1 element" if self.elements == 1 else f"{self.elements:,} elements"
            return f"equal to the reference, bit for bit ({elements})"
        text = (
            f"differs from the reference in {self.differing:,} of {self.elements:,} elements: "
            f"max {self.max_ulp:,} ulp, max abs error {self.max_abs_error:.3g}"
        )
        if self.one_sided_nans:
            text += f", {self.one_sided_nans:,} NaN on one side only"
        if self.worst is not None:
            index, got, expected = self.worst
            text += f"; worst at {list(index)}: got {got!r}, expected {expected!r}"
        return text


def compare(got: NDArray[Any], expected: NDArray[Any]) -> Agreement:
    """Compare two float arrays of the same type and shape."""
    bits = np.dtype(f"u{got.dtype.itemsize}")
    a, b = np.ascontiguousarray(got).reshape(-1), np.ascontiguousarray(expected).reshape(-1)
    nan_a, nan_b = np.isnan(a), np.isnan(b)
    differ = (a.view(bits) != b.view(bits)) & ~(nan_a & nan_b)
    differing = int(np.count_nonzero(differ))
    if differing == 0:
        return Agreement(a.size, 0, 0, 0, 0.0, None)
    one_sided = nan_a ^ nan_b
    distance = np.abs(_ordered(a, bits) - _ordered(b, bits))
    distance[nan_a | nan_b] = 0
    finite = np.isfinite(a) & np.isfinite(b)
    error = np.abs(a[finite].astype(np.float64) - b[finite].astype(np.float64))
    at = int(np.argmax(np.where(one_sided, np.iinfo(np.int64).max, distance)))
    index = tuple(int(i) for i in np.unravel_index(at, got.shape))
    return Agreement(
        a.size,
        differing,
        int(np.count_nonzero(one_sided)),
        int(distance.max()),
        float(error.max(initial=0.0)),
        (index, float(a[at]), float(b[at])),
    )


def _ordered(values: NDArray[Any], bits: np.dtype[Any]) -> NDArray[np.int64]:
    """Number the floats so that neighbours differ by one; -0 and +0 are neighbours too."""
    raw = values.view(bits).astype(np.int64)
    sign = 1 << (8 * bits.itemsize - 1)
    return np.where(raw < sign, raw, sign - 1 - raw)
