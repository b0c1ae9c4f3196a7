"""WholeReduce*, RepeatReduceSum, BlockReduce*, PairReduceSum and their new names."""

from __future__ import annotations

import math

import numpy as np
import pytest
from harness import Filled, on_core
from reduction_reference import LANES, best, bits, lane_rows, mixed, tree

from simulator import ascendc
from simulator.ascendc import (
    BlockReduceMax,
    BlockReduceMin,
    BlockReduceSum,
    PairReduceSum,
    ReduceDataBlock,
    ReduceOrder,
    ReducePairElem,
    ReduceRepeat,
    ReduceType,
    RepeatReduceSum,
    ResetMask,
    SetMaskCount,
    SetMaskNorm,
    SetVectorMask,
    WholeReduceMax,
    WholeReduceMin,
    WholeReduceSum,
)
from simulator.dtypes import float32, half
from simulator.enums import MaskMode
from simulator.errors import (
    ArgumentError,
    DTypeError,
    OutOfBoundsError,
    SimulatorError,
    UnsupportedError,
)
from simulator.isa.reduction_rules import MAX, MIN, extreme, tree_sum
from simulator.isa.saturation import SATURATE_FLOAT, SATURATE_INT

FLOATS = [np.float16, np.float32]
PLATFORMS = ["910b", "950"]
BLOCKS = 8
HOLES = {0, 1, 2, 5, 8, 9, 10, 11, 21, 33, 34, 40, 62, 63}
"""Active lanes; the second half of the blocks is partly or wholly idle."""


def holes(dtype):
    """Bit mask and set of lanes with holes for an element type."""
    lanes = HOLES | {lane + 64 for lane in HOLES} if dtype == np.float16 else HOLES
    word = sum(1 << lane for lane in HOLES)
    return [word, word] if dtype == np.float16 else [word], lanes


def masks(dtype):
    full = LANES[np.dtype(dtype)]
    word, lanes = holes(dtype)
    return [(full, set(range(full))), (21, set(range(21))), (word, lanes)]


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("index", range(3))
def test_a_repeat_is_summed_as_a_tree(platform, dtype, index):
    mask, active = masks(dtype)[index]
    src = mixed(dtype, 2048)
    dst = np.full(64, 9, dtype)
    done = on_core(
        lambda t: WholeReduceSum(t.dst, t.src, mask, 5, 3, 2, 17),
        platform=platform,
        dst=dst,
        src=src,
    )
    for r, lanes in enumerate(lane_rows(src, active, 5, 2, 17)):
        dst[3 * r] = tree(lanes, dtype, platform == "910b")
    assert (bits(done["dst"]) == bits(dst)).all()
    assert done.changed_outside("dst").size == 0


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_repeat_reduce_sum_gives_what_whole_reduce_sum_gives(platform, dtype):
    src = mixed(dtype, 1024)

    def body(t):
        WholeReduceSum(t.whole, t.src, 40, 4, 2, 1, 8)
        RepeatReduceSum(t.repeat, t.src, 4, 40, 1, 1, 2, 8)

    zeros = np.zeros(16, dtype)
    done = on_core(body, platform=platform, whole=zeros, repeat=zeros, src=src)
    assert (bits(done["whole"]) == bits(done["repeat"])).all()
    assert done["whole"][:8:2].all()


@pytest.mark.parametrize("platform", PLATFORMS)
def test_lanes_that_take_no_part_keep_minus_zero_on_910b_only(platform):
    src = np.full(64, -0.0, np.float32)
    done = on_core(
        lambda t: WholeReduceSum(t.dst, t.src, 3, 1, 1, 1, 8),
        platform=platform, dst=np.ones(8, np.float32), src=src,
    )  # fmt: skip
    assert done["dst"][0] == 0
    assert math.copysign(1, done["dst"][0]) == (-1 if platform == "910b" else 1)


CASES_OF_EXTREMES = [
    (call, kind, dtype, platform)
    for call, kind in ((WholeReduceMax, "max"), (WholeReduceMin, "min"))
    for dtype in FLOATS
    for platform in PLATFORMS
]


@pytest.mark.parametrize(("call", "kind", "dtype", "platform"), CASES_OF_EXTREMES)
@pytest.mark.parametrize("order", list(ReduceOrder))
def test_extremes_are_stored_in_the_asked_order(call, kind, dtype, platform, order):
    mask, active = holes(dtype)
    src = (np.arange(1024) * 37 % 11).astype(dtype)
    dst = Filled("half" if dtype == np.float16 else "float", np.full(64, 9, dtype))
    done = on_core(
        lambda t: call(t.dst, t.src, mask, 6, 2, 1, 8, order), platform=platform, dst=dst, src=src
    )
    unsigned = np.dtype(f"u{np.dtype(dtype).itemsize}")
    words = np.full(64, 9, dtype).view(unsigned)
    for r, lanes in enumerate(lane_rows(src, active, 6, 1, 8)):
        value, where = best(lanes, kind)
        pattern = dtype(value).view(unsigned)
        if order == ReduceOrder.ORDER_VALUE_INDEX:
            words[4 * r : 4 * r + 2] = pattern, where
        elif order == ReduceOrder.ORDER_INDEX_VALUE:
            words[4 * r : 4 * r + 2] = where, pattern
        elif order == ReduceOrder.ORDER_ONLY_VALUE:
            words[2 * r] = pattern
        else:
            # Indices alone take 32 bits whatever the element type.
            words.view(np.uint32)[2 * r] = where
    assert (bits(done["dst"]) == words).all()


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("call", [WholeReduceMax, WholeReduceMin])
def test_nan_is_the_extreme_of_its_repeat_only(platform, call):
    src = np.ones(128, np.float32)
    src[70] = np.nan
    done = on_core(
        lambda t: call(t.dst, t.src, 64, 2, 1, 1, 8), platform=platform,
        dst=np.zeros(8, np.float32), src=src,
    )  # fmt: skip
    assert done["dst"][0] == 1
    assert np.isnan(done["dst"][2])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize(
    ("call", "kind", "idle"),
    [
        (BlockReduceSum, "sum", 0.0),
        (BlockReduceMax, "max", -np.inf),
        (BlockReduceMin, "min", np.inf),
    ],
)
def test_blocks_give_eight_results_a_repeat(dtype, platform, call, kind, idle):
    mask, active = holes(dtype)
    per_block = 32 // np.dtype(dtype).itemsize
    src = mixed(dtype, 2048)
    dst = np.full(128, 9, dtype)
    done = on_core(
        lambda t: call(t.dst, t.src, 4, mask, 2, 2, 16), platform=platform, dst=dst, src=src
    )
    for r, lanes in enumerate(lane_rows(src, active, 4, 2, 16)):
        for b in range(BLOCKS):
            block = lanes[b * per_block : (b + 1) * per_block]
            if all(v is None for v in block):
                # An idle block is skipped by the 910B and written by the 950.
                result = 9 if platform == "910b" else idle
            elif kind == "sum":
                result = tree(block, dtype, platform == "910b")
            else:
                result = best(block, kind)[0]
            dst[16 * r + b] = result
    assert (bits(done["dst"]) == bits(dst)).all()
    assert done.changed_outside("dst").size == 0


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("platform", PLATFORMS)
def test_pairs_give_half_as_many_results_as_lanes(dtype, platform):
    mask, active = holes(dtype)
    lanes = LANES[np.dtype(dtype)]
    src = mixed(dtype, 2048)
    dst = np.full(512, 9, dtype)
    done = on_core(
        lambda t: PairReduceSum(t.dst, t.src, 3, mask, 2, 1, 9), platform=platform, dst=dst, src=src
    )
    for r, row in enumerate(lane_rows(src, active, 3, 1, 9)):
        for k in range(lanes // 2):
            pair = row[2 * k : 2 * k + 2]
            if pair != [None, None]:
                dst[r * lanes + k] = tree(pair, dtype, platform == "910b")
            elif platform == "950":
                dst[r * lanes + k] = 0
    assert (bits(done["dst"]) == bits(dst)).all()


@pytest.mark.parametrize("platform", PLATFORMS)
def test_counter_mode_ends_in_a_partial_repeat(platform):
    src = np.arange(256, dtype=np.float32)

    def body(t):
        SetMaskCount()
        SetVectorMask(0, 150, mode=MaskMode.COUNTER)
        WholeReduceSum(t.dst, t.src, ascendc.MASK_PLACEHOLDER, 1, 1, 1, 8, False)
        SetMaskNorm()
        ResetMask()

    done = on_core(body, platform=platform, dst=np.full(8, 9, np.float32), src=src)
    expected = [src[:64].sum(), src[64:128].sum(), src[128:150].sum()] + [9] * 5
    assert done["dst"].tolist() == expected


def test_the_new_names_are_the_old_calls_with_a_template_argument():
    src = mixed(np.float32, 512)

    def body(t):
        ReduceRepeat(ReduceType.SUM, t.a, t.src, 50, 4, 1, 1, 8)
        WholeReduceSum(t.b, t.src, 50, 4, 1, 1, 8)
        ReduceRepeat(ReduceType.MAX, t.a[8], t.src, 50, 4, 1, 1, 8, ReduceOrder.ORDER_INDEX_VALUE)
        WholeReduceMax(t.b[8], t.src, 50, 4, 1, 1, 8, ReduceOrder.ORDER_INDEX_VALUE)
        ReduceDataBlock(ReduceType.MIN, t.a[16], t.src, 50, 4, 1, 1, 8)
        BlockReduceMin(t.b[16], t.src, 4, 50, 1, 1, 8)
        ReducePairElem(ReduceType.SUM, t.a[64], t.src, 50, 4, 1, 1, 8)
        PairReduceSum(t.b[64], t.src, 4, 50, 1, 1, 8)

    zeros = np.zeros(256, np.float32)
    done = on_core(body, a=zeros, b=zeros, src=src)
    assert (bits(done["a"]) == bits(done["b"])).all()
    assert all(done["a"][start] for start in (0, 9, 16, 64))
    called = [i.name for i in done.run.instructions if "Reduce" in i.name]
    assert called == [
        name
        for name in ("WholeReduceSum", "WholeReduceMax", "BlockReduceMin", "PairReduceSum")
        for _ in range(2)
    ]


@pytest.mark.parametrize(
    ("src", "dst"),
    [
        ("int16_t", "int32_t"),
        ("uint16_t", "uint32_t"),
        ("int32_t", "int32_t"),
        ("uint32_t", "uint32_t"),
    ],
)
def test_integers_are_summed_on_950_modulo_their_width(src, dst):
    kinds = {"int16_t": np.int16, "uint16_t": np.uint16, "int32_t": np.int32, "uint32_t": np.uint32}
    top = np.iinfo(kinds[src]).max
    values = np.array([top - (i % 3) for i in range(256)], kinds[src])
    lanes = 256 // values.itemsize
    repeats = len(values) // lanes
    done = on_core(
        lambda t: WholeReduceSum(t.dst, t.src, lanes, repeats, 1, 1, 8),
        platform="950", dst=np.zeros(8, kinds[dst]), src=values,
    )  # fmt: skip
    width = 8 * np.dtype(kinds[dst]).itemsize
    for r in range(repeats):
        total = sum(int(v) for v in values[r * lanes : (r + 1) * lanes])
        assert int(done["dst"][r]) % 2**width == total % 2**width


def test_integer_extremes_on_950_start_from_nothing():
    src = np.full(64, np.iinfo(np.int32).min, np.int32)
    src[[5, 9]] = -7
    done = on_core(
        lambda t: WholeReduceMax(t.dst, t.src, 64, 1, 1, 1, 8),
        platform="950", dst=np.zeros(8, np.int32), src=src,
    )  # fmt: skip
    assert done["dst"][:2].tolist() == [-7, 5]


@np.errstate(all="ignore")
def test_a_saturating_tree_clamps_at_every_node():
    ones = np.ones((1, 128), np.float16)
    ones[0, 0] = np.nan
    assert tree_sum(ones, half, SATURATE_FLOAT)[0] == 126
    large = np.array([[65504.0, 65504.0, -65504.0, -65504.0]], np.float16)
    assert tree_sum(large, half, SATURATE_FLOAT)[0] == 0
    assert np.isnan(tree_sum(large, half, 0)[0])
    top = np.array([[2**31 - 1, 1]], np.int32)
    assert tree_sum(top, ascendc.int32_t, SATURATE_INT)[0] == 2**31 - 1
    assert tree_sum(top, ascendc.int32_t, 0)[0] == -(2**31)


def test_zeros_of_both_signs_order_as_the_instruction_does():
    values = np.array([[-0.0, 0.0, -0.0]], np.float32)
    most, where = extreme(values, float32, MAX, 0)
    assert (math.copysign(1, most[0]), where[0]) == (1, 0)
    least, where = extreme(values[:, 1:], float32, MIN, 0)
    assert (math.copysign(1, least[0]), where[0]) == (-1, 0)


def refused(error, call, platform="910b", dst=None, src=None, match="."):
    zeros = np.zeros(64, np.float32) if dst is None else dst
    values = np.zeros(1024, np.float32) if src is None else src
    with pytest.raises(error, match=match):
        on_core(call, platform=platform, dst=zeros, src=values)


def test_wrong_arguments_are_refused_with_the_legal_ones():
    refused(ArgumentError, lambda t: WholeReduceMax(t.dst, t.src, 64, 1, 1, 1, 8, 7), match="order")
    refused(SimulatorError, lambda t: WholeReduceSum(t.dst, t.src, -1, 1, 1, 1, 8), match="mask")
    refused(
        SimulatorError, lambda t: WholeReduceSum(t.dst, t.src, 64, 256, 1, 1, 8), match="repeat"
    )
    refused(
        SimulatorError,
        lambda t: WholeReduceSum(t.dst, t.src, 64, 1, -1, 1, 8),
        match="dstRepStride",
    )
    refused(SimulatorError, lambda t: BlockReduceSum(t.dst, t.src, 1, 64, 1, 1, "8"))
    refused(
        ArgumentError,
        lambda t: ReducePairElem(ReduceType.MAX, t.dst, t.src, 64, 1, 1, 1, 8),
        match="ReduceType.SUM",
    )
    refused(
        OutOfBoundsError, lambda t: WholeReduceSum(t.dst, t.src, 64, 200, 1, 1, 8), match="src|dst"
    )
    refused(
        DTypeError,
        lambda t: WholeReduceSum(t.dst, t.src, 64, 1, 1, 1, 8),
        dst=np.zeros(8, np.int32), src=np.zeros(64, np.int32), match="half; float|float; half",
    )  # fmt: skip
    refused(
        (DTypeError, UnsupportedError),
        lambda t: BlockReduceMax(t.dst, t.src, 1, 64, 1, 1, 8),
        "950", np.zeros(8, np.int32), np.zeros(64, np.int32),
    )  # fmt: skip


def test_a_mask_without_lanes_does_nothing_on_910b():
    done = on_core(
        lambda t: WholeReduceSum(t.dst, t.src, 64, 0, 1, 1, 8),
        dst=np.full(8, 9, np.float32), src=np.ones(64, np.float32),
    )  # fmt: skip
    assert (done["dst"] == 9).all()
