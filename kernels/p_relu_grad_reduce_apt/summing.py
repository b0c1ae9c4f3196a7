"""Sums of tiles in UB on 950, as binary trees in float.

The published operator calls the library's pattern reductions (``ReduceSum`` of patterns AR and RA),
whose order of additions inside a tile is not documented; here it is the one below. Vector calls
follow one another in order on 950, so there is no barrier between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.ascendc import Add, BinaryRepeatParams, DataCopy, WholeReduceSum

if TYPE_CHECKING:
    from simulator.ascendc import LocalTensor

FLOAT_BLOCK: Final = 8
LANES: Final = 64
_MAX_REPEATS: Final = 255
_MAX_STRIDE: Final = 255


def sum_over_rows(result: LocalTensor, data: LocalTensor, rows: int, pitch: int) -> None:
    """``result[i]`` = sum of element ``i`` of all rows; ``data`` is overwritten.

    Rows beyond the largest power of two are added to the first ones, then halves to each other.
    """
    main = 1 << rows.bit_length() - 1
    if main < rows:
        Add(data, data, data[main * pitch], (rows - main) * pitch)
    while main > 2:
        main //= 2
        Add(data, data, data[main * pitch], main * pitch)
    if main == 2:
        Add(result, data, data[pitch], pitch)
    else:
        DataCopy(result, data, pitch)


def sum_along_rows(
    result: LocalTensor, data: LocalTensor, rows: int, pitch: int, length: int
) -> None:
    """``result[r]`` = sum of the first ``length`` elements of row ``r``; overwrites ``data``.

    The second half of the rows is added to the first until one register is left, which one
    instruction reduces.
    """
    while length > LANES:
        half = -(-length // (2 * FLOAT_BLOCK)) * FLOAT_BLOCK
        _fold(data, rows, pitch, half, length - half)
        length = half
    blocks = pitch // FLOAT_BLOCK
    for row in range(0, rows, _MAX_REPEATS):
        repeats = min(_MAX_REPEATS, rows - row)
        WholeReduceSum(result[row], data[row * pitch], length, repeats, 1, 1, blocks)


def add_rows(target: LocalTensor, other: LocalTensor, rows: int, pitch: int, length: int) -> None:
    """Add the first ``length`` elements of every row of ``other`` to ``target``."""
    if length == pitch or rows == 1:
        Add(target, target, other, (rows - 1) * pitch + length)
        return
    for row in range(rows):
        start = target[row * pitch]
        Add(start, start, other[row * pitch], length)


def _fold(data: LocalTensor, rows: int, pitch: int, half: int, count: int) -> None:
    """Add elements ``half .. half + count`` of every row to its first ``count``."""
    blocks = pitch // FLOAT_BLOCK
    if rows == 1 or blocks > _MAX_STRIDE:
        for row in range(rows):
            start = data[row * pitch]
            Add(start, start, data[row * pitch + half], count)
        return
    params = BinaryRepeatParams(1, 1, 1, blocks, blocks, blocks)
    for column in range(0, count, LANES):
        lanes = min(LANES, count - column)
        for row in range(0, rows, _MAX_REPEATS):
            at = row * pitch + column
            repeats = min(_MAX_REPEATS, rows - row)
            Add(data[at], data[at], data[at + half], lanes, repeats, params)
