"""The roofline of a run as numbers and as a picture: work per byte against work per time."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.instruction import VectorWork

if TYPE_CHECKING:
    from simulator.analysis.summary import Summary
    from tools.html_report.streams import Streams

WIDTH: Final = 640
HEIGHT: Final = 340
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 16, 44


class Roofline(NamedTuple):
    """Position of a run under the roof of its platform.

    Attributes
    ----------
    intensity : float
        Vector operations (one for each element of a vector call) per byte of global memory.
    attained : float
        10^9 operations a second over the working time.
    peak : float
        What the cores in use reach with 256 bytes a cycle each.
    bandwidth : float
        GB/s that these cores get for this mixture of reads and writes.
    """

    intensity: float
    attained: float
    peak: float
    bandwidth: float

    @property
    def limit(self) -> float:
        """Height of the roof above the run, in 10^9 operations a second."""
        return min(self.peak, self.bandwidth * self.intensity)

    @property
    def memory_bound(self) -> bool:
        """Whether the slope of the memory, not the peak, is above the run."""
        return self.bandwidth * self.intensity < self.peak

    def sentence(self) -> str:
        """Say where the run stands."""
        roof = "memory" if self.memory_bound else "vector"
        return (
            f"{self.intensity:.3g} operations per byte, {self.attained:,.1f} of "
            f"{self.limit:,.1f} Gop/s under the {roof} roof ({self.attained / self.limit:.0%})."
        )


def roofline(streams: Streams, summary: Summary) -> Roofline | None:
    """Return the roofline of a run, or None if it computes nothing or copies nothing."""
    run, moved = streams.run, summary.traffic
    elements = nbytes = 0.0
    for kind, calls in zip(streams.kinds, streams.per_kind("count"), strict=True):
        if isinstance(kind.plan.work, VectorWork) and kind.plan.operands:
            elements += kind.elements * calls
            nbytes += kind.elements * calls * max(8, kind.plan.operands[0].dtype.bits) / 8
    total = moved.read_bytes + moved.written_bytes
    if not elements or not total or not summary.work_cycles:
        return None
    timing, cores = run.platform.timing, summary.cores
    read = min(timing.read_rate_gbps * cores, timing.read_cap_gbps)
    write = min(timing.write_rate_gbps * cores, timing.write_cap_gbps)
    # Reads and writes have pipes of their own, so the slower side sets the time of both.
    bandwidth = total / max(moved.read_bytes / read, moved.written_bytes / write)
    per_cycle = run.platform.memory.repeat_bytes / (nbytes / elements)
    return Roofline(
        elements / total,
        elements / timing.nanoseconds(summary.work_cycles),
        cores * per_cycle * timing.clock_mhz / 1000,
        bandwidth,
    )


class Chart(NamedTuple):
    """Places of the parts of the picture, in its own units."""

    roof: str
    ridge: tuple[float, float]
    point: tuple[float, float]
    ceiling: tuple[float, float]
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]


def chart(line: Roofline) -> Chart:
    """Return the picture of ``line`` with logarithmic axes."""
    ridge = line.peak / line.bandwidth
    low_x = floor(log10(min(line.intensity, ridge) / 2))
    high_x = ceil(log10(max(line.intensity, ridge) * 2))
    low_y = floor(log10(min(line.attained, line.bandwidth * 10**low_x)))
    high_y = ceil(log10(line.peak * 1.2))

    def x(value: float) -> float:
        share = (log10(value) - low_x) / (high_x - low_x)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    def y(value: float) -> float:
        share = (log10(value) - low_y) / (high_y - low_y)
        return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)

    foot, end = 10.0**low_x, 10.0**high_x
    return Chart(
        f"{x(foot)},{y(line.bandwidth * foot)} {x(ridge)},{y(line.peak)} {x(end)},{y(line.peak)}",
        (x(ridge), y(line.peak)),
        (x(line.intensity), y(line.attained)),
        (x(line.intensity), y(line.limit)),
        [(x(10.0**n), _power(n)) for n in range(low_x, high_x + 1)],
        [(y(10.0**n), _power(n)) for n in range(low_y, high_y + 1)],
    )


def _power(exponent: int) -> str:
    return f"{10**exponent:,}" if exponent >= 0 else f"{10.0**exponent:.{-exponent}f}"
