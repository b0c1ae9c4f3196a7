"""``--set`` and own profiles with ``ascsim run``."""

import json

import pytest

OPERATOR = ("hardswish_backward_v2", "--shape", "64,1024")
SCRIPT = """
import sys
import numpy as np
from kernels.validation.add import AddTiling, add_single_buffer
x = np.zeros((1, 64), np.float16)
own = {} if len(sys.argv) == 1 else {"platform": sys.argv[1]}
add_single_buffer.launch(1, x, x.copy(), x.copy(), AddTiling(1, 64, 64, 64), 1, **own)
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def launch(result):
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)["launches"][0]


def test_a_figure_is_set_for_an_operator(ascsim):
    plain = launch(ascsim("run", *OPERATOR, "--json"))
    slow = launch(ascsim("run", *OPERATOR, "--set", "timing.block_start_ns=9000", "--json"))
    assert slow["start_cycles"] > plain["start_cycles"]
    assert slow["work_cycles"] == plain["work_cycles"]
    assert slow["accuracy"] == "not known: timing.block_start_ns set by the caller"


def test_a_figure_is_set_for_a_script_before_or_after_its_name(ascsim, script):
    setting = "--set", "clock_mhz=1000"
    before = launch(ascsim("run", *setting, "--json", script))
    after = launch(ascsim("run", script, *setting, "--json"))
    assert before == after
    assert "timing.clock_mhz" in after["accuracy"]


def test_a_figure_is_set_for_a_profile(ascsim, script, tmp_path):
    for target in (OPERATOR, (script,)):
        result = ascsim("profile", *target, "--set", "clock_mhz=1000", "--output", tmp_path)
        assert "not known: timing.clock_mhz set by the caller" in result.stdout


def test_settings_cannot_change_a_saved_run(ascsim, script, tmp_path):
    saved = tmp_path / "a.ascrun"
    assert ascsim("profile", script, "--output", tmp_path, "--save", saved).exit_code == 0
    result = ascsim("profile", saved, "--set", "clock_mhz=1000", "--output", tmp_path)
    assert result.exit_code == 2
    assert "--set cannot change a saved run; ascsim whatif can" in result.stderr


def test_launches_that_settings_do_not_reach_are_named(ascsim, script):
    result = ascsim("run", "--set", "clock_mhz=1000", script, "910b3")
    assert "--set did not reach launches whose platform the script names (910b3)" in result.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[timing]\nclock_mhz = 3\n", "timing.clock_mhz is not an entry with a source"),
        ('base = "910b1"\n[timing]\nclock_ghz = 3\n', "(legal: timing.clock_mhz,"),
        ('base = "910b1"\nspeed = 3\n', "'speed' is not a key"),
        ('base = "910"\n[timing]\nclock_mhz = ', "not readable TOML"),
    ],
)
def test_a_bad_profile_is_refused_with_the_key_and_what_is_legal(ascsim, tmp_path, content, said):
    profile = tmp_path / "mine.toml"
    profile.write_text(content)
    result = ascsim("run", *OPERATOR, "--platform", profile)
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_wrong_setting_is_refused(ascsim):
    result = ascsim("run", *OPERATOR, "--set", "timing.read_cap_gbps=-1")
    assert result.exit_code == 2
    assert "a number > 0, in GB/s" in result.stderr
