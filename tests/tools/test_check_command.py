"""``ascsim check`` and ``ascsim explain``."""

import json

import pytest

from simulator.sanitizer.catalog import CATALOG
from tools.check_docs import PAGE, page
from tools.explain_command import NOT_CHECKED
from tools.faults import codes

RACE = """
from kernels.faults import race_raw
race_raw.launch(race_raw.broken)
"""
CLEAN = RACE.replace("broken", "fixed")
TWO_KINDS = (
    RACE
    + """
from kernels.faults import ub_lost_write
ub_lost_write.launch(ub_lost_write.broken)
ub_lost_write.launch(ub_lost_write.broken)
"""
)
REFUSED = """
from kernels.faults import copy_len
copy_len.launch(copy_len.broken)
"""

IN_VALUES = """
from kernels.faults import cast_mode, cast_sat
cast_sat.launch(cast_sat.broken)
cast_mode.launch(cast_mode.broken)
"""
CHANGED_BEHIND_THE_LAUNCH = """
import numpy as np
from kernels.faults.cast_sat import broken
x, z = np.arange(-50, 206).astype(np.float16), np.zeros(256, np.int8)
broken[1](x, z)
x[:] = 0
broken[1](x, z)
"""


@pytest.fixture
def script(tmp_path):
    def write(text):
        path = tmp_path / "script.py"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_race_is_shown_with_both_lines_and_the_fix(ascsim, golden, script):
    result = ascsim("check", script(RACE))
    assert result.exit_code == 1
    golden("check_race.txt", result.stdout)


def test_a_clean_script_has_no_findings(ascsim, script):
    result = ascsim("check", script(CLEAN))
    assert (result.exit_code, result.stdout) == (0, "no findings in 1 launch\n")


def test_notes_are_counted_and_shown_on_request(ascsim, script):
    overflow = script(
        "from kernels.faults import num_first_nonfinite as pair\npair.launch(pair.broken)\n"
    )
    result = ascsim("check", overflow)
    assert (result.exit_code, result.stdout) == (0, "no findings in 1 launch; 1 note with --info\n")
    for options in (("--info", overflow), (overflow, "--info")):
        result = ascsim("check", *options)
        assert "info[num.first_nonfinite]: " in result.stdout
        assert result.stdout.endswith("1 note in 1 launch\n")
    result = ascsim("check", overflow, "--no-numbers")
    assert result.stdout == "no findings in 1 launch\n"


def test_all_launches_are_checked_and_like_findings_are_shown_once(ascsim, script):
    result = ascsim("check", script(TWO_KINDS))
    assert result.exit_code == 1
    assert result.stdout.count("error[race.raw]") == 1
    assert result.stdout.count("warning[ub.lost_write]") == 1
    assert "in 2 launches of broken" in result.stdout
    assert result.stdout.endswith("1 error, 1 warning in 3 launches\n")


@pytest.mark.parametrize(
    ("options", "shown", "exit_code"),
    [
        (("--select", "ub"), {"ub.lost_write"}, 0),
        (("--select", "ub.lost_write"), {"ub.lost_write"}, 0),
        (("--select", "race,ub"), {"race.raw", "ub.lost_write"}, 1),
        (("--select", "race", "--select", "ub"), {"race.raw", "ub.lost_write"}, 1),
        (("--ignore", "race"), {"ub.lost_write"}, 0),
        (("--ignore", "race,ub"), set(), 0),
        (("--select", "race", "--ignore", "race.raw"), set(), 0),
    ],
)
def test_codes_are_selected_and_ignored_by_their_beginnings(
    ascsim, script, options, shown, exit_code
):
    path = script(TWO_KINDS)
    result = ascsim("check", *options, path, "--json")
    assert result.exit_code == exit_code
    assert {f["code"] for f in json.loads(result.stdout)["findings"]} == shown
    # The options count behind the name of the script as well.
    assert ascsim("check", path, "--json", *options).stdout == result.stdout


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ((), {"cast.sat"}),
        (("--info",), {"cast.sat", "cast.mode"}),
        (("--info", "--select", "cast.mode"), {"cast.mode"}),
        (("--ignore", "cast.sat"), set()),
        (("--no-numbers",), set()),
        (("--no-numbers", "--info"), set()),
    ],
)
def test_what_the_values_tell_is_shown_as_well(ascsim, script, options, shown):
    result = ascsim("check", *options, "--json", script(IN_VALUES))
    found = json.loads(result.stdout)["findings"]
    assert {f["code"] for f in found} == shown
    # None of it is an error.
    assert result.exit_code == 0


def test_values_are_looked_at_while_the_inputs_are_there(ascsim, script):
    result = ascsim("check", script(CHANGED_BEHIND_THE_LAUNCH))
    assert result.exit_code == 0
    assert result.stdout.count("warning[cast.sat]") == 1
    assert "78 elements of tile are out of range of int8_t" in result.stdout
    assert result.stdout.endswith("1 warning in 2 launches\n")


def test_an_unknown_code_is_a_usage_error(ascsim, script):
    result = ascsim("check", "--select", "rase", script(RACE))
    assert result.exit_code == 2
    assert "no check begins with 'rase'" in result.stderr


def test_findings_as_data(ascsim, script):
    (finding,) = json.loads(ascsim("check", script(RACE), "--json").stdout)["findings"]
    assert finding["code"] == "race.raw"
    assert finding["severity"] == "error"
    assert (finding["bytes"], finding["elements"]) == ([0, 2048], [0, 1024])
    assert finding["file"].endswith("race_raw.py")
    assert finding["other_line"] == finding["line"] - 1
    assert [i["statement"] for i in finding["insert"]] == [
        "SetFlag(HardEvent.MTE2_V, 0)",
        "WaitFlag(HardEvent.MTE2_V, 0)",
    ]
    assert (finding["kernel"], finding["launches"]) == ("broken", 1)


def test_a_call_that_is_refused_ends_the_program_and_is_an_error(ascsim, script):
    result = ascsim("check", script(CLEAN + REFUSED))
    assert result.exit_code == 1
    assert "error[copy.len]" in result.stdout
    assert "ascsim explain copy.len" in result.stdout
    assert result.stdout.endswith("1 error in 1 launch before copy.len stopped the program\n")


def test_the_exit_code_of_a_script_without_findings_is_its_own(ascsim, script):
    result = ascsim("check", script(CLEAN + "raise SystemExit(5)\n"))
    assert result.exit_code == 5
    last = "no findings in 1 launch; the script ended with exit code 5\n"
    assert result.stdout.endswith(last)


@pytest.mark.parametrize("platform", ["910b", "950"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "bfloat16"])
@pytest.mark.parametrize("operator", ["hardswish_backward_v2", "prelu_backward"])
def test_the_operators_are_clean(ascsim, operator, dtype, platform):
    for shape in ("4,1000", "3,5,7"):
        result = ascsim(
            "check", operator, "--shape", shape, "--dtype", dtype, "--platform", platform
        )
        assert result.exit_code == 0, result.stdout
        assert "no findings" in result.stdout


def test_the_fixed_max_pooling_gradient_is_clean(ascsim):
    result = ascsim("check", "max_pooling_grad", "--shape", "3,5,7,11", "--dtype", "float32")
    assert result.exit_code == 0, result.stdout
    assert "no findings" in result.stdout


HOST = """
from host import acl, rt

acl.init()
rt.set_device(0)
rt.malloc(96, name="forgotten")
acl.finalize()
"""


def test_faults_of_the_host_program_are_found_as_well(ascsim, script):
    result = ascsim("check", script(HOST))
    assert result.exit_code == 1
    text = result.stdout
    assert "error[host.leak_memory]: acl.finalize() with 96 bytes" in text
    assert ' | rt.malloc(96, name="forgotten")\n' in text
    assert " | acl.finalize()\n" in text
    assert "= fix:     call rt.free(ptr)" in text
    assert text.endswith("1 error in 0 launches\n")
    (finding,) = json.loads(ascsim("check", script(HOST), "--json").stdout)["findings"]
    assert (finding["code"], finding["other_line"] - finding["line"]) == ("host.leak_memory", 1)
    assert (finding["kernel"], finding["block"]) == (None, None)


def test_faults_of_the_host_program_can_be_left_out(ascsim, script):
    result = ascsim("check", script(HOST), "--ignore", "host")
    assert (result.exit_code, result.stdout) == (0, "no findings in 0 launches\n")


# -- explain --------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", codes())
def test_a_page_shows_the_fault_both_kernels_and_what_is_said_about_them(ascsim, code):
    result = ascsim("explain", code)
    assert result.exit_code == 0, result.stderr
    text = result.stdout
    assert f"{code}  " in text
    assert "def broken(" in text
    assert "def fixed(" in text
    assert f"[{code}]" in text or CATALOG[code].found == "call"
    assert f"ascsim explain {code}" in text or code == "tile.wrap"


def test_a_page_of_a_kind_that_is_left_out_gives_the_reason(ascsim):
    result = ascsim("explain", "tile.units")
    assert "A Python number has no unit" in " ".join(result.stdout.split())


def test_a_beginning_lists_its_codes(ascsim):
    result = ascsim("explain", "race", "--json")
    listed = [kind["code"] for kind in json.loads(result.stdout)]
    assert listed == ["race.raw", "race.war", "race.waw", "race.samepipe", "race.scalar"]


def test_all_kinds_are_listed(ascsim):
    listed = [kind["code"] for kind in json.loads(ascsim("explain", "--json").stdout)]
    assert listed == list(CATALOG)


def test_an_unknown_kind_is_a_usage_error(ascsim):
    result = ascsim("explain", "race.green")
    assert result.exit_code == 2
    assert "there is no check 'race.green'" in result.stderr


def test_a_kind_that_is_spelled_alike_is_suggested(ascsim):
    assert "did you mean race.samepipe?" in ascsim("explain", "race.same_pipe").stderr


# -- the page of all checks ------------------------------------------------------------------------


def test_the_page_of_checks_is_up_to_date():
    assert PAGE.read_text("utf-8") == page(), "run python -m tools.check_docs"


def test_every_kind_is_found_or_left_out_for_a_reason():
    left_out = {code for code, kind in CATALOG.items() if kind.found == "none"}
    assert set(NOT_CHECKED) == left_out
    found_by = ("call", "record", "values", "host")
    shown = {code for code, kind in CATALOG.items() if kind.found in found_by}
    assert shown == set(codes())
