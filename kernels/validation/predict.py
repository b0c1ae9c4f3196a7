"""What the simulator says to each measured row, and how far it is off."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kernels.validation.not_built import reason_not_built
from kernels.validation.one_call import one_call, types_of
from kernels.validation.pairs import PAIRS, Pair
from kernels.validation.rows import measured_rows
from kernels.validation.single_calls import call_of, platform_of
from kernels.validation.whole_kernels import CALL, RATIO, TASK, WHOLE_KERNELS
from simulator.enums import Arch, PipeID
from simulator.errors import ConfigError
from simulator.platforms import load_platform
from simulator.timing.accuracy import WORK_OF_PIPE
from simulator.timing.cost_table import VectorCost950, load_costs
from simulator.timing.schedule import ALL_PIPES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kernels.validation.one_call import Call
    from kernels.validation.rows import MeasuredRow
    from kernels.validation.whole_kernels import Case
    from simulator.platforms import Platform
    from simulator.run import Run

WHOLE: Final = "whole kernel"
BOARD: Final = "call on a board"
LISTED: Final = "call in a cycle table"
ROWS: Final = "call on rows in a cycle table"
KINDS: Final = (WHOLE, BOARD, LISTED, ROWS)
"""Kinds of measured rows; who measured the cycle tables, and how, is not stated."""

CALLS: Final = "any call"
"""All kinds but WHOLE together, in :meth:`Validation.totals`."""
ALL: Final = "all"
ANYTHING: Final = "anything"

NO_COST_ROW: Final = "its types have no row in the cost tables, so the default would be charged"

_V: Final = int(PipeID.PIPE_V)
_REPEAT_BYTES: Final = 256


@dataclass(frozen=True)
class Prediction:
    """A measured row and the simulator's figure for it.

    Attributes
    ----------
    row : MeasuredRow
    platform : str
    arch : str
        ``2201`` or ``3510``.
    kind : str
        One of KINDS.
    work : str
        What the kernel's busiest pipe does: ``copies``, ``vector`` or ``scalar``.
    measured, predicted : float
        In ``unit``.
    unit : str
        ``us`` or ``cycles``; ``""`` where only ratios of rows can be compared.
    sampled : bool
        Whether the time is that of smaller launches, carried on along a straight line.
    unmeasured : tuple of str
        Calls charged by the default.
    """

    row: MeasuredRow
    platform: str
    arch: str
    kind: str
    work: str
    measured: float
    predicted: float
    unit: str
    sampled: bool = False
    unmeasured: tuple[str, ...] = ()

    @property
    def error(self) -> float:
        """``predicted / measured - 1``."""
        return self.predicted / self.measured - 1.0

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        row = self.row
        return {
            "id": row.id,
            "kernel": row.kernel,
            "shape": row.shape,
            "dtype": row.dtype,
            "variant": row.variant,
            "chip": row.chip,
            "platform": self.platform,
            "arch": self.arch,
            "kind": self.kind,
            "work": self.work,
            "measured": self.measured,
            "predicted": self.predicted,
            "unit": self.unit,
            "error": self.error if self.unit else None,
            "held_out": row.held_out,
            "sampled": self.sampled,
            "unmeasured": list(self.unmeasured),
            "source": row.source,
        }


@dataclass(frozen=True)
class PairPrediction:
    """A change of a kernel: by how much it was measured to change the time, and predicted."""

    pair: Pair
    measured: float
    predicted: float

    @property
    def agrees(self) -> bool:
        """Whether the time moves in the measured direction and within 10 points as far."""
        return self.measured * self.predicted > 0 and abs(self.points) <= 10.0

    @property
    def points(self) -> float:
        """Difference of the two changes in points of per cent."""
        return 100.0 * (self.predicted - self.measured)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "change": self.pair.change,
            "before": self.pair.before,
            "after": self.pair.after,
            "measured": self.measured,
            "predicted": self.predicted,
            "agrees": self.agrees,
        }


@dataclass(frozen=True)
class Errors:
    """Sizes of the errors of some rows, as shares of the measured figures."""

    rows: int
    mean: float
    median: float
    worst: float

    @classmethod
    def of(cls, errors: Iterable[float]) -> Errors | None:
        """Return the sizes, or None for no rows."""
        sizes = [abs(error) for error in errors]
        if not sizes:
            return None
        return cls(len(sizes), statistics.fmean(sizes), statistics.median(sizes), max(sizes))

    def as_dict(self) -> dict[str, float]:
        """Return plain values for JSON."""
        return {
            "rows": self.rows, "mean": self.mean, "median": self.median, "worst": self.worst,
        }  # fmt: skip


def platform_of_row(row: MeasuredRow) -> str:
    """Return the profile of the chip that a buildable row was measured on."""
    case = WHOLE_KERNELS.get(row.id)
    return platform_of(row) if case is None else case.platform


def predict(row: MeasuredRow, platform: Platform) -> Prediction | str:
    """Rebuild a row on ``platform`` and run it; return the reason if nothing stands for it."""
    case = WHOLE_KERNELS.get(row.id)
    if case is not None:
        return _whole(row, case, platform)
    reason = reason_not_built(row)
    if reason is not None:
        return reason
    call = call_of(row)
    if call is None or row.cycles is None:
        return "no single AscendC call does what was measured"
    return _single(row, call, platform)


def _whole(row: MeasuredRow, case: Case, platform: Platform) -> Prediction:
    measured = row.task_us if case.reading == TASK else row.cycles
    if measured is None:
        raise ConfigError(f"row {row.id} holds no {case.reading}")

    def launch(size: int) -> Run:
        # As published: the copy benchmarks overwrite one buffer without waiting, as a check says.
        return case.kernel.launch(
            case.blocks, *case.arguments(size), platform=platform, check="off"
        )

    if case.sample is None:
        run = launch(case.size)
        predicted = _reading(run, case)
    else:
        first, second = case.sample
        below = _reading(launch(first), case)
        run = launch(second)
        above = _reading(run, case)
        predicted = above + (case.size - second) * (above - below) / (second - first)
    timeline = run.timeline
    return Prediction(
        row, platform.name, platform.chip.npu_arch, BOARD if case.reading == CALL else WHOLE,
        WORK_OF_PIPE[PipeID(max(ALL_PIPES, key=timeline.busy)).label], measured, predicted,
        {TASK: "us", RATIO: ""}.get(case.reading, "cycles"),
        sampled=case.sample is not None, unmeasured=tuple(timeline.unmeasured),
    )  # fmt: skip


def _reading(run: Run, case: Case) -> float:
    """Return what was measured, of a run."""
    timeline = run.timeline
    if case.reading == TASK:
        return timeline.task_microseconds
    if case.reading == RATIO:
        return timeline.cycles - timeline.start_cycles
    return timeline.busy(_V) / case.calls


def _single(row: MeasuredRow, call: Call, platform: Platform) -> Prediction | str:
    measured = row.cycles or 0.0
    kind = LISTED
    if platform.arch is Arch.DAV_3510 and (call.rows > 1 or call.name == "Select"):
        kind = ROWS
        cycles = _two_dimensional(call)
        if cycles is None:
            return NO_COST_ROW
    else:
        run = one_call.launch(1, call, platform=platform, check="off")
        if run.timeline.unmeasured:
            return NO_COST_ROW
        cycles = run.timeline.busy(_V)
    return Prediction(
        row, platform.name, platform.chip.npu_arch, kind, "vector", measured, cycles, "cycles"
    )


def _two_dimensional(call: Call) -> float | None:
    """Cycles of a call on rows, each of which a 950 does in loops of its own.

    AscendC has no such call, so the law is read from the cost table without a launch.
    """
    name = f"{call.name}@precision" if call.algorithm else call.name
    row = load_costs(Arch.DAV_3510).find(name, call.dtype)
    if not isinstance(row, VectorCost950):
        return None
    return row.cycles(-(-call.columns // _lanes(call)), call.rows)


def _lanes(call: Call) -> int:
    """Elements of one loop of a call."""
    source, result = types_of(call)
    if call.name != "Cast":
        return _REPEAT_BYTES // max(source.itemsize, result.itemsize)
    # Conversions load a part of a register: 64 elements for a float result, 256 of 4 bits, else 128
    # (loop counts behind the table's figures, hw-native-sys/pto-isa tests/costmodel/st_a5_fit).
    if result.bits == 32:
        return 64
    return 256 if source.name.startswith("fp4") else 128


class Validation:
    """Predictions of all rows that can be rebuilt, with the reasons for the others.

    Attributes
    ----------
    predictions : list of Prediction
        In the order of the table.
    not_built : dict of str to str
        Reasons by row.
    """

    def __init__(self, predictions: Sequence[Prediction], not_built: dict[str, str]) -> None:
        self.predictions = list(predictions)
        self.not_built = not_built

    @property
    def compared(self) -> list[Prediction]:
        """Predictions whose error can be stated."""
        return [p for p in self.predictions if p.unit]

    def pairs(self) -> list[PairPrediction]:
        """Return the pairs of which both rows were rebuilt."""
        known = {p.row.id: p for p in self.predictions}
        return [
            PairPrediction(
                pair,
                known[pair.after].measured / known[pair.before].measured - 1.0,
                known[pair.after].predicted / known[pair.before].predicted - 1.0,
            )
            for pair in PAIRS
            if pair.before in known and pair.after in known
        ]

    def groups(self) -> dict[tuple[str, str, str], list[Prediction]]:
        """Return the predictions by architecture, kind and what the kernel does."""
        groups: dict[tuple[str, str, str], list[Prediction]] = {}
        for p in self.compared:
            groups.setdefault((p.arch, p.kind, p.work), []).append(p)
        return dict(sorted(groups.items(), key=lambda kv: (kv[0][0], KINDS.index(kv[0][1]), kv[0])))

    def totals(self) -> dict[tuple[str, str, str], list[Prediction]]:
        """Return the predictions that :meth:`groups` splits up: whole kernels, then calls.

        Of each architecture, then of all; left out where one group holds the same rows.
        """
        found: dict[tuple[str, str, str], list[Prediction]] = {}
        for kind, kinds in ((WHOLE, (WHOLE,)), (CALLS, KINDS[1:])):
            members = [p for p in self.compared if p.kind in kinds]
            for arch in (*sorted({p.arch for p in members}), ALL):
                some = [p for p in members if arch in (ALL, p.arch)]
                if len({(p.arch, p.kind, p.work) for p in some}) > 1:
                    found[arch, kind, ANYTHING] = some
        return found


def errors(predictions: Iterable[Prediction], *, held_out: bool) -> Errors | None:
    """Sizes of the errors of the rows that were held back, or of the others."""
    return Errors.of(p.error for p in predictions if p.row.held_out == held_out)


def validate(
    profile: Callable[[str], Platform] = load_platform,
    *,
    only: Sequence[str] = (),
    soc_version: str = "",
    watch: Callable[[str, int, int], None] = lambda row, number, of: None,
) -> Validation:
    """Rebuild and run the rows of the table.

    Parameters
    ----------
    profile : callable
        Returns the platform to run a row on for the name of the profile that it was measured on.
    only : sequence of str
        Ids of the rows wanted; all if empty.
    soc_version : str
        Leave out rows that were measured on another chip, if given.
    watch : callable
        Called before each row with its id, its number and the number of all.
    """
    rows = [row for row in measured_rows().values() if not only or row.id in only]
    predictions: list[Prediction] = []
    not_built: dict[str, str] = {}
    for number, row in enumerate(rows, 1):
        watch(row.id, number, len(rows))
        name = platform_of_row(row)
        if soc_version and (not name or load_platform(name).soc_version != soc_version):
            continue
        found = predict(row, profile(name)) if name else reason_not_built(row)
        if isinstance(found, Prediction):
            predictions.append(found)
        else:
            not_built[row.id] = found or "nothing stands for it"
    return Validation(predictions, not_built)
