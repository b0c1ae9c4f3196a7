"""Registers that outlive a call, types in global memory, shares of blocks, mutexes."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.ascendc import (
    PIPE_ALL,
    PIPE_MTE2,
    PIPE_MTE3,
    PIPE_V,
    Adds,
    CrossCoreSetFlag,
    CrossCoreWaitFlag,
    DataCopy,
    DataCopyExtParams,
    DataCopyPad,
    Duplicate,
    GetBlockIdx,
    GlobalTensor,
    LocalTensor,
    Mutex,
    PipeBarrier,
    ResetMask,
    SetAtomicAdd,
    SetAtomicNone,
    SetMaskCount,
    SetMaskNorm,
    SetVectorMask,
    TPosition,
    UnaryRepeatParams,
    float32,
    half,
    int32_t,
    kernel,
)

UNIT = UnaryRepeatParams(1, 1, 8, 8)


def gm(address, dtype=float32):
    tensor = GlobalTensor(dtype)
    tensor.SetGlobalBuffer(address)
    return tensor


def local(byte, count, dtype=float32):
    return LocalTensor(dtype, TPosition.VECCALC, byte, count)


def run_of(body, *arrays, blocks=1, platform="910b"):
    return kernel(body).launch(blocks, *arrays, platform=platform, check="report")


def codes(*args, **options):
    return [f.code for f in run_of(*args, **options).findings]


# -- masks ----------------------------------------------------------------------------------------


def adds(mask, repeats, sets_mask=True):
    tile = local(0, 512)
    Adds(tile, tile, 1.0, mask, repeats, UNIT, sets_mask)


def masked(*steps):
    def body():
        Duplicate(local(0, 512), 0.0, 512)
        for step in steps:
            step()

    return codes(body)


def test_a_mask_form_in_counter_mode_that_counts_elements_is_meant_so():
    assert masked(SetMaskCount, lambda: adds(300, 1), SetMaskNorm) == []


def test_a_mask_form_in_counter_mode_that_means_repeats_is_not():
    assert masked(SetMaskCount, lambda: adds(64, 4)) == ["mask.stale"]


def test_a_count_form_ends_counter_mode_on_910b():
    assert (
        masked(SetMaskCount, lambda: Duplicate(local(4096, 8), 0.0, 8), lambda: adds(64, 4)) == []
    )


def test_a_call_under_the_mask_of_setvectormask_is_meant_so():
    assert masked(lambda: SetVectorMask(0, 0xFF), lambda: adds(0, 4, sets_mask=False)) == []


def test_a_call_under_the_mask_of_another_call_is_not():
    assert masked(lambda: adds(8, 4), lambda: adds(0, 4, sets_mask=False)) == ["mask.stale"]
    assert masked(lambda: adds(8, 4), ResetMask, lambda: adds(0, 4, sets_mask=False)) == []
    assert masked(lambda: adds(64, 4), lambda: adds(0, 4, sets_mask=False)) == []


# -- atomics --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ended", "expected"), [(True, []), (False, ["atomic.left_on"])])
def test_the_atomic_mode_has_to_be_switched_off(ended, expected):
    def body(z):
        tile = local(0, 8)
        Duplicate(tile, 1.0, 8)
        PipeBarrier(PIPE_ALL)
        SetAtomicAdd(float32)
        DataCopy(gm(z), tile, 8)
        if ended:
            SetAtomicNone()

    assert codes(body, np.zeros(8, np.float32)) == expected


def test_integer_atomics_have_no_order_to_speak_of():
    def body(z):
        tile = local(0, 8, int32_t)
        Duplicate(tile, 1, 8)
        PipeBarrier(PIPE_ALL)
        SetAtomicAdd(int32_t)
        DataCopy(gm(z, int32_t), tile, 8)
        SetAtomicNone()

    z = np.zeros(8, np.int32)
    run = run_of(body, z, blocks=4)
    assert (run.notes, z.tolist()) == ([], [4] * 8)


# -- types and shares -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("held", "read", "expected"),
    [
        (np.float32, float32, []),
        (np.float32, half, ["gm.misdeclared"]),
        (np.float64, float32, ["gm.misdeclared"]),
        (np.int32, float32, []),
        (np.float32, int32_t, []),
        (np.uint8, half, []),
    ],
)
def test_two_formats_of_floating_point_numbers_cannot_both_be_meant(held, read, expected):
    def body(x):
        DataCopy(local(0, 16, read), gm(x, read), 16)

    assert codes(body, np.zeros(64, held)) == expected


def shares(starts, count):
    def body(z):
        tile = local(0, 64)
        Duplicate(tile, 1.0, 64)
        PipeBarrier(PIPE_ALL)
        DataCopyPad(gm(z)[starts[GetBlockIdx()]], tile, DataCopyExtParams(1, 4 * count))

    z = np.zeros(256, np.float32)
    return [(f.code, f.elements) for f in run_of(body, z, blocks=len(starts)).findings]


def test_shares_that_meet_are_complete():
    assert shares([0, 40, 80], 40) == []
    assert shares([80, 0, 40], 40) == []


def test_a_gap_between_shares_is_named():
    assert shares([0, 40, 88], 40) == [("tile.cover", (80, 88))]


def test_a_kernel_that_scatters_its_results_leaves_gaps_on_purpose():
    def body(z):
        tile = local(0, 64)
        Duplicate(tile, 1.0, 64)
        PipeBarrier(PIPE_ALL)
        for row in range(4):
            DataCopyPad(gm(z)[64 * row + 8 * GetBlockIdx()], tile, DataCopyExtParams(1, 16))

    assert codes(body, np.zeros(256, np.float32), blocks=3) == []


# -- mutexes and pipes that wait for blocks (950) -------------------------------------------------


@pytest.mark.parametrize("locked", [True, False])
def test_a_mutex_orders_the_pipes_that_take_it(locked):
    def body(x, z):
        tile = local(0, 64)
        if locked:
            Mutex.Lock(PIPE_MTE2, 0)
        DataCopy(tile, gm(x), 64)
        if locked:
            Mutex.Unlock(PIPE_MTE2, 0)
            Mutex.Lock(PIPE_V, 0)
        Adds(tile, tile, 1.0, 64)
        if locked:
            Mutex.Unlock(PIPE_V, 0)
        PipeBarrier(PIPE_ALL)
        DataCopy(gm(z), tile, 64)

    x = np.ones(64, np.float32)
    expected = [] if locked else ["race.raw"]
    assert codes(body, x, x.copy(), platform="950") == expected


@pytest.mark.parametrize(("pipe", "expected"), [(PIPE_MTE2, []), (PIPE_V, ["core.overlap"])])
def test_a_cross_core_wait_of_one_pipe_holds_back_that_pipe_only(pipe, expected):
    def body(z):
        tile, back = local(0, 64), local(1024, 64)
        Duplicate(tile, float(GetBlockIdx()), 64)
        PipeBarrier(PIPE_ALL)
        DataCopy(gm(z)[64 * GetBlockIdx()], tile, 64)
        CrossCoreSetFlag(0, PIPE_MTE3, 4)
        CrossCoreWaitFlag(0, pipe, 4)
        DataCopy(back, gm(z)[64 * (1 - GetBlockIdx())], 64)

    assert codes(body, np.zeros(128, np.float32), blocks=2, platform="950") == expected
