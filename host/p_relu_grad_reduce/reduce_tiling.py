"""Generic tiling of reductions on 950: buffers, tile of kept and reduced axes, core split.

Source: hicann/opbase src/op_common/atvoss/reduce/reduce_tiling.cpp, for dense inputs. UB holds the
input tiles (``basic_block`` bytes each), what the operator computes from them, the result of a tile
(``result_block`` bytes) and a cache of 16 KiB.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kernels.p_relu_grad_reduce_apt.tiling_data import (
    CACHE_BYTES,
    MAX_DIM,
    PATTERN_A_ID,
    ReduceKey,
    ReduceOpTilingData,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

CACHE_LINE: Final = 256
REGISTER_BYTES: Final = 256
_BLOCK_BYTES: Final = 32
_MAX_INNER_A_BYTES: Final = 512
_BUSY_CORES: Final = 0.95
_A_ONLY_STEP: Final = 4
_MAX_SHORT_RANK: Final = 4

EMPTY_KEY: Final = ReduceKey(True, False, 0, 0, 0)
"""Key of a reduction without elements."""


@dataclass(frozen=True)
class Device:
    """What the tiling knows of a device: vector cores and bytes of UB."""

    cores: int
    ub_bytes: int


@dataclass(frozen=True)
class Buffers:
    """UB buffers that a reduction's graph needs.

    Attributes
    ----------
    item_bytes, compute_bytes : int
        Element sizes of the input and of the sum.
    inputs, computed, results : int
        Buffers of the input's size, of computed tiles and of results, double-buffering included.
    """

    item_bytes: int
    compute_bytes: int
    inputs: int
    computed: int
    results: int

    @property
    def ratio(self) -> int:
        """Growth of an element by the cast in front of the sum."""
        return -(-self.compute_bytes // self.item_bytes)

    @classmethod
    def of_sum(cls, item_bytes: int) -> Buffers:
        """Copy in, cast to float, sum, cast back, copy out; float needs no casts.

        Without a cast in front of the sum, the copies have twice as many buffers.
        """
        casts = item_bytes != 4
        return cls(item_bytes, 4, inputs=2 if casts else 4, computed=2 if casts else 0, results=2)


@dataclass
class _Unit:
    """Chunk of the kept or of the reduced axes: cut axis, elements inside, chunks, chunk length."""

    axis: int = -1
    inner: int = 1
    outer: int = 1
    step: int = 1


class ReduceTiling:
    """The computation for one merged shape; ``run`` fills the struct and gives the key."""

    def __init__(self, shape: Sequence[int], device: Device, buffers: Buffers) -> None:
        self.merged = list(shape)
        self.device = device
        self.buffers = buffers
        self.shape = _padded_to_pattern(self.merged)
        self.rank = len(self.shape)
        self.ends_with_a = self.rank % 2 == 1
        self.only_a = self.rank == 1
        self.a, self.r = _Unit(), _Unit()
        self.basic_block = self.result_block = 0

    def run(self, data: ReduceOpTilingData) -> tuple[ReduceKey, str]:
        """Fill ``data``; returns the key and why it is not possible, if so."""
        reason = self._size_buffers()
        if reason:
            return EMPTY_KEY, reason
        if 0 in self.shape:
            self._run_empty(data)
            return EMPTY_KEY, ""
        self._find_cache_line()
        self._cut_a()
        self._cut_r()
        self._widen_a()
        self._fill(data)
        return self._key(data.groupR), ""

    def _run_empty(self, data: ReduceOpTilingData) -> None:
        """Cut the output alone: nothing is summed, so every element of it is the empty sum."""
        out = math.prod(self.shape[::2])
        if out == 0:
            data.clear()
            return
        plain = ReduceTiling([out], self.device, self.buffers)
        half = (self.device.ub_bytes - CACHE_BYTES) // 2
        plain.basic_block = half // REGISTER_BYTES * REGISTER_BYTES
        plain.result_block = self.result_block
        plain._find_cache_line()
        plain._cut_a()
        plain._fill(data)

    # -- buffers -------------------------------------------------------------------------------

    def _size_buffers(self) -> str:
        buffers, ub = self.buffers, self.device.ub_bytes
        if ub <= CACHE_BYTES:
            return f"UB has {ub} bytes, the cache alone takes {CACHE_BYTES}"
        usable, ratio = ub - CACHE_BYTES, buffers.ratio
        per_input = buffers.inputs + buffers.computed * ratio
        if self.only_a:
            basic = usable // (per_input + buffers.results * ratio)
            self.basic_block = basic // REGISTER_BYTES * REGISTER_BYTES
            self.result_block = self.basic_block * ratio
        else:
            reduced = self._reduced_elements()
            block = usable / (per_input + buffers.results * ratio / reduced)
            wanted = int(block * ratio / reduced) // CACHE_LINE * CACHE_LINE
            self.result_block = min(max(wanted, _MAX_INNER_A_BYTES), CACHE_BYTES)
            left = usable - self.result_block * buffers.results
            if left <= 0:
                return f"UB has {ub} bytes, the results alone take {usable - left}"
            self.basic_block = left // per_input // REGISTER_BYTES * REGISTER_BYTES
        if self.basic_block < REGISTER_BYTES:
            return f"UB has {ub} bytes, which leaves {self.basic_block} for a tile"
        return ""

    def _reduced_elements(self) -> int:
        total = 1
        for axis in range(1, self.rank, 2):
            dim = self.shape[axis]
            total *= _align(dim, self._item_block) if axis == self.rank - 1 else dim
        return max(total, 1)

    @property
    def _item_block(self) -> int:
        """Input elements of 32 bytes."""
        return _BLOCK_BYTES // self.buffers.item_bytes

    @property
    def _capacity(self) -> int:
        """Elements of a computed tile."""
        return self.basic_block * self.buffers.ratio // self.buffers.compute_bytes

    # -- cutting -------------------------------------------------------------------------------

    def _find_cache_line(self) -> None:
        """Find the axis on which a cache line ends, so that copies stay long enough."""
        size = CACHE_LINE // self.buffers.item_bytes
        inside, self.line_step, self.line_outer, self.line_axis = 1, 1, 1, 0
        for axis in range(self.rank - 1, -1, -1):
            self.line_axis, self.line_step = axis, self.shape[axis]
            if inside * self.shape[axis] > size:
                self.line_step = _ceil(size, inside)
                self.line_outer = _ceil(self.shape[axis], self.line_step)
                break
            inside *= self.shape[axis]
        self.line_a = self.line_r = 1
        for axis in range(self.line_axis + 1, self.rank):
            dim = self.shape[axis]
            whole = _align(dim, self._item_block) if axis == self.rank - 1 else dim
            if axis % 2 == 0:
                self.line_a *= whole
            else:
                self.line_r *= whole
        self.a.outer = math.prod(self.shape[0 : self.line_axis : 2])
        self.r.outer = math.prod(self.shape[1 : self.line_axis : 2])
        if self.line_axis % 2 == 0:
            self.a.outer *= self.line_outer
        else:
            self.r.outer *= self.line_outer

    def _cut_a(self) -> None:
        """Choose the chunk of the kept axes: at most 512 bytes, and busy cores."""
        cuts_a = self.line_axis % 2 == 0
        outer, inner = self.a.outer, self.a.inner
        if cuts_a:
            outer = outer // self.line_outer * self.shape[self.line_axis]
        limit = self._capacity if self.only_a else _MAX_INNER_A_BYTES // self.buffers.compute_bytes
        stride = _A_ONLY_STEP if self.only_a else 1
        axis, step = (self.line_axis if cuts_a else self.line_axis - 1), 1
        while axis > -1:
            dim = self.shape[axis]
            first = best = self.line_step if axis == self.line_axis else 1
            busiest, full = 0.0, False
            for step in range(first, dim + 1, stride):
                chunk = step
                if axis == self.rank - 1:
                    chunk = step // self._item_block * self._item_block
                chunks = outer // dim * _ceil(dim, chunk)
                size = inner * chunk * self.line_a
                if size > limit or size * self.line_r > self._capacity:
                    full = True
                    break
                rate = self._rate(chunks, self.r.outer)
                if rate > _BUSY_CORES and (self.ends_with_a or rate > busiest):
                    best = chunk
                busiest = max(busiest, rate)
            if full or best != dim or axis < 2:
                step = best or 1
                inner *= step
                outer = outer // dim * _ceil(dim, step)
                break
            inner *= _align(dim, self._item_block) if axis == self.rank - 1 else dim
            outer //= dim
            axis -= 2
        self.a = _Unit(axis, inner, outer, step)

    def _rate(self, a_chunks: int, r_chunks: int) -> float:
        """Share of the cores that these chunks keep busy."""
        cores = self.device.cores
        used = a_chunks * r_chunks // _ceil(a_chunks * r_chunks, cores)
        if used > a_chunks:
            used = used // a_chunks * a_chunks
        return used / cores

    def _cut_r(self) -> None:
        """Choose the chunk of the reduced axes that fills the tile and keeps the cores busy."""
        cuts_a = self.line_axis % 2 == 0
        outer, inner = self.r.outer, self.r.inner
        if not cuts_a:
            outer = outer // self.line_outer * self.shape[self.line_axis]
        step = 1
        axis = self.line_axis - 1 if cuts_a else self.line_axis
        while axis > -1:
            dim = self.shape[axis]
            is_last = axis == self.rank - 1
            whole = _align(dim, self._item_block) if is_last else dim
            taken = self.a.inner * inner * self.line_a * self.line_r
            if taken * whole <= self._capacity:
                outer //= dim
                inner *= whole
                axis -= 2
                continue
            step = min(self._capacity // taken, dim)
            if is_last:
                step = step // self._item_block * self._item_block
            least = self.line_step if axis == self.line_axis else 1
            for chunk in range(step, least, -1):
                tried = chunk
                if is_last and chunk != dim:
                    tried = chunk // self._item_block * self._item_block
                if self._rate(self.a.outer, outer // dim * _ceil(dim, tried)) > _BUSY_CORES:
                    step = tried
                    break
            inner *= step
            outer = outer // dim * _ceil(dim, step)
            break
        self.r = _Unit(max(axis, -1), inner, outer, step)

    def _widen_a(self) -> None:
        """Take more of the kept axes when all reduced ones fit a tile with room to spare."""
        if self.r.axis != -1:
            return
        unit = self.a
        inner = unit.inner // unit.step
        outer = unit.outer // _ceil(self.shape[unit.axis], unit.step) * self.shape[unit.axis]
        limit = self.result_block // self.buffers.compute_bytes
        line = CACHE_LINE // self.buffers.item_bytes
        axis, step = unit.axis, 1
        while axis > -1:
            dim = self.shape[axis]
            first = unit.step + 1 if axis == unit.axis else 1
            best, full = (unit.step if axis == unit.axis else 1), False
            for chunk in range(first, dim + 1):
                tried = _align(chunk, self._item_block) if axis == self.rank - 1 else chunk
                size = inner * tried * self.line_a
                if size * self.r.inner * self.line_r > self._capacity or size > limit:
                    full = True
                    break
                chunks = outer // dim * _ceil(dim, tried)
                rate = chunks / _align(chunks, self.device.cores)
                if size <= line or rate >= _BUSY_CORES:
                    best = tried
            if full or axis < 2:
                step = best
                inner *= step
                outer = outer // dim * _ceil(dim, step)
                break
            inner *= _align(dim, self._item_block) if axis == self.rank - 1 else dim
            outer //= dim
            axis -= 2
        self.a = _Unit(axis, inner, outer, step)

    # -- results -------------------------------------------------------------------------------

    def _fill(self, data: ReduceOpTilingData) -> None:
        a, r, cores = self.a, self.r, self.device.cores
        blocks = _ceil(a.outer * r.outer, _ceil(a.outer * r.outer, cores))
        if a.outer < blocks:
            more = _align(blocks, a.outer)
            blocks = more if more <= cores else blocks // a.outer * a.outer
        data.clear()
        data.ubFactorA = a.step
        data.factorACntPerCore = a_per_core = _ceil(a.outer, blocks)
        data.factorATotalCnt = a.outer
        data.ubFactorR = r.step
        data.factorRCntPerCore = r_per_core = _ceil(r.outer, _ceil(blocks, a.outer))
        data.factorRTotalCnt = r.outer
        data.groupR = _ceil(r.outer, r_per_core)
        data.basicBlock = self.basic_block
        data.resultBlock = self.result_block
        data.coreNum = cores
        data.realCoreNum = _ceil(a.outer, a_per_core) * _ceil(r.outer, r_per_core)
        data.useNddma = int(self._uses_nddma())
        strides, kept, total = [0] * self.rank, [0] * self.rank, 1
        out = 1
        for axis in range(self.rank - 1, -1, -1):
            strides[axis], kept[axis] = total, out
            total *= self.shape[axis]
            out *= self.shape[axis] if axis % 2 == 0 else 1
        data.outSize = out
        data.meanVar = 1 / (total // out)
        data.shape = self.shape
        data.stride = strides
        data.dstStride = kept
        data.sliceNum = [1] * self.rank
        data.sliceShape = self.shape
        padding = self.rank - len(self.merged)
        data.sliceStride = [strides[padding]] * padding + strides[padding:]

    def _uses_nddma(self) -> bool:
        """Whether tiles are gathered densely because their rows are shorter than a block."""
        last = self.rank - 1
        if self.shape[last] >= self._item_block:
            return False
        behind = last - self.line_axis
        if behind > 2 or (behind == 2 and self.line_step != 1):
            return True
        unit = self.a if self.ends_with_a else self.r
        inside = unit.step * math.prod(self.shape[unit.axis + 2 :: 2])
        return inside <= self._item_block

    def _key(self, groups: int) -> ReduceKey:
        a_axes = self.a.axis // 2 + 1
        r_axes = (self.r.axis - 1) // 2 + 1
        pattern = PATTERN_A_ID if self.only_a else self.rank - 1
        loop_ar = a_axes * 10 + (0 if groups == 1 else a_axes + r_axes)
        pattern_id = pattern * 10 + (not self.ends_with_a)
        return ReduceKey(True, False, pattern_id, loop_ar, r_axes if groups == 1 else 0)


def _padded_to_pattern(shape: Sequence[int]) -> list[int]:
    """Put ones in front of shapes of more than four axes: kernels exist for 8 and 9 axes only."""
    if len(shape) <= _MAX_SHORT_RANK:
        return list(shape)
    rank = MAX_DIM if len(shape) % 2 else MAX_DIM - 1
    return [1] * (rank - len(shape)) + list(shape)


def _ceil(value: int, divisor: int) -> int:
    """``ceil(value / divisor)``, and ``value`` when the divisor is 0."""
    return -(-value // divisor) if divisor else value


def _align(value: int, unit: int) -> int:
    return -(-value // unit) * unit
