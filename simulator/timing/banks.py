"""Bank conflicts of the unified buffer: what they add to each repeat of a vector call.

UB is a set of bank groups with a number of banks each. In one cycle a group serves one read, and
one write if that goes to another bank. A repeat whose source blocks meet in a group is read in as
many cycles as the busiest group has blocks; one whose result goes to a bank that a source is read
from, without the blocks lining up, waits for the write. When all blocks line up, the write is put
off by a repeat and costs nothing.

Source: mirror-cann/asc-devkit examples/01_simd_cpp_api/05_best_practices/04_memory_access/
bank_conflict_ub.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from simulator.instruction import READ, UPDATE, WRITE, VectorWork

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.instruction import Access, Operand, Plan
    from simulator.platforms.profile import Memory

    Blocks = NDArray[np.int64]

BLOCK: Final = 32
REPEAT: Final = 256
_BLOCKS: Final = REPEAT // BLOCK


class Conflicts(NamedTuple):
    """Repeats of a call by the cycles that reading their sources takes, and delayed writes.

    Attributes
    ----------
    reads : tuple of (cycles, repeats)
        How many repeats need how many cycles for their source blocks.
    writes : int
        Repeats whose result waits for a bank.
    """

    reads: tuple[tuple[int, int], ...]
    writes: int

    def cycles(self, slope: float, write_cycles: float) -> float:
        """``sum(repeats * max(slope, reads)) + writes * write_cycles``."""
        return sum(n * max(slope, c) for c, n in self.reads) + self.writes * write_cycles


def conflicts(plan: Plan, memory: Memory) -> Conflicts:
    """Return the conflicts of a vector call, from the UB addresses of its operands."""
    work: VectorWork = plan.work
    repeats = work.repeats
    sources = [op for op in plan.operands if op.role in (READ, UPDATE) and op.space == "UB"]
    results = [op for op in plan.operands if op.role in (WRITE, UPDATE) and op.space == "UB"]
    free = Conflicts(((1, repeats),), 0)
    if not repeats or not sources or not results:
        return free
    wide = {op.dtype.bits for op in (*sources, *results)}
    if len(wide) > 1:
        # Operands of different widths advance at different speeds; nobody has measured them.
        return free
    if all(_is_dense(op, repeats) for op in (*sources, *results)):
        return _dense(sources, results, repeats, memory)
    if any(not op.accesses or op.accesses[0].inner > BLOCK for op in (*sources, *results)):
        return free
    return _strided(sources, results, repeats, memory)


def _is_dense(op: Operand, repeats: int) -> bool:
    accesses = op.accesses
    return (
        len(accesses) == 1
        and not accesses[0].dims
        and accesses[0].lanes is None
        and (repeats - 1) * REPEAT < accesses[0].inner <= repeats * REPEAT
    )


def _dense(
    sources: list[Operand], results: list[Operand], repeats: int, memory: Memory
) -> Conflicts:
    """All operands advance by a repeat of 256 bytes, so their groups keep their distance."""
    starts = list(dict.fromkeys(op.accesses[0].start for op in sources))
    groups = memory.ub_bank_groups
    together = 1
    for i, first in enumerate(starts):
        meeting = 1
        for second in starts[i + 1 :]:
            gap = (memory.bank_group(first) - memory.bank_group(second)) % groups
            meeting += min(gap, groups - gap) < _BLOCKS
        together = max(together, meeting)
    writes = 0
    target = results[0].accesses[0].start
    for start in starts:
        gap = (memory.bank_group(start) - memory.bank_group(target)) % groups
        if gap and min(gap, groups - gap) < _BLOCKS:
            writes = max(writes, _same_bank(start, target, repeats, memory))
    return Conflicts(((together, repeats),), writes)


def _same_bank(first: int, second: int, repeats: int, memory: Memory) -> int:
    """Repeats in which two dense operands are in one bank (of any group)."""
    if memory.bank(first) == memory.bank(second) and memory.bank(
        first + (repeats - 1) * REPEAT
    ) == memory.bank(second + (repeats - 1) * REPEAT):
        return repeats
    return sum(
        memory.bank(first + r * REPEAT) == memory.bank(second + r * REPEAT) for r in range(repeats)
    )


def _strided(
    sources: list[Operand], results: list[Operand], repeats: int, memory: Memory
) -> Conflicts:
    read = [_blocks(op, repeats) for op in sources]
    written = _blocks(results[0], repeats)
    if written is None or any(blocks is None for blocks in read):
        return Conflicts(((1, repeats),), 0)
    groups, shift = memory.ub_bank_groups, memory.ub_bank_shift
    per_repeat: dict[int, int] = {}
    writes = 0
    for r in range(repeats):
        own = [blocks[r][blocks[r] >= 0] for blocks in read if blocks is not None]
        distinct = np.unique(np.concatenate(own))
        cycles = int(np.bincount(distinct % groups).max()) if distinct.size else 1
        per_repeat[cycles] = per_repeat.get(cycles, 0) + 1
        target = written[r][written[r] >= 0]
        where = (target * BLOCK >> shift) % memory.ub_banks_per_group * groups + target % groups
        for blocks in own:
            place = (blocks * BLOCK >> shift) % memory.ub_banks_per_group * groups + blocks % groups
            if (
                not np.array_equal(np.unique(place), np.unique(where))
                and np.isin(place, where).any()
            ):
                writes += 1
                break
    return Conflicts(tuple(sorted(per_repeat.items())), writes)


def _blocks(op: Operand, repeats: int) -> Blocks | None:
    """Return the 32-byte blocks of an operand, one row a repeat, -1 where a repeat has fewer.

    None when its accesses cannot be told apart by repeat.
    """
    parts = [_rows(access) for access in op.accesses]
    # A partial repeat is two accesses, its full blocks and the rest; they have as many repeats.
    surplus = sum(len(part) for part in parts) - repeats
    for i in range(len(parts) - 1, 0, -1):
        if surplus >= len(parts[i]) == len(parts[i - 1]):
            surplus -= len(parts[i])
            parts[i - 1 : i + 1] = [np.concatenate((parts[i - 1], parts[i]), axis=1)]
    if surplus:
        return None
    width = max(part.shape[1] for part in parts)
    return np.concatenate(
        [np.pad(part, ((0, 0), (0, width - part.shape[1])), constant_values=-1) for part in parts]
    )


def _rows(access: Access) -> Blocks:
    starts = access.run_starts() // BLOCK
    count = access.dims[0][0] if access.dims else 1
    return starts.reshape(count, -1)
