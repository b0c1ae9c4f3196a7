"""Bytes that a run moves between global memory and the unified buffers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulator.enums import PipeID
from simulator.instruction import CopyWork

if TYPE_CHECKING:
    from simulator.run import Run


@dataclass(frozen=True)
class Traffic:
    """Bytes and copies in each direction, over all blocks; burst padding is not counted."""

    read_bytes: int
    written_bytes: int
    read_copies: int
    written_copies: int


def traffic(run: Run) -> Traffic:
    """Return what the copies of ``run`` moved."""
    # Blocks with the same instruction stream share one schedule, so one count serves them all.
    seen: dict[int, tuple[int, int, int, int]] = {}
    total = [0, 0, 0, 0]
    for placed, block in zip(run.timeline.blocks, run.blocks, strict=True):
        key = id(placed.stream)
        if key not in seen:
            moved = [0, 0, 0, 0]
            for entry in block.entries:
                plan = entry[0]
                if isinstance(plan.work, CopyWork):
                    side = 0 if plan.pipe == PipeID.PIPE_MTE2 else 1
                    moved[side] += plan.work.nbytes
                    moved[2 + side] += 1
            seen[key] = (moved[0], moved[1], moved[2], moved[3])
        total = [a + b for a, b in zip(total, seen[key], strict=True)]
    return Traffic(*total)
