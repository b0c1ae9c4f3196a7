"""Rows in UB: how an input that repeats is fetched, replicated and combined with a dense tile.

A tile is a number of rows, each padded to whole 32-byte blocks. An input that repeats along the
rows is kept as one row; one that is constant along each row as one block per row.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_BURSTS: Final = 4095
MAX_REPEATS: Final = 255
MAX_STRIDE: Final = 255
BLOCKS_PER_REPEAT: Final = 8


class Kind(NamedTuple):
    """Along what an input varies inside a tile."""

    rows: bool
    columns: bool

    @property
    def is_dense(self) -> bool:
        """Whether it is stored like the tile itself."""
        return self.rows and self.columns


def kind_of(length: Sequence[int], strides: Sequence[int]) -> Kind:
    """Return along what an input with these strides varies in a box of these lengths."""
    rows = any(step and dim > 1 for step, dim in zip(strides[:-1], length[:-1], strict=True))
    many = math.prod(length[:-1]) > 1
    columns = strides[-1] != 0
    # A single row is the whole tile, so an input that varies along it is dense.
    return Kind(rows or (columns and not many), columns)


class Burst(NamedTuple):
    """Rows ``row .. row + rows`` of UB from GM elements ``offset``, ``step`` apart."""

    row: int
    rows: int
    offset: int
    step: int


class Repeat(NamedTuple):
    """``times`` copies of ``rows`` rows, the first of which is there already, from ``row`` on."""

    row: int
    rows: int
    times: int


def fetch_plan(
    length: Sequence[int], strides: Sequence[int], offset: int
) -> tuple[list[Burst], list[Repeat]]:
    """Return the copies from GM and the replications in UB that fill the rows of a box.

    ``length`` and ``strides`` are those of the row axes only. Replications are in the order in
    which they must be done.
    """
    bursts: list[Burst] = []
    repeats: list[Repeat] = []
    _fill(_joined(length, strides), 0, offset, bursts, repeats)
    return bursts, repeats


def _joined(length: Sequence[int], strides: Sequence[int]) -> list[tuple[int, int]]:
    axes: list[tuple[int, int]] = []
    for dim, step in zip(length, strides, strict=True):
        if dim == 1:
            continue
        if axes and axes[-1][1] == dim * step:
            axes[-1] = (axes[-1][0] * dim, step)
        else:
            axes.append((dim, step))
    return axes


def _fill(
    axes: Sequence[tuple[int, int]],
    row: int,
    offset: int,
    bursts: list[Burst],
    repeats: list[Repeat],
) -> None:
    if not axes:
        bursts.append(Burst(row, 1, offset, 0))
        return
    (dim, step), rest = axes[0], axes[1:]
    inside = math.prod(d for d, _ in rest)
    if step == 0:
        _fill(rest, row, offset, bursts, repeats)
        repeats.append(Repeat(row, inside, dim))
    elif not rest:
        bursts.extend(
            Burst(row + at, min(MAX_BURSTS, dim - at), offset + at * step, step)
            for at in range(0, dim, MAX_BURSTS)
        )
    else:
        for index in range(dim):
            _fill(rest, row + index * inside, offset + index * step, bursts, repeats)


class Strided(NamedTuple):
    """One mask-form call: where it starts in blocks, on the tile and on the compact operand."""

    tile: int
    operand: int
    blocks: int
    repeats: int
    tile_step: int
    operand_block: int
    operand_step: int


def strided_calls(rows: int, row_blocks: int, kind: Kind, per_row: int) -> Iterator[Strided]:
    """Cut an operation of a dense tile with a compact operand into mask-form calls.

    ``per_row`` is the number of blocks of an operand that is constant along rows. Steps are between
    repeats, in blocks.
    """
    across = kind.columns
    if rows > 1 and row_blocks <= MAX_STRIDE:
        # One repeat per row; the calls walk along the row.
        step = 0 if across or not kind.rows else per_row
        for column in range(0, row_blocks, BLOCKS_PER_REPEAT):
            blocks = min(BLOCKS_PER_REPEAT, row_blocks - column)
            for row in range(0, rows, MAX_REPEATS):
                yield Strided(
                    row * row_blocks + column,
                    column if across else row * step,
                    blocks,
                    min(MAX_REPEATS, rows - row),
                    row_blocks,
                    int(across),
                    step,
                )
        return
    for row in range(rows):
        start = 0 if across or not kind.rows else row * per_row
        for column, blocks, repeats in _along(row_blocks):
            yield Strided(
                row * row_blocks + column,
                column if across else start,
                blocks,
                repeats,
                BLOCKS_PER_REPEAT,
                int(across),
                BLOCKS_PER_REPEAT if across else 0,
            )


def _along(row_blocks: int) -> Iterator[tuple[int, int, int]]:
    """First block, blocks per repeat and repeats of the calls along one row."""
    whole, rest = divmod(row_blocks, BLOCKS_PER_REPEAT)
    for at in range(0, whole, MAX_REPEATS):
        yield at * BLOCKS_PER_REPEAT, BLOCKS_PER_REPEAT, min(MAX_REPEATS, whole - at)
    if rest:
        yield whole * BLOCKS_PER_REPEAT, rest, 1
