"""Cases of the host's own helpers: platform queries, keys, names, workspace sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from host.cases.runner import Outcome, case_kind, compare
from host.naming import snake_case
from host.platform_ascendc import CoreMemType, PlatformAscendC, PlatformInfo, ReservedSize
from host.tiling_key import TemplateParam, encode_tiling_key
from host.workspace import aligned_size

if TYPE_CHECKING:
    from collections.abc import Mapping


def _outcome(case: Mapping[str, Any], got: dict[str, Any]) -> Outcome:
    return Outcome(got, compare(case["expect"], got))


@case_kind("calc_num_blocks")
def calc_num_blocks(case: Mapping[str, Any]) -> Outcome:
    """CalcTschNumBlocks."""
    given = case["input"]
    blocks = PlatformAscendC.CalcTschNumBlocks(given["slice_num"], given["aic"], given["aiv"])
    return _outcome(case, {"num_blocks": blocks})


@case_kind("lib_api_workspace")
def lib_api_workspace(case: Mapping[str, Any]) -> Outcome:
    """GetLibApiWorkSpaceSize."""
    given = case["input"]
    info = PlatformInfo(npu_arch=given["npu_arch"], short_soc_version=given["short_soc_version"])
    return _outcome(case, {"bytes": PlatformAscendC(info).GetLibApiWorkSpaceSize()})


@case_kind("core_mem_size")
def core_mem_size(case: Mapping[str, Any]) -> Outcome:
    """GetCoreMemSize of UB and L1 after ReserveLocalMemory."""
    given = case["input"]
    platform = PlatformAscendC(
        PlatformInfo(
            short_soc_version=given["short_soc_version"],
            ub_bytes=given["raw_ub"],
            l1_bytes=given["raw_l1"],
        )
    )
    if given["reserved"] is not None:
        platform.ReserveLocalMemory(ReservedSize[f"RESERVED_SIZE_{given['reserved']}"])
    got = {
        "ub": platform.GetCoreMemSize(CoreMemType.UB),
        "l1": platform.GetCoreMemSize(CoreMemType.L1),
    }
    return _outcome(case, got)


@case_kind("tpl_tiling_key")
def tpl_tiling_key(case: Mapping[str, Any]) -> Outcome:
    """Tiling key of template parameters."""
    declared = [
        TemplateParam(p["name"], p["kind"], p["bits"], tuple(p["values"]))
        for p in case["input"]["declared"]
    ]
    return _outcome(case, {"key": encode_tiling_key(declared, case["input"]["arguments"])})


@case_kind("executor_align")
def executor_align(case: Mapping[str, Any]) -> Outcome:
    """Workspace share of one intermediate tensor."""
    return _outcome(case, {"aligned": aligned_size(case["input"]["tensor_bytes"])})


@case_kind("op_name")
def op_name(case: Mapping[str, Any]) -> Outcome:
    """Default file and entry name of an operator type."""
    return _outcome(case, {"file_and_entry": snake_case(case["input"]["op_type"])})
