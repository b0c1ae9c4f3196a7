"""The figures of a run's report as plain data, and the plain text form of the report."""

from __future__ import annotations

import textwrap
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from simulator.analysis.traffic import Traffic, traffic
from simulator.analysis.verdict import verdict
from simulator.arguments import describe_argument, struct_fields
from simulator.enums import PipeID
from simulator.timing.accuracy import Accuracy, accuracy_of, accuracy_sentence
from simulator.timing.schedule import ALL_PIPES

if TYPE_CHECKING:
    from simulator.run import Run

WIDTH: Final = 100
"""Columns of the plain text report."""


@dataclass(frozen=True)
class PipeSummary:
    """One pipe over all cores in use; ``busy`` + ``waits`` = cycles * cores."""

    name: str
    busy: int
    utilisation: float
    instructions: int
    waits: dict[str, int]


@dataclass(frozen=True)
class Summary:
    """Everything a report shows.

    Attributes
    ----------
    kernel, platform, soc_version, arch : str
    block_dim : int
        Blocks launched.
    cores, cores_available : int
        Vector cores that got a block, and that the chip has.
    arguments : dict
        Kernel arguments as short texts, by parameter name; structs are left to ``structs``.
    structs : dict
        Fields of struct arguments (tiling data) by name, by parameter name.
    cycles, start_cycles : int
        Cycles of the busiest core, start-up included; start-up of one block.
    work_cycles : int
        ``cycles`` without the start-ups of the busiest core's blocks.
    microseconds, task_microseconds : float
        ``cycles`` as time, and the same with the launch of the task.
    pipes : tuple of PipeSummary
        Sums over the cores in use.
    busiest : str
        Pipe with the most busy cycles.
    traffic : Traffic
        Bytes between global memory and the unified buffer.
    bound : str
        Kind of limit: one of :data:`simulator.analysis.verdict.BOUNDS`.
    bottleneck : str
        The same as a sentence, with figures and what would help.
    unmeasured : tuple of str
        Calls charged by the stated default for want of a published figure.
    provisional_timing : bool
    error : Accuracy
        Errors of the timing of measured kernels that are alike.
    accuracy : str
        The same as a sentence.
    """

    kernel: str
    platform: str
    soc_version: str
    arch: str
    block_dim: int
    cores: int
    cores_available: int
    arguments: dict[str, str]
    structs: dict[str, dict[str, Any]]
    cycles: int
    start_cycles: int
    work_cycles: int
    microseconds: float
    task_microseconds: float
    instructions: int
    pipes: tuple[PipeSummary, ...]
    busiest: str
    traffic: Traffic
    bound: str
    bottleneck: str
    unmeasured: tuple[str, ...]
    provisional_timing: bool
    error: Accuracy
    accuracy: str

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, the notes included."""
        return {**asdict(self), "notes": self.notes()}

    def text(self) -> str:
        """Return the report as plain text, at most 100 columns."""
        lines = [
            self.headline(),
            *(_filled(f"  {name:<11}{text}", 13) for name, text in self.argument_rows()),
            self.time_line(),
            self.traffic_line(),
            "",
            f"{'pipe':<6}{'busy cycles':>12}{'busy':>8}{'instr.':>9}  waits (mean cycles a core)",
        ]
        for pipe in self.pipes:
            row = (
                f"{pipe.name:<6}{pipe.busy / self.cores:>12,.0f}{pipe.utilisation:>8.1%}"
                f"{pipe.instructions:>9,}  {self.waits_text(pipe)}"
            )
            lines.append(_filled(row, 37))
        lines.append("")
        told = [("bottleneck", self.bottleneck), ("accuracy", self.accuracy)]
        for label, text in [*told, *(("note", n) for n in self.notes())]:
            lines.append(_filled(f"{label}: {text}", 2))
        return "\n".join(lines)

    def headline(self) -> str:
        """Return kernel, platform, blocks and cores in one line."""
        return (
            f"{self.kernel} on {self.platform} ({self.soc_version}): "
            f"{counted(self.block_dim, 'block')} on {self.cores} of {self.cores_available} "
            "vector cores"
        )

    def argument_rows(self) -> list[tuple[str, str]]:
        """Return the arguments as label and text: one row for plain ones, one for each struct."""
        rows = []
        if self.arguments:
            rows.append(("arguments", ", ".join(f"{k} {v}" for k, v in self.arguments.items())))
        return rows + [
            (name, ", ".join(f"{k}={v}" for k, v in fields.items()))
            for name, fields in self.structs.items()
        ]

    def time_line(self) -> str:
        """Return cycles and times in one line."""
        return (
            f"{self.cycles:,} cycles = {self.microseconds:.2f} us on the busiest core "
            f"({self.cycles - self.work_cycles:,} of them start-up); "
            f"task {self.task_microseconds:.2f} us"
        )

    def traffic_line(self) -> str:
        """Return the bytes moved and the rate over the working time in one line."""
        moved = self.traffic
        text = f"{moved.read_bytes:,} B read, {moved.written_bytes:,} B written"
        seconds = self.microseconds * 1e-6 * self.work_cycles / self.cycles if self.cycles else 0.0
        if seconds and moved.read_bytes + moved.written_bytes:
            rate = (moved.read_bytes + moved.written_bytes) / seconds / 1e9
            text += f": {rate:,.1f} GB/s over the working time"
        return text

    def waits_text(self, pipe: PipeSummary) -> str:
        """Return a pipe's waits, longest first, in mean cycles a core."""
        return ", ".join(f"{k} {v / self.cores:,.0f}" for k, v in pipe.waits.items()) or "-"

    def notes(self) -> list[str]:
        """Return what a reader must know about the figures."""
        notes = []
        if self.provisional_timing:
            notes.append(
                f"timing of {self.platform} is provisional: some of its figures are carried over "
                "from other chips"
            )
        if self.unmeasured:
            notes.append(
                "unmeasured, charged by a default because no figure is published: "
                + ", ".join(self.unmeasured)
            )
        return notes


def summarise(run: Run) -> Summary:
    """Return the summary of ``run``."""
    timeline = run.timeline
    pipes = tuple(
        PipeSummary(
            PipeID(pipe).label,
            timeline.busy(pipe),
            timeline.utilisation(pipe),
            timeline.instructions(pipe),
            timeline.waits(pipe),
        )
        for pipe in ALL_PIPES
    )
    moved = traffic(run)
    bound, sentence = verdict(run, moved)
    structs = {
        name: fields
        for name, value in run.arguments
        if (fields := struct_fields(value)) is not None
    }
    last = max(timeline.blocks, key=lambda placed: placed.end)
    busiest = max(pipes, key=lambda p: p.busy).name
    error = accuracy_of(run.platform, busiest)
    rounds = sum(placed.core == last.core for placed in timeline.blocks)
    return Summary(
        kernel=run.name,
        platform=run.platform.name,
        soc_version=run.platform.soc_version,
        arch=run.platform.chip.npu_arch,
        block_dim=run.block_dim,
        cores=timeline.cores,
        cores_available=run.platform.chip.aiv,
        arguments={k: describe_argument(v) for k, v in run.arguments if k not in structs},
        structs=structs,
        cycles=timeline.cycles,
        start_cycles=timeline.start_cycles,
        work_cycles=timeline.cycles - timeline.start_cycles * rounds,
        microseconds=timeline.microseconds,
        task_microseconds=timeline.task_microseconds,
        instructions=len(run.instructions),
        pipes=pipes,
        busiest=busiest,
        traffic=moved,
        bound=bound,
        bottleneck=sentence,
        unmeasured=tuple(timeline.unmeasured),
        provisional_timing=run.platform.provisional_timing,
        error=error,
        accuracy=accuracy_sentence(error, run.platform),
    )


def counted(number: int, noun: str) -> str:
    """Return ``"1 block"`` or ``"48 blocks"``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _filled(text: str, indent: int) -> str:
    return textwrap.fill(
        text, WIDTH, subsequent_indent=" " * indent, break_on_hyphens=False, drop_whitespace=True
    )
