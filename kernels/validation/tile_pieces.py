"""Which instructions of the 910B a tile operation of pto-isa consists of.

Source: hw-native-sys/pto-isa include/pto/npu/a2a3/TUnaryOp.hpp, TBinOp.hpp, TBinSOp.hpp and
TCvt.hpp, for tiles whose size is known at run time only, as those of tests/costmodel/st are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kernels.validation.one_call import SCALARS, TWO_SOURCES, Call, Piece, types_of

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_REPEATS: Final = 255
_REPEAT_BYTES: Final = 256


def pieces_of(call: Call) -> tuple[Piece, ...]:
    """Return the calls of mask and repeats that do a tile, in their order.

    Calls with a scalar go down the tile, a column of one repeat's width at a time, unless it is
    wider in repeats than high: then row by row, as conversions do. Other calls take a dense tile
    as one run, but two-source calls go row by row if a row is shorter than a repeat.
    """
    lanes = _REPEAT_BYTES // max(dtype.itemsize for dtype in types_of(call))
    if call.name in SCALARS:
        wide = call.rows < call.columns // lanes + 1
        return tuple(_by_row(call, lanes) if wide else _by_column(call, lanes))
    if call.name == "Cast":
        return tuple(_by_row(call, lanes))
    if call.name in TWO_SOURCES and call.columns < lanes:
        return tuple(_by_column(call, lanes))
    return tuple(_one_run(call, lanes))


def _by_row(call: Call, lanes: int) -> Iterator[Piece]:
    """Yield the pieces of each row: its whole repeats, then the rest under a mask."""
    full, rest = divmod(call.columns, lanes)
    for row in range(call.rows):
        if full:
            yield Piece(row * call.pitch, lanes, full, lanes)
        if rest:
            yield Piece(row * call.pitch + full * lanes, rest, 1, lanes)


def _by_column(call: Call, lanes: int) -> Iterator[Piece]:
    """Yield columns of one repeat's width, each a repeat for each row."""
    for column in range(0, call.columns, lanes):
        for row in range(0, call.rows, MAX_REPEATS):
            yield Piece(
                row * call.pitch + column,
                min(lanes, call.columns - column),
                min(MAX_REPEATS, call.rows - row),
                call.pitch,
            )


def _one_run(call: Call, lanes: int) -> Iterator[Piece]:
    """Yield a dense tile as one run: its whole repeats, then the rest under a mask."""
    full, rest = divmod(call.rows * call.columns, lanes)
    if full:
        yield Piece(0, lanes, full, lanes)
    if rest:
        yield Piece(full * lanes, rest, 1, lanes)
