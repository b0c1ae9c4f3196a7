"""What limits a run: one kind of bound and one sentence with the figures behind it.

The order of the questions is the order in which an answer makes the later ones idle: time that is
start-up cannot be won inside the kernel; cores without work cannot be busy; and a pipe that is
always busy hides the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.enums import PipeID
from simulator.timing.schedule import ALL_PIPES, BARRIER_WAIT, FINISHED, ISSUE, QUEUE_FULL, START_UP

if TYPE_CHECKING:
    from simulator.analysis.traffic import Traffic
    from simulator.run import Run

BOUNDS: Final = ("start-up", "imbalance", "memory", "vector", "scalar", "latency")
"""Kinds of limit."""

PIPE_MEANINGS: Final = {
    "S": "scalar unit",
    "V": "vector unit",
    "MTE2": "copies from global memory",
    "MTE3": "copies to global memory",
}
"""What each pipe does, in words."""

MOSTLY: Final = 0.5
"""Share of the whole time from which start-up is the verdict."""
SATURATED: Final = 0.75
"""Share of the working time from which a busy pipe is the verdict."""
UNEVEN: Final = 0.25
"""Share of the working time from which cores without work are the verdict."""
WORTH_SAYING: Final = 0.03
SLOW_COPIES: Final = 0.6
"""Share of its rate below which a busy copy pipe is held up by latency, not bandwidth."""


def verdict(run: Run, moved: Traffic) -> tuple[str, str]:
    """Return the kind of bound and the sentence about it."""
    timeline = run.timeline
    whole = timeline.cycles * timeline.cores
    start = timeline.start_cycles * run.block_dim
    idle = whole - sum(b.stream.total + timeline.start_cycles for b in timeline.blocks)
    work = whole - start
    pipe = max(ALL_PIPES, key=timeline.busy)
    busy = timeline.busy(pipe)
    if work <= 0 or not busy:
        return "start-up", "start-up: the kernel issues no work to speak of."
    name = _named(pipe)
    if start / whole > MOSTLY:
        return "start-up", (
            f"start-up: {start / whole:.0%} of the time is the start of the blocks, which more "
            f"work per launch would hide. In the rest, {name} is busy {busy / work:.0%}."
        )
    if idle / work > UNEVEN:
        share = busy / (work - idle)
        return "imbalance", (
            f"imbalance: cores stand idle for {idle / work:.0%} of the working time because the "
            f"busiest core has more to do ({_spread(run)}). While they work, {name} is busy "
            f"{share:.0%}; deal the work out evenly first."
        )
    if busy / work >= SATURATED:
        return _saturated(run, moved, pipe, busy / work)
    return "latency", _latency(run, pipe, work, idle, start / whole)


def _named(pipe: int) -> str:
    label = PipeID(pipe).label
    return f"{label} ({PIPE_MEANINGS[label]})"


def _spread(run: Run) -> str:
    timeline = run.timeline
    if run.block_dim > timeline.cores:
        return f"{run.block_dim} blocks on {timeline.cores} cores"
    totals = [b.stream.total for b in timeline.blocks]
    return f"blocks take {min(totals):,} to {max(totals):,} cycles"


def _saturated(run: Run, moved: Traffic, pipe: int, share: float) -> tuple[str, str]:
    name = _named(pipe)
    if pipe == PipeID.PIPE_S:
        return "scalar", (
            f"scalar: {name} is busy {share:.0%} of the working time with issuing, GetValue and "
            "SetValue; fewer and larger vector calls would help."
        )
    if pipe == PipeID.PIPE_V:
        return "vector", (
            f"vector: {name} is busy {share:.0%} of the working time, so only fewer, cheaper or "
            "longer vector instructions make the kernel faster; the copies are hidden behind them."
        )
    reading = pipe == PipeID.PIPE_MTE2
    timing = run.platform.timing
    own = timing.read_rate_gbps if reading else timing.write_rate_gbps
    cap = timing.read_cap_gbps if reading else timing.write_cap_gbps
    cores = run.timeline.cores
    limit = min(own, cap / cores)
    nbytes = moved.read_bytes if reading else moved.written_bytes
    copies = moved.read_copies if reading else moved.written_copies
    nanoseconds = timing.nanoseconds(run.timeline.busy(pipe))
    rate = nbytes / nanoseconds
    moves = (
        f"moves {rate:.1f} of {limit:.1f} GB/s a core"
        if rate <= limit
        else f"moves {rate:.1f} GB/s a core, more than its share of {limit:.1f}"
    )
    text = f"memory: {name} is busy {share:.0%} of the working time and then {moves}"
    if rate / limit < SLOW_COPIES and copies:
        return "memory", (
            f"{text}: the copies are short ({nbytes / copies:,.0f} B on average), so latency "
            "counts more than bandwidth; larger tiles would help."
        )
    if cap / cores < own:
        help_ = f"{cores} cores share {cap:,.0f} GB/s, so only moving fewer bytes would help"
    elif cores < run.platform.chip.aiv:
        help_ = f"more cores would help ({cores} of {run.platform.chip.aiv} are in use)"
    else:
        help_ = "only moving fewer bytes would help"
    return "memory", f"{text}: {help_}."


def _latency(run: Run, pipe: int, work: int, idle: int, start_share: float) -> str:
    timeline = run.timeline
    shares = {k: v / work for k, v in timeline.waits(pipe).items() if k != START_UP}
    if idle:
        shares[FINISHED] -= idle / work
        shares["idle"] = idle / work
    told = [
        f"{share:.0%} {_meaning(reason)}"
        for reason, share in sorted(shares.items(), key=lambda kv: -kv[1])
        if share >= WORTH_SAYING
    ]
    text = (
        f"latency: no pipe is saturated. {_named(pipe)} does the most and is busy "
        f"{timeline.busy(pipe) / work:.0%} of the working time. The rest: "
        f"{', '.join(told) or 'many short waits'}."
    )
    if start_share >= 0.2:
        text += f" Start-up is another {start_share:.0%} of the total."
    return text


def _meaning(reason: str) -> str:
    """Say what a pipe did instead of working; the text follows a percentage."""
    if reason.startswith("flag "):
        event = reason.removeprefix("flag ")
        return f"waiting for {event.partition('_')[0]} (flag {event})"
    return {
        FINISHED: "done while other pipes finish the last tiles",
        "idle": "cores done before the busiest one",
        ISSUE: "waiting for the scalar unit to issue the next instruction",
        BARRIER_WAIT: "standing at barriers",
        QUEUE_FULL: "standing before the full queue of another pipe",
    }.get(reason, f"waiting for {reason}")
