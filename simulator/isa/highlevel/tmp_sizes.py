"""Sizes of temporary buffers, as host code asks for them.

``GetSinMaxMinTmpSize(srcShape, typeSize, isReuseSource)`` returns (maxValue, minValue) in bytes:
more than ``maxValue`` is of no use, less than ``minValue`` is refused. Factors from
mirror-cann/asc-devkit impl/adv_api/tiling.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Shape = Sequence[int] | int
    Sizes = Callable[..., "TmpSize"]

_REPEAT: Final = 256
_BLOCK: Final = 32
_HALF: Final = 2
_FLOAT: Final = 4


class TmpSize(NamedTuple):
    """Bytes of a temporary buffer."""

    maxValue: int
    minValue: int


def _elements(api: str, shape: Shape, type_size: int, sizes: tuple[int, ...]) -> int:
    count = shape if isinstance(shape, int) else prod(shape)
    if count <= 0 or type_size not in sizes:
        raise ArgumentError(
            "the shape has elements, and typeSize is the size of an element type of the call",
            api=api,
            got=f"srcShape {shape!r}, typeSize {type_size!r}",
            legal=f"at least one element; typeSize {' or '.join(map(str, sizes))}",
            source="mirror-cann/asc-devkit impl/adv_api/tiling",
        )
    return count


def _by_factor(api: str, half: int, single: int, reuse: int | None = None) -> Sizes:
    """Return the function of a call that needs ``half`` or ``single`` times its source.

    ``reuse`` is the factor of float when the source may be overwritten.
    """
    name = f"Get{api}MaxMinTmpSize"

    def sizes(srcShape: Shape, typeSize: int, isReuseSource: bool = False) -> TmpSize:
        count = _elements(name, srcShape, typeSize, (_HALF, _FLOAT))
        factor = half if typeSize == _HALF else single
        if isReuseSource and reuse is not None and typeSize == _FLOAT:
            factor = reuse
        return TmpSize(factor * max(count * typeSize, _REPEAT), factor * _REPEAT)

    sizes.__name__ = sizes.__qualname__ = name
    sizes.__doc__ = f"Return (maxValue, minValue), the bytes of the temporary buffer of {api}."
    return sizes


GetAcosMaxMinTmpSize = _by_factor("Acos", 6, 2)
GetAsinMaxMinTmpSize = _by_factor("Asin", 6, 2)
GetAtanMaxMinTmpSize = _by_factor("Atan", 12, 5)
GetCeilMaxMinTmpSize = _by_factor("Ceil", 2, 1)
GetCosMaxMinTmpSize = _by_factor("Cos", 8, 3, 2)
GetCoshMaxMinTmpSize = _by_factor("Cosh", 6, 2)
GetErfMaxMinTmpSize = _by_factor("Erf", 8, 3)
GetFloorMaxMinTmpSize = _by_factor("Floor", 2, 0)
GetFracMaxMinTmpSize = _by_factor("Frac", 4, 0)
GetLog10MaxMinTmpSize = _by_factor("Log10", 0, 0)
GetLogMaxMinTmpSize = _by_factor("Log", 0, 0)
GetRoundMaxMinTmpSize = _by_factor("Round", 1, 0)
GetSigmoidMaxMinTmpSize = _by_factor("Sigmoid", 1, 1)
GetSignMaxMinTmpSize = _by_factor("Sign", 3, 3)
GetSinMaxMinTmpSize = _by_factor("Sin", 8, 3, 2)
GetSinhMaxMinTmpSize = _by_factor("Sinh", 4, 1)
GetTanhMaxMinTmpSize = _by_factor("Tanh", 4, 1)
GetTruncMaxMinTmpSize = _by_factor("Trunc", 2, 1)

GetXorMaxMinTmpSize = _by_factor("Xor", 1, 1)


def GetLog2MaxMinTmpSize(srcShape: Shape, typeSize: int, isReuseSource: bool = False) -> TmpSize:
    """Return (maxValue, minValue), the bytes of the temporary buffer of Log2."""
    count = _elements("GetLog2MaxMinTmpSize", srcShape, typeSize, (_HALF, _FLOAT))
    if typeSize == _FLOAT:
        return TmpSize(0, 0)
    return TmpSize(max(count * _FLOAT, _REPEAT), _REPEAT)


def GetGeluMaxMinTmpSize(srcShape: Shape, typeSize: int) -> TmpSize:
    """Return (maxValue, minValue), the bytes of the temporary buffer of Gelu and FasterGelu."""
    count = _elements("GetGeluMaxMinTmpSize", srcShape, typeSize, (_HALF, _FLOAT))
    return TmpSize(3 * max(count * _FLOAT, _REPEAT), 3 * _REPEAT)


def GetClampMaxMinTmpSize(srcShape: Shape, typeSize: int, isReuseSource: bool = False) -> TmpSize:
    """Return (maxValue, minValue), the bytes of the temporary buffer of ClampMax and ClampMin."""
    count = _elements("GetClampMaxMinTmpSize", srcShape, typeSize, (_HALF, _FLOAT))
    least = _REPEAT // typeSize
    return TmpSize(max(count, least), least)


def GetSumMaxMinTmpSize(n: int, typeSize: int, isReuseSource: bool = False) -> TmpSize:
    """Return (maxValue, minValue), the bytes of the temporary buffer of Sum for rows of ``n``."""
    _elements("GetSumMaxMinTmpSize", n, typeSize, (_HALF, _FLOAT))
    repeats = -(-n // (_REPEAT // typeSize))
    nbytes = -(-repeats * typeSize // _BLOCK) * _BLOCK
    return TmpSize(nbytes, nbytes)


def GetMeanMaxMinTmpSize(
    n: int, srcTypeSize: int, accTypeSize: int, isReuseSource: bool = False
) -> TmpSize:
    """Return (maxValue, minValue), the bytes of the temporary buffer of Mean for rows of ``n``.

    The library rounds the number of repeats up to 32 and takes that for bytes.
    """
    _elements("GetMeanMaxMinTmpSize", n, srcTypeSize, (_HALF, _FLOAT))
    _elements("GetMeanMaxMinTmpSize", n, accTypeSize, (srcTypeSize, _FLOAT))
    widened = srcTypeSize != accTypeSize
    repeats = -(-n // (_REPEAT // accTypeSize))
    nbytes = -(-repeats // _BLOCK) * _BLOCK
    if widened:
        inner = -(-n * srcTypeSize // _BLOCK) * _BLOCK // srcTypeSize
        nbytes += inner * _FLOAT
    return TmpSize(nbytes, nbytes)


_POWER: Final = {
    # (integer, typeSize): factors for two tensors and for a tensor and a scalar.
    (False, _HALF): (14, 14),
    (False, _FLOAT): (4, 5),
    (True, _FLOAT): (6, 7),
}


def GetPowerMaxMinTmpSize(
    srcShape1: Shape,
    srcShape2: Shape,
    typeIsInt: bool,
    typeSize: int,
    isReuseSource: bool = False,
) -> TmpSize:
    """Return (maxValue, minValue), the bytes of the temporary buffer of Power on 910B.

    A shape of one element stands for a scalar.
    """
    name = "GetPowerMaxMinTmpSize"
    sizes = (_FLOAT,) if typeIsInt else (_HALF, _FLOAT)
    counts = [_elements(name, shape, typeSize, sizes) for shape in (srcShape1, srcShape2)]
    scalar = 1 in counts
    factor = _POWER[bool(typeIsInt), typeSize][scalar]
    count = counts[0] if counts[0] != 1 else counts[1]
    constants = 0 if typeIsInt else _REPEAT
    least = _REPEAT if typeSize == _FLOAT else _REPEAT // 2
    return TmpSize(factor * max(count * typeSize, least) + constants, factor * least + constants)
