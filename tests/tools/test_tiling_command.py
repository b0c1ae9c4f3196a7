"""``ascsim tiling``: what is printed follows from the published tiling cases and buffer tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

CASES = Path(__file__).parents[1] / "data" / "ops_cases"


def planned(ascsim, *args):
    result = ascsim("tiling", *args, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def published(name):
    cases = json.loads((CASES / f"{name}.json").read_text("utf-8"))["cases"]
    for case in cases:
        given = case["input"]
        profile = given["platform"].get("name", "") if case["kind"] == "tiling" else ""
        # Names such as 910B1 are profiles; the others describe a unit test's platform.
        if profile.lower() not in ("910b1", "910b3", "910b4"):
            continue
        first = next(iter(given["tensors"].values()))
        if 0 not in first["shape"]:
            yield pytest.param(case, id=case["id"])


@pytest.mark.parametrize(
    "case", [*published("max_pooling_grad"), *published("hardswish_backward_v2")]
)
def test_fields_key_and_workspace_are_the_published_ones(ascsim, case):
    first = next(iter(case["input"]["tensors"].values()))
    found = planned(
        ascsim,
        case["op"],
        "--shape",
        ",".join(map(str, first["shape"])),
        "--dtype",
        first["dtype"],
        "--platform",
        case["input"]["platform"]["name"].lower(),
    )
    (launch,) = found["launches"]
    expected = case["expect"]
    for key in ("block_dim", "tiling_key", "tiling_data", "workspace"):
        assert launch[key] == expected[key]


@pytest.mark.parametrize(
    "args",
    [
        ("max_pooling_grad", "--shape", "3,5,7,11", "--dtype", "float16", "--platform", "910b4"),
        ("max_pooling_grad", "--shape", "291841", "--dtype", "float32"),
        ("hardswish_backward_v2", "--shape", "471813", "--dtype", "bfloat16"),
        ("hardswish_backward_v2", "--shape", "100001", "--platform", "950"),
        ("hardswish_backward", "--shape", "4865", "--dtype", "float32"),
    ],
    ids=" ".join,
)
def test_the_cores_cover_the_output_once(ascsim, args):
    found = planned(ascsim, *args)
    total = 1
    for size in found["shape"]:
        total *= size
    (launch,) = found["launches"]
    end = 0
    for core in launch["cores"]:
        assert core["first"] == end
        assert core["end"] - core["first"] == core["elements"] == sum(core["tiles"])
        end = core["end"]
    assert end == total
    assert [core["core"] for core in launch["cores"] if "last" in core["marks"]] == [
        launch["block_dim"] - 1
    ]


def test_the_owner_of_the_short_tile_is_marked(ascsim):
    # 471813 = 97 * 4864 + 5: the short tile belongs to core 1, the last of those with three tiles.
    found = planned(ascsim, "hardswish_backward_v2", "--shape", "471813", "--dtype", "float32")
    (launch,) = found["launches"]
    assert {c["core"]: c["marks"] for c in launch["cores"] if c["marks"]} == {
        1: ["tail"],
        47: ["last"],
    }
    assert launch["cores"][1]["tiles"] == [4864, 4864, 5]


@pytest.mark.parametrize(
    ("args", "sizes"),
    [
        # Queues of 24320 bytes (three in, one out) and one bit for each of 6080 or 12160 elements,
        # rounded up to 32 bytes.
        (("max_pooling_grad", "--dtype", "float32"), [(3, 24320), (1, 24320), (1, 768)]),
        (("max_pooling_grad", "--dtype", "float16"), [(3, 24320), (1, 24320), (1, 1536)]),
        # One buffer over all of UB.
        (("hardswish_backward_v2",), [(1, 196352)]),
        # The published table of the 950 kernel: queues, float scratch, bit mask.
        (
            ("hardswish_backward_v2", "--platform", "950", "--dtype", "float32"),
            [(4, 31744), (2, 31744), (1, 31744), (1, 1024)],
        ),
        (
            ("hardswish_backward_v2", "--platform", "950", "--shape", "9", "--dtype", "float16"),
            [(2, 31744), (1, 31744), (1, 126976), (1, 2048)],
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value[0], str) else "",
)
def test_the_ub_budget_lists_the_kernel_s_buffers(ascsim, args, sizes):
    (launch,) = planned(ascsim, *args)["launches"]
    ub = launch["ub"]
    assert [(b["number"], b["bytes"]) for b in ub["buffers"]] == sizes
    assert ub["used"] == sum(number * size for number, size in sizes)
    for buffer in ub["buffers"]:
        assert buffer["share"] == pytest.approx(buffer["number"] * buffer["bytes"] / ub["bytes"])


def test_the_report_has_all_parts(ascsim):
    args = ("--shape", "3,5,7,11", "--dtype", "float32", "--platform", "910b4")
    text = ascsim("tiling", "max_pooling_grad", *args).stdout
    for part in (
        "tiling of max_pooling_grad on 910b4: float32[3, 5, 7, 11]",
        "19 of 40 vector cores",
        "0 (0x0)",
        "slot 0: 16,777,216 bytes",
        "MaxPoolingGradTilingData, 72 bytes",
        "lastCoreValidDataNum",
        "tail, last",
        "VECIN queue",
        "98,048 of 196,608 bytes (49.9%)",
        "8,192 bytes from 188,416 on",
    ):
        assert part in text


def test_a_buffer_over_the_reserved_area_is_named_with_what_is_accessed(ascsim):
    text = ascsim("tiling", "hardswish_backward_v2").stdout
    assert "reach 7,936 bytes into it, but the kernel accesses none" in " ".join(text.split())


def test_empty_tensors_have_no_launch(ascsim):
    result = ascsim("tiling", "max_pooling_grad", "--shape", "0,4")
    assert result.exit_code == 0
    assert "none: the tensors are empty" in result.stdout
    assert planned(ascsim, "max_pooling_grad", "--shape", "0,4")["launches"] == []


def test_a_platform_without_the_operator_fails_with_the_status(ascsim):
    result = ascsim("tiling", "max_pooling_grad", "--platform", "950")
    assert result.exit_code == 1
    assert "561003" in result.stderr


@pytest.mark.parametrize(
    "args",
    [
        ("max_pooling_grod",),
        ("examples/vector_add.py",),
        ("max_pooling_grad", "--shape", "2,x"),
        ("max_pooling_grad", "--dtype", "int3"),
        ("max_pooling_grad", "--platform", "911"),
    ],
)
def test_a_wrong_request_is_one_line_and_code_2(ascsim, args):
    result = ascsim("tiling", *args)
    assert result.exit_code == 2
    assert result.stderr.startswith("ascsim: error: ")
    assert result.stderr.count("\n") == 1
