"""The figures of a run's report as plain data, and the plain text form of the report."""

from __future__ import annotations

from dataclasses import asdict, dataclass, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.enums import PipeID
from simulator.timing.schedule import ALL_PIPES, FINISHED, ISSUE, START_UP

if TYPE_CHECKING:
    from simulator.run import Run

_FRIENDLY = {
    "S": "scalar unit",
    "V": "vector unit",
    "MTE2": "copies from global memory",
    "MTE3": "copies to global memory",
}


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

    ``pipes`` are sums over the cores in use; ``busiest`` is the pipe with the highest utilisation.
    """

    kernel: str
    platform: str
    soc_version: str
    block_dim: int
    cores: int
    arguments: dict[str, str]
    cycles: int
    microseconds: float
    task_microseconds: float
    start_cycles: int
    instructions: int
    pipes: tuple[PipeSummary, ...]
    busiest: str
    bottleneck: str
    unmeasured: tuple[str, ...]
    provisional_timing: bool

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)

    def text(self) -> str:
        """Return the report as plain text, at most 100 columns."""
        lines = [
            f"{self.kernel} on {self.platform} ({self.soc_version}): {self.block_dim} blocks on "
            f"{self.cores} cores",
            *(f"  {name:<14} {value}" for name, value in self.arguments.items()),
            f"{self.cycles:,} cycles = {self.microseconds:.2f} us on the busiest core "
            f"({self.start_cycles:,} of them start-up); task {self.task_microseconds:.2f} us",
            "",
            f"{'pipe':<6}{'busy cycles':>12}{'busy':>8}{'instr.':>9}  waits (mean cycles a core)",
        ]
        for pipe in self.pipes:
            waits = ", ".join(
                f"{reason} {cycles / self.cores:,.0f}" for reason, cycles in pipe.waits.items()
            )
            lines.append(
                f"{pipe.name:<6}{pipe.busy / self.cores:>12,.0f}{pipe.utilisation:>8.1%}"
                f"{pipe.instructions:>9,}  {waits or '-'}"
            )
        lines += ["", f"bottleneck: {self.bottleneck}", *self.notes()]
        return "\n".join(lines)

    def notes(self) -> list[str]:
        """Return what a reader must know about the figures."""
        notes = []
        if self.provisional_timing:
            notes.append(f"timing of {self.platform} is provisional")
        if self.unmeasured:
            notes.append("unmeasured (charged by default): " + ", ".join(self.unmeasured))
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
    busiest = max(pipes, key=lambda p: p.busy)
    return Summary(
        kernel=run.name,
        platform=run.platform.name,
        soc_version=run.platform.soc_version,
        block_dim=run.block_dim,
        cores=timeline.cores,
        arguments={name: describe_argument(value) for name, value in run.arguments},
        cycles=timeline.cycles,
        microseconds=timeline.microseconds,
        task_microseconds=timeline.task_microseconds,
        start_cycles=timeline.start_cycles,
        instructions=len(run.instructions),
        pipes=pipes,
        busiest=busiest.name,
        bottleneck=_bottleneck(run, busiest, pipes),
        unmeasured=tuple(timeline.unmeasured),
        provisional_timing=run.platform.provisional_timing,
    )


def describe_argument(value: Any) -> str:
    """Return a short text for a kernel argument."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    if is_dataclass(value) and not isinstance(value, type):
        return ", ".join(f"{k}={v}" for k, v in asdict(value).items())
    return str(value)


def _bottleneck(run: Run, busiest: PipeSummary, pipes: tuple[PipeSummary, ...]) -> str:
    timeline = run.timeline
    whole = timeline.cycles * timeline.cores
    work = whole - timeline.start_cycles * run.block_dim
    if work <= 0 or not busiest.busy:
        return "start-up: the kernel issues no work to speak of."
    share = busiest.busy / work
    start_share = 1 - work / whole
    if start_share > 0.5:
        return (
            f"start-up: {start_share:.0%} of the time is the start of the blocks; more work per "
            f"launch would hide it. Of the rest, {busiest.name} ({_FRIENDLY[busiest.name]}) is busy "
            f"{share:.0%}."
        )
    if share >= 0.75:
        return (
            f"{busiest.name} ({_FRIENDLY[busiest.name]}): busy {share:.0%} of the working time, so "
            "nothing else can make the kernel faster."
        )
    reasons = {k: v for k, v in busiest.waits.items() if k not in (START_UP, FINISHED)}
    if not reasons:
        return f"{busiest.name}: busy {share:.0%} of the working time."
    reason, cycles = max(reasons.items(), key=lambda kv: kv[1])
    meaning = {
        ISSUE: "for the scalar unit to issue its next instruction",
        "barrier": "at barriers",
        "queue full": "because a pipe's queue is full",
    }.get(reason, f"for {reason}")
    return (
        f"latency: {busiest.name} ({_FRIENDLY[busiest.name]}) does most of the work but is busy only "
        f"{share:.0%} of the working time; it waits {meaning} for {cycles / work:.0%} of it."
    )
