"""The progress bar: late, on a terminal only, and gone at the end."""

import io
import time

from rich.console import Console

from tools import progress as module
from tools.progress import progress


def test_a_pipe_gets_nothing(monkeypatch, capsys):
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    with progress("running") as say:
        say("writing")
    assert capsys.readouterr() == ("", "")


def terminal(monkeypatch):
    out = io.StringIO()
    made = Console(file=out, force_terminal=True, width=80)
    monkeypatch.setattr(module, "console", lambda *, stderr: made)
    return out


def test_a_terminal_sees_the_task_once_patience_is_over(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    out = terminal(monkeypatch)
    with progress("running") as say:
        while "running" not in out.getvalue():
            time.sleep(0.01)
        say("writing")
        while "writing" not in out.getvalue():
            time.sleep(0.01)
    assert out.getvalue()


def test_what_is_over_soon_shows_nothing(monkeypatch):
    out = terminal(monkeypatch)
    with progress("running"):
        pass
    assert "running" not in out.getvalue()
