"""Instructions of a run as columns of whole numbers, one row for each share of a pipe's time.

Blocks with one schedule share their rows. A run with more rows than a page can carry is thinned:
neighbours on a pipe become one row that knows how many it stands for and how long they were busy.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.analysis.lanes import SYNC_FORMS, SharesOf, executing_pipe
from simulator.instruction import READ, CopyWork, VectorWork, locate
from simulator.memory import GlobalAddress
from simulator.timing.schedule import ALL_PIPES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.core import Entry
    from simulator.errors import SourceLocation
    from simulator.instruction import Plan
    from simulator.run import Run
    from simulator.timing.timeline import PlacedBlock

    Column = NDArray[np.int64]

COLUMNS: Final = (
    "start", "end", "first", "last", "issued", "wait", "reason", "kind", "index", "count", "busy",
)  # fmt: skip
"""Its share of the pipe (``start``, ``end``), the instruction (``first``, ``last``), and so on."""


@dataclass(frozen=True)
class Kind:
    """Equal calls of one source line: what they are and what they touch."""

    plan: Plan
    pipe: int
    location: SourceLocation
    memory: str

    @property
    def is_sync(self) -> bool:
        """Whether it orders pipes and keeps none of them busy."""
        return self.plan.form in SYNC_FORMS

    @property
    def nbytes(self) -> int:
        """Bytes that one call copies."""
        return self.plan.work.nbytes if isinstance(self.plan.work, CopyWork) else 0

    @property
    def elements(self) -> int:
        """Elements that one vector call computes."""
        return self.plan.work.elements if isinstance(self.plan.work, VectorWork) else 0

    def operand_texts(self) -> list[str]:
        """Return one line for each operand: role, element type, place."""
        texts = []
        for operand in self.plan.operands:
            spans = [a.span() for a in operand.accesses]
            low = min((s for s, _ in spans), default=0)
            high = max((e for _, e in spans), default=0)
            if operand.space == "GM":
                place = f"GM {self.memory}".rstrip() + f", {high - low:,} B"
            else:
                place = f"{operand.space} {low:#x} to {high:#x}, {high - low:,} B"
            verb = "reads" if operand.role == READ else "writes"
            texts.append(f"{operand.name} {verb} {operand.dtype.name} in {place}")
        return texts


@dataclass
class Rows:
    """Rows of one stream: for each pipe a slice of the columns, in order of time."""

    total: int
    blocks: list[int]
    columns: dict[str, Column]
    lanes: dict[int, tuple[int, int]] = field(default_factory=dict)


class Streams:
    """Everything a page needs to know of the instructions of ``run``.

    Attributes
    ----------
    kinds : list of Kind
    reasons : list of str
        What pipes waited for; the first is "nothing".
    rows : list of Rows
        One for each different schedule.
    stream_of : list of int
        Index into ``rows`` for each block.
    resolution : int
        Cycles below which neighbours are one row; 0 when every instruction has its own.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.kinds: list[Kind] = []
        self.reasons: list[str] = [""]
        self.rows: list[Rows] = []
        self.stream_of: list[int] = []
        self.resolution = 0
        self._known: dict[Any, int] = {}
        self._reason_numbers = {"": 0}
        shares = SharesOf(run)
        seen: dict[int, int] = {}
        for placed in run.timeline.blocks:
            number = seen.get(id(placed.stream))
            if number is None:
                number = seen[id(placed.stream)] = len(self.rows)
                self.rows.append(self._read(placed, shares))
            self.rows[number].blocks.append(placed.block)
            self.stream_of.append(number)

    @property
    def size(self) -> int:
        """Rows of all streams."""
        return sum(len(rows.columns["start"]) for rows in self.rows)

    def _read(self, placed: PlacedBlock, shares: SharesOf) -> Rows:
        entries = self.run.blocks[placed.block].entries
        stream, share = placed.stream, shares(placed)
        kind = np.fromiter((self._kind(e) for e in entries), np.int64, len(entries))
        reason = np.fromiter((self._reason(r) for r in stream.reason), np.int64, len(entries))
        start, end = np.array(share.start, np.int64), np.array(share.end, np.int64)
        columns = {
            "start": start,
            "end": end,
            "first": np.array(stream.start, np.int64),
            "last": np.array(stream.end, np.int64),
            "issued": np.array(stream.issued, np.int64),
            "wait": np.array(stream.wait, np.int64),
            "reason": reason,
            "kind": kind,
            "index": np.arange(len(entries), dtype=np.int64),
            "count": np.ones(len(entries), np.int64),
            "busy": end - start,
        }
        pipe_of = np.array([k.pipe for k in self.kinds], np.int64)
        sync_of = np.array([k.is_sync for k in self.kinds], bool)
        columns["busy"][sync_of[kind]] = 0
        pipe = pipe_of[kind]
        order = np.lexsort((columns["index"], start, pipe))
        rows = Rows(stream.total, [], {name: c[order] for name, c in columns.items()})
        pipes = pipe[order]
        for number in ALL_PIPES:
            low, high = np.searchsorted(pipes, [number, number + 1])
            rows.lanes[number] = (int(low), int(high))
        return rows

    def _kind(self, entry: Entry) -> int:
        plan, code, lasti, params = entry
        memory = ""
        if params:
            point = next((p for p in params if isinstance(p, GlobalAddress)), None)
            memory = point.allocation.name if point is not None else ""
        key = (plan, code, lasti, memory)
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = len(self.kinds)
            self.kinds.append(Kind(plan, executing_pipe(plan), locate(code, lasti), memory))
        return number

    def _reason(self, text: str) -> int:
        number = self._reason_numbers.get(text)
        if number is None:
            number = self._reason_numbers[text] = len(self.reasons)
            self.reasons.append(text)
        return number

    def per_kind(self, column: str) -> NDArray[np.float64]:
        """Return the sum of a column over all blocks, by kind; call before :meth:`thin`."""
        total = np.zeros(len(self.kinds))
        for rows in self.rows:
            total += len(rows.blocks) * np.bincount(
                rows.columns["kind"], rows.columns[column], len(self.kinds)
            )
        return total

    def thin(self, budget: int) -> None:
        """Merge neighbours until there are at most ``budget`` rows, or one a pipe and stream."""
        longest = max((rows.total for rows in self.rows), default=0)
        full = self.rows
        while self.size > budget and self.resolution <= longest:
            self.resolution = self.resolution * 2 or 8
            self.rows = [_merged(rows, self.resolution) for rows in full]


def _merged(rows: Rows, resolution: int) -> Rows:
    """Return rows in which everything that starts in one step of ``resolution`` is one row."""
    old = rows.columns
    size = len(old["start"])
    if not size:
        return rows
    step = old["start"] // resolution
    pipe = np.repeat(list(rows.lanes), [high - low for low, high in rows.lanes.values()])
    heads = np.flatnonzero(np.r_[True, (np.diff(step) != 0) | (np.diff(pipe) != 0)])
    columns = {name: np.add.reduceat(old[name], heads) for name in ("wait", "count", "busy")}
    for name in ("start", "first", "issued", "index"):
        columns[name] = np.minimum.reduceat(old[name], heads)
    for name in ("end", "last"):
        columns[name] = np.maximum.reduceat(old[name], heads)
    # The longest instruction of a step stands for it: lengths first, so that its row comes last.
    group = np.repeat(np.arange(len(heads)), np.diff(np.r_[heads, size]))
    order = np.lexsort((old["busy"], group))
    chosen = order[np.r_[heads[1:], size] - 1]
    columns["kind"] = old["kind"][chosen]
    columns["reason"] = old["reason"][chosen]
    merged = Rows(rows.total, rows.blocks, columns)
    for number, (low, high) in rows.lanes.items():
        first, last = np.searchsorted(heads, [low, high])
        merged.lanes[number] = (int(first), int(last))
    return merged
