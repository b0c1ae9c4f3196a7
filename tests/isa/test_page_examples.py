"""Worked examples of the vendor's reference pages, on every architecture they hold for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.isa_cases import run_page_examples
from tools.isa_cases.page_examples import read_examples

FILE = Path(__file__).parents[1] / "data" / "page_examples.json"

NOT_MET: dict[str, str] = {}
"""Examples whose printed call the device refuses, with the reason."""

EXAMPLES = [example["id"] for example in read_examples(FILE)]


@pytest.fixture(scope="module")
def results():
    return {result.id: result for result in run_page_examples(FILE)}


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in NOT_MET])
def test_the_example_gives_the_printed_figures(results, name):
    assert results[name].passed, results[name].message


@pytest.mark.parametrize("name", NOT_MET)
def test_a_listed_example_really_fails(results, name):
    assert not results[name].passed


def test_every_example_of_the_file_runs(results):
    assert len(EXAMPLES) == len(results) == 175
