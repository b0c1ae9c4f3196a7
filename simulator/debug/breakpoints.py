"""Breakpoints: where a run is to stop, found by looking through the record."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from simulator.debug.effects import pointer_of
from simulator.debug.trace import LINE
from simulator.enums import PipeID, TBufState
from simulator.errors import ConfigError
from simulator.stalls import CROSS, event_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.debug.view import BlockView

    Moment = tuple[int, int]

KINDS: Final = (
    "line", "instruction", "pipe", "flag", "queue", "read", "write", "access", "finding", "if",
)  # fmt: skip

_IDS: Final = 8


@dataclass(eq=False)
class Breakpoint:
    """Where to stop.

    Attributes
    ----------
    kind : str
        One of :data:`KINDS`.
    where : dict
        ``line``: file, line. ``instruction``: name. ``pipe``: pipe. ``flag``: event, id (None for
        any), form (``set``, ``wait`` or None). ``queue``: queue (name, number or None), state
        (``full`` or ``empty``). ``read``, ``write``, ``access``: space (UB or GM), low, high.
        ``if``: nothing but the condition.
    condition : str
        Python expression over the kernel's locals; empty for always.
    once : bool
        Of a watchpoint: stop only the first time in a block.
    """

    number: int
    kind: str
    where: dict[str, Any] = field(default_factory=dict)
    condition: str = ""
    enabled: bool = True
    once: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ConfigError(
                "there is no such kind of breakpoint", got=self.kind, legal=", ".join(KINDS)
            )

    def __str__(self) -> str:
        text = _text(self)
        return f"{text} if {self.condition}" if self.condition else text

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "number": self.number,
            "kind": self.kind,
            "where": dict(self.where),
            "condition": self.condition,
            "enabled": self.enabled,
            "once": self.once,
            "text": str(self),
        }


def _text(point: Breakpoint) -> str:
    where = point.where
    if point.kind == "line":
        return f"line {os.path.basename(where['file'])}:{where['line']}"
    if point.kind == "instruction":
        return f"instruction {where['name']}"
    if point.kind == "pipe":
        return f"pipe {where['pipe']}"
    if point.kind == "flag":
        parts = ("flag", where["form"], where["event"], where["id"])
        return " ".join(str(part) for part in parts if part is not None)
    if point.kind == "queue":
        which = "any" if where["queue"] is None else where["queue"]
        return f"queue {which} {where['state']}"
    if point.kind in ("finding", "if"):
        return "finding" if point.kind == "finding" else "always"
    first = "first " if point.once else ""
    return f"{first}{point.kind} of {where['space']} {where['low']:#x}..{where['high']:#x}"


def moments(point: Breakpoint, view: BlockView) -> list[Moment]:
    """Return (instructions issued, event) of every place in a block where a breakpoint stops.

    The condition is not asked here.
    """
    if point.kind == "line":
        return _lines(point, view)
    if point.kind == "if":
        trace = view.trace
        return [(at, k) for k, at in enumerate(trace.at) if trace.kind[k] == LINE]
    if point.kind == "queue":
        return _queues(point, view)
    found = [(index, view.event_at(index)) for index in _instructions(point, view)]
    return found[:1] if point.once else found


def _lines(point: Breakpoint, view: BlockView) -> list[Moment]:
    trace = view.trace
    wanted = os.path.realpath(point.where["file"])
    frames = {
        number
        for number, frame in enumerate(trace.frames)
        if os.path.realpath(frame.code.co_filename) == wanted
    }
    line = point.where["line"]
    return [
        (trace.at[k], k)
        for k, number in enumerate(trace.line)
        if number == line and trace.frame[k] in frames and trace.kind[k] == LINE
    ]


def _queues(point: Breakpoint, view: BlockView) -> list[Moment]:
    """Stop behind the line that fills or empties a queue."""
    wanted, full = point.where["queue"], point.where["state"] == "full"
    free = {TBufState.FREE}
    found: list[Moment] = []
    before: set[Any] = set()
    for event, (layout, states) in view.trace.queues.items():
        now = set()
        at = 0
        for number, queue in enumerate(layout):
            part = states[at : at + len(queue.buffers)]
            at += len(queue.buffers)
            name = getattr(queue.queue, "name", "")
            if wanted is not None and wanted not in (number, str(number), name):
                continue
            if part and hasattr(queue.queue, "depth"):
                idle = [state in free for state in part]
                if (full and not any(idle)) or (not full and all(idle)):
                    now.add((id(queue.queue), number))
        if now - before:
            found.append((view.trace.at[event], event))
        before = now
    return found


def _instructions(point: Breakpoint, view: BlockView) -> Iterator[int]:
    where = point.where
    plans = [entry[0] for entry in view.entries]
    if point.kind == "instruction":
        name = where["name"].lower()
        yield from (
            i for i, plan in enumerate(plans)
            if plan.spec.name.lower() in (name, f"localtensor.{name}", f"globaltensor.{name}")
        )  # fmt: skip
    elif point.kind == "pipe":
        pipe = PipeID[f"PIPE_{where['pipe'].upper()}"]
        yield from (i for i, plan in enumerate(plans) if plan.pipe == pipe)
    elif point.kind == "flag":
        yield from (i for i, plan in enumerate(plans) if _is_flag(plan, where))
    elif point.kind == "finding":
        yield from sorted({f.index for f in view.findings})
    else:
        yield from _accesses(point, view)


def _is_flag(plan: Any, where: dict[str, Any]) -> bool:
    if not 0 <= plan.event <= CROSS or plan.form.split()[-1] not in ("set", "wait"):
        return False
    name, number = event_of(plan, _IDS)
    return (
        where["form"] in (None, plan.form.split()[-1])
        and where["event"] in (None, name)
        and where["id"] in (None, number)
    )


def _accesses(point: Breakpoint, view: BlockView) -> Iterator[int]:
    where = point.where
    in_gm = where["space"] == "GM"
    low, high = where["low"], where["high"]
    reads, writes = point.kind != "write", point.kind != "read"
    known: dict[Any, bool] = {}
    for index, (plan, _, _, params) in enumerate(view.entries):
        offset = 0
        if in_gm:
            pointer = pointer_of(params)
            if pointer is None:
                continue
            offset = pointer.address
        key = (plan, offset)
        hit = known.get(key)
        if hit is None:
            hit = known[key] = any(
                touch.is_global == in_gm
                and ((touch.reads and reads) or (touch.writes and writes))
                and touch.meets(low, high, offset)
                for touch in view.touches.of(plan)
            )
        if hit:
            yield index
