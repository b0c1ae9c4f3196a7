"""``ascsim infershape`` against the published infershape cases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

CASES = Path(__file__).parents[1] / "data" / "ops_cases"


def published():
    for name in ("max_pooling_grad", "hardswish_backward_v2"):
        cases = json.loads((CASES / f"{name}.json").read_text("utf-8"))["cases"]
        for case in cases:
            if case["kind"] == "infershape":
                yield pytest.param(case, id=case["id"])


def text_of(shape):
    return ",".join(map(str, shape))


@pytest.mark.parametrize("case", list(published()))
def test_published_cases_hold(ascsim, case):
    args = []
    for tensor in case["input"]["inputs"].values():
        args += [f"--shape={text_of(tensor['shape'])}", "--dtype", tensor["dtype"]]
    result = ascsim("infershape", case["op"], *args, "--json")
    found = json.loads(result.stdout)
    expected = case["expect"]
    assert found["graph_status"] == expected["graph_status"]
    assert found["outputs"] == expected.get("outputs", {})
    assert result.exit_code == (0 if expected["graph_status"] == "GRAPH_SUCCESS" else 1)


def test_one_shape_stands_for_all_inputs(ascsim):
    result = ascsim("infershape", "HardSwishGrad", "--shape", "2,-1,4", "--dtype", "fp32")
    assert result.exit_code == 0
    for line in ("gradOutput", "self", "out"):
        assert any(
            row.split() == [line, "float32[2,", "-1,", "4]"] for row in result.stdout.splitlines()
        )


def test_a_failure_says_why(ascsim):
    args = [f"--shape={shape}" for shape in ("2,3", "2,4", "2,3")]
    result = ascsim("infershape", "MaxPoolingGrad", *args)
    assert result.exit_code == 1
    assert "GRAPH_FAILED" in result.stdout
    assert "x has shape [2, 4], dy has [2, 3]" in result.stdout


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (("MaxPoolGrad", "--shape", "1"), "did you mean MaxPoolingGrad"),
        (("MaxPoolingGrad", "--shape", "1", "--shape", "1"), "once for each of dy, x, y"),
        (("MaxPoolingGrad", "--shape", "1,-3"), "'1,-3' is not a shape"),
        (("MaxPoolingGrad", "--shape", "1,-2"), "-2 stands alone"),
        (("MaxPoolingGrad", "--shape", "1", "--dtype", "flot"), "did you mean float"),
    ],
)
def test_a_wrong_request_is_one_line_and_code_2(ascsim, args, part):
    result = ascsim("infershape", *args)
    assert result.exit_code == 2
    assert part in result.stderr
    assert result.stderr.count("\n") == 1
