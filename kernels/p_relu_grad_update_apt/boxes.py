"""Tiles of a collapsed shape: a chunk of one axis with all axes behind it.

Source: hicann/opbase pkg_inc/op_common/atvoss/util/broadcast_utils.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kernels.p_relu_grad_update_apt.tiling_data import BroadcastTilingData


class Box(NamedTuple):
    """One tile: its chunk's number and length on the cut axis, and where it starts on each axis."""

    chunk: int
    length: int
    start: tuple[int, ...]


def boxes_of(tiling: BroadcastTilingData, block: int, blocks: int) -> Iterator[Box]:
    """Tiles of one block, in order."""
    loops = tiling.blockTail if block == blocks - 1 else tiling.blockFormer
    axis, dims = tiling.ubSplitAxis, tiling.outputDims
    for number in range(block * tiling.blockFormer, block * tiling.blockFormer + loops):
        rest, chunk = divmod(number, tiling.ubOuter)
        start = [0] * (axis + 1)
        start[axis] = chunk * tiling.ubFormer
        for outer in range(axis - 1, -1, -1):
            rest, start[outer] = divmod(rest, dims[outer])
        is_tail = chunk == tiling.ubOuter - 1
        yield Box(chunk, tiling.ubTail if is_tail else tiling.ubFormer, tuple(start))


def offset_of(box: Box, strides: Sequence[int]) -> int:
    """Element offset of a tile in a tensor with these strides."""
    return sum(at * step for at, step in zip(box.start, strides, strict=False))
