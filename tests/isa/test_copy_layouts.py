"""DataCopy by slices, between rows and column blocks, and by boxes of up to five dimensions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from harness import on_core
from hypothesis import given
from hypothesis import strategies as st

from simulator.ascendc import (
    DataCopy,
    Nd2NzParams,
    NdDmaConfig,
    NdDmaDci,
    NdDmaLoopInfo,
    NdDmaParams,
    Nz2NdParamsFull,
    ShapeInfo,
    SliceInfo,
)
from simulator.errors import (
    AlignmentError,
    ArgumentError,
    DTypeError,
    OutOfBoundsError,
    UnsupportedError,
)


def ramp(count, dtype=np.float32):
    return np.arange(1, count + 1).astype(dtype)


# -- slices ---------------------------------------------------------------------------------------


def parts(info, lanes):
    """Start elements of the parts of the innermost dimension."""
    start, stop, stride, blocks, _ = info
    starts, at = [], start
    while at + blocks * lanes - 1 <= stop:
        starts.append(at)
        at += blocks * lanes + stride
    return starts


def sliced(src, dst, dst_slices, src_slices, lanes):
    out = dst.copy()
    width = src_slices[0][3] * lanes

    def places(slices):
        pitch, steps = slices[0][4], []
        for start, stop, stride, _, shape in slices[1:]:
            steps.append([i * pitch for i in range(start, stop + 1, 1 + stride)])
            pitch *= shape
        outer = [sum(combo) for combo in product(*steps[::-1])]
        return [o + p for o in outer for p in parts(slices[0], lanes)]

    for a, b in zip(places(src_slices), places(dst_slices), strict=True):
        out[b : b + width] = src[a : a + width]
    return out


SLICES = [
    # The worked example of the manual: four parts of rows 0 and 2 of a 3 x 87 tensor.
    ([(0, 47, 0, 3, 48), (0, 1, 0, 1, 2)], [(16, 70, 7, 3, 87), (0, 2, 1, 1, 3)], (96, 261)),
    ([(0, 15, 0, 1, 16)], [(3, 34, 16, 1, 40)], (16, 40)),
    ([(0, 7, 0, 1, 24), (1, 2, 0, 1, 3), (0, 1, 0, 1, 2)],
     [(5, 12, 0, 1, 20), (0, 2, 1, 1, 4), (1, 3, 1, 1, 4)], (144, 320)),
]  # fmt: skip


@pytest.mark.parametrize("platform", ["910b", "950"])
@pytest.mark.parametrize(("ub", "gm", "sizes"), SLICES)
def test_slices_of_global_memory_go_to_slices_of_the_buffer(ub, gm, sizes, platform):
    dst, src = np.zeros(sizes[0], np.float32), ramp(sizes[1])

    def body(t):
        DataCopy(t.dst, t.src, [SliceInfo(*s) for s in ub], [SliceInfo(*s) for s in gm], len(ub))

    done = on_core(body, platform=platform, dst=dst, gm={"src": src})
    np.testing.assert_array_equal(done["dst"], sliced(src, dst, ub, gm, 8))
    assert done.changed_outside("dst").size == 0


@pytest.mark.parametrize(("ub", "gm", "sizes"), SLICES)
def test_slices_of_the_buffer_go_to_slices_of_global_memory(ub, gm, sizes):
    src, dst = ramp(sizes[0]), np.zeros(sizes[1], np.float32)

    def body(t):
        DataCopy(t.dst, t.src, [SliceInfo(*s) for s in gm], [SliceInfo(*s) for s in ub], len(ub))

    done = on_core(body, src=src, gm={"dst": dst})
    np.testing.assert_array_equal(done["dst"], sliced(src, dst, gm, ub, 8))


def test_slices_take_the_shape_of_the_tensors_when_they_name_none():
    def body(t):
        t.src.SetShapeInfo(ShapeInfo(2, [32, 3]))
        t.dst.SetShapeInfo(ShapeInfo(2, [8, 2]))
        DataCopy(
            t.dst,
            t.src,
            [SliceInfo(0, 7, 0, 1, 0), SliceInfo(0, 1, 0, 1, 0)],
            [SliceInfo(4, 11, 0, 1, 0), SliceInfo(1, 2, 0, 1, 0)],
            2,
        )

    done = on_core(body, dst=np.zeros(16, np.float32), gm={"src": ramp(96)})
    assert done["dst"].tolist() == [*range(37, 45), *range(69, 77)]


@pytest.mark.parametrize(
    ("dst", "src", "dims", "kind", "word"),
    [
        ([(0, 7, 0, 1, 8)], [(0, 7, 0, 2, 8)], 1, ArgumentError, "burstLen"),
        ([(0, 7, 0, 1, 8), (0, 1, 0, 2, 2)], [(0, 7, 0, 1, 8), (0, 1, 0, 2, 2)], 2,
         ArgumentError, "burstLen"),
        ([(0, 7, 0, 1, 8)], [(0, 8, 0, 1, 8)], 1, ArgumentError, "shape"),
        ([(5, 2, 0, 1, 8)], [(0, 7, 0, 1, 8)], 1, ArgumentError, "shape"),
        ([(0, 7, 0, 1, 8)], [(0, 15, 0, 1, 16)], 1, ArgumentError, "different numbers"),
        ([(0, 22, 7, 1, 24)], [(0, 22, 7, 1, 24)], 1, AlignmentError, "32-byte blocks"),
        ([(0, 7, 0, 1, 8)], [(0, 7, 0, 1, 8)], 2, ArgumentError, "dimValue"),
        ([(0, 7, 0, 1, 8)], [(0, 7, 0, 1, 8)], 0, ArgumentError, "dimValue"),
        ([(0, 7, 0, 1, 8)], [(120, 127, 0, 1, 128)], 1, OutOfBoundsError, "512"),
    ],
)  # fmt: skip
def test_slices_that_do_not_fit_each_other_are_refused(dst, src, dims, kind, word):
    def body(t):
        DataCopy(t.dst, t.src, [SliceInfo(*s) for s in dst], [SliceInfo(*s) for s in src], dims)

    with pytest.raises(kind) as caught:
        on_core(body, dst=np.zeros(64, np.float32), gm={"src": np.zeros(100, np.float32)})
    assert word in str(caught.value)


# -- rows and column blocks -----------------------------------------------------------------------


@given(
    matrices=st.integers(1, 3),
    rows=st.integers(1, 6),
    columns=st.integers(1, 40),
    spare=st.integers(0, 5),
    step=st.integers(1, 2),
    platform=st.sampled_from(["910b", "950"]),
)
def test_rows_become_column_blocks_with_zeros_behind_short_rows(
    matrices, rows, columns, spare, step, platform
):
    lanes, pitch = 16, columns + spare
    blocks = -(-columns // lanes)
    apart = rows * step + 1
    whole = (blocks * apart + 1) * lanes
    src = ramp(matrices * (rows * pitch + 3), np.float16)
    dst = np.full(matrices * whole, -1, np.float16)
    params = Nd2NzParams(matrices, rows, columns, rows * pitch + 3, pitch, apart, step, whole)
    done = on_core(
        lambda t: DataCopy(t.dst, t.src, params), platform=platform, dst=dst, gm={"src": src}
    )
    expected = dst.copy()
    for m, r, c in product(range(matrices), range(rows), range(blocks * lanes)):
        at = m * whole + (c // lanes * apart + r * step) * lanes + c % lanes
        expected[at] = src[m * (rows * pitch + 3) + r * pitch + c] if c < columns else 0
    np.testing.assert_array_equal(done["dst"], expected)
    assert done.changed_outside("dst").size == 0


@given(
    matrices=st.integers(1, 2),
    rows=st.integers(1, 5),
    blocks=st.integers(1, 3),
    spare=st.integers(0, 5),
)
def test_column_blocks_become_rows(matrices, rows, blocks, spare):
    columns = 16 * blocks
    pitch, apart = columns + spare, rows + 1
    src = ramp(matrices * 16 * 16 * 2 + blocks * apart * 16, np.float16)
    dst = np.full(matrices * (rows * pitch + 2), -1, np.float16)
    params = Nz2NdParamsFull(matrices, rows, columns, 2, apart, pitch, rows * pitch + 2)
    done = on_core(lambda t: DataCopy(t.dst, t.src, params), src=src, gm={"dst": dst})
    expected = dst.copy()
    for m, r, c in product(range(matrices), range(rows), range(columns)):
        at = m * 2 * 256 + c // 16 * apart * 16 + r * 16 + c % 16
        expected[m * (rows * pitch + 2) + r * pitch + c] = src[at]
    np.testing.assert_array_equal(done["dst"], expected)
    assert done.changed().size == 0


def test_layouts_have_one_direction_each():
    def wrong_way(t):
        DataCopy(t.gm, t.ub, Nd2NzParams(1, 1, 8, 0, 8, 1, 1, 0))

    def wrong_way_back(t):
        DataCopy(t.ub, t.gm, Nz2NdParamsFull(1, 1, 16, 1, 1, 16, 1))

    for body in (wrong_way, wrong_way_back):
        with pytest.raises(ArgumentError, match="is for copies"):
            on_core(body, ub=np.zeros(512, np.float32), gm={"gm": np.zeros(512, np.float32)})


@pytest.mark.parametrize(
    ("params", "word"),
    [
        (Nd2NzParams(4096, 1, 8, 0, 8, 1, 1, 0), "ndNum"),
        (Nd2NzParams(1, 16385, 8, 0, 8, 1, 1, 0), "nValue"),
        (Nd2NzParams(1, 1, 8, 0, 0, 1, 1, 0), "srcDValue"),
        (Nd2NzParams(1, 1, 8, 0, 8, 1, 0, 0), "dstNzNStride"),
    ],
)
def test_fields_of_the_row_parameters_have_limits(params, word):
    with pytest.raises(ArgumentError, match=word):
        on_core(
            lambda t: DataCopy(t.ub, t.gm, params),
            ub=np.zeros(64, np.float32), gm={"gm": np.zeros(64, np.float32)},
        )  # fmt: skip


# -- boxes ----------------------------------------------------------------------------------------


def boxed(src, dst, info, value=0, nearest=False):
    out = dst.copy()
    source, target, size, left, right = info
    dims = range(len(size))
    for place in product(*(range(left[d] + size[d] + right[d]) for d in dims)):
        inner = [place[d] - left[d] for d in dims]
        inside = all(0 <= inner[d] < size[d] for d in dims)
        if nearest:
            inner = [min(max(inner[d], 0), size[d] - 1) for d in dims]
        at = sum(place[d] * target[d] for d in dims)
        known = inside or nearest
        out[at] = src[sum(inner[d] * source[d] for d in dims)] if known else value
    return out


BOXES = [
    # A transpose, a padded 2-D box, five dimensions, a broadcast (source stride 0).
    ([8, 1], [1, 10], [10, 8], [0, 0], [0, 0]),
    ([1, 16], [1, 16], [5, 3], [2, 1], [1, 2]),
    ([1, 4, 8, 16, 32], [1, 3, 9, 27, 54], [2, 2, 2, 2, 2], [0, 1, 0, 0, 1], [1, 0, 1, 0, 0]),
    ([0, 1], [1, 8], [8, 3], [0, 0], [0, 0]),
    ([3], [2], [6], [1], [2]),
]


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("nearest", [False, True])
@pytest.mark.parametrize("dtype", [np.float16, np.int32, np.uint8])
def test_a_box_is_copied_element_by_element(box, nearest, dtype):
    src, dst = ramp(200, dtype), np.full(512, 99, dtype)
    params = NdDmaParams(NdDmaLoopInfo(*box), 7)
    config = NdDmaConfig(isNearestValueMode=nearest)
    done = on_core(
        lambda t: DataCopy(t.dst, t.src, params, config=config),
        platform="950", dst=dst, gm={"src": src},
    )  # fmt: skip
    np.testing.assert_array_equal(done["dst"], boxed(src, dst, box, 7, nearest))
    assert done.changed_outside("dst").size == 0


def test_the_configuration_can_pad_all_dimensions():
    src, dst = ramp(64, np.int16), np.full(256, 99, np.int16)
    params = NdDmaParams(NdDmaLoopInfo([1, 8], [1, 16], [4, 3]), 5)
    done = on_core(
        lambda t: DataCopy(
            t.dst, t.src, params, config=NdDmaConfig(False, loopLpSize=2, loopRpSize=1)
        ),
        platform="950", dst=dst, gm={"src": src},
    )  # fmt: skip
    expected = boxed(src, dst, ([1, 8], [1, 16], [4, 3], [2, 2], [1, 1]), 5)
    np.testing.assert_array_equal(done["dst"], expected)


def test_padding_of_a_box_is_recorded_as_filler():
    params = NdDmaParams(NdDmaLoopInfo([1], [1], [4], [1], [2]), 0)
    done = on_core(
        lambda t: DataCopy(t.dst, t.src, params),
        platform="950", dst=np.zeros(64, np.float32), gm={"src": ramp(16)},
    )  # fmt: skip
    (plan,) = [e[0] for e in done.run.blocks[0].entries if e[0].spec.name == "DataCopy[NDDMA]"]
    filled = {
        start + i
        for filler in plan.details["filler"]
        for start in filler.access.run_starts()
        for i in range(filler.access.inner)
    }
    assert filled == {*range(4), *range(20, 28)}


@pytest.mark.parametrize(
    ("info", "kind"),
    [
        (([1] * 6, [1] * 6, [1] * 6), ArgumentError),
        (([], [], []), ArgumentError),
        (([1, 2], [1], [1, 1]), ArgumentError),
        (([1], [1], [0]), ArgumentError),
        (([-1], [1], [4]), ArgumentError),
        (([1], [1], [4], [256], [0]), ArgumentError),
        (([1], [100], [9]), OutOfBoundsError),
        (([100], [1], [9]), OutOfBoundsError),
    ],
    ids=str,
)
def test_boxes_that_are_none_are_refused(info, kind):
    with pytest.raises(kind):
        on_core(
            lambda t: DataCopy(t.dst, t.src, NdDmaParams(NdDmaLoopInfo(*info), 0)),
            platform="950", dst=np.zeros(64, np.float32), gm={"src": ramp(64)},
        )  # fmt: skip


def test_boxes_exist_on_950_only():
    params = NdDmaParams(NdDmaLoopInfo([1], [1], [8]), 0)
    for call in (lambda t: DataCopy(t.dst, t.src, params), lambda t: NdDmaDci()):
        data = {"dst": np.zeros(64, np.float32), "gm": {"src": ramp(64)}}
        on_core(call, platform="950", **data)
        with pytest.raises(UnsupportedError, match="910B"):
            on_core(call, platform="910b", **data)


@pytest.mark.parametrize(("value", "nearest"), [(1, False), (0, True)])
def test_boxes_of_64_bits_pad_with_zero_only(value, nearest):
    params = NdDmaParams(NdDmaLoopInfo([1], [1], [4], [1], [0]), value)
    with pytest.raises(ArgumentError, match="64-bit"):
        on_core(
            lambda t: DataCopy(t.dst, t.src, params, config=NdDmaConfig(nearest)),
            platform="950", dst=np.zeros(16, np.int64), gm={"src": ramp(16, np.int64)},
        )  # fmt: skip


def test_boxes_of_two_types_are_refused():
    with pytest.raises(DTypeError):
        on_core(
            lambda t: DataCopy(t.dst, t.src, NdDmaParams(NdDmaLoopInfo([1], [1], [8]), 0)),
            platform="950", dst=np.zeros(16, np.int32), gm={"src": ramp(16)},
        )  # fmt: skip
