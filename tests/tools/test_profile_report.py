"""The report of ``ascsim profile``: fixed width, without colour, and the same as JSON."""

import json
import re

import pytest

VECTOR_ADD = ("profile", "examples/vector_add.py")
OPERATOR = ("profile", "hardswish_backward_v2", "--shape", "256,1024", "--platform", "950")


def stable(text):
    """Leave out what differs between two calls: the name and place of the folder."""
    return re.sub(r"profile written to \S+", "profile written to OPPROF", text)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [(VECTOR_ADD, "profile_vector_add.txt"), (OPERATOR, "profile_hardswish_backward_v2_950.txt")],
)
def test_the_report_is_as_stored(ascsim, golden, tmp_path, arguments, name):
    result = ascsim(*arguments, "--output", tmp_path)
    assert result.exit_code == 0
    assert "\x1b" not in result.stdout
    assert all(len(line) <= 100 for line in stable(result.stdout).splitlines())
    golden(name, stable(result.stdout))


def test_the_json_is_as_stored(ascsim, golden, tmp_path):
    found = json.loads(ascsim(*VECTOR_ADD, "--output", tmp_path, "--json").stdout)
    assert found.pop("folder").startswith(str(tmp_path))
    golden("profile_vector_add.json", json.dumps(found, indent=1) + "\n")


def test_an_ascii_terminal_gets_plain_characters(ascsim, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    from rich.console import Console

    from tools.report import Spark

    plain = Console(width=20, file=open(tmp_path / "out", "w", encoding="ascii"))  # noqa: SIM115
    plain.print(Spark([0.0, 0.01, 0.5, 1.0]))
    plain.file.close()
    assert (tmp_path / "out").read_text().rstrip() == " .=@"


def test_json_and_text_tell_the_same_suggestions(ascsim, tmp_path):
    text = ascsim(*VECTOR_ADD, "--output", tmp_path).stdout
    [launch] = json.loads(ascsim(*VECTOR_ADD, "--output", tmp_path, "--json").stdout)["launches"]
    assert launch["suggestions"]
    assert len(launch["suggestions"]) <= 3
    for suggestion in launch["suggestions"]:
        assert f"{suggestion['gain']:.1%} faster ({suggestion['cycles']:,} cycles)" in text


def test_activity_adds_up_to_the_busy_cycles(ascsim, tmp_path):
    [launch] = json.loads(ascsim(*VECTOR_ADD, "--output", tmp_path, "--json").stdout)["launches"]
    for pipe in launch["pipes"]:
        shares = [core[pipe["name"]] for core in launch["activity"].values()]
        width = launch["cycles"] / len(shares[0])
        assert sum(map(sum, shares)) * width == pytest.approx(pipe["busy"], rel=1e-6)


def test_a_script_that_launches_nothing_has_no_profile(ascsim, tmp_path):
    script = tmp_path / "nothing.py"
    script.write_text("print('hello')\n")
    result = ascsim("profile", script, "--output", tmp_path / "out")
    assert result.exit_code == 0
    assert "launched no kernel" in result.stdout
    assert not (tmp_path / "out").exists()
