"""Scalar stores and reads of global memory: lines that are shared, not cleaned or not dropped."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.ascendc import (
    PIPE_ALL,
    CacheLine,
    DataCacheCleanAndInvalid,
    DataCopy,
    DcciDst,
    Duplicate,
    GetBlockIdx,
    GlobalTensor,
    LocalTensor,
    PipeBarrier,
    SyncAll,
    TPosition,
    float32,
    kernel,
)


def gm(address):
    tensor = GlobalTensor(float32)
    tensor.SetGlobalBuffer(address)
    return tensor


def clean(tensor):
    DataCacheCleanAndInvalid(CacheLine.SINGLE_CACHE_LINE, DcciDst.CACHELINE_OUT, tensor)


def codes(body, size, *arguments, blocks=1):
    array = np.zeros(size, np.float32)
    run = kernel(body).launch(blocks, array, *arguments, check="report")
    return [(f.code, f.bytes) for f in run.findings]


@pytest.mark.parametrize(("distance", "expected"), [(15, [("cache.line", (0, 64))]), (16, [])])
def test_blocks_need_lines_of_their_own(distance, expected):
    def body(z):
        gm(z).SetValue(GetBlockIdx() * distance, 1.0)

    assert codes(body, 64, blocks=2) == expected


def test_a_copy_of_another_block_into_the_line_counts_as_well():
    def body(z):
        if GetBlockIdx() == 0:
            gm(z).SetValue(0, 1.0)
        else:
            tile = LocalTensor(float32, TPosition.VECCALC, 0, 8)
            Duplicate(tile, 1.0, 8)
            PipeBarrier(PIPE_ALL)
            DataCopy(gm(z)[8], tile, 8)

    assert codes(body, 64, blocks=2) == [("cache.line", (0, 64))]


@pytest.mark.parametrize(
    ("cleaned", "met", "expected"),
    [
        (True, True, []),
        (False, True, [("cache.flush", (0, 4))]),
        (True, False, [("core.overlap", (0, 4))]),
        (False, False, [("core.overlap", (0, 4))]),
    ],
)
def test_a_result_for_another_block_is_cleaned_and_then_reported(cleaned, met, expected):
    def body(z):
        if GetBlockIdx() == 0:
            gm(z).SetValue(0, 1.0)
            if cleaned:
                clean(gm(z))
        if met:
            SyncAll()
        if GetBlockIdx() == 1:
            gm(z).GetValue(0)

    assert codes(body, 64, blocks=2) == expected


def test_a_line_of_its_own_that_is_cleaned_is_found_by_copies():
    def body(z, cleaned):
        tile = LocalTensor(float32, TPosition.VECCALC, 0, 8)
        gm(z).SetValue(0, 1.0)
        if cleaned:
            clean(gm(z))
        DataCopy(tile, gm(z), 8)

    assert codes(body, 64, True) == []
    assert codes(body, 64, False) == [("cache.flush", (0, 4))]


def test_a_held_line_has_to_be_dropped_before_a_changed_value_is_read():
    def body(z, dropped):
        tile = LocalTensor(float32, TPosition.VECCALC, 0, 8)
        gm(z).GetValue(0)
        Duplicate(tile, 1.0, 8)
        PipeBarrier(PIPE_ALL)
        DataCopy(gm(z), tile, 8)
        PipeBarrier(PIPE_ALL)
        if dropped:
            clean(gm(z))
        gm(z).GetValue(1)

    assert codes(body, 64, True) == []
    assert codes(body, 64, False) == [("cache.flush", (4, 8))]


@pytest.mark.parametrize("first", ["reader", "writer"])
def test_a_loop_that_reads_until_the_value_is_there_waits_for_the_store(first):
    def body(z):
        if (GetBlockIdx() == 0) is (first == "reader"):
            while gm(z).GetValue(0) == 0:
                clean(gm(z))
            gm(z).GetValue(32)
        else:
            gm(z).SetValue(32, 5.0)
            clean(gm(z)[32])
            gm(z).SetValue(0, 1.0)
            clean(gm(z))

    assert codes(body, 64, blocks=2) == []


def test_what_is_stored_behind_the_word_that_a_loop_waits_for_is_not_ordered():
    def body(z):
        if GetBlockIdx() == 0:
            while gm(z).GetValue(0) == 0:
                clean(gm(z))
            gm(z).GetValue(32)
        else:
            gm(z).SetValue(0, 1.0)
            clean(gm(z))
            gm(z).SetValue(32, 5.0)
            clean(gm(z)[32])

    run = kernel(body).launch(2, np.zeros(64, np.float32), check="report")
    assert [(f.code, f.severity, f.bytes) for f in run.findings] == [
        ("core.overlap", "error", (128, 132))
    ]


def test_what_is_stored_before_the_word_has_to_be_cleaned():
    def body(z):
        if GetBlockIdx() == 0:
            while gm(z).GetValue(0) == 0:
                clean(gm(z))
            gm(z).GetValue(32)
        else:
            gm(z).SetValue(32, 5.0)
            gm(z).SetValue(0, 1.0)
            clean(gm(z))

    assert codes(body, 64, blocks=2) == [("cache.flush", (128, 132))]


def test_reading_again_and_again_is_taken_for_a_handshake():
    def body(z):
        if GetBlockIdx() == 0:
            for _ in range(3):
                gm(z).GetValue(0)
                clean(gm(z))
        else:
            gm(z).SetValue(0, 1.0)
            clean(gm(z))

    array = np.zeros(16, np.float32)
    run = kernel(body).launch(2, array, check="report")
    assert [(f.code, f.severity) for f in run.findings] == [("core.overlap", "warning")]
