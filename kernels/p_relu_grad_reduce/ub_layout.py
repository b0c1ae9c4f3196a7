"""How PReluGradReduce on 910B divides UB."""

from __future__ import annotations

from typing import Final, NamedTuple

from kernels.p_relu_grad_reduce.tiling_data import MAX_RESULTS, TILE

SLOTS: Final = 2
_FLOAT_BYTES: Final = 4


class Layout(NamedTuple):
    """Byte offsets: input tiles and results, once per slot, and the tile as float, once."""

    raw: tuple[int, ...]
    results: tuple[int, ...]
    rounded: tuple[int, ...]
    wide: int
    end: int


def layout(item_bytes: int) -> Layout:
    """Place the buffers one behind the other; float needs no widened tile."""
    widened = item_bytes != _FLOAT_BYTES
    sizes = [TILE * item_bytes] * SLOTS
    sizes += [MAX_RESULTS * _FLOAT_BYTES] * SLOTS
    sizes += [MAX_RESULTS * item_bytes if widened else 0] * SLOTS
    sizes.append(TILE * _FLOAT_BYTES if widened else 0)
    offsets = [sum(sizes[:k]) for k in range(len(sizes) + 1)]
    return Layout(
        tuple(offsets[:SLOTS]),
        tuple(offsets[SLOTS : 2 * SLOTS]),
        tuple(offsets[2 * SLOTS : 3 * SLOTS]),
        offsets[3 * SLOTS],
        offsets[-1],
    )


UB_BYTES: Final = max(layout(2).end, layout(_FLOAT_BYTES).end)
"""Bytes of UB that the operator needs."""
