from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from exact import nearest_even, wrap
from harness import on_core

from simulator.ascendc import (
    Arange,
    ArithProgression,
    CreateVecIndex,
    ResetMask,
    SetMaskCount,
    SetVectorMask,
)
from simulator.errors import ArgumentError, DTypeError, OutOfBoundsError, UnsupportedError

TYPES = [np.int16, np.int32, np.float16, np.float32]
BOTH = pytest.mark.parametrize("arch", ["910b", "950"])


def add(a, b, dtype):
    """Return a + b in ``dtype``: rounded once, or wrapped."""
    if np.issubdtype(dtype, np.integer):
        return wrap(int(a) + int(b), dtype)
    return nearest_even(Fraction(float(a)) + Fraction(float(b)), dtype)


def single(first, step, count, dtype):
    """Return first + i * step made in float32 and rounded to ``dtype``, or wrapped."""
    if np.issubdtype(dtype, np.integer):
        return [wrap(int(first) + i * int(step), dtype) for i in range(count)]
    products = [nearest_even(i * Fraction(float(step)), np.float32) for i in range(count)]
    sums = [
        nearest_even(Fraction(float(first)) + Fraction(product), np.float32) for product in products
    ]
    return [nearest_even(Fraction(value), dtype) for value in sums]


def by_blocks(first, step, count, dtype):
    """Return what 910B makes: elements, then blocks of 32 bytes, then repeats of 256 bytes."""
    per, lanes = 32 // np.dtype(dtype).itemsize, 256 // np.dtype(dtype).itemsize
    out = single(first, step, min(count, per), dtype)
    for width, end in ((per, lanes), (lanes, count)):
        gap = single(0, step, width + 1, dtype)[width]
        while len(out) < min(count, end):
            out.append(add(out[len(out) - width], gap, dtype))
    return out


def by_registers(first, step, count, dtype):
    """Return what 950 makes: lanes of a register, then registers."""
    lanes = 256 // min(np.dtype(dtype).itemsize, 4)
    integer = np.issubdtype(dtype, np.integer)
    out = []
    for i in range(min(count, lanes)):
        if integer:
            product = wrap(i * int(step), dtype)
        else:
            product = nearest_even(i * Fraction(float(step)), dtype)
        out.append(add(product, first, dtype))
    gap = wrap(lanes * int(step), dtype) if integer else nearest_even(
        lanes * Fraction(float(step)), dtype
    )  # fmt: skip
    while len(out) < count:
        out.append(add(out[len(out) - lanes], gap, dtype))
    return out


RULES = {"910b": by_blocks, "950": by_registers}


# -- CreateVecIndex ----------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 5, 8, 16, 20, 64, 100, 128, 130, 500, 700])
@pytest.mark.parametrize("dtype", TYPES)
@BOTH
def test_count_form(arch, dtype, count):
    first = -3 if np.issubdtype(dtype, np.integer) else -2.5
    done = on_core(
        lambda t: CreateVecIndex(t.dst, first, count), platform=arch, dst=np.full(704, 77, dtype)
    )
    assert done["dst"][:count].tolist() == [first + i for i in range(count)]
    assert (done["dst"][count:] == 77).all()
    assert not done.changed_outside("dst").size


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("first", [2000, 32700, 16777210, 2147483600])
@BOTH
def test_large_values_round_or_wrap_at_every_step(arch, dtype, first):
    if np.issubdtype(dtype, np.integer):
        first = wrap(first, dtype)
    elif dtype is np.float16 and first > 60000:
        first = 2047.0
    first = dtype(first)
    done = on_core(
        lambda t: CreateVecIndex(t.dst, first, 700), platform=arch, dst=np.zeros(704, dtype)
    )
    assert done["dst"][:700].tolist() == RULES[arch](first, 1, 700, dtype)


@pytest.mark.parametrize(("dtype", "lanes"), [(np.int8, 256), (np.int64, 64)])
def test_types_of_950(dtype, lanes):
    done = on_core(
        lambda t: CreateVecIndex(t.dst, 100, 300), platform="950", dst=np.zeros(320, dtype)
    )
    assert done["dst"][:300].tolist() == [wrap(100 + i, dtype) for i in range(300)]
    with pytest.raises(UnsupportedError):
        on_core(
            lambda t: CreateVecIndex(t.dst, 0, lanes, 1, 1, 8), platform="950",
            dst=np.zeros(320, dtype),
        )  # fmt: skip
    with pytest.raises(DTypeError):
        on_core(lambda t: CreateVecIndex(t.dst, 0, 8), dst=np.zeros(320, dtype))


def strided(first, mask, repeats, blk, rep, dtype, size):
    """Return the elements of a tensor of zeros after a call with strides, values exact."""
    per, lanes = 32 // np.dtype(dtype).itemsize, 256 // np.dtype(dtype).itemsize
    out = [0] * size
    for repeat in range(repeats):
        for lane in range(lanes):
            if mask >> lane & 1:
                at = per * (rep * repeat + blk * (lane // per)) + lane % per
                out[at] = first + repeat * lanes + lane
    return out


@pytest.mark.parametrize(("blk", "rep"), [(1, 8), (2, 16), (1, 10)])
@pytest.mark.parametrize("mask", [3, 8, 20, 64])
@pytest.mark.parametrize("dtype", [np.int32, np.float32])
@BOTH
def test_a_contiguous_mask(arch, dtype, mask, blk, rep):
    done = on_core(
        lambda t: CreateVecIndex(t.dst, 5, mask, 3, blk, rep), platform=arch,
        dst=np.zeros(512, dtype),
    )  # fmt: skip
    want = strided(5, (1 << mask) - 1, 3, blk, rep, dtype, 512)
    assert done["dst"].tolist() == want


@pytest.mark.parametrize("words", [[0x8000_0000_0000_0101, 0x5], [0x1, 0], [0, 0x8000_0000]])
@BOTH
def test_a_bit_mask(arch, words):
    done = on_core(
        lambda t: CreateVecIndex(t.dst, -4, words, 2, 1, 8), platform=arch,
        dst=np.zeros(256, np.int16),
    )  # fmt: skip
    want = strided(-4, words[0] | words[1] << 64, 2, 1, 8, np.int16, 256)
    assert done["dst"].tolist() == want


@BOTH
def test_counter_mode(arch):
    def body(t):
        SetMaskCount()
        SetVectorMask(0, 100)
        CreateVecIndex(t.dst, 1, 100, 1, 1, 8)
        ResetMask()

    done = on_core(body, platform=arch, dst=np.zeros(192, np.int32))
    assert done["dst"].tolist() == [*range(1, 101), *[0] * 92]


def test_no_repeats_and_no_lanes_change_nothing():
    for call in (
        lambda t: CreateVecIndex(t.dst, 1, 64, 0, 1, 8),
        lambda t: CreateVecIndex(t.dst, 1, 0),
    ):
        assert not on_core(call, dst=np.zeros(64, np.int32)).changed().size


def test_create_vec_index_refuses():
    def run(*args, dtype=np.int32, arch="910b"):
        on_core(lambda t: CreateVecIndex(t.dst, *args), platform=arch, dst=np.zeros(128, dtype))

    for dtype in (np.uint32, np.uint16, ml_dtypes.bfloat16):
        with pytest.raises(DTypeError):
            run(0, 8, dtype=dtype)
    with pytest.raises(OutOfBoundsError):
        run(0, 129)
    with pytest.raises(OutOfBoundsError):
        run(0, 64, 3, 1, 8, arch="950")
    with pytest.raises(ArgumentError):
        run(0, 64, 256, 1, 8)
    with pytest.raises(ArgumentError):
        run(0, 64, 1, 0, 8)
    with pytest.raises(ArgumentError):
        run(0, 64, 1, 1, 256)


# -- Arange ------------------------------------------------------------------------------------


def test_arith_progression_is_the_former_name():
    assert ArithProgression is Arange


@pytest.mark.parametrize("count", [1, 7, 8, 16, 17, 64, 65, 128, 129, 200, 300, 513])
@pytest.mark.parametrize("dtype", TYPES)
@BOTH
def test_a_progression(arch, dtype, count):
    first, step = (-7, 3) if np.issubdtype(dtype, np.integer) else (-7.5, 0.25)
    done = on_core(
        lambda t: Arange(t.dst, first, step, count), platform=arch, dst=np.full(640, 77, dtype)
    )
    assert done["dst"][:count].tolist() == [first + i * step for i in range(count)]
    written = count
    if arch == "910b" and count > 32 // done["dst"].itemsize:
        per = 32 // done["dst"].itemsize
        written = -(-count // per) * per
    assert (done["dst"][written:] == 77).all()
    assert not done.changed_outside("dst").size


@pytest.mark.parametrize(
    ("dtype", "first", "step"),
    [
        (np.float16, 1.0, 0.1),
        (np.float16, -60000.0, 300.0),
        (np.float32, 1.0, 0.1),
        (np.float32, 16777000.0, 3.0),
        (np.int16, 32000, 700),
        (np.int32, 2147480000, 123456789),
    ],
)
@BOTH
def test_a_progression_rounds_or_wraps_at_every_step(arch, dtype, first, step):
    first, step = dtype(first), dtype(step)
    done = on_core(
        lambda t: Arange(t.dst, first, step, 300), platform=arch, dst=np.zeros(320, dtype)
    )
    assert done["dst"][:300].tolist() == RULES[arch](first, step, 300, dtype)


def test_64_bit_progressions_on_950():
    step = 1 << 60
    done = on_core(
        lambda t: Arange(t.dst, 5, step, 100), platform="950", dst=np.zeros(100, np.int64)
    )
    assert done["dst"].tolist() == [wrap(5 + i * step, np.int64) for i in range(100)]


def test_arange_refuses():
    def run(*args, dtype=np.int32, arch="910b", size=96):
        on_core(lambda t: Arange(t.dst, *args), platform=arch, dst=np.zeros(size, dtype))

    for dtype, arch in ((np.uint32, "950"), (np.int64, "910b"), (np.int8, "950")):
        with pytest.raises(DTypeError):
            run(0, 1, 8, dtype=dtype, arch=arch)
    for args in ((0, -1, 8), (0, 1, 0)):
        with pytest.raises(ArgumentError):
            run(*args)
    for arch in ("910b", "950"):
        with pytest.raises(OutOfBoundsError):
            run(0, 1, 97, arch=arch)
