"""Which elements each block of HardSwishGradV2 works on.

Source: hicann/ops-nn activation/hard_swish_grad_v2/op_kernel/hard_swish_grad_v2_220.h (2201) and
.../op_kernel/arch35/hard_swish_grad_v2.h (3510).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernels.hard_swish_grad_v2.tiling_data import (
        HardSwishGradV2Arch35TilingData,
        HardSwishGradV2TilingData,
    )


def tiles_2201(tiling: HardSwishGradV2TilingData, block: int) -> list[tuple[int, int]]:
    """Tiles of one block on 910B as ``(first element, count)``.

    Tiles are dealt evenly; the first ``tiles % cores`` blocks get one more. The short tile is the
    last one of the last block that got one more, or of the last block when all got the same
    number, so later blocks may start at an address that is not a multiple of 32 bytes.
    """
    total, cores = tiling.elementNum, tiling.needCoreNum
    length = tiling.elementNumEachCore
    if block >= cores or total == 0:
        return []
    count, remain = divmod(-(-total // length), cores)
    start = count * block * length
    if remain == 0:
        short_owner = cores - 1
    else:
        short_owner = remain - 1
        start += block * length if block < remain else total % (length * cores)
    loops = count + (1 if block < remain else 0)
    short = total % length
    tiles = [(start + i * length, length) for i in range(loops)]
    if block == short_owner and short:
        tiles[-1] = (tiles[-1][0], short)
    return tiles


def tiles_3510(tiling: HardSwishGradV2Arch35TilingData, block: int) -> list[tuple[int, int]]:
    """Tiles of one block on 950 as ``(first element, count)``."""
    start = tiling.blockFactor * block
    count = min(tiling.blockFactor, tiling.totalNum - start)
    length = tiling.ubFactor
    if length == 0 or count <= 0:
        return []
    return [(start + at, min(length, count - at)) for at in range(0, count, length)]
