"""Published special values of Cast, Truncate and CastDequant, row by row, in both modes.

Rows whose printed figure cannot be met are listed with the reason; a listed row must really differ,
so that a figure mended at its source does not stay on the list.
The table is that of tests/data; ``likely_*`` columns hold what neighbouring rows and IEEE imply.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from simulator.dtypes import BY_NAME
from simulator.enums import Arch, RoundMode
from simulator.errors import UnsupportedError
from simulator.numerics import cast_rules, caster, dequantizer, truncator

TABLE = Path(__file__).parents[1] / "data" / "special_values.csv"
APIS = ("Cast", "Truncate", "CastDequant")

# The boundary table of 910B lists these although Cast rejects them (use CastDequant).
REJECTED = {"BV9-T32-4275", "BV9-T32-4277"}
# Only the register-based Cast has fp8_e8m0_t.
REGISTER_ONLY = {
    "BV5-T34-8509",
    "BV5-T34-8510",
    "BV5-T34-8512",
    "BV5-T34-8513",
    "BV5-T34-8514",
    "BV5-T34-8520",
    "BV5-T34-8521",
}

MISPRINTS = {
    "BV9-T32-4187": "65504 does not fit int16_t",
    "BV9-T32-4192": "65504 does not fit int16_t",
    "BV9-T32-4211": "32767 is exact in float, 32768 printed",
    "BV9-T32-4229": "the truncated value is printed, the mode is not stated",
    "BV5-T33-8332": "the minus sign of zero is lost in print",
    "BV5-T33-8339": "the minus sign of zero is lost in print",
    "BV5-T34-8378": "32767 does not fit half",
    "BV5-T34-8383": "an int32_t row in the uint16_t block repeats the uint16_t figure",
    "BV5-T34-8450": "half to int16_t printed clamped, half to int8_t and float to int16_t wrap",
    "BV5-T34-8451": "half to int16_t printed clamped, half to int8_t and float to int16_t wrap",
}


# Codes of the fp4 values that the tables print.
FP4_E2M1 = {0.0: 0, 6.0: 7, -6.0: 15}
FP4_E1M2 = {0.0: 0, 1.75: 7, -1.75: 15}


def rows():
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["api"] in APIS]


ROWS = rows()


def legal_mode(rule):
    """Nearest even where the pair rounds: the tables do not state the mode."""
    for mode in (RoundMode.CAST_RINT, RoundMode.CAST_NONE):
        if mode in rule.modes:
            return mode
    return min(rule.modes)


def conversion(row, arch, src, dst, saturating):
    if row["api"] == "Truncate":
        return truncator(arch, src, RoundMode.CAST_TRUNC)
    if row["api"] == "CastDequant" and dst.bits == 8:
        return dequantizer(dst, 1.0, 0)
    rule = cast_rules(arch).get((src, dst))
    mode = legal_mode(rule) if rule else RoundMode.CAST_RINT
    # On 950 the table's INF/NAN column shows integers that keep their low bits: CTRL[59].
    return caster(arch, src, dst, mode, nonsaturating=not saturating, cast_truncate=not saturating)


def codes_of(token, dtype):
    """The value of ``token`` in storage; a packed type holds it in both nibbles."""
    values = {
        "int4b_t": lambda: (int(token) & 15) * 17,
        "fp4x2_e2m1_t": lambda: FP4_E2M1[float(token)] * 17,
        "fp4x2_e1m2_t": lambda: FP4_E1M2[float(token)] * 17,
    }
    if dtype.name in values:
        return np.array([values[dtype.name]()], np.uint8)
    number = int(token) if dtype.kind in "iu" else float(token)
    return np.array([number], dtype.numpy)


def result(row, saturating):
    arch = Arch(row["arch"])
    names = [row["src_dtypes"], row["dst_dtype"]]
    src, dst = (BY_NAME["fp8_e4m3fn_t" if name == "fp8_e4m3_t" else name] for name in names)
    convert = conversion(row, arch, src, dst, saturating)
    packed = ("int4b_t", "fp4x2_e2m1_t", "fp4x2_e1m2_t")
    values = codes_of(row["inputs"], src)
    if dst.name in packed:
        values = values.repeat(2)
    out = np.empty(2 if src.name in packed else 1, dst.numpy)
    with np.errstate(all="ignore"):
        convert(values, out)
    if dst.name in packed:
        # Both nibbles hold the element; compare codes with the code of the printed figure.
        assert out[0] >> 4 == out[0] & 15
        return out, True
    return out.astype(np.float64) if dst.kind == "f" else out, False


def meets(row, column, printed):
    got, is_code = result(row, column.endswith("sat"))
    dst = BY_NAME["fp8_e4m3fn_t" if row["dst_dtype"] == "fp8_e4m3_t" else row["dst_dtype"]]
    if is_code:
        return bool(got[0] == codes_of(printed, dst)[0])
    if dst.kind != "f":
        return int(got[0]) == int(printed)
    wanted, value = float(printed), float(got[0])
    if math.isnan(wanted):
        return math.isnan(value)
    if math.isinf(wanted):
        return value == wanted
    same_sign = math.copysign(1, wanted) == math.copysign(1, value)
    return same_sign and abs(value - wanted) <= float(row["tol"])


def has_pair(row):
    return row["id"] not in REJECTED | REGISTER_ONLY


@pytest.mark.parametrize("row", [r for r in ROWS if has_pair(r)], ids=lambda row: row["id"])
def test_the_printed_value_comes_out_in_both_modes(row):
    checked = 0
    for column in ("out_infnan", "out_sat"):
        likely = row[column.replace("out", "likely")]
        # A blank cell says nothing; a doubtful cell is replaced by what its neighbours imply.
        printed = likely or row[column]
        if not printed:
            continue
        assert meets(row, column, printed), (column, result(row, column.endswith("sat")))
        checked += 1
        if likely:
            assert row["id"] in MISPRINTS
            assert not meets(row, column, row[column])
    assert checked


def test_the_list_of_misprints_is_complete_and_has_no_strangers():
    doubtful = [row for row in ROWS if row["likely_infnan"] or row["likely_sat"]]
    assert set(MISPRINTS) == {row["id"] for row in doubtful if has_pair(row)}


@pytest.mark.parametrize("row", [r for r in ROWS if not has_pair(r)], ids=lambda row: row["id"])
def test_rows_of_pairs_that_the_call_does_not_have_are_refused(row):
    with pytest.raises(UnsupportedError):
        result(row, saturating=False)
