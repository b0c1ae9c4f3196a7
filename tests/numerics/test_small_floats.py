"""hifloat8_t and the packed 4-bit types of 950, by hand tables and by the published fields."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from simulator.dtypes import BY_NAME
from simulator.enums import Arch, RoundMode
from simulator.errors import ArgumentError
from simulator.numerics import caster, hif8_values

A5 = Arch.DAV_3510
ROUND, HYBRID, NONE = RoundMode.CAST_ROUND, RoundMode.CAST_HYBRID, RoundMode.CAST_NONE


def hif8_value(code: int) -> Fraction | str:
    """Value of a hifloat8_t code read from its bit string, or "nan" or "inf"."""
    text = f"{code:08b}"
    sign = -1 if text[0] == "1" else 1
    rest = text[1:]
    if text == "10000000":
        return "nan"
    if rest == "1101111":
        return "inf"
    if rest.startswith("0000"):
        mantissa = int(rest[4:], 2)
        return sign * Fraction(2) ** (mantissa - 23) if mantissa else Fraction(0)
    if rest.startswith("0001"):
        return sign * (1 + Fraction(int(rest[4:], 2), 8))
    prefix, stored = next(
        (prefix, width)
        for prefix, width in (("001", 0), ("01", 1), ("10", 2), ("11", 3))
        if rest.startswith(prefix)
    )
    field = rest[len(prefix) : len(prefix) + 1 + stored]
    size = int("1" + field[1:], 2)
    exponent = -size if field[0] == "1" else size
    mantissa = rest[len(prefix) + 1 + stored :]
    return sign * Fraction(2) ** exponent * (1 + Fraction(int(mantissa, 2), 1 << len(mantissa)))


CODES = {
    value: code for code in range(255, -1, -1) if isinstance(value := hif8_value(code), Fraction)
}
LADDER = sorted(value for value in CODES if value >= 0)


def nearest_hif8(value: Fraction) -> int:
    """Nearest code, ties away from zero; 1.5 * 2**15 and beyond stand for inf."""
    size = abs(value)
    ladder = [*LADDER, Fraction(3, 2) * 2**15]
    above = next((i for i, step in enumerate(ladder) if step >= size), len(ladder) - 1)
    if above and 2 * size < ladder[above - 1] + ladder[above]:
        above -= 1
    code = 0x6F if above == len(LADDER) else CODES[ladder[above]]
    return code | (0x80 if value < 0 and code else 0)


def cast(values, src, dst, mode, shape=None, **switches):
    convert = caster(A5, BY_NAME[src], BY_NAME[dst], mode, **switches)
    out = np.empty(shape or values.shape, BY_NAME[dst].numpy)
    with np.errstate(all="ignore"):
        convert(values, out)
    return out


def test_every_hif8_code_has_the_value_of_its_fields():
    decoded = [hif8_value(code) for code in range(256)]
    inf = [code for code, value in enumerate(decoded) if value == "inf"]
    assert inf == [0x6F, 0xEF]
    expected = [
        float(value) if isinstance(value, Fraction) else float(value) * (1 - 2 * (code >> 7))
        for code, value in enumerate(decoded)
    ]
    np.testing.assert_array_equal(hif8_values(), np.array(expected, np.float32))
    codes = np.arange(256).astype(np.uint8)
    for dst in ("float", "half"):
        np.testing.assert_array_equal(cast(codes, "hifloat8_t", dst, NONE), expected)


def test_hif8_of_the_page_example_is_minus_14():
    # 1 | 01 | 01 | 110: sign, dot field, exponent 3, mantissa 6/8.
    assert hif8_values()[0b1_01_01_110] == -14


def test_half_rounds_to_the_nearest_hif8_with_ties_away(exact):
    codes = np.arange(1 << 16).astype(np.uint16)
    got = cast(codes.view(np.float16), "half", "hifloat8_t", ROUND)
    clamped = cast(codes.view(np.float16), "half", "hifloat8_t", ROUND, nonsaturating=False)
    for code in range(0, 1 << 16, 3):
        sign, significand, exponent = exact.decode(code, "half")
        if significand is None:
            wanted, limited = 0x80, 0
        elif significand == -1:
            wanted, limited = (0xEF, 0xEE) if sign else (0x6F, 0x6E)
        else:
            value = Fraction(significand) * Fraction(2) ** exponent
            wanted = nearest_hif8(-value if sign else value)
            limited = wanted - ((wanted & 0x7F) == 0x6F)
        assert (got[code], clamped[code]) == (wanted, limited), hex(code)


def test_float_rounds_to_the_nearest_hif8_with_ties_away(exact):
    rng = np.random.default_rng(8)
    middles = [float((a + b) / 2) for a, b in pairwise(LADDER)]
    named = np.array([*map(float, LADDER), *middles, 40959.996, 40960, 49152, 1e-8], np.float32)
    around = (named.view(np.uint32)[:, None].astype(np.int64) + np.arange(-1, 2)).ravel()
    drawn = (rng.standard_normal(3000) * 2.0 ** rng.uniform(-26, 17, 3000)).astype(np.float32)
    bits = np.concatenate([np.maximum(around, 0).astype(np.uint32), drawn.view(np.uint32)])
    bits = np.concatenate([bits, bits ^ np.uint32(1 << 31)])
    got = cast(bits.view(np.float32), "float", "hifloat8_t", ROUND)
    for code, result in zip(bits, got, strict=True):
        sign, significand, exponent = exact.decode(int(code), "float")
        value = Fraction(significand) * Fraction(2) ** exponent
        assert result == nearest_hif8(-value if sign else value), hex(code)


def hybrid_by_bit_string(text: str, exponent_bits: int, compared: int, threshold: int) -> int:
    """The pseudo-code of the Reg Cast page on a normalised word, written with strings."""
    sign, bias = text[0], (1 << (exponent_bits - 1)) - 1
    exponent = int(text[1 : 1 + exponent_bits], 2) - bias
    mantissa = text[1 + exponent_bits :]
    if exponent > 15:
        return 0x80 if exponent == bias + 1 and "1" in mantissa else 0x6F | int(sign) << 7
    if exponent < -23:
        return 0
    if exponent == -23:
        up = int(("1" + mantissa)[:compared], 2) >= threshold
        return (1 | int(sign) << 7) if up else 0
    size = abs(exponent)
    width = 3 if size < 4 else 2 if size < 8 else 1 if size < 16 else 0
    kept, dropped = mantissa[:width], mantissa[width:]
    up = dropped[0] == "1" if size < 4 else int(dropped[:compared], 2) >= threshold
    value = Fraction(int("1" + kept, 2) + up, 1 << width) * Fraction(2) ** exponent
    code = 0x6F if value >= Fraction(3, 2) * 2**15 else CODES[value]
    return code | int(sign) << 7


def test_hybrid_rounding_of_float_compares_with_its_low_14_bits():
    rng = np.random.default_rng(9)
    bits = rng.integers(0, 1 << 23, 6000) | rng.integers(127 - 26, 127 + 18, 6000) << 23
    bits = (bits | rng.integers(0, 2, 6000) << 31).astype(np.uint32)
    got = cast(bits.view(np.float32), "float", "hifloat8_t", HYBRID)
    for code, result in zip(map(int, bits), got, strict=True):
        assert result == hybrid_by_bit_string(f"{code:032b}", 8, 14, code & 0x3FFF), hex(code)


def test_hybrid_rounding_by_hand():
    # 0x41840000 is 16.5: bits 20 to 7 of the word are 2048, plus 16 from the 2064 in the low bits.
    words = np.array([0x41840000 | 2064, 0x41840000 | 2065, 0x3F800000], np.uint32)
    got = cast(words.view(np.float32), "float", "hifloat8_t", HYBRID)
    np.testing.assert_array_equal(hif8_values()[got], [20, 16, 1])
    special = np.array([np.nan, np.inf, -np.inf, 0, -0.0], np.float32)
    got = cast(special, "float", "hifloat8_t", HYBRID)
    np.testing.assert_array_equal(got, [0x80, 0x6F, 0xEF, 0, 0])


def test_hybrid_rounding_of_half_compares_two_bits_with_the_lowest_and_a_one():
    codes = np.concatenate([np.arange(0x400, 0x7C00), np.arange(0x8400, 0xFC00)]).astype(np.uint16)
    got = cast(codes.view(np.float16), "half", "hifloat8_t", HYBRID)
    for code, result in zip(map(int, codes), got, strict=True):
        threshold = (code & 1) << 1 | 1
        assert result == hybrid_by_bit_string(f"{code:016b}", 5, 2, threshold), hex(code)


def test_hybrid_rounding_of_a_half_subnormal_uses_its_value_and_stored_bit():
    # 3 * 2**-24: exponent -23, leading bits 11 against 11. 5 * 2**-24: exponent -22, bits 01 < 11.
    # 6 * 2**-24: exponent -22, bits 10 >= 01. 2**-24: below half of the smallest code.
    codes = np.array([3, 5, 6, 1], np.uint16)
    got = cast(codes.view(np.float16), "half", "hifloat8_t", HYBRID)
    np.testing.assert_array_equal(got, [1, 1, 2, 0])


E2M1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
E1M2 = [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75]


@pytest.mark.parametrize(("src", "values"), [("fp4x2_e2m1_t", E2M1), ("fp4x2_e1m2_t", E1M2)])
def test_a_packed_fp4_byte_holds_the_even_element_in_its_low_nibble(src, values):
    table = [*values, *(-value for value in values)]
    codes = np.arange(256).astype(np.uint8)
    got = cast(codes, src, "bfloat16_t", NONE, shape=(512,)).astype(np.float32)
    expected = [table[nibble] for code in range(256) for nibble in (code & 15, code >> 4)]
    np.testing.assert_array_equal(got, np.array(expected, np.float32))
    np.testing.assert_array_equal(np.signbit(got[::2]), (codes & 15) >= 8)


@pytest.mark.parametrize("dst", ["half", "int16_t", "bfloat16_t"])
def test_int4_unpacks_signed_nibbles(dst):
    codes = np.arange(256).astype(np.uint8)
    got = cast(codes, "int4b_t", dst, NONE, shape=(512,)).astype(np.float32)
    expected = [
        nibble - 16 * (nibble > 7) for code in range(256) for nibble in (code & 15, code >> 4)
    ]
    np.testing.assert_array_equal(got, expected)


def test_int4_packs_the_even_element_low_and_keeps_the_shape_of_the_rest():
    src = np.arange(-8, 8).astype(np.float16).reshape(2, 2, 4)
    out = cast(src, "half", "int4b_t", RoundMode.CAST_RINT, shape=(2, 2, 2))
    np.testing.assert_array_equal(out.ravel(), [0x98, 0xBA, 0xDC, 0xFE, 0x10, 0x32, 0x54, 0x76])
    back = cast(out, "int4b_t", "half", NONE, shape=src.shape)
    np.testing.assert_array_equal(back, src)


def test_an_odd_count_of_4_bit_elements_is_refused():
    with pytest.raises(ArgumentError) as caught:
        cast(np.zeros(3, np.float16), "half", "int4b_t", RoundMode.CAST_RINT, shape=(1,))
    assert caught.value.got == "3 elements"
    with pytest.raises(ArgumentError):
        cast(np.zeros(1, np.uint8), "int4b_t", "half", NONE, shape=(1,))


@pytest.mark.parametrize(
    ("name", "bias", "mantissa_bits", "top"),
    [("fp8_e5m2_t", 15, 2, 0x7C), ("fp8_e4m3fn_t", 7, 3, 0x7F)],
)
def test_fp8_codes_have_the_value_of_their_fields(name, bias, mantissa_bits, top):
    codes = np.arange(top).astype(np.uint8)
    got = cast(codes.view(BY_NAME[name].numpy), name, "float", NONE)
    for code, value in enumerate(got):
        exponent, mantissa = code >> mantissa_bits, code & ((1 << mantissa_bits) - 1)
        significand = mantissa + (exponent > 0) * (1 << mantissa_bits)
        scale = Fraction(2) ** (max(exponent, 1) - bias - mantissa_bits)
        assert Fraction(float(value)) == significand * scale
