"""``ascsim run --html``, and runs in a notebook."""

from html.parser import HTMLParser
from pathlib import Path

import pytest
from html_kernels import run_uneven
from typer.testing import CliRunner

from tools.cli import app

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def ascsim(monkeypatch):
    monkeypatch.chdir(ROOT)
    return lambda *args: CliRunner().invoke(app, [str(arg) for arg in args])


@pytest.mark.parametrize("script_first", [True, False])
def test_a_script_can_be_reported(ascsim, tmp_path, script_first):
    option, script = ("--html", tmp_path / "report.html"), "examples/vector_add.py"
    result = ascsim("run", script, *option) if script_first else ascsim("run", *option, script)
    assert result.exit_code == 0
    assert f"report written to {tmp_path / 'report.html'}" in result.stderr
    assert "vector_add" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_an_operator_can_be_reported_and_standard_output_stays_json(ascsim, tmp_path):
    path = tmp_path / "report.html"
    result = ascsim("run", "hardswish_backward_v2", "--shape", "64", "--html", path, "--json")
    assert result.exit_code == 0
    assert result.stdout.startswith("{")
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_a_call_that_launches_nothing_says_that_there_is_no_report(ascsim, tmp_path):
    path = tmp_path / "report.html"
    result = ascsim("run", "hardswish_backward_v2", "--shape", "0", "--html", path)
    assert "was not written: no kernel was launched" in result.stderr
    assert not path.exists()


@pytest.mark.parametrize("name", [".", "missing/report.html"])
def test_a_place_that_takes_no_file_is_refused_before_the_run(ascsim, tmp_path, name):
    result = ascsim("run", "hardswish_backward_v2", "--html", tmp_path / name)
    assert result.exit_code == 2
    assert "the report cannot be written to" in result.stderr
    assert "cycles" not in result.stdout


class Table(HTMLParser):
    """Cells of the rows of a page, and whether every element is closed in its turn."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.open, self.cell = [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


def test_a_run_displays_itself_in_a_notebook():
    run = run_uneven(2, 3)
    table = Table(run._repr_html_())
    assert table.open == []
    assert [row[0] for row in table.rows] == ["pipe", "S", "V", "MTE2", "MTE3"]
    by_pipe = {row[0]: row for row in table.rows}
    assert by_pipe["V"][4] == str(sum(i.pipe == "V" for i in run.instructions))
    assert by_pipe["V"][1] == f"{run.utilisation['V']:.1%}"
