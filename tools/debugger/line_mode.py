"""The debugger line by line: on a terminal with history and completion, and from a file."""

from __future__ import annotations

import cmd
import json
import sys
from math import isfinite
from typing import IO, TYPE_CHECKING, Any

from simulator.instruction import REGISTRY
from tools.debugger.commands import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tools.debugger.answer import Answer
    from tools.debugger.commands import Debugger

PROMPT = "(ascsim) "

_WORDS = {
    "goto": ("instruction", "cycle", "block", "line", "finding", "bookmark", "start", "end"),
    "clock": ("program", "machine"),
    "instruction": ("S", "V", "MTE2", "MTE3"),
    "back": ("step", "next", "out", "instruction", "change", "continue", "until"),
    "watch": ("first", "read", "write", "access", "UB", "GM"),
    "x": ("UB", "GM"),
}


def complete(debugger: Debugger, line: str, word: str) -> list[str]:
    """Return what ``word``, the last of ``line``, may become."""
    first, _, rest = line.lstrip().partition(" ")
    if not rest and not line.endswith(" "):
        return [c.names[0] for c in COMMANDS if c.names[0].startswith(word)]
    command = next((c.names[0] for c in COMMANDS if first in c.names), first)
    choices: Iterable[str] = _WORDS.get(command, ())
    if command in ("print", "watch", "x", "mask"):
        choices = [*choices, *debugger.moment.locals()]
    elif command in ("break", "until"):
        names = [n.rpartition(".")[2] for n in REGISTRY]
        choices = ["line", "pipe", "flag", "queue", "finding", "if", *names]
    elif command in ("diff", "bookmark"):
        choices = debugger.session.bookmarks
    return sorted({choice for choice in choices if choice.startswith(word)})


class LineMode(cmd.Cmd):
    """Commands typed by a person."""

    prompt = PROMPT

    def __init__(self, debugger: Debugger) -> None:
        super().__init__()
        self.debugger = debugger

    def onecmd(self, line: str) -> bool:
        """Do one command; True ends the debugger."""
        if line == "EOF":
            self.stdout.write("\n")
            return True
        answer = self.debugger.execute(line)
        if answer.text:
            self.stdout.write(answer.text + "\n")
        return answer.ends

    def emptyline(self) -> bool:
        """Repeat the last movement."""
        return self.onecmd("")

    def completenames(self, text: str, *_: Any) -> list[str]:
        """Complete the name of a command."""
        return complete(self.debugger, text, text)

    def completedefault(self, text: str, line: str, *_: Any) -> list[str]:
        """Complete what follows a command."""
        return complete(self.debugger, line, text)


def interact(debugger: Debugger) -> int:
    """Talk to a person until they leave; return the exit code."""
    sys.stdout.write(debugger.welcome().text + "\n")
    LineMode(debugger).cmdloop()
    return 0


def batch(debugger: Debugger, commands: Iterable[str], out: IO[str], *, as_json: bool) -> int:
    """Do commands from a file; return 1 at the first that cannot be done, else 0.

    As JSON every answer is one line; a program that reads them goes on after an error.
    """

    def write(answer: Answer) -> None:
        text = json.dumps(plain(answer.data)) if as_json else answer.text
        if text:
            out.write(text + "\n")
            out.flush()

    write(debugger.welcome())
    code = 0
    for line in commands:
        command = line.strip()
        if not command or command.startswith("#"):
            continue
        if not as_json:
            out.write(f"{PROMPT}{command}\n")
        answer = debugger.execute(command)
        write(answer)
        if not answer.ok:
            code = 1
            if not as_json:
                break
        if answer.ends:
            break
    return code


def plain(value: Any) -> Any:
    """Return a value that JSON has: numpy numbers as numbers, anything unknown as its text."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    item = getattr(value, "item", None)
    return plain(item()) if callable(item) else str(value)
