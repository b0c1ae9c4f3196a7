"""A stream without its barriers over all pipes: flags take their place where order is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.analysis.edits import NotApplicable, Plans, S
from simulator.analysis.lanes import executing_pipe
from simulator.enums import HardEvent, PipeID
from simulator.memory import GlobalAddress

if TYPE_CHECKING:
    from simulator.core import Entry

    Spans = list[tuple[str, int, int, bool]]

_EVENTS: Final = {event.name: event for event in HardEvent}


def removable(entries: list[Entry]) -> list[int]:
    """Return the positions of barriers over all pipes that the kernel itself issues."""
    return [
        position
        for position, (plan, _, lasti, _) in enumerate(entries)
        # Position -1 is the end of the kernel, whose barrier the destructor of TPipe issues.
        if plan.form == "barrier" and plan.pipe == S and lasti >= 0
    ]


class _Done(NamedTuple):
    position: int
    spans: Spans


def without_barriers(entries: list[Entry], plans: Plans) -> list[Entry]:
    """Replace every barrier over all pipes by the flags between pipes that need its order.

    Two pipes need it if one wrote bytes that the other touches next and no flag orders them.

    Raises
    ------
    NotApplicable
        If there is no such barrier.
    """
    barriers = removable(entries)
    if not barriers:
        raise NotApplicable("the kernel has no barriers over all pipes")
    needed = _needed(entries, set(barriers))
    changed: list[Entry] = []
    for position, entry in enumerate(entries):
        if position not in needed:
            changed.append(entry)
            continue
        for form in ("set", "wait"):
            for source, target in sorted(needed[position]):
                event = _EVENTS[f"{PipeID(source).label}_{PipeID(target).label}"]
                plan = plans.sync(
                    form, source if form == "set" else target, event, plans.flag((source, target))
                )
                changed.append((plan, entry[1], entry[2], ()))
    return changed


def _needed(entries: list[Entry], barriers: set[int]) -> dict[int, set[tuple[int, int]]]:
    """Return for every barrier the pipe pairs that need a flag in its place."""
    needed: dict[int, set[tuple[int, int]]] = {position: set() for position in barriers}
    done: dict[int, list[_Done]] = {}
    # known[a][b]: position up to which the work of pipe b is complete when pipe a goes on.
    known: dict[int, dict[int, int]] = {}
    raised: dict[int, list[dict[int, int]]] = {}
    latest = -1
    for position, entry in enumerate(entries):
        plan = entry[0]
        if position in barriers:
            latest = position
            continue
        pipe = executing_pipe(plan)
        own = known.setdefault(pipe, {})
        if plan.form == "set":
            raised.setdefault(plan.flag, []).append({**own, pipe: position})
        elif plan.form == "wait":
            if raised.get(plan.flag):
                _merge(own, raised[plan.flag].pop(0))
        elif plan.form == "barrier":
            if pipe == S:
                for other in done:
                    own[other] = position
        else:
            spans = _spans(entry)
            for other, earlier in done.items():
                # What the scalar unit has done is over when anything later is issued.
                if other in (pipe, S) or latest < 0:
                    continue
                if _clash(earlier, own.get(other, -1), latest, spans):
                    needed[latest].add((other, pipe))
                    _merge(own, {**known.get(other, {}), other: latest})
            done.setdefault(pipe, []).append(_Done(position, spans))
    return needed


def _merge(into: dict[int, int], other: dict[int, int]) -> None:
    for pipe, position in other.items():
        into[pipe] = max(into.get(pipe, -1), position)


def _spans(entry: Entry) -> Spans:
    base = next((p.address for p in entry[3] if isinstance(p, GlobalAddress)), 0)
    spans = []
    for operand in entry[0].operands:
        offset = base if operand.space == "GM" else 0
        for access in operand.accesses:
            start, end = access.span()
            spans.append((operand.space, start + offset, end + offset, operand.role != "read"))
    return spans


def _clash(earlier: list[_Done], after: int, before: int, spans: Spans) -> bool:
    """Whether work at positions in (``after``, ``before``) touches what ``spans`` touch."""
    for done in reversed(earlier):
        if done.position <= after:
            return False
        if done.position < before and any(
            space == other_space and start < other_end and other_start < end and (writes or other)
            for space, start, end, writes in spans
            for other_space, other_start, other_end, other in done.spans
        ):
            return True
    return False
