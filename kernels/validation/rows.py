"""The table of measured kernels and calls: what was run where, and what the profiler said."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

TABLE: Final = Path(__file__).parent / "measured.csv"


@dataclass(frozen=True)
class MeasuredRow:
    """One line of ``measured.csv``.

    Attributes
    ----------
    id, kernel, shape, dtype, chip, variant : str
        What was measured, in the words of the source.
    task_us, core_us : float or None
        Task duration, and mean time of the cores.
    cycles : float or None
        Cycles of one call, or of the vector pipe.
    kind : str
        ``measured-hw``, ``profiling-cycles …`` or ``ratio-only``.
    notes, source : str
        Remarks, and ``owner/repository path``.
    held_out : bool
        Whether the row was put aside before any figure was fitted.
    """

    id: str
    kernel: str
    shape: str
    dtype: str
    chip: str
    variant: str
    task_us: float | None
    core_us: float | None
    cycles: float | None
    kind: str
    notes: str
    source: str
    held_out: bool

    @property
    def on_hardware(self) -> bool:
        """Whether the figure comes from a board."""
        return self.kind == "measured-hw"


@cache
def measured_rows() -> dict[str, MeasuredRow]:
    """All rows by id, in the order of the table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {
            line["id"]: MeasuredRow(
                id=line["id"],
                kernel=line["kernel"],
                shape=line["shape"],
                dtype=line["dtype"],
                chip=line["chip"],
                variant=line["variant"],
                task_us=_number(line["task_us"]),
                core_us=_number(line["aiv_time_us"]),
                cycles=_number(line["cycles_per_call"]),
                kind=line["kind"],
                notes=line["notes"],
                source=line["source"],
                held_out=line["held_out"] == "yes",
            )
            for line in csv.DictReader(file)
        }


def _number(text: str) -> float | None:
    """Return a figure; the middle of a range such as ``2004.97-2040.78``."""
    if not text or "each" in text:
        return None
    low, _, high = text.partition("-")
    return (float(low) + float(high)) / 2 if high else float(low)
