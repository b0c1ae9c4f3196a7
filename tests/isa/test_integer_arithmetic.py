"""Integers wrap, or clamp in saturation mode, whatever their width."""

from itertools import product

import numpy as np
import pytest
from exact import clamp, wrap
from harness import on_core

from simulator.ascendc import (
    Abs,
    Add,
    AddRelu,
    Adds,
    Axpy,
    Div,
    Divs,
    FusedMulAdd,
    Max,
    Maxs,
    Min,
    Mins,
    Mul,
    MulAddDst,
    MulAddRelu,
    Mull,
    Muls,
    Neg,
    Reciprocal,
    Relu,
    Sub,
    SubRelu,
    Subs,
)
from simulator.core import current_core
from simulator.isa.saturation import SATURATE_FLOAT, SATURATE_INT

B16_B32 = ("int16", "int32")
EVERY = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
MODE = {"910b": SATURATE_FLOAT, "950": SATURATE_INT}

TYPES = {
    Add: {"910b": B16_B32, "950": EVERY},
    Sub: {"910b": B16_B32, "950": EVERY},
    Mul: {"910b": B16_B32, "950": EVERY[2:]},
    Max: {"910b": B16_B32, "950": EVERY},
    Min: {"910b": B16_B32, "950": EVERY},
}
SCALAR = ("int8", "uint8", "int16", "int32", "int64", "uint64")
SCALAR_TYPES = {
    Adds: {"910b": B16_B32, "950": SCALAR},
    Subs: {"950": SCALAR[2:]},
    Muls: {"910b": B16_B32, "950": SCALAR[2:]},
    Maxs: {"910b": B16_B32, "950": SCALAR},
    Mins: {"910b": B16_B32, "950": SCALAR},
}
RULES = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Max": max,
    "Min": min,
}
RULES |= {f"{name}s": rule for name, rule in RULES.items()}


def edges(dtype):
    info = np.iinfo(dtype)
    values = [int(info.min), int(info.min) + 1, 0, 1, 3, int(info.max) // 2, int(info.max)]
    return values + ([-1, -2] if info.min else [])


def cases(table):
    return [
        pytest.param(call, platform, dtype, id=f"{call.__name__}-{platform}-{dtype}")
        for call, by_platform in table.items()
        for platform, dtypes in by_platform.items()
        for dtype in dtypes
    ]


@pytest.mark.parametrize(("call", "platform", "dtype"), cases(TYPES))
def test_two_tensors_wrap_or_clamp(call, platform, dtype):
    pairs = list(product(edges(dtype), repeat=2))
    left, right = (np.array(side, dtype) for side in zip(*pairs, strict=True))

    def body(t):
        call(t.wrapped, t.left, t.right, len(pairs))
        current_core().numeric_mode = MODE[platform]
        call(t.clamped, t.left, t.right, len(pairs))

    blank = np.zeros(len(pairs), dtype)
    done = on_core(body, left=left, right=right, wrapped=blank, clamped=blank, platform=platform)
    exact = [RULES[call.__name__](a, b) for a, b in pairs]
    assert done["wrapped"].tolist() == [wrap(value, dtype) for value in exact]
    assert done["clamped"].tolist() == [clamp(value, dtype) for value in exact]


@pytest.mark.parametrize(("call", "platform", "dtype"), cases(SCALAR_TYPES))
def test_a_tensor_and_a_scalar_wrap_or_clamp(call, platform, dtype):
    values = edges(dtype)

    def body(t):
        for i, scalar in enumerate(values):
            call(t.wrapped[16 * i * 8], t.src, scalar, len(values))
        current_core().numeric_mode = MODE[platform]
        for i, scalar in enumerate(values):
            call(t.clamped[16 * i * 8], t.src, scalar, len(values))

    blank = np.zeros(128 * len(values), dtype)
    done = on_core(
        body, src=np.array(values, dtype), wrapped=blank, clamped=blank, platform=platform
    )
    for name, limit in (("wrapped", wrap), ("clamped", clamp)):
        rows = done[name].reshape(-1, 128)[:, : len(values)]
        for scalar, row in zip(values, rows.tolist(), strict=True):
            exact = [RULES[call.__name__](value, scalar) for value in values]
            assert row == [limit(value, dtype) for value in exact]


@pytest.mark.parametrize("dtype", EVERY[2:])
def test_quotients_are_cut_towards_zero_and_division_by_zero_gives_all_ones(dtype):
    pairs = list(product([*edges(dtype), 7], repeat=2))
    left, right = (np.array(side, dtype) for side in zip(*pairs, strict=True))
    done = on_core(
        lambda t: Div(t.dst, t.left, t.right, len(pairs)),
        left=left,
        right=right,
        dst=np.zeros(len(pairs), dtype),
        platform="950",
    )
    ones = wrap(-1, dtype)
    expected = [
        wrap(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1), dtype) if b else ones
        for a, b in pairs
    ]
    assert done["dst"].tolist() == expected


def test_a_scalar_may_be_dividend_and_an_integer_has_a_reciprocal():
    values = np.array([-7, -1, 1, 2, 3, 0], np.int64)

    def body(t):
        Divs(t.quotient, 7, t.src, 6)
        Reciprocal(t.inverse, t.src, 6)

    done = on_core(
        body,
        src=values,
        quotient=np.zeros(6, np.int64),
        inverse=np.zeros(6, np.int64),
        platform="950",
    )
    assert done["quotient"].tolist() == [-1, -7, 7, 3, 2, -1]
    assert done["inverse"].tolist() == [0, -1, 1, 0, 0, -1]


@pytest.mark.parametrize("dtype", ["int32", "uint32"])
def test_mull_gives_both_words_of_a_product(dtype):
    pairs = list(product(edges(dtype), repeat=2))
    left, right = (np.array(side, dtype) for side in zip(*pairs, strict=True))
    blank = np.zeros(len(pairs), dtype)
    done = on_core(
        lambda t: Mull(t.low, t.high, t.left, t.right, len(pairs)),
        left=left,
        right=right,
        low=blank,
        high=blank,
        platform="950",
    )
    assert done["low"].tolist() == [wrap(a * b, dtype) for a, b in pairs]
    assert done["high"].tolist() == [(a * b) >> 32 for a, b in pairs]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_abs_and_neg_of_the_least_integer_stay_itself(dtype):
    values = np.array(edges(dtype), dtype)

    def body(t):
        Abs(t.magnitude, t.src, len(values))
        Neg(t.opposite, t.src, len(values))

    blank = np.zeros(len(values), dtype)
    done = on_core(body, src=values, magnitude=blank, opposite=blank, platform="950")
    assert done["magnitude"].tolist() == [wrap(abs(v), dtype) for v in values.tolist()]
    assert done["opposite"].tolist() == [wrap(-v, dtype) for v in values.tolist()]


@pytest.mark.parametrize(("platform", "dtype"), [("910b", "int32"), ("950", "int64")])
def test_relu_of_integers(platform, dtype):
    values = np.array(edges(dtype), dtype)
    done = on_core(lambda t: Relu(t.x, t.x, len(values)), x=values, platform=platform)
    assert done["x"].tolist() == [max(0, v) for v in values.tolist()]


@pytest.mark.parametrize("platform", ["910b", "950"])
@pytest.mark.parametrize("call", [AddRelu, SubRelu])
def test_rectified_sums_wrap_before_they_are_rectified(call, platform):
    pairs = list(product(edges("int16"), repeat=2))
    left, right = (np.array(side, np.int16) for side in zip(*pairs, strict=True))

    def body(t):
        call(t.wrapped, t.left, t.right, len(pairs))
        current_core().numeric_mode = MODE[platform]
        call(t.clamped, t.left, t.right, len(pairs))

    blank = np.zeros(len(pairs), np.int16)
    done = on_core(body, left=left, right=right, wrapped=blank, clamped=blank, platform=platform)
    sign = 1 if call is AddRelu else -1
    exact = [a + sign * b for a, b in pairs]
    assert done["wrapped"].tolist() == [max(0, wrap(v, np.int16)) for v in exact]
    assert done["clamped"].tolist() == [max(0, clamp(v, np.int16)) for v in exact]


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_64_bit_multiply_adds_keep_the_low_bits(dtype):
    values = edges(dtype)
    n = len(values)
    x, y, z = np.array(values, dtype), np.array(values[::-1], dtype), np.arange(n).astype(dtype)

    def body(t):
        Axpy(t.axpy, t.x, 3, n)
        MulAddDst(t.dst, t.x, t.y, n)
        FusedMulAdd(t.fused, t.x, t.y, n)
        MulAddRelu(t.relu, t.x, t.y, n)

    done = on_core(body, x=x, y=y, axpy=z, dst=z, fused=z, relu=z, platform="950")
    rows = list(zip(values, values[::-1], range(n), strict=True))
    assert done["axpy"].tolist() == [wrap(3 * a + c, dtype) for a, _, c in rows]
    assert done["dst"].tolist() == [wrap(a * b + c, dtype) for a, b, c in rows]
    assert done["fused"].tolist() == [wrap(a * c + b, dtype) for a, b, c in rows]
    assert done["relu"].tolist() == [max(0, wrap(a * c + b, dtype)) for a, b, c in rows]
