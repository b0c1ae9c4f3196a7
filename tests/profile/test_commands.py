"""``ascsim profile``, ``diff``, ``compare`` and ``whatif`` from the command line."""

import json
import re
from pathlib import Path

import pytest
from profile_kernels import launch_add
from typer.testing import CliRunner

from tools.cli import app

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def ascsim(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    runner = CliRunner()
    return lambda *args: runner.invoke(app, [str(a) for a in args], prog_name="ascsim")


@pytest.fixture
def saved(tmp_path):
    launch_add("910b", buffers=1, tiles=12).save(tmp_path / "one.ascrun")
    launch_add("910b", buffers=2, tiles=12).save(tmp_path / "two.ascrun")
    return "one.ascrun", "two.ascrun"


VECTOR_ADD = ROOT / "examples" / "vector_add.py"


def test_profile_writes_a_folder_and_says_where(ascsim, tmp_path):
    result = ascsim("profile", VECTOR_ADD, "--output", "out", "--save", "run.ascrun")
    assert result.exit_code == 0, result.output
    [folder] = (tmp_path / "out").iterdir()
    assert re.fullmatch(r"OPPROF_\d{14}_[A-Z]{16}", folder.name)
    assert f"profile written to out/{folder.name}" in result.stdout
    assert "\x1b" not in result.stdout
    assert (folder / "simulator" / "trace.json").is_file()
    assert (tmp_path / "run.ascrun").is_file()


def test_profile_prints_json(ascsim, tmp_path):
    result = ascsim("profile", VECTOR_ADD, "--output", "out", "--json")
    found = json.loads(result.stdout)
    assert (tmp_path / found["folder"]).is_dir()
    [launch] = found["launches"]
    assert launch["kernel"] == "vector_add"
    assert found["error"] is None


def test_profile_of_an_operator_takes_a_seed_for_inputs_and_name(ascsim, tmp_path):
    for name in ("a", "b"):
        arguments = ("--shape", "64", "--seed", "7", "--output", name)
        assert ascsim("profile", "hardswish_backward_v2", *arguments).exit_code == 0
    names = [next((tmp_path / name).iterdir()).name.split("_")[2] for name in ("a", "b")]
    assert names[0] == names[1]


def test_profile_says_when_it_cannot_write(ascsim, tmp_path):
    (tmp_path / "file").write_text("")
    result = ascsim("profile", VECTOR_ADD, "--output", "file")
    assert result.exit_code == 2
    assert "the profile cannot be written to 'file'" in result.stderr


def test_profile_says_that_it_cannot_save_before_it_runs(ascsim, tmp_path):
    result = ascsim("profile", VECTOR_ADD, "--save", "missing/one.ascrun")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "the run cannot be saved to 'missing/one.ascrun'" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_blocks_that_take_no_time_are_profiled(ascsim, tmp_path):
    (tmp_path / "idle.py").write_text(
        "import numpy as np\n"
        "from simulator.ascendc import kernel\n"
        "@kernel\n"
        "def idle(x):\n"
        "    pass\n"
        "idle.launch(2, np.zeros(8, np.float16))\n"
    )
    without = ("--set", "timing.block_start_ns=0", "--output", "out")
    result = ascsim("profile", "idle.py", *without)
    assert result.exit_code == 0, result.output
    [file] = (tmp_path / "out").rglob("PipeUtilization*.csv")
    header, *rows = [line.split(",") for line in file.read_text().splitlines()]
    times = [float(row[header.index("aiv_time(us)")]) for row in rows]
    assert times == [0.0, 0.0]
    read = header.index("aiv_mte2_ratio")
    assert [float(row[read]) for row in rows] == [0.0, 0.0]


def test_diff_names_the_change_and_its_cause(ascsim, saved):
    result = ascsim("diff", *saved)
    assert result.exit_code == 0, result.output
    assert "cycles faster" in result.stdout
    assert "buffers of the queues 1 1 -> 2 2" in result.stdout
    found = json.loads(ascsim("diff", *saved, "--json").stdout)["launches"][0]
    assert found["change"] == found["after"]["cycles"] - found["before"]["cycles"] < 0
    assert sum(cause["change"] for cause in found["causes"]) == found["change"]


def test_compare_puts_the_platforms_side_by_side(ascsim):
    result = ascsim("compare", "hardswish_backward_v2", "--platform", "910b,950", "--shape", "64")
    assert result.exit_code == 0, result.output
    assert "910b1 (Ascend910B1)" in result.stdout
    assert "950pr (Ascend950PR_9589)" in result.stdout
    arguments = ("--platform", "910b,950", "--shape", "64", "--json")
    found = json.loads(ascsim("compare", "hardswish_backward_v2", *arguments).stdout)
    assert list(found["platforms"]) == ["910b", "950"]


def test_compare_takes_platforms_one_at_a_time(ascsim):
    arguments = ("--platform", "950", "--platform", "910b3", "--shape", "64", "--json")
    found = json.loads(ascsim("compare", "hardswish_backward_v2", *arguments).stdout)
    assert list(found["platforms"]) == ["950", "910b3"]


def test_a_saved_run_that_is_not_there_is_missed_by_name(ascsim, saved):
    result = ascsim("diff", saved[0], "missing.ascrun")
    assert result.exit_code == 2
    assert "no operator, script or saved run 'missing.ascrun'" in result.stderr


def test_compare_needs_two_platforms(ascsim):
    result = ascsim("compare", "hardswish_backward_v2", "--platform", "910b")
    assert result.exit_code == 2
    assert "two platforms or more" in result.stderr


def test_whatif_gives_cycles_before_and_after(ascsim, saved):
    result = ascsim("whatif", saved[0], "--set", "buffers=2")
    assert result.exit_code == 0, result.output
    found = json.loads(ascsim("whatif", saved[0], "--set", "buffers=2", "--json").stdout)
    [answer] = found["launches"]
    assert answer["cycles_before"] == launch_add("910b", buffers=1, tiles=12).cycles
    assert answer["cycles_after"] == launch_add("910b", buffers=2, tiles=12).cycles
    assert f"{answer['cycles_after']:,} cycles" in result.stdout


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["buffers"], "'buffers' is no setting"),
        (["buffer=2"], "'buffer' cannot be changed"),
        (["buffers=many"], "buffers cannot be 'many'"),
        (["memory.read_cap_gbps=2"], "is not a key of a platform profile"),
        (["barriers=0"], "no barriers over all pipes"),
    ],
)
def test_whatif_refuses_what_it_cannot_do_in_one_line(ascsim, saved, settings, words):
    result = ascsim("whatif", saved[0], *(p for s in settings for p in ("--set", s)))
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_saved_run_takes_no_options_of_a_launch(ascsim, saved):
    result = ascsim("whatif", saved[0], "--set", "buffers=2", "--platform", "950")
    assert result.exit_code == 2
    assert "--platform cannot change a saved run" in result.stderr
