"""``ascsim run`` with --order and --precise."""

import json
from pathlib import Path

import pytest

RACY = Path("tests/tools/scripts/racy.py")


def test_an_operator_gives_the_same_bits_in_another_order(ascsim):
    result = ascsim("run", "hardswish_backward_v2", "--shape", "64,256", "--order", "latest")
    assert result.exit_code == 0, result.stderr
    assert "HardSwishGradV2, latest order: the same bits as in program order" in result.stdout


def test_a_race_is_shown_with_its_elements_and_its_finding(ascsim):
    result = ascsim("run", "--order", "hardware", RACY)
    assert result.exit_code == 1
    assert "z[5] is nan" in result.stdout
    assert "plus_one, hardware order: other values than in program order" in result.stdout
    assert "z[0:1024]: 1024 elements differ, expected 1, 2, 3, 4, …, got nan" in result.stdout
    assert "because of race.raw at " in result.stdout


def test_without_an_order_the_race_stays_hidden(ascsim):
    result = ascsim("run", RACY)
    assert result.exit_code == 0, result.stderr
    assert "z[5] is 6.0" in result.stdout
    assert "order" not in result.stdout


def test_the_order_may_stand_behind_a_script_and_its_result_is_in_the_json(ascsim):
    result = ascsim("run", RACY, "--order", "latest", "--json")
    assert result.exit_code == 1
    (replay,) = json.loads(result.stdout)["replays"]
    assert (replay["order"], replay["equal"]) == ("latest", False)
    (difference,) = replay["differences"]
    assert difference["elements"] == [0, 1024]
    assert [finding["code"] for finding in difference["findings"]] == ["race.raw"]


def test_a_random_order_takes_a_seed(ascsim):
    args = ("run", RACY, "--order=random", "--json")
    seeds = [ascsim(*args[:1], "--order-seed", str(seed), *args[1:]) for seed in range(8)]
    replays = [json.loads(result.stdout)["replays"][0] for result in seeds]
    assert [replay["seed"] for replay in replays] == list(range(8))
    assert {replay["equal"] for replay in replays} == {True, False}


def test_lost_precision_is_reported_for_each_launch(ascsim):
    args = ("run", "hardswish_backward_v2", "--shape", "64,256", "--dtype", "bf16", "--precise")
    result = ascsim(*args)
    assert result.exit_code == 0, result.stderr
    assert "HardSwishGradV2, largest relative error of a stored element: " in result.stdout
    # x / 3 + 0.5 cancels where x is -1.5.
    assert "first past 0.01: Adds at " in result.stdout
    strict = ascsim(*args, "--bound", "1e-6", "--json")
    (found,) = json.loads(strict.stdout)["precision"]
    assert found["bound"] == 1e-6
    assert found["losses"][-1]["api"] == "Cast"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--order", "reverse"), "there is no order 'reverse'"),
        (("--order-seed", "3"), "--order-seed belongs to --order random"),
        (("--order", "latest", "--order-seed", "3"), "--order-seed belongs to --order random"),
        (("--bound", "0.1"), "--bound belongs to --precise"),
        (("--precise", "--bound", "0"), "the bound cannot be 0"),
    ],
)
@pytest.mark.parametrize("target", [RACY, "hardswish_backward_v2"])
def test_options_that_do_not_fit_are_refused(ascsim, target, options, message):
    result = ascsim("run", *options, target)
    assert result.exit_code == 2
    assert message in result.stderr
