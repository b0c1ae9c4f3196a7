"""Two runs side by side: what changed in cycles, pipes and lines, and what caused it.

The cause is read off the critical paths: each path adds up to the cycles of its run, so the
differences between the paths add up to the difference between the runs.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from simulator.analysis.barriers import removable
from simulator.analysis.edits import buffer_groups
from simulator.analysis.hotspots import LineUse, hotspots
from simulator.enums import PipeID
from simulator.timing.schedule import ALL_PIPES

if TYPE_CHECKING:
    from simulator.core import Entry
    from simulator.run import Run

WORTH_SAYING: Final = 0.02
"""Least share of the larger run that a single cause must explain to be told."""

_MOST: Final = 3


@dataclass(frozen=True)
class PipeChange:
    """A pipe in both runs, in mean cycles a core."""

    name: str
    busy: tuple[float, float]
    waits: dict[str, tuple[float, float]]


@dataclass(frozen=True)
class LineChange:
    """A source line in both runs; None where a run has no such line."""

    before: LineUse | None
    after: LineUse | None

    @property
    def change(self) -> int:
        """Difference in busy cycles."""
        return (self.after.cycles if self.after else 0) - (self.before.cycles if self.before else 0)

    @property
    def path_change(self) -> int:
        """Difference in cycles on the critical path."""
        return (self.after.path if self.after else 0) - (self.before.path if self.before else 0)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "before": self.before.as_dict() if self.before else None,
            "after": self.after.as_dict() if self.after else None,
            "change": self.change,
            "path_change": self.path_change,
        }


@dataclass(frozen=True)
class Cause:
    """A part of the critical path that differs: ``after - before`` cycles."""

    text: str
    before: int
    after: int

    @property
    def change(self) -> int:
        """``after - before``."""
        return self.after - self.before


class Comparison:
    """What changed from run ``before`` to run ``after``."""

    def __init__(self, before: Run, after: Run) -> None:
        self.before = before
        self.after = after

    @property
    def change(self) -> int:
        """Difference in cycles; negative is faster."""
        return self.after.cycles - self.before.cycles

    @cached_property
    def pipes(self) -> list[PipeChange]:
        """Every pipe: busy and waiting cycles, mean over the cores in use."""
        found = []
        for pipe in ALL_PIPES:
            sides = [run.timeline for run in (self.before, self.after)]
            waits = [t.waits(pipe) for t in sides]
            reasons = dict.fromkeys([*waits[0], *waits[1]])
            found.append(
                PipeChange(
                    PipeID(pipe).label,
                    (sides[0].busy(pipe) / sides[0].cores, sides[1].busy(pipe) / sides[1].cores),
                    {
                        reason: (
                            waits[0].get(reason, 0) / sides[0].cores,
                            waits[1].get(reason, 0) / sides[1].cores,
                        )
                        for reason in reasons
                    },
                )
            )
        return found

    @cached_property
    def lines(self) -> list[LineChange]:
        """Every source line, the largest change first.

        Lines are paired by file name, function and the calls they make, in their order, so that a
        line that only moved is found again.
        """
        old, new = (_by_function(run) for run in (self.before, self.after))
        _rename(old, new)
        changes = []
        for function in dict.fromkeys([*old, *new]):
            changes += _paired(old.get(function, []), new.get(function, []))
        return sorted(changes, key=lambda c: (-abs(c.change), -abs(c.path_change)))

    @cached_property
    def causes(self) -> list[Cause]:
        """Parts of the critical path by size of their change; all changes add up to ``change``."""
        kinds = [run.critical_path.kinds() for run in (self.before, self.after)]
        found = [Cause("start-up of the blocks", *(k.get("start-up", 0) for k in kinds))]
        for line in self.lines:
            one = line.after or line.before
            if one is not None and (line.path_change or one.path):
                place = f"{PurePath(one.location.file).name}:{one.location.line}"
                found.append(
                    Cause(
                        f"{', '.join(one.names)} at {place}",
                        line.before.path if line.before else 0,
                        line.after.path if line.after else 0,
                    )
                )
        return sorted(found, key=lambda c: -abs(c.change))

    @cached_property
    def facts(self) -> list[str]:
        """What is different about the launches themselves, in words."""
        a, b = self.before, self.after
        found = []
        if a.platform.name != b.platform.name:
            found.append(f"platform {a.platform.name} -> {b.platform.name}")
        else:
            found += [
                f"{key} {_short(figure.value)} -> {_short(b.platform.figures[key].value)}"
                for key, figure in a.platform.figures.items()
                if key in b.platform.figures and b.platform.figures[key].value != figure.value
            ]
        pairs = {
            "kernel": (a.name, b.name),
            "blocks": (a.block_dim, b.block_dim),
            "cores": (a.timeline.cores, b.timeline.cores),
            "instructions": (len(a.instructions), len(b.instructions)),
            "bytes read": (a.summary.traffic.read_bytes, b.summary.traffic.read_bytes),
            "copies in": (a.summary.traffic.read_copies, b.summary.traffic.read_copies),
            "bytes written": (a.summary.traffic.written_bytes, b.summary.traffic.written_bytes),
            "copies out": (a.summary.traffic.written_copies, b.summary.traffic.written_copies),
            "buffers of the queues": (_buffers(a), _buffers(b)),
            "barriers over all pipes in a block": (_barriers(a), _barriers(b)),
            "automatic synchronisation": (a.auto_sync, b.auto_sync),
        }
        for what, (old, new) in pairs.items():
            if old != new:
                both = f"{old:,} -> {new:,}" if isinstance(old, int) else f"{old} -> {new}"
                found.append(f"{what} {both}")
        return found

    def sentence(self) -> str:
        """Return the difference and its main causes in one sentence."""
        if not self.change:
            return "the runs take the same number of cycles"
        faster = "faster" if self.change < 0 else "slower"
        share = abs(self.change) / max(1, self.before.cycles)
        text = f"{abs(self.change):,} cycles {faster} ({share:.1%})"
        least = WORTH_SAYING * max(self.before.cycles, self.after.cycles)
        told = [c for c in self.causes if abs(c.change) >= min(least, abs(self.change) / 2)][:_MOST]
        parts = [f"{c.change:+,} {c.text}" for c in told]
        return f"{text}; on the critical path: {', '.join(parts)}" if parts else text

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "before": self.before.summary.as_dict(),
            "after": self.after.summary.as_dict(),
            "change": self.change,
            "cause": self.sentence(),
            "causes": [{**asdict(c), "change": c.change} for c in self.causes if c.change],
            "facts": self.facts,
            "pipes": [asdict(pipe) for pipe in self.pipes],
            "lines": [line.as_dict() for line in self.lines],
        }


def _short(value: float | str) -> str:
    return f"{value:.10g}" if isinstance(value, int | float) else value


def _busiest(run: Run) -> list[Entry]:
    busiest = max(run.timeline.blocks, key=lambda placed: placed.stream.total)
    return run.blocks[busiest.block].entries


def _buffers(run: Run) -> str:
    return " ".join(str(group.buffers) for group in buffer_groups(_busiest(run))) or "not seen"


def _barriers(run: Run) -> int:
    return len(removable(_busiest(run)))


def compare(before: Run, after: Run) -> Comparison:
    """Return what changed from ``before`` to ``after``."""
    return Comparison(before, after)


_Function = tuple[str, str]


def _by_function(run: Run) -> dict[_Function, list[LineUse]]:
    found: dict[_Function, list[LineUse]] = {}
    for use in hotspots(run):
        key = PurePath(use.location.file).name, use.location.function
        found.setdefault(key, []).append(use)
    for uses in found.values():
        uses.sort(key=lambda u: u.location.line)
    return found


def _rename(old: dict[_Function, list[LineUse]], new: dict[_Function, list[LineUse]]) -> None:
    """Take a function whose file is on one side only for that of the same name on the other."""
    files = {file for file, _ in old} & {file for file, _ in new}
    for file, name in list(old):
        if file in files:
            continue
        others = [key for key in new if key[1] == name and key[0] not in files]
        if len(others) == 1:
            old[others[0]] = old.pop((file, name))


def _paired(before: list[LineUse], after: list[LineUse]) -> list[LineChange]:
    matcher = SequenceMatcher(None, [u.names for u in before], [u.names for u in after], False)
    changes = []
    for kind, a0, a1, b0, b1 in matcher.get_opcodes():
        if kind == "equal":
            changes += [LineChange(a, b) for a, b in zip(before[a0:a1], after[b0:b1], strict=True)]
        else:
            changes += [LineChange(a, None) for a in before[a0:a1]]
            changes += [LineChange(None, b) for b in after[b0:b1]]
    return changes
