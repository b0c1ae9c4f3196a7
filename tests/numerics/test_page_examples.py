"""Worked figures of the vendor's Cast, Truncate and CastDequant pages."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from simulator.dtypes import BY_NAME
from simulator.enums import Arch, RoundMode
from simulator.numerics import caster, dequantizer, truncator

EXAMPLES = json.loads(Path(__file__).with_name("page_examples.json").read_text(encoding="utf-8"))
CASES = [(e, Arch(a)) for e in EXAMPLES["examples"] for a in e["arch"]]


def array(spec, dtype):
    if isinstance(spec, dict):
        assert set(spec) == {"full"}
        spec = [spec["full"][0]] * spec["full"][1]
    return np.array(spec, dtype)


def cast_example(example, arch, mode):
    src, dst = (BY_NAME[example["dtypes"][role]] for role in ("src", "dst"))
    values = array(example["inputs"]["src"], src.numpy)
    out = np.empty(len(values) // (2 if dst.name == "int4b_t" else 1), dst.numpy)
    if example["api"] == "Truncate":
        truncator(arch, src, mode)(values, out)
    else:
        caster(arch, src, dst, mode)(values, out)
    return out


def written(example, size):
    """Elements the call writes; a masked form leaves the rest of the destination alone."""
    mask = np.ones(size, bool)
    for start, stop in example["unwritten"]:
        mask[start:stop] = False
    return mask


def check_cast(example, got):
    if "dst_bytes_int8" in example["expected"]:
        np.testing.assert_array_equal(got.view(np.int8), example["expected"]["dst_bytes_int8"])
        return
    expected = example["expected"]["dst"]
    mask = written(example, len(got))
    wanted = [value for value, keep in zip(expected, mask, strict=True) if keep]
    np.testing.assert_array_equal(got[mask], wanted)


@pytest.mark.parametrize(
    ("example", "arch"),
    [(e, a) for e, a in CASES if e["api"] in ("Cast", "Truncate")],
    ids=lambda value: value["id"] if isinstance(value, dict) else value.family,
)
def test_a_cast_example_gives_the_printed_figures(example, arch):
    mode = RoundMode[example["params"]["roundMode"]]
    check_cast(example, cast_example(example, arch, mode))


def test_the_cast_dequant_example_gives_the_printed_figures():
    (example,) = [e for e in EXAMPLES["examples"] if e["api"] == "CastDequant"]
    params = example["params"]
    values = array(example["inputs"]["src"], np.int16)
    got = np.empty(values.shape, np.uint8)
    dequantizer(BY_NAME["uint8_t"], params["deqScale"], params["offset"])(values, got)
    expected = array(example["expected"]["dst"], np.uint8)
    np.testing.assert_array_equal(got, expected[written(example, len(expected))])
