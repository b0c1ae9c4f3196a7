"""Blocks that wait for each other through global memory: by library calls, and by loops."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.ascendc import (
    PIPE_ALL,
    PIPE_MTE3,
    Adds,
    DataCopy,
    Duplicate,
    GetBlockIdx,
    GetBlockNum,
    GlobalTensor,
    HardEvent,
    IBSet,
    IBWait,
    InitDetermineComputeWorkspace,
    LocalTensor,
    NotifyNextBlock,
    PipeBarrier,
    ReadGmByPassDCache,
    SetFlag,
    TPipe,
    TPosition,
    WaitFlag,
    WaitPreBlock,
    WriteGmByPassDCache,
    float32,
    int32_t,
    kernel,
)
from simulator.errors import DeadlockError

N = 256


def gm(dtype, address):
    tensor = GlobalTensor(dtype)
    tensor.SetGlobalBuffer(address)
    return tensor


def local(byte, count=N, dtype=float32):
    return LocalTensor(dtype, TPosition.VECCALC, byte, count)


def hand_over(event):
    SetFlag(event, 0)
    WaitFlag(event, 0)


def found(body, *arrays, blocks=2):
    run = kernel(body).launch(blocks, *arrays, check="report")
    return [(f.code, f.severity) for f in run.findings]


def store_tile(z, value=1.0):
    tile = local(0)
    Duplicate(tile, value, N)
    hand_over(HardEvent.V_MTE3)
    DataCopy(gm(float32, z), tile, N)


def fetch_tile(z):
    DataCopy(local(4096), gm(float32, z), N)


OVERLAP = [("core.overlap", "error")]


@pytest.mark.parametrize("writer", [0, 1])
@pytest.mark.parametrize(
    ("sets", "waits", "expected"), [("before", "before", []), ("after", "before", OVERLAP)]
)
def test_ibset_behind_the_store_and_ibwait_before_the_fetch_order_two_blocks(
    writer, sets, waits, expected
):
    def body(z, workspace):
        TPipe()
        words, scratch = gm(int32_t, workspace), local(8192, 8, int32_t)
        if GetBlockIdx() == writer:
            if sets == "after":
                IBSet(words, scratch, writer, 0)
            store_tile(z)
            if sets == "before":
                IBSet(words, scratch, writer, 0)
        else:
            IBWait(words, scratch, writer, 0)
            fetch_tile(z)

    assert found(body, np.zeros(N, np.float32), np.zeros(64, np.int32)) == expected


def test_a_fetch_without_ibwait_is_not_ordered():
    def body(z, workspace):
        TPipe()
        if GetBlockIdx() == 0:
            store_tile(z)
            IBSet(gm(int32_t, workspace), local(8192, 8, int32_t), 0, 0)
        else:
            fetch_tile(z)

    assert found(body, np.zeros(N, np.float32), np.zeros(64, np.int32)) == OVERLAP


def test_ibwait_without_ibset_never_ends():
    def body(workspace):
        TPipe()
        if GetBlockIdx() == 1:
            IBWait(gm(int32_t, workspace), local(8192, 8, int32_t), 0, 0)

    with pytest.raises(DeadlockError):
        kernel(body).launch(2, np.zeros(64, np.int32))


@pytest.mark.parametrize("early", [False, True])
def test_the_turn_is_handed_on_behind_the_last_store(early):
    def body(z, workspace):
        TPipe()
        words, scratch = gm(int32_t, workspace), local(8192, 8 * GetBlockNum() + 8, int32_t)
        tile = local(0)
        InitDetermineComputeWorkspace(words, scratch)
        WaitPreBlock(words, scratch)
        DataCopy(tile, gm(float32, z), N)
        hand_over(HardEvent.MTE2_V)
        Adds(tile, tile, 1.0, N)
        hand_over(HardEvent.V_MTE3)
        if early:
            NotifyNextBlock(words, scratch)
        DataCopy(gm(float32, z), tile, N)
        if not early:
            NotifyNextBlock(words, scratch)

    codes = found(body, np.zeros(N, np.float32), np.zeros(64, np.int32), blocks=3)
    assert set(codes) == (set(OVERLAP) if early else set())


# -- loops of the kernel's own --------------------------------------------------------------------


def by_scalar_store(word):
    WriteGmByPassDCache(int32_t, gm(int32_t, word).GetPhyAddr(), 7)


def until_scalar_store(word):
    while ReadGmByPassDCache(int32_t, gm(int32_t, word).GetPhyAddr()) != 7:
        pass


def by_copy(word):
    flag = local(16384, 8, int32_t)
    Duplicate(flag, 7, 8)
    hand_over(HardEvent.V_MTE3)
    DataCopy(gm(int32_t, word), flag, 8)


def until_copy(word):
    flag = local(16384, 8, int32_t)
    DataCopy(flag, gm(int32_t, word), 8)
    hand_over(HardEvent.MTE2_S)
    while flag.GetValue(0) != 7:
        DataCopy(flag, gm(int32_t, word), 8)
        hand_over(HardEvent.MTE2_S)


HANDS = [(by_scalar_store, until_scalar_store), (by_copy, until_copy)]


@pytest.mark.parametrize("writer", [0, 1])
@pytest.mark.parametrize(("tell", "wait"), HANDS)
def test_a_loop_until_a_word_is_stored_orders_two_blocks(writer, tell, wait):
    def body(z, word):
        if GetBlockIdx() == writer:
            store_tile(z)
            PipeBarrier(PIPE_ALL)
            tell(word)
        else:
            wait(word)
            fetch_tile(z)

    assert found(body, np.zeros(N, np.float32), np.zeros(8, np.int32)) == []


@pytest.mark.parametrize("writer", [0, 1])
@pytest.mark.parametrize(("tell", "wait"), HANDS)
def test_what_is_stored_behind_the_word_is_not_ordered(writer, tell, wait):
    def body(z, word):
        if GetBlockIdx() == writer:
            tell(word)
            PipeBarrier(PIPE_ALL)
            store_tile(z)
        else:
            wait(word)
            fetch_tile(z)

    assert found(body, np.zeros(N, np.float32), np.zeros(8, np.int32)) == OVERLAP


@pytest.mark.parametrize(("tell", "wait"), HANDS)
def test_what_is_fetched_before_the_loop_is_not_ordered(tell, wait):
    def body(z, word):
        if GetBlockIdx() == 0:
            store_tile(z)
            PipeBarrier(PIPE_ALL)
            tell(word)
        else:
            fetch_tile(z)
            PipeBarrier(PIPE_ALL)
            wait(word)

    assert found(body, np.zeros(N, np.float32), np.zeros(8, np.int32)) == OVERLAP


@pytest.mark.parametrize("barrier", [True, False])
def test_the_word_may_overtake_the_tile_that_it_reports(barrier):
    # Copies of one pipe to different places are under way together.
    def body(z, word):
        if GetBlockIdx() == 0:
            store_tile(z)
            if barrier:
                PipeBarrier(PIPE_MTE3)
            by_copy(word)
        else:
            until_copy(word)
            fetch_tile(z)

    expected = [] if barrier else OVERLAP
    assert found(body, np.zeros(N, np.float32), np.zeros(8, np.int32)) == expected


@pytest.mark.parametrize("complete", [True, False])
def test_a_chain_of_words_orders_its_ends(complete):
    def body(z, words):
        me = GetBlockIdx()
        word = gm(int32_t, words)
        if me == 0:
            store_tile(z)
        elif me == 1 or complete:
            while ReadGmByPassDCache(int32_t, word.GetPhyAddr(me - 1)) != 7:
                pass
        if me == 2:
            fetch_tile(z)
        PipeBarrier(PIPE_ALL)
        WriteGmByPassDCache(int32_t, word.GetPhyAddr(me), 7)

    codes = found(body, np.zeros(N, np.float32), np.zeros(8, np.int32), blocks=3)
    assert codes == ([] if complete else OVERLAP)


def test_a_slot_that_is_used_again_needs_an_answer():
    def body(z, words, answered):
        word = gm(int32_t, words)
        for turn in (1, 2):
            if GetBlockIdx() == 0:
                store_tile(z, float(turn))
                PipeBarrier(PIPE_ALL)
                WriteGmByPassDCache(int32_t, word.GetPhyAddr(), turn)
                while answered and ReadGmByPassDCache(int32_t, word.GetPhyAddr(1)) != turn:
                    pass
            else:
                while ReadGmByPassDCache(int32_t, word.GetPhyAddr()) < turn:
                    pass
                fetch_tile(z)
                PipeBarrier(PIPE_ALL)
                WriteGmByPassDCache(int32_t, word.GetPhyAddr(1), turn)

    z = np.zeros(N, np.float32)
    assert found(body, z, np.zeros(8, np.int32), True) == []
    # The second tile may overwrite the first one while it is fetched.
    assert found(body, z, np.zeros(8, np.int32), False) == OVERLAP
