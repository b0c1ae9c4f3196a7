"""What the looks at single calls share: facts of the run, and the state of the block under way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.analysis.numbers.fields import Field
from simulator.analysis.numbers.notes import Notes, Spot
from simulator.analysis.numbers.origins import Origins

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from simulator.analysis.numbers.comparing import Threshold
    from simulator.analysis.numbers.library import Composite
    from simulator.dtypes import DType
    from simulator.enums import Arch
    from simulator.instruction import Operand, Plan
    from simulator.memory import Bytes
    from simulator.run import Block, Run

SWITCHES: Final = frozenset(
    {"SetCtrlSpr", "ResetCtrlSpr", "SetSaturationFlag", "SetSaturationStrategy", "InitSocState"}
)
"""Calls that may change what happens out of range."""

_WORK: Final = "sharedTmpBuffer"


class Kept(NamedTuple):
    """What a narrowing Cast left: where, the values it was made of, and the bits it wrote."""

    target: Field
    original: NDArray[Any]
    source: DType
    bits: NDArray[Any]


class Context:
    """Facts of the run.

    Attributes
    ----------
    switched : bool
        Whether the kernel changes what happens out of range.
    scaled : bool
        Whether the kernel sets a scale for conversions from int32_t to half.
    recast : array of bool
        Bytes of the unified buffer that some rounding Cast reads.
    """

    def __init__(self, run: Run, plans: set[Plan], ub_bytes: int) -> None:
        self.run = run
        self.arch: Arch = run.platform.arch
        self.notes = Notes()
        names = {plan.spec.name for plan in plans}
        self.switched = bool(names & SWITCHES)
        self.scaled = "SetDeqScale" in names
        self.recast = np.zeros(ub_bytes, bool)
        self.thresholds: dict[tuple[Any, int], Threshold] = {}


class Scene:
    """State of one block."""

    def __init__(self, context: Context, block: Block, ub: Bytes) -> None:
        self.context = context
        self.notes = context.notes
        self.block = block
        self.ub = ub
        self.index = 0
        self.origins = Origins(len(ub))
        self.combines = ""
        self.composite: Composite | None = None
        self.kept: dict[int, Kept] = {}

    @property
    def spot(self) -> Spot:
        """The call under way."""
        return Spot(self.block, self.index)

    @property
    def params(self) -> tuple[Any, ...]:
        """Arguments of the call under way."""
        return self.block.entries[self.index][3]


class Look:
    """What is looked at when a plan is executed; made once a plan.

    Attributes
    ----------
    targets, sources : list of Field
        Operands in the unified buffer that are written, and those that are read; work tensors are
        left out, and a destination that is read as well is among the sources.
    """

    def __init__(self, plan: Plan, ub: Bytes) -> None:
        self.plan = plan
        self.name = plan.spec.name
        used = [op for op in plan.operands if op.space == "UB" and op.name != _WORK]
        fields = {op: Field(op, ub) for op in used}
        self.targets = [fields[op] for op in used if op.role != "read" and len(fields[op])]
        self.sources = [fields[op] for op in _read(used) if len(fields[op])]

    def around(self, scene: Scene, run: Callable[[], None]) -> None:
        """Execute a call of the user's own and look at what it does."""
        run()
        self.wrote(scene)

    def wrote(self, scene: Scene) -> None:
        """Take note of the types of what the call wrote."""
        for target in self.targets:
            if target.dtype.is_float:
                scene.origins.wrote(target)
            else:
                scene.origins.wrote_bits(target)


def _read(used: list[Operand]) -> list[Operand]:
    """Return the operands that are read, the old content of a destination last."""
    return [op for op in used if op.role == "read"] + [op for op in used if op.role == "read-write"]
