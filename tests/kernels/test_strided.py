"""Contiguous and ViewCopy against numpy's own strided copies."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.contiguous import kernel_2201 as contiguous_2201
from kernels.contiguous import kernel_3510 as contiguous_3510
from kernels.strided.tiling_data import StridedViewTilingData
from kernels.view_copy import kernel_2201 as view_copy_2201
from kernels.view_copy import kernel_3510 as view_copy_3510
from simulator.ascendc import launch
from simulator.errors import ArgumentError, OutOfBoundsError
from simulator.platforms import load_platform

CONTIGUOUS = {"910b": contiguous_2201.contiguous, "950": contiguous_3510.contiguous}
VIEW_COPY = {"910b": view_copy_2201.view_copy, "950": view_copy_3510.view_copy}
UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
GUARD = 64
SMALL_UB = 512

platforms = pytest.mark.parametrize("platform", ["910b", "950"])
sizes = pytest.mark.parametrize("size", [1, 2, 4, 8])


def tiling_of(shape, strides, offset, size, blocks=1, ub_bytes=SMALL_UB):
    total = int(np.prod(shape, dtype=np.int64))
    return StridedViewTilingData(
        totalNum=total,
        blockFactor=max(1, -(-total // blocks)),
        ubFactor=ub_bytes // size,
        offset=offset,
        shape=shape,
        strides=strides,
        rank=len(shape),
        elementBytes=size,
    )


def noise(count, size):
    return np.random.default_rng(count * 8 + size).integers(
        0, 2 ** (8 * size), count, dtype=UNSIGNED[size], endpoint=False
    )


def view_of(storage, shape, strides, offset):
    size = storage.itemsize
    return np.lib.stride_tricks.as_strided(
        storage[offset:], shape, [step * size for step in strides]
    )


def storage_for(shape, strides, offset, size):
    reach = sum((d - 1) * s for d, s in zip(shape, strides, strict=True)) if 0 not in shape else 0
    return noise(offset + reach + 1, size)


def check_contiguous(shape, strides, offset=0, size=2, platform="910b", profile=None, **tiling):
    storage = storage_for(shape, strides, offset, size)
    expected = view_of(storage, shape, strides, offset).copy().ravel()
    before = storage.copy()
    memory = np.full(expected.size + 2 * GUARD, 0xA5, storage.dtype)
    out = memory[GUARD : GUARD + expected.size]
    data = tiling_of(shape, strides, offset, size, **tiling)
    blocks = tiling.get("blocks", 1)
    run = launch(CONTIGUOUS[platform], blocks, storage, out, 0, data, platform=profile or platform)
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(storage, before)
    assert (memory[:GUARD] == 0xA5).all()
    assert (memory[GUARD + expected.size :] == 0xA5).all()
    return run


def check_view_copy(shape, strides, offset=0, size=2, platform="910b", profile=None, **tiling):
    storage = storage_for(shape, strides, offset, size)
    memory = np.concatenate([storage, np.full(GUARD, 0xA5, storage.dtype)])
    source = noise(int(np.prod(shape)) + 3, size)[3:]
    expected = memory.copy()
    view_of(expected, shape, strides, offset)[...] = source.reshape(shape)
    data = tiling_of(shape, strides, offset, size, **tiling)
    blocks = tiling.get("blocks", 1)
    run = launch(VIEW_COPY[platform], blocks, source, memory, 0, data, platform=profile or platform)
    np.testing.assert_array_equal(memory, expected)
    return run


@st.composite
def slices(draw):
    """Shape, strides and offset of a stepped and transposed part of a dense array."""
    rank = draw(st.integers(1, 8))
    base = draw(st.lists(st.integers(1, 2 + 60 // rank), min_size=rank, max_size=rank))
    while np.prod(base) > 3000:
        base[base.index(max(base))] //= 2
    index = []
    for dim in base:
        start = draw(st.integers(0, dim - 1))
        index.append(slice(start, draw(st.integers(start + 1, dim)), draw(st.integers(1, 3))))
    order = draw(st.permutations(range(rank)))
    array = np.zeros(base, np.uint8)
    view = array[tuple(index)].transpose(order)
    offset = view.__array_interface__["data"][0] - array.__array_interface__["data"][0]
    return view.shape, view.strides, offset


@st.composite
def overlapping(draw):
    """Any strides, so that rows repeat and overlap."""
    rank = draw(st.integers(1, 8))
    most = max(2, int(1500 ** (1 / rank)))
    shape = draw(st.lists(st.integers(1, most), min_size=rank, max_size=rank))
    strides = draw(
        st.lists(st.sampled_from([0, 0, 1, 1, 2, 3, 5, 17, 64]), min_size=rank, max_size=rank)
    )
    return tuple(shape), tuple(strides), draw(st.integers(0, 5))


settings_of_a_launch = {
    "size": st.sampled_from([1, 2, 4, 8]),
    "platform": st.sampled_from(["910b", "950"]),
    "blocks": st.integers(1, 48),
    "ub_bytes": st.sampled_from([32, 64, 96, 512, 4096, 65536]),
}


@given(view=slices(), **settings_of_a_launch)
def test_contiguous_gathers_any_slice(view, size, platform, blocks, ub_bytes):
    check_contiguous(*view, size, platform, blocks=blocks, ub_bytes=ub_bytes)


@given(view=overlapping(), **settings_of_a_launch)
def test_contiguous_gathers_repeated_and_overlapping_views(view, size, platform, blocks, ub_bytes):
    check_contiguous(*view, size, platform, blocks=blocks, ub_bytes=ub_bytes)


@given(view=slices(), **settings_of_a_launch)
def test_view_copy_scatters_to_any_slice(view, size, platform, blocks, ub_bytes):
    check_view_copy(*view, size, platform, blocks=blocks, ub_bytes=ub_bytes)


VIEWS = {
    "dense": ((1000,), (1,), 0),
    "dense with offset": ((1000,), (1,), 7),
    "one element": ((1,), (1,), 3),
    "rows with gaps": ((37, 19), (23, 1), 2),
    "rows of whole blocks": ((20, 64), (100, 1), 0),
    "stepped": ((500,), (3,), 1),
    "stepped in two axes": ((17, 29), (200, 2), 5),
    "transposed": ((33, 47), (1, 33), 0),
    "NCHW as NHWC": ((3, 8, 9, 5), (360, 9, 1, 72), 4),
    "many short rows": ((9000, 2), (3, 1), 0),
    "rows longer than UB": ((3, 5000), (5001, 1), 1),
    "rank 8": ((2, 3, 2, 3, 2, 2, 2, 3), (1, 2, 6, 12, 36, 72, 144, 288), 0),
    "axes of length 1": ((1, 4, 1, 5, 1), (9, 11, 0, 2, 3), 1),
}
BROADCASTS = {
    "one value": ((2000,), (0,), 3),
    "one row repeated": ((300, 7), (0, 1), 1),
    "one row repeated, whole blocks": ((300, 64), (0, 1), 0),
    "every element repeated": ((9, 200), (1, 0), 2),
    "every element repeated, long": ((3, 9001), (4, 0), 2),
    "elements repeated a few times": ((1200, 3), (2, 0), 0),
    "axis in the middle repeated": ((6, 11, 7), (9, 0, 1), 0),
    "two axes repeated": ((5, 4, 6, 3), (0, 20, 0, 2), 1),
    "first and last axis repeated": ((4, 5, 300), (0, 3, 0), 1),
    "one short row repeated often": ((4200, 2), (0, 1), 0),
    "sliding window": ((400, 5), (1, 1), 0),
    "sliding window, long rows": ((5, 400), (1, 1), 0),
}


@platforms
@sizes
@pytest.mark.parametrize("name", [*VIEWS, *BROADCASTS])
def test_contiguous_equals_numpy(name, size, platform):
    view = VIEWS.get(name) or BROADCASTS[name]
    check_contiguous(*view, size, platform, blocks=5, ub_bytes=4096)


@platforms
@sizes
@pytest.mark.parametrize("name", VIEWS)
def test_view_copy_equals_numpy(name, size, platform):
    check_view_copy(*VIEWS[name], size, platform, blocks=5, ub_bytes=4096)


@pytest.mark.parametrize("blocks", [1, 2, 3, 7, 24, 47, 48])
def test_blocks_that_start_anywhere_give_the_same_result(blocks):
    check_contiguous((31, 13, 11), (1, 31, 403), blocks=blocks)
    check_contiguous((31, 13, 11), (0, 11, 1), blocks=blocks)
    check_view_copy((31, 13, 11), (200, 13, 1), blocks=blocks)


def test_blocks_without_elements_do_nothing():
    run = check_contiguous((5,), (2,), blocks=8)
    assert [len(block.entries) > 0 for block in run.blocks] == [True] * 5 + [False] * 3


def test_an_empty_view_moves_nothing():
    storage = np.arange(4, dtype=np.uint16)
    out = np.full(4, 9, np.uint16)
    tiling = tiling_of((0, 4), (4, 1), 0, 2)
    runs = [
        launch(CONTIGUOUS["910b"], 1, storage, out, 0, tiling),
        launch(VIEW_COPY["910b"], 1, storage, out, 0, tiling),
    ]
    assert [len(run.blocks[0].entries) for run in runs] == [0, 0]
    assert (out == 9).all()


def test_all_bit_patterns_of_half_survive():
    storage = np.arange(65536, dtype=np.uint16).view(np.float16)
    out = np.zeros(65536, np.float16)
    tiling = tiling_of((256, 256), (1, 256), 0, 2, ub_bytes=65536)
    launch(CONTIGUOUS["910b"], 1, storage, out, 0, tiling)
    patterns = np.arange(65536).reshape(256, 256).T.ravel()
    np.testing.assert_array_equal(out.view(np.uint16), patterns)


@platforms
@sizes
def test_a_value_repeated_over_a_whole_half_of_UB_is_exact(size, platform):
    check_contiguous((2, 12288), (3, 0), 1, size, platform, ub_bytes=98304)


@pytest.mark.parametrize(
    ("shape", "strides"),
    [((9000, 2), (3, 1)), ((9000,), (2,)), ((9000, 2), (0, 1)), ((4200, 3, 2), (2, 0, 1))],
)
def test_rows_beyond_the_limit_of_4095_bursts_take_several_copies(shape, strides):
    profile = load_platform("910b")
    large = replace(profile, memory=replace(profile.memory, ub_bytes=2**21))
    check_contiguous(shape, strides, profile=large, ub_bytes=2**20)
    if 0 not in strides:
        check_view_copy(shape, strides, profile=large, ub_bytes=2**20)


def test_a_transposed_view_takes_one_copy_a_row_and_not_one_an_element():
    run = check_contiguous((512, 512), (1, 512), blocks=8, ub_bytes=98304)
    assert sum(len(block.entries) for block in run.blocks) < 3 * 512


def test_a_bias_row_is_read_once_a_tile_and_multiplied_inside_UB():
    run = check_contiguous((3000, 3), (0, 1), ub_bytes=98304)
    calls = [entry[0].spec.name for entry in run.blocks[0].entries]
    assert calls.count("DataCopyPad") == 2
    assert calls.count("DataCopy") == 12


def test_a_view_that_leaves_its_memory_is_an_error_of_the_kernel():
    storage, out = np.zeros(10, np.uint16), np.zeros(12, np.uint16)
    with pytest.raises(OutOfBoundsError) as caught:
        launch(CONTIGUOUS["910b"], 1, storage, out, 0, tiling_of((12,), (1,), 0, 2))
    assert "x" in str(caught.value)


def test_an_element_size_that_no_type_has_is_refused():
    data = np.zeros(64, np.uint8)
    tiling = tiling_of((4,), (1,), 0, 2)
    tiling.elementBytes = 3
    with pytest.raises(ArgumentError, match="size"):
        launch(CONTIGUOUS["910b"], 1, data, data.copy(), 0, tiling)
