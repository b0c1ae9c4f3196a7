"""Multiply-adds are rounded twice on 910B and once on 950, checked with exact fractions."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from exact import nearest_even
from harness import on_core

from simulator.ascendc import Axpy, FusedMulAdd, MulAddDst, MulAddRelu
from simulator.core import current_core
from simulator.isa.saturation import SATURATE_FLOAT

BFLOAT16 = ml_dtypes.bfloat16


def finite(rng, dtype, count, low, high):
    """Random values over a range of binary exponents, with ties and cancellations among them."""
    values = rng.choice([-1, 1], count) * np.ldexp(
        1 + rng.integers(0, 1 << 24, count) / (1 << 24), rng.integers(low, high, count)
    )
    return values.astype(dtype)


def triples(dtype, count=1500, span=(-6, 6)):
    rng = np.random.default_rng(5)
    x, y = finite(rng, dtype, count, *span), finite(rng, dtype, count, *span)
    z = finite(rng, dtype, count, 2 * span[0] - 4, 2 * span[1] + 4)
    # Every third sum nearly cancels, which leaves the low bits of the product.
    product = (x.astype(np.float64) * y.astype(np.float64)).astype(dtype)
    z[::3] = -product[::3]
    return x, y, z


def fused(x, y, z, dtype):
    return nearest_even(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)), dtype)


def twice(x, y, z, dtype):
    product = Fraction(nearest_even(Fraction(float(x)) * Fraction(float(y)), dtype))
    return nearest_even(product + Fraction(float(z)), dtype)


ROUNDINGS = {"910b": twice, "950": fused}


@pytest.mark.parametrize("platform", ["910b", "950"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_every_multiply_add_rounds_as_its_architecture(platform, dtype):
    x, y, z = triples(dtype)
    n = len(x)

    def body(t):
        MulAddDst(t.dst, t.x, t.y, n)
        FusedMulAdd(t.fused, t.x, t.z, n)
        MulAddRelu(t.relu, t.x, t.z, n)

    done = on_core(body, x=x, y=y, z=z, dst=z, fused=y, relu=y, platform=platform)
    expected = [ROUNDINGS[platform](*row, dtype) for row in zip(x, y, z, strict=True)]
    assert done["dst"].tolist() == expected
    assert done["fused"].tolist() == expected
    assert done["relu"].tolist() == [max(0.0, value) for value in expected]


@pytest.mark.parametrize("platform", ["910b", "950"])
def test_axpy_rounds_as_its_architecture(platform):
    x, _, z = triples(np.float32)
    scalar = 1.2345678806304932
    done = on_core(lambda t: Axpy(t.dst, t.x, scalar, len(x)), x=x, dst=z, platform=platform)
    expected = [ROUNDINGS[platform](a, scalar, c, np.float32) for a, c in zip(x, z, strict=True)]
    assert done["dst"].tolist() == expected


def test_a_fused_sum_just_off_a_tie_is_not_rounded_twice():
    # 1 + 2**-24 is a tie of float; the product adds 2**-60 of it, lost in a double.
    x = np.array([2.0**-30, -(2.0**-30), 2.0**-30], np.float32)
    y = np.array([2.0**-30, 2.0**-30, 2.0**-30], np.float32)
    z = np.array([1.0, 1.0, 1 + 2.0**-23], np.float32)
    near_tie = np.array([1 + 2.0**-12], np.float32) * np.ones(3, np.float32)
    done = on_core(
        lambda t: (MulAddDst(t.z, t.x, t.y, 3), MulAddDst(t.tie, t.half_step, t.half_step, 3)),
        x=x,
        y=y,
        z=z,
        tie=near_tie,
        half_step=np.full(3, 2.0**-18 + 2.0**-41, np.float32),
        platform="950",
    )
    rows = zip(x, y, z, strict=True)
    assert done["z"].tolist() == [fused(a, b, c, np.float32) for a, b, c in rows]
    step = 2.0**-18 + 2.0**-41
    assert done["tie"].tolist() == [fused(step, step, 1 + 2.0**-12, np.float32)] * 3


@pytest.mark.parametrize("platform", ["910b", "950"])
def test_half_sources_add_exact_products_to_a_float_tensor(platform):
    x, y, _ = triples(np.float16)
    z = finite(np.random.default_rng(6), np.float32, len(x), -12, 12)

    def body(t):
        MulAddDst(t.dst, t.x, t.y, len(x))
        Axpy(t.axpy, t.x, 0.3, len(x))

    done = on_core(body, x=x, y=y, dst=z, axpy=z, platform=platform)
    rows = list(zip(x, y, z, strict=True))
    scalar = np.float16(0.3)
    assert done["dst"].tolist() == [fused(a, b, c, np.float32) for a, b, c in rows]
    assert done["axpy"].tolist() == [fused(a, scalar, c, np.float32) for a, _, c in rows]


def test_bfloat16_is_fused_in_FusedMulAdd_and_not_in_Axpy():
    x, y, z = triples(BFLOAT16)

    def body(t):
        FusedMulAdd(t.fused, t.x, t.z, len(x))
        Axpy(t.axpy, t.x, 1.7, len(x))

    done = on_core(body, x=x, z=z, fused=y, axpy=z, platform="950")
    rows = list(zip(x, y, z, strict=True))
    scalar = BFLOAT16(1.7)
    assert done["fused"].astype(float).tolist() == [fused(*row, BFLOAT16) for row in rows]
    assert done["axpy"].astype(float).tolist() == [
        twice(a, scalar, c, BFLOAT16) for a, _, c in rows
    ]


def test_small_float_sums_are_rounded_at_the_subnormal_unit():
    x, y, z = triples(np.float32, 300, (-75, -70))
    z = (z.astype(np.float64) * 0).astype(np.float32) + np.float32(2.0**-149)
    done = on_core(lambda t: MulAddDst(t.z, t.x, t.y, 300), x=x, y=y, z=z, platform="950")
    rows = zip(x, y, z, strict=True)
    assert done["z"].tolist() == [fused(a, b, c, np.float32) for a, b, c in rows]


def test_910b_rounds_and_clamps_the_product_before_the_sum():
    big, inf = np.float16(65504), np.inf

    def body(t):
        MulAddDst(t.plain, t.x, t.x, 2)
        current_core().numeric_mode = SATURATE_FLOAT
        MulAddDst(t.clamped, t.x, t.x, 2)

    old = np.array([-inf, -65504], np.float16)
    for platform, plain, clamped in (
        ("910b", [np.nan, inf], [-65504, 0]),
        ("950", [-inf, inf], [-65504, 65504]),
    ):
        done = on_core(
            body, x=np.full(2, big), plain=old.copy(), clamped=old.copy(), platform=platform
        )
        np.testing.assert_array_equal(done["plain"], np.array(plain, np.float16))
        assert done["clamped"].tolist() == clamped
