"""One vector call or tile operation on operands at fixed places, for the tables of such calls.

The places are those of hw-native-sys/pto-isa tests/costmodel: 0x0, 0x4000 and 0x8000, which lie in
one bank group of the 910B.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simulator import ascendc
from simulator.ascendc import (
    BinaryRepeatParams,
    LocalTensor,
    RoundMode,
    TPosition,
    UnaryRepeatParams,
    kernel,
)
from simulator.dtypes import BY_NAME

if TYPE_CHECKING:
    from simulator.dtypes import DType

PLACES: Final = (0x0, 0x4000, 0x8000)
TWO_SOURCES: Final = frozenset({"Add", "Sub", "Mul", "Div"})
SCALARS: Final = {"Adds": 1, "Muls": 2, "Mins": 1, "Divs": 2}
"""Scalar argument of the calls that take one."""


class Piece(NamedTuple):
    """A part of a tile that one call does: ``repeats`` of ``mask`` elements, ``stride`` apart."""

    first: int
    mask: int
    repeats: int
    stride: int


@dataclass(frozen=True)
class Call:
    """A call on ``rows`` rows of ``columns`` elements, ``pitch`` elements apart.

    ``dtype`` is an element type, or ``source:destination`` of a conversion. With ``pieces``, the
    rows are done by a call of mask and repeats for each; without, by one call by count.
    """

    name: str
    dtype: str
    rows: int
    columns: int
    pitch: int
    algorithm: str = ""
    pieces: tuple[Piece, ...] = ()


def types_of(call: Call) -> tuple[DType, DType]:
    """Element types of sources and result."""
    source, _, result = call.dtype.partition(":")
    return BY_NAME[source], BY_NAME[result or source]


def _round_mode(source: DType, result: DType) -> RoundMode:
    if result.name == "hifloat8_t":
        return RoundMode.CAST_ROUND
    exact = result.bits > source.bits and source.name != "int32_t"
    return RoundMode.CAST_NONE if exact else RoundMode.CAST_RINT


@kernel
def one_call(call: Call) -> None:
    """Issue the call by count, or its pieces."""
    source, result = types_of(call)
    size = call.rows * call.pitch
    places = [LocalTensor(source, TPosition.VECCALC, place, size) for place in PLACES]
    out = LocalTensor(result, TPosition.VECCALC, PLACES[2], size)
    arguments: list[Any] = [out, places[0]]
    if call.name in TWO_SOURCES:
        arguments.append(places[1])
    if call.name in SCALARS:
        arguments.append(SCALARS[call.name])
    if call.name == "Cast":
        arguments.append(_round_mode(source, result))
    options: dict[str, Any] = {}
    if call.algorithm:
        config, kind = getattr(ascendc, f"{call.name}Config"), getattr(ascendc, f"{call.name}Algo")
        options["config"] = config(getattr(kind, call.algorithm))
    function = getattr(ascendc, call.name)
    if not call.pieces:
        function(*arguments, call.rows * call.columns, **options)
    for piece in call.pieces:
        to, of = piece.stride * result.itemsize // 32, piece.stride * source.itemsize // 32
        params: Any = (
            BinaryRepeatParams(1, 1, 1, to, of, of)
            if call.name in TWO_SOURCES
            else UnaryRepeatParams(1, 1, to, of)
        )
        cut = [a[piece.first] if isinstance(a, LocalTensor) else a for a in arguments]
        function(*cut, piece.mask, piece.repeats, params, **options)
