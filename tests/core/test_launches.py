"""A launch: its arguments, the same answer every time, more blocks than cores, threads."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

from simulator.ascendc import (
    PIPE_ALL,
    Adds,
    DataCopy,
    Duplicate,
    GetBlockIdx,
    GetBlockNum,
    GlobalTensor,
    LocalTensor,
    Muls,
    PipeBarrier,
    TPosition,
    float32,
    int32_t,
    kernel,
    launch,
    printf,
)
from simulator.errors import ConfigError

TILE = 64


def local(addr=0, count=TILE, dtype=float32):
    return LocalTensor(dtype, TPosition.VECCALC, addr, count)


def gm(pointer, dtype=float32):
    tensor = GlobalTensor(dtype)
    tensor.SetGlobalBuffer(pointer)
    return tensor


@kernel
def scale(x, y, factor):
    tile, at = local(), GetBlockIdx() * TILE
    DataCopy(tile, gm(x)[at], TILE)
    PipeBarrier(PIPE_ALL)
    Muls(tile, tile, factor, TILE)
    PipeBarrier(PIPE_ALL)
    DataCopy(gm(y)[at], tile, TILE)


def test_more_blocks_than_cores_all_run():
    blocks = 100
    x = np.arange(blocks * TILE, dtype=np.float32)
    y = np.zeros_like(x)
    run = launch(scale, blocks, x, y, 3.0, platform="910b")
    assert run.platform.chip.aiv < blocks
    np.testing.assert_array_equal(y, np.arange(blocks * TILE) * 3)
    assert len({i.block for i in run.instructions}) == blocks


def test_unified_buffer_is_poison_at_the_start_of_every_block():
    @kernel
    def body(y):
        tile = local()
        DataCopy(gm(y)[GetBlockIdx() * TILE], tile, TILE)
        Duplicate(tile, 1, TILE)

    y = np.zeros(3 * TILE, np.float32)
    launch(body, 3, y)
    assert np.isnan(y).all()


def test_two_launches_have_one_fingerprint():
    x = np.arange(4 * TILE, dtype=np.float32)
    prints = {launch(scale, 4, x, np.zeros_like(x), 2.0).fingerprint() for _ in range(3)}
    assert len(prints) == 1
    other = launch(scale, 3, x, np.zeros_like(x), 2.0).fingerprint()
    assert other not in prints


def test_another_process_has_the_same_fingerprint(tmp_path):
    script = tmp_path / "repeat.py"
    script.write_text(
        textwrap.dedent(
            """
            import numpy as np
            from simulator.ascendc import *

            @kernel
            def body(x, y):
                tile = LocalTensor(float32, TPosition.VECCALC, 0, 64)
                src, dst = GlobalTensor(float32), GlobalTensor(float32)
                src.SetGlobalBuffer(x)
                dst.SetGlobalBuffer(y)
                at = GetBlockIdx() * 64
                DataCopy(tile, src[at], 64)
                SyncAll()
                SetAtomicAdd(float32)
                DataCopy(dst, tile, 64)

            x = np.arange(320, dtype=np.float32)
            y = np.zeros(64, np.float32)
            run = launch(body, 5, x, y)
            print(run.fingerprint(), y.sum(), sorted({"a", "b", "c"}))
            """
        )
    )
    lines = set()
    for seed in ("0", "1", "7"):
        done = subprocess.run(
            [sys.executable, script],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(p for p in sys.path if p)},
        )
        lines.add(done.stdout)
    (line,) = lines
    assert str(np.arange(320).sum()) in line


def test_two_names_of_one_array_are_one_memory():
    x = np.arange(TILE, dtype=np.float32)
    launch(scale, 1, x, x, 2.0)
    np.testing.assert_array_equal(x, np.arange(TILE) * 2)


def test_two_views_of_one_array_overlap_as_they_do_in_memory():
    @kernel
    def shift(x, y):
        tile = local()
        DataCopy(tile, gm(x), TILE)
        Adds(tile, tile, 100, TILE)
        DataCopy(gm(y), tile, TILE)
        DataCopy(tile, gm(x), TILE)
        DataCopy(gm(x), tile, TILE)

    whole = np.arange(2 * TILE, dtype=np.float32)
    launch(shift, 1, whole[:TILE], whole[8 : TILE + 8])
    expected = np.arange(2 * TILE, dtype=np.float32)
    expected[8 : TILE + 8] = np.arange(TILE) + 100
    np.testing.assert_array_equal(whole, expected)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((8, 8), np.float32).T[:, :4],
        np.zeros(128, np.float32)[::2],
        np.zeros(64, np.float32)[::-1],
    ],
    ids=["part of a transpose", "stepped", "reversed"],
)
def test_an_array_with_gaps_is_refused(array):
    with pytest.raises(ConfigError) as caught:
        launch(scale, 1, array, np.zeros(64, np.float32), 1.0)
    assert "contiguous" in str(caught.value)


def test_a_read_only_array_is_refused_or_left_alone():
    x = np.arange(TILE, dtype=np.float32)
    x.flags.writeable = False
    y = np.zeros(TILE, np.float32)
    try:
        launch(scale, 1, x, y, 2.0)
    except ConfigError:
        return
    np.testing.assert_array_equal(y, np.arange(TILE) * 2)


@pytest.mark.parametrize("blocks", [0, -1, 65536, 1.0, True, "4", None])
def test_a_block_dim_that_no_chip_takes_is_refused(blocks):
    with pytest.raises(ConfigError) as caught:
        launch(scale, blocks, np.zeros(64, np.float32), np.zeros(64, np.float32), 1.0)
    assert repr(blocks) in str(caught.value.got)
    assert "65535" in str(caught.value.legal)


def test_a_wrong_number_of_arguments_is_refused():
    with pytest.raises(ConfigError, match="1 arguments"):
        launch(scale, 1, np.zeros(64, np.float32))


def test_arguments_have_no_names_at_a_launch():
    @kernel
    def one(x):
        """Takes one argument."""

    with pytest.raises(ConfigError, match="by their order, not by name"):
        one[1](x=1)


def test_scalars_and_structures_arrive_as_they_are():
    class Tiling:
        blocks = 3

    seen = []

    @kernel
    def body(tiling, number, text=None):
        seen.append((tiling.blocks, number, text, GetBlockIdx(), GetBlockNum()))

    launch(body, 2, Tiling(), 7)
    assert seen == [(3, 7, None, 0, 2), (3, 7, None, 1, 2)]


def test_two_threads_launch_at_once():
    rounds, errors = 20, []
    barrier = threading.Barrier(2)

    def work(factor, platform):
        try:
            for turn in range(rounds):
                x = np.arange(8 * TILE, dtype=np.float32) + turn
                y = np.zeros_like(x)
                barrier.wait()
                run = launch(scale, 8, x, y, factor, platform=platform)
                np.testing.assert_array_equal(y, x * np.float32(factor))
                assert {i.block for i in run.instructions} == set(range(8))
        except BaseException as error:
            barrier.abort()
            errors.append(error)

    threads = [
        threading.Thread(target=work, args=(2.0, "910b")),
        threading.Thread(target=work, args=(5.0, "910b")),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_a_kernel_can_launch_no_kernel_by_calling_it():
    with pytest.raises(ConfigError, match="launch it"):
        scale(1, 2, 3)


def test_printed_lines_carry_the_block():
    @kernel
    def body():
        printf("%d of %s\n", GetBlockIdx() + 1, "two")

    run = launch(body, 2)
    assert run.output.splitlines() == [
        "[AIV Block 0/2] 1 of two",
        "[AIV Block 1/2] 2 of two",
    ]


def test_a_list_of_arrays_becomes_a_descriptor_of_tensors():
    from simulator.ascendc import ListTensorDesc

    @kernel
    def body(inputs, y):
        tensors = ListTensorDesc(inputs)
        for index in range(tensors.GetSize()):
            source = gm(tensors.GetDataPtr(int32_t, index), int32_t)
            target = gm(y, int32_t)
            target.SetValue(index, source.GetValue(0))

    y = np.zeros(8, np.int32)
    launch(body, 1, [np.full(8, 5, np.int32), np.full(16, 6, np.int32)], y)
    assert list(y[:3]) == [5, 6, 0]


def test_a_run_keeps_its_memory_for_itself_while_it_lives():
    # Plans are bound to the local memory of their run; checks and replays use it later.
    x, y = np.zeros(TILE, np.float32), np.zeros(TILE, np.float32)
    first, second = launch(scale, 1, x, y, 2.0), launch(scale, 1, x, y, 2.0)
    kept = first.blocks[0].local
    assert second.blocks[0].local is not kept
    del first
    gc.collect()
    assert launch(scale, 1, x, y, 2.0).blocks[0].local is kept
