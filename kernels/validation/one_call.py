"""One vector call on operands at fixed places, for the tables of isolated calls.

The places are those of hw-native-sys/pto-isa tests/costmodel: 0x0, 0x4000 and 0x8000, which lie in
one bank group of the 910B.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

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
REPEAT_BYTES: Final = 256
MAX_REPEATS: Final = 255
TWO_SOURCES: Final = frozenset({"Add", "Sub", "Mul", "Div"})
SCALARS: Final = {"Adds": 1, "Muls": 2, "Mins": 1, "Divs": 2}
"""Scalar argument of the calls that take one."""


@dataclass(frozen=True)
class Call:
    """A call on ``rows`` rows of ``columns`` elements, ``pitch`` elements apart.

    ``dtype`` is an element type, or ``source:destination`` of a conversion.
    """

    name: str
    dtype: str
    rows: int
    columns: int
    pitch: int
    algorithm: str = ""


def is_dense(call: Call) -> bool:
    """Whether the call goes by count: one run of elements.

    The tables' two-source calls go row by row when a row is shorter than a repeat.
    """
    if call.rows == 1:
        return True
    long_rows = call.columns * max(t.itemsize for t in types_of(call)) >= REPEAT_BYTES
    return call.columns == call.pitch and (long_rows or call.name not in TWO_SOURCES)


def is_one_call(call: Call) -> bool:
    """Whether AscendC has one call for it: dense rows, or rows of at most one repeat."""
    row_bytes = call.columns * max(t.itemsize for t in types_of(call))
    return is_dense(call) or (row_bytes <= REPEAT_BYTES and call.rows <= MAX_REPEATS)


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
    """Issue the call: by count when its rows are dense, else a repeat for each row."""
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
    if is_dense(call):
        function(*arguments, call.rows * call.columns, **options)
        return
    blocks = call.pitch * source.itemsize // 32, call.pitch * result.itemsize // 32
    params: Any = (
        BinaryRepeatParams(1, 1, 1, blocks[1], blocks[0], blocks[0])
        if call.name in TWO_SOURCES
        else UnaryRepeatParams(1, 1, blocks[1], blocks[0])
    )
    for first in range(0, call.rows, MAX_REPEATS):
        rows = min(MAX_REPEATS, call.rows - first)
        cut = [a[first * call.pitch] if isinstance(a, LocalTensor) else a for a in arguments]
        function(*cut, call.columns, rows, params, **options)
