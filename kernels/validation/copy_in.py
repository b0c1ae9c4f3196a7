"""Copies from global memory alone: tile shape, cut rows, reuse in L2, cores on one address.

A matrix of half elements is read tile by tile into one UB buffer; nothing waits. Loops after
mirror-cann/asc-devkit examples/01_simd_cpp_api/05_best_practices/04_memory_access/data_copy/
data_copy_ub.h.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulator.ascendc import (
    PIPE_ALL,
    DataCopyExtParams,
    DataCopyPad,
    DataCopyPadExtParams,
    GetBlockIdx,
    GetBlockNum,
    GlobalTensor,
    LocalTensor,
    PipeBarrier,
    TPosition,
    half,
    kernel,
)
from simulator.enums import CacheMode

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR


@dataclass(frozen=True)
class CopyTiling:
    """The matrix, the tile, and in what order it is read.

    Attributes
    ----------
    rows, columns, tile_rows, tile_columns : int
    slices : int
        The columns are cut into so many slices, read one after another.
    repeats : int
        How often a slice is read before the next.
    """

    rows: int
    columns: int
    tile_rows: int
    tile_columns: int
    slices: int = 1
    repeats: int = 1


class Reader:
    """Reads tiles of the matrix into UB, always to the same place."""

    def __init__(self, source: GM_ADDR, tiling: CopyTiling) -> None:
        self.tiling = tiling
        self.gm = GlobalTensor(half)
        self.gm.SetGlobalBuffer(source, tiling.rows * tiling.columns)
        pitch = -(-tiling.tile_columns // 16) * 16
        self.ub = LocalTensor(half, TPosition.VECIN, 0, tiling.tile_rows * pitch)
        self.padding = DataCopyPadExtParams()

    def tile(self, row: int, column: int, columns: int) -> None:
        """Read one tile."""
        params = DataCopyExtParams(
            self.tiling.tile_rows,
            columns * half.itemsize,
            (self.tiling.columns - columns) * half.itemsize,
        )
        DataCopyPad(self.ub, self.gm[row * self.tiling.columns + column], params, self.padding)

    def band(self, row: int, rows: int, first: int, last: int) -> None:
        """Read columns ``first`` to ``last`` of some rows, tile by tile."""
        wide = self.tiling.tile_columns
        for tile_row in range(row, row + rows, self.tiling.tile_rows):
            for column in range(first, last, wide):
                self.tile(tile_row, column, min(wide, last - column))


@kernel
def copy_in(source: GM_ADDR, tiling: CopyTiling) -> None:
    """Read the rows of this block, slice by slice, each slice ``repeats`` times."""
    reader = Reader(source, tiling)
    rows = tiling.rows // GetBlockNum()
    width = tiling.columns // tiling.slices
    for part in range(tiling.slices):
        for _ in range(tiling.repeats):
            reader.band(GetBlockIdx() * rows, rows, part * width, (part + 1) * width)
    PipeBarrier(PIPE_ALL)


@kernel
def copy_all(source: GM_ADDR, tiling: CopyTiling, rotate: bool) -> None:
    """Read the whole matrix with every block, in the same order or in a rotated one."""
    reader = Reader(source, tiling)
    reader.gm.SetL2CacheHint(CacheMode.CACHE_MODE_DISABLE)
    blocks = GetBlockNum()
    rows = tiling.rows // blocks
    for number in range(blocks):
        band = (number + GetBlockIdx()) % blocks if rotate else number
        reader.band(band * rows, rows, 0, tiling.columns)
    PipeBarrier(PIPE_ALL)
