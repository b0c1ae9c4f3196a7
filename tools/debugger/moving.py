"""Commands that move, and those that say where to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator.debug import MACHINE, PROGRAM
from simulator.errors import ConfigError
from tools.debugger import places
from tools.debugger.answer import Answer, stopped, told

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.debug import Session, Stop
    from tools.debugger.commands import Debugger


def _repeat(rest: str, step: Callable[[], Stop], debugger: Debugger) -> Answer:
    times = places.number(rest) if rest else 1
    stop = step()
    for _ in range(times - 1):
        if stop.reason in ("end", "start", "error"):
            break
        stop = step()
    return stopped(debugger, stop)


def into(debugger: Debugger, rest: str, *, back: bool = False) -> Answer:
    """Go to the next source line."""
    return _repeat(rest, lambda: debugger.session.step_into(back=back), debugger)


def over(debugger: Debugger, rest: str, *, back: bool = False) -> Answer:
    """Go to the next line past calls."""
    return _repeat(rest, lambda: debugger.session.step_over(back=back), debugger)


def out(debugger: Debugger, rest: str, *, back: bool = False) -> Answer:
    """Go on until the function returns."""
    return _repeat(rest, lambda: debugger.session.step_out(back=back), debugger)


def instruction(debugger: Debugger, rest: str, *, back: bool = False) -> Answer:
    """Go to the next instruction."""
    words = rest.split()
    pipe = words.pop(0) if words and not words[0].isdigit() else None
    return _repeat(
        " ".join(words),
        lambda: debugger.session.next_instruction(pipe, back=back),
        debugger,
    )


def change(debugger: Debugger, rest: str, *, back: bool = False) -> Answer:
    """Go to the next cycle at which something changes."""
    return _repeat(rest, lambda: debugger.session.next_change(back=back), debugger)


def go_on(debugger: Debugger, _: str, *, back: bool = False) -> Answer:
    """Go on to the next breakpoint."""
    return stopped(debugger, debugger.session.run_on(back=back))


_BACKWARDS = {
    "step": into, "next": over, "out": out, "instruction": instruction,
    "change": change, "continue": go_on, "until": lambda d, r, back: until(d, r, back=back),
}  # fmt: skip


def back(debugger: Debugger, rest: str) -> Answer:
    """Do a movement backwards."""
    word, _, more = rest.partition(" ")
    found = [name for name in _BACKWARDS if name.startswith(word or "step")]
    if not found:
        raise ConfigError(f"{word} has no way back", legal=", ".join(_BACKWARDS))
    handler: Any = _BACKWARDS[found[0]]
    return handler(debugger, more.strip(), back=True)  # type: ignore[no-any-return]


def backwards(name: str) -> Callable[[Debugger, str], Answer]:
    """Return the handler of a movement backwards."""
    return lambda debugger, rest: back(debugger, f"{name} {rest}".strip())


def until(debugger: Debugger, rest: str, *, back: bool = False) -> Answer:
    """Go on to a place."""
    if not rest:
        raise ConfigError("until what?", legal="until [FILE:]LINE, NAME, pipe V, flag …")
    kind, where, condition = places.parse(debugger.session, rest)
    if condition:
        raise ConfigError("until takes no condition", fix="break … if CONDITION, then continue")
    return stopped(debugger, debugger.session.run_to(kind, back=back, **where))


def goto(debugger: Debugger, rest: str) -> Answer:
    """Jump anywhere."""
    session = debugger.session
    word, _, more = rest.partition(" ")
    known = ("instruction", "cycle", "block", "start", "end", "line", "bookmark", "finding")
    if word.isdigit():
        word, more = "instruction", word
    found = [name for name in known if word and name.startswith(word)]
    if len(found) != 1:
        raise ConfigError(
            "goto where?", got=rest or "nothing",
            legal="instruction N, cycle N, block N, line [FILE:]N, finding N, bookmark NAME, "
            "start, end",
        )  # fmt: skip
    name = found[0]
    if name == "instruction":
        stop = session.to_instruction(places.number(more))
    elif name == "cycle":
        stop = session.to_cycle(places.number(more))
    elif name == "block":
        stop = session.to_block(places.number(more))
    elif name == "line":
        session.to_start()
        stop = session.run_to("line", **places.line(session, more))
    elif name == "finding":
        stop = _to_finding(session, places.number(more or "1"))
    elif name == "bookmark":
        session.bookmarked(more)
        stop = session.to(*session.bookmarks[more])
    else:
        stop = session.to_start() if name == "start" else session.to_end()
    return stopped(debugger, stop)


def _to_finding(session: Session, number: int) -> Stop:
    found = session.findings
    if not 1 <= number <= len(found):
        raise ConfigError(
            f"there is no finding {number}", legal=f"1..{len(found)}" if found else "no findings"
        )
    finding = found[number - 1]
    return session.to_instruction(finding.index, finding.block)


def clock(debugger: Debugger, rest: str) -> Answer:
    """Switch the clock."""
    session = debugger.session
    if rest:
        chosen = [c for c in (PROGRAM, MACHINE) if c.startswith(rest)]
        clock = chosen[0] if chosen else rest
    else:
        clock = MACHINE if session.clock == PROGRAM else PROGRAM
    return stopped(debugger, session.set_clock(clock))


def launch(debugger: Debugger, rest: str) -> Answer:
    """List the launches or look at another one."""
    if not rest:
        rows = [
            f"{'>' if n == debugger.number else ' '} {n}  {launch.run!r}"
            + ("" if launch.error is None else f"  failed: {type(launch.error).__name__}")
            for n, launch in enumerate(debugger.launches, 1)
        ]
        return told("\n".join(rows), launches=[repr(launch.run) for launch in debugger.launches])
    number = places.number(rest)
    debugger.session = debugger.open(number)
    debugger.number = number
    return debugger.welcome()


# -- stopping --------------------------------------------------------------------------------------


def break_at(debugger: Debugger, rest: str) -> Answer:
    """Set a breakpoint or list them."""
    session = debugger.session
    if not rest:
        points = session.breakpoints
        text = "\n".join(f"{point.number}  {point}" for point in points) or "no breakpoints"
        return told(text, breakpoints=[point.as_dict() for point in points])
    kind, where, condition = places.parse(session, rest)
    point = session.add_breakpoint(kind, condition=condition, **where)
    places_ = sum(len(session.hits(point, n)) for n in range(len(session.run.blocks)))
    note = "" if kind == "if" else f" ({places_} places)"
    if kind == "line" and not places_:
        note = " (0 places: no block has run code of this line)"
    return told(f"breakpoint {point.number}: {point}{note}", breakpoint=point.as_dict())


def watch(debugger: Debugger, rest: str) -> Answer:
    """Set a watchpoint."""
    session = debugger.session
    kind, where, condition, once = places.parse_watch(session, rest)
    point = session.add_breakpoint(kind, condition=condition, once=once, **where)
    return told(f"breakpoint {point.number}: {point}", breakpoint=point.as_dict())


def delete(debugger: Debugger, rest: str) -> Answer:
    """Delete breakpoints."""
    gone = debugger.session.delete_breakpoint(places.number(rest) if rest else None)
    text = ", ".join(str(point.number) for point in gone) or "nothing"
    return told(f"deleted {text}", deleted=[point.number for point in gone])
