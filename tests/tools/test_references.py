"""The reference models against the operators' published and hand-made cases."""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from tools import references

CASES = Path(__file__).resolve().parents[1] / "data" / "ops_cases"
DTYPES = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


def numeric_cases(name):
    cases = json.loads((CASES / name).read_text(encoding="utf-8"))["cases"]
    return [
        pytest.param(case, id=case["id"])
        for case in cases
        if case["kind"] == "numeric" and case["input"].get("variant", "V2") == "V2"
    ]


def decoded(tensor):
    """Bits and the places where any NaN will do; a NaN input gets the plain quiet pattern."""
    dtype = np.dtype(DTYPES[tensor["dtype"]])
    plain = np.array(np.nan, dtype).view(f"u{dtype.itemsize}").item()
    words = [plain if b == "nan" else int(b, 16) for b in np.ravel(tensor["bits"]).tolist()]
    nan = np.array([b == "nan" for b in np.ravel(tensor["bits"]).tolist()], bool)
    bits = np.array(words, f"u{dtype.itemsize}")
    return bits.view(dtype).reshape(tensor["shape"]), nan


@pytest.mark.parametrize("case", numeric_cases("hardswish_backward_v2.json"))
def test_hardswish_reference_gives_the_expected_bits(case):
    grad, self_ = (decoded(case["input"][name])[0] for name in ("gradOutput", "self"))
    expected, nan = decoded(case["expect"]["out"])
    (out,) = references.hardswish_backward_v2(grad, self_)
    assert out.dtype == expected.dtype
    assert out.shape == expected.shape
    word = f"u{out.dtype.itemsize}"
    flat = np.ascontiguousarray(out).reshape(-1)
    assert np.isnan(flat[nan]).all()
    np.testing.assert_array_equal(
        flat[~nan].view(word), np.ascontiguousarray(expected).reshape(-1)[~nan].view(word)
    )


def test_nan_in_self_passes_the_gradient():
    (out,) = references.hardswish_backward_v2(
        np.array([2.0], np.float16), np.array([np.nan], np.float16)
    )
    assert out.tolist() == [2.0]
