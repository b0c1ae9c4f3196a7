"""The full-screen debugger, driven by its pilot; its panes are compared with stored texts."""

from __future__ import annotations

import asyncio
import difflib
import re
from pathlib import Path

import numpy as np
import pytest
from recorded import hanging, operator_launch, racy, record

from tools.debugger.app import DebuggerApp, HelpScreen
from tools.debugger.commands import Debugger

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"
SIZE = (150, 50)


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch):
    monkeypatch.chdir(ROOT)


def drive(launch, steps):
    """Open the app on a launch, call ``steps(app, pilot)`` and return the app."""

    async def run():
        app = DebuggerApp(Debugger([launch]))
        async with app.run_test(size=SIZE) as pilot:
            await steps(app, pilot)
        return app

    return asyncio.run(run())


def screen(app):
    """Return what the panes show as one text."""
    parts = [f"== {name} ==\n{text}" for name, text in app.texts().items()]
    return re.sub(rf"{re.escape(str(ROOT))}/", "", "\n".join(parts)) + "\n"


def check_golden(name, text, request):
    path = GOLDEN / name
    if request.config.getoption("rewrite_golden", default=False):
        path.write_text(text, encoding="utf-8")
        return
    stored = path.read_text(encoding="utf-8")
    difference = "\n".join(
        difflib.unified_diff(stored.splitlines(), text.splitlines(), name, "now", lineterm="", n=1)
    )
    assert text == stored, difference


def typed(text):
    return ["space" if letter == " " else letter for letter in text]


def test_open_step_break_back_watch_and_quit(request):
    launch, _ = operator_launch("max_pooling_grad", (4, 512), "float32")
    shots = []

    async def steps(app, pilot):
        session = app.debugger.session
        shots.append(("opened", screen(app)))
        await pilot.press("s", "s", "n")
        shots.append(("stepped", screen(app)))
        await pilot.press("B", *typed("Select"), "enter", "c")
        assert session.moment.next_instruction.name == "Select"
        await pilot.press("t", *typed("dy"), "enter")
        shots.append(("at a breakpoint, with a tensor", screen(app)))
        stood = session.position
        await pilot.press("s", "S")
        assert session.position == stood
        await pilot.press("w", *typed("dx"), "enter", "c")
        shots.append(("at the watchpoint", screen(app)))
        await pilot.press("C", "k", "e", "e", "x")
        shots.append(("back, in machine time, in hex", screen(app)))
        await pilot.press("q")

    app = drive(launch, steps)
    assert app.return_code == 0
    text = "\n".join(f"######## {name}\n{shot}" for name, shot in shots)
    check_golden("screens.txt", text, request)


def test_panes_and_footer_are_drawn(arrays):
    async def steps(app, pilot):
        await pilot.pause()
        drawn = app.export_screenshot().replace("&#160;", " ")
        for title in ("source", "pipes", "flags", "queues", "ub", "tensor", "findings"):
            assert f" {title} " in drawn
        for key in ("Step", "Back continue", "Help", "Quit"):
            assert key in drawn
        assert "racy" in drawn

    drive(record(racy, 1, *arrays), steps)


def test_question_mark_shows_the_keys_and_escape_closes_them(arrays):
    async def steps(app, pilot):
        await pilot.press("question_mark")
        assert isinstance(app.screen, HelpScreen)
        await pilot.press("escape")
        assert not isinstance(app.screen, HelpScreen)

    drive(record(racy, 1, *arrays), steps)


def test_findings_are_listed_and_f_goes_there(arrays):
    async def steps(app, pilot):
        assert "[race.raw]" in app.texts()["findings"]
        await pilot.press("f")
        assert app.debugger.moment.next_instruction.name == "DataCopy"

    drive(record(racy, 1, *arrays), steps)


def test_a_deadlock_opens_at_the_wait(arrays):
    async def steps(app, pilot):
        shown = app.texts()
        assert "WaitFlag(HardEvent.V_S, 3)" in shown["source"]
        assert "which nothing sets" in shown["findings"]
        assert "waits for flag V_S id 3" in shown["pipes"]

    drive(record(hanging, 1, *arrays), steps)


def test_b_sets_and_deletes_a_breakpoint_on_the_line(arrays):
    async def steps(app, pilot):
        await pilot.press("s", "b")
        (point,) = app.debugger.session.breakpoints
        assert point.kind == "line"
        await pilot.press("b")
        assert app.debugger.session.breakpoints == []

    drive(record(racy, 1, *arrays), steps)


def test_bookmarks_and_diff_from_the_prompt(arrays):
    async def steps(app, pilot):
        await pilot.press("m", *typed("a"), "enter", "end", "d", *typed("a"), "enter")
        assert " of y: " in app.texts()["answer"]

    x = np.arange(1, 513, dtype=np.float32)
    drive(record(racy, 1, x, arrays[1]), steps)


def test_an_expression_that_fails_is_told_in_its_pane(arrays):
    async def steps(app, pilot):
        await pilot.press("t", *typed("nothing"), "enter")
        assert "NameError" in app.texts()["tensor"]
        await pilot.press("s")

    drive(record(racy, 1, *arrays), steps)
