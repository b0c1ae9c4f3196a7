"""The index walk of a strided copy, in plain integers: rows, boxes that fit UB, and bursts.

A view is seen as rows of adjacent elements. In UB every row starts on a 32-byte boundary, because
a burst of DataCopyPad does; the rows of a box lie in dense order, one behind another.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BLOCK: Final = 32
"""Bytes of a UB block."""

MAX_BURSTS: Final = 4095
"""Largest blockCount of a copy (mirror-cann/asc-devkit docs/zh/api, DataCopyPad)."""

MAX_GAP: Final = 2**32 - 1
"""Largest gap between two bursts in GM, in bytes; gaps are unsigned (DataCopyExtParams)."""

BLOCKS_PER_CALL: Final = 22
"""Blocks that a core moves in the time that one queued call takes at least.

copy_interval_cycles over the cycles of 32 bytes at read_rate_while_writing_gbps (profile 910b1).
"""


class Rows(NamedTuple):
    """A view as rows: the outer axes with their strides, and ``run`` elements a row.

    ``repeated`` says that a row is one element ``run`` times instead of ``run`` adjacent elements.
    """

    dims: tuple[int, ...]
    steps: tuple[int, ...]
    run: int
    repeated: bool


class Box(NamedTuple):
    """A part of a view that is copied at once: all rows of ``dims``, ``run`` elements each.

    ``first`` is the dense index of its first element, ``offset`` that element's place in the view.
    """

    first: int
    offset: int
    dims: tuple[int, ...]
    steps: tuple[int, ...]
    run: int

    @property
    def rows(self) -> int:
        """Number of rows."""
        return prod(self.dims)


class Bursts(NamedTuple):
    """Equally spaced rows: ``row + i * row_step`` in UB is element ``offset + i * step``."""

    row: int
    row_step: int
    offset: int
    step: int
    number: int


class Replica(NamedTuple):
    """A copy inside UB, in rows: ``number`` times ``rows`` from ``source`` to ``target``.

    Both sides advance by ``step`` rows each time.
    """

    target: int
    source: int
    rows: int
    step: int
    number: int


def blocks_of(elements: int, item: int) -> int:
    """UB blocks that a row of ``elements`` of ``item`` bytes takes."""
    return -(-elements * item // BLOCK)


def chunks(count: int, most: int = MAX_BURSTS) -> Iterator[tuple[int, int]]:
    """Cut ``count`` into ``(start, length)`` with lengths of at most ``most``."""
    for start in range(0, count, most):
        yield start, min(most, count - start)


# -- rows -----------------------------------------------------------------------------------------


def rows_to_gather(shape: Sequence[int], strides: Sequence[int], item: int) -> Rows:
    """Return the division of a view into rows that is read with the least work.

    ``shape`` has at least one axis; ``item`` is the size of an element in bytes.
    """
    return min(
        _divisions(shape, strides, repeats=True), key=lambda rows: _work(rows, item, gather=True)
    )


def rows_to_scatter(shape: Sequence[int], strides: Sequence[int], item: int) -> Rows:
    """Return the division of a view into rows that is written with the least work."""
    return min(
        _divisions(shape, strides, repeats=False), key=lambda rows: _work(rows, item, gather=False)
    )


def _divisions(shape: Sequence[int], strides: Sequence[int], *, repeats: bool) -> list[Rows]:
    dims, steps = tuple(shape), tuple(strides)
    found = [Rows(dims, steps, 1, repeated=False)]
    if dims[-1] == 1 or steps[-1] == 1:
        found.insert(0, Rows(dims[:-1], steps[:-1], dims[-1], repeated=False))
    elif steps[-1] == 0 and repeats:
        found.insert(0, Rows(dims[:-1], steps[:-1], dims[-1], repeated=True))
    return found


def _work(rows: Rows, item: int, *, gather: bool) -> float:
    count = prod(rows.dims)
    moved = prod(d for d, s in zip(rows.dims, rows.steps, strict=True) if s) if gather else count
    axis = _burst_axis(rows.dims, rows.steps, rows.run, item)
    widest = 1 if axis is None else rows.dims[axis]
    # A repeated row is one GetValue and one Duplicate.
    calls = 2 * moved if rows.repeated else moved / widest
    return calls + count * blocks_of(rows.run, item) / BLOCKS_PER_CALL


def _burst_axis(dims: Sequence[int], steps: Sequence[int], run: int, item: int) -> int | None:
    """Longest axis along which rows can be the bursts of one copy, that is without overlap."""
    legal = [
        axis
        for axis, (dim, step) in enumerate(zip(dims, steps, strict=True))
        if dim > 1 and step >= run and (step - run) * item <= MAX_GAP
    ]
    return max(legal, key=lambda axis: dims[axis], default=None)


# -- boxes ----------------------------------------------------------------------------------------


def boxes(rows: Rows, first: int, end: int, item: int, room: int) -> Iterator[Box]:
    """Cut the dense elements ``[first, end)`` of a view into boxes, in dense order.

    Parameters
    ----------
    rows : Rows
    first, end : int
        Within the view; nothing comes out unless ``first < end``.
    item : int
        Bytes of an element.
    room : int
        Bytes of UB that a box may take, at least one block.
    """
    if first < end:
        yield from _Cutter(rows, item, room).cut(0, 0, 0, first, end)


class _Cutter:
    """Recursive division of dense ranges, outermost axis first."""

    def __init__(self, rows: Rows, item: int, room: int) -> None:
        self.rows = rows
        dims = rows.dims
        self.below = [prod(dims[axis + 1 :]) for axis in range(len(dims))]
        blocks = room // BLOCK
        self.capacity = blocks // blocks_of(rows.run, item)
        self.piece = blocks * BLOCK // item

    def cut(self, axis: int, base: int, offset: int, low: int, high: int) -> Iterator[Box]:
        """Boxes of ``[low, high)`` within one sub-view of the axes from ``axis`` on.

        The sub-view starts at dense index ``base`` and at view element ``offset``.
        """
        dims, steps, run, repeated = self.rows
        if axis == len(dims):
            for start, length in chunks(high - low, self.piece):
                at = low + start
                yield Box(base + at, offset if repeated else offset + at, (), (), length)
            return
        size, step = self.below[axis] * run, steps[axis]
        whole, last = -(-low // size), high // size

        def part(digit: int, low: int, high: int) -> Iterator[Box]:
            return self.cut(axis + 1, base + digit * size, offset + digit * step, low, high)

        if whole > last:
            yield from part(last, low - last * size, high - last * size)
            return
        if low < whole * size:
            yield from part(whole - 1, low - (whole - 1) * size, size)
        together = self.capacity // self.below[axis]
        if together:
            inner, inner_steps = dims[axis + 1 :], steps[axis + 1 :]
            for start, count in chunks(last - whole, together):
                at = whole + start
                yield Box(
                    base + at * size,
                    offset + at * step,
                    (count, *inner),
                    (step, *inner_steps),
                    run,
                )
        else:
            for digit in range(whole, last):
                yield from part(digit, 0, size)
        if last * size < high:
            yield from part(last, 0, high - last * size)


# -- what one box needs ---------------------------------------------------------------------------


def bursts(box: Box, item: int, *, distinct: bool) -> Iterator[Bursts]:
    """Cover the rows of a box with multi-burst copies of at most 4095 bursts.

    With ``distinct``, of rows that a stride of 0 repeats only the first is covered.
    """
    axis = _burst_axis(box.dims, box.steps, box.run, item)
    dims = list(box.dims)
    length, step, row_step = 1, 0, 1
    if axis is not None:
        length, step, row_step = box.dims[axis], box.steps[axis], prod(box.dims[axis + 1 :])
        dims[axis] = 1
    for row, offset in _places(box, dims, distinct=distinct):
        for start, count in chunks(length):
            yield Bursts(row + start * row_step, row_step, offset + start * step, step, count)


def distinct_rows(box: Box) -> Iterator[tuple[int, int]]:
    """Row in UB and place in the view of every row that no stride of 0 repeats."""
    return _places(box, box.dims, distinct=True)


def _places(box: Box, dims: Sequence[int], *, distinct: bool) -> Iterator[tuple[int, int]]:
    """Row and view element of every index within ``dims``, which are at most those of the box."""
    weights = [prod(box.dims[axis + 1 :]) for axis in range(len(box.dims))]
    walked = [
        1 if distinct and step == 0 else dim for dim, step in zip(dims, box.steps, strict=True)
    ]
    # Axes of length 1 do not move; without them the product stays cheap.
    moving = [axis for axis, dim in enumerate(walked) if dim > 1]
    for digits in product(*(range(walked[axis]) for axis in moving)):
        row, offset = 0, box.offset
        for axis, digit in zip(moving, digits, strict=True):
            row += digit * weights[axis]
            offset += digit * box.steps[axis]
        yield row, offset


def replicas(box: Box) -> Iterator[list[Replica]]:
    """Copies inside UB that fill the rows which strides of 0 repeat, given the distinct rows.

    The copies of one list do not depend on each other; each list depends on those before it. Every
    list doubles the rows that are there, so there are few.
    """
    dims, steps = box.dims, box.steps
    repeating = [axis for axis in range(len(dims)) if dims[axis] > 1 and steps[axis] == 0]
    for axis in reversed(repeating):
        # Rows of an outer repeating axis are not there yet, except for its first index.
        outer = max((other for other in repeating if other < axis), default=-1)
        inner = prod(dims[axis + 1 :])
        step = dims[axis] * inner
        count = prod(dims[outer + 1 : axis])
        head = Box(0, 0, dims[: outer + 1], steps[: outer + 1], 1)
        starts = [row * count * step for row, _ in distinct_rows(head)]
        have = 1
        while have < dims[axis]:
            more = min(have, dims[axis] - have)
            yield [
                Replica(
                    start + at * step + have * inner, start + at * step, more * inner, step, length
                )
                for start in starts
                for at, length in chunks(count)
            ]
            have += more
