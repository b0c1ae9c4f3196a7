"""From a wrong element back to the finding: who stored it, and what that was computed from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulator.instruction import locate
from simulator.replay.compare import Place, touched
from simulator.sanitizer.ranges import span

if TYPE_CHECKING:
    from simulator.errors import SourceLocation
    from simulator.memory import Allocation
    from simulator.run import Run
    from simulator.sanitizer.finding import Finding


def last_writer(run: Run, allocation: Allocation, where: tuple[int, int]) -> Place | None:
    """Return the last instruction in program order that stores into a byte range."""
    for block in reversed(run.blocks):
        for index in range(len(block.entries) - 1, -1, -1):
            plan, _, _, params = block.entries[index]
            found = touched(plan, params)
            if (
                found is not None
                and found[0] is allocation
                and found[1] < where[1]
                and where[0] < found[2]
            ):
                return Place(block.index, index)
    return None


def explaining(run: Run, writer: Place) -> list[Finding]:
    """Return the findings with a party among what the bytes of ``writer`` come from."""
    sites = _sites(run, writer)
    return [f for f in run.findings if f.location in sites or f.other in sites]


def _sites(run: Run, writer: Place) -> set[SourceLocation]:
    """Return the lines of the instructions that a store depends on, in program order."""
    block = run.blocks[writer.block]
    size = len(block.local.ub) if block.local is not None else 0
    alive = np.zeros(size, bool)
    found: set[tuple[object, int]] = set()
    places = []
    for index in range(writer.at, -1, -1):
        plan, code, lasti, _ = block.entries[index]
        spans = [(op.role, *span(op.accesses)) for op in plan.operands if op.space == "UB"]
        if index != writer.at and not any(
            role != "read" and alive[low:high].any() for role, low, high in spans
        ):
            continue
        if (code, lasti) not in found:
            found.add((code, lasti))
            places.append(locate(code, lasti))
        for role, low, high in spans:
            if role == "write":
                alive[low:high] = False
        for role, low, high in spans:
            if role != "write":
                alive[low:high] = True
        if not alive.any():
            break
    return set(places)
