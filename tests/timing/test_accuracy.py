"""What reports say about the error of their times."""

import numpy as np
import pytest

from kernels.validation.add import AddTiling, add_single_buffer
from simulator.platforms import load_platform
from simulator.timing import accuracy
from simulator.timing.accuracy import Accuracy, accuracy_of, accuracy_sentence

MEASURED = Accuracy("2201", "copies", 15, 0.043, 0.107, 3, 0.056, 0.08, ("910b1", "910b4"))


@pytest.fixture
def table(monkeypatch):
    monkeypatch.setattr(accuracy, "accuracy_table", lambda: {("2201", "copies"): MEASURED})


def test_copies_in_both_directions_are_copies(table):
    for pipe in ("MTE2", "MTE3"):
        assert accuracy_of(load_platform("910b1"), pipe) == MEASURED


def test_fitted_and_held_back_kernels_are_told_apart(table):
    assert accuracy_sentence(MEASURED, load_platform("910b1")) == (
        "the time of measured kernels on 2201 that are busiest with copies is off by 4.3% on "
        "average and 10.7% at most (15 kernels), by 5.6% and 8.0% (3 kernels that no figure was "
        "fitted to)"
    )


def test_kernels_that_were_all_held_back_stand_alone(table):
    one = Accuracy("2201", "vector", 0, 0, 0, 1, 0.01, 0.01, ("910b4",))
    assert accuracy_sentence(one, load_platform("910b4")) == (
        "the time of measured kernels on 2201 that are busiest with vector calls is off by 1.0% on "
        "average and 1.0% at most (1 kernel that no figure was fitted to)"
    )


def test_a_chip_that_nobody_measured_is_named(table):
    text = accuracy_sentence(MEASURED, load_platform("910b3"))
    assert "busiest with copies (on 910b1, 910b4; none on 910b3) is off by" in text


def test_where_nothing_alike_was_measured_the_error_is_not_known(table):
    chip = load_platform("910b1")
    assert accuracy_sentence(accuracy_of(chip, "S"), chip).startswith(
        "not known: no kernel that is busiest with scalar work was measured on 2201"
    )
    old = load_platform("910")
    assert accuracy_sentence(accuracy_of(old, "V"), old) == (
        "not known: no kernel was measured on 1001"
    )


def test_figures_set_by_the_caller_make_the_error_unknown(table):
    chip = load_platform("910b1").override(**{"timing.read_cap_gbps": 9})
    assert accuracy_sentence(MEASURED, chip) == "not known: timing.read_cap_gbps set by the caller"


def test_every_report_states_it(table):
    x = np.zeros((1, 64), np.float16)
    run = add_single_buffer.launch(1, x, x.copy(), x.copy(), AddTiling(1, 64, 64, 64), 1)
    assert run.summary.accuracy.startswith("the time of measured kernels on 2201")
    assert f"accuracy: {run.summary.accuracy[:60]}" in run.summary.text()
    assert run.summary.as_dict()["error"]["rows"] == 15
    assert run.summary.accuracy in run._repr_html_()
