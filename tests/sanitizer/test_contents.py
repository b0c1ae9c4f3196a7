"""What the unified buffer holds: unwritten bytes, filler, dead writes, damaged tensors."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.ascendc import (
    CMPMODE,
    PIPE_ALL,
    SELMODE,
    Add,
    Adds,
    CompareScalar,
    CreateVecIndex,
    DataCopy,
    DataCopyExtParams,
    DataCopyPad,
    DataCopyPadExtParams,
    Duplicate,
    Gather,
    GatherMask,
    GatherMaskParams,
    GlobalTensor,
    HardEvent,
    LocalTensor,
    Muls,
    PipeBarrier,
    ReduceSum,
    Scatter,
    Select,
    SetFlag,
    TPosition,
    WaitFlag,
    WholeReduceSum,
    float32,
    int32_t,
    kernel,
    uint8_t,
    uint32_t,
)

NO_PADDING = DataCopyPadExtParams()


def gm(address):
    tensor = GlobalTensor(float32)
    tensor.SetGlobalBuffer(address)
    return tensor


def local(byte, count, dtype=float32):
    return LocalTensor(dtype, TPosition.VECCALC, byte, count)


def found(body, *sizes, platform="910b"):
    arrays = [np.ones(size, np.float32) for size in sizes]
    return kernel(body).launch(1, *arrays, platform=platform, check="report").findings


def codes(body, *sizes, **options):
    return [finding.code for finding in found(body, *sizes, **options)]


def store(target, tile, count):
    PipeBarrier(PIPE_ALL)
    DataCopyPad(target, tile, DataCopyExtParams(1, 4 * count))


# -- unwritten bytes ------------------------------------------------------------------------------


def test_lanes_that_are_computed_with_and_not_used_do_no_harm():
    def body(x, z):
        tile = local(0, 128)
        DataCopy(tile, gm(x), 96)
        PipeBarrier(PIPE_ALL)
        Muls(tile, tile, 2.0, 128)
        Adds(tile, tile, 1.0, 128)
        store(gm(z), tile, 96)

    assert codes(body, 96, 96) == []


def test_lanes_that_come_of_unwritten_ones_are_traced_to_the_call_that_took_them():
    def body(x, z):
        tile, out = local(0, 128), local(1024, 128)
        DataCopy(tile, gm(x), 96)
        PipeBarrier(PIPE_ALL)
        Muls(out, tile, 2.0, 128)
        Adds(out, out, 1.0, 128)
        store(gm(z), out, 128)

    (finding,) = found(body, 96, 128)
    assert finding.code == "ub.uninit"
    assert finding.bytes == (1024 + 384, 1024 + 512)
    assert finding.elements == (96, 128)
    assert finding.api == "DataCopyPad"
    assert "through Muls" in finding.message
    assert finding.other.line < finding.location.line or finding.other is not None


def test_a_tail_that_gets_a_value_first_is_data():
    def body(x, z):
        tile, total, work = local(0, 128), local(1024, 8), local(2048, 64)
        Duplicate(tile, 0.0, 128)
        PipeBarrier(PIPE_ALL)
        DataCopy(tile, gm(x), 96)
        PipeBarrier(PIPE_ALL)
        ReduceSum(total, tile, work, 128)
        store(gm(z), total, 1)

    assert codes(body, 96, 1) == []


def test_a_scalar_read_of_unwritten_bytes_is_found():
    def body(z):
        tile = local(0, 8)
        value = tile.GetValue(3)
        Duplicate(tile, value, 8)
        store(gm(z), tile, 8)

    (finding,) = found(body, 8)
    assert (finding.code, finding.pipe, finding.bytes) == ("ub.uninit", "S", (12, 16))


def test_what_a_scalar_store_has_written_is_data():
    def body(z):
        tile = local(0, 8)
        for i in range(8):
            tile.SetValue(i, 1.0)
        store(gm(z), tile, 8)

    assert codes(body, 8) == []


def test_a_block_finds_nothing_of_the_block_before():
    def body(x, z):
        from simulator.ascendc import GetBlockIdx

        tile = local(0, 8)
        if GetBlockIdx() == 0:
            DataCopy(tile, gm(x), 8)
        store(gm(z)[8 * GetBlockIdx()], tile, 8)

    arrays = [np.ones(8, np.float32), np.zeros(16, np.float32)]
    (finding,) = kernel(body).launch(2, *arrays, check="report").findings
    assert (finding.code, finding.block) == ("ub.uninit", 1)


def test_mask_bits_of_a_ragged_tail_do_no_harm():
    def body(x, z):
        tile, mask = local(0, 128), local(1024, 32, uint8_t)
        DataCopy(tile, gm(x), 96)
        PipeBarrier(PIPE_ALL)
        CompareScalar(mask, tile, 0.5, CMPMODE.GT, 128)
        Select(tile, mask, tile, 0.0, SELMODE.VSEL_TENSOR_SCALAR_MODE, 96)
        store(gm(z), tile, 96)

    assert codes(body, 96, 96) == []


def test_a_loop_that_meets_the_same_fault_again_counts_it():
    def body(z):
        tile = local(0, 8)
        for i in range(5):
            store(gm(z)[8 * i], tile, 8)

    (finding,) = found(body, 40)
    assert (finding.code, finding.count) == ("ub.uninit", 5)


# -- filler ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("padding", "expected"),
    [
        (NO_PADDING, [("copy.dummy", "warning")]),
        (DataCopyPadExtParams(True, 0, 2, 0), []),
        (DataCopyPadExtParams(False, 0, 2, 0), [("copy.dummy", "error")]),
    ],
    ids=["first element", "a value", "undefined"],
)
def test_filler_counts_as_data_only_if_it_was_given_a_value(padding, expected):
    def body(x, z):
        tile, total, work = local(0, 64), local(1024, 8), local(2048, 64)
        DataCopyPad(tile, gm(x), DataCopyExtParams(4, 24), padding)
        PipeBarrier(PIPE_ALL)
        ReduceSum(total, tile, work, 32)
        store(gm(z), total, 1)

    assert [(f.code, f.severity) for f in found(body, 24, 1)] == expected


def test_a_row_of_one_element_is_broadcast_by_its_filler():
    def body(x, z):
        tile = local(0, 64)
        DataCopyPad(tile, gm(x), DataCopyExtParams(4, 4), NO_PADDING)
        PipeBarrier(PIPE_ALL)
        Adds(tile, tile, 1.0, 32)
        store(gm(z), tile, 32)

    assert codes(body, 4, 32) == []


def test_filler_that_is_left_behind_does_no_harm():
    def body(x, z):
        tile = local(0, 64)
        DataCopyPad(tile, gm(x), DataCopyExtParams(4, 24), NO_PADDING)
        PipeBarrier(PIPE_ALL)
        Adds(tile, tile, 1.0, 32)
        PipeBarrier(PIPE_ALL)
        DataCopyPad(gm(z), tile, DataCopyExtParams(4, 24))

    assert codes(body, 24, 24) == []


def test_filler_is_followed_through_many_rounds_at_the_same_verdict():
    def body(x, z):
        tile = local(0, 64)
        for i in range(50):
            PipeBarrier(PIPE_ALL)
            DataCopyPad(tile, gm(x), DataCopyExtParams(4, 24), NO_PADDING)
            PipeBarrier(PIPE_ALL)
            Adds(tile, tile, 1.0, 32)
            store(gm(z)[32 * i], tile, 32)

    (finding,) = found(body, 24, 1600)
    assert (finding.code, finding.count) == ("copy.dummy", 50)


def gathered(filled):
    def body(x, z):
        table, taken = local(0, 128), local(1024, 64)
        places = local(2048, 64, int32_t)
        if filled:
            DataCopy(table, gm(x), filled)
        CreateVecIndex(places, 0, 64)
        Muls(places, places, 4, 64)
        PipeBarrier(PIPE_ALL)
        Gather(taken, table, places.ReinterpretCast(uint32_t), 0, 64)
        store(gm(z), taken, 64)

    return codes(body, 64, 64)


def test_a_sum_of_filler_is_told_once_and_not_again_where_it_is_stored():
    def body(x, z):
        rows, sums = local(0, 128), local(1024, 8)
        DataCopyPad(rows, gm(x), DataCopyExtParams(8, 4 * 13), NO_PADDING)
        PipeBarrier(PIPE_ALL)
        WholeReduceSum(sums, rows, 16, 8, 1, 1, 2)
        store(gm(z), sums, 8)

    (finding,) = found(body, 8 * 13, 8)
    assert (finding.code, finding.api) == ("copy.dummy", "WholeReduceSum")


def test_a_table_that_is_filled_in_part_may_be_gathered_from():
    assert gathered(64) == []
    assert gathered(0) == ["ub.uninit"]


# -- dead writes and damage -----------------------------------------------------------------------


def test_a_write_that_is_read_by_part_is_not_lost():
    def body(x, z):
        tile = local(0, 64)
        DataCopy(tile, gm(x), 64)
        PipeBarrier(PIPE_ALL)
        store(gm(z), tile, 8)
        PipeBarrier(PIPE_ALL)
        DataCopy(tile, gm(x), 64)
        store(gm(z), tile, 64)

    assert "ub.lost_write" not in codes(body, 64, 64)


def test_clearing_a_tile_that_is_filled_in_part_is_not_lost():
    def body(x, z):
        tile = local(0, 64)
        Duplicate(tile, 0.0, 64)
        PipeBarrier(PIPE_ALL)
        DataCopy(tile, gm(x), 56)
        store(gm(z), tile, 64)

    assert codes(body, 56, 64) == []


def test_a_value_behind_the_elements_that_stay_is_not_lost():
    def body(x, z):
        tile, kept, bits = local(0, 64), local(1024, 64), local(2048, 32, uint8_t)
        DataCopy(tile, gm(x), 64)
        PipeBarrier(PIPE_ALL)
        CompareScalar(bits, tile, 1.0, CMPMODE.GT, 64)
        Duplicate(kept, 7.0, 64)
        pattern = bits.ReinterpretCast(uint32_t)
        GatherMask(kept, tile, pattern, True, 64, GatherMaskParams(1, 1, 8, 1))
        store(gm(z), kept, 64)

    assert codes(body, 64, 64) == []


def test_a_value_between_scattered_elements_is_not_lost():
    def body(x, z):
        tile, spread = local(0, 64), local(1024, 128)
        places = local(2048, 64, int32_t)
        DataCopy(tile, gm(x), 64)
        CreateVecIndex(places, 0, 64)
        Muls(places, places, 8, 64)
        PipeBarrier(PIPE_ALL)
        Duplicate(spread, 7.0, 128)
        Scatter(spread, tile, places.ReinterpretCast(uint32_t), 0, 64)
        store(gm(z), spread, 128)

    assert codes(body, 64, 128, platform="950") == []


def test_a_work_tensor_is_nobodys_data():
    def body(x, z):
        tile, work = local(0, 128), local(2048, 64)
        DataCopy(tile, gm(x), 128)
        PipeBarrier(PIPE_ALL)
        for i in range(3):
            ReduceSum(local(1024 + 32 * i, 8), tile, work, 128)
        store(gm(z), local(1024, 24), 1)

    assert codes(body, 128, 1) == []


def test_tensors_that_take_turns_in_one_place_do_not_damage_each_other():
    def body(x, z):
        first, second = local(0, 64), local(128, 64)
        DataCopy(first, gm(x), 64)
        store(gm(z), first, 64)
        PipeBarrier(PIPE_ALL)
        DataCopy(second, gm(x), 64)
        store(gm(z)[64], second, 64)

    assert codes(body, 64, 128) == []


def test_a_tensor_updated_in_windows_is_not_damaged():
    def body(x, z):
        tile = local(0, 128)
        DataCopy(tile, gm(x), 128)
        PipeBarrier(PIPE_ALL)
        Add(tile[0], tile[0], tile[0], 64)
        Add(tile[32], tile[32], tile[32], 64)
        Add(tile[64], tile[64], tile[64], 64)
        store(gm(z), tile, 128)

    assert codes(body, 128, 128) == []


def test_a_shorter_tile_in_the_same_buffer_is_not_damage():
    def body(x, z):
        tile = local(0, 128)
        for count in (128, 64, 128):
            PipeBarrier(PIPE_ALL)
            DataCopy(tile, gm(x), count)
            PipeBarrier(PIPE_ALL)
            Adds(tile, tile, 1.0, count)
            store(gm(z), tile, count)

    assert "ub.alias" not in codes(body, 128, 128)


def test_calls_are_followed_in_the_order_they_take_effect():
    # V is issued first and waits for the copy: nothing unwritten is read, nothing is lost.
    def body(x, z):
        tile = local(0, 64)
        WaitFlag(HardEvent.MTE2_V, 0)
        Adds(tile, tile, 1.0, 64)
        DataCopy(tile, gm(x), 64)
        SetFlag(HardEvent.MTE2_V, 0)
        store(gm(z), tile, 64)

    assert codes(body, 64, 64) == []


def test_bytes_that_nothing_ever_reads_may_be_written_in_any_order():
    # A kernel that measures copies fetches into one place again and again.
    def body(x):
        for _ in range(3):
            DataCopy(local(0, 64), gm(x), 64)

    run = kernel(body).launch(1, np.ones(64, np.float32), check="report")
    assert run.findings == []
    assert {note.code for note in run.notes} == {"race.samepipe", "ub.lost_write"}


@pytest.mark.parametrize("platform", ["910b", "950"])
@pytest.mark.parametrize("count", [8, 256, 4096])
def test_the_work_tensor_of_a_reduction_needs_no_value(platform, count):
    def body(x, z):
        tile, work, total = local(0, 4096), local(65536, 1024), local(131072, 8)
        DataCopy(tile, gm(x), count)
        PipeBarrier(PIPE_ALL)
        ReduceSum(total, tile, work, count)
        store(gm(z), total, 1)

    assert codes(body, 4096, 1, platform=platform) == []


@pytest.mark.parametrize("integer", [np.int32, np.int64, np.uint32])
def test_integers_of_numpy_count_and_address_as_those_of_python(integer):
    def body(x, z):
        tile = LocalTensor(float32, TPosition.VECCALC, integer(0), integer(64))
        DataCopy(tile, gm(x)[integer(64)], integer(64))
        SetFlag(HardEvent.MTE2_MTE3, integer(0))
        WaitFlag(HardEvent.MTE2_MTE3, integer(0))
        rows = DataCopyExtParams(integer(2), integer(128), integer(0), integer(0))
        DataCopyPad(gm(z)[integer(0)], tile, rows)

    assert codes(body, 128, 64) == []
