"""The debugger on the full screen.

Every pane is a text made in :mod:`tools.debugger.show`; every key is a command of
:mod:`tools.debugger.commands`, so that the screen can do what the line mode can and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, Static

from simulator.errors import SimulatorError
from simulator.tensor import LocalTensor
from tools.debugger import show

if TYPE_CHECKING:
    from tools.debugger.answer import Answer
    from tools.debugger.commands import Debugger

MODES: Final = ("values", "hex", "mask")

_KEYS: Final = (
    ("s", "step", "Step"),
    ("n", "next", "Next"),
    ("o", "out", "Out"),
    ("i", "instruction", "Instr"),
    ("e", "change", "Change"),
    ("c", "continue", "Continue"),
    ("S", "back step", "Back step"),
    ("N", "back next", "Back next"),
    ("O", "back out", "Back out"),
    ("I", "back instruction", "Back instruction"),
    ("E", "back change", "Back change"),
    ("C", "back continue", "Back continue"),
    ("1", "instruction S", "Next on S"),
    ("2", "instruction V", "Next on V"),
    ("3", "instruction MTE2", "Next on MTE2"),
    ("4", "instruction MTE3", "Next on MTE3"),
    ("home", "goto start", "Start"),
    ("end", "goto end", "End"),
    ("k", "clock", "Clock"),
)
_SHOWN_KEYS: Final = frozenset("snoiecCk")

_PROMPTS: Final = (
    ("g", "goto ", "Goto"),
    ("u", "until ", "Until"),
    ("B", "break ", "Break at"),
    ("w", "watch ", "Watch"),
    ("t", "print ", "Tensor"),
    ("m", "bookmark ", "Bookmark"),
    ("d", "diff ", "Diff"),
    ("colon", "", "Command"),
)

_HELP: Final = """\
 moving         s step into call      n next line        o out of function
                i next instruction    1-4 next on S, V, MTE2, MTE3
                e next change         c continue         capitals go back: S N O I E C
                [ ] other block       home, end          g goto: cycle, block, line …
                u until a place       k program or machine clock
 stopping       b breakpoint on this line                B break: Select, pipe V, flag …
                w watch a tensor or UB LOW..HIGH
 looking        t inspect a tensor    x values, hex, mask
                f go to the next finding
                m bookmark this moment                   d diff against a bookmark
 other          : any command of the line mode           ? this help          q quit

 Panes: the source with the cycles of each line; the pipes over time with what runs and waits;
 flags that are up; queues with the states of their buffers; UB with its last writers (* is
 used by the next instruction); the inspected tensor; answers of commands; findings.

 Escape closes."""


class HelpScreen(ModalScreen[None]):
    """The keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q", "dismiss", "Close"),
    ]
    CSS = """
    HelpScreen { align: center middle; }
    #help { width: 100; height: auto; padding: 1 2; border: round $accent; background: $surface; }
    """

    def compose(self) -> ComposeResult:
        """Show the text."""
        yield Static(Text(_HELP), id="help")


class DebuggerApp(App[int]):
    """Panes around one session.

    Attributes
    ----------
    debugger : Debugger
    tensor : str
        Expression of the inspected tensor.
    mode : str
        One of :data:`MODES`.
    """

    TITLE = "ascsim debug"
    ENABLE_COMMAND_PALETTE = False
    AUTO_FOCUS = None
    CSS = """
    Screen { layout: vertical; }
    #body { height: 1fr; }
    #left { width: 3fr; }
    #right { width: 2fr; }
    .pane { border: round $primary; padding: 0 1; height: auto; }
    #source { height: 1fr; }
    #pipes { height: 14; }
    #flags { height: 5; }
    #queues { height: 7; }
    #ub { height: 9; }
    #tensor { height: 1fr; }
    #findings { height: 6; }
    #answer { height: 6; }
    #status { height: 1; background: $primary; color: $text; padding: 0 1; }
    #command { height: 3; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(key, f"do('{command}')", text, show=key in _SHOWN_KEYS)
            for key, command, text in _KEYS
        ),
        *(Binding(key, f"ask('{begin}')", text, show=False) for key, begin, text in _PROMPTS),
        Binding("b", "toggle_breakpoint", "Break"),
        Binding("x", "mode", "Hex", show=False),
        Binding("f", "finding", "Finding", show=False),
        Binding("left_square_bracket", "block(-1)", "Block", show=False),
        Binding("right_square_bracket", "block(1)", "Block", show=False),
        Binding("escape", "close", "Close", show=False),
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("q", "quit", "Quit"),
    ]

    def __init__(self, debugger: Debugger) -> None:
        super().__init__()
        self.debugger = debugger
        self.tensor = ""
        self.mode = MODES[0]
        self._answer = debugger.welcome().text
        self._finding = 0

    def compose(self) -> ComposeResult:
        """Lay the panes out."""
        yield Static(id="status", markup=False)
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield _pane("source")
                yield _pane("pipes")
                yield _pane("answer")
            with Vertical(id="right"):
                for name in ("flags", "queues", "ub", "tensor", "findings"):
                    yield _pane(name)
        yield Input(id="command", placeholder="a command; help lists them", select_on_focus=False)
        yield Footer()

    def on_mount(self) -> None:
        """Show the first moment; keys go to the screen and not into the prompt."""
        self.action_close()
        self.refresh_panes()

    # -- panes ---------------------------------------------------------------------------------

    def texts(self) -> dict[str, str]:
        """Return what every pane shows."""
        session, moment = self.debugger.session, self.debugger.moment
        stop = session.stop("jump")
        height = max(4, self.size.height - 30)
        return {
            "status": (
                f"{session.run.name}  block {stop.block}  instruction {stop.index} of "
                f"{len(session.here)}  cycle {stop.cycle}  {session.clock} clock  "
                f"next: {stop.instruction or 'end of the block'}"
            ),
            "source": show.source(session, max(4, height // 2 + 4)),
            "pipes": f"{show.timeline(moment)}\n{show.pipes(moment)}",
            "flags": show.flags(moment),
            "queues": show.queues(moment),
            "ub": show.ub_map(moment),
            "tensor": self._tensor_text(),
            "findings": self._findings_text(),
            "answer": self._answer,
        }

    def refresh_panes(self) -> None:
        """Show the moment of the session in all panes."""
        for name, text in self.texts().items():
            self.query_one(f"#{name}-text" if name != "status" else "#status", Static).update(
                _styled(name, text)
            )
        self.query_one("#tensor").border_title = f"tensor {self.tensor} ({self.mode})"

    def _tensor_text(self) -> str:
        moment = self.debugger.moment
        if not self.tensor:
            names = [n for n, v in moment.locals().items() if isinstance(v, LocalTensor)]
            listed = f"; here are {', '.join(names)}" if names else ""
            return f"t inspects a tensor{listed}"
        try:
            value = moment.evaluate(self.tensor)
            if not isinstance(value, LocalTensor) or self.mode == "values":
                return show.value_text(moment, value)
            if self.mode == "mask":
                return show.mask_bits(moment, value, 0, 16)
            size = min(value.nbytes, 256)
            return show.hex_dump(moment.read("UB", value.addr, size), value.addr)
        except SimulatorError as error:
            return error.message
        except Exception as error:  # An expression of the user's may raise anything.
            return f"{type(error).__name__}: {error}"

    def _findings_text(self) -> str:
        session = self.debugger.session
        if session.error is not None:
            return f"the launch failed: {session.error}"
        rows = [
            f"{n}  [{f.code}] line {f.location.line}, block {f.block}: {f.message}"
            for n, f in enumerate(session.findings, 1)
        ]
        return "\n".join(rows) or "no findings"

    # -- keys ----------------------------------------------------------------------------------

    def _done(self, answer: Answer) -> None:
        self._answer = answer.text
        if answer.ends:
            self.exit(0)
            return
        self.refresh_panes()

    def action_do(self, command: str) -> None:
        """Do a command."""
        self._done(self.debugger.execute(command))

    def action_ask(self, begin: str) -> None:
        """Open the prompt with the beginning of a command."""
        prompt = self.query_one("#command", Input)
        prompt.display = True
        prompt.value = begin
        prompt.focus()
        prompt.cursor_position = len(begin)

    def action_close(self) -> None:
        """Close the prompt."""
        self.query_one("#command", Input).display = False
        self.set_focus(None)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Do what was typed; ``print`` of a tensor puts it into its pane."""
        self.action_close()
        text = event.value.strip()
        if not text:
            return
        word, _, rest = text.partition(" ")
        if word in ("print", "p") and rest:
            self.tensor = rest.strip()
        self._done(self.debugger.execute(text))

    def action_toggle_breakpoint(self) -> None:
        """Set a breakpoint on the current line, or delete the one that is there."""
        session = self.debugger.session
        place = session.here.location(session.position.event)
        if place is None:
            return
        where = {"file": place.file, "line": place.line}
        for point in session.breakpoints:
            if point.kind == "line" and point.where == where:
                self.action_do(f"delete {point.number}")
                return
        self.action_do(f"break line {place.line}")

    def action_mode(self) -> None:
        """Show the tensor in the next way."""
        self.mode = MODES[(MODES.index(self.mode) + 1) % len(MODES)]
        self.refresh_panes()

    def action_block(self, step: int) -> None:
        """Go to the block before or behind."""
        session = self.debugger.session
        place = (session.position.block + step) % len(session.run.blocks)
        self.action_do(f"goto block {session.run.blocks[place].index}")

    def action_finding(self) -> None:
        """Go to the next finding."""
        session = self.debugger.session
        count = 0 if session.error is not None else len(session.findings)
        if count:
            self._finding = self._finding % count + 1
            self.action_do(f"goto finding {self._finding}")

    def action_help(self) -> None:
        """Show the keys."""
        self.push_screen(HelpScreen())


def _pane(name: str) -> VerticalScroll:
    pane = VerticalScroll(Static(id=f"{name}-text", markup=False), id=name, classes="pane")
    pane.border_title = name
    pane.can_focus = False
    return pane


def _styled(name: str, text: str) -> Text:
    styled = Text(text, no_wrap=name not in ("answer", "findings", "tensor"))
    if name == "source":
        styled.highlight_regex(r"(?m)^ *\d+ > .*$", "bold reverse")
    elif name == "pipes":
        styled.highlight_regex(r"waits for [^;\n]*", "yellow")
        styled.highlight_regex(r"\^ \d+", "bold")
    elif name == "findings":
        styled.highlight_regex(r"\[[a-z_.]+\]", "bold red")
    return styled
