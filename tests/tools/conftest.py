"""Running the command in this process, and comparing its output with stored reports."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tools.cli import app

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"


def pytest_addoption(parser):
    parser.addoption(
        "--rewrite-golden",
        action="store_true",
        help="write the reports in tests/golden anew instead of comparing with them",
    )


@pytest.fixture
def ascsim(monkeypatch):
    """Call the command from the root of the project, without a terminal; gives its result."""
    monkeypatch.chdir(ROOT)
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "PYTHONIOENCODING"):
        monkeypatch.delenv(name, raising=False)
    runner = CliRunner()
    return lambda *args: runner.invoke(app, [str(arg) for arg in args], prog_name="ascsim")


@pytest.fixture
def golden(request):
    """Compare a text with a stored one; the failure shows the lines that differ."""

    def check(name, text):
        path = GOLDEN / name
        if request.config.getoption("rewrite_golden", default=False):
            path.write_text(text, encoding="utf-8")
            return
        stored = path.read_text(encoding="utf-8")
        difference = "\n".join(
            difflib.unified_diff(
                stored.splitlines(),
                text.splitlines(),
                f"golden/{name}",
                "printed",
                lineterm="",
                n=1,
            )
        )
        assert text == stored, (
            f"{difference}\nif the new text is right: pytest tests/tools --rewrite-golden"
        )

    return check
