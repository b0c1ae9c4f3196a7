"""The basic calls that Broadcast consists of on 910B.

Along the last axis: Brcb makes a block of each element, Copy repeats the blocks, and GatherMask
closes the gaps of rows that do not fill blocks. Along the first axis: Or with zeros writes eight
rows at a time. One element: Duplicate. 8-bit elements are half in between. Source:
mirror-cann/asc-devkit impl/adv_api/detail/pad/broadcast (broadcast_common_impl.h,
broadcast_common_utils.h, broadcast_v220_impl.h).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from simulator.dtypes import half, uint16_t
from simulator.enums import HardEvent, MaskMode, PipeID, RoundMode
from simulator.errors import ArgumentError, OutOfBoundsError
from simulator.isa.composite import hand_over
from simulator.isa.conversion import Cast
from simulator.isa.copy import Copy
from simulator.isa.fill import Brcb, Duplicate
from simulator.isa.gather_mask import GatherMask
from simulator.isa.lanes import BLOCK
from simulator.isa.logic import Or
from simulator.isa.masks import MASK_PLACEHOLDER
from simulator.isa.params import BinaryRepeatParams, UnaryRepeatParams
from simulator.isa.rearrange_params import BrcbRepeatParams, CopyRepeatParams, GatherMaskParams
from simulator.isa.sync import PipeBarrier
from simulator.isa.system import ResetMask, SetMaskCount, SetMaskNorm, SetVectorMask
from simulator.tensor import LocalTensor

if TYPE_CHECKING:
    from types import FrameType

    from simulator.instruction import InstructionSpec

_ROWS: Final = 8
"""Blocks that a repeat of Brcb or Or writes."""

_BRCB_REPEATS: Final = {2: 254, 4: 255}
_MAX_REPEATS: Final = 255
_ALL: Final = 7
"""Pattern of GatherMask that keeps every element."""

Shape = tuple[int, ...]


def broadcast_on_910b(
    spec: InstructionSpec,
    dst: LocalTensor,
    src: LocalTensor,
    to: Shape,
    of: Shape,
    tmp: LocalTensor,
    frame: FrameType,
) -> None:
    """Repeat ``src`` of shape ``of`` to ``dst`` of shape ``to``.

    Raises
    ------
    ArgumentError, OutOfBoundsError
    """
    size = dst.dtype.itemsize
    counts = math.prod(to), math.prod(of)
    _check_row(spec, dst, to, of)
    _check_space(spec, size, to, of, tmp)
    SetMaskCount()
    if size > 1:
        _repeat(dst, src, to, of, tmp.ReinterpretCast(dst.dtype), frame)
    else:
        space = tmp.ReinterpretCast(half)
        source, target = space, space[_up(counts[1])]
        rest = target[_up(counts[0])]
        SetVectorMask(counts[1], mode=MaskMode.COUNTER)
        widen, narrow = UnaryRepeatParams(1, 1, 8, 4), UnaryRepeatParams(1, 1, 4, 8)
        Cast(source, src, RoundMode.CAST_NONE, MASK_PLACEHOLDER, 1, widen, False)
        PipeBarrier(PipeID.PIPE_V)
        _repeat(target, source, to, of, rest, frame)
        SetVectorMask(counts[0], mode=MaskMode.COUNTER)
        Cast(dst, target, RoundMode.CAST_NONE, MASK_PLACEHOLDER, 1, narrow, False)
        PipeBarrier(PipeID.PIPE_V)
    SetMaskNorm()
    ResetMask()


def _up(count: int, to: int = 16) -> int:
    return -(-count // to) * to


def _kind(to: Shape, of: Shape) -> str:
    if math.prod(to) == math.prod(of):
        return "copy"
    if math.prod(of) == 1:
        return "fill"
    return "rows" if of[0] == 1 else "columns"


def _check_row(spec: InstructionSpec, dst: LocalTensor, to: Shape, of: Shape) -> None:
    nbytes = to[-1] * dst.dtype.itemsize
    if _kind(to, of) == "rows" and nbytes % BLOCK:
        raise ArgumentError(
            "rows that repeat must fill whole 32-byte blocks",
            api=spec.name,
            argument="srcShape",
            got=f"rows of {to[-1]} elements of {dst.dtype}: {nbytes} bytes",
            legal="srcShape[1] * sizeof(T) a multiple of 32",
            source=spec.source,
        )


def _check_space(spec: InstructionSpec, size: int, to: Shape, of: Shape, tmp: LocalTensor) -> None:
    width = max(size, 2)
    kind = _kind(to, of)
    needed = 0
    if kind == "rows":
        needed = BLOCK
    elif kind == "columns":
        needed = _least(to[1], BLOCK // width) * width
    if size == 1:
        needed += 2 * (_up(math.prod(of)) + _up(math.prod(to)))
    if tmp.nbytes < needed:
        raise OutOfBoundsError(
            "the temporary buffer is too small",
            api=spec.name,
            argument="sharedTmpBuffer",
            got=f"{tmp.nbytes} bytes",
            legal=f">= {needed} bytes",
            source=spec.source,
        )


def _least(columns: int, per: int) -> int:
    """Elements of temporary space for ``per`` rows."""
    gaps = columns % per != 0
    return per * per + (per * _up(columns, per) if gaps else 0)


def _repeat(
    dst: LocalTensor, src: LocalTensor, to: Shape, of: Shape, tmp: LocalTensor, frame: FrameType
) -> None:
    """Repeat elements of two or four bytes; leave Counter mode on."""
    kind = _kind(to, of)
    if kind == "copy":
        SetVectorMask(math.prod(to), mode=MaskMode.COUNTER)
        Copy(dst, src, MASK_PLACEHOLDER, 1, CopyRepeatParams(1, 1, 8, 8), False)
        PipeBarrier(PipeID.PIPE_V)
    elif kind == "fill":
        core = dst._core
        hand_over(core, HardEvent.V_S, frame)
        value = src.GetValue(0)
        hand_over(core, HardEvent.S_V, frame)
        Duplicate(dst, value, math.prod(to))
        PipeBarrier(PipeID.PIPE_V)
    elif kind == "rows":
        _rows(dst, src, to, tmp)
    else:
        _columns(dst, src, to, tmp)
    SetMaskCount()


# -- along the last axis -----------------------------------------------------------------------


def _columns(dst: LocalTensor, src: LocalTensor, to: Shape, tmp: LocalTensor) -> None:
    rows, columns = to
    per = BLOCK // dst.dtype.itemsize
    at_once = tmp.length // _least(columns, per) * per
    for first in range(0, rows, at_once):
        part = dst[first * columns]
        _some_columns(part, src[first], min(at_once, rows - first), columns, tmp)


def _some_columns(
    dst: LocalTensor, src: LocalTensor, rows: int, columns: int, tmp: LocalTensor
) -> None:
    per = BLOCK // dst.dtype.itemsize
    _to_blocks(tmp, src, rows)
    wide = _up(columns, per)
    target = dst if wide == columns else tmp[rows * per]
    SetVectorMask(wide, mode=MaskMode.COUNTER)
    params = CopyRepeatParams(1, 0, wide // per, 1)
    for first in range(0, rows, _MAX_REPEATS):
        repeats = min(_MAX_REPEATS, rows - first)
        Copy(target[first * wide], tmp[first * per], MASK_PLACEHOLDER, repeats, params, False)
    PipeBarrier(PipeID.PIPE_V)
    if wide != columns:
        whole = GatherMaskParams(1, rows, wide // per, 0)
        GatherMask(dst, target, _ALL, True, columns, whole)
        SetMaskCount()
        PipeBarrier(PipeID.PIPE_V)


def _to_blocks(dst: LocalTensor, src: LocalTensor, rows: int) -> None:
    """Make a block of each element, eight elements at a time."""
    per = BLOCK // dst.dtype.itemsize
    most = _BRCB_REPEATS[dst.dtype.itemsize]
    if src.length < _up(rows, _ROWS):
        src = LocalTensor(src._core, src.addr, src.dtype, _up(rows, _ROWS), src.position)
    repeats = -(-rows // _ROWS)
    for first in range(0, repeats, most):
        source, target = src[first * _ROWS], dst[first * _ROWS * per]
        Brcb(target, source, min(most, repeats - first), BrcbRepeatParams(1, 8))
    PipeBarrier(PipeID.PIPE_V)


# -- along the first axis ----------------------------------------------------------------------


def _rows(dst: LocalTensor, src: LocalTensor, to: Shape, tmp: LocalTensor) -> None:
    rows, columns = to
    per = BLOCK // dst.dtype.itemsize
    zeros, source = tmp.ReinterpretCast(uint16_t), src.ReinterpretCast(uint16_t)
    Duplicate(zeros, 0, BLOCK // 2)
    PipeBarrier(PipeID.PIPE_V)
    if columns >= _MAX_REPEATS * per:
        SetMaskCount()
        SetVectorMask(columns * dst.dtype.itemsize // 2, mode=MaskMode.COUNTER)
        one_row = BinaryRepeatParams(1, 1, 0, 8, 8, 0)
        for row in range(rows):
            target = dst[row * columns].ReinterpretCast(uint16_t)
            Or(target, source, zeros, MASK_PLACEHOLDER, 1, one_row, False)
        PipeBarrier(PipeID.PIPE_V)
        return
    blocks = columns // per
    params = BinaryRepeatParams(blocks, 0, 0, 1, 1, 0)
    for first in range(0, rows, _ROWS):
        some = min(_ROWS, rows - first)
        if first == 0 or some < _ROWS:
            SetMaskNorm()
            SetVectorMask(some * BLOCK // 2, mode=MaskMode.NORMAL)
        target = dst[first * columns].ReinterpretCast(uint16_t)
        Or(target, source, zeros, MASK_PLACEHOLDER, blocks, params, False)
    PipeBarrier(PipeID.PIPE_V)
