"""The runner of published figures fails what is wrong and skips only what its file doubts."""

import csv
import json

import pytest

from simulator.dtypes import BY_NAME
from simulator.errors import ConfigError
from tools.isa_cases import holds_isa_cases, run_cases, run_page_examples, run_special_values
from tools.isa_cases.arrays import unfold
from tools.isa_cases.tokens import expand, from_storage, same, to_storage

COLUMNS = [
    *("id", "arch", "api", "form", "src_dtypes", "dst_dtype", "operands", "inputs"),
    *("out_infnan", "out_sat", "tol", "likely_infnan", "likely_sat", "note"),
]
SUM = {
    "id": "sum",
    "arch": "2201",
    "api": "Add",
    "form": "binary",
    "src_dtypes": "float;float",
    "dst_dtype": "float",
    "operands": "src0;src1",
    "inputs": "1.0;2.0",
    "out_infnan": "3.0",
    "tol": "0",
}


def table(tmp_path, *rows):
    path = tmp_path / "values.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="")
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_a_right_figure_passes_and_a_wrong_one_fails_with_both_values(tmp_path):
    path = table(tmp_path, SUM, {**SUM, "id": "wrong", "out_infnan": "3.5"})
    right, wrong = run_special_values(path)
    assert right.passed
    assert not wrong.passed
    assert "expected 3.5" in wrong.message
    assert "got 3.0" in wrong.message


@pytest.mark.parametrize("printed", ["0.0", "-0.0"])
def test_the_sign_of_zero_counts(tmp_path, printed):
    (result,) = run_special_values(
        table(tmp_path, {**SUM, "inputs": "-0.0;-0.0", "out_infnan": printed})
    )
    assert result.passed == (printed == "-0.0")


def test_nan_equals_nan_only(tmp_path):
    rows = [{**SUM, "inputs": "nan;1.0", "out_infnan": printed} for printed in ("nan", "inf")]
    assert [r.passed for r in run_special_values(table(tmp_path, *rows))] == [True, False]


def test_a_doubtful_figure_is_skipped_and_counts_neither_way(tmp_path):
    doubtful = {**SUM, "out_infnan": "7.0", "likely_infnan": "3.0", "note": "suspect: misprint"}
    (result,) = run_special_values(table(tmp_path, doubtful))
    assert result.skipped
    assert not result.passed
    assert "misprint" in result.message


def test_a_row_that_is_doubtful_in_one_mode_is_checked_in_the_other(tmp_path):
    row = {**SUM, "out_sat": "9.0", "likely_sat": "3.0", "note": "suspect: in saturation mode"}
    right, wrong = run_special_values(table(tmp_path, row, {**row, "out_infnan": "4.0"}))
    assert right.passed
    assert not wrong.passed
    assert not wrong.skipped


def test_a_call_that_is_not_there_fails_with_the_reason(tmp_path):
    (result,) = run_special_values(table(tmp_path, {**SUM, "api": "Frobnicate"}))
    assert not result.passed
    assert not result.skipped
    assert "Frobnicate is not built" in result.message


def examples(tmp_path, **changes):
    example = {
        "id": "add",
        "api": "Add",
        "arch": ["2201", "3510"],
        "form": "count",
        "dtypes": {"src0": "int16_t", "src1": "int16_t", "dst": "int16_t"},
        "params": {"count": 32},
        "inputs": {"src0": {"arange": [0, 32, 1]}, "src1": {"full": [5, 32]}},
        "expected": {"dst": {"arange": [5, 37, 1]}},
        "unwritten": [],
        **changes,
    }
    path = tmp_path / "examples.json"
    path.write_text(json.dumps({"examples": [example]}), encoding="utf-8")
    return path


def test_an_example_runs_on_every_architecture_it_names(tmp_path):
    (result,) = run_page_examples(examples(tmp_path))
    assert result.passed
    assert result.arch == "2201, 3510"


def test_a_wrong_example_fails_with_the_first_difference(tmp_path):
    path = examples(tmp_path, expected={"dst": {"full": [5, 32]}})
    (result,) = run_page_examples(path)
    assert not result.passed
    assert "[1] expected 5, got 6" in result.message
    assert "on 950" in result.message


def test_a_write_into_what_must_stay_is_a_failure(tmp_path):
    (result,) = run_page_examples(examples(tmp_path, unwritten=[[16, 32]]))
    assert not result.passed
    assert "must stay" in result.message


def test_files_are_told_apart_by_their_content(tmp_path):
    assert holds_isa_cases(table(tmp_path, SUM))
    assert holds_isa_cases(examples(tmp_path))
    other = tmp_path / "other.json"
    other.write_text('{"cases": []}', encoding="utf-8")
    assert not holds_isa_cases(other)
    strange = tmp_path / "strange.csv"
    strange.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(ConfigError):
        run_cases(strange)


def test_one_api_and_architecture_can_be_chosen(tmp_path):
    path = table(tmp_path, SUM, {**SUM, "id": "950", "arch": "3510"}, {**SUM, "api": "Sub"})
    assert [r.id for r in run_cases(path, api="Add", arch="3510")] == ["950"]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("full(3:-0.0)", [-0.0] * 3),
        ("cycle(5:1.0,2.0)", [1.0, 2.0, 1.0, 2.0, 1.0]),
        ("mix(4:inf*1,1.0*3)", [float("inf"), 1.0, 1.0, 1.0]),
        ("range(3:2.0,0.5)", [2.0, 2.5, 3.0]),
        ("7.5", [7.5]),
    ],
)
def test_patterns_unfold(text, values):
    assert expand(text, BY_NAME["float"]) == values


def test_a_wrapping_range_stays_in_its_type():
    assert expand("wraprange(4:126,1)", BY_NAME["int8_t"]) == [126, 127, -128, -127]


@pytest.mark.parametrize(
    ("notation", "values"),
    [
        ({"arange": [5, 0, -2]}, [5, 3, 1]),
        ({"full": ["nan", 1]}, [float("nan")]),
        ({"concat": [[1], {"full": [2, 2]}]}, [1, 2, 2]),
        ({"fill_at": {"n": 3, "fill": 0, "at": [[1, 9]]}}, [0, 9, 0]),
        ({"scalar": 4}, [4]),
        (["0xff"], [255]),
    ],
)
def test_the_array_notation_unfolds(notation, values):
    assert all(same(a, b) for a, b in zip(unfold(notation), values, strict=True))


@pytest.mark.parametrize("name", ["int4b_t", "fp4x2_e2m1_t", "fp4x2_e1m2_t"])
def test_packed_types_survive_a_round_trip(name):
    dtype = BY_NAME[name]
    values = [-1, 1, 0, 1] if name == "int4b_t" else [-1.0, 1.5, 0.5, -0.0]
    back = from_storage(to_storage(values, dtype), dtype)
    assert all(same(a, b) for a, b in zip(back, values, strict=True))
