"""Blocks that wait for each other: they really wait, and what can never come is explained."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.ascendc import (
    PIPE_MTE2,
    PIPE_MTE3,
    PIPE_S,
    PIPE_V,
    Adds,
    CrossCoreSetFlag,
    CrossCoreWaitFlag,
    DataCopy,
    Duplicate,
    GetBlockIdx,
    GetSubBlockIdx,
    GetTaskRatio,
    GlobalTensor,
    HardEvent,
    IBSet,
    IBWait,
    InitDetermineComputeWorkspace,
    LocalTensor,
    NotifyNextBlock,
    PipeBarrier,
    SetAtomicAdd,
    SetAtomicNone,
    SetFlag,
    SyncAll,
    SyncAllConfig,
    TPipe,
    TPosition,
    WaitFlag,
    WaitPreBlock,
    float32,
    int32_t,
    kernel,
    launch,
)
from simulator.core import current_core
from simulator.errors import ArgumentError, DeadlockError, FlagError, OutOfBoundsError

pytestmark = pytest.mark.usefixtures("machine_still_right")

SLOT = 8
TILE = 64


def local(addr=0, count=TILE, dtype=float32):
    return LocalTensor(dtype, TPosition.VECCALC, addr, count)


def gm(pointer, dtype=float32):
    tensor = GlobalTensor(dtype)
    tensor.SetGlobalBuffer(pointer)
    return tensor


def hard(work, ub):
    SyncAll()


def soft(work, ub):
    SyncAll(gm(work, int32_t), ub)


def by_flags(work, ub):
    CrossCoreSetFlag(0, PIPE_MTE3, 7)
    CrossCoreWaitFlag(7)


@pytest.mark.parametrize("platform", ["910b", "950"])
@pytest.mark.parametrize("meet", [hard, soft, by_flags])
@pytest.mark.parametrize("blocks", [1, 2, 7, 48])
def test_after_a_barrier_every_block_sees_what_all_wrote_before(meet, platform, blocks):
    # Block b writes b + 1, meets the others and reads its right neighbour, several times over.
    @kernel
    def body(x, y, work):
        TPipe()
        tile, mine = local(), GetBlockIdx()
        ub = local(4096, SLOT * blocks, int32_t)
        x, y = gm(x), gm(y)
        for turn in range(3):
            Duplicate(tile, mine + 1 + 100 * turn, TILE)
            DataCopy(x[mine * TILE], tile, TILE)
            meet(work, ub)
            DataCopy(tile, x[(mine + 1) % blocks * TILE], TILE)
            DataCopy(y[(turn * blocks + mine) * TILE], tile, TILE)
            meet(work, ub)

    x = np.zeros(blocks * TILE, np.float32)
    y = np.zeros(3 * blocks * TILE, np.float32)
    launch(body, blocks, x, y, np.zeros(blocks * SLOT, np.int32), platform=platform)
    right = (np.arange(blocks) + 1) % blocks + 1
    expected = np.repeat(np.concatenate([right, right + 100, right + 200]), TILE)
    np.testing.assert_array_equal(y, expected)


def test_a_suspended_block_keeps_its_own_unified_buffer_flags_and_registers():
    @kernel
    def body(y):
        tile, mine = local(), GetBlockIdx()
        Duplicate(tile, mine, TILE)
        SetFlag(HardEvent.V_MTE3, mine)
        SyncAll()
        assert list(current_core().flags) == [("V_MTE3", mine)]
        WaitFlag(HardEvent.V_MTE3, mine)
        DataCopy(gm(y)[mine * TILE], tile, TILE)

    y = np.zeros(6 * TILE, np.float32)
    launch(body, 6, y)
    np.testing.assert_array_equal(y, np.repeat(np.arange(6), TILE))


def test_atomic_sums_after_a_barrier_do_not_depend_on_the_course():
    @kernel
    def body(y):
        tile = local()
        Duplicate(tile, 1.5, TILE)
        if GetBlockIdx() == 3:
            DataCopy(gm(y), tile, TILE)
        SyncAll()
        SetAtomicAdd(float32)
        DataCopy(gm(y), tile, TILE)
        SetAtomicNone()

    prints, y = set(), np.zeros(TILE, np.float32)
    for _ in range(2):
        prints.add(launch(body, 8, y).fingerprint())
        np.testing.assert_array_equal(y, np.full(TILE, 1.5 * 9))
    assert len(prints) == 1


def test_blocks_leave_a_barrier_in_the_order_of_their_index():
    order = []

    @kernel
    def body():
        SyncAll()
        order.append(GetBlockIdx())

    launch(body, 9)
    assert order == list(range(9))


def test_a_kernel_that_never_waits_runs_its_blocks_one_after_another():
    order = []

    @kernel
    def body():
        order.append((GetBlockIdx(), "in"))
        order.append((GetBlockIdx(), "out"))

    launch(body, 3)
    assert order == [(b, w) for b in range(3) for w in ("in", "out")]


def test_more_blocks_than_cores_cannot_meet(line_of):
    @kernel
    def body():
        SyncAll()  # meets

    with pytest.raises(DeadlockError) as caught:
        launch(body, 49, platform="910b")
    error = caught.value
    assert error.location.line == line_of(body, "# meets")
    assert "launch at most 48 blocks" in error.fix
    assert "1 have not started" in error.got
    assert "48 blocks wait" in error.got


def test_a_block_that_returns_before_the_barrier_is_found(line_of):
    @kernel
    def body():
        if GetBlockIdx() == 2:
            return
        SyncAll()  # meets

    with pytest.raises(DeadlockError) as caught:
        launch(body, 4)
    error = caught.value
    assert (error.block, error.line) == (3, line_of(body, "# meets"))
    assert "missing: block 2" in str(error)
    assert "1 have finished" in error.got
    assert len(error.waits) == 3


def test_a_flag_that_no_block_sets_is_named(line_of):
    @kernel
    def body():
        if GetBlockIdx() == 1:
            CrossCoreWaitFlag(6)  # for ever

    with pytest.raises(DeadlockError, match="cross-core flag 6") as caught:
        launch(body, 3)
    assert caught.value.block == 1
    assert caught.value.location.line == line_of(body, "# for ever")
    assert "which no block has set" in str(caught.value)


def test_flags_of_mode_0_count_sets_that_come_early():
    @kernel
    def body():
        for _ in range(5):
            CrossCoreSetFlag(0, PIPE_MTE3, 2)
        for _ in range(5):
            CrossCoreWaitFlag(2)

    launch(body, 3)


def test_the_sixteenth_set_without_a_wait_overflows(line_of):
    @kernel
    def body():
        for _ in range(16):
            CrossCoreSetFlag(0, PIPE_MTE3, 2)  # sixteen

    with pytest.raises(FlagError, match="flag 2") as caught:
        launch(body, 1)
    assert caught.value.location.line == line_of(body, "# sixteen")


def test_mode_1_joins_the_two_vector_cores_of_an_ai_core():
    seen = []

    @kernel(task_ratio=2)
    def body():
        assert GetTaskRatio() == 2
        CrossCoreSetFlag(1, PIPE_V, 3)
        CrossCoreWaitFlag(3)
        seen.append((GetBlockIdx(), GetSubBlockIdx()))

    launch(body, 3)
    assert sorted(seen) == [(b, b % 2) for b in range(6)]


def test_mode_1_with_one_partner_missing():
    @kernel(task_ratio=2)
    def body():
        if GetBlockIdx() != 3:
            CrossCoreSetFlag(1, PIPE_V, 3)
            CrossCoreWaitFlag(3)

    with pytest.raises(DeadlockError, match="missing: block 3") as caught:
        launch(body, 2)
    assert caught.value.block == 2


def test_mode_2_waits_for_the_cube_core_that_is_not_there():
    @kernel
    def body():
        CrossCoreWaitFlag(2, PIPE_S, 3)

    with pytest.raises(DeadlockError, match="waits for the cube core"):
        launch(body, 1)


def test_on_950_only_the_named_pipe_waits():
    # The vector unit goes on while MTE2 waits for the other block.
    seen = []

    @kernel
    def body(x):
        a, b = local(), local(1024)
        if GetBlockIdx() == 0:
            CrossCoreSetFlag(0, PIPE_MTE3, 4)
            CrossCoreWaitFlag(0, PIPE_MTE2, 4)
            DataCopy(b, gm(x), TILE)
            SetFlag(HardEvent.MTE2_V, 0)
            Duplicate(a, 5, TILE)
            seen.append((a.GetValue(0), float(b.GetValue(0))))
            WaitFlag(HardEvent.MTE2_V, 0)
            Adds(b, b, 1, TILE)
            PipeBarrier(PIPE_V)
            SetFlag(HardEvent.V_S, 0)
            WaitFlag(HardEvent.V_S, 0)
            seen.append((a.GetValue(0), b.GetValue(0)))
        else:
            Duplicate(a, 9, TILE)
            DataCopy(gm(x), a, TILE)
            CrossCoreSetFlag(0, PIPE_MTE3, 4)

    launch(body, 2, np.zeros(TILE, np.float32), platform="950")
    assert seen[0][0] == 5
    assert np.isnan(seen[0][1])
    assert seen[1] == (5, 10)


def test_sync_all_of_950_with_chosen_pipes():
    @kernel
    def body(x, y):
        tile, mine = local(), GetBlockIdx()
        Duplicate(tile, mine + 1, TILE)
        DataCopy(gm(x)[mine * TILE], tile, TILE)
        SyncAll(config=SyncAllConfig(PIPE_MTE3, PIPE_MTE2))
        DataCopy(tile, gm(x)[(mine + 1) % 4 * TILE], TILE)
        SetFlag(HardEvent.MTE2_MTE3, 0)
        WaitFlag(HardEvent.MTE2_MTE3, 0)
        DataCopy(gm(y)[mine * TILE], tile, TILE)

    x, y = np.zeros(4 * TILE, np.float32), np.zeros(4 * TILE, np.float32)
    launch(body, 4, x, y, platform="950")
    np.testing.assert_array_equal(y, np.repeat([2, 3, 4, 1], TILE))


def test_a_soft_barrier_of_the_first_blocks_only():
    @kernel
    def body(y, work):
        TPipe()
        if GetBlockIdx() < 3:
            SyncAll(gm(work, int32_t), local(0, 3 * SLOT, int32_t), 3)
            tile = local(1024)
            Duplicate(tile, 1, TILE)
            DataCopy(gm(y)[GetBlockIdx() * TILE], tile, TILE)

    y, work = np.zeros(5 * TILE, np.float32), np.zeros(5 * SLOT, np.int32)
    launch(body, 5, y, work)
    np.testing.assert_array_equal(y, [1] * 3 * TILE + [0] * 2 * TILE)


def test_a_soft_barrier_checks_its_workspaces(line_of):
    @kernel
    def body(work):
        TPipe()
        SyncAll(gm(work, int32_t), local(0, SLOT, int32_t))  # short

    with pytest.raises((OutOfBoundsError, ArgumentError)) as caught:
        launch(body, 3, np.zeros(3 * SLOT, np.int32))
    assert caught.value.location.line == line_of(body, "# short")


def test_a_soft_barrier_with_a_missing_block_is_found():
    @kernel
    def body(work):
        TPipe()
        if GetBlockIdx() != 1:
            SyncAll(gm(work, int32_t), local(0, 3 * SLOT, int32_t))

    with pytest.raises(DeadlockError) as caught:
        launch(body, 3, np.zeros(3 * SLOT, np.int32))
    assert [wait.partition(" at ")[0] for wait in caught.value.waits] == ["block 0", "block 2"]
    assert "[1, 0, 1]" in str(caught.value)


def test_ib_set_and_wait_pass_a_token_from_block_to_block():
    order = []

    @kernel
    def body(work, x):
        TPipe()
        mine, ub, work = GetBlockIdx(), local(0, SLOT, int32_t), gm(work, int32_t)
        tile = local(1024)
        if mine < 4:
            IBWait(work, ub, mine + 1, 0)
        order.append(mine)
        SetAtomicAdd(float32)
        Duplicate(tile, mine, TILE)
        DataCopy(gm(x), tile, TILE)
        SetAtomicNone()
        IBSet(work, ub, mine, 0)

    x = np.zeros(TILE, np.float32)
    launch(body, 5, np.zeros(5 * SLOT, np.int32), x)
    assert order == [4, 3, 2, 1, 0]
    np.testing.assert_array_equal(x, np.full(TILE, 10))


def test_ib_wait_without_a_set_is_found(line_of):
    @kernel
    def body(work):
        TPipe()
        IBWait(gm(work, int32_t), local(0, SLOT, int32_t), 1, 0)  # never

    with pytest.raises(DeadlockError) as caught:
        launch(body, 2, np.zeros(2 * SLOT, np.int32))
    assert caught.value.location.line == line_of(body, "# never")


def test_blocks_take_turns_in_the_order_of_their_index():
    order = []

    @kernel
    def body(work):
        TPipe()
        ub = local(0, 5 * SLOT, int32_t)
        work = gm(work, int32_t)
        InitDetermineComputeWorkspace(work, ub)
        for turn in range(2):
            WaitPreBlock(work, ub)
            order.append((turn, GetBlockIdx()))
            NotifyNextBlock(work, ub)

    launch(body, 4, np.zeros(5 * SLOT, np.int32))
    assert order == [(turn, block) for turn in range(2) for block in range(4)]


def test_the_first_error_ends_the_launch_and_blocks_in_waiting_clean_up():
    left = []

    @kernel
    def body(x):
        if GetBlockIdx() == 3:
            DataCopy(local(), gm(x)[60], 8)
        try:
            SyncAll()
        finally:
            left.append(GetBlockIdx())

    with pytest.raises(OutOfBoundsError) as caught:
        launch(body, 5, np.zeros(64, np.float32))
    assert caught.value.block == 3
    assert sorted(left) == [0, 1, 2]


def test_a_python_error_in_a_later_block_passes_through():
    @kernel
    def body():
        if GetBlockIdx() == 1:
            raise ValueError("mine")
        SyncAll()

    with pytest.raises(ValueError, match="mine"):
        launch(body, 3)


@pytest.mark.parametrize(
    ("mode", "pipe", "flag", "word"),
    [(3, PIPE_V, 1, "mode"), (0, PIPE_S, 1, "PIPE_S"), (0, PIPE_V, 16, "16"), (4, PIPE_V, 1, "4")],
)
def test_arguments_of_cross_core_set_flag_on_910b(mode, pipe, flag, word):
    @kernel
    def body():
        CrossCoreSetFlag(mode, pipe, flag)

    with pytest.raises((ArgumentError, FlagError)) as caught:
        launch(body, 1)
    assert word in str(caught.value)
