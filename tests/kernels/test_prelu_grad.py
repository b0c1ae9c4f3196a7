"""The kernels of PReLU's gradient: schedules, tiles, order of the pipes, untouched memory."""

from __future__ import annotations

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.platform_ascendc import PlatformInfo
from host.tiling import tiling
from kernels.p_relu_grad_reduce import kernel_2201 as reduce_2201
from kernels.p_relu_grad_reduce_apt import kernel_3510 as reduce_3510
from kernels.p_relu_grad_reduce_apt.tiles import Tiles, cache_level, nearest_power_of_two
from kernels.p_relu_grad_reduce_apt.tiling_data import ReduceKey
from kernels.p_relu_grad_update import kernel_2201 as update_2201
from kernels.p_relu_grad_update.rows import fetch_plan, kind_of, strided_calls
from kernels.p_relu_grad_update_apt import kernel_3510 as update_3510
from kernels.p_relu_grad_update_apt.tiling_data import SCH_MODES
from simulator.dtypes import as_dtype
from simulator.platforms import load_platform

BF16 = ml_dtypes.bfloat16
TYPES = [np.float32, np.float16, BF16]
GUARD = 64
UPDATE = {"910b": update_2201.p_relu_grad_update, "950": update_3510.prelu_grad_update}
REDUCE = {"910b": reduce_2201.p_relu_grad_reduce, "950": reduce_3510.prelu_grad_reduce}


def device(platform, **changes):
    return replace(PlatformInfo.from_platform(load_platform(platform)), **changes)


def specialised(kernel, dtype, key):
    chosen = {"DTYPE": as_dtype(dtype), "TILING_KEY": key}
    return kernel.specialise(*(chosen[name] for name in kernel.template))


def guarded(shape, dtype):
    """Memory full of sevens, and a view in its middle."""
    count = int(np.prod(shape, dtype=np.int64))
    memory = np.full(count + 2 * GUARD, 7, dtype)
    return memory, memory[GUARD : GUARD + count].reshape(shape)


def untouched(memory, count):
    edges = [memory[:GUARD], memory[GUARD + count :]]
    return all((edge.astype(np.float32) == 7).all() for edge in edges)


def run_update(grad, x, weight, platform, **changes):
    shapes = [grad.shape, x.shape, weight.shape, x.shape, x.shape]
    plan = tiling("PReluGradUpdate", device(platform, **changes), shapes, x.dtype.name)
    (dx_memory, dx), (update_memory, update) = guarded(x.shape, x.dtype), guarded(x.shape, x.dtype)
    kernel = specialised(UPDATE[platform], x.dtype, plan.key)
    run = kernel.launch(
        plan.block_dim, grad, x, weight, dx, update, 0, plan.data, platform=platform
    )
    assert untouched(dx_memory, x.size)
    assert untouched(update_memory, x.size)
    return dx, update, run, plan


def run_reduce(updates, channels, platform, weight=None, **changes):
    weight = weight or (channels,)
    shapes = [updates.shape, updates.shape, weight, updates.shape, weight]
    plan = tiling("PReluGradReduce", device(platform, **changes), shapes, updates.dtype.name)
    memory, da = guarded((channels,), updates.dtype)
    workspace = np.zeros(max(1, sum(plan.workspace)), np.uint8)
    kernel = specialised(REDUCE[platform], updates.dtype, plan.key)
    run = kernel.launch(
        plan.block_dim,
        *(updates, updates, da, updates, da, workspace, plan.data),
        platform=platform,
    )
    assert untouched(memory, channels)
    return da, run, plan


def formula(grad, x, weight):
    g, w = np.broadcast_to(grad, x.shape), weight.reshape(1, -1, *[1] * (x.ndim - 2))
    w = w if weight.size > 1 else weight.reshape(())
    f = np.float32
    product, update = ((a.astype(f) * g.astype(f)).astype(x.dtype) for a in (w, x))
    positive = x.astype(f) > 0
    return np.where(positive, g, product), np.where(positive, np.zeros((), x.dtype), update)


def bits(array):
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


SCHEDULES = [
    # schedule, gradOutput, features, weights; the last axis decides between the two ways.
    (201, np.float32, (1000,), (1000,), 1),
    (201, np.float16, (1,), (1000,), 1),
    (1, np.float32, (5, 40, 300), (5, 40, 300), 40),
    (1, np.float16, (7, 1, 33), (7, 20, 33), 20),
    (1, BF16, (3000, 3), (3000, 3), 3),
    (2, np.float32, (2, 1, 3, 1, 2, 1, 2, 1), (2, 3, 3, 2, 2, 2, 2, 2), 3),
    (102, np.float16, (1, 2048), (9, 2048), 2048),
    (102, np.float32, (3, 1025), (3, 1025), 1025),
    (103, BF16, (4, 24, 64), (4, 24, 64), 24),
    (103, np.float16, (4, 1, 64), (4, 24, 64), 24),
    (104, np.float16, (2, 4, 1, 32), (2, 4, 3, 32), 4),
    (109, np.float16, (2, 1, 3, 1, 2, 32), (2, 4, 3, 2, 2, 32), 4),
    (102, np.float16, (64, 3136), (64, 3136), 3136),
]


@pytest.mark.parametrize(("schedule", "dtype", "grad_shape", "shape", "channels"), SCHEDULES)
def test_every_schedule_of_950_computes_the_formula(schedule, dtype, grad_shape, shape, channels):
    rng = np.random.default_rng(4)
    grad, x, weight = (
        np.asarray(rng.standard_normal(s)).astype(dtype) for s in (grad_shape, shape, (channels,))
    )
    dx, update, run, plan = run_update(grad, x, weight, "950")
    assert SCH_MODES[plan.key] == schedule
    want_dx, want_update = formula(grad, x, weight)
    np.testing.assert_array_equal(bits(dx), bits(want_dx))
    np.testing.assert_array_equal(bits(update), bits(want_update))
    assert run.block_dim == plan.block_dim


@pytest.mark.parametrize("platform", ["910b", "950"])
@pytest.mark.parametrize("dtype", TYPES, ids=lambda t: np.dtype(t).name)
@pytest.mark.parametrize("cores", [1, 2, 5, 40])
def test_any_number_of_cores_gives_the_same_bits(platform, dtype, cores):
    rng = np.random.default_rng(5)
    x = rng.standard_normal((6, 50, 200)).astype(dtype)
    grad = rng.standard_normal((6, 1, 200)).astype(dtype)
    weight = rng.standard_normal(50).astype(dtype)
    dx, update, run, _ = run_update(grad, x, weight, platform, aiv=cores)
    assert run.block_dim <= cores
    for got, want in zip((dx, update), formula(grad, x, weight), strict=True):
        np.testing.assert_array_equal(bits(got), bits(want))


@pytest.mark.parametrize("platform", ["910b", "950"])
def test_two_sets_of_buffers_let_copies_run_beside_arithmetic(platform):
    rng = np.random.default_rng(6)
    x = rng.standard_normal((8, 64, 1000)).astype(np.float32)
    _, _, run, _ = run_update(x, x, np.ones(64, np.float32), platform, aiv=1)
    copies = [i for i in run.instructions if i.pipe == "MTE2" and i.name.startswith("DataCopy")]
    arithmetic = [i for i in run.instructions if i.pipe == "V" and i.name == "Select"]
    # Three inputs a tile: the seventh copy belongs to the third tile, which reuses buffers.
    assert copies[3].start < arithmetic[1].end


def exact_sum(updates, channels):
    axes = tuple(axis for axis in range(updates.ndim) if channels == 1 or axis != 1)
    return np.atleast_1d(updates.astype(np.float64).sum(axis=axes)).astype(updates.dtype)


REDUCTIONS = [
    ((5,), 1),
    ((1, 7), 7),
    ((1, 1), 1),
    ((4, 2), 2),
    ((2, 4, 8, 8), 4),
    ((1000, 3), 3),
    ((30000, 2), 2),
    ((700, 1100), 1100),
    ((3, 5, 7, 3), 5),
    ((2, 3, 70001), 3),
    ((9, 300, 17), 300),
    ((1, 600, 70), 600),
    ((123457,), 1),
    ((64, 7, 1), 7),
    ((65, 9, 2000), 9),
]


@pytest.mark.parametrize("platform", ["910b", "950"])
@pytest.mark.parametrize("dtype", TYPES, ids=lambda t: np.dtype(t).name)
@pytest.mark.parametrize(("shape", "channels"), REDUCTIONS)
def test_sums_of_whole_numbers_are_exact(platform, dtype, shape, channels):
    updates = np.random.default_rng(7).integers(-3, 4, shape).astype(dtype)
    da, _, _ = run_reduce(updates, channels, platform)
    np.testing.assert_array_equal(
        da.astype(np.float64), exact_sum(updates, channels).astype(np.float64)
    )


@given(
    shape=st.lists(st.sampled_from([1, 2, 3, 5, 8, 13, 31, 64, 100]), min_size=2, max_size=6),
    dtype=st.sampled_from(TYPES),
    platform=st.sampled_from(["910b", "950"]),
    cores=st.sampled_from([1, 3, 40]),
    one_weight=st.booleans(),
)
@settings(max_examples=60)
def test_any_shape_is_summed(shape, dtype, platform, cores, one_weight):
    while np.prod(shape) > 40000:
        shape[int(np.argmax(shape))] //= 2
    updates = np.random.default_rng(8).integers(-3, 4, shape).astype(dtype)
    channels = 1 if one_weight else shape[1]
    da, run, _ = run_reduce(updates, channels, platform, aiv=cores)
    assert run.block_dim <= cores
    np.testing.assert_array_equal(
        da.astype(np.float64), exact_sum(updates, channels).astype(np.float64)
    )


@given(
    shape=st.lists(st.integers(1, 7), min_size=3, max_size=7),
    flags=st.lists(st.booleans(), min_size=7, max_size=7),
    dtype=st.sampled_from([np.float32, np.float16]),
    cores=st.sampled_from([1, 64]),
)
@settings(max_examples=60)
def test_any_pattern_of_axes_is_summed_on_950(shape, flags, dtype, cores):
    # A weight of one rank less keeps axis i where its dim i is not 1, and always the last axis.
    weight = [1, *(1 if flag else 2 for flag in flags)][: len(shape) - 1]
    shape = [dim if dim > 1 else 3 for dim in shape]
    if np.prod(weight) == 1:
        weight[0] = 2
    axes = [0] + [k for k in range(1, len(weight)) if weight[k] == 1]
    updates = np.random.default_rng(9).integers(-2, 3, shape).astype(dtype)
    want = updates.astype(np.float64).sum(axis=tuple(axes)).reshape(-1)
    da, _, _ = run_reduce(updates, want.size, "950", tuple(weight), aiv=cores)
    np.testing.assert_array_equal(da.astype(np.float64), want.astype(dtype).astype(np.float64))


@pytest.mark.parametrize("dtype", TYPES, ids=lambda t: np.dtype(t).name)
@pytest.mark.parametrize("cores", [1, 3, 17, 48])
def test_the_order_of_the_sum_on_910b_does_not_depend_on_the_cores(dtype, cores):
    updates = np.random.default_rng(10).standard_normal((90, 33, 400)).astype(dtype)
    first, _, _ = run_reduce(updates, 33, "910b")
    da, run, _ = run_reduce(updates, 33, "910b", aiv=cores)
    assert run.block_dim <= cores
    np.testing.assert_array_equal(bits(da), bits(first))


@pytest.mark.parametrize("dtype", TYPES, ids=lambda t: np.dtype(t).name)
def test_cores_of_950_that_share_a_sum_meet_once(dtype):
    updates = np.random.default_rng(11).integers(-1, 2, (5000, 40)).astype(dtype)
    _, run, plan = run_reduce(updates, 40, "950")
    assert plan.data.groupR > 1
    met = [sum(i.name == "SyncAll" for i in _of_block(run, block)) for block in (0, 1)]
    assert met[0] == met[1] > 0
    # Whatever is read from the workspace was written before the cores met.
    partial = [i.start for i in run.instructions if i.name == "Cast" and i.block == 0]
    assert partial == sorted(partial)


def _of_block(run, block):
    return [i for i in run.instructions if i.block == block]


def test_an_empty_sum_is_zero_on_950():
    plan = tiling("PReluGradReduce", "950", [(0, 5), (0, 5), (5,), (0, 5), (5,)], "float16")
    memory, da = guarded((5,), np.float16)
    kernel = specialised(REDUCE["950"], np.float16, plan.key)
    spare, workspace = np.zeros(1, np.float16), np.zeros(sum(plan.workspace), np.uint8)
    arguments = (spare, spare, spare, spare, da)
    kernel.launch(plan.block_dim, *arguments, workspace, plan.data, platform="950")
    np.testing.assert_array_equal(da, np.zeros(5))
    assert untouched(memory, 5)


def test_without_a_workspace_the_kernel_of_950_does_nothing():
    updates = np.ones((3, 5), np.float16)
    plan = tiling("PReluGradReduce", "950", [(3, 5), (3, 5), (5,), (3, 5), (5,)], "float16")
    da = np.full(5, 7, np.float16)
    kernel = specialised(REDUCE["950"], np.float16, plan.key)
    run = kernel.launch(1, updates, updates, da, updates, da, 0, plan.data, platform="950")
    assert len(run.instructions) == 0
    np.testing.assert_array_equal(da, np.full(5, 7))


# -- helpers of the kernels ------------------------------------------------------------------------


def test_pairing_of_tiles():
    # Largest power of two below the number of tiles, by hand.
    table = {1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 8: 4, 9: 8, 16: 8, 17: 16}
    assert {n: nearest_power_of_two(n) for n in table} == table
    assert [cache_level(n) for n in range(8)] == [0, 1, 0, 2, 0, 1, 0, 3]


def test_tiles_cover_every_element_once():
    plan = tiling("PReluGradReduce", "950", [(5, 7, 3000)] * 2 + [(7,), (5, 7, 3000)], "float32")
    tiles = Tiles(plan.data, ReduceKey.decode(plan.key), 4)
    seen = np.zeros(5 * 7 * 3000, int)
    for a_index in range(plan.data.factorATotalCnt):
        for r_index in range(plan.data.factorRTotalCnt):
            tile = tiles.tile(a_index, r_index)
            places = np.array([tile.offset])
            for axis in tile.axes:
                places = np.add.outer(places, np.arange(axis.size) * axis.gm_step)
            np.add.at(seen, places.reshape(-1), 1)
    assert (seen == 1).all()


@given(axes=st.lists(st.tuples(st.integers(1, 5), st.booleans()), min_size=1, max_size=5))
def test_fetch_plans_fill_every_row_with_its_element(axes):
    length = [dim for dim, _ in axes]
    strides, step = [], 1
    for dim, repeats in reversed(axes):
        strides.append(0 if repeats else step)
        step *= 1 if repeats else dim
    strides.reverse()
    source = np.arange(step)
    want = np.lib.stride_tricks.as_strided(source, length, [s * 8 for s in strides]).reshape(-1)
    rows = np.full(int(np.prod(length)), -1)
    bursts, repeats = fetch_plan(length, strides, 0)
    for row, count, offset, gap in bursts:
        for k in range(count):
            assert rows[row + k] == -1
            rows[row + k] = source[offset + k * gap]
    for row, inside, times in repeats:
        for k in range(1, times):
            rows[row + k * inside : row + (k + 1) * inside] = rows[row : row + inside]
    np.testing.assert_array_equal(rows, want)


@given(
    rows=st.integers(1, 600),
    row_blocks=st.integers(1, 600),
    varies=st.sampled_from([(True, False), (False, True), (False, False)]),
    per_row=st.integers(1, 2),
)
@settings(max_examples=40)
def test_strided_calls_cover_a_tile_once(rows, row_blocks, varies, per_row):
    kind = kind_of([rows, 9], [int(varies[0]), int(varies[1])])
    seen = np.full((rows, row_blocks), -1)
    for call in strided_calls(rows, row_blocks, kind, per_row):
        assert call.repeats <= 255
        assert max(call.tile_step, call.operand_step) <= 255
        for repeat in range(call.repeats):
            at = call.tile + repeat * call.tile_step
            row, column = divmod(at, row_blocks)
            blocks = np.arange(call.blocks)
            operand = call.operand + repeat * call.operand_step + blocks * call.operand_block
            target = seen.reshape(-1)[at : at + call.blocks]
            assert (target == -1).all()
            target[...] = operand
            assert column + call.blocks <= row_blocks
            assert row < rows
    across = np.arange(row_blocks) if kind.columns else np.zeros(row_blocks, int)
    down = np.arange(rows) * per_row if kind.rows and not kind.columns else np.zeros(rows, int)
    if not kind.is_dense:
        np.testing.assert_array_equal(seen, down[:, None] + across[None, :])
