"""Predicted changes against kernels in which somebody has made the change by hand."""

import pytest
from tunable import launch

from simulator.analysis.suggestions import suggestions
from simulator.errors import ConfigError

PLATFORMS = ("910b", "950")

BY_HAND = {
    "double buffer": ({"buffers": 1, "work": 20}, {"buffers": 2}, {"work": 20}),
    "larger tile": ({"length": 512, "tiles": 64}, {"tile": 4}, {}),
    "fewer barriers": ({"barriers": True, "work": 20}, {"barriers": 0}, {"work": 20}),
    "fewer barriers, one buffer": (
        {"barriers": True, "buffers": 1, "work": 20},
        {"barriers": 0},
        {"buffers": 1, "work": 20},
    ),
    "larger tile, inputs copied in a loop": (
        {"length": 512, "tiles": 64, "looped": True},
        {"tile": 4},
        {"looped": True},
    ),
    "core count, inputs copied in a loop": (
        {"blocks": 4, "tiles": 24, "looped": True},
        {"blocks": 48},
        {"blocks": 48, "tiles": 2, "looped": True},
    ),
    "core count": ({"blocks": 4, "tiles": 24}, {"blocks": 48}, {"blocks": 48, "tiles": 2}),
    "fewer blocks than cores": (
        {"blocks": 100, "tiles": 4},
        {"blocks": 20},
        {"blocks": 20, "tiles": 20},
    ),
    "aligned copies": ({"shift": 16}, {"aligned": 1}, {}),
    "two changes": (
        {"buffers": 1, "length": 512, "tiles": 64},
        {"tile": 4, "buffers": 2},
        {},
    ),
    "two changes, other order": (
        {"buffers": 1, "length": 512, "tiles": 64},
        {"buffers": 2, "tile": 4},
        {},
    ),
}
"""Name: (kernel as it is, change asked for, kernel changed by hand)."""


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("name", BY_HAND)
def test_a_prediction_is_within_a_tenth_of_the_gain_that_the_change_brings(name, platform):
    before, changes, after = BY_HAND[name]
    run, changed = launch(platform, **before), launch(platform, **after)
    answer = run.what_if(**changes)
    assert answer.before == run.cycles
    real = run.cycles - changed.cycles
    assert run.cycles - answer.after == pytest.approx(real, abs=max(1, 0.1 * abs(real)))


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_run_that_would_be_has_all_readings(platform):
    answer = launch(platform, buffers=1).what_if(buffers=2)
    assert sum(step.cycles for step in answer.run.critical_path.steps) == answer.after
    assert answer.run.summary.cycles == answer.after
    assert answer.speedup == answer.before / answer.after
    assert answer.gain == 1 - answer.after / answer.before


def test_the_run_itself_stays_as_it_is():
    run = launch(buffers=1, barriers=True)
    before = run.fingerprint()
    run.what_if(buffers=2, barriers=0)
    assert run.fingerprint() == before


def test_half_the_clock_takes_the_same_vector_cycles_and_twice_the_time():
    run = launch(work=200, tiles=4)
    clock = run.platform.timing.clock_mhz
    answer = run.what_if(**{"timing.clock_mhz": clock / 2})
    assert answer.run.timeline.busy(1) == run.timeline.busy(1)
    assert answer.run.platform.overridden == ("timing.clock_mhz",)
    nanoseconds = answer.run.platform.timing.nanoseconds(answer.run.timeline.busy(1))
    assert nanoseconds == pytest.approx(2 * run.platform.timing.nanoseconds(run.timeline.busy(1)))


def test_more_bandwidth_helps_a_kernel_that_shares_it():
    run = launch(blocks=48, length=8192)
    cap = run.platform.timing.read_cap_gbps
    assert run.what_if(**{"timing.read_cap_gbps": 2 * cap}).after < run.cycles
    assert run.what_if(**{"timing.read_cap_gbps": cap}).after == run.cycles


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "nothing is to be changed"),
        ({"bufers": 2}, "cannot be changed"),
        ({"timing.read_cap": 2}, "not a key of a platform profile"),
        ({"buffers": 0}, "cannot be 0"),
        ({"buffers": 2.5}, "cannot be 2.5"),
        ({"buffers": 2}, "every queue has 2 buffers or more already"),
        ({"tile": 64}, "do not fit"),
        ({"barriers": 0}, "no barriers over all pipes"),
        ({"aligned": 1}, "all copies start at a multiple of 512 bytes"),
        ({"blocks": 8}, "the number it has"),
        ({"blocks": 1000}, "only 128 tiles"),
    ],
)
def test_a_change_that_does_not_fit_is_refused_with_the_reason(changes, words):
    with pytest.raises(ConfigError, match=words):
        launch().what_if(**changes)


def test_longer_blocks_are_not_guessed_from_blocks_without_a_full_buffer():
    run = launch(blocks=100, tiles=2)
    with pytest.raises(ConfigError, match="nothing is known about longer blocks"):
        run.what_if(blocks=20)


def test_larger_buffers_must_fit_the_unified_buffer():
    run = launch(buffers=1, length=24576, tiles=2)
    with pytest.raises(ConfigError, match="more bytes do not fit"):
        run.what_if(buffers=3)


# -- suggestions -------------------------------------------------------------------------------


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("name", ["double buffer", "larger tile", "fewer barriers", "core count"])
def test_a_suggestion_names_the_change_and_its_gain(name, platform):
    before, _, _ = BY_HAND[name]
    run = launch(platform, **before)
    found = {s.kind: s for s in suggestions(run)}
    assert name in found
    answer = run.what_if(**found[name].changes)
    assert (found[name].cycles, found[name].gain) == (answer.after, answer.gain)


def test_there_are_at_most_three_the_best_first():
    found = suggestions(launch(buffers=1, barriers=True, length=256, tiles=64, work=8))
    assert len(found) == 3
    gains = [s.gain for s in found]
    assert gains == sorted(gains, reverse=True)
    assert len({s.kind for s in found}) == 3


def test_the_line_of_the_barrier_and_of_the_queue_is_named():
    from pathlib import Path

    import tunable

    lines = Path(tunable.__file__).read_text().splitlines()
    run = launch(barriers=True, work=20, blocks=48)
    [barrier] = [s for s in suggestions(run) if s.kind == "fewer barriers"]
    assert "PipeBarrier(PIPE_ALL)" in lines[barrier.location.line - 1]
    run = launch(buffers=1, work=20, blocks=48)
    [queue] = [s for s in suggestions(run) if s.kind == "double buffer"]
    assert "AllocTensor" in lines[queue.location.line - 1]


def test_nothing_is_suggested_where_nothing_helps():
    assert suggestions(launch(blocks=48, length=16384, tiles=16)) == []
