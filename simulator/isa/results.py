"""Instructions that leave a result for the scalar unit, such as the number of elements kept.

The scalar unit reads the result when the vector pipe has come that far. The last instruction of a
kind in the record holds what the register of that kind holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator.enums import PipeID
from simulator.instruction import Plan
from simulator.isa.sync import barrier

if TYPE_CHECKING:
    from types import FrameType

    import numpy as np
    from numpy.typing import NDArray

    from simulator.core import AICore


class ResultPlan(Plan):
    """A plan whose function writes integers into ``result`` when it runs."""

    __slots__ = ("result",)

    result: NDArray[np.int64]


def with_result(plan: Plan, result: NDArray[np.int64]) -> ResultPlan:
    """Return ``plan`` as one whose function writes ``result``."""
    made = ResultPlan(
        plan.spec,
        plan.form,
        plan.operands,
        plan.run,
        pipe=PipeID(plan.pipe),
        work=plan.work,
        details=plan.details,
    )
    made.result = result
    return made


def issue_for_result(core: AICore, plan: ResultPlan, frame: FrameType) -> list[int]:
    """Issue a plan and return its result; a vector pipe that waits is waited for.

    Raises
    ------
    DeadlockError
        If the vector pipe can never come to the instruction.
    """
    core.issue(plan, (), frame)
    if core.stalled:
        barrier(core, PipeID.PIPE_ALL, frame)
    return [int(value) for value in plan.result]


def last_result(core: AICore, names: tuple[str, ...]) -> list[int] | None:
    """Return the result of the last instruction of these names in the record, or None."""
    for entry in reversed(core.record):
        plan: Any = entry[0]
        if plan.spec.name in names and isinstance(plan, ResultPlan):
            return [int(value) for value in plan.result]
    return None
