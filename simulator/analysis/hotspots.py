"""Where the time and the bytes of a run go, by source line."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from simulator.analysis.lanes import SYNC_FORMS, SharesOf, executing_pipe
from simulator.enums import PipeID
from simulator.instruction import CopyWork, locate

if TYPE_CHECKING:
    from types import CodeType

    from simulator.errors import SourceLocation
    from simulator.run import Run


@dataclass(frozen=True)
class LineUse:
    """What one source line took, summed over all blocks.

    Attributes
    ----------
    location : SourceLocation
    names : tuple of str
        Instructions that it issues, waits and barriers left out where it has others.
    pipe : str
        Pipe that it keeps busy longest.
    calls : int
        Instructions that work, or all where none does.
    cycles : int
        Busy cycles of the pipes; a pipe's cycles are counted once.
    waited : int
        Cycles that its WaitFlags and barriers stood.
    nbytes : int
        Bytes moved to and from global memory.
    path : int
        Cycles on the critical path.
    """

    location: SourceLocation
    names: tuple[str, ...]
    pipe: str
    calls: int
    cycles: int
    waited: int
    nbytes: int
    path: int

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        plain = asdict(self)
        del plain["location"]
        return {"file": self.location.file, "line": self.location.line, **plain}


class _Line:
    def __init__(self) -> None:
        self.names: dict[str, bool] = {}
        self.by_pipe: dict[int, int] = {}
        self.calls = self.sync_calls = self.waited = self.nbytes = 0


def hotspots(run: Run) -> list[LineUse]:
    """Return every source line of ``run``, the one with most busy cycles first."""
    shares_of = SharesOf(run)
    lines: dict[SourceLocation, _Line] = {}
    places: dict[tuple[CodeType, int], _Line] = {}
    weights: dict[int, int] = {}
    for placed in run.timeline.blocks:
        weights[id(placed.stream)] = weights.get(id(placed.stream), 0) + 1
    for placed, block in zip(run.timeline.blocks, run.blocks, strict=True):
        # Blocks with one schedule count as often as they occur, and are looked at once.
        weight = weights.pop(id(placed.stream), 0)
        if not weight:
            continue
        shares = shares_of(placed)
        for index, (plan, code, lasti, _) in enumerate(block.entries):
            line = places.get((code, lasti))
            if line is None:
                line = places[code, lasti] = lines.setdefault(locate(code, lasti), _Line())
            lasted = (shares.end[index] - shares.start[index]) * weight
            works = plan.form not in SYNC_FORMS
            line.names[plan.spec.name] = works
            if works:
                pipe = executing_pipe(plan)
                line.by_pipe[pipe] = line.by_pipe.get(pipe, 0) + lasted
                line.calls += weight
            else:
                line.sync_calls += weight
                line.waited += lasted
            if isinstance(plan.work, CopyWork):
                line.nbytes += plan.work.nbytes * weight
    path = {share.location: share.cycles for share in run.critical_path.lines()}
    found = [_use(place, line, path.get(place, 0)) for place, line in lines.items()]
    return sorted(found, key=lambda u: (-u.cycles, -u.waited, u.location.file, u.location.line))


def _use(place: SourceLocation, line: _Line, path: int) -> LineUse:
    working = [name for name, works in line.names.items() if works]
    busiest = max(line.by_pipe, key=line.by_pipe.__getitem__, default=None)
    return LineUse(
        location=place,
        names=tuple(working or line.names),
        pipe="" if busiest is None else PipeID(busiest).label,
        calls=line.calls or line.sync_calls,
        cycles=sum(line.by_pipe.values()),
        waited=line.waited,
        nbytes=line.nbytes,
        path=path,
    )
