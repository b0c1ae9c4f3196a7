"""Contiguous and ViewCopy: merging of axes, and the division of the copy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.contexts import TensorDesc
from host.datatypes import DataType
from host.platform_ascendc import PlatformInfo
from host.strided.tiling import merge_axes
from host.tiling import run_tiling
from simulator.platforms import load_platform


@pytest.mark.parametrize(
    ("shape", "strides", "merged"),
    [
        ((2, 3, 4), (12, 4, 1), ((24,), (1,))),
        ((2, 3, 4), (24, 8, 2), ((24,), (2,))),
        ((2, 3, 4), (1, 2, 6), ((2, 3, 4), (1, 2, 6))),
        ((3, 1, 4), (8, 99, 1), ((3, 4), (8, 1))),
        ((5, 4), (0, 0), ((20,), (0,))),
        ((1, 1), (7, 7), ((1,), (1,))),
        ((), (), ((1,), (1,))),
    ],
)
def test_neighbours_that_are_walked_alike_become_one(shape, strides, merged):
    assert merge_axes(shape, strides) == merged


def walk(shape, strides):
    return [
        sum(i * s for i, s in zip(index, strides, strict=True))
        for index in itertools.product(*map(range, shape))
    ]


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 12)), max_size=5).map(
        lambda axes: ([d for d, _ in axes], [s for _, s in axes])
    )
)
def test_merging_never_changes_the_walk(axes):
    shape, strides = axes
    assert walk(*merge_axes(shape, strides)) == walk(shape, strides)


def plan(shape, strides, dtype=DataType.FLOAT, offset=0):
    info = PlatformInfo.from_platform(load_platform("910b"))
    view = TensorDesc(shape, dtype, strides=strides, offset=offset)
    return run_tiling("Contiguous", "arch22", info, [view], [TensorDesc(shape, dtype)])


def test_small_views_are_copied_by_one_block():
    result = plan((3, 5), (1, 3), offset=7)
    assert result.block_dim == 1
    assert result.data.as_dict() | {"blockFactor": None, "ubFactor": None} == {
        "totalNum": 15,
        "blockFactor": None,
        "ubFactor": None,
        "offset": 7,
        "shape": (3, 5, 0, 0, 0, 0, 0, 0),
        "strides": (1, 3, 0, 0, 0, 0, 0, 0),
        "rank": 2,
        "elementBytes": 4,
    }


@given(st.integers(1, 10**7), st.sampled_from([DataType.FLOAT, DataType.FLOAT16, DataType.INT8]))
def test_blocks_cover_the_view_once_from_512_byte_boundaries(count, dtype):
    result = plan((count,), (2,), dtype)
    factor, size = result.data.blockFactor, np.dtype(dtype.numpy).itemsize
    assert result.block_dim <= 48
    assert factor * size % 512 == 0
    assert (result.block_dim - 1) * factor < count <= result.block_dim * factor
