"""Columns of the counter files: names and order of CANN's profiler, per generation.

Source: Ascend/msopprof csrc/op_profiling/profiling/device/data_parse/metric_csv_header.h and
docs/zh/user_guide/msopprof_performance_data.md.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from simulator.enums import Arch

if TYPE_CHECKING:
    from collections.abc import Mapping

BASIC_INFO: Final = (
    "Op Name", "Op Type", "Task Duration(us)", "Block Dim", "Mix Block Dim", "Device Id", "Pid",
    "Current Freq", "Rated Freq",
)  # fmt: skip
"""Columns of OpBasicInfo.csv on both generations."""

CODE_EXE: Final = ("code", "call_count", "cycles", "running_time(us)")
INSTR_EXE: Final = ("instr", "addr", "pipe", "call_count", "cycles", "running_time(us)", "detail")


def _columns(text: str) -> tuple[str, ...]:
    return ("block_id", "sub_block_id", *text.split())


_AIC: Final = "aic_time(us) aic_total_cycles "
_AIV: Final = "aiv_time(us) aiv_total_cycles "

_PIPES_A2: Final = _columns(
    _AIC + "aic_cube_time(us) aic_cube_ratio aic_mte1_time(us) aic_mte1_ratio "
    "aic_mte2_time(us) aic_mte2_ratio aic_mte3_time(us) aic_mte3_ratio aic_mte3_active_bw(GB/s) "
    "aic_fixpipe_time(us) aic_fixpipe_ratio aic_fixpipe_active_bw(GB/s) aic_icache_miss_rate "
    "aic_scalar_time(us) aic_scalar_ratio aic_scalar_single_time(us) aic_scalar_dual_time(us) "
    "aic_scalar_mte1_stall_time(us) aic_scalar_mte2_stall_time(us) aic_scalar_mte3_stall_time(us) "
    "aic_scalar_cube_stall_time(us) aic_scalar_wait_ib_time(us) aic_scalar_wait_time(us) "
    + _AIV
    + "aiv_vec_time(us) aiv_vec_ratio "
    "aiv_mte2_time(us) aiv_mte2_ratio aiv_mte2_active_bw(GB/s) "
    "aiv_mte3_time(us) aiv_mte3_ratio aiv_mte3_active_bw(GB/s) aiv_icache_miss_rate "
    "aiv_scalar_time(us) aiv_scalar_ratio aiv_scalar_single_time(us) aiv_scalar_dual_time(us) "
    "aiv_scalar_mte2_stall_time(us) aiv_scalar_mte3_stall_time(us) "
    "aiv_scalar_stall_by_ub_time(us) aiv_scalar_vector_stall_time(us) "
    "aiv_scalar_wait_ib_time(us) aiv_scalar_wait_time(us)"
)
_PIPES_A5: Final = _columns(
    _AIC + "aic_cube_time(us) aic_cube_ratio aic_scalar_time(us) aic_scalar_ratio "
    "aic_mte1_time(us) aic_mte1_ratio aic_mte1_active_bw(GB/s) "
    "aic_mte2_time(us) aic_mte2_ratio aic_mte2_active_bw(GB/s) "
    "aic_mte3_time(us) aic_mte3_ratio aic_mte3_active_bw(GB/s) "
    "aic_fixpipe_time(us) aic_fixpipe_ratio aic_fixpipe_active_bw(GB/s) aic_icache_miss_rate "
    + _AIV
    + "aiv_vec_time(us) aiv_vec_ratio aiv_scalar_time(us) aiv_scalar_ratio "
    "aiv_mte2_time(us) aiv_mte2_ratio aiv_mte2_active_bw(GB/s) "
    "aiv_mte3_time(us) aiv_mte3_ratio aiv_mte3_active_bw(GB/s) aiv_icache_miss_rate"
)

_CUBE_INSTRUCTIONS: Final = (
    "aic_cube_total_instr_number aic_cube_fp_instr_number aic_cube_int_instr_number "
)
_ARITHMETIC_A2: Final = _columns(
    _AIC
    + "aic_cube_ratio aic_cube_fp16_ratio aic_cube_int8_ratio aic_cube_fops "
    + _CUBE_INSTRUCTIONS
    + _AIV
    + "aiv_vec_ratio aiv_vec_fp32_ratio aiv_vec_fp16_ratio aiv_vec_int32_ratio "
    "aiv_vec_int16_ratio aiv_vec_misc_ratio aiv_vec_fops"
)
_ARITHMETIC_A5: Final = _columns(
    _AIC
    + "aic_cube_ratio aic_cube_fp_ratio aic_cube_int_ratio "
    + _CUBE_INSTRUCTIONS
    + _AIV
    + "aiv_vec_ratio aiv_vec_vf_ratio aiv_vec_sfu_ratio aiv_vec_simt_vf_ratio"
)

_L1_TO_GM: Final = "L1_to_GM_datas(KB)(estimate) L1_to_GM_bw_usage_rate(%)(estimate) "


def _memory(l1_to_gm: str) -> tuple[str, ...]:
    return _columns(
        _AIC + "aic_l1_read_bw(GB/s) aic_l1_write_bw(GB/s) "
        "aic_main_mem_read_bw(GB/s) aic_main_mem_write_bw(GB/s) "
        "aic_mte1_instructions aic_mte1_ratio aic_mte2_instructions aic_mte2_ratio "
        "aic_mte3_instructions aic_mte3_ratio " + _AIV + "aiv_ub_to_gm_bw(GB/s) "
        "aiv_gm_to_ub_bw(GB/s) aiv_main_mem_read_bw(GB/s) aiv_main_mem_write_bw(GB/s) "
        "aiv_mte2_instructions aiv_mte2_ratio aiv_mte3_instructions aiv_mte3_ratio "
        "read_main_memory_datas(KB) write_main_memory_datas(KB) "
        "GM_to_L1_datas(KB) GM_to_L1_bw_usage_rate(%) " + l1_to_gm + "L0C_to_L1_datas(KB) "
        "L0C_to_L1_bw_usage_rate(%) L0C_to_GM_datas(KB) L0C_to_GM_bw_usage_rate(%) "
        "GM_to_UB_datas(KB) GM_to_UB_bw_usage_rate(%) UB_to_GM_datas(KB) UB_to_GM_bw_usage_rate(%)"
    )


_MEMORY_L0: Final = _columns(
    _AIC + "aic_l0a_read_bw(GB/s) aic_l0a_write_bw(GB/s) aic_l0b_read_bw(GB/s) "
    "aic_l0b_write_bw(GB/s) aic_l0c_read_bw_cube(GB/s) aic_l0c_write_bw_cube(GB/s) " + _AIV
)


def _memory_ub(second: str) -> tuple[str, ...]:
    return _columns(
        f"{_AIC}{_AIV}aiv_ub_read_bw_vector(GB/s) aiv_ub_write_bw_vector(GB/s) "
        f"aiv_ub_read_bw_{second}(GB/s) aiv_ub_write_bw_{second}(GB/s)"
    )


_CUBE_WAITS: Final = (
    "aic_cube_wait_ratio aic_mte1_wait_ratio aic_mte2_wait_ratio aic_mte3_wait_ratio "
)
_VECTOR_WAITS: Final = "aiv_vec_wait_ratio aiv_mte2_wait_ratio aiv_mte3_wait_ratio"
_CONFLICTS_A2: Final = _columns(
    _AIC + _CUBE_WAITS + _AIV + "aiv_vec_total_cflt_ratio aiv_vec_bankgroup_cflt_ratio "
    "aiv_vec_bank_cflt_ratio aiv_vec_resc_cflt_ratio aiv_vec_mte_cflt_ratio " + _VECTOR_WAITS
)
_CONFLICTS_A5: Final = _columns(
    _AIC
    + _CUBE_WAITS
    + _AIV
    + "aiv_vec_stu_cflt_ratio aiv_vec_ldu_cflt_ratio aiv_vec_sfu_cflt_ratio "
    + _VECTOR_WAITS
)

_CACHE_A2: Final = (
    "write_cache_hit write_cache_miss_allocate r0_read_cache_hit r0_read_cache_miss_allocate "
    "r1_read_cache_hit r1_read_cache_miss_allocate "
    "write_hit_rate(%) read_hit_rate(%) total_hit_rate(%)"
)
_CACHE_A5: Final = (
    "read_close_hit read_close_miss read_close_victim "
    "read_far_hit read_far_miss read_far_victim read_hit_rate(%) "
    "write_close_hit write_close_miss write_close_victim "
    "write_far_hit write_far_miss write_far_victim write_hit_rate(%)"
)


def _cache(names: str) -> tuple[str, ...]:
    cube, vector = (" ".join(f"{core}_{n}" for n in names.split()) for core in ("aic", "aiv"))
    return _columns(f"{_AIC}{cube} {_AIV}{vector}")


A2: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "ArithmeticUtilization": _ARITHMETIC_A2,
        "L2Cache": _cache(_CACHE_A2),
        "Memory": _memory(_L1_TO_GM),
        "MemoryL0": _MEMORY_L0,
        "MemoryUB": _memory_ub("scalar"),
        "PipeUtilization": _PIPES_A2,
        "ResourceConflictRatio": _CONFLICTS_A2,
    }
)
"""Counter files of 910B (A2/A3) with their columns."""

A5: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "ArithmeticUtilization": _ARITHMETIC_A5,
        "L2Cache": _cache(_CACHE_A5),
        "Memory": _memory(""),
        "MemoryL0": _MEMORY_L0,
        "MemoryUB": _memory_ub("gm"),
        "PipeUtilization": _PIPES_A5,
        "ResourceConflictRatio": _CONFLICTS_A5,
    }
)
"""Counter files of 950 (A5) with their columns."""


def counter_files(arch: Arch) -> Mapping[str, tuple[str, ...]]:
    """Return the counter files of an architecture; 910, which has none published, has A2's."""
    return A5 if arch is Arch.DAV_3510 else A2
