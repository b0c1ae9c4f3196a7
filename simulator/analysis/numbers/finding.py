"""The record executed once more, to look at the values that pass through its calls.

Program order, block by block; memory is left as it was. The kinds:

- ``num.first_nonfinite``: a call with floating-point results of which an element is infinite or NaN
  although all its operands are finite. A Cast that overflows is ``cast.sat``.
- ``num.nan_branch``: NaN that becomes something else. Comparisons, which are false (on 910B all of
  them, on 950 all but NE; the test of a tensor against itself for EQ is made for NaN), calls that
  choose or clamp, Cast to types without NaN, and in saturating mode arithmetic.
- ``num.zero_sign``: -0 in a comparison that is meant to test the sign (LT and GE against zero, or
  turned round), and a subnormal result that a call flushes to zero.
- ``num.int_via_float``: an integer, in a Cast or as the scalar of a call, that the floating-point
  type does not hold.
- ``num.bits_as_other``: floating-point arithmetic on bytes last written as another type: all
  elements of another floating-point type, and those of integers that look like NaN, an infinity or
  a subnormal. See ``origins`` for bits that have no type.
- ``cast.double``: a Cast of what another rounding Cast left, with elements that a single rounding
  of the original would bring to another value.
- ``cast.mode``: results of a Cast with FLOOR, CEIL, TRUNC or ROUND that CAST_RINT would change.
- ``cast.sat``: values beyond the range of what they are cast to; infinities count for integers.
- ``cmp.boundary``: elements that equal the scalar they are compared with (LT, LE, GT, GE); or, for
  a comparison that met neither its threshold nor a neighbour of it, that remark.

Library calls made of several steps are looked at as one call, for infinities and NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.analysis.numbers.casting import rounds
from simulator.analysis.numbers.comparing import note_untested
from simulator.analysis.numbers.scene import Context
from simulator.analysis.numbers.watcher import Sightings
from simulator.enums import PipeID
from simulator.errors import ConfigError
from simulator.replay import Replayer
from simulator.sanitizer.catalog import ERROR, INFO, WARNING
from simulator.sanitizer.finding import Finding
from simulator.sanitizer.place import place
from simulator.sanitizer.ranges import span

if TYPE_CHECKING:
    from simulator.enums import Arch
    from simulator.instruction import Plan
    from simulator.run import Run

_RANKS: Final = {ERROR: 0, WARNING: 1, INFO: 2}


def find_numbers(run: Run) -> list[Finding]:
    """Return what the values of a run tell: warnings first, then by block and program order.

    Global memory must hold what the launch found or left there.

    Raises
    ------
    ConfigError
        If the run was loaded from a file: its instructions cannot be executed again.
    """
    local = run.blocks[0].local
    if local is None:
        raise ConfigError(
            "a saved run cannot be executed again", fix="look at the numbers of the launch itself"
        )
    plans = {entry[0] for block in run.blocks for entry in block.entries}
    context = Context(run, plans, len(local.ub))
    _mark_recast(context, plans, run.platform.arch)
    sightings = Sightings(context)
    before = {allocation: allocation.data.copy() for allocation in run.initial}
    try:
        Replayer(run).execute(observer=sightings)
    finally:
        for allocation, data in before.items():
            allocation.data[:] = data
    with np.errstate(all="ignore"):
        sightings.finish()
        note_untested(context.notes, context.thresholds)
        found = context.notes.findings(run)
    found += _rounded_scalars(run)
    return sorted(found, key=lambda f: (_RANKS[f.severity], f.block or 0, f.index))


def _mark_recast(context: Context, plans: set[Plan], arch: Arch) -> None:
    for plan in plans:
        if plan.spec.name != "Cast" or len(plan.operands) != 2:
            continue
        target, source = plan.operands
        if rounds(arch, source.dtype, target.dtype):
            low, high = span(source.accesses)
            context.recast[low:high] = True


def _rounded_scalars(run: Run) -> list[Finding]:
    """Return the integers that calls took as floating-point scalars of another value."""
    found: dict[tuple[Any, ...], Finding] = {}
    for block in run.blocks:
        for index, (value, kind, scalar) in block.rounded.items():
            if index >= len(block.entries):
                continue
            entry = block.entries[index]
            name = entry[0].spec.name
            known = found.get((entry[1], entry[2]))
            if known is not None:
                known.count += 1
                continue
            taken = float(scalar)
            shown = str(int(taken)) if np.isfinite(taken) else str(taken)
            found[entry[1], entry[2]] = Finding(
                "num.int_via_float",
                f"{name} takes the integer {value} as a scalar of {kind}, where it is {shown}",
                place(entry),
                fix=f"keep {value} in an integer type, or pass a number that {kind} has",
                block=block.index,
                pipe=PipeID(entry[0].pipe).label,
                api=name,
                index=index,
                platform=run.platform.name,
                details={"value": value, "rounded": taken, "type": kind},
            )
    return list(found.values())
