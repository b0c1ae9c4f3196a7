"""Tiles of a reduction on 950: which part of the input, and how it lies in UB.

Source: hicann/opbase pkg_inc/op_common/atvoss/reduce/reduce_sch_aux.h. Kept (A) and reduced (R)
axes alternate. In UB they are separated: with a kept last axis all R axes are outside and all A
axes inside (rows of A), otherwise all A axes outside (rows of R).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernels.p_relu_grad_reduce_apt.tiling_data import ReduceKey, ReduceOpTilingData

BLOCK: Final = 32


class Axis(NamedTuple):
    """One axis of a tile: elements, and their distance in global memory and in UB."""

    size: int
    gm_step: int
    ub_step: int


@dataclass(frozen=True)
class Tile:
    """One tile.

    Attributes
    ----------
    offset : int
        First input element.
    axes : tuple of Axis
        From the outermost to the innermost, which is contiguous.
    rows, pitch : int
        Rows in UB and the distance between their starts, in elements.
    valid : int
        Elements at the start of each row that belong to the tile; padding in between is zero.
    kept : int
        Results of the tile.
    """

    offset: int
    axes: tuple[Axis, ...]
    rows: int
    pitch: int
    valid: int
    kept: int


class Tiles:
    """The tiles of one tiling."""

    def __init__(self, tiling: ReduceOpTilingData, key: ReduceKey, item: int) -> None:
        self.tiling = tiling
        self.rank = key.rank
        self.ends_with_r = key.ends_with_r
        self.shape = tiling.shape[: self.rank]
        self.strides = tiling.stride[: self.rank]
        self.item = item
        a_walked = key.loop_ar // 10
        in_group = key.loop_ar % 10
        r_walked = in_group - a_walked if in_group else key.loop_inner_ar
        self.grouped = in_group > 0
        self.cut_a = 2 * (a_walked - 1)
        self.cut_r = 2 * r_walked - 1

    def box(self, a_index: int, r_index: int) -> tuple[list[int], list[int]]:
        """First index and length on every axis of the tile with these chunk numbers."""
        start, length = [0] * self.rank, list(self.shape)
        for number, cut, factor in (
            (a_index, self.cut_a, self.tiling.ubFactorA),
            (r_index, self.cut_r, self.tiling.ubFactorR),
        ):
            if cut < 0:
                continue
            outer, chunk = divmod(number, -(-self.shape[cut] // factor))
            start[cut] = chunk * factor
            length[cut] = min(factor, self.shape[cut] - start[cut])
            for axis in range(cut - 2, -1, -2):
                outer, start[axis] = divmod(outer, self.shape[axis])
                length[axis] = 1
        return start, length

    def tile(self, a_index: int, r_index: int) -> Tile:
        """Return the tile with these chunk numbers.

        Its rows are as long as those of a whole chunk, so that tiles can be added up.
        """
        start, length = self.box(a_index, r_index)
        whole = list(length)
        if self.cut_r >= 0:
            whole[self.cut_r] = min(self.tiling.ubFactorR, self.shape[self.cut_r])
        inner, outer = self._inside_out(whole)
        steps = [0] * self.rank
        size = 1
        for axis in inner:
            steps[axis] = size
            dim = whole[axis]
            is_padded = axis == self.rank - 1 and not self.tiling.useNddma
            size *= self._align(dim) if is_padded else dim
        pitch = size = self._align(size)
        for axis in outer:
            steps[axis] = size
            size *= whole[axis]
        offset = sum(at * step for at, step in zip(start, self.strides, strict=True))
        axes = tuple(map(Axis, length, self.strides, steps))
        kept = math.prod(length[::2])
        rows = kept if self.ends_with_r else math.prod(length[1::2])
        valid = sum((length[axis] - 1) * steps[axis] for axis in inner) + 1
        if not self.tiling.useNddma:
            valid = self._align(valid)
        return Tile(offset, axes, rows, pitch, valid, kept)

    def out_offset(self, a_index: int) -> int:
        """First output element of the tiles with this A chunk."""
        start, _ = self.box(a_index, 0)
        return sum(start[k] * self.tiling.dstStride[k] for k in range(0, self.rank, 2))

    def out_rows(self, a_index: int) -> tuple[int, int]:
        """Rows and row length of the results in UB; rows start at whole blocks."""
        _, length = self.box(a_index, 0)
        kept = math.prod(length[::2])
        if self.ends_with_r or self.tiling.useNddma:
            return 1, kept
        return kept // length[-1], length[-1]

    def _inside_out(self, length: Sequence[int]) -> tuple[list[int], list[int]]:
        """Axes of a row and axes across rows, each from the innermost outwards."""
        last = self.rank - 1
        return list(range(last, -1, -2)), list(range(last - 1, -1, -2))

    def _align(self, count: int) -> int:
        per_block = BLOCK // self.item
        return -(-count // per_block) * per_block


def nearest_power_of_two(value: int) -> int:
    """Largest power of two below ``value``, and 1 for 1 and 2 (0 for 0)."""
    return 1 << (value - 1).bit_length() - 1 if value > 1 else value


def cache_level(index: int) -> int:
    """How many partial results merge when tile ``index`` is done: trailing ones of the number."""
    return (index ^ (index + 1)).bit_length() - 1
