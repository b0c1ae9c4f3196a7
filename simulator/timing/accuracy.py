"""How far the timing of measured kernels is off, by architecture and by what a kernel does most.

``accuracy.csv`` beside this module is the outcome of ``ascsim validate``: measured kernels of that
architecture whose busiest pipes are the copies, the vector unit or the scalar unit. Rows that were
put aside before any figure was fitted are counted apart.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from simulator.enums import PipeID

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulator.platforms import Platform

TABLE: Final = Path(__file__).parent / "accuracy.csv"

WORK_OF_PIPE: Final = MappingProxyType(
    {
        PipeID.PIPE_MTE2.label: "copies",
        PipeID.PIPE_MTE3.label: "copies",
        PipeID.PIPE_V.label: "vector",
        PipeID.PIPE_S.label: "scalar",
    }
)
"""What a kernel does most, by its busiest pipe."""

_WORDS: Final = {
    "copies": "copies",
    "vector": "vector calls",
    "scalar": "scalar work",
}


@dataclass(frozen=True)
class Accuracy:
    """Errors of the timing of measured kernels, as shares of the measured time.

    Attributes
    ----------
    arch, work : str
        Architecture, and what the kernels do most.
    rows, mean, worst : int, float, float
        Kernels that figures were fitted to.
    held_rows, held_mean, held_worst : int, float, float
        Kernels that were held back.
    chips : tuple of str
        Profiles of the chips that were measured.
    """

    arch: str
    work: str
    rows: int = 0
    mean: float = 0.0
    worst: float = 0.0
    held_rows: int = 0
    held_mean: float = 0.0
    held_worst: float = 0.0
    chips: tuple[str, ...] = ()


@cache
def accuracy_table() -> Mapping[tuple[str, str], Accuracy]:
    """Return the errors by architecture and work."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        found = (
            Accuracy(
                line["arch"],
                line["work"],
                int(line["rows"]),
                float(line["mean"]),
                float(line["worst"]),
                int(line["held_rows"]),
                float(line["held_mean"]),
                float(line["held_worst"]),
                tuple(line["chips"].split()),
            )
            for line in csv.DictReader(file)
        )
        return MappingProxyType({(one.arch, one.work): one for one in found})


def accuracy_of(platform: Platform, busiest: str) -> Accuracy:
    """Return the errors for kernels whose busiest pipe is ``busiest``; without rows if unknown."""
    arch, work = platform.chip.npu_arch, WORK_OF_PIPE[busiest]
    return accuracy_table().get((arch, work)) or Accuracy(arch, work)


def accuracy_sentence(accuracy: Accuracy, platform: Platform) -> str:
    """Say how far the time of a run on ``platform`` may be off."""
    words = _WORDS[accuracy.work]
    if platform.overridden:
        return f"not known: {', '.join(platform.overridden)} set by the caller"
    if not accuracy.rows + accuracy.held_rows:
        if any(arch == accuracy.arch for arch, _ in accuracy_table()):
            return (
                f"not known: no kernel that is busiest with {words} was measured on "
                f"{accuracy.arch}; see ascsim validate for other kernels"
            )
        return f"not known: no kernel was measured on {accuracy.arch}"
    parts = []
    if accuracy.rows:
        parts.append(
            f"{accuracy.mean:.1%} on average and {accuracy.worst:.1%} at most "
            f"({_kernels(accuracy.rows)})"
        )
    if accuracy.held_rows:
        average, most = ("", "") if parts else (" on average", " at most")
        parts.append(
            f"{accuracy.held_mean:.1%}{average} and {accuracy.held_worst:.1%}{most} "
            f"({_kernels(accuracy.held_rows)} that no figure was fitted to)"
        )
    where = ""
    if platform.name not in accuracy.chips:
        where = f" (on {', '.join(accuracy.chips)}; none on {platform.name})"
    return (
        f"the time of measured kernels on {accuracy.arch} that are busiest with {words}{where} is "
        f"off by {', by '.join(parts)}"
    )


def _kernels(number: int) -> str:
    return "1 kernel" if number == 1 else f"{number} kernels"
