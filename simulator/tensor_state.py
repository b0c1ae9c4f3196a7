"""What the bytes of a tensor in the unified buffer hold: data, filler, nothing yet, or what comes.

Read from the record; nothing is issued and nothing is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simulator.enums import HardEvent, PipeID
from simulator.instruction import READ

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simulator.instruction import Access, Plan


class Contents(NamedTuple):
    """State of a range of bytes.

    Attributes
    ----------
    nbytes : int
        Bytes of the range.
    unwritten : int
        Bytes that no instruction has written.
    filler : int
        Bytes that a padded copy filled up behind or before its rows.
    writers : tuple of int
        Numbers of the instructions whose bytes are still there, the latest first.
    """

    nbytes: int
    unwritten: int
    filler: int
    writers: tuple[int, ...]

    def __str__(self) -> str:
        if self.unwritten == self.nbytes:
            return "unwritten"
        parts = [
            "written"
            if not self.unwritten
            else f"{self.unwritten} of {self.nbytes} bytes unwritten"
        ]
        if self.filler:
            parts.append(f"{self.filler} bytes filler")
        return ", ".join(parts)


def contents(numbered: Iterable[tuple[int, Plan]], low: int, high: int) -> Contents:
    """Return the state of UB bytes ``low..high`` after some instructions, given latest first."""
    open_ = np.ones(high - low, bool)
    filler = 0
    writers: list[int] = []
    for number, plan in numbered:
        if not open_.any():
            break
        filled = [f.access for f in plan.details.get("filler", ())]
        hit = _covered(filled, low, high) & open_
        filler += int(hit.sum())
        written = [
            a for op in plan.operands if op.space == "UB" and op.role != READ for a in op.accesses
        ]
        fresh = (_covered(written, low, high) & open_) | hit
        if fresh.any():
            writers.append(number)
            open_ &= ~fresh
    return Contents(high - low, int(open_.sum()), filler, tuple(writers))


def _covered(accesses: Sequence[Access], low: int, high: int) -> Any:
    mask = np.zeros(high - low, bool)
    for access in accesses:
        first, last = access.span()
        if first >= high or last <= low or not access.inner:
            continue
        if access.lanes is None and not access.dims:
            mask[max(first, low) - low : min(last, high) - low] = True
            continue
        places = (access.run_starts()[:, None] + np.arange(access.inner)).reshape(-1) - low
        mask[places[(places >= 0) & (places < high - low)]] = True
    return mask


def live_state(core: Any, low: int, high: int) -> str:
    """Return the state of UB bytes of a running block in words.

    Bytes are *in flight* when their writer stands in the queue of a pipe that waits, or when
    nothing has waited for the pipe that writes them, so that a board may not have them yet.
    """
    if high <= low:
        return "empty"
    record = core.record
    queued = {id(e): e for queue in core.stalled.values() for e in queue}
    for entry in queued.values():
        if contents([(0, entry[0])], low, high).writers:
            return f"in flight: {entry[0].spec.name} stands in the queue of a waiting pipe"
    done = (
        (n, record[n][0]) for n in range(len(record) - 1, -1, -1) if id(record[n]) not in queued
    )
    found = contents(done, low, high)
    text = str(found)
    if found.writers and not _is_awaited(record, found.writers[0]):
        plan = record[found.writers[0]][0]
        text += f", in flight: nothing has waited for {plan.spec.name} on {PipeID(plan.pipe).label}"
    return text


def _is_awaited(record: Sequence[Any], writer: int) -> bool:
    """Whether a flag or barrier after an instruction waited for its pipe to finish it."""
    pipe = record[writer][0].pipe
    if pipe == PipeID.PIPE_S:
        return True
    raised: set[int] = set()
    for entry in record[writer + 1 :]:
        plan = entry[0]
        if plan.form == "barrier" and plan.details["pipe"] in ("PIPE_ALL", PipeID(pipe).name):
            return True
        if not 0 <= plan.event < len(HardEvent):
            continue
        if plan.form == "set" and plan.pipe == pipe:
            raised.add(plan.flag)
        elif plan.form == "wait" and plan.flag in raised:
            return True
    return False
