"""Vector calls whose source and destination overlap in a way that the documentation forbids.

Within one repeat source and destination must be the same bytes or share none; across repeats, what
one repeat writes must not be what a later one reads. Add, Sub, Mul, Max, Min, AddRelu and SubRelu
may accumulate into one repeat. Source: mirror-cann/asc-devkit
docs/zh/api/SIMD-API/通用说明和约束.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from simulator.instruction import READ, WRITE, VectorWork
from simulator.sanitizer.ranges import is_dense

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simulator.instruction import Access, Operand, Plan

    Addresses = NDArray[np.int64]

IN_ONE_REPEAT: Final = "partial_overlap_in_one_repeat"
ACROSS_REPEATS: Final = "read_of_what_an_earlier_repeat_wrote"

_REPEAT_BYTES: Final = 256
_ACCUMULATING: Final = frozenset({"Add", "Sub", "Mul", "Max", "Min", "AddRelu", "SubRelu"})
_ACCUMULATED_TYPES: Final = frozenset({"half", "float", "int32_t"})


class Overlap(NamedTuple):
    """One repeat that breaks the rule.

    Attributes
    ----------
    rule : str
        ``IN_ONE_REPEAT`` or ``ACROSS_REPEATS``.
    repeat : int
        Repeat that reads.
    writer : int
        Repeat that writes the shared bytes: the same one, or an earlier one.
    operand : str
        The source that is overlapped.
    written, read : (int, int)
        UB bytes from the first to behind the last of what ``writer`` writes and ``repeat`` reads.
    """

    rule: str
    repeat: int
    writer: int
    operand: str
    written: tuple[int, int]
    read: tuple[int, int]

    @property
    def order_safe(self) -> bool:
        """Whether the result is right nevertheless if a repeat reads all before it writes."""
        return self.writer == self.repeat


def overlaps(plan: Plan) -> list[Overlap]:
    """Return the repeats of a vector call that break the rule, in order.

    Calls of other pipes and operands that are not walked lane by lane (the result of a reduction,
    an index table) have none.
    """
    work = plan.work
    if not isinstance(work, VectorWork) or work.repeats == 0 or plan.spec.family == "reduction":
        return []
    targets = [op for op in plan.operands if op.role == WRITE and op.space == "UB"]
    sources = [op for op in plan.operands if op.role == READ and op.space == "UB"]
    if not targets or not sources:
        return []
    target = targets[0]
    if not any(_meet(target, source) for source in sources):
        return []
    sizes = [op.dtype.itemsize for op in (target, *sources) if _is_lanewise(op, work)]
    if not sizes or not _is_lanewise(target, work, bits=True):
        return []
    lanes = _REPEAT_BYTES // max(sizes)
    written: list[Addresses] = []
    found: list[Overlap] = []
    for source in sources:
        if not _meet(target, source) or not _is_lanewise(source, work, bits=True):
            continue
        if is_dense(target.accesses) and is_dense(source.accesses):
            found += _dense(
                target, source, work, lanes, across=not _accumulates(plan, target, source)
            )
            continue
        written = written or _by_repeat(target, work, lanes)
        read = _by_repeat(source, work, lanes)
        found += _within(source.name, written, read)
        if not _accumulates(plan, target, source):
            found += _across(source.name, written, read)
    return sorted(found, key=lambda overlap: (overlap.repeat, overlap.writer))


def _meet(first: Operand, second: Operand) -> bool:
    """Whether two operands share bytes other than lane by lane."""
    if first.accesses == second.accesses and not any(map(_folds, first.accesses)):
        return False
    (low, high), (start, end) = _span(first), _span(second)
    return low < end and start < high


def _folds(access: Access) -> bool:
    """Whether steps of an access touch bytes of other steps."""
    if access.lanes is not None:
        return len(access.dims) > 0
    extent = access.inner
    for count, stride in sorted(access.dims, key=lambda dim: abs(dim[1])):
        if count > 1 and abs(stride) < extent:
            return True
        extent += (count - 1) * abs(stride)
    return False


def _dense(
    target: Operand, source: Operand, work: VectorWork, lanes: int, *, across: bool
) -> list[Overlap]:
    """Return the overlaps of two unbroken runs; repeats are equal steps along both."""
    written, read = (_steps(op, work, lanes) for op in (target, source))
    count = min(len(written), len(read))
    low = np.maximum(written[:count, 0], read[:count, 0])
    high = np.minimum(written[:count, 1], read[:count, 1])
    unequal = (written[:count] != read[:count]).any(axis=1)
    found = [
        Overlap(IN_ONE_REPEAT, int(r), int(r), source.name, _pair(written[r]), _pair(read[r]))
        for r in np.flatnonzero((low < high) & unequal)
    ]
    if across and count > 1:
        # What repeats 0 .. r-1 write is one run, from the first byte to the end of repeat r-1.
        first, share = int(written[0, 0]), int(written[0, 1] - written[0, 0])
        last = np.minimum(read[1:count, 1], written[: count - 1, 1]) - 1
        for r in np.flatnonzero(last >= np.maximum(read[1:count, 0], first)) + 1:
            writer = (int(last[r - 1]) - first) // share
            found.append(
                Overlap(
                    ACROSS_REPEATS,
                    int(r),
                    writer,
                    source.name,
                    _pair(written[writer]),
                    _pair(read[r]),
                )
            )
    return found


def _steps(operand: Operand, work: VectorWork, lanes: int) -> Addresses:
    """Return first byte and one past the last of each repeat of an unbroken run."""
    low, high = _span(operand)
    share = lanes * (high - low) // work.elements if work.repeats > 1 else high - low
    starts = np.arange(low, high, share)
    return np.stack((starts, np.minimum(starts + share, high)), axis=1)


def _pair(edges: Addresses) -> tuple[int, int]:
    return int(edges[0]), int(edges[1])


def _span(operand: Operand) -> tuple[int, int]:
    spans = [access.span() for access in operand.accesses] or [(0, 0)]
    return min(low for low, _ in spans), max(high for _, high in spans)


def _is_lanewise(operand: Operand, work: VectorWork, *, bits: bool = False) -> bool:
    """Whether an operand has one element, or with ``bits`` also one bit, for each lane."""
    total = 8 * sum(access.nbytes for access in operand.accesses)
    per_lane = (operand.dtype.bits, 1) if bits else (operand.dtype.bits,)
    return total in tuple(width * work.elements for width in per_lane)


def _by_repeat(operand: Operand, work: VectorWork, lanes: int) -> list[Addresses]:
    """Return the byte addresses that each repeat touches, in lane order."""
    accesses = operand.accesses
    if len(accesses) == 1 and not accesses[0].dims and accesses[0].lanes is None:
        every = accesses[0].start + np.arange(accesses[0].inner)
        share = lanes * accesses[0].inner // work.elements if work.repeats > 1 else len(every)
        return [every[at : at + share] for at in range(0, len(every), share)]
    repeats: list[list[Addresses]] = []
    room = lanes * operand.dtype.bits // 8
    first, full = 0, True
    for access in accesses:
        parts = _runs(access)
        # A remainder belongs to the repeats of the access before it, unless those are full.
        if full or len(access.dims) != 1 or len(parts) != len(repeats) - first:
            first = len(repeats)
            repeats += [[] for _ in parts]
        for at, part in enumerate(parts, first):
            repeats[at].append(part)
        full = sum(len(part) for part in repeats[-1]) >= room
    return [np.concatenate(parts) for parts in repeats]


def _runs(access: Access) -> list[Addresses]:
    """Return the bytes of an access, one array for each step of its outermost dimension."""
    starts = access.run_starts()
    count = access.dims[0][0] if access.dims and access.lanes is None else 1
    inside = np.arange(access.inner)
    return [(part[:, None] + inside).reshape(-1) for part in np.split(starts, count)]


def _within(name: str, written: Sequence[Addresses], read: Sequence[Addresses]) -> list[Overlap]:
    return [
        _overlap(IN_ONE_REPEAT, repeat, repeat, name, target, source)
        for repeat, (target, source) in enumerate(zip(written, read, strict=False))
        if len(np.intersect1d(target, source)) and not np.array_equal(target, source)
    ]


def _across(name: str, written: Sequence[Addresses], read: Sequence[Addresses]) -> list[Overlap]:
    low = min(int(addresses.min()) for addresses in written)
    high = max(int(addresses.max()) for addresses in written) + 1
    writer = np.full(high - low, len(written))
    found = []
    for repeat, source in enumerate(read):
        inside = source[(source >= low) & (source < high)] - low
        earlier = writer[inside]
        earlier = earlier[earlier < repeat]
        if len(earlier):
            last = int(earlier.max())
            found.append(_overlap(ACROSS_REPEATS, repeat, last, name, written[last], source))
        if repeat < len(written):
            writer[written[repeat] - low] = repeat
    return found


def _overlap(
    rule: str, repeat: int, writer: int, name: str, written: Addresses, read: Addresses
) -> Overlap:
    return Overlap(rule, repeat, writer, name, _bounds(written), _bounds(read))


def _bounds(addresses: Addresses) -> tuple[int, int]:
    return int(addresses.min()), int(addresses.max()) + 1


def _accumulates(plan: Plan, target: Operand, source: Operand) -> bool:
    """Whether ``source`` may be what earlier repeats wrote: src1 of an accumulation."""
    if plan.spec.name not in _ACCUMULATING or source.name != "src1":
        return False
    if target.dtype.name not in _ACCUMULATED_TYPES:
        return False
    return any(
        len(access.dims) > 0 and access.dims[0][1] == 0
        for access in (*target.accesses, *source.accesses)
    )
