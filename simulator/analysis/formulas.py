"""What vector calls mean on real numbers, for carrying exact values beside a kernel's tensors.

``FORMULAS[name](old, *sources, *scalars)`` works on float64 arrays; ``old`` is what the destination
held. These are the mathematical definitions, without rounding, clamping or flushing. Calls that
move elements without changing them are in ``MOVES``.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]


def _relu(x: Any) -> Any:
    return np.maximum(x, 0.0)


def _leaky(x: Any, slope: Any) -> Any:
    return np.where(np.signbit(x), x * slope, x)


FORMULAS: Final[MappingProxyType[str, Callable[..., Any]]] = MappingProxyType(
    {
        "Add": lambda old, a, b: a + b,
        "Sub": lambda old, a, b: a - b,
        "Mul": lambda old, a, b: a * b,
        "Div": lambda old, a, b: a / b,
        "Max": lambda old, a, b: np.maximum(a, b),
        "Min": lambda old, a, b: np.minimum(a, b),
        "Adds": lambda old, a, s: a + s,
        "Subs": lambda old, a, s: a - s,
        "Muls": lambda old, a, s: a * s,
        "Divs": lambda old, a, s: a / s,
        "Maxs": lambda old, a, s: np.maximum(a, s),
        "Mins": lambda old, a, s: np.minimum(a, s),
        "LeakyRelu": lambda old, a, s: _leaky(a, s),
        "Prelu": lambda old, a, b: _leaky(a, b),
        "Axpy": lambda old, a, s: old + a * s,
        "MulAddDst": lambda old, a, b: old + a * b,
        "FusedMulAdd": lambda old, a, b: a * old + b,
        "MulAddRelu": lambda old, a, b: _relu(a * old + b),
        "AddRelu": lambda old, a, b: _relu(a + b),
        "SubRelu": lambda old, a, b: _relu(a - b),
        "AddReluCast": lambda old, a, b: _relu(a + b),
        "SubReluCast": lambda old, a, b: _relu(a - b),
        "MulCast": lambda old, a, b: a * b,
        "MulsCast": lambda old, a, s: a * s,
        "AbsSub": lambda old, a, b: np.abs(a - b),
        "ExpSub": lambda old, a, b: np.exp(a - b),
        "Abs": lambda old, a: np.abs(a),
        "Neg": lambda old, a: -a,
        "Relu": lambda old, a: _relu(a),
        "Exp": lambda old, a: np.exp(a),
        "Ln": lambda old, a: np.log(a),
        "Sqrt": lambda old, a: np.sqrt(a),
        "Rsqrt": lambda old, a: 1.0 / np.sqrt(a),
        "Reciprocal": lambda old, a: 1.0 / a,
        "Cast": lambda old, a: a,
    }
)

MOVES: Final = frozenset(
    {
        "Brcb", "Broadcast", "Copy", "DataCopy", "DataCopyPad", "DataCopy[ND2NZ]",
        "DataCopy[NDDMA]", "DataCopy[NZ2ND]", "DataCopy[SliceInfo]", "DeInterleave", "Gather",
        "GatherMask", "Gatherb", "Interleave", "Scatter", "Select", "TransDataTo5HD", "Transpose",
    }
)  # fmt: skip

SUMS: Final = frozenset(
    {"BlockReduceSum", "PairReduceSum", "ReduceSum", "RepeatReduceSum", "WholeReduceSum"}
)


def grouped_sum(source: Doubles, count: int) -> Doubles | None:
    """Return the sums of ``count`` equal groups of lanes in a row; None if they are not equal."""
    if not count or len(source) % count:
        return None
    total: Doubles = source.reshape(count, -1).sum(axis=1)
    return total
