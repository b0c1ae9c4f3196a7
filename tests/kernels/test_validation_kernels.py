"""The kernels of the validation compute what they say; small sizes, odd numbers of blocks."""

from dataclasses import replace

import numpy as np
import pytest

from kernels.validation.add import AddTiling, add_double_buffer, add_scalar, add_single_buffer
from kernels.validation.add_queue import QueueTiling, add_queue
from kernels.validation.bank_conflict import LENGTH, Places, bank_conflict
from kernels.validation.copy_in import CopyTiling, copy_all, copy_in
from kernels.validation.gelu import GeluTiling, gelu
from kernels.validation.one_call import Call, one_call
from kernels.validation.reduce_sum import pairwise, reduce_only
from kernels.validation.relu_tiles import ReluTiling, relu_tiles
from kernels.validation.rms_norm_quant import RmsTiling, rms_norm_quant
from kernels.validation.softmax import SoftmaxTiling, softmax_in_ub, softmax_scalar
from kernels.validation.tile_pieces import pieces_of

ANY = np.random.default_rng(7)


@pytest.mark.parametrize("kernel", [add_scalar, add_single_buffer, add_double_buffer])
@pytest.mark.parametrize("bypass", [False, True])
@pytest.mark.parametrize(("rows", "blocks"), [(1, 1), (7, 3), (4, 4)])
def test_every_step_of_the_add_tutorial_adds(kernel, bypass, rows, blocks):
    x, y = (ANY.normal(size=(rows, 96)).astype(np.float16) for _ in range(2))
    z = np.zeros_like(x)
    kernel.launch(blocks, x, y, z, AddTiling(rows, 96, 64, 128, bypass=bypass), blocks)
    np.testing.assert_array_equal(z, x + y)


def test_the_add_with_shifted_buffers_adds():
    x, y = (ANY.normal(size=(4, 512)).astype(np.float16) for _ in range(2))
    z = np.zeros_like(x)
    add_double_buffer.launch(2, x, y, z, AddTiling(4, 512, 384, 512, shift=128), 2)
    np.testing.assert_array_equal(z, x + y)


@pytest.mark.parametrize("buffers", [1, 2])
def test_the_add_through_queues_adds(buffers):
    x, y = (ANY.normal(size=2048).astype(np.float16) for _ in range(2))
    z = np.zeros_like(x)
    add_queue.launch(2, x, y, z, QueueTiling(1024, 256, buffers=buffers, adds=2), platform="910b4")
    np.testing.assert_array_equal(z, x + y)


@pytest.mark.parametrize(
    "places",
    [
        Places(x=0x0000, y=0x10100, z=0x20000),
        Places(x=0x0000, y=0x4000, z=0x10000),
        Places(x=0x0000, y=0x10100, z=0x10100),
    ],
)
def test_an_add_gives_the_same_wherever_its_operands_are(places):
    x, y = (ANY.normal(size=LENGTH).astype(np.float32) for _ in range(2))
    z = np.zeros_like(x)
    bank_conflict.launch(1, x, y, z, places, 1)
    np.testing.assert_array_equal(z, x + y)


@pytest.mark.parametrize("kernel", [copy_in, copy_all])
def test_the_copies_read_the_whole_matrix(kernel):
    # check="off": they write one place again and again, which the sanitizer is right to refuse.
    arguments = (True,) if kernel is copy_all else ()
    run = kernel.launch(
        4, np.zeros((64, 100), np.float16), CopyTiling(64, 100, 8, 64), *arguments, check="off"
    )
    times = 4 if kernel is copy_all else 1
    assert run.summary.traffic.read_bytes == 64 * 100 * 2 * times


def test_slices_and_repeats_read_the_matrix_as_often():
    tiling = CopyTiling(64, 128, 8, 32, slices=2, repeats=3)
    run = copy_in.launch(2, np.zeros((64, 128), np.float16), tiling, check="off")
    assert run.summary.traffic.read_bytes == 64 * 128 * 2 * 3


def test_gelu_is_gelu():
    x = ANY.normal(size=(32, 128)).astype(np.float32)
    y = np.zeros_like(x)
    gelu.launch(4, x, y, GeluTiling(128, 16, 64, 4), 32, platform="950pr")
    inner = np.sqrt(2 / np.pi) * (x.astype(np.float64) + 0.044715 * x.astype(np.float64) ** 3)
    np.testing.assert_allclose(y, 0.5 * x * (1 + np.tanh(inner)), atol=1e-5)


@pytest.mark.parametrize("kernel", [softmax_in_ub, softmax_scalar])
def test_softmax_is_softmax(kernel):
    x = ANY.normal(size=(8, 128)).astype(np.float32)
    y = np.zeros_like(x)
    kernel.launch(2, x, y, SoftmaxTiling(4, 128, 2), platform="950pr", check="off")
    wide = np.exp(x.astype(np.float64))
    np.testing.assert_allclose(y, wide / wide.sum(axis=1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("preload", [False, True])
def test_rms_norm_is_quantised(preload):
    x = ANY.normal(size=(4, 128)).astype(np.float16)
    gamma = ANY.normal(size=128).astype(np.float16)
    scale, offset = np.full(1, 20, np.float16), np.full(1, 3, np.int8)
    y = np.zeros((4, 128), np.int8)
    tiling = RmsTiling(2, 128, preload)
    rms_norm_quant.launch(2, x, gamma, scale, offset, y, tiling, platform="950pr", check="off")
    wide = x.astype(np.float64)
    norm = wide / np.sqrt((wide**2).mean(axis=1, keepdims=True) + 1e-6)
    expected = norm * gamma.astype(np.float64) * 20 + 3
    # The narrowing goes through half, whose steps near 60 are 1/32.
    assert np.abs(y - expected).max() <= 0.55


def test_relu_reaches_every_tile_of_the_matrix():
    c = ANY.normal(size=(64, 64)).astype(np.float32)
    expected = np.maximum(c, 0)
    relu_tiles.launch(4, c, ReluTiling(64, 32, 16), platform="950pr")
    np.testing.assert_array_equal(c, expected)


def test_both_sums_reduce_a_row_to_one_element():
    short, long = pairwise.launch(1, 30000, check="off"), reduce_only.launch(1, 30000, check="off")
    assert [i.name for i in long.instructions].count("WholeReduceSum") == 3
    assert [i.name for i in short.instructions].count("WholeReduceSum") == 1
    assert short.cycles < long.cycles


# Instructions of the tile operations, read off hw-native-sys/pto-isa include/pto/npu/a2a3 by hand:
# repeats and mask of each.
@pytest.mark.parametrize(
    ("call", "issued"),
    [
        (Call("Abs", "half", 16, 256, 256), [(32, 128)]),
        (Call("Exp", "float", 33, 30, 30), [(15, 64), (1, 30)]),
        (Call("Add", "half", 4, 128, 128), [(4, 128)]),
        (Call("Add", "half", 4, 64, 64), [(4, 64)]),
        (Call("Adds", "int32_t", 31, 128, 128), [(31, 64), (31, 64)]),
        (Call("Muls", "int16_t", 15, 192, 192), [(15, 128), (15, 64)]),
        (Call("Adds", "float", 7, 448, 448), [(7, 64)] * 7),
        (Call("Mins", "float", 256, 16, 16), [(255, 16), (1, 16)]),
        (Call("Cast", "float:half", 2, 64, 64), [(1, 64), (1, 64)]),
        (Call("Cast", "half:float", 2, 80, 80), [(1, 64), (1, 16), (1, 64), (1, 16)]),
    ],
)
def test_a_tile_operation_is_issued_as_its_library_does(call, issued):
    run = one_call.launch(1, replace(call, pieces=pieces_of(call)), check="off")
    plans = [i.plan for i in run.instructions if i.pipe == "V"]
    assert [(p.work.repeats, p.details["mask"]) for p in plans] == issued
    result = [op for p in plans for op in p.operands if op.name == "dst"]
    touched = {byte for op in result for access in op.accesses for byte in _bytes(access)}
    size = result[0].dtype.itemsize
    assert touched == {
        0x8000 + (row * call.pitch + column) * size + byte
        for row in range(call.rows)
        for column in range(call.columns)
        for byte in range(size)
    }


def _bytes(access):
    return [int(start) + byte for start in access.run_starts() for byte in range(access.inner)]


def test_a_call_without_pieces_goes_by_count():
    run = one_call.launch(1, Call("Exp", "half", 4, 64, 64), check="off")
    [plan] = [i.plan for i in run.instructions if i.pipe == "V"]
    assert (plan.form, plan.details["count"], plan.work.repeats) == ("count", 256, 2)
