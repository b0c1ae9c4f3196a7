"""How a reduction of repeats, blocks or pairs is bound to memory.

Lanes are read as an array (repeat, block, lane in block) up to the last active block; results go
to an array of element addresses. Layout of the results and their alignment: mirror-cann/asc-devkit
docs/zh/api/SIMD-API/基础API/Memory矢量计算/归约计算 (ReduceRepeat.md table 3, ReduceDataBlock.md,
ReducePairElem.md).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from simulator.dtypes import uint16_t, uint32_t
from simulator.enums import Arch, ReduceOrder
from simulator.errors import AlignmentError, OutOfBoundsError
from simulator.instruction import READ, WRITE, Access, Operand, Plan, VectorWork
from simulator.isa.lanes import (
    BLOCK,
    Active,
    Strided,
    check_capacity,
    check_tensor,
    strided_operand,
)
from simulator.isa.reduction_rules import SUM, absent, extreme, tree_sum

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from simulator.core import AICore
    from simulator.dtypes import DType
    from simulator.instruction import InstructionSpec
    from simulator.tensor import LocalTensor

    Array = NDArray[Any]

REPEATS: Final = "repeats"
BLOCKS: Final = "blocks"
PAIRS: Final = "pairs"

_ORDERED: Final = (ReduceOrder.ORDER_VALUE_INDEX, ReduceOrder.ORDER_INDEX_VALUE)


class Shape(NamedTuple):
    """What is reduced to one result, how, and what is stored of it."""

    over: str
    kind: str
    order: ReduceOrder = ReduceOrder.ORDER_ONLY_VALUE

    def stored(self, dst: DType) -> tuple[DType, int]:
        """Return storage type and number of the elements of one result (REPEATS only)."""
        if self.kind == SUM:
            return dst, 1
        word = uint16_t if dst.itemsize == 2 else uint32_t
        if self.order in _ORDERED:
            return word, 2
        return (word, 1) if self.order is ReduceOrder.ORDER_ONLY_VALUE else (uint32_t, 1)


class Part(NamedTuple):
    """Some repeats of a call: lanes to read, element addresses of the results, first repeat."""

    lanes: Array
    results: NDArray[np.int64]
    first: int
    rule: Callable[[Array, int], Array]


def plan_reduction(
    core: AICore,
    spec: InstructionSpec,
    shape: Shape,
    dst: LocalTensor,
    src: LocalTensor,
    active: Active,
    strides: tuple[int, int, int],
) -> Plan:
    """Check and bind one call; ``strides`` are dstRep (in results), srcBlk and srcRep (blocks).

    Raises
    ------
    AlignmentError, OutOfBoundsError
    """
    dst_rep, src_blk, src_rep = strides
    lanes = 256 // src.dtype.itemsize
    read = Strided("src", READ, src, src_blk, src_rep)
    source = strided_operand(read, active, lanes)
    reach = max((a.span()[1] for a in source.accesses), default=src.addr)
    check_tensor(spec.name, "src", src, reach - src.addr, spec.source)
    stored, unit = _result_unit(shape, dst.dtype)
    step = unit * stored.itemsize
    accesses: list[Access] = []
    parts = []
    for segment in active.segments if active.elements else ():
        first, count, width = segment
        chosen = np.arange(min(width, lanes)) if active.lanes is None else np.array(active.lanes)
        slots = _slots(core, shape, chosen, src.dtype, unit)
        start = dst.addr + first * dst_rep * step
        accesses += _runs(start, count, dst_rep * step, slots, stored.itemsize)
        repeats = np.arange(first, first + count)[:, None]
        results = dst.addr // stored.itemsize + dst_rep * unit * repeats + slots
        rule = _rule(core, shape, dst.dtype, src.dtype, chosen, slots)
        parts.append(Part(_lanes(core, read, chosen, first, count), results, first, rule))
    nbytes = max((a.span()[1] for a in accesses), default=dst.addr) - dst.addr
    alignment = {REPEATS: step, BLOCKS: step, PAIRS: BLOCK}[shape.over]
    check_result(spec, dst, nbytes, alignment)
    if parts and _depend(dst.addr, step, dst_rep, read, active):
        parts = [single for part in parts for single in _split(part)]
    details: dict[str, Any] = {
        "mask": active.lanes or (active.segments[-1][2] if active.segments else 0),
        "repeatTime": active.repeats,
        "dstRepStride": dst_rep,
        "srcBlkStride": src_blk,
        "srcRepStride": src_rep,
    }
    if shape.over == REPEATS and shape.kind != SUM:
        details["order"] = shape.order.name
    return Plan(
        spec,
        "mask" if active.lanes is None else "bit mask",
        [Operand("dst", WRITE, "UB", dst.dtype, tuple(accesses)), source],
        partial(_run, core.local.typed(stored.numpy), parts) if parts else None,
        work=VectorWork(
            dst.dtype.name if dst.dtype is src.dtype else f"{src.dtype.name}:{dst.dtype.name}",
            active.repeats,
            active.elements,
            False,
            False,
        ),
        details=details,
    )


def _run(out: Array, parts: list[Part]) -> None:
    for lanes, results, first, rule in parts:
        out[results] = rule(lanes, first)


def _split(part: Part) -> list[Part]:
    """Return the repeats of a part one by one."""
    return [
        Part(part.lanes[r : r + 1], part.results[r : r + 1], part.first + r, part.rule)
        for r in range(len(part.lanes))
    ]


# -- layout ------------------------------------------------------------------------------------


def _result_unit(shape: Shape, dst: DType) -> tuple[DType, int]:
    """Return storage type and number of the elements that dstRepStride counts as one."""
    if shape.over == REPEATS:
        return shape.stored(dst)
    return dst, 8 if shape.over == BLOCKS else 128 // dst.itemsize


def _slots(
    core: AICore, shape: Shape, chosen: NDArray[np.int64], src: DType, unit: int
) -> NDArray[np.int64]:
    """Return which elements of a repeat's results are written."""
    if shape.over == REPEATS or core.arch is Arch.DAV_3510:
        return np.arange(unit)
    return np.unique(chosen // (BLOCK // src.itemsize if shape.over == BLOCKS else 2))


def _lanes(core: AICore, read: Strided, chosen: NDArray[np.int64], first: int, count: int) -> Array:
    """Return the lanes as an array (repeat, block, lane in block), up to the last active block."""
    size = read.tensor.dtype.itemsize
    per_block = BLOCK // size
    start = (read.tensor.addr + BLOCK * first * read.rep_stride) // size
    return as_strided(
        core.local.typed(read.tensor.dtype.numpy)[start:],
        (count, int(chosen.max()) // per_block + 1, per_block),
        (BLOCK * read.rep_stride, BLOCK * read.blk_stride, size),
    )


def _runs(start: int, count: int, stride: int, slots: NDArray[np.int64], size: int) -> list[Access]:
    """Return the bytes of the results: one access for each run of neighbours."""
    groups = np.split(slots, np.flatnonzero(np.diff(slots) != 1) + 1)
    return [
        Access(start + int(group[0]) * size, len(group) * size, ((count, stride),))
        for group in groups
    ]


def check_result(spec: InstructionSpec, dst: LocalTensor, nbytes: int, alignment: int) -> None:
    """Refuse a destination that is misaligned for its results or too small for them.

    Raises
    ------
    AlignmentError, OutOfBoundsError
    """
    if dst.addr % alignment:
        raise AlignmentError(
            f"dst starts at UB address {dst.addr:#x}, which is not {alignment}-byte aligned",
            api=spec.name,
            argument="dst",
            got=f"address {dst.addr}",
            legal=f"a start address that is a multiple of {alignment}",
            source=spec.source,
        )
    if nbytes > dst.nbytes:
        raise OutOfBoundsError(
            f"dst is too small: the results reach {nbytes} bytes, the tensor holds {dst.nbytes}",
            api=spec.name,
            argument="dst",
            got=f"{nbytes} bytes",
            legal=f"<= {dst.nbytes} bytes ({dst.length} elements)",
            source=spec.source,
        )
    check_capacity(spec.name, "dst", dst, spec.source)


def _depend(start: int, step: int, dst_rep: int, read: Strided, active: Active) -> bool:
    """Whether a repeat may read what an earlier one wrote (by the span of each repeat)."""
    repeats = np.arange(max(first + count for first, count, _ in active.segments))
    written = start + dst_rep * step * repeats
    source = read.tensor.addr + BLOCK * read.rep_stride * repeats
    extent = BLOCK * (7 * read.blk_stride + 1)
    meets = (written[:, None] < source + extent) & (source < written[:, None] + step)
    return bool(np.triu(meets, 1).any())


# -- rules -------------------------------------------------------------------------------------


def _rule(
    core: AICore,
    shape: Shape,
    dst: DType,
    src: DType,
    chosen: NDArray[np.int64],
    slots: NDArray[np.int64],
) -> Callable[[Array, int], Array]:
    mode = core.numeric_mode
    total = 256 // src.itemsize
    whole = len(chosen) == total
    if shape.over == REPEATS and shape.kind != SUM:
        registers = core.local.reduce_registers if core.arch is Arch.DAV_2201 else None
        return partial(_extremes, shape, dst, chosen, mode, registers)
    neutral = absent(core.arch, dst, shape.kind)
    group = {REPEATS: total, BLOCKS: BLOCK // src.itemsize, PAIRS: 2}[shape.over]

    def rule(lanes: Array, _: int) -> Array:
        flat = lanes.reshape(len(lanes), -1)
        if whole and dst is src:
            values = flat
        else:
            values = np.full((len(flat), total), neutral)
            values[:, chosen] = flat[:, chosen]
        groups = values.reshape(len(values), -1, group)
        if shape.kind == SUM:
            results = tree_sum(groups, dst, mode)
        else:
            results = extreme(groups, dst, shape.kind, mode)[0]
        return results if shape.over == REPEATS else results[:, slots]

    return rule


def _extremes(
    shape: Shape,
    dtype: DType,
    chosen: NDArray[np.int64],
    mode: int,
    registers: NDArray[np.uint64] | None,
    lanes: Array,
    first: int,
) -> Array:
    """Values and indices of repeats, laid out by ``shape.order``, as words."""
    best, lane = extreme(lanes.reshape(len(lanes), -1)[:, chosen], dtype, shape.kind, mode)
    index = chosen[lane]
    stored, number = shape.stored(dtype)
    words = best.view(np.uint16 if dtype.itemsize == 2 else np.uint32)
    if registers is not None:
        _keep(shape.kind, dtype, best, first * (256 // dtype.itemsize), index, registers)
    out = np.empty((len(best), number), stored.numpy)
    if shape.order is ReduceOrder.ORDER_VALUE_INDEX:
        out[:, 0], out[:, 1] = words, index
    elif shape.order is ReduceOrder.ORDER_INDEX_VALUE:
        out[:, 0], out[:, 1] = index, words
    elif shape.order is ReduceOrder.ORDER_ONLY_VALUE:
        out[:, 0] = words
    else:
        out[:, 0] = index
    return out


def _keep(
    kind: str,
    dtype: DType,
    best: Array,
    base: int,
    index: NDArray[np.int64],
    registers: NDArray[np.uint64],
) -> None:
    """Keep value and index of the extreme of all repeats so far in the 910B's register.

    The index counts the elements of the call; the page promises it for dense sources only.
    """
    places = base + np.arange(len(best)) * (256 // dtype.itemsize) + index
    if base:
        word = np.uint16 if dtype.itemsize == 2 else np.uint32
        before = registers[1:2].astype(word).view(dtype.numpy)
        best = np.concatenate((before, best))
        places = np.concatenate((registers[2:3].astype(np.int64), places))
    value, at = extreme(best[None], dtype, kind, 0)
    registers[1] = value.view(np.uint16 if dtype.itemsize == 2 else np.uint32)[0]
    registers[2] = places[at[0]]
