"""Conversions with a scale against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simulator.dtypes import half, int8_t, int32_t, uint8_t
from simulator.enums import Arch, RoundMode
from simulator.errors import ArgumentError, UnsupportedError
from simulator.numerics import caster, dequantizer

A2, A5 = Arch.DAV_2201, Arch.DAV_3510


def float_code(exact, value: Fraction, name: str) -> int:
    """Code of the value rounded to nearest even; the denominator is a power of two."""
    sign, size = int(value < 0), abs(value)
    exponent = -(size.denominator.bit_length() - 1)
    code = exact.encode(sign, size.numerator, exponent, name, "RINT")
    return code | sign << (15 if name == "half" else 31)


def fraction_of(exact, code: int, name: str) -> Fraction:
    sign, significand, exponent = exact.decode(code, name)
    value = Fraction(significand) * Fraction(2) ** exponent
    return -value if sign else value


@pytest.mark.parametrize("arch", [A2, A5])
@pytest.mark.parametrize("scale", [1.0, 0.1, -0.0371, 1024.0, 6e-8])
def test_int32_to_half_rounds_source_product_and_result(exact, arch, scale):
    rng = np.random.default_rng(5)
    values = np.concatenate(
        [
            rng.integers(-(2**31), 2**31 - 1, 800),
            rng.integers(-70000, 70000, 800),
            [0, 1, -1, 2049, 2051, 16777217, 65504, 65520, 2**31 - 1, -(2**31)],
        ]
    ).astype(np.int32)
    out = np.empty(values.shape, np.float16)
    with np.errstate(over="ignore", under="ignore"):
        caster(arch, int32_t, half, RoundMode.CAST_TRUNC, scale=scale)(values, out)
    factor = fraction_of(exact, int(np.float16(scale).view(np.uint16)), "half")
    for value, code in zip(values, out.view(np.uint16), strict=True):
        source = fraction_of(exact, float_code(exact, Fraction(int(value)), "float"), "float")
        product = fraction_of(exact, float_code(exact, source * factor, "float"), "float")
        wanted = float_code(exact, product, "half")
        assert code & 0x7FFF == wanted & 0x7FFF, (value, scale)
        assert product == 0 or code >> 15 == wanted >> 15


def test_int32_to_half_saturates_with_ctrl_48_clear():
    values = np.array([2**31 - 1, -(2**31), 7], np.int32)
    out = np.empty(3, np.float16)
    with np.errstate(over="ignore"):
        caster(A2, int32_t, half, RoundMode.CAST_NONE, nonsaturating=False)(values, out)
    np.testing.assert_array_equal(out, [65504, -65504, 7])


# (source, scale, offset, int8_t, uint8_t) by hand.
ROWS = [
    (100, 1.0, 0, 100, 100),
    (-5, 1.0, 0, -5, 0),
    (300, 1.0, 0, 127, 255),
    (-300, 1.0, 0, -128, 0),
    (5, 0.5, 0, 2, 2),  # 2.5 to nearest even
    (7, 0.5, 0, 4, 4),  # 3.5 to nearest even
    (300, 1.0, -100, 127, 155),  # 300 clamps to 255 before the offset
    (-300, 1.0, 200, -56, 0),  # -300 clamps to -256 before the offset
    (32767, 4.0, 0, 127, 255),
    (0, float("inf"), 9, 9, 9),  # 0 * inf is NaN, which gives 0
]


@pytest.mark.parametrize(("source", "scale", "offset", "signed", "unsigned"), ROWS)
def test_int16_dequantises_to_8_bits(source, scale, offset, signed, unsigned):
    values = np.array([source], np.int16)
    for dst, wanted in ((int8_t, signed), (uint8_t, unsigned)):
        out = np.empty(1, dst.numpy)
        with np.errstate(invalid="ignore"):
            dequantizer(dst, scale, offset)(values, out)
        assert out[0] == wanted


def test_only_ten_mantissa_bits_of_the_scale_count():
    # 2**-10 * (1 + 2**-10) * 512 is above one half, 2**-10 * (1 + 2**-11) * 512 would be too, but
    # its eleventh bit is dropped, and one half rounds to the even 0.
    for tail, wanted in ((2.0**-10, 1), (2.0**-11, 0)):
        out = np.empty(1, np.int8)
        dequantizer(int8_t, 2.0**-10 * (1 + tail), 0)(np.array([512], np.int16), out)
        assert out[0] == wanted


def test_sixteen_scales_and_offsets_apply_along_the_last_axis():
    values = np.full((3, 16), 10, np.int16)
    out = np.empty((3, 16), np.int8)
    dequantizer(int8_t, np.arange(16.0), np.arange(16) - 8)(values, out)
    np.testing.assert_array_equal(
        out, np.tile([min(10 * j + j - 8, 127) for j in range(16)], (3, 1))
    )


def test_only_8_bit_destinations_and_9_bit_offsets_are_accepted():
    with pytest.raises(UnsupportedError):
        dequantizer(half, 1.0, 0)
    for offset in (256, -257):
        with pytest.raises(ArgumentError):
            dequantizer(int8_t, 1.0, offset)
