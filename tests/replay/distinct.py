"""A run reduced to what replay has to look at: one block of each distinct stream."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from simulator.replay import Replayer
from simulator.run import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.run import Block


def with_blocks(run: Run, blocks: Sequence[Block]) -> Run:
    """Return the run with other blocks, numbered from 0."""
    return Run(
        run.name, run.platform, [replace(b, index=i) for i, b in enumerate(blocks)],
        arguments=run.arguments, initial=run.initial, auto_sync=run.auto_sync,
        task_ratio=run.task_ratio,
    )  # fmt: skip


def distinct_blocks(run: Run) -> list[Block]:
    """Return the first block of each distinct stream."""
    found: dict[tuple[object, ...], Block] = {}
    for block in run.blocks:
        found.setdefault(tuple(entry[0] for entry in block.entries), block)
    return list(found.values())


def distinct(run: Run) -> Run:
    """Return the run with one block of each stream, or as it is when blocks meet."""
    if Replayer(run).blocks_meet:
        return run
    return with_blocks(run, distinct_blocks(run))
