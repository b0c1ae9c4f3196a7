"""What the copies of a run reach of the memory's limits."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from simulator.enums import PipeID

if TYPE_CHECKING:
    from simulator.run import Run


@dataclass(frozen=True)
class Bandwidth:
    """One direction of the traffic with global memory; rates are 10^9 bytes a second.

    Attributes
    ----------
    pipe : str
        ``MTE2`` (reading) or ``MTE3`` (writing).
    nbytes : int
    mean_bytes : float
        Mean size of a copy.
    while_busy : float
        Rate of one core while the pipe copies.
    overall : float
        Rate of all cores over the working time of the busiest one.
    core_limit, limit : float
        What one core gets when all cores in use copy, and what these cores get together.
    bound_by : str
        ``a core's own rate`` or ``the bandwidth that all cores share``: what sets the limits.
    """

    pipe: str
    nbytes: int
    mean_bytes: float
    while_busy: float
    overall: float
    core_limit: float
    limit: float
    bound_by: str

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


def bandwidths(run: Run) -> list[Bandwidth]:
    """Return both directions, those without traffic left out."""
    timing, timeline, moved = run.platform.timing, run.timeline, run.summary.traffic
    cores = timeline.cores
    sides = (
        (
            PipeID.PIPE_MTE2, moved.read_bytes, moved.read_copies,
            timing.read_rate_gbps, timing.read_cap_gbps,
        ),
        (
            PipeID.PIPE_MTE3, moved.written_bytes, moved.written_copies,
            timing.write_rate_gbps, timing.write_cap_gbps,
        ),
    )  # fmt: skip
    found = []
    for pipe, nbytes, copies, own, cap in sides:
        busy = timing.nanoseconds(timeline.busy(pipe))
        working = timing.nanoseconds(run.summary.work_cycles)
        if copies and busy and working:
            shared = cap / cores < own
            limit = min(own, cap / cores)
            found.append(
                Bandwidth(
                    pipe.label, nbytes, nbytes / copies, nbytes / busy, nbytes / working,
                    limit, limit * cores,
                    "the bandwidth that all cores share" if shared else "a core's own rate",
                )
            )  # fmt: skip
    return found
