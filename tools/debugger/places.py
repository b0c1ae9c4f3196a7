"""Places as a user writes them: lines, instructions, pipes, flags, queues and byte ranges."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from simulator.debug.session import pipe_number
from simulator.enums import HardEvent
from simulator.errors import ConfigError
from simulator.instruction import REGISTRY
from simulator.tensor import GlobalTensor, LocalTensor

if TYPE_CHECKING:
    from simulator.debug import Session

    Parsed = tuple[str, dict[str, Any], str]


def number(text: str) -> int:
    """Return a whole number >= 0; hexadecimal with 0x.

    Raises
    ------
    ConfigError
        For anything else.
    """
    try:
        value = int(text, 0)
    except ValueError:
        raise ConfigError("a number is needed", got=text or "nothing") from None
    if value < 0:
        raise ConfigError("a number >= 0 is needed", got=text)
    return value


def parse(session: Session, text: str) -> Parsed:
    """Return kind, where and condition of a breakpoint.

    Raises
    ------
    ConfigError
        If the text names no place.
    """
    place, condition = _split_condition(text)
    words = place.split()
    if not words:
        return "if", {}, condition
    head = words[0]
    if head == "line":
        return "line", line(session, " ".join(words[1:])), condition
    if head == "instruction" and len(words) == 2:
        return "instruction", {"name": _instruction(words[1])}, condition
    if head == "pipe" and len(words) == 2:
        pipe_number(words[1])
        return "pipe", {"pipe": words[1].upper()}, condition
    if head == "flag":
        return "flag", _flag(words[1:]), condition
    if head == "queue":
        return "queue", _queue(words[1:]), condition
    if head == "finding":
        return "finding", {}, condition
    if re.fullmatch(r"(.+:)?\d+", place):
        return "line", line(session, place), condition
    return "instruction", {"name": _instruction(place)}, condition


def parse_watch(session: Session, text: str) -> tuple[str, dict[str, Any], str, bool]:
    """Return kind, where and condition of a watchpoint, and whether only the first access counts.

    Raises
    ------
    ConfigError
        If the text names no bytes.
    """
    place, condition = _split_condition(text)
    words = place.split()
    once = bool(words) and words[0] == "first"
    words = words[once:]
    kind = words.pop(0) if words and words[0] in ("read", "write", "access") else "write"
    space, low, high = memory(session, " ".join(words))
    return kind, {"space": space, "low": low, "high": high}, condition, once


def memory(session: Session, text: str) -> tuple[str, int, int]:
    """Return space, first byte and end of a tensor, ``UB LOW..HIGH`` or ``GM LOW+SIZE``.

    Raises
    ------
    ConfigError
        If the text names no bytes.
    """
    found = re.fullmatch(r"(UB|GM)\s+(\w+)(?:(\.\.|\+)(\w+))?", text, re.IGNORECASE)
    if found:
        space, low, sign, more = found.group(1).upper(), *found.groups()[1:]
        first = number(low)
        end = first + 1 if more is None else number(more) + (first if sign == "+" else 0)
        if end <= first:
            raise ConfigError("the range is empty", got=text, legal="LOW..HIGH with HIGH > LOW")
        return space, first, end
    if not text:
        raise ConfigError(
            "which bytes?", legal="TENSOR, UB LOW..HIGH, UB LOW+SIZE, GM LOW..HIGH, GM LOW+SIZE"
        )
    value = session.moment.evaluate(text)
    if isinstance(value, LocalTensor):
        return "UB", value.addr, value.addr + value.nbytes
    if isinstance(value, GlobalTensor) and value.ptr is not None:
        low = value.ptr.address
        return "GM", low, low + value.dtype.bytes_for(value.length)
    raise ConfigError("a tensor is needed", got=f"{text}: {type(value).__name__}")


def line(session: Session, text: str) -> dict[str, Any]:
    """Return file and line of ``[FILE:]LINE``; a file may be given by the end of its path.

    Raises
    ------
    ConfigError
        If no block ran code of that file.
    """
    name, _, row = text.rpartition(":")
    wanted = number(row)
    if not name:
        place = session.here.location(session.position.event)
        if place is None:
            raise ConfigError("no source file is current", fix="FILE:LINE")
        return {"file": place.file, "line": wanted}
    files = {
        frame.code.co_filename
        for block in range(len(session.run.blocks))
        for frame in session.view(block).trace.frames
    }
    ends = os.path.normpath(name).split(os.sep)
    found = [f for f in sorted(files) if os.path.abspath(f).split(os.sep)[-len(ends) :] == ends]
    found = found or [f for f in files if os.path.realpath(f) == os.path.realpath(name)]
    if not found:
        raise ConfigError(
            f"no block ran code of {name}", legal=", ".join(sorted(map(os.path.basename, files)))
        )
    return {"file": found[0], "line": wanted}


def _split_condition(text: str) -> tuple[str, str]:
    found = re.search(r"(^|\s)if\s", text)
    if found is None:
        return text.strip(), ""
    return text[: found.start()].strip(), text[found.end() :].strip()


def _instruction(name: str) -> str:
    known = {full.rpartition(".")[2].lower() for full in REGISTRY} | {n.lower() for n in REGISTRY}
    if name.lower() not in known:
        raise ConfigError(
            f"there is no place {name!r}",
            legal="[FILE:]LINE, the name of an instruction, pipe V, flag [set|wait] [EVENT] [ID], "
            "queue [N] full|empty, finding, if CONDITION",
        )
    return name


def _flag(words: list[str]) -> dict[str, Any]:
    where: dict[str, Any] = {"form": None, "event": None, "id": None}
    for word in words:
        if word in ("set", "wait"):
            where["form"] = word
        elif word.isdigit():
            where["id"] = int(word)
        elif word.upper() in HardEvent.__members__:
            where["event"] = word.upper()
        else:
            raise ConfigError(
                f"there is no flag {word}", legal="flag [set|wait] [EVENT] [ID]: flag set MTE2_V 0"
            )
    return where


def _queue(words: list[str]) -> dict[str, Any]:
    if not words or words[-1] not in ("full", "empty"):
        raise ConfigError("which state of the queue?", legal="queue [N] full, queue [N] empty")
    which = words[0] if len(words) > 1 else None
    return {"queue": which, "state": words[-1]}
