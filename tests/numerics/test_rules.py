"""The table of legal pairs and the refusals that teach it."""

from __future__ import annotations

import pytest

from simulator.dtypes import (
    bfloat16_t,
    double,
    float32,
    half,
    hifloat8_t,
    int4b_t,
    int8_t,
    int32_t,
    int64_t,
)
from simulator.enums import Arch, RoundMode
from simulator.errors import ArgumentError, UnsupportedError
from simulator.numerics import Overflow, cast_rules, caster, truncator

A2, A5 = Arch.DAV_2201, Arch.DAV_3510


def test_910b_has_25_pairs_and_950_has_64():
    assert len(cast_rules(A2)) == 25
    assert len(cast_rules(A5)) == 64


def test_every_rule_names_its_source_and_has_a_round_mode():
    for arch in (A2, A5):
        for pair, rule in cast_rules(arch).items():
            assert pair == (rule.src, rule.dst)
            assert "asc-devkit" in rule.source
            assert rule.modes


def test_float_to_half_accepts_seven_modes_and_float_to_bfloat16_five():
    assert {mode.name for mode in cast_rules(A2)[float32, half].modes} == {
        "CAST_NONE",
        "CAST_RINT",
        "CAST_FLOOR",
        "CAST_CEIL",
        "CAST_ROUND",
        "CAST_TRUNC",
        "CAST_ODD",
    }
    assert RoundMode.CAST_NONE not in cast_rules(A2)[float32, bfloat16_t].modes


def test_every_pair_and_mode_of_the_table_can_be_built():
    for arch in (A2, A5):
        for (src, dst), rule in cast_rules(arch).items():
            for mode in rule.modes:
                assert callable(caster(arch, src, dst, mode))


def test_a_missing_pair_is_refused_with_the_pairs_that_exist():
    with pytest.raises(UnsupportedError) as caught:
        caster(A2, half, bfloat16_t, RoundMode.CAST_RINT)
    assert caught.value.got == "half -> bfloat16_t"
    assert caught.value.legal == (
        "half -> int4b_t, int8_t, uint8_t, int16_t, int32_t, float; float -> bfloat16_t"
    )
    assert "910B" in str(caught.value)


def test_a_type_that_casts_to_nothing_says_so():
    with pytest.raises(UnsupportedError) as caught:
        caster(A2, double, int64_t, RoundMode.CAST_TRUNC)
    assert caught.value.legal == "double -> nothing; int32_t, float -> int64_t"


def test_910_has_half_and_float_and_refuses_every_other_pair():
    assert set(cast_rules(Arch.DAV_1001)) == {(half, float32), (float32, half)}
    assert callable(caster(Arch.DAV_1001, half, float32, RoundMode.CAST_NONE))
    with pytest.raises(UnsupportedError):
        caster(Arch.DAV_1001, float32, int32_t, RoundMode.CAST_RINT)
    with pytest.raises(ArgumentError):
        caster(Arch.DAV_1001, float32, half, RoundMode.CAST_RINT)


def test_a_missing_mode_is_refused_with_the_modes_that_exist():
    with pytest.raises(ArgumentError) as caught:
        caster(A2, float32, int32_t, RoundMode.CAST_NONE)
    assert caught.value.got == "CAST_NONE"
    assert caught.value.legal == "CAST_RINT, CAST_FLOOR, CAST_CEIL, CAST_ROUND, CAST_TRUNC"
    with pytest.raises(ArgumentError):
        caster(A5, float32, half, RoundMode.CAST_HYBRID)
    with pytest.raises(ArgumentError):
        caster(A5, half, hifloat8_t, RoundMode.CAST_RINT)


def test_int32_to_half_takes_any_mode_and_ignores_it():
    for arch in (A2, A5):
        assert cast_rules(arch)[int32_t, half].ignores_mode
        for mode in RoundMode:
            assert callable(caster(arch, int32_t, half, mode))


def test_the_overflow_rules_of_the_two_architectures_differ_for_integers():
    assert cast_rules(A2)[half, int8_t].overflow is Overflow.CLAMP
    assert cast_rules(A5)[half, int8_t].overflow is Overflow.CLAMP_OR_LOW_BITS
    assert cast_rules(A2)[float32, float32].overflow is Overflow.INTEGRAL_POSITIVE_ZERO
    assert cast_rules(A5)[float32, float32].overflow is Overflow.INTEGRAL


def test_truncate_exists_on_950_for_three_floats_and_five_modes():
    assert callable(truncator(A5, bfloat16_t, RoundMode.CAST_CEIL))
    with pytest.raises(UnsupportedError):
        truncator(A2, float32, RoundMode.CAST_TRUNC)
    with pytest.raises(UnsupportedError):
        truncator(A5, int4b_t, RoundMode.CAST_TRUNC)
    with pytest.raises(ArgumentError):
        truncator(A5, half, RoundMode.CAST_NONE)


def test_the_same_conversion_is_built_once():
    assert caster(A2, half, int8_t, RoundMode.CAST_RINT) is caster(
        A2, half, int8_t, RoundMode.CAST_RINT
    )
