"""Placement of intermediate tensors in one workspace, shared by lifetime.

Source: hicann/opbase src/nnopbase/composite_op/mem_mgr/memory_allocator.cpp.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

ALIGNMENT: Final = 512
EXTRA_BYTES: Final = 32


def aligned_size(nbytes: int) -> int:
    """``nbytes + 32``, rounded up to 512."""
    return -(-(nbytes + EXTRA_BYTES) // ALIGNMENT) * ALIGNMENT


@dataclass(frozen=True)
class Lifetime:
    """An intermediate tensor: its size and the first and last node that use it.

    ``first`` is the index of the node that writes it; ``inputs_of_writer`` lists the intermediates
    that this node reads, whose place it must not take.
    """

    nbytes: int
    first: int
    last: int
    inputs_of_writer: tuple[int, ...] = ()


@dataclass
class _Bucket:
    size: int = 0
    members: list[int] = field(default_factory=list)


def place(tensors: Sequence[Lifetime]) -> tuple[list[int], int]:
    """Return the byte offset of every tensor, and the total size.

    Tensors go, in order, into the last bucket whose latest member is dead by then and is not read
    by the node that writes the new one; a bucket is as large as its largest member.
    """
    buckets: list[_Bucket] = []
    for index, tensor in enumerate(tensors):
        chosen = None
        for bucket in buckets:
            latest = bucket.members[-1]
            apart = tensors[latest].last < tensor.first or tensor.last < tensors[latest].first
            if apart and latest not in tensor.inputs_of_writer:
                chosen = bucket
        if chosen is None:
            chosen = _Bucket()
            buckets.append(chosen)
        chosen.members.append(index)
        chosen.size = max(chosen.size, aligned_size(tensor.nbytes))
    offsets, end = [0] * len(tensors), 0
    for bucket in buckets:
        for index in bucket.members:
            offsets[index] = end
        end += bucket.size
    return offsets, end
