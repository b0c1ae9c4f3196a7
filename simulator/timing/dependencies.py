"""Which calls touch a byte that another one writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simulator.instruction import READ, UPDATE, WRITE

if TYPE_CHECKING:
    from simulator.instruction import Access, Plan


class Touched(NamedTuple):
    """UB accesses of a call, each with its lowest byte and one past its highest."""

    reads: tuple[tuple[int, int, Access], ...]
    writes: tuple[tuple[int, int, Access], ...]


def touched(plan: Plan) -> Touched:
    """Return what a call reads and writes of UB; an update is both."""
    return Touched(_accesses(plan, READ), _accesses(plan, WRITE))


def conflict(one: Touched, other: Touched) -> bool:
    """Whether two calls have a byte in common that one of them writes."""
    return (
        _meet(one.reads, other.writes)
        or _meet(one.writes, other.writes)
        or _meet(one.writes, other.reads)
    )


def _accesses(plan: Plan, role: str) -> tuple[tuple[int, int, Access], ...]:
    return tuple(
        (*access.span(), access)
        for op in plan.operands
        if op.space == "UB" and op.role in (role, UPDATE)
        for access in op.accesses
    )


def _meet(
    one: tuple[tuple[int, int, Access], ...], other: tuple[tuple[int, int, Access], ...]
) -> bool:
    return any(
        a < d and c < b and _share(mine, theirs) for a, b, mine in one for c, d, theirs in other
    )


def _share(one: Access, other: Access) -> bool:
    """Whether two accesses whose spans overlap have a byte in common: strided ones may not."""
    if _unbroken(one) and _unbroken(other):
        return True
    starts, against = np.sort(one.run_starts()), other.run_starts()
    # Runs of one access are equally long: those that end behind a run's start and begin before its
    # end are neighbours in the order of their starts.
    first = np.searchsorted(starts, against - one.inner, side="right")
    behind = np.searchsorted(starts, against + other.inner, side="left")
    return bool(np.any(first < behind))


def _unbroken(access: Access) -> bool:
    return access.lanes is None and not access.dims
