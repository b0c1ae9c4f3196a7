"""Commands that look and change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator.errors import ConfigError
from simulator.tensor import LocalTensor
from tools.debugger import places, show
from tools.debugger.answer import Answer, told

if TYPE_CHECKING:
    from tools.debugger.commands import Debugger


def where(debugger: Debugger, _: str) -> Answer:
    """Tell position and call stack."""
    moment = debugger.moment
    stop = debugger.session.stop("jump")
    text = "\n".join(filter(None, (show.stop_text(debugger.session, stop), show.stack(moment))))
    calls = [
        {"function": c.location.function, "file": c.location.file, "line": c.location.line}
        for c in moment.stack
    ]
    return told(text, stop=stop.as_dict(), stack=calls)


def list_source(debugger: Debugger, rest: str) -> Answer:
    """Show the source."""
    return told(show.source(debugger.session, places.number(rest) if rest else show.AROUND))


def pipes(debugger: Debugger, _: str) -> Answer:
    """Tell what the pipes do."""
    moment = debugger.moment
    data = [
        {
            "name": p.name, "running": p.running, "busy": p.busy, "waits_for": p.waits_for,
            "pending": p.pending,
        }
        for p in moment.pipes
    ]  # fmt: skip
    return told(show.pipes(moment), pipes=data)


def timeline(debugger: Debugger, rest: str) -> Answer:
    """Draw the pipes around the cursor."""
    return told(show.timeline(debugger.moment, places.number(rest) if rest else 60))


def flags(debugger: Debugger, _: str) -> Answer:
    """Tell which flags are up."""
    moment = debugger.moment
    return told(show.flags(moment), flags=[list(flag) for flag in moment.flags])


def queues(debugger: Debugger, _: str) -> Answer:
    """Tell the states of buffers."""
    moment = debugger.moment
    data = [
        {
            "number": q.number, "name": q.name, "depth": q.depth,
            "buffers": [{"address": a, "bytes": n, "state": s} for a, n, s in q.buffers],
        }
        for q in moment.queues
    ]  # fmt: skip
    return told(show.queues(moment), queues=data)


def ub(debugger: Debugger, _: str) -> Answer:
    """Tell who has which piece of UB."""
    moment = debugger.moment
    return told(show.ub_map(moment), areas=[area._asdict() for area in moment.areas])


def local_values(debugger: Debugger, rest: str) -> Answer:
    """Tell the locals."""
    moment = debugger.moment
    values = show.local_values(moment, places.number(rest) if rest else 0)
    rows = [f"{name} = {text}" for name, text in values.items()]
    empty = "no locals yet" if moment.view.has_source else "locals were not recorded"
    return told("\n".join(rows) or empty, locals=values)


def registers(debugger: Debugger, _: str) -> Answer:
    """Tell the registers."""
    moment = debugger.moment
    return told(show.registers(moment), registers=moment.registers)


def print_value(debugger: Debugger, rest: str) -> Answer:
    """Tell a value."""
    if not rest:
        raise ConfigError("print what?", legal="print EXPRESSION")
    moment = debugger.moment
    value = moment.evaluate(rest)
    text = show.value_text(moment, value)
    data: dict[str, Any] = {"value": text}
    if isinstance(value, LocalTensor):
        data |= {
            "position": value.position.name, "address": value.addr, "dtype": value.dtype.name,
            "length": value.length, "state": moment.state_of(value),
            "values": [float(v) for v in moment.values(value, 64)],
        }  # fmt: skip
    return told(text, **data)


def dump(debugger: Debugger, rest: str) -> Answer:
    """Show bytes in hex."""
    moment = debugger.moment
    space, low, high = places.memory(debugger.session, rest)
    high = min(high, low + 256) if "+" not in rest and ".." not in rest else high
    data = moment.read(space, low, high - low)
    return told(show.hex_dump(data, low), space=space, address=low, bytes=data.hex())


def mask(debugger: Debugger, rest: str) -> Answer:
    """Show a compare mask as bits."""
    words = rest.split()
    if not words:
        raise ConfigError("mask of what?", legal="mask TENSOR [FIRST [COUNT]]")
    moment = debugger.moment
    tensor = moment.evaluate(words[0])
    if not isinstance(tensor, LocalTensor):
        raise ConfigError("a mask is a LocalTensor", got=type(tensor).__name__)
    first = places.number(words[1]) if len(words) > 1 else 0
    count = places.number(words[2]) if len(words) > 2 else 16
    return told(show.mask_bits(moment, tensor, first, count))


def findings(debugger: Debugger, _: str) -> Answer:
    """Tell what the checks found."""
    session = debugger.session
    data = [] if session.error is not None else [f.as_dict() for f in session.findings]
    return told(show.findings(session), findings=data)


def output(debugger: Debugger, _: str) -> Answer:
    """Tell what the kernel printed."""
    return told(debugger.session.run.output or "nothing was printed")


def blocks(debugger: Debugger, _: str) -> Answer:
    """List the blocks."""
    session = debugger.session
    rows, data = [], []
    for place, block in enumerate(session.run.blocks):
        placed = session.run.timeline.blocks[place]
        mark = ">" if place == session.position.block else " "
        rows.append(
            f"{mark} {block.index}  core {placed.core}  {len(block.entries)} instructions  "
            f"cycles {placed.start}..{placed.end}"
        )
        data.append(
            {
                "block": block.index, "core": placed.core, "instructions": len(block.entries),
                "start": placed.start, "end": placed.end,
            }
        )  # fmt: skip
    return told("\n".join(rows), blocks=data)


def bookmark(debugger: Debugger, rest: str) -> Answer:
    """Keep the moment or list what is kept."""
    session = debugger.session
    if rest:
        session.bookmark(rest)
        return told(f"bookmark {rest}: cycle {session.position.cycle}", name=rest)
    rows = [
        f"{name}  block {session.run.blocks[p.block].index}  instruction {p.issued}  "
        f"cycle {p.cycle}  ({clock} clock)"
        for name, (p, clock) in session.bookmarks.items()
    ]
    return told("\n".join(rows) or "no bookmarks", bookmarks=list(session.bookmarks))


def diff(debugger: Debugger, rest: str) -> Answer:
    """Compare the memories of two moments."""
    words = rest.split()
    if len(words) not in (1, 2):
        raise ConfigError("diff which moments?", legal="diff BOOKMARK [BOOKMARK]")
    session = debugger.session
    one = session.bookmarked(words[0])
    other = session.bookmarked(words[1]) if len(words) == 2 else session.moment
    found = one.differences(other)
    data = [
        {"space": d.space, "name": d.name, "low": d.low, "high": d.high, "bytes": d.high - d.low}
        for d in found
    ]
    rows = show.difference_rows((other, one), found)
    return told("\n".join(rows) or "the memories are equal", differences=data)
