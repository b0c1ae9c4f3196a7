"""Every published case of the host helpers and of hardswish_backward_v2."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from host.cases import run_case, run_file
from simulator.errors import ConfigError

CASES = Path(__file__).parents[1] / "data" / "ops_cases"


def load(name):
    return json.loads((CASES / name).read_text("utf-8"))["cases"]


@pytest.mark.parametrize("case", load("host.json"), ids=lambda case: case["id"])
def test_host_case_holds(case):
    assert run_case(case).message == ""


@pytest.mark.parametrize(
    "case",
    load("hardswish_backward_v2.json"),
    ids=lambda case: case["id"],
)
def test_hardswish_backward_v2_case_holds(case):
    assert run_case(case).message == ""


def test_a_case_of_an_operator_that_is_not_built_fails_with_its_name():
    result = run_case({"id": "x-1", "op": "no_such_op", "kind": "infershape", "input": {}})
    assert not result.passed
    assert "no_such_op" in result.message


def test_a_case_of_an_unknown_kind_fails_with_the_kind():
    result = run_case({"id": "x-2", "op": "host", "kind": "no_such_kind"})
    assert not result.passed
    assert "no_such_kind" in result.message


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("hsv2-tiling-016", lambda e: e["tiling_data"].update(elementNum=4865)),
        ("hsv2-tiling-016", lambda e: e.update(workspace=[0])),
        ("hsv2-core_split-030", lambda e: e["cores"][1].update(start=4863)),
        ("hsv2-aclnn_check-085", lambda e: e.update(status=161001)),
        ("hsv2-numeric-105", lambda e: e["out"]["bits"].__setitem__(1, "0x3f555555")),
        ("hsv2-numeric_digest-129", lambda e: e.update(sha256_le_bytes="0" * 64)),
        ("hsv2-hazard-134", lambda e: e.update(repeat=74)),
        ("hsv2-hazard-135", lambda e: e.update(present=False)),
        ("hsv2-infershape-001", lambda e: e["outputs"]["out"].update(shape=[4, 2])),
    ],
)
def test_a_wrong_expectation_is_noticed(name, spoil):
    (case,) = (c for c in load("hardswish_backward_v2.json") if c["id"] == name)
    assert run_case(case).passed
    spoil(case["expect"])
    assert not run_case(case).passed


def test_run_file_gives_one_result_per_case_in_order():
    results = run_file(CASES / "host.json")
    assert [r.id for r in results] == [c["id"] for c in load("host.json")]


def test_a_file_of_another_schema_is_refused(tmp_path):
    path = tmp_path / "cases.json"
    path.write_text('{"schema": "other", "cases": []}', "utf-8")
    with pytest.raises(ConfigError, match="another schema"):
        run_file(path)
