"""Float, double and wide integer sources against Python integers."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.dtypes import BY_NAME
from simulator.enums import Arch, RoundMode
from simulator.numerics import caster

MODES = ("RINT", "FLOOR", "CEIL", "ROUND", "TRUNC")
WORDS = {2: np.uint16, 4: np.uint32, 8: np.uint64, 1: np.uint8}
A2, A5 = Arch.DAV_2201, Arch.DAV_3510


def near(values, storage, word, reach=2):
    """The codes of ``values`` and the codes around them."""
    codes = np.array(values, storage).view(word).astype(np.int64)
    steps = np.arange(-reach, reach + 1)
    return (codes[:, None] + steps).ravel().astype(word)


def float_codes():
    rng = np.random.default_rng(20240501)
    halves = np.arange(0, 1 << 16, 7).astype(np.uint16).view(np.float16)
    halves = halves[np.isfinite(halves)].astype(np.float64)
    with np.errstate(all="ignore"):
        ties = (halves + halves[::-1]) / 2
    exponents = 2.0 ** np.arange(-30, 70)
    edges = [0.0, -0.0, np.inf, -np.inf, np.nan, 65504, 65519.996, 65520, 65535.996, 65536]
    edges += [65552, 448, 464, 465, 480, 57344, 61440, 3.4028234663852886e38, 3.39e38, 32768, 2**31]
    edges += [0.5, 1.5, 2.5, 0.49999997, 8388607.5, 8388609, 2**63, 2**64, 40960, 36864, 49152]
    tiny = 2.0 ** np.arange(-149, -120)
    named = near(
        [*edges, *exponents, *tiny, *(1.5 * exponents), *ties[:2000]], np.float32, np.uint32
    )
    codes = [rng.integers(0, 1 << 32, 4000).astype(np.uint32), named, named ^ np.uint32(1 << 31)]
    spread = rng.standard_normal(6000) * 10.0 ** rng.uniform(-9, 6, 6000)
    codes.append(spread.astype(np.float32).view(np.uint32))
    return np.concatenate(codes)


FLOATS = float_codes()


def run(arch, src, dst, mode, values, **switches):
    convert = caster(arch, BY_NAME[src], BY_NAME[dst], RoundMode[f"CAST_{mode}"], **switches)
    out = np.empty(values.shape, BY_NAME[dst].numpy)
    with np.errstate(all="ignore"):
        convert(values, out)
    return out


@pytest.fixture(scope="module")
def floats(exact):
    return [exact.decode(int(code), "float") for code in FLOATS]


def assert_floats(got, expected):
    nan = np.array([code is None for code in expected])
    with np.errstate(invalid="ignore"):
        is_nan = np.isnan(got.astype(np.float64))
    np.testing.assert_array_equal(is_nan, nan)
    wanted = [0 if code is None else code for code in expected]
    words = got.view(WORDS[got.dtype.itemsize])
    np.testing.assert_array_equal(words[~nan], np.array(wanted, words.dtype)[~nan])


@pytest.mark.parametrize("saturate", [False, True])
@pytest.mark.parametrize("mode", [*MODES, "ODD"])
def test_float_rounds_to_half(exact, floats, mode, saturate):
    got = run(A2, "float", "half", mode, FLOATS.view(np.float32), nonsaturating=not saturate)
    assert_floats(got, [exact.to_float(n, "half", mode, saturate=saturate) for n in floats])


@pytest.mark.parametrize("saturate", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_float_rounds_to_bfloat16(exact, floats, mode, saturate):
    got = run(A2, "float", "bfloat16_t", mode, FLOATS.view(np.float32), nonsaturating=not saturate)
    assert_floats(got, [exact.to_float(n, "bfloat16_t", mode, saturate=saturate) for n in floats])


@pytest.mark.parametrize("dst", ["int16_t", "int32_t", "int64_t"])
@pytest.mark.parametrize("mode", MODES)
def test_float_becomes_an_integer(exact, floats, dst, mode):
    bits = BY_NAME[dst].bits
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    values = FLOATS.view(np.float32)
    clamped = [exact.to_integer(n, mode, low, high, low_bits=False) for n in floats]
    wrapped = [exact.to_integer(n, mode, low, high, low_bits=True) for n in floats]
    np.testing.assert_array_equal(run(A2, "float", dst, mode, values), clamped)
    np.testing.assert_array_equal(run(A5, "float", dst, mode, values), clamped)
    np.testing.assert_array_equal(run(A5, "float", dst, mode, values, cast_truncate=True), wrapped)


@pytest.mark.parametrize("dst", ["int16_t", "int32_t", "int64_t"])
@pytest.mark.parametrize("mode", MODES)
def test_floats_all_in_range_become_integers(exact, dst, mode):
    rng = np.random.default_rng(7)
    values = np.concatenate(
        [rng.uniform(-32768, 32767, 3000), np.arange(-64, 64) / 4, [-32768, 32766.5, 0.49999997]]
    ).astype(np.float32)
    expected = [
        exact.to_integer(exact.decode(int(code), "float"), mode, -32768, 32767, low_bits=False)
        for code in values.view(np.uint32)
    ]
    np.testing.assert_array_equal(run(A2, "float", dst, mode, values), expected)


@pytest.mark.parametrize("mode", MODES)
def test_float_rounds_to_an_integral_float(exact, mode):
    expected = [exact.integral(int(code), "float", mode) for code in FLOATS]
    values = FLOATS.view(np.float32)
    assert_floats(run(A5, "float", "float", mode, values), expected)
    # 910B has no negative zero here: boundary table 32 prints -0 -> +0.
    positive = [0 if code == 1 << 31 else code for code in expected]
    assert_floats(run(A2, "float", "float", mode, values), positive)


@pytest.mark.parametrize("dst", ["fp8_e5m2_t", "fp8_e4m3fn_t"])
@pytest.mark.parametrize("saturate", [False, True])
def test_float_rounds_to_fp8(exact, floats, dst, saturate):
    values = FLOATS.view(np.float32)
    got = run(A5, "float", dst, "RINT", values, nonsaturating=not saturate)
    assert_floats(got, [exact.to_float(n, dst, "RINT", saturate=saturate) for n in floats])


@pytest.mark.parametrize(("dst", "nan"), [("fp8_e5m2_t", 0x7C), ("fp8_e4m3fn_t", 0x7E)])
def test_ctrl_50_keeps_nan_in_a_saturating_cast_to_fp8(dst, nan):
    values = np.array([np.nan, np.inf, -1e9, 1.0], np.float32)
    got = run(A5, "float", dst, "RINT", values, nonsaturating=False, fp8_nan=True)
    assert (got.view(np.uint8)[0] & 0x7F) > nan
    plain = run(A5, "float", dst, "RINT", values, nonsaturating=False)
    np.testing.assert_array_equal(got[1:].view(np.uint8), plain[1:].view(np.uint8))
    assert plain.view(np.uint8)[0] == 0


def double_codes():
    rng = np.random.default_rng(20240502)
    with np.errstate(all="ignore"):
        middles = FLOATS[::16].copy().view(np.float32).astype(np.float64)
    middles = middles[np.isfinite(middles)]
    edges = [
        0.0,
        -0.0,
        np.inf,
        -np.inf,
        np.nan,
        3.4028235677973366e38,
        1e39,
        2**31,
        2**63,
        2**31 - 0.5,
    ]
    named = near(
        [*edges, *middles, *(middles * (1 + 2.0**-24)), *(middles * (1 + 2.0**-9))],
        np.float64,
        np.uint64,
        reach=1,
    )
    return np.concatenate([rng.integers(0, 1 << 64, 4000, dtype=np.uint64), named])


DOUBLES = double_codes()


@pytest.mark.parametrize("dst", ["float", "bfloat16_t"])
@pytest.mark.parametrize("mode", MODES)
def test_double_is_rounded_once(exact, dst, mode):
    got = run(A5, "double", dst, mode, DOUBLES.view(np.float64))
    expected = [
        exact.to_float(exact.decode(int(code), "double"), dst, mode, saturate=False)
        for code in DOUBLES
    ]
    assert_floats(got, expected)


@pytest.mark.parametrize("dst", ["int32_t", "int64_t"])
def test_double_truncates_and_clamps_to_an_integer(exact, dst):
    bits = BY_NAME[dst].bits
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    expected = [
        exact.to_integer(exact.decode(int(code), "double"), "TRUNC", low, high, low_bits=False)
        for code in DOUBLES
    ]
    values = DOUBLES.view(np.float64)
    np.testing.assert_array_equal(run(A5, "double", dst, "TRUNC", values), expected)
    got = run(A5, "double", dst, "TRUNC", values, cast_truncate=True)
    np.testing.assert_array_equal(got, expected)


def integers(bits):
    rng = np.random.default_rng(bits)
    powers = [1 << shift for shift in range(bits - 1)]
    close = [power + step for power in powers for step in range(-3, 4)]
    ties = [(1 << a) + (1 << (a - 24)) * k for a in range(25, bits - 1) for k in (1, 2, 3, -1)]
    wide = [(1 << a) + (1 << (a - 53)) * k for a in range(54, bits - 1) for k in (1, 2, 3, -1)]
    drawn = rng.integers(-(1 << (bits - 1)), (1 << (bits - 1)) - 1, 4000)
    limit = (1 << (bits - 1)) - 1
    chosen = [v for v in (*close, *ties, *wide, limit, limit - 1) if v <= limit]
    return [*map(int, drawn), *chosen, *(-v for v in chosen), -limit - 1]


@pytest.mark.parametrize(
    ("src", "dst"), [("int32_t", "float"), ("int64_t", "float"), ("int64_t", "double")]
)
@pytest.mark.parametrize("mode", MODES)
def test_wide_integers_round_to_floats(exact, src, dst, mode):
    values = integers(BY_NAME[src].bits)
    got = run(A5, src, dst, mode, np.array(values, BY_NAME[src].numpy))
    expected = [exact.to_float((int(v < 0), abs(v), 0), dst, mode, saturate=False) for v in values]
    assert_floats(got, expected)


@pytest.mark.parametrize(
    ("src", "dst"),
    [
        ("int32_t", "uint8_t"),
        ("int32_t", "int16_t"),
        ("int32_t", "uint16_t"),
        ("uint32_t", "uint8_t"),
        ("uint32_t", "int16_t"),
        ("uint32_t", "uint16_t"),
        ("int64_t", "int32_t"),
        ("int32_t", "int64_t"),
    ],
)
def test_wide_integers_narrow_by_clamping_or_low_bits(exact, src, dst):
    source, target = BY_NAME[src], BY_NAME[dst]
    values = integers(source.bits)
    if source.kind == "u":
        values = [value % (1 << source.bits) for value in values]
    low = 0 if target.kind == "u" else -(1 << (target.bits - 1))
    high = low + (1 << target.bits) - 1
    array = np.array(values, source.numpy)
    clamped = [exact.clamp(value, low, high) for value in values]
    wrapped = [exact.wrap(value, low, high) for value in values]
    np.testing.assert_array_equal(run(A5, src, dst, "NONE", array), clamped)
    np.testing.assert_array_equal(run(A5, src, dst, "NONE", array, cast_truncate=True), wrapped)
    inside = np.array([v for v in values if low <= v <= high], source.numpy)
    np.testing.assert_array_equal(run(A5, src, dst, "NONE", inside), inside)


def test_910b_clamps_integers_whatever_the_950_switch_says():
    values = np.array([40000, -40000, 5], np.int32)
    got = run(A2, "int32_t", "int16_t", "NONE", values, cast_truncate=True)
    np.testing.assert_array_equal(got, [32767, -32768, 5])


def test_cast_none_rounds_to_nearest_even_where_it_loses_precision():
    values = np.array([1 + 2**-11, 1 + 3 * 2**-11, 65520], np.float32)
    got = run(A2, "float", "half", "NONE", values)
    np.testing.assert_array_equal(got, np.array([1, 1 + 2**-9, np.inf], np.float16))
    got = run(A2, "int32_t", "float", "NONE", np.array([16777217, 16777219], np.int32))
    np.testing.assert_array_equal(got, np.array([16777216, 16777220], np.float32))
