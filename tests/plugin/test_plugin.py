"""The pytest plugin, used by test files that are written here."""

import pytest

# Test files that run inside this process share what is imported here.
import host.ops  # noqa: F401
import simulator.ascendc  # noqa: F401
import tools.diagnostics  # noqa: F401

pytest_plugins = ["pytester"]

KERNELS = """
import numpy as np
import pytest

# Test files that run inside this process share what is imported here.
import host.ops  # noqa: F401
import simulator.ascendc  # noqa: F401
import tools.diagnostics  # noqa: F401
from simulator.ascendc import (
    Adds, DataCopy, GlobalTensor, HardEvent, LocalTensor, SetFlag, TPosition, WaitFlag, half,
    kernel,
)

N = 1024


def gm(address):
    tensor = GlobalTensor(half)
    tensor.SetGlobalBuffer(address)
    return tensor


@kernel
def plus_one(x, z, ordered):
    tile = LocalTensor(half, TPosition.VECIN, 0, N)
    out = LocalTensor(half, TPosition.VECOUT, 2 * N, N)
    DataCopy(tile, gm(x), N)
    if ordered:
        SetFlag(HardEvent.MTE2_V, 0)
        WaitFlag(HardEvent.MTE2_V, 0)
    Adds(out, tile, 1.0, N)  # reads the tile
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(z), out, N)


def arrays():
    return np.arange(N, dtype=np.float16), np.zeros(N, np.float16)
"""


@pytest.fixture
def run(pytester):
    """Write a test file and run pytest on it."""

    def run_with(body, *args):
        pytester.makepyfile(test_kernels=KERNELS + body)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", *args)

    return run_with


def test_the_fixture_launches_and_returns_the_run(run):
    result = run(
        """
def test_sum(ascsim):
    x, z = arrays()
    run = ascsim(plus_one, 1, x, z, True)
    assert (z == x + 1).all()
    assert run.platform.arch.family == "910B"
    assert run.findings == []
    assert ascsim.runs == [run]
"""
    )
    result.assert_outcomes(passed=1)


def test_a_race_fails_the_test_with_the_diagnostic(run):
    result = run(
        """
def test_sum(ascsim):
    x, z = arrays()
    ascsim(plus_one, 1, x, z, False)
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "error?race.raw?: *",
            "*--> test_kernels.py:*  (block 0, pipe V*)",
            "* Adds(out, tile, 1.0, N)  # reads the tile",
            "*= fix:*SetFlag(HardEvent.MTE2_V, 0)*",
            "*-- ascsim --*",
            "<ascsim on 910b, program order, seed *: 1 launches>",
            "repeat with --ascsim-seed *",
        ]
    )
    result.stdout.no_fnmatch_line("*simulator/launch.py*")


def test_a_launch_of_another_kind_is_checked_too(run):
    result = run(
        """
def test_sum(ascsim):
    plus_one[1](*arrays(), False)
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["error?race.raw?: *"])


def test_other_failures_look_as_usual(run):
    result = run(
        """
def test_sum(ascsim):
    assert 1 + 1 == 3
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E       assert (1 + 1) == 3", "*-- ascsim --*"])


MARKED = """
@pytest.mark.ascsim_platforms("910b", "950")
def test_sum(ascsim):
    x, z = arrays()
    run = ascsim(plus_one, 1, x, z, True)
    assert (z == x + 1).all()
    print("runs on", run.platform.arch.family)
"""


def test_a_marked_test_runs_once_on_each_platform(run):
    result = run(MARKED, "-v", "-s")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*test_sum?910b?*runs on 910B*", "*test_sum?950?*runs on 950*"])


def test_the_option_chooses_among_the_platforms_of_a_marked_test(run):
    result = run(MARKED, "-v", "-s", "--ascsim-platform", "950")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["ascsim: platform 950, order program, *", "*runs on 950*"])
    run(MARKED, "--ascsim-platform", "910").assert_outcomes(skipped=1)


PLAIN = """
def test_sum(ascsim):
    x, z = arrays()
    run = ascsim(plus_one, 1, x, z, True)
    print("runs on", run.platform.arch.family)
"""


def test_the_option_sets_the_platforms_of_other_tests(run):
    result = run(PLAIN, "-s", "--ascsim-platform=950", "--ascsim-platform=910b")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*runs on 950*", "*runs on 910B*"])


def test_a_platform_that_does_not_exist_is_an_error_of_the_test(run):
    result = run(PLAIN, "--ascsim-platform=nowhere")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*nowhere*"])


@pytest.mark.parametrize("names", ["", "910"])
def test_a_marker_without_names_is_refused(run, names):
    result = run(f"@pytest.mark.ascsim_platforms({names})\n{PLAIN.strip()}")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*ascsim_platforms needs names of platforms*"])
    result.stdout.no_fnmatch_line("*_hookexec*")


def test_tests_without_the_fixture_are_left_alone(run):
    result = run("def test_other():\n    pass\n", "--ascsim-platform", "950", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*::test_other PASSED*"])


def test_the_order_gives_the_outputs_that_the_test_sees(run):
    body = """
def test_sum(ascsim):
    x, z = arrays()
    ascsim(plus_one, 1, x, z, False, check="report")
    assert (z == x + 1).all()
"""
    run(body).assert_outcomes(passed=1)
    result = run(body, "--ascsim-order", "latest")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "ascsim: order latest, *",
            "latest order: other values than in program order",
            "  z?0:1024?: 1024 elements differ, *",
            "    because of race.raw at *",
        ]
    )


def test_a_broken_cycle_budget_shows_the_report(run):
    result = run(
        """
def test_budget(ascsim):
    run = ascsim(plus_one, 1, *arrays(), True)
    assert run.cycles <= 10
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E       *assert * <= 10",
            "E         plus_one takes * cycles on 910b; its report is below",
            "*-- ascsim --*",
            "plus_one on *",
            "pipe *busy cycles*",
            "bottleneck: *",
        ]
    )


def test_a_kept_cycle_budget_passes(run):
    run(
        """
def test_budget(ascsim):
    run = ascsim(plus_one, 1, *arrays(), True)
    assert run.cycles <= 10**6
"""
    ).assert_outcomes(passed=1)


SEEDED = """
@pytest.mark.parametrize("case", [1, 2])
def test_numbers(ascsim, case):
    print("drew", case, ascsim.rng.integers(10**9), ascsim.seed)
"""


def drawn(result):
    return [line for line in result.stdout.lines if "drew" in line]


def test_seeds_are_printed_and_repeat_what_was_drawn(run):
    first = run(SEEDED, "-s", "-q")
    header = [line for line in first.stdout.lines if "--ascsim-seed" in line]
    if not header:
        first = run(SEEDED, "-s")
        header = [line for line in first.stdout.lines if "--ascsim-seed" in line]
    seed = header[0].split()[-1]
    again = run(SEEDED, "-s", "--ascsim-seed", seed)
    assert drawn(again) == drawn(first)
    assert len(set(drawn(first))) == 2
    other = run(SEEDED, "-s", "--ascsim-seed", str(int(seed) + 1))
    assert drawn(other) != drawn(first)


def test_the_seed_of_a_test_does_not_depend_on_which_others_run(run):
    both = run(SEEDED, "-s", "--ascsim-seed", "3")
    second = run(SEEDED, "-s", "--ascsim-seed", "3", "-k", "2")
    assert drawn(second)[0].split("drew")[1] in "\n".join(drawn(both))


def test_a_negative_seed_is_refused(run):
    result = run(SEEDED, "--ascsim-seed", "-4")
    assert result.ret != 0
    result.stderr.fnmatch_lines(["*--ascsim-seed cannot be -4*"])


def test_an_order_that_does_not_exist_is_refused(run):
    result = run(SEEDED, "--ascsim-order", "reverse")
    assert result.ret != 0
    result.stderr.fnmatch_lines(["*invalid choice: 'reverse'*"])


def test_a_host_call_runs_on_the_platform_of_the_test(run):
    result = run(
        """
from host.ops import hardswish_backward_v2


@pytest.mark.ascsim_platforms("910b", "950")
def test_operator(ascsim):
    x = ascsim.rng.standard_normal((8, 64)).astype(np.float16)
    out = hardswish_backward_v2(x, x, platform=ascsim.platform)
    assert out.shape == x.shape
    assert [run.name for run in ascsim.runs] == ["HardSwishGradV2"]
"""
    )
    result.assert_outcomes(passed=2)


def test_the_marker_is_registered_and_the_options_are_explained(pytester):
    shown = pytester.runpytest_inprocess("--markers", "--strict-markers")
    shown.stdout.fnmatch_lines(["@pytest.mark.ascsim_platforms*"])
    explained = pytester.runpytest_inprocess("--help")
    explained.stdout.fnmatch_lines(
        ["Ascend AI Core simulator:", "*--ascsim-platform=NAME*", "*--ascsim-seed=N*"]
    )
