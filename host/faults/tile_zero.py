"""tile.zero: a tiling function divides by a value that came out as 0.

With rows wider than the unified buffer not one fits a tile, and the number of tiles is a division
by zero. The host program crashes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from host.contexts import TensorDesc, TilingContext
from host.datatypes import DataType
from host.platform_ascendc import CoreMemType, PlatformAscendC, PlatformInfo
from host.tiling import decide
from kernels.tiling_struct import Int, TilingData
from simulator.platforms import load_platform

if TYPE_CHECKING:
    from host.status import GraphStatus

CODE = "tile.zero"


def broken() -> None:
    """Divide by the rows of a tile."""

    def tiling(context: TilingContext) -> GraphStatus:
        rows, width = _sizes(context)
        tile = _room(context) // width
        return _set(context, -(-rows // tile))

    decide(tiling, _context())


def fixed() -> None:
    """Take at least one row, and cut it in parts where it is too wide."""

    def tiling(context: TilingContext) -> GraphStatus:
        rows, width = _sizes(context)
        room = _room(context)
        tile = max(1, room // width)
        return _set(context, -(-rows // tile) * -(-width // room))

    decide(tiling, _context())


def _sizes(context: TilingContext) -> tuple[int, int]:
    shape = context.GetInputShape(0)
    assert shape is not None
    rows, width = shape.GetOriginShape()
    return rows, width


def _room(context: TilingContext) -> int:
    """Floats of the unified buffer."""
    return PlatformAscendC(context.GetPlatformInfo()).GetCoreMemSize(CoreMemType.UB) // 4


def _set(context: TilingContext, tiles: int) -> GraphStatus:
    context.GetTilingData(Tiles).tiles = tiles
    return context.SetBlockDim(1)


class Tiles(TilingData):
    """What the kernel gets."""

    tiles = Int("uint32_t")


def _context() -> TilingContext:
    wide = TensorDesc((4, 100_000), DataType.FLOAT)
    info = PlatformInfo.from_platform(load_platform("910b"))
    return TilingContext("Rows", [wide], [wide], info)
