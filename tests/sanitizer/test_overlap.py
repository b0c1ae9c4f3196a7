"""Overlap of source and destination: which repeats break the documented rule."""

from __future__ import annotations

import pytest

from simulator.ascendc import (
    Add,
    Adds,
    BinaryRepeatParams,
    Cast,
    RoundMode,
    TBuf,
    TPipe,
    TPosition,
    UnaryRepeatParams,
    float32,
    half,
    kernel,
    launch,
)
from simulator.sanitizer.overlap import ACROSS_REPEATS, IN_ONE_REPEAT, overlaps

UB_BYTES = 32768


def found(call):
    """Overlaps of the one vector call that ``call`` issues; it gets tensor(dtype, byte, count)."""

    @kernel
    def one_call():
        buf = TBuf(TPosition.VECCALC)
        TPipe().InitBuffer(buf, UB_BYTES)
        call(lambda dtype, byte, count: buf.GetWithOffset(count, byte, dtype))

    run = launch(one_call, 1, check="off")
    (plan,) = (i.plan for i in run.instructions if i.pipe == "V" and i.operands)
    return overlaps(plan)


def repeats(result, rule):
    return [(o.repeat, o.writer) for o in result if o.rule == rule]


def test_widening_in_place_overlaps_where_the_write_reaches_the_read():
    # Repeat k writes [256k, 256k + 256) and reads [2048 + 128k, 2176 + 128k); they meet at k = 15.
    def widen(tensor):
        Cast(tensor(float32, 0, 1024), tensor(half, 2048, 1024), RoundMode.CAST_NONE, 1024)

    (only,) = found(widen)
    assert (only.rule, only.repeat, only.operand) == (IN_ONE_REPEAT, 15, "src")
    assert (only.written, only.read) == ((3840, 4096), (3968, 4096))
    assert only.order_safe


def test_widening_a_tile_that_is_one_repeat_shorter_is_clean():
    def widen(tensor):
        Cast(tensor(float32, 0, 960), tensor(half, 2048, 960), RoundMode.CAST_NONE, 960)

    assert found(widen) == []


def test_widening_from_the_front_overwrites_what_later_repeats_read():
    # Repeat k writes [256k, 256k + 256) and reads [128k, 128k + 128).
    def widen(tensor):
        Cast(tensor(float32, 0, 256), tensor(half, 0, 256), RoundMode.CAST_NONE, 256)

    result = found(widen)
    assert repeats(result, IN_ONE_REPEAT) == [(0, 0)]
    assert repeats(result, ACROSS_REPEATS) == [(1, 0), (2, 1), (3, 1)]
    assert not result[-1].order_safe


def test_narrowing_in_place_overlaps_in_the_first_repeat_only():
    def narrow(tensor):
        Cast(tensor(half, 0, 1024), tensor(float32, 0, 1024), RoundMode.CAST_RINT, 1024)

    assert [(o.rule, o.repeat) for o in found(narrow)] == [(IN_ONE_REPEAT, 0)]


@pytest.mark.parametrize("count", [1, 64, 100, 1000])
def test_the_same_tensor_as_source_and_destination_is_allowed(count):
    def add(tensor):
        x = tensor(float32, 0, count)
        Add(x, x, tensor(float32, 16384, count), count)

    assert found(add) == []


def test_neighbours_do_not_overlap():
    def adds(tensor):
        Adds(tensor(float32, 512, 128), tensor(float32, 0, 128), 1.0, 128)

    assert found(adds) == []


def test_a_shift_by_one_block_overlaps_within_and_across_repeats():
    # dst = src + 32 bytes: repeat k reads [256k, ...), of which repeat k - 1 wrote the first block.
    def adds(tensor):
        Adds(tensor(float32, 32, 192), tensor(float32, 0, 192), 1.0, 192)

    result = found(adds)
    assert repeats(result, IN_ONE_REPEAT) == [(0, 0), (1, 1), (2, 2)]
    assert repeats(result, ACROSS_REPEATS) == [(1, 0), (2, 1)]


def test_a_shift_down_never_reads_what_was_written_before():
    def adds(tensor):
        Adds(tensor(float32, 0, 192), tensor(float32, 32, 192), 1.0, 192)

    result = found(adds)
    assert repeats(result, IN_ONE_REPEAT) == [(0, 0), (1, 1), (2, 2)]
    assert repeats(result, ACROSS_REPEATS) == []


def test_interleaved_blocks_do_not_overlap():
    # Even blocks to odd blocks: the spans overlap, the bytes do not.
    def adds(tensor):
        params = UnaryRepeatParams(2, 2, 16, 16)
        Adds(tensor(float32, 32, 248), tensor(float32, 0, 248), 1.0, 64, 2, params)

    assert found(adds) == []


def test_repeats_that_write_one_place_may_accumulate():
    def add(tensor):
        params = BinaryRepeatParams(1, 1, 1, 0, 8, 0)
        total = tensor(float32, 0, 64)
        Add(total, tensor(float32, 256, 256), total, 64, 4, params)

    assert found(add) == []


def test_only_the_named_calls_may_accumulate():
    def adds(tensor):
        total = tensor(float32, 0, 64)
        Adds(total, total, 1.0, 64, 3, UnaryRepeatParams(1, 1, 0, 0))

    assert repeats(found(adds), ACROSS_REPEATS) == [(1, 0), (2, 1)]


def test_lanes_that_a_mask_leaves_out_do_not_count():
    # Only the first of each pair of blocks takes part; source and destination are one block apart.
    def adds(tensor):
        blocks = sum(0xFF << 16 * pair for pair in range(4))
        params = UnaryRepeatParams(1, 1, 8, 8)
        Adds(tensor(float32, 32, 72), tensor(float32, 0, 64), 1.0, [blocks, 0], 1, params)

    assert found(adds) == []
