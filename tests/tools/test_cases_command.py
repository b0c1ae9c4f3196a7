"""``ascsim cases``."""

import json
from pathlib import Path

import pytest

from tools.cases_command import shortened

HOST = Path("tests/data/ops_cases/host.json")


@pytest.fixture
def wrong(tmp_path, ascsim):
    """A case file with one right and one wrong expectation of the same case."""
    content = json.loads(HOST.read_text(encoding="utf-8"))
    right = next(case for case in content["cases"] if case["kind"] == "op_name")
    spoilt = json.loads(json.dumps(right))
    spoilt["id"] = "spoilt"
    spoilt["expect"] = {key: "something_else" for key in spoilt["expect"]}
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps({**content, "cases": [right, spoilt]}), encoding="utf-8")
    return path


def test_a_file_without_failures_ends_with_the_count_and_code_0(ascsim):
    result = ascsim("cases", HOST)
    assert result.exit_code == 0
    count = len(json.loads(HOST.read_text(encoding="utf-8"))["cases"])
    assert result.stdout == f"{count} passed, 0 failed\n"


def test_a_failure_is_shown_with_input_expected_and_got(ascsim, wrong):
    result = ascsim("cases", wrong)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0] == f"{wrong}: 1 of 2 failed"
    assert lines[1] == "spoilt"
    labels = [line.split()[0] for line in lines[2:-2]]
    assert [x for x in labels if x in ("why", "input", "expected", "got")] == [
        "why",
        "input",
        "expected",
        "got",
    ]
    assert "something_else" in result.stdout
    assert lines[-1] == "1 passed, 1 failed"


def test_several_files_are_counted_together(ascsim, wrong):
    count = len(json.loads(HOST.read_text(encoding="utf-8"))["cases"])
    result = ascsim("cases", HOST, wrong)
    assert result.stdout.splitlines()[-1] == f"{count + 1} passed, 1 failed"


def test_json_lists_every_case_and_the_failures_in_full(ascsim, wrong):
    result = ascsim("cases", wrong, "--json")
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert (report["passed"], report["failed"]) == (1, 1)
    right, spoilt = report["files"][str(wrong)]
    assert right["passed"] is True
    assert spoilt["id"] == "spoilt"
    assert set(spoilt) == {"id", "passed", "message", "input", "expected", "got"}


@pytest.mark.parametrize(("name", "text"), [("missing.json", None), ("a.json", "{}")])
def test_what_is_no_case_file_is_one_line_and_code_2(ascsim, tmp_path, name, text):
    path = tmp_path / name
    if text is not None:
        path.write_text(text, encoding="utf-8")
    result = ascsim("cases", path)
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert "is not a case file" in result.stderr


def test_long_texts_lose_their_middle():
    text = shortened("a" * 300 + "b" * 300, 100)
    assert text == "a" * 40 + " … 520 more … " + "b" * 40
    assert shortened("short", 100) == "short"
