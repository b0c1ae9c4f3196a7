"""Cases of faults that a run shows, and of kernels launched with tiling data of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from host.cases.binding import binding_of
from host.cases.runner import CaseUnsupportedError, Outcome, case_kind, compare
from simulator.instruction import WRITE
from simulator.memory import GlobalAddress

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from simulator.run import Run

_IN_WORDS: Final = ("what", "also", "rtol", "atol")
"""Parts of an expectation that explain it, or allow more than bit-equal results."""


@case_kind("hazard")
def hazard(case: Mapping[str, Any]) -> Outcome:
    """Everything that is expected of a faulty run and not put in words."""
    find = binding_of(case).hazard
    if find is None:
        raise CaseUnsupportedError(f"hazards of {case['op']}")
    return _outcome(case, find(case["input"]))


@case_kind("kernel")
def kernel(case: Mapping[str, Any]) -> Outcome:
    """What a kernel leaves behind when it is launched with given tiling data."""
    launch = binding_of(case).kernel
    if launch is None:
        raise CaseUnsupportedError(f"kernel launches of {case['op']}")
    return _outcome(case, launch(case["input"]))


def _outcome(case: Mapping[str, Any], got: Mapping[str, Any]) -> Outcome:
    expected = {k: v for k, v in case["expect"].items() if k not in _IN_WORDS}
    return Outcome(dict(got), compare(expected, got))


def unwritten_elements(run: Run, argument: str, itemsize: int) -> NDArray[np.int64]:
    """Return the indices of elements of a GM argument that no instruction of ``run`` wrote whole.

    Parameters
    ----------
    argument : str
        Name of the kernel's parameter; the launch must have passed a GM address for it.
    itemsize : int
        Bytes of one element.
    """
    address = dict(run.arguments)[argument]
    if not isinstance(address, GlobalAddress):
        raise CaseUnsupportedError(f"{argument} is no GM address")
    written = np.zeros(address.size // itemsize * itemsize, bool)
    for instruction in run.instructions:
        for operand in instruction.operands:
            if operand.space != "GM" or operand.role != WRITE:
                continue
            for access in operand.accesses:
                for start in access.run_starts() - address.address:
                    written[max(start, 0) : max(start + access.inner, 0)] = True
    return np.flatnonzero(~written.reshape(-1, itemsize).all(axis=1))
