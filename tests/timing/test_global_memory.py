"""L2, write-backs, shared bandwidth, alignment and the order of copies in time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator.ascendc import (
    DataCopy,
    DataCopyExtParams,
    DataCopyPad,
    DataCopyPadExtParams,
    GetBlockIdx,
    GlobalTensor,
    LocalTensor,
    TPosition,
    half,
    kernel,
)
from simulator.enums import CacheMode
from simulator.platforms import load_platform
from simulator.timing.global_memory import write_back
from simulator.timing.timeline import competitors

MIB = 1 << 20


@kernel
def reads(x: Any, tile: int, tiles: int, passes: int, bypass: bool, own: bool) -> None:
    gm = GlobalTensor(half)
    start = GetBlockIdx() * tile * tiles * half.itemsize if own else 0
    gm.SetGlobalBuffer(x + start, tile * tiles)
    if bypass:
        gm.SetL2CacheHint(CacheMode.CACHE_MODE_DISABLE)
    local = LocalTensor(half, TPosition.VECCALC, 0, tile)
    for _ in range(passes):
        for number in range(tiles):
            DataCopy(local, gm[number * tile], tile)


def read(tile: int, tiles: int, passes: int = 1, *, blocks: int = 1, **more: Any) -> Any:
    options = {"bypass": False, "own": True, **more}
    platform = options.pop("platform", "910b1")
    size = tile * tiles * (blocks if options["own"] else 1)
    x = np.zeros(size, np.float16)
    arguments = (x, tile, tiles, passes, options["bypass"], options["own"])
    return reads.launch(blocks, *arguments, platform=platform).timeline


def work(timeline: Any) -> int:
    return timeline.cycles - timeline.start_cycles


def test_a_second_pass_over_little_data_hits_l2() -> None:
    timeline = read(16384, 32, 4)
    assert timeline.memory.hit_rate == 0.75
    assert work(timeline) < 3.4 * work(read(16384, 32))


def test_a_second_pass_over_more_than_l2_misses() -> None:
    small = load_platform("910b1").override(**{"memory.l2_bytes": MIB // 2})
    timeline = read(16384, 32, 4, platform=small)
    assert timeline.memory.hit_rate == 0


def test_copies_that_bypass_l2_neither_hit_nor_fill_it() -> None:
    memory = read(16384, 32, 4, bypass=True).memory
    assert memory.hit_rate == 0
    assert memory.footprint == 0


def test_cores_that_read_one_address_ask_memory_once() -> None:
    memory = read(16384, 8, blocks=48, own=False).memory
    assert memory.read_missing == 8 * 32768
    assert memory.read_hitting == 47 * 8 * 32768


# All cores on one address in step: +54.4 % on 910B, +1.9 % on 950 (asc-devkit data_copy).
@pytest.mark.parametrize(
    ("platform", "cores", "factor"), [("910b1", 48, 1.544), ("950", 64, 1.019)]
)
def test_lockstep_reads_of_one_address_cost_more(platform: str, cores: int, factor: float) -> None:
    same = read(16384, 64, blocks=cores, own=False, bypass=True, platform=platform)
    apart = read(16384, 64, blocks=cores, own=True, bypass=True, platform=platform)
    assert work(same) / work(apart) == pytest.approx(factor, rel=0.02)


@pytest.mark.parametrize(
    ("footprint", "capacity", "share"), [(100, 192, 0.0), (192, 192, 0.0), (384, 192, 0.5)]
)
def test_l2_passes_on_what_does_not_fit(footprint: int, capacity: int, share: float) -> None:
    assert write_back(footprint, capacity) == share


# 48 cores share 1540 GB/s: 32 KiB in 1021 ns; one core takes 12.2 ns a KiB, 390 ns.
@pytest.mark.parametrize(("blocks", "nanoseconds"), [(1, 390), (48, 1021)])
def test_many_cores_get_their_share_of_the_memory(blocks: int, nanoseconds: float) -> None:
    long, short = read(16384, 64, blocks=blocks), read(16384, 32, blocks=blocks)
    each = (work(long) - work(short)) / 32
    assert each == pytest.approx(nanoseconds * 1.85, rel=0.01)


def test_a_core_with_less_to_move_competes_for_a_part_of_the_time() -> None:
    assert competitors([100, 100, 100]) == {0: 1.0, 100: 3.0}
    # The long one has company for a quarter of its time.
    assert competitors([25, 100]) == {0: 1.0, 25: 2.0, 100: 1.25}
    assert competitors([0, 0]) == {0: 1.0}


# 49152 copies of 128 B a core in 548.161 us on 910B, 36864 in 881.13 us on 950.
@pytest.mark.parametrize(
    ("platform", "cores", "interval"), [("910b1", 48, 20.6), ("950", 64, 39.4)]
)
def test_queued_small_copies_follow_at_the_interval(
    platform: str, cores: int, interval: float
) -> None:
    long = read(64, 400, blocks=cores, platform=platform)
    short = read(64, 200, blocks=cores, platform=platform)
    assert (work(long) - work(short)) / 200 == pytest.approx(interval, rel=0.03)


@kernel
def rows(x: Any, rows: int, row_bytes: int, pitch: int, times: int) -> None:
    gm = GlobalTensor(half)
    first = GetBlockIdx() * rows * times * pitch
    gm.SetGlobalBuffer(x + first, rows * times * pitch // 2)
    local = LocalTensor(half, TPosition.VECCALC, 0, rows * 1024)
    params = DataCopyExtParams(rows, row_bytes, pitch - row_bytes)
    for number in range(times):
        DataCopyPad(local, gm[number * rows * pitch // 2], params, DataCopyPadExtParams())


def copied(row_bytes: int, pitch: int, platform: str, blocks: int) -> int:
    x = np.zeros(blocks * 64 * 8 * pitch // 2, np.float16)
    return work(rows.launch(blocks, x, 64, row_bytes, pitch, 8, platform=platform).timeline)


# Rows of 2048 B that do not start on a piece of the bus: +27.8 % on 910B, +1.9 % on 950; bursts of
# 128 B: -8 % and -10 % of the rate (asc-devkit data_copy).
@pytest.mark.parametrize(
    ("platform", "cores", "cut", "short"), [("910b1", 48, 1.278, 0.92), ("950", 64, 1.019, 0.9)]
)
def test_bursts_that_are_cut_or_short_cost_more(
    platform: str, cores: int, cut: float, short: float
) -> None:
    whole = copied(2048, 4096, platform, cores)
    assert copied(2048, 4098, platform, cores) / whole == pytest.approx(cut, rel=0.03)
    assert 16 * copied(128, 4096, platform, cores) / whole == pytest.approx(1 / short, rel=0.12)
