"""A block that polls global memory lets the block run that it waits for."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.ascendc import (
    CacheLine,
    DataCacheCleanAndInvalid,
    DataCopy,
    DcciDst,
    Duplicate,
    GetBlockIdx,
    GlobalTensor,
    LocalTensor,
    ReadGmByPassDCache,
    TPosition,
    WriteGmByPassDCache,
    float32,
    int32_t,
    kernel,
    launch,
)
from simulator.errors import DeadlockError

pytestmark = pytest.mark.usefixtures("machine_still_right")

SLOT = 8
TILE = 64


def local(addr=0, count=TILE, dtype=float32):
    return LocalTensor(dtype, TPosition.VECCALC, addr, count)


def gm(pointer, dtype=float32):
    tensor = GlobalTensor(dtype)
    tensor.SetGlobalBuffer(pointer)
    return tensor


def test_a_block_that_polls_past_the_cache_lets_the_writer_run():
    @kernel
    def body(flag, y):
        flag = gm(flag, int32_t)
        if GetBlockIdx() == 0:
            while ReadGmByPassDCache(int32_t, flag.GetPhyAddr()) != 7:
                pass
            gm(y).SetValue(0, 1.0)
        else:
            WriteGmByPassDCache(int32_t, flag.GetPhyAddr(), 7)

    y = np.zeros(8, np.float32)
    launch(body, 2, np.zeros(8, np.int32), y)
    assert y[0] == 1


def test_a_block_that_polls_by_copies_lets_the_writer_run():
    @kernel
    def body(x, y):
        tile = local()
        if GetBlockIdx() == 0:
            DataCopy(tile, gm(x), 8)
            while tile.GetValue(0) != 3:
                DataCopy(tile, gm(x), 8)
            DataCopy(gm(y), tile, 8)
        else:
            Duplicate(tile, 3, 8)
            DataCopy(gm(x), tile, 8)

    y = np.zeros(8, np.float32)
    launch(body, 2, np.zeros(8, np.float32), y)
    np.testing.assert_array_equal(y, np.full(8, 3))


def test_polling_for_what_no_block_writes_is_found(line_of):
    @kernel
    def body(flag):
        flag = gm(flag, int32_t)
        if GetBlockIdx() == 0:
            while ReadGmByPassDCache(int32_t, flag.GetPhyAddr(8)) == 0:  # polls
                pass

    with pytest.raises(DeadlockError) as caught:
        launch(body, 2, np.zeros(16, np.int32))
    assert caught.value.block == 0
    assert caught.value.location.line == line_of(body, "# polls")


def test_polling_that_invalidates_the_line_sees_the_write():
    @kernel
    def body(flag, y):
        flag = gm(flag, int32_t)
        if GetBlockIdx() == 0:
            while flag.GetValue(0) == 0:
                DataCacheCleanAndInvalid(CacheLine.SINGLE_CACHE_LINE, DcciDst.CACHELINE_OUT, flag)
            gm(y).SetValue(0, 1.0)
        else:
            flag.SetValue(0, 1)
            DataCacheCleanAndInvalid(CacheLine.SINGLE_CACHE_LINE, DcciDst.CACHELINE_OUT, flag)

    y = np.zeros(16, np.float32)
    launch(body, 2, np.zeros(16, np.int32), y)
    assert y[0] == 1


def test_polling_through_the_cache_sees_no_write_and_is_found(line_of):
    @kernel
    def body(flag):
        flag = gm(flag, int32_t)
        if GetBlockIdx() == 0:
            while flag.GetValue(0) == 0:  # spins
                pass
        else:
            WriteGmByPassDCache(int32_t, flag.GetPhyAddr(), 1)

    with pytest.raises(DeadlockError, match="the data cache answers") as caught:
        launch(body, 2, np.zeros(16, np.int32))
    assert caught.value.block == 0
    assert caught.value.location.line == line_of(body, "# spins")
    assert "DataCacheCleanAndInvalid" in caught.value.fix


def test_spinning_on_the_unified_buffer_is_found(line_of):
    @kernel
    def body():
        tile = local()
        while tile.GetValue(0) != 1:  # spins
            pass

    with pytest.raises(DeadlockError, match="nothing between the reads") as caught:
        launch(body, 2)
    assert caught.value.location.line == line_of(body, "# spins")


def test_two_blocks_that_poll_for_each_other_are_found():
    @kernel
    def body(flag):
        flag, mine = gm(flag, int32_t), GetBlockIdx()
        while ReadGmByPassDCache(int32_t, flag.GetPhyAddr(mine)) == 0:
            pass
        WriteGmByPassDCache(int32_t, flag.GetPhyAddr(1 - mine), 1)

    with pytest.raises(DeadlockError) as caught:
        launch(body, 2, np.zeros(16, np.int32))
    assert len(caught.value.waits) == 2


def test_a_loop_that_computes_is_no_poll():
    # Equal maxima, tile after tile: the blocks still run one after another.
    order = []

    @kernel
    def body(x):
        tile = local()
        order.append(("in", GetBlockIdx()))
        for _ in range(200):
            DataCopy(tile, gm(x), 8)
            Duplicate(tile, 3, 8)
            tile.GetValue(0)
        order.append(("out", GetBlockIdx()))

    launch(body, 2, np.zeros(8, np.float32))
    assert order == [("in", 0), ("out", 0), ("in", 1), ("out", 1)]
