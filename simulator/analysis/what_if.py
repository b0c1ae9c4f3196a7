"""What a run would take if its kernel or its chip were different: the record, scheduled anew.

Changes of the kernel are edits of the instruction streams (:mod:`simulator.analysis.edits`);
changes of the chip are figures of its profile, such as ``timing.read_cap_gbps``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from simulator.analysis.barriers import without_barriers
from simulator.analysis.edits import (
    NotApplicable,
    Plans,
    aligned,
    with_buffers,
    with_larger_tiles,
    with_tiles,
)
from simulator.errors import ConfigError
from simulator.instruction import CopyWork

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from simulator.core import Entry
    from simulator.run import Block, Run

KERNEL_CHANGES: Final = {
    "buffers": "buffers of every queue, at least: buffers=2",
    "tile": "work of one tile, as a multiple: tile=2",
    "blocks": "blocks to launch: blocks=48",
    "barriers": "0 puts flags in the place of PipeBarrier(PIPE_ALL): barriers=0",
    "aligned": "1 lets every copy start at the full-rate alignment in GM: aligned=1",
}
"""Changes of the kernel with their meaning."""


@dataclass(frozen=True)
class WhatIf:
    """Answer to a what-if question.

    Attributes
    ----------
    changes : dict
        What was asked.
    before, after : int
        Cycles of the run as it is and as it would be.
    run : Run
        The run as it would be; every reading of it works.
    """

    changes: dict[str, Any]
    before: int
    after: int
    run: Run

    @property
    def gain(self) -> float:
        """``1 - after / before``: share of the time that would be saved."""
        return 1.0 - self.after / self.before if self.before else 0.0

    @property
    def speedup(self) -> float:
        """``before / after``."""
        return self.before / self.after if self.after else 1.0

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "changes": self.changes,
            "cycles_before": self.before,
            "cycles_after": self.after,
            "gain": self.gain,
            "speedup": self.speedup,
        }

    def __repr__(self) -> str:
        asked = ", ".join(f"{k}={v}" for k, v in self.changes.items())
        return f"<what if {asked}: {self.before} -> {self.after} cycles ({self.speedup:.2f} x)>"


def what_if(run: Run, changes: Mapping[str, Any], plans: Plans | None = None) -> WhatIf:
    """Schedule ``run`` with ``changes``.

    Parameters
    ----------
    changes : mapping
        Keys of :data:`KERNEL_CHANGES` and of platform profiles. Kernel changes are made in the
        order given.
    plans : Plans, optional
        Shared by several questions about ``run``, which are then answered faster.

    Raises
    ------
    ConfigError
        On an unknown key, a value it cannot have, or a change that does not fit the kernel.
    """
    if not changes:
        raise ConfigError("nothing is to be changed", legal=_legal())
    figures = {}
    edited = run
    shared = plans or Plans(run)
    for key, value in changes.items():
        if "." in key:
            figures[key] = value
            continue
        if key not in KERNEL_CHANGES:
            raise ConfigError(f"{key!r} cannot be changed", got=key, legal=_legal())
        try:
            edited = _EDITS[key](edited, _whole(key, value), shared)
        except NotApplicable as reason:
            raise ConfigError(f"{key}={value} does not apply: {reason}") from None
    if figures:
        edited = _copy(edited, edited.blocks, platform=run.platform.override(**figures))
    return WhatIf(dict(changes), run.cycles, edited.cycles, edited)


def _legal() -> str:
    return f"{', '.join(KERNEL_CHANGES)}, or a key of the profile such as timing.read_cap_gbps"


def _whole(key: str, value: Any) -> int:
    least = 0 if key in ("barriers", "aligned") else 1
    most = 1 if key == "aligned" else 0 if key == "barriers" else 65535
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ConfigError(
            f"{key} cannot be {value!r}",
            legal=f"{least}..{most} ({KERNEL_CHANGES[key]})"
            if least < most
            else KERNEL_CHANGES[key],
        )
    return value


def _copy(run: Run, blocks: list[Block], *, platform: Any = None) -> Run:
    return type(run)(
        run.name,
        platform or run.platform,
        blocks,
        arguments=run.arguments,
        initial=run.initial,
        auto_sync=run.auto_sync,
        task_ratio=run.task_ratio,
        # Positions of other records are not those of this course.
        course=run.course if blocks is run.blocks else (),
    )


def _each(run: Run, edit: Callable[[list[Entry]], list[Entry]]) -> Run:
    """Edit every block; each keeps its addresses, and blocks that do not need it stay as they are.

    Raises
    ------
    NotApplicable
        If no block is changed; with the reason of the busiest one.
    """
    refused: dict[int, NotApplicable] = {}
    blocks, changed = [], False
    for placed, block in zip(run.timeline.blocks, run.blocks, strict=True):
        key = id(placed.stream)
        if key not in refused:
            try:
                blocks.append(replace(block, entries=edit(block.entries)))
                changed = True
                continue
            except NotApplicable as reason:
                refused[key] = reason
        blocks.append(block)
    if not changed:
        busiest = max(run.timeline.blocks, key=lambda placed: placed.stream.total)
        raise refused[id(busiest.stream)]
    return _copy(run, blocks)


def _buffers(run: Run, value: int, plans: Plans) -> Run:
    return _each(run, lambda e: with_buffers(e, value, plans, run.platform.memory))


def _tile(run: Run, value: int, plans: Plans) -> Run:
    if value == 1:
        raise NotApplicable("that is the size it has")
    return _each(run, lambda e: with_larger_tiles(e, value, plans, run.platform.memory))


def _barriers(run: Run, _: int, plans: Plans) -> Run:
    return _each(run, lambda e: without_barriers(e, plans))


def _aligned(run: Run, value: int, plans: Plans) -> Run:
    if not value:
        raise NotApplicable("only the other way round")
    alignment = run.platform.timing.full_rate_alignment_bytes
    return _each(run, lambda e: aligned(e, alignment, plans))


def _blocks(run: Run, value: int, plans: Plans) -> Run:
    """Deal the tiles of all blocks out to ``value`` blocks.

    The tiles are those of one block, so their addresses say nothing and are left out.
    """
    counts: dict[int, int] = {}
    total = 0
    for placed, block in zip(run.timeline.blocks, run.blocks, strict=True):
        key = id(placed.stream)
        if key not in counts:
            counts[key] = len(plans.loop(block.entries).tiles)
        total += counts[key]
    if value > total:
        raise NotApplicable(f"there are only {total} tiles to deal out")
    if value == run.block_dim:
        raise NotApplicable("that is the number it has")
    busiest = max(run.timeline.blocks, key=lambda placed: placed.stream.total)
    pattern = run.blocks[busiest.block]
    share, more = divmod(total, value)
    sizes = {
        n: [_without_address(e) for e in with_tiles(pattern.entries, n, plans)]
        for n in {share, share + bool(more)}
    }
    return _copy(
        run,
        [
            replace(pattern, index=i, entries=sizes[share + (i < more)], output=[])
            for i in range(value)
        ],
    )


def _without_address(entry: Entry) -> Entry:
    return (*entry[:3], ()) if isinstance(entry[0].work, CopyWork) else entry


_EDITS: Final[dict[str, Callable[[Run, int, Plans], Run]]] = {
    "buffers": _buffers,
    "tile": _tile,
    "blocks": _blocks,
    "barriers": _barriers,
    "aligned": _aligned,
}
