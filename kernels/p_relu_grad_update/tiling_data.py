"""Tiling struct of PReluGradUpdate on 910B, and how a block of UB is divided by it.

This is not a published struct: the 910B implementation of the operator is this simulator's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kernels.tiling_struct import Int, IntArray, TilingData

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_DIMS: Final = 8
UB_BYTES: Final = 184 * 1024
"""What lies below the scratch of Select on 910B (mirror-cann/asc-devkit
impl/basic_api/dav_c220/kernel_operator_vec_cmpsel_impl.h)."""

BLOCK: Final = 32
REPEAT: Final = 256
SLOTS: Final = 2
_RAW_PER_SLOT: Final = 4


class PReluGradUpdateTilingData(TilingData):
    """Axes after collapsing, where they are cut for UB, and the share of each block.

    A tile is a chunk of ``splitAxis`` with all axes behind it, its rows (last axis) padded to
    32 bytes in UB. ``outer`` chunks cover the cut axis; there are ``fused`` tiles, ``blockFormer``
    for every block but the last. Strides are in elements, 0 where an input repeats;
    ``elementNum`` is the capacity of a UB buffer.
    """

    rank = Int("int32_t")
    splitAxis = Int("int32_t")
    former = Int("int64_t")
    outer = Int("int64_t")
    fused = Int("int64_t")
    blockFormer = Int("int64_t")
    elementNum = Int("int64_t")
    dims = IntArray("int64_t", MAX_DIMS)
    gradStrides = IntArray("int64_t", MAX_DIMS)
    weightStrides = IntArray("int64_t", MAX_DIMS)


class Layout(NamedTuple):
    """Byte offsets in UB of the buffers for one data type and capacity.

    ``raw`` are features, gradient, product and weight as they are in memory, once per slot; the
    others exist once, in the type that the arithmetic is done in (float for bfloat16_t).
    """

    raw: tuple[tuple[int, ...], ...]
    zero: int
    grad: int
    features: int
    product: int
    weight: int
    compact: int
    mask: int
    end: int


def layout(item_bytes: int, *, widened: bool, elements: int) -> Layout:
    """Place the buffers one behind the other; ``widened`` for a type that is cast to float."""
    at = 0

    def take(nbytes: int) -> int:
        nonlocal at
        place, at = at, at + -(-nbytes // BLOCK) * BLOCK
        return place

    raw = tuple(
        tuple(take(elements * item_bytes) for _ in range(_RAW_PER_SLOT)) for _ in range(SLOTS)
    )
    work = 4 if widened else item_bytes
    zero, grad = take(elements * work), take(elements * work)
    wide = elements * work if widened else 0
    features, product, weight, compact = (take(wide) for _ in range(4))
    mask = take(-(-elements // 8))
    return Layout(raw, zero, grad, features, product, weight, compact, mask, at)


def capacity(item_bytes: int, *, widened: bool, ub_bytes: int) -> int:
    """Return the largest number of elements, whole repeats, whose buffers fit ``ub_bytes``."""
    lanes = REPEAT // item_bytes
    usable = min(ub_bytes, UB_BYTES)
    elements = 0
    while layout(item_bytes, widened=widened, elements=elements + lanes).end <= usable:
        elements += lanes
    return elements


def padded(count: int, item_bytes: int) -> int:
    """Round an element count up to whole 32-byte blocks."""
    per_block = BLOCK // item_bytes
    return -(-count // per_block) * per_block


def box_of(data: PReluGradUpdateTilingData, tile: int) -> tuple[list[int], list[int]]:
    """Return first index and length of a tile on every axis."""
    index, chunk = divmod(tile, data.outer)
    start, length = [0] * data.rank, list(data.dims[: data.rank])
    start[data.splitAxis] = chunk * data.former
    length[data.splitAxis] = min(data.former, length[data.splitAxis] - chunk * data.former)
    for axis in range(data.splitAxis - 1, -1, -1):
        index, start[axis] = divmod(index, data.dims[axis])
        length[axis] = 1
    return start, length


def offset_of(start: Sequence[int], strides: Sequence[int]) -> int:
    """Element offset of an index."""
    return sum(at * step for at, step in zip(start, strides, strict=False))
