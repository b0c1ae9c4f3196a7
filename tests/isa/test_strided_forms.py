"""Mask, stride and repeat forms against the addressing rule written out lane by lane."""

import numpy as np
import pytest
from harness import on_core
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simulator.ascendc import (
    Add,
    Adds,
    BinaryRepeatParams,
    MulAddDst,
    Muls,
    SetMaskCount,
    SetMaskNorm,
    SetVectorMask,
    Sub,
    UnaryRepeatParams,
    int16_t,
)
from simulator.core import current_core
from simulator.errors import ArgumentError, OutOfBoundsError

UB_WORDS = 6 * 1024


def lane_bytes(base, size, blk, rep, repeat, lane):
    """Return the byte address of a lane, by the formula of the manual."""
    return base + 32 * (repeat * rep + lane * size // 32 * blk) + lane * size % 32


def expected(memory, operands, repeats, compute):
    """Run repeats in order; in a repeat every lane is read before any is written.

    ``operands`` holds (dtype, base, block stride, repeat stride), destination first; ``repeats``
    the active lanes of every repeat.
    """
    memory = memory.copy()
    views = [memory.view(dtype) for dtype, *_ in operands]
    for r, lanes in enumerate(repeats):
        writes = []
        for lane in lanes:
            at = [
                lane_bytes(base, np.dtype(dtype).itemsize, blk, rep, r, lane)
                // np.dtype(dtype).itemsize
                for dtype, base, blk, rep in operands
            ]
            writes.append((at[0], compute(*(v[i] for v, i in zip(views, at, strict=True)))))
        for at, value in writes:
            views[0][at] = value
    return memory


def bits(words):
    return [lane for lane in range(128) if words[lane // 64] >> lane % 64 & 1]


strides = st.tuples(st.sampled_from([1, 1, 2, 3]), st.sampled_from([8, 8, 0, 1, 4, 9, 16]))
source_strides = st.tuples(st.sampled_from([1, 1, 2, 0]), st.sampled_from([8, 8, 0, 1, 4, 9]))


def random_words(seed):
    return np.random.default_rng(seed).integers(-999, 999, UB_WORDS).astype(np.int32)


@settings(max_examples=120)
@given(
    starts=st.tuples(*[st.integers(0, 40)] * 3),
    far=st.booleans(),
    dst=strides,
    src0=source_strides,
    src1=source_strides,
    repeat=st.integers(0, 12),
    mask=st.one_of(
        st.integers(0, 64),
        st.tuples(st.integers(0, 2**64 - 1), st.just(0)),
        st.sampled_from([(0x69A5_69A5_69A5_69A5, 0), (1 << 63, 0), (0, 0)]),
    ),
)
@example(starts=(0, 32, 0), far=False, dst=(1, 0), src0=(1, 8), src1=(1, 0), repeat=9, mask=64)
@example(starts=(8, 0, 32), far=False, dst=(1, 8), src0=(1, 8), src1=(1, 8), repeat=5, mask=61)
def test_every_lane_is_where_the_manual_puts_it(starts, far, dst, src0, src1, repeat, mask):
    words = random_words(1)
    bases = [32 * s + (8192 * i if far else 0) for i, s in enumerate(starts)]
    lanes = list(range(mask)) if isinstance(mask, int) else bits(mask)
    after = expected(
        words,
        [(np.int32, base, *s) for base, s in zip(bases, (dst, src0, src1), strict=True)],
        [lanes] * repeat,
        lambda _, a, b: a - b,
    )
    params = BinaryRepeatParams(dst[0], src0[0], src1[0], dst[1], src0[1], src1[1])

    def body(t):
        tensors = [t.all[base // 4] for base in bases]
        Sub(*tensors, mask if isinstance(mask, int) else list(mask), repeat, params)

    done = on_core(body, all=words)
    assert done["all"].tolist() == after.tolist()
    assert done.changed_outside("all").size == 0


@settings(max_examples=60)
@given(
    narrow=st.tuples(st.sampled_from([1, 1, 2]), st.sampled_from([4, 4, 8, 0, 2])),
    wide=st.tuples(st.sampled_from([1, 1, 2]), st.sampled_from([8, 8, 16, 0, 4])),
    repeat=st.integers(1, 7),
    mask=st.one_of(st.integers(1, 64), st.tuples(st.integers(1, 2**64 - 1), st.just(0))),
)
def test_operands_of_two_widths_line_up_lane_by_lane(narrow, wide, repeat, mask):
    rng = np.random.default_rng(2)
    source = rng.integers(-30, 30, 4096).astype(np.float16)
    target = rng.integers(-99, 99, 4096).astype(np.float32)
    memory = np.concatenate([target.view(np.uint8), source.view(np.uint8)])
    lanes = list(range(mask)) if isinstance(mask, int) else bits(mask)
    after = expected(
        memory,
        [
            (np.float32, 0, *wide),
            (np.float16, target.nbytes, *narrow),
            (np.float16, target.nbytes + 2048, *narrow),
        ],
        [lanes] * repeat,
        lambda old, a, b: old + np.float32(a) * np.float32(b),
    )
    params = BinaryRepeatParams(wide[0], narrow[0], narrow[0], wide[1], narrow[1], narrow[1])
    done = on_core(
        lambda t: MulAddDst(
            t.dst, t.src, t.src[1024], mask if isinstance(mask, int) else [*mask], repeat, params
        ),
        dst=target,
        src=source,
    )
    assert done["dst"].tolist() == after[: target.nbytes].view(np.float32).tolist()
    assert done.changed_outside("dst").size == 0


@pytest.mark.parametrize("platform", ["910b", "950"])
def test_a_tensor_accumulates_into_one_repeat(platform):
    values = np.random.default_rng(3).integers(-99, 99, 64 * 20).astype(np.int32)
    done = on_core(
        lambda t: Add(t.total, t.x, t.total, 64, 20, BinaryRepeatParams(1, 1, 1, 0, 8, 0)),
        x=values,
        total=np.arange(64, dtype=np.int32),
        platform=platform,
    )
    assert done["total"].tolist() == [
        lane + sum(int(v) for v in values[lane::64]) for lane in range(64)
    ]


def test_a_half_sum_accumulates_with_one_rounding_a_repeat():
    done = on_core(
        lambda t: Add(t.total, t.x, t.total, 128, 3, BinaryRepeatParams(1, 1, 1, 0, 8, 0)),
        x=np.repeat([2048, 1, 1], 128).astype(np.float16),
        total=np.zeros(128, np.float16),
    )
    # 2048 + 1 is a tie between 2048 and 2050 and stays at 2048, twice.
    assert done["total"].tolist() == [2048.0] * 128


def test_counts_of_overlapping_tensors_follow_the_repeats():
    words = np.arange(300, dtype=np.int32)
    done = on_core(lambda t: Add(t.x[64], t.x, t.x, 200), x=words)
    result = [int(v) for v in words]
    for first in range(0, 200, 64):
        lanes = range(first, min(first + 64, 200))
        sums = [2 * result[i] for i in lanes]
        for i, value in zip(lanes, sums, strict=True):
            result[64 + i] = value
    assert done["x"].tolist() == result


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 1000])
@pytest.mark.parametrize("platform", ["910b", "950"])
def test_a_count_form_touches_count_elements(count, platform):
    done = on_core(
        lambda t: Adds(t.dst, t.src, 7, count),
        src=np.arange(1000, dtype=np.int16),
        dst=np.full(1000, -1, np.int16),
        platform=platform,
    )
    assert done["dst"].tolist() == [i + 7 if i < count else -1 for i in range(1000)]
    assert done.changed_outside("dst").size == 0


def test_a_count_form_leaves_a_full_mask_on_910b_and_the_own_mask_on_950():
    def body(t):
        SetVectorMask(0, 0b101)
        Adds(t.x, t.x, 1, 8)
        return current_core().mask

    zeros = np.zeros(64, np.int32)
    full = (2**64 - 1, 2**64 - 1)
    assert on_core(body, x=zeros).returned == full
    assert on_core(body, x=zeros, platform="950").returned == (0b101, 0)


@pytest.mark.parametrize("total", [0, 1, 64, 130, 200])
def test_counter_mode_counts_elements_and_ignores_the_repeat_time(total):
    def body(t):
        SetMaskCount()
        Muls(t.dst, t.src, 2, total, 1, UnaryRepeatParams(1, 1, 8, 8))
        SetMaskNorm()

    done = on_core(body, src=np.arange(256, dtype=np.int32), dst=np.full(256, -1, np.int32))
    assert done["dst"].tolist() == [2 * i if i < total else -1 for i in range(256)]


def test_a_mask_set_outside_is_used_with_isSetMask_false():
    def body(t):
        SetVectorMask(0x1, 0x8001)
        Adds(t.dst, t.src, 1, 0, 2, UnaryRepeatParams(), isSetMask=False)

    done = on_core(body, src=np.arange(256, dtype=np.int16), dst=np.full(256, -1, np.int16))
    active = {0, 15, 64}
    assert done["dst"].tolist() == [i + 1 if i % 128 in active else -1 for i in range(256)]


@pytest.mark.parametrize("platform", ["910b", "950"])
def test_a_count_form_with_isSetMask_false_obeys_the_register(platform):
    def body(t):
        SetMaskCount()
        SetVectorMask(5)
        Adds(t.dst, t.src, 1, 3, isSetMask=False)
        SetMaskNorm()

    done = on_core(
        body,
        src=np.arange(64, dtype=np.int32),
        dst=np.full(64, -1, np.int32),
        platform=platform,
    )
    assert done["dst"].tolist() == [i + 1 if i < 5 else -1 for i in range(64)]


def test_lanes_beyond_the_repeat_do_not_exist():
    done = on_core(
        lambda t: Adds(t.dst, t.src, 1, 128, 1, UnaryRepeatParams()),
        src=np.arange(128, dtype=np.int32),
        dst=np.full(128, -1, np.int32),
    )
    assert done["dst"].tolist() == [*range(1, 65)] + [-1] * 64


def test_255_repeats_are_the_most():
    values = np.arange(64, dtype=np.int32)
    done = on_core(
        lambda t: Adds(t.dst, t.src, 1, 64, 255, UnaryRepeatParams(1, 1, 8, 0)),
        src=values,
        dst=np.zeros(64 * 255, np.int32),
    )
    assert done["dst"].tolist() == [*range(1, 65)] * 255
    with pytest.raises(ArgumentError, match="repeatTime"):
        on_core(lambda t: Adds(t.x, t.x, 1, 64, 256, UnaryRepeatParams()), x=values)


def test_a_mask_form_may_not_reach_past_its_tensor():
    with pytest.raises(OutOfBoundsError, match="dst"):
        on_core(
            lambda t: Adds(t.dst, t.src, 1, 64, 2, UnaryRepeatParams()),
            src=np.zeros(128, np.int32),
            dst=np.zeros(127, np.int32),
        )
    # The last repeat ends after its last active lane.
    on_core(
        lambda t: Adds(t.dst, t.src, 1, 63, 2, UnaryRepeatParams()),
        src=np.zeros(128, np.int32),
        dst=np.zeros(127, np.int32),
    )


@pytest.mark.parametrize("mask", ["all", None, [1, 2, 3], [], [-1], [1 << 64], -1])
def test_a_mask_that_is_no_mask_is_refused(mask):
    with pytest.raises(ArgumentError, match="mask"):
        on_core(lambda t: Adds(t.x, t.x, 1, mask, 1, UnaryRepeatParams()), x=np.zeros(64, np.int32))


def test_a_destination_without_block_stride_is_refused():
    with pytest.raises(ArgumentError, match="stride"):
        on_core(
            lambda t: Adds(t.x, t.x, 1, 64, 1, UnaryRepeatParams(0, 1, 8, 8)),
            x=np.zeros(64, np.int32),
        )


def test_the_wrong_kind_of_strides_is_refused():
    zeros = np.zeros(64, np.int32)
    with pytest.raises(ArgumentError, match="BinaryRepeatParams"):
        on_core(lambda t: Add(t.x, t.x, t.x, 64, 1, UnaryRepeatParams()), x=zeros)
    with pytest.raises(ArgumentError, match="UnaryRepeatParams"):
        on_core(lambda t: Adds(t.x, t.x, 1, 64, 1, BinaryRepeatParams()), x=zeros)


def test_operands_record_the_bytes_they_touch():
    def accesses(mask, repeat, params):
        done = on_core(
            lambda t: Add(t.dst, t.src, t.src, mask, repeat, params),
            src=np.zeros(512, np.int16),
            dst=np.zeros(512, np.int16),
        )
        operands = next(i for i in done.run.instructions if i.name == "Add").operands
        touched = []
        for operand in operands:
            lanes = set()
            for access in operand.accesses:
                for start in access.run_starts().tolist():
                    lanes |= set(range(start, start + access.inner))
            touched.append((operand.name, operand.dtype, lanes))
        return touched

    params = BinaryRepeatParams(1, 2, 0, 8, 16, 0)
    for mask, lanes in ((17, range(17)), ([0b1001, 0], (0, 3))):
        dst, src0, src1 = accesses(mask, 2, params)
        for (name, dtype, found), (base, blk, rep) in zip(
            (dst, src0, src1), ((1024, 1, 8), (0, 2, 16), (0, 0, 0)), strict=True
        ):
            assert dtype is int16_t
            assert found == {
                lane_bytes(base, 2, blk, rep, r, lane) + b
                for r in range(2)
                for lane in lanes
                for b in (0, 1)
            }, name
