"""TPipe, TBuf, TBufPool and the allocator: the layout of UB and the event ids."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.ascendc import (
    DataCopy,
    GetTPipePtr,
    GlobalTensor,
    HardEvent,
    LocalMemAllocator,
    TBuf,
    TBufPool,
    TPipe,
    TPosition,
    TQue,
    float32,
    half,
    int8_t,
    kernel,
    launch,
)
from simulator.enums import Hardware
from simulator.errors import (
    QueueError,
    SimulatorError,
    UbExhaustedError,
)

pytestmark = pytest.mark.usefixtures("machine_still_right")

TILE = 64
NBYTES = 4 * TILE


def gm(pointer):
    tensor = GlobalTensor(float32)
    tensor.SetGlobalBuffer(pointer)
    return tensor


def flags(run):
    """The flags of a run as (set or wait, event, id), in program order."""
    plans = [entry[0] for entry in run.blocks[0].entries]
    return [
        (plan.form, HardEvent(plan.event).name, plan.flag % 8)
        for plan in plans
        if plan.form in ("set", "wait")
    ]


def test_buffers_lie_one_behind_another_in_whole_blocks():
    seen = []

    @kernel
    def body():
        pipe, queue, buffer = TPipe(), TQue(TPosition.VECIN, 2), TBuf(TPosition.VECCALC)
        pipe.InitBuffer(queue, 2, 33)
        pipe.InitBuffer(buffer, 1)
        seen.extend(queue.AllocTensor(int8_t).GetPhyAddr() for _ in range(2))
        seen.append(buffer.Get(half).GetPhyAddr())
        seen.append(buffer.Get(half).GetSize())

    launch(body, 1)
    assert seen == [0, 64, 128, 16]


def test_sixty_four_buffers_and_no_more():
    @kernel
    def body(extra):
        pipe, queues = TPipe(), [TQue(TPosition.VECIN, 1) for _ in range(4)]
        for queue in queues:
            pipe.InitBuffer(queue, 16, 32)
        if extra:
            pipe.InitBuffer(TBuf(TPosition.VECCALC), 32)

    launch(body, 1, False)
    with pytest.raises(QueueError, match="65 buffers are too many") as caught:
        launch(body, 1, True)
    assert "64" in caught.value.legal


@pytest.mark.parametrize(("platform", "size"), [("910b", 192 * 1024), ("950", 248 * 1024)])
def test_the_unified_buffer_can_be_used_up_to_its_end(platform, size):
    @kernel
    def body(nbytes):
        pipe = TPipe()
        pipe.InitBuffer(TBuf(TPosition.VECCALC), nbytes)

    launch(body, 1, size, platform=platform)
    with pytest.raises(UbExhaustedError) as caught:
        launch(body, 1, size + 1, platform=platform)
    assert str(size) in str(caught.value.legal)


def test_a_tbuf_hands_out_parts():
    seen = []

    @kernel
    def body():
        pipe, buffer = TPipe(), TBuf(TPosition.VECCALC)
        pipe.InitBuffer(TBuf(TPosition.VECCALC), 64)
        pipe.InitBuffer(buffer, 256)
        part = buffer.GetWithOffset(8, 128, float32)
        seen.append((part.GetPhyAddr(), part.GetSize()))
        seen.append((buffer.Get(half).GetSize(), buffer.Get(half, 5).GetSize()))

    launch(body, 1)
    assert seen == [(192, 8), (128, 5)]


@pytest.mark.parametrize(("count", "offset"), [(65, 0), (32, 160), (8, -32)])
def test_a_part_outside_the_tbuf_is_refused(count, offset):
    @kernel
    def body():
        pipe, buffer = TPipe(), TBuf(TPosition.VECCALC)
        pipe.InitBuffer(buffer, 256)
        buffer.GetWithOffset(count, offset, float32)

    with pytest.raises(SimulatorError):
        launch(body, 1)


def test_reset_gives_memory_and_ids_back():
    seen = []

    @kernel
    def body():
        pipe = TPipe()
        for _ in range(100):
            queue = TQue(TPosition.VECIN, 2)
            pipe.InitBuffer(queue, 2, 64 * 1024)
            seen.append(queue.AllocTensor(float32).GetPhyAddr())
            pipe.Reset()

    launch(body, 1)
    assert set(seen) == {0}


def test_a_second_pipe_takes_the_place_of_the_first():
    @kernel
    def body():
        first = TPipe()
        first.InitBuffer(TBuf(TPosition.VECCALC), 128 * 1024)
        second = TPipe()
        second.InitBuffer(TBuf(TPosition.VECCALC), 128 * 1024)
        assert GetTPipePtr() is second

    launch(body, 1)


def test_there_is_no_pipe_to_get_before_one_is_made():
    @kernel
    def body():
        GetTPipePtr()

    with pytest.raises(QueueError, match="TPipe"):
        launch(body, 1)


def test_event_ids_are_handed_out_from_zero():
    seen = []

    @kernel
    def body():
        pipe = TPipe()
        seen.extend(pipe.AllocEventID(HardEvent.V_MTE3) for _ in range(8))
        pipe.ReleaseEventID(HardEvent.V_MTE3, 5)
        seen.append(pipe.FetchEventID(HardEvent.V_MTE3))
        seen.append(pipe.AllocEventID(HardEvent.V_MTE3))
        pipe.AllocEventID(HardEvent.V_MTE3)

    with pytest.raises(QueueError, match="all 8 ids"):
        launch(body, 1)
    assert seen == [*range(8), 5, 5]


def test_an_id_that_is_not_taken_cannot_be_given_back():
    @kernel
    def body():
        TPipe().ReleaseEventID(HardEvent.V_MTE3, 5)

    with pytest.raises(QueueError, match="not allocated"):
        launch(body, 1)


def test_a_pool_shares_its_bytes():
    seen = []

    @kernel
    def body():
        pipe, first, second = TPipe(), TBufPool(TPosition.VECCALC), TBufPool(TPosition.VECCALC)
        pipe.InitBuffer(TBuf(TPosition.VECCALC), 96)
        pipe.InitBufPool(first, 1024)
        pipe.InitBufPool(second, 1024, first)
        for pool in (first, second):
            queue, rest = TQue(TPosition.VECIN, 1), TBuf(TPosition.VECCALC)
            pool.InitBuffer(queue, 2, 256)
            pool.InitBuffer(rest, 512)
            seen.append([queue.AllocTensor(float32).GetPhyAddr() for _ in range(2)])
            seen.append(rest.Get(float32).GetPhyAddr())
            pool.Reset()

    launch(body, 1)
    assert seen == [[96, 352], 608, [96, 352], 608]


def test_a_pool_cannot_give_more_than_it_has():
    @kernel
    def body():
        pipe, pool = TPipe(), TBufPool(TPosition.VECCALC)
        pipe.InitBufPool(pool, 1024)
        pool.InitBuffer(TBuf(TPosition.VECCALC), 1025)

    with pytest.raises(UbExhaustedError):
        launch(body, 1)


def test_a_spill_area_keeps_what_is_written_to_it():
    @kernel
    def body(work, y):
        pipe, buffer = TPipe(), TBuf(TPosition.VECCALC)
        pipe.InitBuffer(buffer, 2 * NBYTES)
        a, b = buffer.GetWithOffset(TILE, 0, float32), buffer.GetWithOffset(TILE, NBYTES, float32)
        pipe.InitSpmBuffer(gm(work), 4 * NBYTES)
        DataCopy(a, gm(y), TILE)
        pipe.WriteSpmBuffer(a, TILE, 16)
        pipe.ReadSpmBuffer(b, TILE, 16)
        DataCopy(gm(y)[TILE], b, TILE)

    y = np.concatenate([np.arange(TILE), np.zeros(TILE)]).astype(np.float32)
    work = np.zeros(4 * TILE, np.float32)
    launch(body, 1, work, y)
    np.testing.assert_array_equal(y[TILE:], np.arange(TILE))
    np.testing.assert_array_equal(work[16 : 16 + TILE], np.arange(TILE))


def test_an_allocator_lays_tensors_out_from_zero():
    seen = []

    @kernel
    def body():
        memory = LocalMemAllocator(Hardware.UB)
        seen.append(memory.GetCurAddr())
        a = memory.Alloc(float32, 16)
        b = memory.Alloc(TPosition.VECIN, half, 16)
        seen.append((a.GetPhyAddr(), a.GetSize(), b.GetPhyAddr(), b.GetPosition()))
        seen.append(memory.GetCurAddr())

    launch(body, 1)
    assert seen == [0, (0, 16, 64, TPosition.VECIN), 96]
