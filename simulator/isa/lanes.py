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
from numpy.lib.stride_tricks import as_strided

from simulator.errors import AlignmentError, OutOfBoundsError
from simulator.instruction import READ, UPDATE, WRITE, Access, Operand

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
            f"{name} is too small: the call reaches {nbytes} bytes, the tensor holds {tensor.nbytes}",
            api=api,
            argument=name,
            got=f"{nbytes} bytes ({-(-nbytes * 8 // tensor.dtype.bits)} elements of {tensor.dtype})",
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
    core: AICore, api: str, ops: Sequence[Strided], active: Active, lanes: int, rule: Rule, source: str
) -> tuple[tuple[Operand, ...], Rule]:
    """Check the operands of a mask form and bind ``rule`` to their bytes.

    ``rule(out, *sources, *scalars)`` then runs on strided arrays: one call for all full blocks and
    one for the remainder; on gathered lanes for a mask with holes; and repeat by repeat only when a
    repeat reads what an earlier one wrote, as the device's repeats follow each other.

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
    if active.lanes is not None:
        return operands, _bind_gathered(core, ops, active, rule)
    try:
        parts = [
            views
            for segment in active.segments
            if segment[1] and segment[2]
            for views in _block_views(core, ops, segment, lanes)
        ]
    except _UnevenError:
        return operands, _bind_gathered(core, ops, active, rule)
    if _repeats_depend(ops, active, lanes):
        return operands, partial(_run_in_order, rule, parts)
    if len(parts) == 1:
        return operands, partial(rule, *parts[0])
    return operands, partial(_run_parts, rule, parts)


def _nothing(*_: Any) -> None:
    return None


def _run_parts(rule: Rule, parts: list[tuple[NDArray[Any], ...]], *scalars: Any) -> None:
    for views in parts:
        rule(*views, *scalars)


def _run_in_order(rule: Rule, parts: list[tuple[NDArray[Any], ...]], *scalars: Any) -> None:
    repeats = max(views[0].shape[0] for views in parts)
    for r in range(repeats):
        for views in parts:
            if r < views[0].shape[0]:
                rule(*(view[r] for view in views), *scalars)


def _block_views(
    core: AICore, ops: Sequence[Strided], segment: tuple[int, int, int], lanes: int
) -> list[tuple[NDArray[Any], ...]]:
    """Return arrays of (repeat, block, part, lane) over the active lanes of one segment.

    Lanes are grouped by the widest operand's 32-byte block, so that operands of different widths
    line up; full groups and the remainder are separate arrays.
    """
    first, count, width = segment
    group = min(BLOCK // op.tensor.dtype.itemsize for op in ops)
    full, rest = divmod(min(width, lanes), group)
    cuts = [(0, full, group)] if full else []
    if rest:
        cuts.append((full, 1, rest))
    parts = []
    for start, groups, size in cuts:
        views = []
        for op in ops:
            item = op.tensor.dtype.itemsize
            share = BLOCK // item // group
            base = op.tensor.addr + BLOCK * first * op.rep_stride
            index = np.arange(start, start + groups)
            offsets = BLOCK * (index // share) * op.blk_stride + (index % share) * group * item
            views.append(_grouped(core, op, base, count, offsets, size))
        parts.append(tuple(views))
    return parts


def _grouped(
    core: AICore, op: Strided, base: int, count: int, offsets: NDArray[np.int64], size: int
) -> NDArray[Any]:
    """Return an array (repeat, group, lane) whose groups sit at ``offsets`` from ``base``."""
    item = op.tensor.dtype.itemsize
    typed = core.local.typed(op.tensor.dtype.numpy)
    steps = np.diff(offsets)
    step = int(steps[0]) if len(steps) else 0
    if not len(steps) or (steps == step).all():
        return as_strided(
            typed[(base + int(offsets[0])) // item :],
            (count, len(offsets), size),
            (BLOCK * op.rep_stride, step, item),
        )
    raise _UnevenError


class _UnevenError(Exception):
    """The groups of an operand are not evenly spaced; lanes are gathered instead."""


def lane_indices(op: Strided, active: Active, lanes: int) -> NDArray[np.int64]:
    """Return element indices into the typed UB, shape (all active lanes,), in lane order."""
    size = op.tensor.dtype.itemsize
    per_block = BLOCK // size
    out = []
    for first, count, width in active.segments:
        chosen = np.arange(min(width, lanes)) if active.lanes is None else np.array(active.lanes)
        inside = BLOCK * (chosen // per_block) * op.blk_stride + chosen % per_block * size
        starts = op.tensor.addr + BLOCK * op.rep_stride * np.arange(first, first + count)
        out.append(((starts[:, None] + inside) // size).reshape(count, len(chosen)))
    return out[0] if len(out) == 1 else np.concatenate([o.reshape(-1) for o in out])


def _bind_gathered(core: AICore, ops: Sequence[Strided], active: Active, rule: Rule) -> Rule:
    lanes = REPEAT // max(op.tensor.dtype.itemsize for op in ops)
    indices = [lane_indices(op, active, lanes) for op in ops]
    arrays = [core.local.typed(op.tensor.dtype.numpy) for op in ops]
    in_order = _repeats_depend(ops, active, lanes)
    return partial(_run_gathered, rule, arrays, indices, in_order)


def _run_gathered(
    rule: Rule,
    arrays: list[NDArray[Any]],
    indices: list[NDArray[np.int64]],
    in_order: bool,
    *scalars: Any,
) -> None:
    steps = [tuple(i[r] for i in indices) for r in range(len(indices[0]))] if in_order else [indices]
    for chosen in steps:
        values = [array[index] for array, index in zip(arrays, chosen, strict=True)]
        rule(*values, *scalars)
        arrays[0][chosen[0]] = values[0]


def _repeats_depend(ops: Sequence[Strided], active: Active, lanes: int) -> bool:
    """Whether a repeat reads or rewrites bytes that an earlier repeat wrote."""
    if active.repeats <= 1:
        return False
    dst = ops[0]
    wide = [
        BLOCK * ((active.repeats - 1) * op.rep_stride + 7 * op.blk_stride + 1) for op in ops
    ]
    overlapping = dst.rep_stride * BLOCK < 1 or dst.rep_stride < (
        (lanes * dst.tensor.dtype.itemsize // BLOCK - 1) * dst.blk_stride + 1
    )
    mixed = any(
        op.tensor.addr < dst.tensor.addr + wide[0]
        and dst.tensor.addr < op.tensor.addr + width
        and (op.tensor.addr, op.blk_stride, op.rep_stride, op.tensor.dtype.itemsize)
        != (dst.tensor.addr, dst.blk_stride, dst.rep_stride, dst.tensor.dtype.itemsize)
        for op, width in zip(ops[1:], wide[1:], strict=True)
    )
    if not overlapping and not mixed:
        return False
    return _written_before_read(ops, active, lanes)


def _written_before_read(ops: Sequence[Strided], active: Active, lanes: int) -> bool:
    order: dict[int, int] = {}
    per = [_bytes_by_repeat(op, active, lanes) for op in ops]
    for r in range(len(per[0])):
        for reads in per[1:]:
            if any(order.get(b, r) < r for b in reads[r]):
                return True
        for b in per[0][r]:
            if order.setdefault(b, r) < r:
                return True
    return False


def _bytes_by_repeat(op: Strided, active: Active, lanes: int) -> list[list[int]]:
    size = op.tensor.dtype.itemsize
    per_block = BLOCK // size
    out = []
    for first, count, width in active.segments:
        chosen = active.lanes if active.lanes is not None else tuple(range(min(width, lanes)))
        inside = [
            BLOCK * (lane // per_block) * op.blk_stride + lane % per_block * size for lane in chosen
        ]
        for r in range(first, first + count):
            base = op.tensor.addr + BLOCK * r * op.rep_stride
            out.append([base + i for i in inside])
    return out
