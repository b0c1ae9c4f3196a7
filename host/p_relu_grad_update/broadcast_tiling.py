"""Tiling of element-wise operators with broadcasting inputs on 950: schedule, UB and core split.

Source: hicann/opbase pkg_inc/op_common/atvoss/broadcast/broadcast_tiling.h and
src/op_common/atvoss/broadcast/broadcast_tiling.cpp, for dense inputs of one data type that are all
copied in with broadcast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kernels.p_relu_grad_update_apt.tiling_data import (
    INPUTS,
    MAX_DIMS,
    PARTS,
    SCALAR_BYTES,
    SCH_NDDMA,
    SCH_NDDMA_WITH_LOOP,
    SCH_UB_BROADCAST,
    SCH_UB_BROADCAST_ANY_RANK,
    BroadcastOneDimTilingData,
    BroadcastTilingData,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.p_relu_grad_update.collapse import Collapsed

_BLOCK_BYTES: Final = 32
_REPEAT_BYTES: Final = 256
_CACHE_LINE: Final = 128
_MIN_BYTES_PER_CORE: Final = 8 * 1024
_LONG_LAST_AXIS_BYTES: Final = 8 * 1024 // 2
"""Half of the cache of the strided copy."""

_MAX_NDDMA_DIMS: Final = 5
_MAX_UB_BROADCAST_RANK: Final = 4


class UbSplit(NamedTuple):
    """Where the axes are cut for UB: chunk on the cut axis, number of chunks, last chunk."""

    axis: int
    former: int
    outer: int
    tail: int
    fused: int
    """Tiles in all: ``outer`` times the axes in front of the cut one."""


def tile_one_dim(
    collapsed: Collapsed,
    item_bytes: int,
    cores: int,
    ub_bytes: int,
    data: BroadcastOneDimTilingData,
) -> str:
    """Fill ``data`` for one axis; returns why it is not possible, or nothing."""
    parts = PARTS[SCH_NDDMA]
    length = collapsed.dims[-1][0]
    former = ub_bytes // parts // _CACHE_LINE * _CACHE_LINE // item_bytes
    if former == 0:
        return f"{ub_bytes} bytes of UB leave no room for a tile"
    blocks = _deal(-(-length // former), cores)[0]
    if blocks < cores // 2 and former * item_bytes * parts > _MIN_BYTES_PER_CORE:
        # Spread over half of the cores, but not below what makes a tile worth its start-up.
        per_core = length * 2 // cores * item_bytes
        aligned = -(-per_core // _CACHE_LINE) * _CACHE_LINE // item_bytes
        least = _MIN_BYTES_PER_CORE // parts // _CACHE_LINE * _CACHE_LINE // item_bytes
        former = max(min(former, aligned), least)
    tiles = -(-length // former)
    data.clear()
    data.scalarFlag = sum(1 << k for k in range(INPUTS) if collapsed.dims[k][0] == 1)
    data.ubFormer = former
    data.ubTail = length - (tiles - 1) * former
    data.blockNum, data.blockFormer, data.blockTail = _deal(tiles, cores)
    data.scalarData = [0] * SCALAR_BYTES
    return ""


def tile_broadcast(
    collapsed: Collapsed, item_bytes: int, cores: int, ub_bytes: int, data: BroadcastTilingData
) -> tuple[int, str]:
    """Fill ``data`` for several axes; returns the schedule and why it is not possible, if so."""
    inside_ub = uses_ub_broadcast(collapsed, item_bytes)
    parts = PARTS[SCH_UB_BROADCAST if inside_ub else SCH_NDDMA]
    align = _REPEAT_BYTES // item_bytes
    elements = ub_bytes // (parts * item_bytes) // align * align
    if elements == 0:
        return 0, f"{ub_bytes} bytes of UB leave no room for a tile"
    out = collapsed.dims[-1]
    rank = len(out)
    split = split_for_ub(out, elements)
    data.clear()
    data.shapeLen = rank
    data.ubSplitAxis = split.axis
    data.ubFormer = split.former
    data.ubOuter = split.outer
    data.ubTail = split.tail
    data.blockNum, data.blockFormer, data.blockTail = _deal(split.fused, cores)
    data.dimProductBeforeUbInner = split.fused
    data.elemNum = elements
    data.outputDims = out
    data.outputStrides = collapsed.strides[-1]
    data.inputBrcDims = _rows(collapsed.dims[:-1])
    data.inputBrcStrides = _rows(collapsed.strides[:-1])
    running = rank - split.axis
    if inside_ub:
        fixed = running <= _MAX_UB_BROADCAST_RANK
        return SCH_UB_BROADCAST + running if fixed else SCH_UB_BROADCAST_ANY_RANK, ""
    return SCH_NDDMA_WITH_LOOP if running > _MAX_NDDMA_DIMS else SCH_NDDMA, ""


def split_for_ub(dims: Sequence[int], elements: int) -> UbSplit:
    """Cut ``dims`` so that a chunk of the cut axis with all axes behind it fits ``elements``.

    UB is filled from the last axis backwards; when everything fits, the first axis is the cut one.
    """
    inner, axis = 1, 0
    for at in range(len(dims) - 1, -1, -1):
        if inner * dims[at] > elements:
            axis = at
            break
        inner *= dims[at]
    else:
        inner //= dims[0]
    former = elements if len(dims) == 1 else elements // inner
    outer = -(-dims[axis] // former)
    fused = outer
    for dim in dims[:axis]:
        fused *= dim
    return UbSplit(axis, former, outer, dims[axis] - (outer - 1) * former, fused)


def uses_ub_broadcast(collapsed: Collapsed, item_bytes: int) -> bool:
    """Whether inputs are broadcast by vector instructions rather than by the strided copy.

    That is so for 16-bit types with a last axis of whole blocks, and for any input with a long last
    axis that repeats along another one.
    """
    *inputs, out = collapsed.strides
    repeats = [
        any(step == 0 and whole != 0 for step, whole in zip(steps, out, strict=True))
        for steps in inputs
    ]
    if not any(repeats):
        return False
    long_rows = any(
        steps[-1] != 0
        and any(step == 0 and whole != 0 for step, whole in zip(steps[:-1], out, strict=False))
        and dims[-1] * item_bytes >= _LONG_LAST_AXIS_BYTES
        for steps, dims in zip(inputs, collapsed.dims, strict=False)
    )
    return long_rows or (
        item_bytes == 2 and collapsed.dims[-1][-1] * item_bytes % _BLOCK_BYTES == 0
    )


def _deal(tiles: int, cores: int) -> tuple[int, int, int]:
    """Blocks, tiles of every block but the last, tiles of the last."""
    former = -(-tiles // cores)
    blocks = -(-tiles // former)
    return blocks, former, tiles - (blocks - 1) * former


def _rows(lists: Sequence[Sequence[int]]) -> list[int]:
    return [value for row in lists for value in (*row, *[0] * (MAX_DIMS - len(row)))]
