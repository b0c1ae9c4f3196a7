"""What is ordered and what is not: flags, barriers, queues, automatic synchronisation, blocks."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.ascendc import (
    EVENT_ID0,
    PIPE_ALL,
    PIPE_MTE2,
    PIPE_MTE3,
    PIPE_V,
    Add,
    Adds,
    CrossCoreSetFlag,
    CrossCoreWaitFlag,
    DataCopy,
    DataCopyExtParams,
    DataCopyPad,
    DataCopyPadExtParams,
    Duplicate,
    GetBlockIdx,
    GetBlockNum,
    GlobalTensor,
    HardEvent,
    IBSet,
    IBWait,
    InitDetermineComputeWorkspace,
    LocalTensor,
    Muls,
    NotifyNextBlock,
    PipeBarrier,
    ReduceMax,
    SetAtomicAdd,
    SetAtomicNone,
    SetFlag,
    SyncAll,
    TBuf,
    TPipe,
    TPosition,
    TQue,
    TQueBind,
    WaitFlag,
    WaitPreBlock,
    float32,
    half,
    int32_t,
    kernel,
)

N = 256


def gm(dtype, address):
    tensor = GlobalTensor(dtype)
    tensor.SetGlobalBuffer(address)
    return tensor


def local(byte, count=N, dtype=float32):
    return LocalTensor(dtype, TPosition.VECCALC, byte, count)


def findings(body, *arrays, blocks=1, auto_sync=True, platform="910b", task_ratio=1):
    """Codes of the findings of ``body`` with the events or barriers that would mend them."""
    run = kernel(auto_sync=auto_sync, task_ratio=task_ratio)(body).launch(
        blocks, *arrays, platform=platform, check="report"
    )
    return [(f.code, "; ".join(i.statement for i in f.insert)) for f in run.findings]


def codes(*args, **options):
    return [code for code, _ in findings(*args, **options)]


def array(elements=N):
    return np.arange(elements, dtype=np.float32)


def hand_over(event, number=EVENT_ID0):
    SetFlag(event, number)
    WaitFlag(event, number)


# -- inside a block -------------------------------------------------------------------------------


def in_and_out(x, z):
    tile = local(0)
    DataCopy(tile, gm(float32, x), N)
    hand_over(HardEvent.MTE2_V)
    Adds(tile, tile, 1.0, N)
    hand_over(HardEvent.V_MTE3)
    DataCopy(gm(float32, z), tile, N)


def test_flags_from_pipe_to_pipe_order_a_tile():
    assert codes(in_and_out, array(), array()) == []


def test_what_a_pipe_has_waited_for_is_passed_on_with_its_flag():
    def body(x, z):
        tile = local(0)
        DataCopy(tile, gm(float32, x), N)
        hand_over(HardEvent.MTE2_V)
        Adds(local(4096), local(4096, 8), 0.0, 0)
        # MTE3 waits for V only, and V has waited for MTE2.
        hand_over(HardEvent.V_MTE3)
        DataCopy(gm(float32, z), tile, N)

    assert codes(body, array(), array()) == []


def test_a_flag_set_before_the_access_orders_nothing():
    def body(x, z):
        tile = local(0)
        SetFlag(HardEvent.MTE2_V, 0)
        DataCopy(tile, gm(float32, x), N)
        WaitFlag(HardEvent.MTE2_V, 0)
        Adds(tile, tile, 1.0, N)
        hand_over(HardEvent.V_MTE3)
        DataCopy(gm(float32, z), tile, N)

    assert findings(body, array(), array()) == [
        ("race.raw", "SetFlag(HardEvent.MTE2_V, 1); WaitFlag(HardEvent.MTE2_V, 1)")
    ]


def test_a_wait_that_stands_before_its_set_in_the_program_still_orders():
    def body(x, z):
        tile = local(0)
        WaitFlag(HardEvent.MTE2_V, 0)
        Adds(tile, tile, 1.0, N)
        DataCopy(tile, gm(float32, x), N)
        SetFlag(HardEvent.MTE2_V, 0)
        hand_over(HardEvent.V_MTE3)
        DataCopy(gm(float32, z), tile, N)

    x, z = array(), array()
    assert codes(body, x, z) == []
    assert np.array_equal(z, x + 1)


@pytest.mark.parametrize("barrier", [PIPE_ALL, PIPE_V])
def test_a_barrier_of_all_pipes_orders_everything_and_one_of_v_only_v(barrier):
    def body(x, z):
        tile = local(0)
        DataCopy(tile, gm(float32, x), N)
        PipeBarrier(barrier)
        Adds(tile, tile, 1.0, N)
        PipeBarrier(PIPE_ALL)
        DataCopy(gm(float32, z), tile, N)

    assert codes(body, array(), array()) == ([] if barrier is PIPE_ALL else ["race.raw"])


def test_one_missing_flag_is_one_finding_however_many_tiles_it_lets_through():
    def body(x, y, z):
        a, b = local(0), local(1024)
        DataCopy(a, gm(float32, x), N)
        DataCopy(b, gm(float32, y), N)
        Add(local(2048), a, b, N)
        hand_over(HardEvent.V_MTE3)
        DataCopy(gm(float32, z), local(2048), N)

    assert codes(body, array(), array(), array()) == ["race.raw"]


def test_a_race_of_a_loop_is_one_finding_with_a_count():
    def body(x, z):
        for i in range(4):
            tile = local(1024 * i)
            DataCopy(tile, gm(float32, x)[i * N], N)
            Adds(tile, tile, 1.0, N)
            hand_over(HardEvent.V_MTE3)
            DataCopy(gm(float32, z)[i * N], tile, N)

    run = kernel(body).launch(1, array(4 * N), array(4 * N), check="report")
    assert [(f.code, f.count) for f in run.findings] == [("race.raw", 4)]


def test_the_suggested_id_is_one_that_the_kernel_does_not_use():
    def body(x, z):
        hand_over(HardEvent.MTE2_V, 0)
        hand_over(HardEvent.MTE2_V, 1)
        tile = local(0)
        DataCopy(tile, gm(float32, x), N)
        Adds(tile, tile, 1.0, N)
        hand_over(HardEvent.V_MTE3)
        DataCopy(gm(float32, z), tile, N)

    assert findings(body, array(), array()) == [
        ("race.raw", "SetFlag(HardEvent.MTE2_V, 2); WaitFlag(HardEvent.MTE2_V, 2)")
    ]


def test_a_flag_set_in_a_branch_is_suggested_in_one_place_with_its_wait():
    def body(x, z):
        tile = local(0)
        if x is not None:
            DataCopy(tile, gm(float32, x), N)
        Adds(tile, tile, 1.0, N)
        hand_over(HardEvent.V_MTE3)
        DataCopy(gm(float32, z), tile, N)

    run = kernel(body).launch(1, array(), array(), check="report")
    (finding,) = run.findings
    assert [i.where for i in finding.insert] == ["before", "before"]
    assert {i.line for i in finding.insert} == {finding.location.line}


def test_masked_and_strided_accesses_are_compared_byte_by_byte():
    def body(x, z):
        tile = local(0, 64)
        # Rows of 8 elements at every second block of 32 bytes, and V in the blocks between.
        DataCopy(tile, gm(float32, x), 8)
        from simulator.ascendc import DataCopyParams, UnaryRepeatParams

        DataCopy(tile, gm(float32, x), DataCopyParams(4, 1, 0, 1))
        Adds(tile[8], tile[8], 1.0, 8, 4, UnaryRepeatParams(1, 1, 2, 2))

    assert "race.raw" not in codes(body, array(), array())


# -- automatic synchronisation --------------------------------------------------------------------


def v_after_v(x, z):
    tile = local(0)
    DataCopy(tile, gm(float32, x), N)
    hand_over(HardEvent.MTE2_V)
    Adds(tile, tile, 1.0, N)
    Muls(tile, tile, 2.0, N)
    hand_over(HardEvent.V_MTE3)
    DataCopy(gm(float32, z), tile, N)


@pytest.mark.parametrize(
    ("platform", "auto_sync", "expected"),
    [
        ("910b", True, []),
        ("910b", False, ["race.samepipe"]),
        ("950", True, []),
        ("950", False, []),
    ],
)
def test_v_after_v_is_ordered_by_the_compiler_and_on_950_by_the_hardware(
    platform, auto_sync, expected
):
    assert codes(v_after_v, array(), array(), platform=platform, auto_sync=auto_sync) == expected


def scalar_after_copy(x, z):
    tile = local(0)
    DataCopy(tile, gm(float32, x), N)
    first = tile.GetValue(0)
    Duplicate(local(2048), first, N)
    hand_over(HardEvent.V_MTE3)
    DataCopy(gm(float32, z), local(2048), N)


def test_the_scalar_unit_is_ordered_by_the_compiler_only():
    assert codes(scalar_after_copy, array(), array()) == []
    assert codes(scalar_after_copy, array(), array(), auto_sync=False) == ["race.scalar"]


def test_what_the_scalar_unit_has_waited_for_holds_for_what_it_issues_later():
    def body(x, z):
        tile = local(0)
        DataCopy(tile, gm(float32, x), N)
        hand_over(HardEvent.MTE2_S)
        Adds(tile, tile, 1.0, N)
        hand_over(HardEvent.V_MTE3)
        DataCopy(gm(float32, z), tile, N)

    assert codes(body, array(), array(), auto_sync=False) == []


@pytest.mark.parametrize("auto_sync", [True, False])
@pytest.mark.parametrize("platform", ["910b", "950"])
def test_copies_of_one_pipe_to_one_place_need_a_barrier_on_every_platform(platform, auto_sync):
    def body(x, z):
        tile = local(0)
        DataCopy(tile, gm(float32, x), N)
        DataCopy(tile[8], gm(float32, x), 8)
        hand_over(HardEvent.MTE2_MTE3)
        DataCopy(gm(float32, z), tile, N)

    expected = [("race.samepipe", "PipeBarrier(PIPE_MTE2)")]
    assert findings(body, array(), array(), platform=platform, auto_sync=auto_sync) == expected


def test_the_compiler_does_not_order_copies_with_vector_calls():
    def body(x, z):
        tile = local(0)
        DataCopy(tile, gm(float32, x), N)
        Adds(tile, tile, 1.0, N)
        DataCopy(gm(float32, z), tile, N)

    assert codes(body, array(), array(), auto_sync=True) == ["race.raw", "race.raw"]


def test_what_is_clean_for_one_setting_is_checked_again_for_another():
    x, z = array(), array()
    for _ in range(2):
        assert codes(v_after_v, x, z, auto_sync=True) == []
        assert codes(v_after_v, x, z, auto_sync=False) == ["race.samepipe"]


def test_a_fault_is_found_in_every_launch():
    def body(x, z):
        tile = local(0)
        DataCopy(tile, gm(float32, x), N)
        Muls(tile, tile, 2.0, N)
        hand_over(HardEvent.V_MTE3)
        DataCopy(gm(float32, z), tile, N)

    assert [codes(body, array(), array()) for _ in range(3)] == [["race.raw"]] * 3


# -- queues ---------------------------------------------------------------------------------------


def pipeline(depth, buffers):
    def body(x, z):
        pipe = TPipe()
        fetched, done = TQue(TPosition.VECIN, depth), TQue(TPosition.VECOUT, depth)
        pipe.InitBuffer(fetched, buffers, 4 * N)
        pipe.InitBuffer(done, buffers, 4 * N)
        source, target = gm(float32, x), gm(float32, z)
        for first in range(0, 8, depth):
            for i in range(first, first + depth):
                tile = fetched.AllocTensor(float32)
                DataCopy(tile, source[i * N], N)
                fetched.EnQue(tile)
            for _ in range(depth):
                tile, out = fetched.DeQue(float32), done.AllocTensor(float32)
                Adds(out, tile, 1.0, N)
                done.EnQue(out)
                fetched.FreeTensor(tile)
            for i in range(first, first + depth):
                out = done.DeQue(float32)
                DataCopy(target[i * N], out, N)
                done.FreeTensor(out)

    return body


@pytest.mark.parametrize("auto_sync", [True, False])
@pytest.mark.parametrize("platform", ["910b", "950"])
@pytest.mark.parametrize(("depth", "buffers"), [(1, 1), (1, 2), (2, 2), (4, 4), (2, 4)])
def test_pipelines_through_queues_are_clean(platform, depth, buffers, auto_sync):
    x, z = array(8 * N), np.zeros(8 * N, np.float32)
    body = pipeline(depth, buffers)
    assert findings(body, x, z, platform=platform, auto_sync=auto_sync) == []
    assert np.array_equal(z, x + 1)


@pytest.mark.parametrize("auto_sync", [True, False])
def test_an_in_place_queue_is_clean(auto_sync):
    def body(x, z):
        pipe = TPipe()
        queue = TQue(TPosition.VECIN, 0)
        out = TQue(TPosition.VECOUT, 0)
        pipe.InitBuffer(queue, 1, 4 * N)
        pipe.InitBuffer(out, 1, 4 * N)
        for i in range(3):
            tile = queue.AllocTensor(float32)
            DataCopy(tile, gm(float32, x)[i * N], N)
            queue.EnQue(tile)
            queue.DeQue(tile)
            result = out.AllocTensor(float32)
            Adds(result, tile, 1.0, N)
            queue.FreeTensor(tile)
            out.EnQue(result)
            out.DeQue(result)
            DataCopy(gm(float32, z)[i * N], result, N)
            out.FreeTensor(result)

    assert findings(body, array(3 * N), array(3 * N), auto_sync=auto_sync) == []


def test_a_bound_queue_orders_copies_in_with_copies_out():
    def body(x, z):
        pipe = TPipe()
        queue = TQueBind(TPosition.VECIN, TPosition.VECOUT, 2)
        pipe.InitBuffer(queue, 2, 4 * N)
        for i in range(4):
            tile = queue.AllocTensor(float32)
            DataCopy(tile, gm(float32, x)[i * N], N)
            queue.EnQue(tile)
            tile = queue.DeQue(float32)
            DataCopy(gm(float32, z)[i * N], tile, N)
            queue.FreeTensor(tile)

    assert findings(body, array(4 * N), array(4 * N)) == []


@pytest.mark.parametrize("step", ["EnQue", "FreeTensor"])
def test_a_tensor_used_after_it_is_handed_on_races(step):
    def body(x, z):
        pipe = TPipe()
        queue, out = TQue(TPosition.VECIN, 1), TBuf(TPosition.VECCALC)
        pipe.InitBuffer(queue, 1, 4 * N)
        pipe.InitBuffer(out, 4 * N)
        result = out.Get(float32)
        for i in range(2):
            tile = queue.AllocTensor(float32)
            DataCopy(tile, gm(float32, x)[i * N], N)
            queue.EnQue(tile)
            if step == "EnQue":
                Adds(result, tile, 1.0, N)
            tile = queue.DeQue(float32)
            queue.FreeTensor(tile)
            if step == "FreeTensor":
                Adds(result, tile, 1.0, N)

    run = kernel(body).launch(1, array(2 * N), array(), check="report")
    errors = [f.code for f in run.findings if f.is_error]
    assert errors == ["race.raw" if step == "EnQue" else "race.war"]


# -- global memory of one block -------------------------------------------------------------------


@pytest.mark.parametrize("ordered", [True, False])
def test_a_store_that_is_fetched_again_needs_a_flag(ordered):
    def body(z):
        out, back = local(0), local(2048)
        Duplicate(out, 1.0, N)
        hand_over(HardEvent.V_MTE3)
        DataCopy(gm(float32, z), out, N)
        if ordered:
            hand_over(HardEvent.MTE3_MTE2)
        DataCopy(back, gm(float32, z), N)

    expected = [] if ordered else ["race.raw"]
    assert codes(body, array()) == expected


@pytest.mark.parametrize("ordered", [True, False])
def test_two_stores_to_one_place_need_a_barrier(ordered):
    def body(z):
        for value in range(2):
            tile = local(1024 * value)
            Duplicate(tile, float(value), N)
            hand_over(HardEvent.V_MTE3)
            if ordered:
                PipeBarrier(PIPE_MTE3)
            DataCopy(gm(float32, z), tile, N)

    assert codes(body, array()) == ([] if ordered else ["race.samepipe"])


def test_two_atomic_stores_to_one_place_need_none():
    def body(z):
        tile = local(0)
        Duplicate(tile, 1.0, N)
        hand_over(HardEvent.V_MTE3)
        SetAtomicAdd(float32)
        DataCopy(gm(float32, z), tile, N)
        DataCopy(gm(float32, z), tile, N)
        SetAtomicNone()

    assert codes(body, array()) == []


def test_an_operation_in_place_in_global_memory_is_clean():
    def body(x):
        for i in range(4):
            tile = local(1024 * i)
            DataCopy(tile, gm(float32, x)[i * N], N)
            hand_over(HardEvent.MTE2_V)
            Adds(tile, tile, 1.0, N)
            hand_over(HardEvent.V_MTE3)
            DataCopy(gm(float32, x)[i * N], tile, N)

    assert codes(body, array(4 * N)) == []


# -- between blocks -------------------------------------------------------------------------------


def exchange(meet):
    """Every block stores its tile and then fetches the neighbour's."""

    def body(z, *workspace):
        me, count = GetBlockIdx(), GetBlockNum()
        out, back = local(0), local(2048)
        TPipe()
        Duplicate(out, float(me), N)
        hand_over(HardEvent.V_MTE3)
        DataCopy(gm(float32, z)[me * N], out, N)
        meet(*workspace)
        DataCopy(back, gm(float32, z)[(me + 1) % count * N], N)

    return body


def nothing(*_):
    pass


def by_sync_all(*_):
    SyncAll()


def by_workspace(workspace):
    SyncAll(gm(int32_t, workspace), local(8192, 8 * GetBlockNum(), int32_t))


def by_flags(*_):
    CrossCoreSetFlag(0, PIPE_MTE3, 3)
    CrossCoreWaitFlag(3)


def by_a_flag_of_the_wrong_pipe(*_):
    CrossCoreSetFlag(0, PIPE_V, 3)
    CrossCoreWaitFlag(3)


@pytest.mark.parametrize("platform", ["910b", "950"])
@pytest.mark.parametrize(
    ("meet", "expected"),
    [
        (nothing, ["core.overlap"]),
        (by_sync_all, []),
        (by_workspace, []),
        (by_flags, []),
    ],
)
def test_blocks_that_read_each_others_results_have_to_meet(platform, meet, expected):
    blocks = 5
    z, workspace = array(blocks * N), np.zeros(8 * blocks, np.int32)
    arrays = (z, workspace) if meet is by_workspace else (z,)
    assert codes(exchange(meet), *arrays, blocks=blocks, platform=platform) == expected


def test_a_cross_core_flag_reports_what_its_own_pipe_has_finished():
    # V has finished when the flag is set, but the store on MTE3 may still be under way.
    z = array(3 * N)
    assert codes(exchange(by_a_flag_of_the_wrong_pipe), z, blocks=3) == ["core.overlap"]


def test_the_second_round_of_a_flag_orders_the_second_exchange():
    def body(z):
        me, count = GetBlockIdx(), GetBlockNum()
        out, back = local(0), local(2048)
        for turn in range(3):
            PipeBarrier(PIPE_ALL)
            Duplicate(out, float(turn), N)
            hand_over(HardEvent.V_MTE3)
            DataCopy(gm(float32, z)[(turn * count + me) * N], out, N)
            by_flags()
            DataCopy(back, gm(float32, z)[(turn * count + (me + 1) % count) * N], N)

    assert "core.overlap" not in codes(body, array(12 * N), blocks=4)


def test_reusing_the_slot_needs_a_second_meeting():
    def body(z, meetings):
        me, count = GetBlockIdx(), GetBlockNum()
        out, back = local(0), local(2048)
        for turn in range(2):
            PipeBarrier(PIPE_ALL)
            Duplicate(out, float(turn), N)
            hand_over(HardEvent.V_MTE3)
            DataCopy(gm(float32, z)[me * N], out, N)
            SyncAll()
            DataCopy(back, gm(float32, z)[(me + 1) % count * N], N)
            PipeBarrier(PIPE_ALL)
            Adds(back, back, 1.0, N)
            if meetings == 2:
                SyncAll()

    assert "core.overlap" not in codes(body, array(4 * N), 2, blocks=4)
    # The store of turn 1 may overtake the neighbour's fetch of turn 0.
    assert "core.overlap" in codes(body, array(4 * N), 1, blocks=4)


def test_mode_1_orders_the_vector_cores_of_one_ai_core_only():
    def body(z, distance):
        me, count = GetBlockIdx(), GetBlockNum() * 2
        out, back = local(0), local(2048)
        Duplicate(out, float(me), N)
        hand_over(HardEvent.V_MTE3)
        DataCopy(gm(float32, z)[me * N], out, N)
        CrossCoreSetFlag(1, PIPE_MTE3, 3)
        CrossCoreWaitFlag(3)
        DataCopy(back, gm(float32, z)[(me ^ distance) % count * N], N)

    def run(distance):
        return codes(body, array(4 * N), distance, blocks=2, task_ratio=2)

    assert run(1) == []
    assert run(2) == ["core.overlap"]


def test_a_flag_of_all_blocks_tells_a_block_of_its_own_store_as_well():
    # The wait needs the block's own set, which comes behind its first store.
    def body(z):
        me, count = GetBlockIdx(), GetBlockNum()
        out, back = local(0), local(2048)
        Duplicate(out, float(me), N)
        hand_over(HardEvent.V_MTE3)
        DataCopy(gm(float32, z)[me * N], out, N)
        CrossCoreSetFlag(0, PIPE_MTE3, 5)
        CrossCoreWaitFlag(0, PIPE_MTE2, 5)
        DataCopy(back, gm(float32, z)[(me + 1) % count * N], N)
        CrossCoreSetFlag(0, PIPE_MTE2, 6)
        CrossCoreWaitFlag(0, PIPE_MTE3, 6)
        hand_over(HardEvent.MTE2_MTE3)
        DataCopy(gm(float32, z)[me * N], back, N)

    assert codes(body, array(4 * N), blocks=4, platform="950") == []


def test_a_flag_of_the_cube_core_tells_nothing_of_a_blocks_own_store():
    def body(z, mode):
        out = local(0)
        DataCopy(gm(float32, z)[GetBlockIdx() * N], out, N)
        CrossCoreSetFlag(mode, PIPE_MTE3, 5)
        CrossCoreSetFlag(0, PIPE_MTE2, 5)
        CrossCoreWaitFlag(0, PIPE_MTE3, 5)
        DataCopy(gm(float32, z)[GetBlockIdx() * N], out, N)

    assert "race.samepipe" in codes(body, array(2 * N), 2, blocks=2, platform="950")


def test_a_tile_that_a_loop_reads_each_round_is_no_poll():
    def body(z):
        me, count = GetBlockIdx(), GetBlockNum()
        tile = local(0)
        for _ in range(3):
            DataCopy(tile, gm(float32, z)[(me + 1) % count * N], N)
            hand_over(HardEvent.MTE2_V)
            Adds(tile, tile, 1.0, N)
            PipeBarrier(PIPE_ALL)
            SyncAll()
            DataCopy(gm(float32, z)[me * N], tile, N)
            PipeBarrier(PIPE_ALL)

    run = kernel(body).launch(4, array(4 * N), check="report")
    assert {(f.code, f.severity) for f in run.findings} == {("core.overlap", "error")}


@pytest.mark.parametrize("auto_sync", [True, False])
def test_scalar_steps_inside_a_reduction_are_its_own_affair(auto_sync):
    # 300 elements are four repeats and a rest, whose results the scalar unit brings together.
    def body(x, z):
        tile, best, work = local(0, 512), local(2048, 8), local(4096, 64)
        DataCopy(tile, gm(float32, x), 512)
        hand_over(HardEvent.MTE2_V)
        ReduceMax(best, tile, work, 300, True)
        hand_over(HardEvent.V_MTE3)
        DataCopyPad(gm(float32, z), best, DataCopyExtParams(1, 8))

    assert codes(body, array(512), array(2), auto_sync=auto_sync) == []


def test_ibset_and_ibwait_order_a_pair_of_blocks():
    def body(z, workspace):
        TPipe()
        me = GetBlockIdx()
        words, scratch = gm(int32_t, workspace), local(8192, 8, int32_t)
        tile = local(0)
        if me == 0:
            Duplicate(tile, 1.0, N)
            hand_over(HardEvent.V_MTE3)
            DataCopy(gm(float32, z), tile, N)
            IBSet(words, scratch, 0, 0)
        else:
            IBWait(words, scratch, 0, 0)
            DataCopy(tile, gm(float32, z), N)

    words = np.zeros(64, np.int32)
    assert codes(body, array(), words, blocks=2) == []


def test_blocks_in_order_may_add_to_one_place_one_after_another():
    def body(z, workspace, ordered):
        TPipe()
        words, scratch = gm(int32_t, workspace), local(8192, 8 * GetBlockNum() + 8, int32_t)
        tile = local(0)
        if ordered:
            InitDetermineComputeWorkspace(words, scratch)
            WaitPreBlock(words, scratch)
        DataCopy(tile, gm(float32, z), N)
        hand_over(HardEvent.MTE2_V)
        Adds(tile, tile, 1.0, N)
        hand_over(HardEvent.V_MTE3)
        DataCopy(gm(float32, z), tile, N)
        if ordered:
            NotifyNextBlock(words, scratch)

    z = np.zeros(N, np.float32)
    assert codes(body, z, np.zeros(64, np.int32), True, blocks=3) == []
    assert (z == 3).all()
    assert {*codes(body, z, np.zeros(64, np.int32), False, blocks=3)} == {"core.overlap"}


@pytest.mark.parametrize(
    ("value", "severity"), [(lambda me: 1.0, "warning"), (float, "error")], ids=["equal", "unequal"]
)
def test_blocks_that_write_equal_values_to_one_place_are_worth_a_warning_only(value, severity):
    def body(z):
        tile = local(0)
        Duplicate(tile, value(GetBlockIdx()), N)
        hand_over(HardEvent.V_MTE3)
        DataCopy(gm(float32, z), tile, N)

    z = np.full(N, 7, np.float32)
    run = kernel(body).launch(3, z, check="report")
    before = z.copy()
    (finding,) = run.findings
    assert (finding.code, finding.severity) == ("core.overlap", severity)
    assert np.array_equal(z, before)


def test_a_tail_that_the_last_block_works_on_twice_is_worth_a_warning_only():
    def body(x, z, length):
        start = min(GetBlockIdx() * N, length - N)
        tile = local(0)
        DataCopy(tile, gm(float32, x)[start], N)
        hand_over(HardEvent.MTE2_V)
        Adds(tile, tile, 1.0, N)
        hand_over(HardEvent.V_MTE3)
        DataCopy(gm(float32, z)[start], tile, N)

    length = 3 * N + 40
    run = kernel(body).launch(4, array(length), array(length), length, check="report")
    assert [(f.code, f.severity) for f in run.findings] == [("core.overlap", "warning")]
    assert run.findings[0].bytes == (4 * (length - N), 4 * 3 * N)


def test_columns_of_one_row_may_belong_to_different_blocks():
    def body(z):
        tile = local(0, 64)
        Duplicate(tile, float(GetBlockIdx()), 64)
        hand_over(HardEvent.V_MTE3)
        # Eight rows of eight elements, 128 bytes apart.
        params = DataCopyExtParams(8, 32, 0, 96)
        DataCopyPad(gm(float32, z)[8 * GetBlockIdx()], tile, params)

    assert codes(body, array(8 * 32), blocks=4) == []


def test_blocks_may_read_one_input_together():
    def body(x, z):
        tile = local(0)
        DataCopyPad(tile, gm(float32, x), DataCopyExtParams(1, 4 * N), DataCopyPadExtParams())
        hand_over(HardEvent.MTE2_MTE3)
        DataCopy(gm(float32, z)[GetBlockIdx() * N], tile, N)

    assert codes(body, array(), array(4 * N), blocks=4) == []


def test_half_is_reported_in_elements_of_its_own_size():
    def body(x, z):
        tile = local(0, 2 * N, half)
        DataCopy(tile, gm(half, x), 2 * N)
        Adds(tile[N], tile[N], 1.0, N)
        hand_over(HardEvent.V_MTE3)
        DataCopy(gm(half, z), tile[N], N)

    x = np.zeros(2 * N, np.float16)
    run = kernel(body).launch(1, x, x.copy(), check="report")
    finding = run.findings[0]
    assert (finding.bytes, finding.elements) == ((2 * N, 4 * N), (0, N))
    assert finding.tensor == "tile[N]"
    assert finding.pipe == "V"
