"""The profiles against a hand-collected table of the vendor's platform files."""

import csv
from pathlib import Path

import pytest

from simulator.enums import Arch
from simulator.platforms import CONFIDENCES, load_platform, platform_names

DATA = Path(__file__).parents[1] / "data" / "platforms.csv"

# Row of the table -> profile.
PROFILES = {
    "910B1": "910b1",
    "910B2": "910b2",
    "910B3": "910b3",
    "910B4": "910b4",
    "910_93": "910_93",
    "950PR_957x": "950pr_957x",
    "950PR_958x": "950pr",
    "950DT_957x": "950dt_957x",
    "950DT_9581": "950dt_9581",
    "950DT_958x": "950dt",
}
# Column of the table -> key of the profile.
KEYS = {
    "soc_version": "chip.soc_version",
    "short_soc_version": "chip.short_soc_version",
    "npu_arch": "chip.npu_arch",
    "aic": "chip.aic",
    "aiv": "chip.aiv",
    "vector_core_cnt_query": "chip.vector_core_count_query",
    "ub_size_ini": "memory.ub_bytes",
    "ub_size_tiling": "memory.ub_tiling_bytes",
    "l1_ini": "memory.l1_bytes",
    "l1_tiling": "memory.l1_tiling_bytes",
    "l0a": "memory.l0a_bytes",
    "l0b": "memory.l0b_bytes",
    "l0c": "memory.l0c_bytes",
    "bt": "memory.bt_bytes",
    "fb0": "memory.fb0_bytes",
    "fb1": "memory.fb1_bytes",
    "fb2": "memory.fb2_bytes",
    "fb3": "memory.fb3_bytes",
    "l2": "memory.l2_bytes",
    "hbm_bytes": "memory.hbm_bytes",
    "block_bytes": "memory.block_bytes",
    "vec_reg_bytes": "memory.vector_register_bytes",
    "vec_repeat_bytes": "memory.repeat_bytes",
    "ub_bank_groups": "memory.ub_bank_groups",
    "lib_api_workspace": "memory.lib_api_workspace_bytes",
    "cube_freq_mhz": "timing.clock_mhz",
    "ddr_rate_B_per_cycle": "memory.ddr_rate_bytes_per_cycle",
    "l2_rate_read": "memory.l2_read_rate_bytes_per_cycle",
    "ub_to_l2_rate": "memory.ub_to_l2_rate_bytes_per_cycle",
    "ub_to_ddr_rate": "memory.ub_to_ddr_rate_bytes_per_cycle",
}
# A third-party model stands in the table; the profile follows a measurement (msopprof of a
# 2201 part at 1650) and the platform file of the A3 die (1850).
BETTER = {("910B4", "cube_freq_mhz"): "1650", ("910_93", "cube_freq_mhz"): "1850"}


def table():
    with DATA.open(encoding="utf-8", newline="") as file:
        return {row["profile"]: row for row in csv.DictReader(file)}


@pytest.mark.parametrize(("row", "name"), PROFILES.items())
def test_profile_agrees_with_every_figure_of_the_table(row, name):
    facts = table()[row]
    figures = load_platform(name).figures
    compared = 0
    for column, key in KEYS.items():
        stated = BETTER.get((row, column), facts[column])
        if not stated:
            continue
        value = figures[key].value
        assert value == (stated if isinstance(value, str) else int(stated)), (column, key)
        compared += 1
    assert compared >= 26


@pytest.mark.parametrize("row", [r for r in PROFILES if r.startswith("910")])
def test_select_scratch_of_the_910b_family_is_where_the_table_puts_it(row):
    memory = load_platform(PROFILES[row]).memory
    assert table()[row]["max_select_scratch"] == (
        f"{memory.ub_reserved_bytes} at UB offset {memory.ub_reserved_offset}"
    )


def test_910_has_the_capacities_of_the_vendors_debug_header():
    platform = load_platform("910")
    assert platform.arch is Arch.DAV_1001
    memory = platform.memory
    assert (memory.ub_bytes, memory.ub_tiling_bytes) == (262144, 262144)
    assert (memory.l1_bytes, memory.l0c_bytes, memory.bt_bytes) == (1048576, 262144, 0)
    assert memory.ub_bank_groups * memory.ub_banks_per_group == 64
    assert memory.lib_api_workspace_bytes == 2 * 1024 * 1024
    assert (platform.chip.aiv, platform.chip.core_types) == (32, "AiCore")


@pytest.mark.parametrize("name", platform_names())
def test_every_figure_says_where_it_comes_from_and_how_it_is_known(name):
    platform = load_platform(name)
    for key, figure in platform.figures.items():
        assert "/" in figure.source or figure.source == "no public table read", key
        assert figure.confidence in CONFIDENCES, key
        if figure.source.startswith(("simulator/", "no public")):
            assert figure.confidence == "assumed", key
            assert figure.note or figure.source == "no public table read", key


@pytest.mark.parametrize("name", platform_names())
def test_sections_hold_the_values_of_the_figures(name):
    platform = load_platform(name)
    for key, figure in platform.figures.items():
        section, _, field = key.partition(".")
        assert getattr(getattr(platform, section), field) == figure.value


@pytest.mark.parametrize("name", platform_names())
def test_layout_of_the_unified_buffer_is_consistent(name):
    memory = load_platform(name).memory
    assert memory.ub_tiling_bytes <= memory.ub_bytes <= memory.ub_physical_bytes
    assert memory.ub_reserved_offset + memory.ub_reserved_bytes == memory.ub_physical_bytes
    assert memory.ub_bank_groups * memory.ub_banks_per_group * memory.ub_bank_bytes == (
        memory.ub_physical_bytes
    )
    used = {(memory.bank_group(a), memory.bank(a)) for a in range(0, memory.ub_physical_bytes, 32)}
    assert len(used) == memory.ub_bank_groups * memory.ub_banks_per_group


def test_bank_of_an_address_follows_the_documented_bits():
    b1, pr = load_platform("910b").memory, load_platform("950").memory
    # 2201: group = bits 8:5, bank = bits 17:16. 3510: group = bits 7:5, bank = bit 8.
    assert [b1.bank_group(a) for a in (0, 32, 511, 512, 0x4000)] == [0, 1, 15, 0, 0]
    assert [b1.bank(a) for a in (0, 0xFFFF, 0x10000, 0x2FFFF)] == [0, 0, 1, 2]
    assert [pr.bank_group(a) for a in (0, 32, 255, 256)] == [0, 1, 7, 0]
    assert [pr.bank(a) for a in (0, 255, 256, 512)] == [0, 0, 1, 0]


def test_timing_of_910b1_is_the_published_one():
    timing = load_platform("910b1").timing
    assert (timing.clock_mhz, timing.queue_depth, timing.flag_hop_cycles) == (1850, 32, 10)
    assert (timing.read_rate_gbps, timing.read_rate_while_writing_gbps) == (84, 64)
    assert (timing.write_rate_gbps, timing.read_cap_gbps, timing.write_cap_gbps) == (
        118,
        1540,
        2340,
    )
    assert (timing.read_write_cap_gbps, timing.read_latency_ns) == (1610, 122)
    assert (timing.copy_interval_cycles, timing.ub_to_ub_bytes_per_cycle) == (20.6, 256)
    # 122 ns are 226 cycles at 1.85 GHz (asc-devkit add_high_performance).
    assert round(timing.cycles(122)) == 226
    assert timing.nanoseconds(1850) == 1000


def test_timing_of_950pr_is_the_published_one():
    timing = load_platform("950pr").timing
    assert (timing.clock_mhz, timing.read_rate_gbps, timing.read_cap_gbps) == (1650, 62, 1535)
    assert (timing.read_latency_ns, timing.copy_interval_cycles) == (203, 39.4)
    assert round(timing.cycles(203)) == 335


def test_timing_is_called_provisional_on_950_and_910_only():
    provisional = {name for name in platform_names() if load_platform(name).provisional_timing}
    assert provisional == {"910", "950pr", "950pr_957x", "950dt", "950dt_957x", "950dt_9581"}


def test_taken_over_figures_equal_those_of_the_profile_they_name():
    for name in platform_names():
        for key, figure in load_platform(name).figures.items():
            if figure.note.startswith(("not measured on this part", "no public table read; value")):
                assert figure.value == load_platform("910b1").figures[key].value, (name, key)
