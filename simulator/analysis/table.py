"""The instructions of a run as a table."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from simulator.enums import PipeID
from simulator.errors import ConfigError
from simulator.instruction import CopyWork, locate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.run import Run

COLUMNS = (
    "block", "core", "index", "name", "pipe", "form", "file", "line", "issued", "start", "end",
    "cycles", "wait", "waited_for", "bytes",
)  # fmt: skip
"""Columns of the table; cycles count from the launch, bytes are those of copies."""


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield one row for each instruction, block after block, in program order."""
    places: dict[tuple[Any, int], tuple[str, int]] = {}
    for placed, block in zip(run.timeline.blocks, run.blocks, strict=True):
        stream, at = placed.stream, placed.start
        for index, (plan, code, lasti, _) in enumerate(block.entries):
            place = places.get((code, lasti))
            if place is None:
                found = locate(code, lasti)
                place = places[code, lasti] = (found.file, found.line)
            start, end = stream.start[index], stream.end[index]
            work = plan.work
            yield (
                block.index, placed.core, index, plan.spec.name, PipeID(plan.pipe).label, plan.form,
                *place, at + stream.issued[index], at + start, at + end, end - start,
                stream.wait[index], stream.reason[index],
                work.nbytes if isinstance(work, CopyWork) else 0,
            )  # fmt: skip


def to_dataframe(run: Run) -> Any:
    """Return the table as a pandas DataFrame.

    Raises
    ------
    ConfigError
        If pandas is not installed.
    """
    try:
        # Not an import statement: pandas is no dependency, and type checkers need not know it.
        pandas = import_module("pandas")
    except ImportError:
        raise ConfigError(
            "a data frame needs pandas, which is not installed", fix="pip install pandas"
        ) from None
    return pandas.DataFrame.from_records(list(rows(run)), columns=list(COLUMNS))
