"""``ascsim run <operator>``."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tools import operators


def test_the_default_run_is_reported(ascsim, golden):
    result = ascsim("run", "hardswish_backward_v2")
    assert result.exit_code == 0, result.stderr
    golden("run_hardswish_backward_v2.txt", result.stdout)


def test_an_empty_tensor_launches_nothing_and_says_so(ascsim, golden):
    result = ascsim("run", "hardswish_backward_v2", "--shape", "0,4")
    assert result.exit_code == 0
    golden("run_empty.txt", result.stdout)


@pytest.mark.parametrize("dtype", ["float32", "fp16", "bf16"])
@pytest.mark.parametrize("shape", ["", "1", "63", "4865", "2,3,4,5,1,1,2,2"])
def test_every_type_and_shape_equals_the_reference(ascsim, dtype, shape):
    result = ascsim("run", "hardswish_backward_v2", "--shape", shape, "--dtype", dtype, "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["results"]["out"]["equal"] is True


def test_json_holds_launch_and_summary(ascsim):
    result = ascsim(
        "run", "--json", "--platform", "Ascend910B3", "hardswish_backward_v2", "--shape", "100,100"
    )
    report = json.loads(result.stdout)
    assert report["platform"] == "910b3"
    assert (report["shape"], report["dtype"], report["seed"]) == ([100, 100], "float16", 0)
    (launch,) = report["launches"]
    # 10,000 elements in tiles of 4,864 make three tiles, one for each core.
    assert launch["block_dim"] == 3
    assert launch["structs"]["tiling"]["elementNumEachCore"] == 4864
    assert launch["traffic"]["read_bytes"] == 2 * 10_000 * 2
    assert launch["traffic"]["written_bytes"] == 10_000 * 2
    whole = launch["cycles"] * launch["cores"]
    for pipe in launch["pipes"]:
        assert pipe["busy"] + sum(pipe["waits"].values()) == whole
    assert [pipe["name"] for pipe in launch["pipes"]] == ["S", "V", "MTE2", "MTE3"]


def test_json_of_an_empty_tensor_has_no_launches(ascsim):
    report = json.loads(ascsim("run", "hardswish_backward_v2", "--shape", "0", "--json").stdout)
    assert report["launches"] == []


def test_equal_seeds_give_equal_inputs_and_others_do_not():
    operator = operators.OPERATORS["hardswish_backward_v2"]
    made = [
        operator.inputs(np.random.default_rng(seed), (8,), np.dtype(np.float16))
        for seed in (3, 3, 4)
    ]
    assert made[0]["self_"].tobytes() == made[1]["self_"].tobytes()
    assert made[0]["self_"].tobytes() != made[2]["self_"].tobytes()


def test_a_result_that_differs_is_measured_and_fails(ascsim, monkeypatch):
    operator = operators.OPERATORS["hardswish_backward_v2"]

    def off_by_one_ulp(grad_output, self_):
        (out,) = operator.reference(grad_output, self_)
        out[5] = np.nextafter(out[5], np.float16(np.inf))
        return (out,)

    monkeypatch.setitem(
        operators.OPERATORS, operator.name, replace(operator, reference=off_by_one_ulp)
    )
    result = ascsim("run", operator.name, "--shape", "64")
    assert result.exit_code == 1
    assert "differs from the reference in 1 of 64 elements: max 1 ulp" in result.stdout
    assert "worst at [5]" in result.stdout


def test_a_platform_without_the_kernel_is_a_diagnostic(ascsim):
    result = ascsim("run", "hardswish_backward_v2", "--platform", "910", "--dtype", "bf16")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "error[host." in result.stderr
    assert "Traceback" not in result.stderr


def test_an_error_is_also_told_in_json(ascsim):
    result = ascsim(
        "run", "hardswish_backward_v2", "--platform", "910", "--dtype", "bf16", "--json"
    )
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["status"] == 161002


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("hardswish_backward_v2", "--shape", "3,-1"), "'-1' is not a whole number"),
        (("hardswish_backward_v2", "--dtype", "int8"), "no element type 'int8'"),
        (("hardswish_backward_v2", "--platform", "911b"), "did you mean 910b"),
        (("hardswish_backward_v2", "--platform", "missing.toml"), "cannot be read"),
        (("hardswish_backward_v2", "--seed", "-1"), "seed cannot be -1"),
        (("hardswish_backward_v2", "extra"), "takes no arguments"),
        (("hardswish_backwards_v2",), "did you mean hardswish_backward_v2?"),
        (("aclnnHardswishBackwardV2",), "did you mean hardswish_backward_v2?"),
        (("vectoradd",), "no operator or script"),
        (("examples/vector_ad.py",), "did you mean examples/vector_add.py?"),
        (("README.md",), "is not a .py script"),
    ],
)
def test_a_wrong_request_is_one_line_and_code_2(ascsim, args, words):
    result = ascsim("run", *args)
    assert result.exit_code == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("ascsim: error: ")
    assert words in line


def test_an_own_platform_profile_is_taken(ascsim, tmp_path):
    profile = tmp_path / "half.toml"
    profile.write_text(
        'description = "half the cores"\nbase = "910b1"\n'
        '[chip]\naiv = { value = 24, unit = "count", source = "test", confidence = "assumed" }\n',
        encoding="utf-8",
    )
    result = ascsim("run", "hardswish_backward_v2", "--platform", profile)
    assert result.exit_code == 0
    assert "24 blocks on 24 of 24 vector cores" in result.stdout
