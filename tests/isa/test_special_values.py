"""Published special values of every vector call, in both numeric modes, on both architectures."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tools.isa_cases import run_special_values
from tools.isa_cases.special_values import read_rows

TABLE = Path(__file__).parents[1] / "data" / "special_values.csv"

REGISTER_ONLY = "only the register call has it; no call on UB tensors is built on it"
NOT_MET = dict.fromkeys(
    [
        # AddC, SubC: the carry is a mask register.
        *("BV5-T13-4881", "BV5-T13-4882", "BV5-T13-4884"),
        *("BV5-T15-4991", "BV5-T15-4992", "BV5-T15-4993", "BV5-T15-4995"),
        # Cast between bfloat16_t and fp8_e8m0_t.
        *("BV5-T34-8512", "BV5-T34-8513", "BV5-T34-8514", "BV5-T34-8521"),
    ],
    REGISTER_ONLY,
)
"""Rows that no call of the memory API can meet, with the reason."""

CALLS = sorted({(row["api"], row["arch"]) for row in read_rows(TABLE)})


@pytest.fixture(scope="module")
def results():
    found = {}
    for result in run_special_values(TABLE):
        found.setdefault((result.api, result.arch), []).append(result)
    return found


@pytest.mark.parametrize("call", CALLS, ids="-".join)
def test_the_published_values_come_out(results, call):
    failed = [r for r in results[call] if not r.passed and not r.skipped and r.id not in NOT_MET]
    shown = "\n".join(f"{r.id} {r.input['inputs']}: {r.message}" for r in failed[:10])
    assert not failed, f"{len(failed)} of {len(results[call])} rows:\n{shown}"


def test_listed_rows_really_fail(results):
    passed = {r.id for group in results.values() for r in group if r.passed}
    assert not passed & set(NOT_MET)


def test_only_doubtful_figures_are_skipped(results):
    every = [r for group in results.values() for r in group]
    skipped = Counter(r.skipped for r in every)
    doubtful = sum("suspect" in row["note"] for row in read_rows(TABLE))
    assert len(every) == 6454
    assert 0 < skipped[True] <= doubtful
