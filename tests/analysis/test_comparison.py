"""Comparison of two runs: the differences add up, and moved lines are found again."""

import pytest
from tunable import launch

from simulator.analysis.comparison import compare
from simulator.analysis.hotspots import hotspots

PAIRS = {
    "buffers": ({"buffers": 1}, {}),
    "tiles": ({"length": 512, "tiles": 64}, {}),
    "blocks": ({"blocks": 4, "tiles": 24}, {"blocks": 48, "tiles": 2}),
    "barriers": ({}, {"barriers": True}),
    "work": ({}, {"work": 30}),
}


@pytest.fixture(params=PAIRS)
def pair(request):
    before, after = PAIRS[request.param]
    return request.param, launch(**before), launch(**after)


def test_the_causes_add_up_to_the_difference_in_cycles(pair):
    _, before, after = pair
    comparison = compare(before, after)
    assert comparison.change == after.cycles - before.cycles
    assert sum(cause.change for cause in comparison.causes) == comparison.change


def test_the_other_way_round_every_change_has_the_other_sign(pair):
    _, before, after = pair
    there, back = compare(before, after), compare(after, before)
    assert back.change == -there.change
    assert sorted(c.change for c in back.causes) == sorted(-c.change for c in there.causes)


def test_a_run_compared_with_itself_shows_nothing():
    comparison = compare(launch(), launch())
    assert comparison.change == 0
    assert comparison.facts == []
    assert all(line.change == line.path_change == 0 for line in comparison.lines)
    assert comparison.sentence() == "the runs take the same number of cycles"


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("buffers", "buffers of the queues 1 1 1 -> 2 2 2"),
        ("tiles", "copies in 1,024 -> 256"),
        ("blocks", "blocks 4 -> 48"),
        ("barriers", "barriers over all pipes in a block 0 -> 16"),
        # 29 more Add in each of 16 tiles on 8 blocks.
        ("work", f"instructions 2,056 -> {2056 + 29 * 16 * 8:,}"),
    ],
)
def test_what_was_changed_is_named(name, fact):
    before, after = PAIRS[name]
    assert fact in compare(launch(**before), launch(**after)).facts


def test_a_change_of_the_chip_is_named():
    before = launch()
    after = before.what_if(**{"timing.read_latency_ns": 999}).run
    assert compare(before, after).facts == ["timing.read_latency_ns 122 -> 999"]


def test_the_added_arithmetic_is_the_line_that_changed_most():
    comparison = compare(launch(), launch(work=30))
    change = comparison.lines[0]
    assert change.before.names == change.after.names == ("Add",)
    assert change.after.calls == 30 * change.before.calls
    assert "slower" in comparison.sentence()
    assert "Add at tunable.py" in comparison.sentence()


def test_lines_of_two_runs_with_more_lines_between_are_paired(tmp_path):
    import importlib.util
    from pathlib import Path

    import tunable

    moved = tmp_path / "moved.py"
    text = Path(tunable.__file__).read_text()
    marker = "            local_y = inputs[1].AllocTensor(half)\n"
    assert f"\n{marker}" in text
    moved.write_text(text.replace(marker, "            # one more line\n" + marker))
    spec = importlib.util.spec_from_file_location("moved", moved)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    comparison = compare(launch(), module.launch())
    assert comparison.change == 0
    for line in comparison.lines:
        assert line.before is not None
        assert line.after is not None
        assert line.after.location.line - line.before.location.line in (0, 1)


def test_hotspots_add_up_to_the_busy_cycles_and_bytes_of_the_run():
    run = launch(blocks=50, tiles=3, work=3)
    uses = hotspots(run)
    working = [u for u in uses if u.pipe in ("V", "MTE2", "MTE3")]
    for pipe in run.summary.pipes:
        if pipe.name != "S":
            assert sum(u.cycles for u in working if u.pipe == pipe.name) == pipe.busy
    moved = run.summary.traffic
    assert sum(u.nbytes for u in uses) == moved.read_bytes + moved.written_bytes
    assert sum(u.calls for u in uses if "Add" in u.names) == 50 * 3 * 3
