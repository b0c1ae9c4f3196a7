"""Tiling struct of PReluGradReduce on 910B, and the tiles that follow from it.

This is not a published struct: the 910B implementation of the operator is this simulator's own. How
the data is cut depends on the shape alone, never on the number of cores, and so does the order of
the sum.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from kernels.tiling_struct import Int, TilingData

TILE: Final = 16384
"""Elements of the largest tile in UB."""

REPEAT_ELEMENTS: Final = 64
"""Floats of one repeat."""

COLUMNS: Final = 1024
"""Channels of a tile when the channel is the last axis."""

GATHERED: Final = 64
"""Channels of a tile of partial sums."""

BLOCK: Final = 32
FLOAT_BLOCK: Final = 8
"""Floats of a 32-byte block."""

MAX_RESULTS: Final = TILE // FLOAT_BLOCK


class PReluGradReduceTilingData(TilingData):
    """Data as [outer, channels, inner], of which one number per channel is wanted.

    A tile has ``outerTile`` x ``channelTile`` x ``innerTile`` elements and gives one partial sum
    per channel. ``groups`` partial sums make up a channel; ``tiles`` are dealt to the blocks,
    ``blockFormer`` to each.
    """

    outer = Int("int64_t")
    channels = Int("int64_t")
    inner = Int("int64_t")
    outerTile = Int("int64_t")
    channelTile = Int("int64_t")
    innerTile = Int("int64_t")
    groups = Int("int64_t")
    tiles = Int("int64_t")
    blockFormer = Int("int64_t")


class Tile(NamedTuple):
    """One tile: its group, and first index and length on each axis."""

    group: int
    outer: int
    outers: int
    channel: int
    channels: int
    inner: int
    inners: int


def tile_of(data: PReluGradReduceTilingData, number: int) -> Tile:
    """Return tile ``number``; the channel chunks of a group follow one another."""
    group, chunk = divmod(number, -(-data.channels // data.channelTile))
    channel = chunk * data.channelTile
    segments = -(-data.inner // data.innerTile)
    outer, segment = divmod(group, segments)
    outer *= data.outerTile
    inner = segment * data.innerTile
    return Tile(
        group,
        outer,
        min(data.outerTile, data.outer - outer),
        channel,
        min(data.channelTile, data.channels - channel),
        inner,
        min(data.innerTile, data.inner - inner),
    )
