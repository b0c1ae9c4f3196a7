"""What holds for every call form: addresses, splitting, equal forms, monotone casts, selection."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from harness import Filled, on_core
from hypothesis import given, settings
from hypothesis import strategies as st
from matrix_calls import PLATFORMS

from simulator import ascendc
from simulator.dtypes import BY_NAME
from simulator.enums import CMPMODE, SELMODE, Arch, RoundMode
from simulator.instruction import REGISTRY, describe_dtypes
from simulator.numerics.convert import cast_rules

ELEMENTWISE = ("unary", "binary", "vector-scalar")

CALLS = [
    (name, arch, dtype)
    for name in REGISTRY
    for arch, spec in REGISTRY[name].items()
    if arch in PLATFORMS and spec.family in ELEMENTWISE and spec.operands[0][0] == "dst"
    for dtype in sorted(spec.dtypes[arch], key=describe_dtypes)
    # Some types are counted in units of another one (32-bit And on 910B in 16-bit lanes).
    if not isinstance(dtype, tuple) and (arch, dtype) not in spec.rule.lanes
]
KEYWORDS = {"Truncate": {"roundMode": RoundMode.CAST_FLOOR}}
MASKED = [
    (name, arch, dtype)
    for name, arch, dtype in CALLS
    if (arch, dtype.name) not in REGISTRY[name][arch].count_only
    and "mask" in REGISTRY[name][arch].forms
]


def call_id(call):
    return f"{call[0]}-{call[1].family}-{call[2].name}"


def issue(name, arch, t, *trailing, at=0):
    """Call ``name`` on its operands from element ``at`` on."""
    spec = REGISTRY[name][arch]
    operands = [getattr(t, operand)[at] for operand, _ in spec.operands]
    scalar = (1,) if spec.family == "vector-scalar" else ()
    getattr(ascendc, name.partition("@")[0])(
        *operands, *scalar, *trailing, **KEYWORDS.get(name, {})
    )


def small_values(dtype, size, seed):
    rng = np.random.default_rng(seed)
    if dtype.name == "complex32":
        pairs = rng.integers(1, 7, 2 * size).astype(np.float16)
        return pairs.view(np.uint32)
    if dtype.kind in "iu":
        return rng.integers(1, 7, size).astype(dtype.numpy)
    return (rng.integers(1, 28, size) / 4).astype(dtype.numpy)


def contents(name, arch, dtype, size, seed):
    spec = REGISTRY[name][arch]
    return {
        operand: Filled(dtype, small_values(dtype, size, seed + i))
        for i, (operand, _) in enumerate(spec.operands)
    }


def strides_of(count):
    """Block strides 0..3 and repeat strides 0..12, never a destination block stride of 0."""
    return st.tuples(
        st.integers(1, 3),
        *[st.integers(0, 3)] * (count - 1),
        st.integers(0, 12),
        *[st.integers(0, 12)] * (count - 1),
    )


def lanes_written(dtype, lanes, repeats, blk, rep):
    """Byte offsets from the start of dst by the addressing rule of strided calls."""
    size = dtype.itemsize
    return {
        32 * (r * rep + lane * size // 32 * blk) + lane * size % 32 + byte
        for r in range(repeats)
        for lane in lanes
        for byte in range(size)
    }


@pytest.mark.parametrize("call", MASKED, ids=call_id)
@settings(max_examples=4)
@given(data=st.data())
def test_a_mask_form_changes_only_the_lanes_of_its_mask(call, data):
    name, arch, dtype = call
    spec = REGISTRY[name][arch]
    count = len(spec.operands)
    lanes = 256 // dtype.itemsize
    bits = data.draw(st.integers(0, 2**lanes - 1) | st.integers(0, lanes).map(lambda n: 2**n - 1))
    repeats = data.draw(st.integers(0, 4))
    strides = data.draw(strides_of(count))
    params = (ascendc.BinaryRepeatParams if count == 3 else ascendc.UnaryRepeatParams)(*strides)
    words = [bits & (1 << 64) - 1, bits >> 64]
    done = on_core(
        lambda t: issue(name, arch, t, words, repeats, params),
        platform=PLATFORMS[arch],
        **contents(name, arch, dtype, 3200, data.draw(st.integers(0, 99))),
    )
    start = done.places["dst"][0]
    chosen = [lane for lane in range(lanes) if bits >> lane & 1]
    allowed = lanes_written(dtype, chosen, repeats, strides[0], strides[count])
    assert {int(a) - start for a in done.changed()} <= allowed


@pytest.mark.parametrize("call", CALLS, ids=call_id)
@settings(max_examples=3)
@given(count=st.integers(0, 700), seed=st.integers(0, 99))
def test_a_count_form_changes_only_its_first_elements(call, count, seed):
    name, arch, dtype = call
    done = on_core(
        lambda t: issue(name, arch, t, count),
        platform=PLATFORMS[arch],
        **contents(name, arch, dtype, 1024, seed),
    )
    start = done.places["dst"][0]
    assert all(start <= a < start + count * dtype.itemsize for a in done.changed())


@pytest.mark.parametrize("call", CALLS, ids=call_id)
@settings(max_examples=3)
@given(count=st.integers(1, 700), cut=st.integers(0, 700), seed=st.integers(0, 99))
def test_two_calls_on_the_parts_equal_one_on_the_whole(call, count, cut, seed):
    name, arch, dtype = call
    block = 32 // dtype.itemsize
    first = min(cut, count) // block * block
    given_content = contents(name, arch, dtype, 1024, seed)

    def in_two(t):
        issue(name, arch, t, first)
        issue(name, arch, t, count - first, at=first)

    whole = on_core(
        lambda t: issue(name, arch, t, count), platform=PLATFORMS[arch], **given_content
    )
    parts = on_core(in_two, platform=PLATFORMS[arch], **given_content)
    np.testing.assert_array_equal(whole.after, parts.after)


@pytest.mark.parametrize("call", MASKED, ids=call_id)
@settings(max_examples=3)
@given(repeats=st.integers(1, 4), tail=st.integers(1, 128), seed=st.integers(0, 99))
def test_the_mask_forms_equal_the_count_form_on_the_same_elements(call, repeats, tail, seed):
    name, arch, dtype = call
    lanes = 256 // dtype.itemsize
    tail = min(tail, lanes)
    spec = REGISTRY[name][arch]
    params = (
        ascendc.BinaryRepeatParams() if len(spec.operands) == 3 else ascendc.UnaryRepeatParams()
    )
    full = (1 << lanes) - 1
    bits = (1 << tail) - 1

    def by_mask(t):
        issue(name, arch, t, lanes, repeats, params)
        issue(name, arch, t, tail, 1, params, at=repeats * lanes)

    def by_bits(t):
        issue(name, arch, t, [full & (1 << 64) - 1, full >> 64], repeats, params)
        issue(name, arch, t, [bits & (1 << 64) - 1, bits >> 64], 1, params, at=repeats * lanes)

    given_content = contents(name, arch, dtype, 1024, seed)
    count = repeats * lanes + tail
    images = [
        on_core(body, platform=PLATFORMS[arch], **given_content).after
        for body in (lambda t: issue(name, arch, t, count), by_mask, by_bits)
    ]
    np.testing.assert_array_equal(images[0], images[1])
    np.testing.assert_array_equal(images[0], images[2])


NUMBERS = ("half", "float", "int8_t", "uint8_t", "int16_t", "int32_t", "int64_t")

CASTS = [
    (arch, src, dst, mode)
    for arch in PLATFORMS
    for (src, dst), rule in cast_rules(arch).items()
    if src.name in NUMBERS
    and dst.name in NUMBERS
    # int32_t to half scales by a register instead of rounding.
    and (src.name, dst.name) != ("int32_t", "half")
    for mode in sorted(rule.modes)
    if mode != RoundMode.CAST_ODD
]


def cast_id(cast):
    arch, src, dst, mode = cast
    return f"{arch.family}-{src.name}-{dst.name}-{RoundMode(mode).name}"


def any_values(dtype, size, seed):
    """Values of every magnitude: random bit patterns, with the special ones in front."""
    rng = np.random.default_rng(seed)
    raw = rng.integers(0, 256, size * dtype.itemsize, np.uint8).view(dtype.numpy)
    special = (
        [0, 1, np.iinfo(dtype.numpy).min, np.iinfo(dtype.numpy).max]
        if dtype.kind in "iu"
        else ([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan])
    )
    raw[: len(special)] = special
    return raw


@pytest.mark.parametrize("cast", CASTS, ids=cast_id)
@settings(max_examples=3)
@given(seed=st.integers(0, 9999))
def test_a_larger_value_never_becomes_a_smaller_one(cast, seed):
    arch, src, dst, mode = cast
    values = any_values(src, 256, seed)
    if src.kind == "f":
        values[np.isnan(values)] = 0
    values.sort()
    done = on_core(
        lambda t: ascendc.Cast(t.dst, t.src, RoundMode(mode), 256),
        src=values,
        dst=np.zeros(256, dst.numpy),
        platform=PLATFORMS[arch],
    )
    out = done["dst"].astype(object)
    assert all(a <= b for a, b in pairwise(out))


COMPARISONS = {
    CMPMODE.LT: lambda a, b: a < b,
    CMPMODE.GT: lambda a, b: a > b,
    CMPMODE.EQ: lambda a, b: a == b,
    CMPMODE.LE: lambda a, b: a <= b,
    CMPMODE.GE: lambda a, b: a >= b,
}


@pytest.mark.parametrize("arch", PLATFORMS, ids=lambda arch: arch.family)
@pytest.mark.parametrize("dtype", ["half", "float"])
@pytest.mark.parametrize("mode", COMPARISONS, ids=lambda mode: mode.name)
@settings(max_examples=3)
@given(seed=st.integers(0, 9999))
def test_select_behind_compare_chooses_as_python_does(arch, dtype, mode, seed):
    kind = BY_NAME[dtype]
    a, b = any_values(kind, 256, seed), any_values(kind, 256, seed + 1)
    # Equal pairs, and every special value against another one.
    b[128:192] = a[128:192]
    b[:6] = b[:6][::-1].copy()

    def body(t):
        ascendc.Compare(t.mask, t.a, t.b, mode, 256)
        ascendc.Select(t.dst, t.mask, t.a, t.b, SELMODE.VSEL_TENSOR_TENSOR_MODE, 256)

    done = on_core(
        body,
        platform=PLATFORMS[arch],
        a=a,
        b=b,
        mask=np.zeros(64, np.uint8),
        dst=np.zeros(256, kind.numpy),
    )
    wanted = [x if COMPARISONS[mode](float(x), float(y)) else y for x, y in zip(a, b, strict=True)]
    np.testing.assert_array_equal(
        done["dst"].view(np.uint8), np.array(wanted, kind.numpy).view(np.uint8)
    )


def test_the_properties_cover_both_architectures():
    assert {arch for _, arch, _ in CALLS} == {Arch.DAV_2201, Arch.DAV_3510}
