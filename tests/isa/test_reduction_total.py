"""ReduceSum, ReduceMax and ReduceMin, and the registers they leave their results in."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from harness import Filled, on_core
from reduction_reference import LANES, best, bits, lane_rows, mixed, node, tree

from simulator import ascendc
from simulator.ascendc import (
    GetAccVal,
    GetReduceMaxMinCount,
    GetReduceRepeatMaxMinSpr,
    GetReduceRepeatSumSpr,
    ReduceMax,
    ReduceMin,
    ReduceSum,
    WholeReduceMin,
)
from simulator.errors import ArgumentError, DTypeError, OutOfBoundsError, UnsupportedError

FLOATS = [np.float16, np.float32]
NAMES = {np.float16: ascendc.half, np.float32: ascendc.float32}
PLATFORMS = ["910b", "950"]
SIZES = [1, 2, 63, 64, 65, 128, 200, 257, 512, 777, 4096 + 5]
LONG = 128 * 300 + 77
"""More than 255 repeats of either type."""


def rows_of(values, dtype):
    """Repeats of a count form, ``None`` behind the last element."""
    lanes = LANES[np.dtype(dtype)]
    padded = [float(v) for v in values]
    padded += [None] * (-len(padded) % lanes)
    return [padded[i : i + lanes] for i in range(0, len(padded), lanes)]


def forest(sums, dtype, keep_absent):
    """Sum the results of repeats as trees, until one is left."""
    while len(sums) > 1:
        sums = [tree(row, dtype, keep_absent) for row in rows_of(sums, dtype)]
    return sums[0]


def sum_910b(values, dtype):
    """The sums of the repeats added one after another."""
    total, *rest = (tree(row, dtype, True) for row in rows_of(values, dtype))
    for partial in rest:
        total = node(total, partial, dtype)
    return total


def sum_950(values, dtype):
    """Up to four repeats are added lane by lane, then as trees."""
    rows = rows_of(values, dtype)
    if len(rows) == 4:
        right = [node(a, b, dtype) for a, b in zip(rows[2], rows[3], strict=True)]
        left = [node(a, b, dtype) for a, b in zip(rows[0], rows[1], strict=True)]
        rows = [[node(a, b, dtype) for a, b in zip(left, right, strict=True)]]
    elif len(rows) <= 4:
        while len(rows) > 1:
            rows[:2] = [[node(a, b, dtype) for a, b in zip(*rows[:2], strict=True)]]
    return forest([tree(row, dtype, False) for row in rows], dtype, False)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", [*SIZES, LONG])
def test_a_count_is_summed_in_the_order_of_the_device(platform, dtype, size):
    src = mixed(dtype, size)
    expected = dtype((sum_910b if platform == "910b" else sum_950)(src, dtype))
    read = []

    def body(t):
        ReduceSum(t.dst, t.src, t.tmp, size)
        read.extend([GetReduceRepeatSumSpr(NAMES[dtype]), GetAccVal(), t.dst.GetValue(0)])

    done = on_core(
        body, platform=platform, dst=np.full(16, 9, dtype), src=src, tmp=np.zeros(1024, dtype)
    )
    assert bits(done["dst"][0]) == bits(expected)
    assert (done["dst"][1:] == 9).all()
    assert done.changed_outside("dst", "tmp").size == 0
    assert read[0] == float(expected) == read[2]
    assert read[1] & (2 ** (8 * expected.itemsize) - 1) == bits(expected)[0]


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("repeats", [1, 2, 7, 70, 300])
def test_the_mask_form_sums_repeats_as_trees_of_trees(platform, dtype, repeats):
    word = 0x8001_0000_00F0_0F7F
    active = {lane for lane in range(64) if word >> lane & 1}
    src = mixed(dtype, (repeats + 2) * 64)
    src = src[: (repeats - 1) * 2 * (32 // src.itemsize) + 256]
    rows = lane_rows(src, active, repeats, 1, 2)
    keep = platform == "910b"
    expected = dtype(forest([tree(row, dtype, keep) for row in rows], dtype, keep))
    done = on_core(
        lambda t: ReduceSum(t.dst, t.src, t.tmp, [word], repeats, 2),
        platform=platform, dst=np.full(16, 9, dtype), src=src, tmp=np.zeros(1024, dtype),
    )  # fmt: skip
    assert bits(done["dst"][0]) == bits(expected)
    assert (done["dst"][1:] == 9).all()
    assert done.changed_outside("dst", "tmp").size == 0


EXTREMES = [(ReduceMax, "max"), (ReduceMin, "min")]


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("call", "kind"), EXTREMES)
@pytest.mark.parametrize("size", [*SIZES, 16385, LONG])
def test_the_extreme_of_a_count_has_the_least_index(platform, dtype, call, kind, size):
    # Many ties, the extreme in several repeats and never in the first elements.
    src = ((np.arange(size) * 53 + 7) % 97 - 40).astype(dtype)
    value, where = best([float(v) for v in src], kind)

    def body(t):
        call(t.dst, t.src, t.tmp, size, True)
        call(t.alone, t.src, t.tmp, size)

    done = on_core(
        body, platform=platform, dst=np.full(16, 9, dtype), alone=np.full(16, 9, dtype), src=src,
        tmp=np.zeros(4096, dtype),
    )  # fmt: skip
    assert done["dst"][0] == done["alone"][0] == value
    assert bits(done["dst"][1])[0] == where % 2 ** (8 * src.itemsize)
    assert (done["dst"][2:] == 9).all()
    assert done["alone"][2:].tolist() == [9] * 14
    assert done.changed_outside("dst", "alone", "tmp").size == 0


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("call", "kind"), EXTREMES)
@pytest.mark.parametrize("repeats", [1, 3, 130])
def test_the_index_of_the_mask_form_counts_elements_of_the_source(
    platform, dtype, call, kind, repeats
):
    lanes = LANES[np.dtype(dtype)]
    src = ((np.arange((repeats + 1) * lanes) * 29) % 61).astype(dtype)
    per_block = 32 // src.itemsize
    # Half of each repeat, at repeats that overlap.
    found = [
        (r * 4 * per_block + lane, float(src[r * 4 * per_block + lane]))
        for r in range(repeats)
        for lane in range(lanes // 2)
    ]
    value, at = best([v for _, v in found], kind)
    where = min(index for index, v in found if v == value)
    assert found[at][1] == value
    done = on_core(
        lambda t: call(t.dst, t.src, t.tmp, lanes // 2, repeats, 4, True),
        platform=platform, dst=np.full(16, 9, dtype), src=src, tmp=np.zeros(2048, dtype),
    )  # fmt: skip
    assert done["dst"][0] == value
    assert bits(done["dst"][1])[0] == where
    assert (done["dst"][2:] == 9).all()


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize(("call", "kind"), EXTREMES)
def test_nan_wins_wherever_it_is(platform, call, kind):
    src = np.arange(300, dtype=np.float32)
    src[170] = np.nan
    done = on_core(
        lambda t: call(t.dst, t.src, t.tmp, 300, True),
        platform=platform, dst=np.zeros(8, np.float32), src=src, tmp=np.zeros(512, np.float32),
    )  # fmt: skip
    assert np.isnan(done["dst"][0])
    # The 950 finds no lane that is equal to the result.
    assert bits(done["dst"][1])[0] == (170 if platform == "910b" else 2**32 - 2)


@pytest.mark.parametrize("dtype", [np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
@pytest.mark.parametrize(("call", "kind"), EXTREMES)
def test_integers_have_extremes_on_950(dtype, call, kind):
    info = np.iinfo(dtype)
    src = np.array([info.max // 3 - 5 * (i * 7 % 101) for i in range(300)], dtype)
    done = on_core(
        lambda t: call(t.dst, t.src, t.tmp, 300, True),
        platform="950", dst=np.zeros(16, dtype), src=src, tmp=np.zeros(64, dtype),
    )  # fmt: skip
    chosen = max if kind == "max" else min
    expected = chosen(int(v) for v in src)
    assert int(done["dst"][0]) == expected
    assert int(done["dst"][1]) == [int(v) for v in src].index(expected)


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
def test_integers_are_summed_modulo_their_width_on_950(dtype):
    src = np.array([np.iinfo(dtype).max - i for i in range(700)], dtype)
    done = on_core(
        lambda t: ReduceSum(t.dst, t.src, t.tmp, 700),
        platform="950", dst=np.zeros(8, dtype), src=src, tmp=np.zeros(64, dtype),
    )  # fmt: skip
    width = 2 ** (8 * src.itemsize)
    assert int(done["dst"][0]) % width == sum(int(v) for v in src) % width


def test_source_and_temporary_buffer_may_be_one():
    src = mixed(np.float32, 1000)
    expected = np.float32(sum_910b(src, np.float32))
    done = on_core(lambda t: ReduceSum(t.src, t.src, t.src, 1000), src=src)
    assert bits(done["src"][0]) == bits(expected)


def test_a_call_is_recorded_with_its_passes_at_the_line_of_the_kernel():
    src = mixed(np.float32, 64 * 300)

    def body(t):
        ReduceMax(t.dst, t.src, t.tmp, 64 * 300, True)

    done = on_core(body, dst=np.zeros(8, np.float32), src=src, tmp=np.zeros(2048, np.float32))
    line = inspect.getsourcelines(body)[1] + 1
    here = [i for i in done.run.instructions if i.location.line == line]
    passes = [i for i in here if i.name == "ReduceMax" and i.pipe == "V"]
    assert len(passes) >= 3
    assert {i.name for i in here} >= {"SetFlag", "WaitFlag"}
    assert all(i.location.file == __file__ for i in here)


def test_the_registers_of_the_extremes_are_read_on_910b():
    src = np.arange(256, dtype=np.float32)[::-1].copy()
    read = []

    def body(t):
        WholeReduceMin(t.dst, t.src, 64, 4, 1, 1, 8)
        read.append(GetReduceRepeatMaxMinSpr(ascendc.float32))

    on_core(body, dst=np.zeros(8, np.float32), src=src)
    assert read == [(0.0, 255)]
    assert GetReduceMaxMinCount is GetReduceRepeatMaxMinSpr
    with pytest.raises(UnsupportedError, match="950"):
        on_core(lambda t: GetReduceRepeatMaxMinSpr(ascendc.half), platform="950")


def call_with(call, error, match, platform="910b", **tensors):
    given = {
        "dst": np.zeros(16, np.float32),
        "src": np.zeros(64 * 64, np.float32),
        "tmp": np.zeros(8, np.float32),
    } | tensors
    with pytest.raises(error, match=match):
        on_core(call, platform=platform, **given)


def test_wrong_arguments_are_refused_with_the_legal_ones():
    call_with(
        lambda t: ReduceMax(t.dst, t.src, t.tmp, 64 * 64, True), OutOfBoundsError, "sharedTmpBuffer"
    )
    call_with(
        lambda t: ReduceSum(t.dst, t.src, t.tmp, 64, 30, 8), OutOfBoundsError, "sharedTmpBuffer"
    )
    call_with(
        lambda t: ReduceSum(t.dst, t.src, t.tmp, 64 * 64),
        OutOfBoundsError,
        "sharedTmpBuffer",
        "950",
    )
    call_with(lambda t: ReduceSum(t.dst, t.src, t.tmp), ArgumentError, "count")
    call_with(lambda t: ReduceSum(t.dst, t.src, t.tmp, 64, 1), ArgumentError, "srcRepStride")
    call_with(lambda t: ReduceSum(t.dst, t.src, t.tmp, 64, calIndex=True), ArgumentError, "count")
    call_with(lambda t: ReduceMin(t.dst, t.src, t.tmp, 64, 1, -1), ArgumentError, "srcRepStride")
    call_with(
        lambda t: ReduceSum(t.dst, t.src, t.tmp, 64), DTypeError, "element type of src",
        tmp=np.zeros(16, np.float16),
    )  # fmt: skip
    call_with(
        lambda t: ReduceMin(t.dst, t.src, t.tmp, 64), DTypeError, "float",
        dst=np.zeros(8, np.int32), src=np.zeros(64, np.int32), tmp=np.zeros(64, np.int32),
    )  # fmt: skip
    call_with(lambda t: GetReduceRepeatSumSpr(ascendc.int32_t), DTypeError, "half, float")
    with pytest.raises(UnsupportedError, match="int64_t"):
        on_core(
            lambda t: ReduceSum(t.a, t.a, t.a, 32, 1, 8), platform="950", a=np.zeros(64, np.int64)
        )
    with pytest.raises(DTypeError, match="half"):
        on_core(
            lambda t: ReduceMax(t.a, t.a, t.a, 32),
            platform="950", a=Filled("bfloat16_t", np.zeros(64)),
        )  # fmt: skip
