"""Which bytes a vector call touches, and arrays over exactly those bytes.

A repeat covers 256 bytes of the widest operand: lane ``l`` of repeat ``r`` of an operand sits at
``base + 32*(r*repStride + (l*size//32)*blkStride) + (l*size) % 32``. Source of the addressing and
of the mask rules: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/SIMD计算说明
(高维切分.md, 掩码.md).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.errors import AlignmentError, OutOfBoundsError
from simulator.instruction import READ, Access, Operand

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from simulator.core import AICore
    from simulator.tensor import LocalTensor

    Rule = Callable[..., Any]

BLOCK: Final = 32
REPEAT: Final = 256


class Strided(NamedTuple):
    """A tensor operand of a mask form: strides in 32-byte blocks."""

    name: str
    role: str
    tensor: LocalTensor
    blk_stride: int
    rep_stride: int


class Active(NamedTuple):
    """Which lanes of which repeats a call works on.

    ``segments`` holds (first repeat, repeats, leading lanes); ``lanes`` holds an explicit lane list
    for masks that are not a prefix, used by every repeat of every segment.
    """

    segments: tuple[tuple[int, int, int], ...]
    lanes: tuple[int, ...] | None = None

    @property
    def elements(self) -> int:
        """Active lanes in all repeats."""
        per = None if self.lanes is None else len(self.lanes)
        return sum(n * (width if per is None else per) for _, n, width in self.segments)

    @property
    def repeats(self) -> int:
        """Repeats the call takes."""
        return sum(n for _, n, _ in self.segments)


def check_tensor(api: str, name: str, tensor: LocalTensor, nbytes: int, source: str) -> None:
    """Refuse a misaligned tensor or one that does not own ``nbytes``.

    Raises
    ------
    AlignmentError, OutOfBoundsError
    """
    if tensor.addr % BLOCK:
        raise AlignmentError(
            f"{name} starts at UB address {tensor.addr:#x}, which is not 32-byte aligned",
            api=api,
            argument=name,
            got=f"address {tensor.addr} ({tensor.addr % BLOCK} bytes past a 32-byte boundary)",
            legal="a start address that is a multiple of 32",
            fix=f"offset {name} by a multiple of {BLOCK * 8 // tensor.dtype.bits} elements",
            source=source,
        )
    if nbytes > tensor.nbytes:
        raise OutOfBoundsError(
            f"{name} holds {tensor.nbytes} bytes, the call reaches {nbytes}",
            api=api,
            argument=name,
            got=f"{nbytes} bytes ({-(-nbytes * 8 // tensor.dtype.bits)} of {tensor.dtype})",
            legal=f"<= {tensor.nbytes} bytes ({tensor.length} elements)",
            source=source,
        )
    check_capacity(api, name, tensor, source)


def check_capacity(api: str, name: str, tensor: LocalTensor, source: str) -> None:
    """Refuse a tensor that reaches past the unified buffer.

    Raises
    ------
    OutOfBoundsError
    """
    ub = len(tensor._core.local.ub)
    if tensor.addr + tensor.nbytes > ub:
        raise OutOfBoundsError(
            f"{name} reaches past the unified buffer",
            api=api,
            argument=name,
            got=f"UB bytes {tensor.addr}..{tensor.addr + tensor.nbytes}",
            legal=f"0..{ub}",
            source=source,
        )


def dense_view(core: AICore, tensor: LocalTensor, count: int) -> NDArray[Any]:
    """Return the first ``count`` elements of a tensor as an array on UB."""
    size = tensor.dtype.itemsize
    first = tensor.addr // size
    whole = core.local.typed(tensor.dtype.numpy)
    if tensor.dtype.bits < 8:
        return whole[first : first + tensor.dtype.bytes_for(count)]
    return whole[first : first + count]


def dense_operand(name: str, role: str, tensor: LocalTensor, count: int) -> Operand:
    """Return the operand of a count form: one run of bytes."""
    return Operand(
        name, role, "UB", tensor.dtype, (Access(tensor.addr, tensor.dtype.bytes_for(count)),)
    )


def strided_operand(op: Strided, active: Active, lanes: int) -> Operand:
    """Return the operand of a mask form: the bytes of its active lanes."""
    size = op.tensor.dtype.itemsize
    per_block = BLOCK // size
    base = op.tensor.addr
    accesses = []
    for first, count, width in active.segments:
        start = base + BLOCK * first * op.rep_stride
        steps = ((count, BLOCK * op.rep_stride),)
        if active.lanes is not None:
            offsets = tuple(
                BLOCK * (lane // per_block) * op.blk_stride + lane % per_block * size
                for lane in active.lanes
            )
            accesses += [
                Access(start + r * BLOCK * op.rep_stride, size, (), offsets) for r in range(count)
            ]
            continue
        full, rest = divmod(min(width, lanes), per_block)
        if full:
            accesses.append(Access(start, BLOCK, (*steps, (full, BLOCK * op.blk_stride))))
        if rest:
            accesses.append(Access(start + BLOCK * full * op.blk_stride, rest * size, steps))
    return Operand(op.name, op.role, "UB", op.tensor.dtype, tuple(accesses))


def bind_strided(
    core: AICore,
    api: str,
    ops: Sequence[Strided],
    active: Active,
    lanes: int,
    rule: Rule,
    source: str,
) -> tuple[tuple[Operand, ...], Rule]:
    """Check the operands of a mask form and bind ``rule`` to their bytes.

    ``rule(out, *sources, *scalars)`` runs on strided arrays: one call for the full blocks of all
    repeats and one for the lanes left over; on gathered lanes where a mask has holes or a source
    overlaps the destination without being it; and repeat by repeat only when a repeat reads or
    rewrites what an earlier one wrote, as the device's repeats follow each other.

    Raises
    ------
    AlignmentError, OutOfBoundsError
    """
    operands = tuple(strided_operand(op, active, lanes) for op in ops)
    for op, operand in zip(ops, operands, strict=True):
        reach = max((a.span()[1] for a in operand.accesses), default=op.tensor.addr)
        check_tensor(api, op.name, op.tensor, reach - op.tensor.addr, source)
    if active.elements == 0:
        return operands, _nothing
    clash = any(overlaps_partly(ops[0], op, active) for op in ops[1:])
    in_order = (clash or _may_rewrite(ops[0], active, lanes)) and _depends(ops, active, lanes)
    if clash or active.lanes is not None or not all(_even(op, ops) for op in ops):
        return operands, _bind_gathered(core, ops, active, rule, in_order)
    segments = [
        (segment[1], _block_views(core, ops, segment, lanes)) for segment in active.segments
    ]
    if in_order:
        return operands, partial(_run_in_order, rule, segments)
    parts = [views for _, cuts in segments for views in cuts]
    if len(parts) == 1:
        return operands, partial(rule, *parts[0])
    return operands, partial(_run_parts, rule, parts)


def _nothing(*_: Any) -> None:
    return None


def _run_parts(rule: Rule, parts: list[tuple[NDArray[Any], ...]], *scalars: Any) -> None:
    for views in parts:
        rule(*views, *scalars)


def _run_in_order(
    rule: Rule, segments: list[tuple[int, list[tuple[NDArray[Any], ...]]]], *scalars: Any
) -> None:
    for repeats, cuts in segments:
        for r in range(repeats):
            for views in cuts:
                rule(*(view[r] for view in views), *scalars)


def _block_views(
    core: AICore, ops: Sequence[Strided], segment: tuple[int, int, int], lanes: int
) -> list[tuple[NDArray[Any], ...]]:
    """Return arrays of (repeat, group, lane) over the active lanes of one segment.

    A group is a 32-byte block of the widest operand, so that operands of different widths line up;
    full groups and the lanes left over are separate arrays.
    """
    first, count, width = segment
    group = min(BLOCK // op.tensor.dtype.itemsize for op in ops)
    full, rest = divmod(min(width, lanes), group)
    cuts = [(0, full, group)] if full else []
    if rest:
        cuts.append((full, 1, rest))
    return [tuple(_block_view(core, op, (first, count), cut, group) for op in ops) for cut in cuts]


def _block_view(
    core: AICore, op: Strided, repeats: tuple[int, int], cut: tuple[int, int, int], group: int
) -> NDArray[Any]:
    first, count = repeats
    start, groups, lanes = cut
    item = op.tensor.dtype.itemsize
    step = group * item if group * item < BLOCK else BLOCK * op.blk_stride
    offset = op.tensor.addr + BLOCK * first * op.rep_stride + start * step
    # as_strided does not take fp8_e5m2_t.
    return np.ndarray(
        (count, groups, lanes),
        op.tensor.dtype.numpy,
        core.local.ub,
        offset,
        (BLOCK * op.rep_stride, step, item),
    )


def _even(op: Strided, ops: Sequence[Strided]) -> bool:
    """Whether the groups of an operand are evenly spaced: not in a narrow one with block gaps."""
    widest = max(other.tensor.dtype.itemsize for other in ops)
    return op.blk_stride == 1 or op.tensor.dtype.itemsize == widest


def lane_indices(op: Strided, active: Active, lanes: int) -> list[NDArray[np.int64]]:
    """Return element indices into the typed UB, shape (repeats, lanes), for each segment."""
    size = op.tensor.dtype.itemsize
    per_block = BLOCK // size
    out = []
    for first, count, width in active.segments:
        chosen = np.arange(min(width, lanes)) if active.lanes is None else np.array(active.lanes)
        inside = BLOCK * (chosen // per_block) * op.blk_stride + chosen % per_block * size
        starts = op.tensor.addr + BLOCK * op.rep_stride * np.arange(first, first + count)
        out.append((starts[:, None] + inside) // size)
    return out


def _bind_gathered(
    core: AICore, ops: Sequence[Strided], active: Active, rule: Rule, in_order: bool
) -> Rule:
    lanes = REPEAT // max(op.tensor.dtype.itemsize for op in ops)
    by_segment = zip(*(lane_indices(op, active, lanes) for op in ops), strict=True)
    steps: list[tuple[NDArray[np.int64], ...]]
    if in_order:
        steps = [rows for indices in by_segment for rows in zip(*indices, strict=True)]
    else:
        whole = [[index.reshape(-1) for index in indices] for indices in by_segment]
        steps = [tuple(np.concatenate(index) for index in zip(*whole, strict=True))]
    arrays = [core.local.typed(op.tensor.dtype.numpy) for op in ops]
    written = [i for i, op in enumerate(ops) if op.role != READ]
    return partial(_run_gathered, rule, arrays, written, steps)


def _run_gathered(
    rule: Rule,
    arrays: list[NDArray[Any]],
    written: list[int],
    steps: list[tuple[NDArray[np.int64], ...]],
    *scalars: Any,
) -> None:
    for chosen in steps:
        values = [array[index] for array, index in zip(arrays, chosen, strict=True)]
        rule(*values, *scalars)
        for i in written:
            arrays[i][chosen[i]] = values[i]


def overlaps_partly(dst: Strided, src: Strided, active: Active) -> bool:
    """Whether a source shares bytes with the destination, but not lane for lane."""
    size = dst.tensor.dtype.itemsize
    if (dst.tensor.addr, size, *dst[3:]) == (src.tensor.addr, src.tensor.dtype.itemsize, *src[3:]):
        return False
    repeats = max((first + count for first, count, _ in active.segments), default=0)
    ends = [
        op.tensor.addr + BLOCK * ((repeats - 1) * op.rep_stride + 7 * op.blk_stride + 1)
        for op in (dst, src)
    ]
    return dst.tensor.addr < ends[1] and src.tensor.addr < ends[0]


def _may_rewrite(dst: Strided, active: Active, lanes: int) -> bool:
    """Whether repeats of the destination can share bytes (a quick test, sometimes wrongly yes)."""
    blocks = -(-lanes * dst.tensor.dtype.itemsize // BLOCK)
    return active.repeats > 1 and dst.rep_stride < (blocks - 1) * dst.blk_stride + 1


def _depends(ops: Sequence[Strided], active: Active, lanes: int) -> bool:
    """Whether a repeat reads or rewrites bytes that an earlier repeat wrote."""
    grain = min(op.tensor.dtype.itemsize for op in ops)
    touched = [_grains(op, active, lanes, grain) for op in ops]
    top = max(int(grains.max()) for op in touched for grains in op)
    first_writer = np.full(top + 1, len(touched[0]))
    for r in reversed(range(len(touched[0]))):
        first_writer[touched[0][r]] = r
    return any((first_writer[grains] < r).any() for op in touched for r, grains in enumerate(op))


def _grains(op: Strided, active: Active, lanes: int, grain: int) -> list[NDArray[np.int64]]:
    """Return, for each repeat, what an operand touches, counted in units of ``grain`` bytes."""
    units = np.arange(op.tensor.dtype.itemsize // grain)
    return [
        (row[:, None] * len(units) + units).reshape(-1)
        for segment in lane_indices(op, active, lanes)
        for row in segment
    ]
