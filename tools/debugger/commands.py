"""The debugger as a set of commands: one line in, one answer out, as text and as plain data."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from simulator.debug import Session
from simulator.errors import ConfigError, SimulatorError
from tools.debugger import looking, moving
from tools.debugger.answer import (
    LOOKING,
    MOVING,
    OTHER,
    STOPPING,
    Answer,
    Command,
    stopped,
    told,
)

if TYPE_CHECKING:
    from simulator.debug import Launch
    from simulator.debug.moment import Moment


class Debugger:
    """Everything a front end needs: the recorded launches and the commands.

    Attributes
    ----------
    session : Session
        Of the launch that is looked at.
    """

    def __init__(self, launches: list[Launch], number: int | None = None) -> None:
        self.launches = launches
        self._sessions: dict[int, Session] = {}
        failed = [n for n, launch in enumerate(launches, 1) if launch.error is not None]
        self.number = number or (failed[-1] if failed else 1)
        self.session = self.open(self.number)
        self._last_move = ""

    def open(self, number: int) -> Session:
        """Return the session of launch ``number``, counted from 1.

        Raises
        ------
        ConfigError
            If there are not so many.
        """
        if not 1 <= number <= len(self.launches):
            raise ConfigError(
                f"there is no launch {number}", got=number, legal=f"1..{len(self.launches)}"
            )
        found = self._sessions.get(number)
        if found is None:
            found = self._sessions[number] = Session(self.launches[number - 1])
        return found

    @property
    def moment(self) -> Moment:
        """The state at the position of the session."""
        return self.session.moment

    def welcome(self) -> Answer:
        """Return what is shown when the debugger opens."""
        session = self.session
        which = f"launch {self.number} of {len(self.launches)}: {session.run!r}"
        if session.error is not None:
            answer = stopped(self, session.failing())
            answer.text = f"{which}\n{session.error}\n{answer.text}"
        else:
            answer = stopped(self, session.stop("start"))
            answer.text = f"{which}\n{answer.text}"
        answer.data = {"ok": True, "launches": len(self.launches), **answer.data}
        if session.error is not None:
            as_dict = getattr(session.error, "as_dict", None)
            answer.data["error"] = as_dict() if as_dict else {"message": str(session.error)}
        return answer

    def execute(self, line: str) -> Answer:
        """Do one command; a mistake in it is an answer with ``ok`` false.

        An empty line repeats the last movement.
        """
        line = line.strip()
        if not line:
            line = self._last_move
        if not line or line.startswith("#"):
            return Answer(data={"ok": True})
        word, _, rest = line.partition(" ")
        try:
            command = find_command(word)
            answer = command.run(self, rest.strip())
        except SimulatorError as error:
            fields = error.fields
            extra = "".join(f"; {k}: {fields[k]}" for k in ("legal", "fix") if k in fields)
            return Answer(
                f"error: {error.message}{extra}",
                {"command": line, "ok": False, "error": error.as_dict()},
            )
        except Exception as error:  # An expression of the user's may raise anything.
            text = f"{type(error).__name__}: {error}"
            return Answer(
                f"error: {text}", {"command": line, "ok": False, "error": {"message": text}}
            )
        if command.group == MOVING:
            self._last_move = line
        answer.data = {"command": line, "ok": True, **answer.data}
        return answer


def find_command(word: str) -> Command:
    """Return a command by one of its names or an unambiguous beginning.

    Raises
    ------
    ConfigError
        If there is none.
    """
    for command in COMMANDS:
        if word in command.names:
            return command
    begun = [c for c in COMMANDS if c.names[0].startswith(word)]
    if len(begun) == 1:
        return begun[0]
    alike = difflib.get_close_matches(word, [name for c in COMMANDS for name in c.names], 2)
    raise ConfigError(
        f"there is no command {word!r}",
        fix=f"did you mean {' or '.join(alike)}?" if alike else "help lists the commands",
    )


def _help(_: Debugger, rest: str) -> Answer:
    if rest:
        command = find_command(rest.split(maxsplit=1)[0])
        names = ", ".join(command.names)
        return told(
            f"{names}\n  {command.names[0]} {command.usage}".rstrip() + f"\n  {command.help}"
        )
    rows = []
    for group in (MOVING, STOPPING, LOOKING, OTHER):
        rows.append(f"{group}:")
        for command in COMMANDS:
            if command.group == group:
                names = ", ".join(command.names)
                summary = command.help.partition(".")[0]
                rows.append(f"  {names:<22} {summary}")
    rows.append("help COMMAND tells more; an empty line repeats the last movement")
    return told("\n".join(rows))


def _quit(_: Debugger, __: str) -> Answer:
    return Answer("", {"ok": True}, ends=True)


COMMANDS: tuple[Command, ...] = (
    Command(("step", "s"), "[N]", "Next source line, into calls.", MOVING, moving.into),
    Command(("next", "n"), "[N]", "Next source line, past calls.", MOVING, moving.over),
    Command(("out", "o"), "[N]", "On until the function returns.", MOVING, moving.out),
    Command(
        ("instruction", "i"),
        "[PIPE] [N]",
        "Next instruction, on one pipe if it is named (S, V, MTE2, MTE3). In program order it is "
        "about to issue; in machine time it starts there.",
        MOVING,
        moving.instruction,
    ),
    Command(
        ("change", "ch"),
        "[N]",
        "Next cycle at which an instruction issues, starts or ends. Switches to machine time.",
        MOVING,
        moving.change,
    ),
    Command(("continue", "c"), "", "On to the next breakpoint in any block.", MOVING, moving.go_on),
    Command(
        ("until", "u"),
        "PLACE",
        "On to a place, past breakpoints. Places are those of break.",
        MOVING,
        moving.until,
    ),
    Command(
        ("back", "r"), "COMMAND", "The command before, backwards: back next 3.", MOVING, moving.back
    ),
    Command(("rs",), "[N]", "Back step.", MOVING, moving.backwards("step")),
    Command(("rn",), "[N]", "Back next.", MOVING, moving.backwards("next")),
    Command(
        ("ro",), "", "Back to the line that called this function.", MOVING, moving.backwards("out")
    ),
    Command(("ri",), "[PIPE] [N]", "Back instruction.", MOVING, moving.backwards("instruction")),
    Command(("rch",), "[N]", "Back change.", MOVING, moving.backwards("change")),
    Command(("rc",), "", "Back to the breakpoint before.", MOVING, moving.backwards("continue")),
    Command(
        ("goto", "g"),
        "instruction N | cycle N | block N | line [FILE:]N | finding N | "
        "bookmark NAME | start | end",
        "Jump anywhere.",
        MOVING,
        moving.goto,
    ),
    Command(
        ("break", "b"),
        "[PLACE] [if CONDITION]",
        "Set a breakpoint; without a place list them. PLACE: [FILE:]LINE, the NAME of an "
        "instruction, pipe V, flag [set|wait] [EVENT] [ID], queue N full|empty, finding, or only "
        "a condition.",
        STOPPING,
        moving.break_at,
    ),
    Command(
        ("watch", "w"),
        "[first] [read|write|access] TENSOR | UB LOW..HIGH | GM LOW..HIGH",
        "Stop at instructions that write (read, access) bytes.",
        STOPPING,
        moving.watch,
    ),
    Command(("delete", "d"), "[N]", "Delete a breakpoint, or all.", STOPPING, moving.delete),
    Command(("where", "bt"), "", "Position and call stack.", LOOKING, looking.where),
    Command(
        ("list", "l"),
        "[LINES]",
        "Source with the cycles of each line.",
        LOOKING,
        looking.list_source,
    ),
    Command(("pipes",), "", "What every pipe does and waits for.", LOOKING, looking.pipes),
    Command(
        ("timeline", "t"), "[WIDTH]", "The pipes around the cursor.", LOOKING, looking.timeline
    ),
    Command(("flags",), "", "Flags that are up.", LOOKING, looking.flags),
    Command(("queues",), "", "Queues and the states of their buffers.", LOOKING, looking.queues),
    Command(("ub",), "", "Allocations of UB and their last writers.", LOOKING, looking.ub),
    Command(
        ("locals",), "[LEVEL]", "Locals of the function or a caller.", LOOKING, looking.local_values
    ),
    Command(("registers",), "", "Mask, CTRL, CMPMASK and more.", LOOKING, looking.registers),
    Command(
        ("print", "p"),
        "EXPRESSION",
        "A value; tensors with their state.",
        LOOKING,
        looking.print_value,
    ),
    Command(("x",), "TENSOR | UB LOW..HIGH | GM LOW..HIGH", "Bytes in hex.", LOOKING, looking.dump),
    Command(
        ("mask",),
        "TENSOR [FIRST [COUNT]]",
        "Bits of a compare mask beside both sides of the comparison.",
        LOOKING,
        looking.mask,
    ),
    Command(("findings",), "", "What the checks found.", LOOKING, looking.findings),
    Command(("output",), "", "What printf and DumpTensor printed.", LOOKING, looking.output),
    Command(("blocks",), "", "Blocks, their cores and cycles.", LOOKING, looking.blocks),
    Command(
        ("bookmark", "m"),
        "[NAME]",
        "Keep this moment; without a name list.",
        LOOKING,
        looking.bookmark,
    ),
    Command(("diff",), "NAME [NAME]", "Bytes that differ between moments.", LOOKING, looking.diff),
    Command(("clock",), "[program|machine]", "Switch the clock.", OTHER, moving.clock),
    Command(
        ("launch",), "[N]", "Look at another launch; without a number list.", OTHER, moving.launch
    ),
    Command(("help", "h", "?"), "[COMMAND]", "This list, or more on a command.", OTHER, _help),
    Command(("quit", "q", "exit"), "", "Leave.", OTHER, _quit),
)
