"""Every bit pattern of the 16-bit sources against Python integers."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.dtypes import BY_NAME
from simulator.enums import Arch, RoundMode
from simulator.numerics import cast_rules, caster, truncator

MODES = ("RINT", "FLOOR", "CEIL", "ROUND", "TRUNC")
RANGES = {
    "int4b_t": (-8, 7),
    "int8_t": (-128, 127),
    "uint8_t": (0, 255),
    "int16_t": (-32768, 32767),
    "uint16_t": (0, 65535),
    "int32_t": (-(2**31), 2**31 - 1),
    "uint32_t": (0, 2**32 - 1),
}
CODES = np.arange(1 << 16).astype(np.uint16)


def run(convert, src_name, dst_name):
    """Result of all codes as an array of words, one entry an element."""
    src, dst = BY_NAME[src_name], BY_NAME[dst_name]
    packed = dst_name == "int4b_t" or dst_name.startswith("fp4")
    out = np.empty(len(CODES) // (2 if packed else 1), dst.numpy)
    with np.errstate(all="ignore"):
        convert(CODES.view(src.numpy), out)
    if packed:
        return np.stack([out & 15, out >> 4], axis=-1).ravel()
    return out


@pytest.mark.parametrize("arch", [Arch.DAV_2201, Arch.DAV_3510])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("src", ["half", "bfloat16_t"])
def test_floats_become_integers_by_rounding_and_then_clamping(exact, arch, src, mode):
    for (source, dst), rule in cast_rules(arch).items():
        if source.name != src or dst.kind == "f":
            continue
        assert RoundMode[f"CAST_{mode}"] in rule.modes
        for low_bits in (False, True):
            convert = caster(arch, source, dst, RoundMode[f"CAST_{mode}"], cast_truncate=low_bits)
            got = run(convert, src, dst.name)
            low, high = RANGES[dst.name]
            # 910B has no switch; half fits int32_t, so 950 has none for it either.
            keeps_low_bits = low_bits and arch is Arch.DAV_3510
            expected = np.array(
                [
                    exact.to_integer(number, mode, low, high, low_bits=keeps_low_bits)
                    for number in exact.all_codes(src)
                ]
            )
            if dst.name == "int4b_t":
                expected &= 15
            np.testing.assert_array_equal(got, expected, err_msg=f"{dst} {low_bits}")


@pytest.mark.parametrize("saturate", [False, True])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("src", "dst"), [("half", "bfloat16_t"), ("bfloat16_t", "half")])
def test_half_and_bfloat16_convert_into_each_other(exact, src, dst, mode, saturate):
    convert = caster(
        Arch.DAV_3510,
        BY_NAME[src],
        BY_NAME[dst],
        RoundMode[f"CAST_{mode}"],
        nonsaturating=not saturate,
    )
    got = run(convert, src, dst)
    # half fits bfloat16_t: inf and NaN pass even while saturating (boundary table of 950).
    clamps = saturate and dst == "half"
    expected = [
        exact.to_float(number, dst, mode, saturate=clamps) for number in exact.all_codes(src)
    ]
    assert_codes(got.view(np.uint16), expected, got)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dst", ["fp4x2_e2m1_t", "fp4x2_e1m2_t"])
def test_bfloat16_rounds_to_fp4_and_never_leaves_its_range(exact, dst, mode):
    convert = caster(Arch.DAV_3510, BY_NAME["bfloat16_t"], BY_NAME[dst], RoundMode[f"CAST_{mode}"])
    expected = [
        exact.to_float(number, dst, mode, saturate=True) for number in exact.all_codes("bfloat16_t")
    ]
    np.testing.assert_array_equal(run(convert, "bfloat16_t", dst), expected)


@pytest.mark.parametrize("arch", [Arch.DAV_2201, Arch.DAV_3510])
@pytest.mark.parametrize("mode", MODES)
def test_int16_rounds_to_half(exact, arch, mode):
    convert = caster(arch, BY_NAME["int16_t"], BY_NAME["half"], RoundMode[f"CAST_{mode}"])
    expected = [
        exact.to_float(number, "half", mode, saturate=False)
        for number in exact.all_codes("int16_t")
    ]
    np.testing.assert_array_equal(run(convert, "int16_t", "half").view(np.uint16), expected)


@pytest.mark.parametrize("low_bits", [False, True])
@pytest.mark.parametrize(
    ("src", "dst"),
    [
        ("int16_t", "int4b_t"),
        ("int16_t", "uint8_t"),
        ("int16_t", "int32_t"),
        ("int16_t", "uint32_t"),
        ("uint16_t", "uint8_t"),
        ("uint16_t", "uint32_t"),
    ],
)
def test_16_bit_integers_convert_to_integers(exact, src, dst, low_bits):
    convert = caster(
        Arch.DAV_3510,
        BY_NAME[src],
        BY_NAME[dst],
        RoundMode.CAST_NONE,
        cast_truncate=low_bits,
    )
    low, high = RANGES[dst]
    # Widening to unsigned only ever clamps (Reg Cast page).
    limit = exact.wrap if low_bits and dst != "uint32_t" else exact.clamp
    values = [-number if sign else number for sign, number, _ in exact.all_codes(src)]
    expected = np.array([limit(value, low, high) for value in values])
    if dst == "int4b_t":
        expected &= 15
    np.testing.assert_array_equal(run(convert, src, dst), expected)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["half", "bfloat16_t"])
def test_truncate_rounds_16_bit_floats_to_integral_ones(exact, dtype, mode):
    convert = truncator(Arch.DAV_3510, BY_NAME[dtype], RoundMode[f"CAST_{mode}"])
    got = run(convert, dtype, dtype)
    expected = [exact.integral(code, dtype, mode) for code in range(1 << 16)]
    assert_codes(got.view(np.uint16), expected, got)


@pytest.mark.parametrize("src", ["half", "bfloat16_t"])
def test_widening_to_float_is_exact(exact, src):
    convert = caster(Arch.DAV_2201, BY_NAME[src], BY_NAME["float"], RoundMode.CAST_NONE)
    got = run(convert, src, "float")
    expected = [
        exact.to_float(number, "float", "TRUNC", saturate=False) for number in exact.all_codes(src)
    ]
    assert_codes(got.view(np.uint32), expected, got)


def assert_codes(got, expected, values):
    """Equal words; None in ``expected`` stands for any NaN."""
    nan = np.array([code is None for code in expected])
    with np.errstate(invalid="ignore"):
        is_nan = np.isnan(values.astype(np.float64))
    np.testing.assert_array_equal(is_nan, nan)
    wanted = np.array([0 if code is None else code for code in expected])
    np.testing.assert_array_equal(got[~nan], wanted[~nan])
