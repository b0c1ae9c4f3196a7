"""Numeric triage: the record executed once more with an exact value beside every element.

Copies carry the exact values along, vector calls compute them by their mathematical definition in
float64, and control flow stays that of the kernel: masks, selections and indices are the real ones.
The first element whose real value is further from its exact value than a bound is where precision
was lost. What no formula covers, and every integer, counts as exact as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.analysis.carrying import Carrier
from simulator.analysis.losses import Precision
from simulator.replay import Replayer

if TYPE_CHECKING:
    from simulator.run import Run

DEFAULT_BOUND: Final = 0.01
"""Relative error that is reported: some twenty roundings of half, far more of float."""


def precision(run: Run, bound: float = DEFAULT_BOUND) -> Precision:
    """Execute the record with exact values carried along; memory is left as it was.

    Parameters
    ----------
    run : Run
    bound : float
        Relative error beyond which an element counts as lost. Below the least normal number of its
        type the error is taken relative to that.
    """
    before = {allocation: allocation.data.copy() for allocation in run.initial}
    carrier = Carrier(run, bound)
    try:
        Replayer(run).execute(observer=carrier)
    finally:
        for allocation, data in before.items():
            allocation.data[:] = data
    return Precision(bound, list(carrier.losses.values()), carrier.worst, carrier.not_carried)
