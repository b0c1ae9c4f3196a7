"""Exp, Ln, roots and reciprocals: rounding, estimates, subnormals and algorithms."""

from fractions import Fraction
from math import exp, isqrt, log

import numpy as np
import pytest
from exact import nearest_even
from harness import on_core

from simulator.ascendc import (
    Abs,
    Div,
    DivAlgo,
    DivConfig,
    Divs,
    Exp,
    ExpAlgo,
    ExpConfig,
    Ln,
    LnAlgo,
    LnConfig,
    Neg,
    Reciprocal,
    ReciprocalAlgo,
    ReciprocalConfig,
    Relu,
    RoundMode,
    Rsqrt,
    RsqrtAlgo,
    RsqrtConfig,
    Sqrt,
    SqrtAlgo,
    SqrtConfig,
    Truncate,
)
from simulator.errors import ArgumentError, UnsupportedError

HALF, FLOAT = np.float16, np.float32
SMALLEST = {HALF: 2.0**-24, FLOAT: 2.0**-149}
NORMAL = {HALF: 2.0**-14, FLOAT: 2.0**-126}


def computed(call, values, dtype, platform="910b", **config):
    array = np.array(values, dtype)
    done = on_core(
        lambda t: call(t.dst, t.src, len(array), **config),
        src=array,
        dst=np.zeros(len(array), dtype),
        platform=platform,
    )
    return done["dst"]


def root(value, dtype):
    """Return the correctly rounded root, from an integer root with 80 bits to spare."""
    exact = Fraction(float(value))
    scaled = exact.numerator * exact.denominator << 320
    whole = isqrt(scaled)
    odd = whole | (whole * whole != scaled)
    return nearest_even(Fraction(odd, exact.denominator << 160), dtype)


@pytest.mark.parametrize("platform", ["910b", "950"])
@pytest.mark.parametrize("dtype", [HALF, FLOAT])
def test_roots_are_correctly_rounded(dtype, platform):
    rng = np.random.default_rng(1)
    values = np.ldexp(1 + rng.random(400), rng.integers(-12, 14, 400)).astype(dtype)
    assert computed(Sqrt, values, dtype, platform).tolist() == [root(v, dtype) for v in values]


@pytest.mark.parametrize("platform", ["910b", "950"])
@pytest.mark.parametrize("dtype", [HALF, FLOAT])
def test_exp_and_ln_are_within_one_unit_in_the_last_place(dtype, platform):
    rng = np.random.default_rng(2)
    values = (rng.random(300) * 16 - 8).astype(dtype)
    powers = computed(Exp, values, dtype, platform)
    np.testing.assert_array_max_ulp(powers, np.array([exp(v) for v in values], dtype), 1, dtype)
    logs = computed(Ln, np.abs(values), dtype, platform)
    exact = np.array([log(abs(v)) for v in values.tolist()])
    np.testing.assert_array_max_ulp(logs, exact.astype(dtype), 1, dtype)


def test_910b_reciprocals_are_the_estimates_printed_in_the_manual():
    half_values = [-7.152, -7.24, 1.771, -1.339, 4.473]
    printed = [-0.1396, -0.1382, 0.5645, -0.748, 0.2231]
    assert computed(Reciprocal, half_values, HALF).tolist() == pytest.approx(printed, abs=5e-5)
    # vrecpe of 1, 2, 3 and 4 on an Arm core.
    assert computed(Reciprocal, [1, 2, 3, 4], FLOAT).tolist() == pytest.approx(
        [0.99805, 0.49902, 0.33301, 0.24951], abs=5e-6
    )
    assert computed(Reciprocal, [3.4028235e38], FLOAT).tolist() == [2.0**-128]


def test_910b_inverse_roots_are_the_estimates_printed_in_the_manual():
    values = [0.8335, 2.2, 2.672, 2.312, 5.36]
    printed = [1.094, 0.676, 0.6113, 0.6562, 0.4316]
    assert computed(Rsqrt, values, HALF).tolist() == pytest.approx(printed, abs=5e-4)


@pytest.mark.parametrize("dtype", [HALF, FLOAT])
def test_910b_estimates_are_within_half_a_percent_everywhere(dtype):
    rng = np.random.default_rng(3)
    values = np.ldexp(1 + rng.random(500), rng.integers(-13, 14, 500)).astype(dtype)
    exact = values.astype(float)
    assert computed(Reciprocal, values, dtype).tolist() == pytest.approx(1 / exact, rel=0.005)
    assert computed(Rsqrt, values, dtype).tolist() == pytest.approx(exact**-0.5, rel=0.005)


@pytest.mark.parametrize("dtype", [HALF, FLOAT])
def test_950_reciprocals_are_rounded_quotients(dtype):
    values = np.array([-7.152, 1.771, 3, 1, -5], dtype)
    inverse = [nearest_even(1 / Fraction(float(v)), dtype) for v in values]
    assert computed(Reciprocal, values, dtype, "950").tolist() == inverse
    roots = [nearest_even(1 / Fraction(root(abs(v), dtype)), dtype) for v in values]
    assert computed(Rsqrt, np.abs(values), dtype, "950").tolist() == roots


@pytest.mark.parametrize("dtype", [HALF, FLOAT])
def test_subnormals_are_kept_on_910b_and_flushed_on_950(dtype):
    small, normal = SMALLEST[dtype], NORMAL[dtype]
    below_exp = -11.0 if dtype is HALF else -95.0
    for call, values, kept, flushed in (
        (Sqrt, [4 * small, normal], [2 * small**0.5, normal**0.5], [0.0, normal**0.5]),
        (Exp, [below_exp], [nearest_even(Fraction(exp(below_exp)), dtype)], [0.0]),
        (Ln, [-0.0, small], [-np.inf, np.array(log(small), dtype)], [-np.inf, -np.inf]),
    ):
        given = computed(call, values, dtype)
        np.testing.assert_array_equal(given, np.array(kept, dtype))
        given = computed(call, values, dtype, "950")
        np.testing.assert_array_equal(given, np.array(flushed, dtype))


KEEPING = [
    (Exp, ExpConfig(ExpAlgo.PRECISION_1ULP_FTZ_FALSE), HALF),
    (Exp, ExpConfig(ExpAlgo.PRECISION_1ULP_FTZ_FALSE), FLOAT),
    (Ln, LnConfig(LnAlgo.PRECISION_1ULP_FTZ_FALSE), HALF),
    (Ln, LnConfig(LnAlgo.PRECISION_1ULP_FTZ_FALSE), FLOAT),
    (Sqrt, SqrtConfig(SqrtAlgo.PRECISION_1ULP_FTZ_FALSE), HALF),
    (Sqrt, SqrtConfig(SqrtAlgo.PRECISION_0ULP_FTZ_FALSE), FLOAT),
    (Sqrt, SqrtConfig(SqrtAlgo.FAST_INVERSE), FLOAT),
    (Rsqrt, RsqrtConfig(RsqrtAlgo.PRECISION_1ULP_FTZ_FALSE), HALF),
    (Rsqrt, RsqrtConfig(RsqrtAlgo.FAST_INVERSE), FLOAT),
    (Reciprocal, ReciprocalConfig(ReciprocalAlgo.PRECISION_1ULP_FTZ_FALSE), HALF),
    (Reciprocal, ReciprocalConfig(ReciprocalAlgo.PRECISION_1ULP_FTZ_FALSE), FLOAT),
]
EXACT = {
    "Exp": exp,
    "Ln": log,
    "Sqrt": lambda v: v**0.5,
    "Rsqrt": lambda v: v**-0.5,
    "Reciprocal": lambda v: 1 / v,
}


@pytest.mark.parametrize(("call", "config", "dtype"), KEEPING)
def test_the_subnormal_algorithms_of_950_keep_subnormals(call, config, dtype):
    subnormal = SMALLEST[dtype] * 300
    value = {"Exp": -10.5 if dtype is HALF else -95.0}.get(call.__name__, subnormal)
    result = computed(call, [value], dtype, "950", config=config)
    exact = EXACT[call.__name__](float(np.array(value, dtype)))
    if exact > float(np.finfo(dtype).max):
        assert result.tolist() == [np.inf]
    else:
        np.testing.assert_array_max_ulp(result, np.array([exact], dtype), 1, dtype)
    flushed = computed(call, [value], dtype, "950")
    assert flushed.tolist() != result.tolist() or result.tolist() == [np.inf]


def test_reciprocals_whose_result_is_subnormal():
    config = ReciprocalConfig(ReciprocalAlgo.PRECISION_1ULP_FTZ_FALSE)
    big = 2.0**127
    assert computed(Reciprocal, [big], FLOAT, "950").tolist() == [0.0]
    assert computed(Reciprocal, [big], FLOAT, "950", config=config).tolist() == [2.0**-127]
    assert computed(Reciprocal, [-big], FLOAT).tolist() == pytest.approx([-(2.0**-127)], rel=0.005)


def quotient(left, right, dtype, platform, **config):
    a, b = np.array(left, dtype), np.array(right, dtype)
    done = on_core(
        lambda t: Div(t.dst, t.a, t.b, len(a), **config),
        a=a,
        b=b,
        dst=np.zeros(len(a), dtype),
        platform=platform,
    )
    return done["dst"].tolist()


@pytest.mark.parametrize("dtype", [HALF, FLOAT])
def test_quotients_are_correctly_rounded_and_flushed_on_950(dtype):
    rng = np.random.default_rng(4)
    low = -13 if dtype is HALF else -126
    a = np.ldexp(1 + rng.random(500), rng.integers(low, -low, 500)).astype(dtype)
    b = np.ldexp(1 + rng.random(500), rng.integers(low // 2, -low // 2, 500)).astype(dtype)
    exact = [Fraction(float(x)) / Fraction(float(y)) for x, y in zip(a, b, strict=True)]
    assert quotient(a, b, dtype, "910b") == [nearest_even(q, dtype) for q in exact]
    flushed = [nearest_even(q, dtype, flush=True) for q in exact]
    assert flushed != [nearest_even(q, dtype) for q in exact]
    assert quotient(a, b, dtype, "950") == flushed


@pytest.mark.parametrize(
    ("algo", "kept"),
    [
        (DivAlgo.INTRINSIC, False),
        (DivAlgo.DIFF_COMPENSATION, False),
        (DivAlgo.PRECISION_1ULP_FTZ_TRUE, False),
        (DivAlgo.PRECISION_0ULP_FTZ_TRUE, False),
        (DivAlgo.PRECISION_0ULP_FTZ_FALSE, True),
        (DivAlgo.PRECISION_1ULP_FTZ_FALSE, True),
    ],
)
def test_every_division_algorithm_flushes_or_keeps(algo, kept):
    result = quotient([2.0**-120, 2.0**-140], [64, 1], FLOAT, "950", config=DivConfig(algo))
    assert result == ([2.0**-126, 2.0**-140] if kept else [2.0**-126, 0.0])


def test_fast_inverse_ends_at_two_to_the_126():
    values = [2.0**126, 2.0**127, np.inf, 4.0]
    fast = computed(Sqrt, values, FLOAT, "950", config=SqrtConfig(SqrtAlgo.FAST_INVERSE))
    assert fast.tolist() == [2.0**63, 0.0, np.inf, 2.0]
    inverse = computed(Rsqrt, values, FLOAT, "950", config=RsqrtConfig(RsqrtAlgo.FAST_INVERSE))
    assert inverse.tolist() == [2.0**-63, np.inf, 0.0, 0.5]


def test_flushing_keeps_the_sign_of_zero():
    result = computed(Sqrt, [-(2.0**-140), 2.0**-140], FLOAT, "950")
    assert np.signbit(result).tolist() == [True, False]
    assert result.tolist() == [0.0, 0.0]


def test_configurations_exist_on_950_only():
    with pytest.raises(UnsupportedError, match="950"):
        computed(Exp, [1], HALF, config=ExpConfig())


def test_a_configuration_of_another_call_is_refused():
    with pytest.raises(ArgumentError, match="ExpConfig"):
        computed(Exp, [1], HALF, "950", config=LnConfig())
    with pytest.raises(ArgumentError, match="no configuration"):
        computed(Abs, [1], HALF, "950", config=ExpConfig())


def test_an_algorithm_without_the_type_is_refused():
    for call, config in (
        (Sqrt, SqrtConfig(SqrtAlgo.FAST_INVERSE)),
        (Rsqrt, RsqrtConfig(RsqrtAlgo.PRECISION_0ULP_FTZ_FALSE)),
    ):
        with pytest.raises(UnsupportedError, match="float"):
            computed(call, [1], HALF, "950", config=config)
    with pytest.raises(UnsupportedError, match="float"):
        quotient([1], [1], HALF, "950", config=DivConfig(DivAlgo.DIFF_COMPENSATION))


@pytest.mark.parametrize("call", [Neg, Truncate, Divs])
def test_calls_of_950_are_refused_on_910b_with_the_name_of_the_product(call):
    extra = {"roundMode": RoundMode.CAST_RINT} if call is Truncate else {}
    arguments = (1.0, 8) if call is Divs else (8,)
    with pytest.raises(UnsupportedError, match="only on 950"):
        on_core(lambda t: call(t.x, t.x, *arguments, **extra), x=np.zeros(8, FLOAT))


@pytest.mark.parametrize("platform", ["910b", "950"])
@pytest.mark.parametrize("dtype", [HALF, FLOAT])
def test_relu_and_abs_clear_the_sign_of_zero(dtype, platform):
    values = [-0.0, 0.0, -1.5, 2.0]
    relu = computed(Relu, values, dtype, platform)
    assert relu.tolist() == [0.0, 0.0, 0.0, 2.0]
    assert not np.signbit(relu).any()
    magnitude = computed(Abs, values, dtype, platform)
    assert magnitude.tolist() == [0.0, 0.0, 1.5, 2.0]
    assert not np.signbit(magnitude).any()


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (RoundMode.CAST_RINT, [-2, 0, 2, 2]),
        (RoundMode.CAST_FLOOR, [-3, 0, 1, 2]),
        (RoundMode.CAST_CEIL, [-2, 1, 2, 3]),
        (RoundMode.CAST_ROUND, [-3, 1, 2, 3]),
        (RoundMode.CAST_TRUNC, [-2, 0, 1, 2]),
    ],
)
def test_truncate_rounds_to_integral_values_of_the_same_type(mode, expected):
    values = np.array([-2.5, 0.5, 1.5, 2.5], HALF)
    done = on_core(lambda t: Truncate(t.x, t.x, 4, roundMode=mode), x=values, platform="950")
    assert done["x"].tolist() == expected


def test_truncate_needs_a_rounding_mode():
    with pytest.raises(ArgumentError, match="CAST_RINT"):
        on_core(lambda t: Truncate(t.x, t.x, 4, roundMode=77), x=np.zeros(4, HALF), platform="950")
