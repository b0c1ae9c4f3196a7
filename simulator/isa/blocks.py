"""Arrays over the 32-byte blocks of a call's repeats, and one-element operands.

A mask that enables leading lanes cuts a repeat into full blocks and one partial block; each part is
one strided array of (repeat, block, lane). Masks with holes take explicit lane lists instead.
Source of the addressing: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/
SIMD计算说明/高维切分.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.errors import AlignmentError, ArgumentError, OutOfBoundsError
from simulator.isa.lanes import BLOCK, check_capacity, check_tensor, strided_operand
from simulator.isa.params import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simulator.core import AICore
    from simulator.instruction import Operand
    from simulator.isa.lanes import Active, Strided
    from simulator.tensor import LocalTensor

UNSIGNED: Final[dict[int, np.dtype[Any]]] = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}
"""Unsigned integer of a width: what calls that move bits without looking at them work on."""


class Part(NamedTuple):
    """Some blocks of some repeats.

    Attributes
    ----------
    first, repeats : int
        First repeat and number of repeats.
    block, blocks : int
        First block of each repeat and number of blocks.
    size : int
        Lanes of each block that take part.
    """

    first: int
    repeats: int
    block: int
    blocks: int
    size: int

    def of(self, matrix: NDArray[Any], per_block: int) -> NDArray[Any]:
        """Return this part of an array (repeat, lane), shaped (repeat, block, lane)."""
        start = self.block * per_block
        chosen = matrix[
            self.first : self.first + self.repeats, start : start + self.blocks * self.size
        ]
        return chosen.reshape(self.repeats, self.blocks, self.size)

    def view(
        self, core: AICore, tensor: LocalTensor, dtype: np.dtype[Any], blk: int, rep: int
    ) -> NDArray[Any]:
        """Return this part of a tensor with block stride ``blk`` and repeat stride ``rep``."""
        size = dtype.itemsize
        start = tensor.addr + BLOCK * (self.first * rep + self.block * blk)
        shape, strides = (self.repeats, self.blocks, self.size), (BLOCK * rep, BLOCK * blk, size)
        return np.ndarray(shape, dtype, core.local.ub, start, strides)


def prefix_parts(active: Active, lanes: int, per_block: int) -> list[Part]:
    """Return the parts of a call whose mask enables leading lanes only."""
    parts = []
    for first, count, width in active.segments:
        full, rest = divmod(min(width, lanes), per_block)
        if count and full:
            parts.append(Part(first, count, 0, full, per_block))
        if count and rest:
            parts.append(Part(first, count, full, 1, rest))
    return parts


def lane_rows(op: Strided, active: Active) -> NDArray[np.int64]:
    """Return indices into the UB seen as ``op``'s type: (repeat, lane) for a mask with holes."""
    size = op.tensor.dtype.itemsize
    chosen = np.array(active.lanes, np.int64) * size
    inside = BLOCK * (chosen // BLOCK) * op.blk_stride + chosen % BLOCK
    starts = op.tensor.addr + BLOCK * op.rep_stride * np.arange(active.repeats)
    rows: NDArray[np.int64] = (starts[:, None] + inside) // size
    return rows


def reached_operands(
    api: str, ops: Sequence[Strided], active: Active, lanes: int, source: str
) -> list[Operand]:
    """Return the operands of a strided call after checking alignment and bounds.

    Raises
    ------
    AlignmentError, OutOfBoundsError
    """
    operands = [strided_operand(op, active, lanes) for op in ops]
    for op, operand in zip(ops, operands, strict=True):
        reach = max((a.span()[1] for a in operand.accesses), default=op.tensor.addr)
        check_tensor(api, op.name, op.tensor, reach - op.tensor.addr, source)
    return operands


def first_element(api: str, name: str, tensor: LocalTensor, source: str) -> NDArray[Any]:
    """Return element 0 of a tensor as an array of one element; it need not start a 32-byte block.

    Raises
    ------
    AlignmentError, OutOfBoundsError
    """
    core, size = tensor._core, tensor.dtype.itemsize
    if tensor.length < 1:
        raise OutOfBoundsError(
            f"{name} has no element", api=api, argument=name, got="an empty tensor", source=source
        )
    if tensor.addr % size:
        raise AlignmentError(
            f"{name} is not aligned to its element size",
            api=api,
            argument=name,
            got=f"address {tensor.addr}",
            legal=f"a multiple of {size}",
            source=source,
        )
    check_capacity(api, name, tensor, source)
    at = tensor.addr // size
    return core.local.typed(tensor.dtype.numpy)[at : at + 1]


def as_params(api: str, given: Any, kind: type[Any], name: str = "repeatParams") -> Any:
    """Return a parameter struct; a plain tuple or list is taken as C++ takes ``{1, 1, 8, 8}``.

    Raises
    ------
    ArgumentError
        If it is of another kind, or a field is out of range.
    """
    if given is None:
        params = kind()
    elif isinstance(given, kind):
        params = given
    elif type(given) in (tuple, list) and len(given) <= len(kind._fields):
        params = kind(*given)
    else:
        raise ArgumentError(
            f"{name} is missing or of the wrong kind",
            api=api,
            argument=name,
            got=f"{given!r}",
            legal=f"{kind.__name__}({', '.join(kind._fields)})",
        )
    params.check(api)
    return plain(params)
