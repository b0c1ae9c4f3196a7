"""Worked examples of the vendor's reference pages, on every architecture they hold for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.isa_cases import run_page_examples
from tools.isa_cases.page_examples import read_examples

FILE = Path(__file__).parents[1] / "data" / "page_examples.json"

NOT_MET = {
    ("Reciprocal-few", "3510"): "the figures are the estimates of 910B; 950 is exact to one ulp",
    ("Duplicate-tensor-count", "2201"): "page and header have the form on 950 only",
}
"""Examples whose figures an architecture cannot give, with the reason."""

CASES = [(example["id"], arch) for example in read_examples(FILE) for arch in example["arch"]]


@pytest.fixture(scope="module")
def results():
    return {
        (result.id, arch): result
        for arch in ("2201", "3510")
        for result in run_page_examples(FILE, arch=arch)
    }


@pytest.mark.parametrize("case", [case for case in CASES if case not in NOT_MET], ids="-".join)
def test_the_example_gives_the_printed_figures(results, case):
    assert results[case].passed, results[case].message


@pytest.mark.parametrize("case", NOT_MET, ids="-".join)
def test_a_listed_example_really_fails(results, case):
    assert not results[case].passed


def test_every_example_of_the_file_runs(results):
    assert len({name for name, _ in CASES}) == 175
    assert set(results) == set(CASES)
