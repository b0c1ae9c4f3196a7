"""The errors of the whole kernels as the table that reports quote."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from kernels.validation.predict import WHOLE, errors

if TYPE_CHECKING:
    from kernels.validation.predict import Validation

COLUMNS = (
    "arch", "work", "rows", "mean", "worst", "held_rows", "held_mean", "held_worst", "chips",
)  # fmt: skip


def accuracy_csv(validation: Validation) -> str:
    """Return the text of ``simulator/timing/accuracy.csv``; errors are shares of 1."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for (arch, kind, work), found in validation.groups().items():
        if kind != WHOLE:
            continue
        sizes: list[str] = []
        for held_out in (False, True):
            one = errors(found, held_out=held_out)
            sizes += ["0", "0", "0"] if one is None else [
                str(one.rows), f"{one.mean:.3f}", f"{one.worst:.3f}",
            ]  # fmt: skip
        chips = sorted({p.platform for p in found})
        writer.writerow([arch, work, *sizes, " ".join(chips)])
    return out.getvalue()
