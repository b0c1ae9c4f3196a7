"""Copies of a tile from global memory to UB on 950.

Source: hicann/opbase pkg_inc/op_common/atvoss/reduce/reduce_sch.h (CopyInWithMoveAlign,
CopyInWithNddma). Rows that start at whole blocks are copied in bursts with up to two hardware loops
around them; denser ones by the strided copy.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final

from simulator.ascendc import (
    DataCopy,
    DataCopyExtParams,
    DataCopyMVType,
    DataCopyPad,
    DataCopyPadExtParams,
    LoopModeParams,
    NdDmaLoopInfo,
    NdDmaParams,
    ResetLoopModePara,
    SetLoopModePara,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernels.p_relu_grad_reduce_apt.tiles import Axis, Tile
    from simulator.ascendc import GlobalTensor, LocalTensor

BLOCK: Final = 32
MAX_BURSTS: Final = 4095
MAX_LOOPS: Final = 5


def is_packed(tile: Tile, item: int) -> bool:
    """Whether some row of a tile starts inside a 32-byte block of UB."""
    return any(axis.size > 1 and axis.ub_step * item % BLOCK for axis in tile.axes[:-1])


def copy_tile(local: LocalTensor, source: GlobalTensor, tile: Tile) -> None:
    """Fetch a tile; what pads a burst to whole blocks is zero."""
    item = local.dtype.itemsize
    *outer, burst = tile.axes
    moving = [axis for axis in outer if axis.size > 1]
    if is_packed(tile, item):
        _copy_packed(local, source, tile.offset, [*moving, burst])
    else:
        _copy_bursts(local, source, tile.offset, moving, burst)


def _copy_bursts(
    local: LocalTensor,
    source: GlobalTensor,
    offset: int,
    outer: Sequence[Axis],
    burst: Axis,
) -> None:
    item = local.dtype.itemsize
    length = burst.size * item
    held = -(-length // BLOCK) * BLOCK
    padding = DataCopyPadExtParams(True, 0, (held - length) // item, 0)
    rest, bursts = list(outer[:-1]), (outer[-1] if outer else None)
    loops = rest[-2:]
    for place in product(*(range(axis.size) for axis in rest[:-2])):
        steps = list(zip(place, rest, strict=False))
        gm = offset + sum(at * axis.gm_step for at, axis in steps)
        ub = sum(at * axis.ub_step for at, axis in steps)
        if loops:
            _set_loops(loops, item)
        count = bursts.size if bursts else 1
        for first in range(0, count, MAX_BURSTS):
            number = min(MAX_BURSTS, count - first)
            start, target = gm, ub
            params = DataCopyExtParams(1, length)
            if bursts:
                start += first * bursts.gm_step
                target += first * bursts.ub_step
                params = DataCopyExtParams(
                    number,
                    length,
                    bursts.gm_step * item - length,
                    (bursts.ub_step * item - held) // BLOCK,
                )
            DataCopyPad(local[target], source[start], params, padding)
        if loops:
            ResetLoopModePara(DataCopyMVType.OUT_TO_UB)


def _set_loops(loops: Sequence[Axis], item: int) -> None:
    inner = loops[-1]
    outer = loops[0] if len(loops) > 1 else None
    SetLoopModePara(
        LoopModeParams(
            inner.size,
            outer.size if outer else 1,
            inner.gm_step * item,
            inner.ub_step * item,
            outer.gm_step * item if outer else 0,
            outer.ub_step * item if outer else 0,
        ),
        DataCopyMVType.OUT_TO_UB,
    )


def _copy_packed(
    local: LocalTensor, source: GlobalTensor, offset: int, axes: Sequence[Axis]
) -> None:
    outer, inner = axes[:-MAX_LOOPS], axes[-MAX_LOOPS:]
    info = NdDmaLoopInfo(
        [axis.gm_step for axis in reversed(inner)],
        [axis.ub_step for axis in reversed(inner)],
        [axis.size for axis in reversed(inner)],
    )
    for place in product(*(range(axis.size) for axis in outer)):
        steps = list(zip(place, outer, strict=True))
        gm = offset + sum(at * axis.gm_step for at, axis in steps)
        ub = sum(at * axis.ub_step for at, axis in steps)
        DataCopy(local[ub], source[gm], NdDmaParams(info, 0))
