"""The record of a run by distinct instruction stream, and its accesses to global memory.

Blocks that issue the same plans in the same order are one stream: what concerns the unified buffer
is checked once and counted for each of them. Global memory differs between blocks by the pointers
that the entries carry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.memory import GlobalAddress
from simulator.sanitizer.classes import COMBINES, MTE3, READS, WRITES, S
from simulator.sanitizer.regions import Regions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.core import Entry
    from simulator.instruction import Operand, Plan
    from simulator.memory import Allocation
    from simulator.run import Block, Run
    from simulator.sanitizer.ranges import Ranges

_UNCHECKED: Final = frozenset(
    {
        "ReadGmByPassDCache", "WriteGmByPassDCache", "AtomicAdd", "AtomicMax", "AtomicMin",
        "AtomicExch", "AtomicCas", "DataCacheCleanAndInvalid", "DumpTensor",
    }
)  # fmt: skip
"""Calls that are made to meet other blocks' accesses, or to look on."""


_LONGEST: Final = 4096
_MOST: Final = 512
"""Plans of a stream, and streams, that are remembered with a local memory."""


class GmAccess(NamedTuple):
    """One operand in global memory at one place of a stream; ``combines`` is the atomic mode."""

    at: int
    plan: Plan
    operand: Operand
    kind: int
    combines: str = ""


class Use(NamedTuple):
    """One access of one block: what is touched is that of ``access`` moved by ``offset`` bytes."""

    block: int
    access: GmAccess
    allocation: Allocation
    offset: int


class Stream:
    """Blocks with equal plans in equal order.

    Attributes
    ----------
    plans : tuple of Plan
    entries : list
        Record of the first of the blocks.
    blocks : list of Block
    distinct : list of Plan
        Plans in the order of their first occurrence.
    """

    def __init__(self, plans: tuple[Plan, ...], block: Block) -> None:
        self.plans = plans
        self.entries: list[Entry] = block.entries
        self.blocks = [block]
        self.distinct = list(dict.fromkeys(plans))
        self._global: list[GmAccess] | None = None
        self._regions: Regions | None = None

    def regions(self, ranges: Ranges) -> Regions:
        """Return the regions of the unified buffer that the plans touch."""
        if self._regions is None or self._regions.ranges is not ranges:
            touched = {touch.rid for plan in self.distinct for touch in ranges.touches(plan)}
            self._regions = Regions(ranges, touched)
        return self._regions

    def is_clean(self, check: str) -> bool:
        """Whether an earlier run of the same plans has passed a check."""
        local = self.first.local
        return local is not None and (check, self.plans) in local.clean

    def note_clean(self, check: str) -> None:
        """Remember with the plans that the stream has passed a check."""
        local = self.first.local
        if local is None or len(self.plans) > _LONGEST:
            return
        if len(local.clean) > _MOST:
            local.clean.clear()
        local.clean.add((check, self.plans))

    @property
    def first(self) -> Block:
        """The block that findings are attributed to."""
        return self.blocks[0]

    def places(self, wanted: set[Plan]) -> list[int]:
        """Return the positions of some plans."""
        return [i for i, plan in enumerate(self.plans) if plan in wanted] if wanted else []

    @property
    def global_accesses(self) -> list[GmAccess]:
        """Accesses to global memory in program order; stores under an atomic mode combine."""
        if self._global is None:
            self._global = list(self._accesses())
        return self._global

    def _accesses(self) -> Iterator[GmAccess]:
        switches = {p for p in self.distinct if is_atomic_switch(p)}
        touching = {
            p
            for p in self.distinct
            if p.spec.name not in _UNCHECKED
            and any(op.space == "GM" and op.accesses for op in p.operands)
        }
        combining = ""
        for index in self.places(switches | touching):
            plan = self.plans[index]
            if plan in switches:
                operation = plan.details["operation"]
                combining = "" if operation == "none" else operation
                continue
            for operand in plan.operands:
                if operand.space == "GM" and operand.accesses:
                    kind = READS if operand.role == "read" else WRITES
                    if kind == WRITES and combining and plan.pipe == MTE3:
                        kind = COMBINES
                    yield GmAccess(index, plan, operand, kind, combining)


def is_atomic_switch(plan: Plan) -> bool:
    """Whether a call sets or ends the atomic mode."""
    return plan.spec.family == "atomic" and "operation" in plan.details


def streams_of(run: Run) -> list[Stream]:
    """Return the distinct streams of a run in the order of their first block."""
    found: dict[tuple[Plan, ...], Stream] = {}
    for block in run.blocks:
        plans = tuple([entry[0] for entry in block.entries])
        stream = found.get(plans)
        if stream is None:
            found[plans] = Stream(plans, block)
        else:
            stream.blocks.append(block)
    return list(found.values())


def uses_of(streams: list[Stream], *, scalar: bool = False) -> list[Use]:
    """Return the accesses to allocations that some block writes, by block and program order.

    With ``scalar`` only those of the scalar unit, else only those of the copies.
    """
    uses: list[Use] = []
    written: set[Allocation] = set()
    for pick in (True, False):
        for stream in streams:
            accesses = [
                a
                for a in stream.global_accesses
                if (a.kind != READS) is pick and (a.plan.pipe == S) is scalar
            ]
            if not accesses:
                continue
            for block in stream.blocks:
                entries = block.entries
                for access in accesses:
                    pointer = pointer_of(entries[access.at])
                    if pointer is None:
                        continue
                    if pick:
                        written.add(pointer.allocation)
                    elif pointer.allocation not in written:
                        continue
                    uses.append(Use(block.index, access, pointer.allocation, pointer.offset))
    return uses


def same_place(one: Entry, other: Entry) -> bool:
    """Whether two calls work from one address in global memory."""
    first, second = pointer_of(one), pointer_of(other)
    if first is None or second is None:
        return False
    return first.allocation is second.allocation and first.offset == second.offset


def pointer_of(entry: Entry) -> GlobalAddress | None:
    """Return the address in global memory that a recorded call works from."""
    params = entry[3]
    if params and params[0].__class__ is GlobalAddress:
        pointer: GlobalAddress = params[0]
        return pointer
    return next((p for p in params if isinstance(p, GlobalAddress)), None)
