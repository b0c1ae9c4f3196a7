"""Scalar access to global memory goes through a cache of 64-byte lines."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.ascendc import (
    CacheLine,
    DataCacheCleanAndInvalid,
    DataCachePreload,
    DataCopy,
    DcciDst,
    GetBlockIdx,
    GlobalTensor,
    LocalTensor,
    ReadGmByPassDCache,
    SyncAll,
    TPosition,
    WriteGmByPassDCache,
    bfloat16_t,
    complex32,
    float32,
    half,
    int4b_t,
    int32_t,
    int64_t,
    kernel,
    launch,
    uint8_t,
    uint64_t,
)
from simulator.errors import ArgumentError, OutOfBoundsError

pytestmark = pytest.mark.usefixtures("machine_still_right")


def gm(pointer, dtype=int32_t):
    tensor = GlobalTensor(dtype)
    tensor.SetGlobalBuffer(pointer)
    return tensor


def local(addr=0, count=16, dtype=int32_t):
    return LocalTensor(dtype, TPosition.VECCALC, addr, count)


def clean(tensor):
    DataCacheCleanAndInvalid(CacheLine.SINGLE_CACHE_LINE, DcciDst.CACHELINE_OUT, tensor)


def test_a_copy_does_not_see_a_scalar_store_until_the_line_is_cleaned():
    seen = []

    @kernel
    def body(x):
        tile, x = local(), gm(x)
        x.SetValue(3, 9)
        DataCopy(tile, x, 16)
        seen.append(tile.GetValue(3))
        clean(x)
        DataCopy(tile, x, 16)
        seen.append(tile.GetValue(3))

    launch(body, 1, np.zeros(16, np.int32))
    assert seen == [0, 9]


def test_a_scalar_load_does_not_see_a_copy_until_the_line_is_invalid():
    seen = []

    @kernel
    def body(x):
        tile, x = local(), gm(x)
        seen.append(x.GetValue(2))
        tile.SetValue(2, 5)
        DataCopy(x, tile, 16)
        seen.append(x.GetValue(2))
        clean(x)
        seen.append(x.GetValue(2))

    launch(body, 1, np.full(16, 1, np.int32))
    assert seen == [1, 1, 5]


def test_a_core_reads_its_own_scalar_stores():
    seen = []

    @kernel
    def body(x):
        x = gm(x)
        x.SetValue(0, -7)
        seen.append(x.GetValue(0))

    x = np.zeros(16, np.int32)
    launch(body, 1, x)
    assert seen == [-7]
    assert x[0] == -7


def test_another_core_sees_a_store_after_clean_and_barrier_only():
    seen = {}

    @kernel
    def body(x, cleaned):
        x, mine = gm(x), GetBlockIdx()
        if mine == 0:
            x.SetValue(0, 1)
            if cleaned:
                clean(x)
        SyncAll()
        if mine == 1:
            seen[cleaned] = x.GetValue(0)
        # A core that ends writes its dirty lines back.
        SyncAll()

    for cleaned in (False, True):
        launch(body, 2, np.zeros(16, np.int32), cleaned)
    assert seen == {False: 0, True: 1}


def test_the_whole_line_goes_back_over_what_others_wrote():
    # Two blocks store into one line; the line of the later clean wins as a whole.
    @kernel
    def body(x):
        x, mine = gm(x), GetBlockIdx()
        x.GetValue(0)
        SyncAll()
        x.SetValue(mine, mine + 1)
        SyncAll()
        if mine == 0:
            clean(x)
        SyncAll()
        if mine == 1:
            clean(x)

    x = np.zeros(32, np.int32)
    launch(body, 2, x)
    np.testing.assert_array_equal(x[:3], [0, 2, 0])


def test_only_the_line_of_the_tensor_s_start_is_cleaned():
    seen = []

    @kernel
    def body(x):
        tile, x = local(0, 32), gm(x)
        x.SetValue(0, 1)
        x.SetValue(16, 2)
        clean(x[16])
        DataCopy(tile, x, 32)
        seen.append((tile.GetValue(0), tile.GetValue(16)))
        DataCacheCleanAndInvalid(CacheLine.ENTIRE_DATA_CACHE, DcciDst.CACHELINE_OUT, x)
        DataCopy(tile, x, 32)
        seen.append((tile.GetValue(0), tile.GetValue(16)))

    launch(body, 1, np.zeros(32, np.int32))
    assert seen == [(0, 2), (1, 2)]


def test_dirty_lines_are_written_back_when_the_block_ends():
    @kernel
    def body(x):
        gm(x).SetValue(GetBlockIdx() * 16, GetBlockIdx() + 1)

    x = np.zeros(64, np.int32)
    run = launch(body, 4, x)
    np.testing.assert_array_equal(x[::16], [1, 2, 3, 4])
    assert np.count_nonzero(x) == 4
    assert [i.block for i in run.instructions if i.name == "DataCacheCleanAndInvalid"] == [
        0,
        1,
        2,
        3,
    ]


def test_a_preloaded_line_is_a_cached_line():
    seen = []

    @kernel
    def body(x):
        tile, x = local(), gm(x, uint64_t)
        DataCachePreload(x, 0)
        DataCopy(x.ReinterpretCast(int32_t), tile, 16)
        seen.append(x.GetValue(0))

    launch(body, 1, np.full(8, 4, np.uint64))
    assert seen == [4]


def test_the_bypass_calls_go_to_memory():
    seen = []

    @kernel
    def body(x):
        x = gm(x)
        seen.append(x.GetValue(0))
        WriteGmByPassDCache(int32_t, x.GetPhyAddr(), 8)
        seen.append(x.GetValue(0))
        seen.append(ReadGmByPassDCache(int32_t, x.GetPhyAddr()))

    x = np.zeros(16, np.int32)
    launch(body, 1, x)
    assert seen == [0, 0, 8]
    assert x[0] == 8


VALUES = [
    (half, np.float16, -1.5),
    (float32, np.float32, 0.1),
    (int64_t, np.int64, -(2**63)),
    (uint8_t, np.uint8, 255),
]


@pytest.mark.parametrize(
    ("dtype", "storage", "value"), VALUES, ids=lambda v: getattr(v, "name", "")
)
def test_elements_of_every_width_are_stored_as_they_are(dtype, storage, value):
    seen = []

    @kernel
    def body(x):
        ub, x = local(0, 8, dtype), gm(x, dtype)
        for tensor in (ub, x):
            tensor.SetValue(5, value)
            seen.append(tensor.GetValue(5))

    x = np.zeros(64, storage)
    launch(body, 1, x)
    assert seen == [storage(value)] * 2
    assert x[5] == storage(value)
    assert np.count_nonzero(x) == 1


def test_a_bfloat16_store_rounds_to_nearest_even():
    seen = []

    @kernel
    def body():
        ub = local(0, 16, bfloat16_t)
        for value in (1 + 2**-8, 1 + 3 * 2**-8, -(1 + 2**-9)):
            ub.SetValue(0, value)
            seen.append(ub.GetValue(0))

    launch(body, 1)
    assert seen == [1.0, 1 + 2**-6, -1.0]


def test_a_complex_element_is_a_pair_of_halves():
    seen = []

    @kernel
    def body():
        ub = local(0, 8, complex32)
        ub.SetValue(1, 1.5 - 2j)
        seen.append(ub.GetValue(1))
        seen.append([ub.ReinterpretCast(half).GetValue(i) for i in (2, 3)])

    launch(body, 1, platform="950")
    assert seen == [1.5 - 2j, [1.5, -2]]


def test_four_bit_elements_share_a_byte():
    seen = []

    @kernel
    def body(x):
        x, ub = gm(x, int4b_t), local(0, 64, int4b_t)
        raw = ub.ReinterpretCast(uint8_t)
        raw.SetValue(1, 0x5E)
        seen.append((ub.GetValue(2), ub.GetValue(3)))
        ub.SetValue(2, 7)
        seen.append(raw.GetValue(1))
        x.SetValue(1, -8)
        x.SetValue(0, 3)
        seen.append((x.GetValue(0), x.GetValue(1)))

    x = np.zeros(64, np.uint8)
    launch(body, 1, x)
    assert seen == [(-2, 5), 0x57, (3, -8)]
    assert x[0] == 0x83


@pytest.mark.parametrize("value", [8, -9, 0.5])
def test_a_value_outside_four_bits_is_refused(value):
    @kernel
    def body():
        local(0, 64, int4b_t).SetValue(0, value)

    with pytest.raises(ArgumentError, match="int4b_t"):
        launch(body, 1)


@pytest.mark.parametrize("index", [-1, 16, 1.0, None])
def test_an_index_outside_the_tensor_is_refused(index):
    @kernel
    def read(x):
        gm(x).GetValue(index)

    @kernel
    def write():
        local().SetValue(index, 1)

    with pytest.raises(OutOfBoundsError):
        launch(read, 1, np.zeros(16, np.int32))
    with pytest.raises(OutOfBoundsError):
        launch(write, 1)


def test_the_extent_of_a_clean_must_be_one_of_the_two():
    @kernel
    def body(x):
        DataCacheCleanAndInvalid("LINE", DcciDst.CACHELINE_OUT, gm(x))

    with pytest.raises(ArgumentError, match="SINGLE_CACHE_LINE"):
        launch(body, 1, np.zeros(16, np.int32))
