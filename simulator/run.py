"""The record of one launch, and the readings of it that are computed on demand."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, overload

from simulator.enums import PipeID
from simulator.instruction import Instruction, locate
from simulator.timing.schedule import ALL_PIPES
from simulator.timing.timeline import Timeline

if TYPE_CHECKING:
    from os import PathLike

    from simulator.analysis.critical_path import CriticalPath
    from simulator.analysis.losses import Precision
    from simulator.analysis.summary import Summary
    from simulator.analysis.what_if import WhatIf
    from simulator.core import Entry
    from simulator.errors import SimulatorError
    from simulator.memory import Allocation, Bytes, LocalMemory
    from simulator.platforms import Platform
    from simulator.replay import Replay
    from simulator.sanitizer.finding import Finding

ORDERS: Final = ("program", "hardware", "latest", "random")
"""Orders in which a record can be executed; see :meth:`Run.replay`."""


@dataclass(frozen=True)
class Block:
    """What one block issued, in program order, and what it printed.

    ``local`` is the memory that its plans are bound to; blocks that ran one after another on one
    core share it. ``queues`` are the queues and TBufs that its TPipe has given memory to.
    ``rounded`` holds integers that calls took as floating-point scalars of another value.
    """

    index: int
    entries: list[Entry]
    output: list[str]
    local: LocalMemory | None = None
    queues: Sequence[Any] = ()
    rounded: Mapping[int, tuple[int, str, Any]] = field(default_factory=dict)


class Run:
    """One launch of a kernel: who ran, what every block issued, and what follows from it.

    Attributes
    ----------
    name : str
        Name of the kernel.
    platform : Platform
    block_dim : int
        Number of blocks launched.
    blocks : list of Block
    arguments : list of (name, description)
        What the kernel was called with.
    initial : dict
        Bytes that each global-memory allocation held before the launch first wrote to it.
    auto_sync : bool
        Whether the compiler's automatic synchronisation is modelled.
    task_ratio : int
        Vector cores of an AI core that took part; their blocks follow each other.
    course : list of (int, int)
        In which order blocks took turns: block, and how many instructions it had issued when it
        finished or had to wait.
    replayed : Replay or None
        What a launch in another order than that of the program found.
    """

    def __init__(
        self,
        name: str,
        platform: Platform,
        blocks: list[Block],
        *,
        arguments: list[tuple[str, Any]],
        initial: dict[Allocation, Bytes],
        auto_sync: bool,
        task_ratio: int = 1,
        course: Sequence[tuple[int, int]] = (),
    ) -> None:
        self.name = name
        self.platform = platform
        self.block_dim = len(blocks)
        self.blocks = blocks
        self.arguments = arguments
        self.initial = initial
        self.auto_sync = auto_sync
        self.task_ratio = task_ratio
        self.course = list(course)
        self.replayed: Replay | None = None

    @cached_property
    def timeline(self) -> Timeline:
        """Start and end cycle of every instruction."""
        return Timeline(
            self.platform,
            [block.entries for block in self.blocks],
            auto_sync=self.auto_sync,
            course=self.course,
        )

    @cached_property
    def notes(self) -> list[Finding]:
        """Everything the checks have to say, findings of severity ``info`` included."""
        from simulator.sanitizer.check import find

        return find(self)

    @cached_property
    def findings(self) -> list[Finding]:
        """Faults that a board would suffer from: errors first, then warnings."""
        return [note for note in self.notes if note.severity != "info"]

    @cached_property
    def numbers(self) -> list[Finding]:
        """What the values in the calls tell: infinities, NaN, rounding, ranges, thresholds.

        The record is executed once more when this is first asked for, and memory is left as it is;
        it must hold what the launch found or left there. Warnings come first; the others, of
        severity ``info``, are facts that an operator may well want so.

        Raises
        ------
        ConfigError
            If the run was loaded from a file.
        """
        from simulator.analysis.numbers import find_numbers

        return find_numbers(self)

    def raise_errors(self) -> None:
        """Raise the first error among the findings; the exception carries all of them.

        Raises
        ------
        FindingError
            Of the class that fits the kind of the error.
        """
        from simulator.sanitizer.raising import error_of

        error = error_of(self)
        if error is not None:
            raise error

    def replay(self, order: str = "hardware", seed: int = 0, *, keep: bool = False) -> Replay:
        """Execute the record in another legal order and compare what global memory holds then.

        Global memory must hold what the launch found or left there. A kernel without races gives
        the same bits in every order; ``simulator.replay.Replayer`` tries several at less cost.

        Parameters
        ----------
        order : str
            ``"hardware"``: as the timeline interleaves pipes and blocks. ``"latest"``: a write
            becomes visible only when flags, barriers or the end of the kernel force it.
            ``"random"``: a legal order drawn with ``seed``. ``"program"``: as it was recorded.
        keep : bool
            Leave the outputs of this order in memory; without it, what is there now comes back.

        Raises
        ------
        ConfigError
            If there is no such order.
        """
        from simulator.replay import Replayer

        return Replayer(self).replay(order, seed, keep=keep)

    def precision(self, bound: float = 0.01) -> Precision:
        """Execute the record with exact values beside every element and find where they are lost.

        Global memory must hold what the launch found or left there, and is left as it is.

        Parameters
        ----------
        bound : float
            Relative error beyond which an element counts as lost.
        """
        from simulator.analysis.precision import precision

        return precision(self, bound)

    @property
    def cycles(self) -> int:
        """Cycles of the busiest core, start-up included."""
        return self.timeline.cycles

    @property
    def microseconds(self) -> float:
        """``cycles`` as time on this platform's clock."""
        return self.timeline.microseconds

    @property
    def utilisation(self) -> dict[str, float]:
        """Busy share (0..1) of each pipe over the cores in use: ``{"V": 0.31, …}``."""
        return {PipeID(p).label: self.timeline.utilisation(p) for p in ALL_PIPES}

    @cached_property
    def instructions(self) -> Instructions:
        """Every issued instruction, block after block, in program order."""
        return Instructions(self)

    @property
    def output(self) -> str:
        """What printf and DumpTensor printed, block after block."""
        return "".join(text for block in self.blocks for text in block.output)

    @cached_property
    def summary(self) -> Summary:
        """The figures of the report as plain data."""
        from simulator.analysis.summary import summarise

        return summarise(self)

    def report(self) -> str:
        """Return the report as text: launch, cycles, pipes, waits and the bottleneck."""
        return self.summary.text()

    @cached_property
    def critical_path(self) -> CriticalPath:
        """The chain of instructions and waits that determines the end time, and all slack."""
        from simulator.analysis.critical_path import CriticalPath

        return CriticalPath(self)

    def what_if(self, **changes: Any) -> WhatIf:
        """Schedule the record anew with changes: ``run.what_if(buffers=2)``.

        Parameters
        ----------
        **changes
            ``buffers``, ``tile``, ``blocks``, ``barriers``, ``aligned`` (see
            ``simulator.analysis.what_if.KERNEL_CHANGES``) and figures of the platform profile:
            ``run.what_if(**{"timing.read_cap_gbps": 2000})``.

        Raises
        ------
        ConfigError
            On an unknown key, or a change that does not fit the kernel.
        """
        from simulator.analysis.what_if import what_if

        return what_if(self, changes)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the run to a file; the format is described in docs/run-file.md.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        from simulator.run_file import save

        save(self, path)

    @staticmethod
    def load(path: str | PathLike[str]) -> Run:
        """Read a run that :meth:`save` wrote; its instructions cannot be executed again.

        Raises
        ------
        ConfigError
            If the file is no saved run or of a later version.
        """
        from simulator.run_file import load

        return load(path)

    def to_dataframe(self) -> Any:
        """Return the instructions as a pandas DataFrame, one row each; cycles since the launch.

        Raises
        ------
        ConfigError
            If pandas is not installed.
        """
        from simulator.analysis.table import to_dataframe

        return to_dataframe(self)

    def _repr_html_(self) -> str:
        """Return the report as a table for a notebook."""
        from simulator.analysis.notebook import notebook_html

        return notebook_html(self.summary)

    def fingerprint(self) -> str:
        """SHA-256 over the record and its timing: equal runs have equal fingerprints.

        File paths are left out, so that a run is comparable between machines.
        """
        digest = hashlib.sha256()
        for instruction in self.instructions:
            fields = instruction.as_dict()
            del fields["file"]
            digest.update(json.dumps(fields, sort_keys=True, default=str).encode())
        return digest.hexdigest()

    def __repr__(self) -> str:
        return (
            f"<run of {self.name} on {self.platform.name}: {self.block_dim} blocks, "
            f"{len(self.instructions)} instructions, {self.cycles} cycles>"
        )


class Instructions(Sequence[Instruction]):
    """Instructions of a run as a sequence; entries are built when they are looked at."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._starts = [0]
        for block in run.blocks:
            self._starts.append(self._starts[-1] + len(block.entries))

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, index: int) -> Instruction: ...
    @overload
    def __getitem__(self, index: slice) -> list[Instruction]: ...
    def __getitem__(self, index: int | slice) -> Instruction | list[Instruction]:
        if isinstance(index, slice):
            return [self._build(i) for i in range(*index.indices(len(self)))]
        number = index + len(self) if index < 0 else index
        if not 0 <= number < len(self):
            raise IndexError(f"instruction {index} of {len(self)}")
        return self._build(number)

    def _build(self, number: int) -> Instruction:
        block = bisect_right(self._starts, number) - 1
        return self.of_block(block, number - self._starts[block])

    def of_block(self, block: int, index: int) -> Instruction:
        """Return instruction ``index`` of ``block``."""
        plan, code, lasti, params = self._run.blocks[block].entries[index]
        placed = self._run.timeline.blocks[block]
        stream = placed.stream
        return Instruction(
            index=index,
            block=block,
            name=plan.spec.name,
            pipe=PipeID(plan.pipe).label,
            form=plan.form,
            location=locate(code, lasti),
            plan=plan,
            params=params,
            start=placed.start + stream.start[index],
            end=placed.start + stream.end[index],
            issued=placed.start + stream.issued[index],
            wait=stream.wait[index],
            waited_for=stream.reason[index],
        )


def kind_of_fault(error: SimulatorError) -> str:
    """Return the code of ``simulator.sanitizer.catalog`` that an error of a call belongs to."""
    from simulator.sanitizer.refusals import code_of

    return code_of(error)
