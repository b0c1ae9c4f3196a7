"""The bottleneck sentence: small kernels, each with one obvious limit."""

from __future__ import annotations

import re

import numpy as np
import pytest

from simulator.analysis.verdict import BOUNDS
from simulator.ascendc import (
    Add,
    DataCopy,
    GetBlockIdx,
    GlobalTensor,
    Ln,
    TBuf,
    TPipe,
    TPosition,
    TQue,
    TQueBind,
    float32,
    half,
    kernel,
)

TILE = 8192


@kernel
def only_copies(x, z, tiles, length):
    """Moves a block's own tiles through UB without arithmetic, double-buffered."""
    source, target = GlobalTensor(half), GlobalTensor(half)
    start = GetBlockIdx() * tiles * length * half.itemsize
    source.SetGlobalBuffer(x + start, tiles * length)
    target.SetGlobalBuffer(z + start, tiles * length)
    queue = TQueBind(TPosition.VECIN, TPosition.VECOUT, 2)
    TPipe().InitBuffer(queue, 2, length * half.itemsize)
    for tile in range(tiles):
        local = queue.AllocTensor(half)
        DataCopy(local, source[tile * length], length)
        queue.EnQue(local)
        local = queue.DeQue(half)
        DataCopy(target[tile * length], local, length)
        queue.FreeTensor(local)


@kernel
def only_arithmetic(repeats):
    """Takes logarithms in place."""
    buffer = TBuf(TPosition.VECCALC)
    TPipe().InitBuffer(buffer, TILE * 4)
    local = buffer.Get(float32)
    for _ in range(repeats):
        Ln(local, local, TILE)


@kernel
def only_scalars(count):
    """Counts with SetValue."""
    buffer = TBuf(TPosition.VECCALC)
    TPipe().InitBuffer(buffer, 256)
    local = buffer.Get(float32)
    for _ in range(count):
        local.SetValue(0, 1.0)


@kernel
def uneven(repeats):
    """Gives block 0 all the work."""
    buffer = TBuf(TPosition.VECCALC)
    TPipe().InitBuffer(buffer, TILE * 4)
    local = buffer.Get(float32)
    for _ in range(repeats if GetBlockIdx() == 0 else 1):
        Ln(local, local, TILE)


@kernel
def single_buffered(x, z, tiles):
    """Waits for every copy before it adds, and for every addition before it copies."""
    source, target = GlobalTensor(half), GlobalTensor(half)
    source.SetGlobalBuffer(x, tiles * TILE)
    target.SetGlobalBuffer(z, tiles * TILE)
    pipe = TPipe()
    inputs, outputs = TQue(TPosition.VECIN, 1), TQue(TPosition.VECOUT, 1)
    pipe.InitBuffer(inputs, 1, TILE * half.itemsize)
    pipe.InitBuffer(outputs, 1, TILE * half.itemsize)
    for tile in range(tiles):
        local = inputs.AllocTensor(half)
        DataCopy(local, source[tile * TILE], TILE)
        inputs.EnQue(local)
        local, result = inputs.DeQue(half), outputs.AllocTensor(half)
        for _ in range(4):
            Add(result, local, local, TILE)
        outputs.EnQue(result)
        inputs.FreeTensor(local)
        result = outputs.DeQue(half)
        DataCopy(target[tile * TILE], result, TILE)
        outputs.FreeTensor(result)


def copies(tiles, length, blocks=1):
    x = np.zeros(blocks * tiles * length, np.float16)
    return only_copies.launch(blocks, x, np.empty_like(x), tiles, length).summary


def test_large_copies_are_bound_by_memory_and_more_cores_would_help():
    summary = copies(32, 16384)
    assert summary.bound == "memory"
    assert summary.busiest == "MTE2"
    assert "more cores would help (1 of 48 are in use)" in summary.bottleneck


def test_large_copies_of_all_cores_share_the_bandwidth():
    summary = copies(16, 16384, blocks=48)
    assert summary.bound == "memory"
    assert "48 cores share 1,540 GB/s" in summary.bottleneck


def test_short_copies_are_bound_by_latency_and_larger_tiles_would_help():
    summary = copies(400, 64)
    assert summary.bound == "memory"
    assert "copies are short (128 B on average)" in summary.bottleneck


def test_arithmetic_is_bound_by_the_vector_unit():
    summary = only_arithmetic.launch(1, 50).summary
    assert (summary.bound, summary.busiest) == ("vector", "V")


def test_set_value_is_bound_by_the_scalar_unit():
    summary = only_scalars.launch(1, 2000).summary
    assert (summary.bound, summary.busiest) == ("scalar", "S")


def test_one_long_block_is_imbalance():
    summary = uneven.launch(8, 100).summary
    assert summary.bound == "imbalance"
    assert "deal the work out evenly" in summary.bottleneck


def test_one_block_more_than_cores_is_imbalance():
    summary = only_arithmetic.launch(49, 100).summary
    assert summary.bound == "imbalance"
    assert "49 blocks on 48 cores" in summary.bottleneck


def test_a_kernel_that_waits_for_each_step_is_bound_by_latency():
    x = np.zeros(16 * TILE, np.float16)
    summary = single_buffered.launch(1, x, np.empty_like(x), 16).summary
    assert summary.bound == "latency"
    # The shares told, busy included, are shares of one whole.
    shares = [int(n) for n in re.findall(r"(\d+)%", summary.bottleneck.partition("Start-up")[0])]
    assert 90 <= sum(shares) <= 101


def test_a_tiny_kernel_is_bound_by_start_up():
    assert only_arithmetic.launch(1, 1).summary.bound == "start-up"


def test_a_kernel_without_work_is_bound_by_start_up():
    @kernel
    def nothing():
        return

    summary = nothing.launch(2).summary
    assert summary.bound == "start-up"
    assert "0 B read, 0 B written" in summary.text()


def test_every_bound_is_a_known_one():
    assert copies(2, 64).bound in BOUNDS


def test_traffic_counts_bytes_and_copies_of_all_blocks():
    moved = copies(10, 64, blocks=3).traffic
    assert (moved.read_bytes, moved.written_bytes) == (3 * 10 * 128, 3 * 10 * 128)
    assert (moved.read_copies, moved.written_copies) == (30, 30)


def test_working_time_leaves_out_the_start_of_every_block_of_the_busiest_core():
    summary = only_arithmetic.launch(49, 1).summary
    assert summary.cycles - summary.work_cycles == 2 * summary.start_cycles


def test_structs_are_told_by_field():
    class Fields:
        def as_dict(self):
            return {"length": 64, "tiles": 2}

    @kernel
    def nothing(x, tiling):
        return

    summary = nothing.launch(1, np.zeros((2, 3), np.float32), Fields()).summary
    assert summary.structs == {"tiling": {"length": 64, "tiles": 2}}
    assert summary.arguments == {"x": "float32[2, 3]"}
    assert "tiling     length=64, tiles=2" in summary.text()


@pytest.mark.parametrize("platform", ["910b", "950"])
def test_the_text_report_keeps_to_100_columns(platform):
    x = np.zeros(16 * TILE, np.float16)
    run = single_buffered.launch(1, x, np.empty_like(x), 16, platform=platform)
    assert max(map(len, run.report().splitlines())) <= 100
