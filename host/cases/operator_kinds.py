"""Cases of infershape, tiling and the division of work among cores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from host.cases.binding import binding_of
from host.cases.runner import CaseUnsupportedError, Outcome, case_kind, compare
from host.contexts import TensorDesc
from host.datatypes import as_data_type
from host.errors import InferShapeError, TilingError
from host.infershape import infer
from host.platform_ascendc import PlatformInfo
from host.registry import op_def
from host.tiling import run_tiling
from simulator.dtypes import as_dtype
from simulator.platforms import load_platform

if TYPE_CHECKING:
    from collections.abc import Mapping

    from host.datatypes import DataType

_NOT_SET: Final = ("not set", "build-dependent")
_NOT_COMPARED: Final = ("asserted",)
_ANY_OF_GENERATION: Final = {"arch22": "910b", "arch35": "950"}


@case_kind("infershape")
def infershape(case: Mapping[str, Any]) -> Outcome:
    """Graph status, and output shapes and dtypes by name."""
    given = case["input"]
    op_type = given.get("op_type", binding_of(case).op_type)
    definition = op_def(op_type)
    tensors = [given["inputs"].get(p.name) for p in definition.inputs]
    try:
        outputs = infer(
            op_type,
            [None if t is None else t["shape"] for t in tensors],
            [as_data_type(t["dtype"]) for t in tensors if t is not None],
        )
    except InferShapeError as error:
        got: dict[str, Any] = {"graph_status": "GRAPH_FAILED", "reason": error.message}
        return Outcome(got, compare(case["expect"], got))
    got = {
        "graph_status": "GRAPH_SUCCESS",
        "outputs": {
            param.name: {"shape": list(shape), "dtype": _name(dtype)}
            for param, (shape, dtype) in zip(definition.outputs, outputs, strict=True)
        },
    }
    return Outcome(got, compare(case["expect"], got))


def _name(dtype: DataType) -> str:
    return str(dtype.numpy)


def platform_of(given: Mapping[str, Any]) -> PlatformInfo:
    """Return a platform whose queries answer what a case states."""
    short, arch = (
        "" if given.get(key) in _NOT_SET else given.get(key, "")
        for key in ("short_soc_version", "npu_arch")
    )
    return PlatformInfo.for_tiling(
        core_num_aiv=given["core_num_aiv"],
        ub_size=given["ub_size"],
        short_soc_version=short,
        npu_arch=arch,
        soc_version=given.get("soc_version", ""),
    )


def _tiling_platform(given: Mapping[str, Any]) -> PlatformInfo:
    """Platform of a tiling case; one that names none expects the same of all of its generation."""
    if "platform" in given:
        return platform_of(given["platform"])
    return PlatformInfo.from_platform(load_platform(_ANY_OF_GENERATION[given["arch"]]))


@case_kind("tiling")
def tiling(case: Mapping[str, Any]) -> Outcome:
    """Graph status, block dim, key, workspace and every field of the tiling data."""
    given, expected = case["input"], case["expect"]
    binding = binding_of(case)
    op_type = given.get("op_type", binding.op_type)
    definition = op_def(op_type)
    inputs, outputs = (
        [_desc(given["tensors"].get(p.name)) for p in params]
        for params in (definition.inputs, definition.outputs)
    )
    try:
        result = run_tiling(op_type, given["arch"], _tiling_platform(given), inputs, outputs)
    except TilingError as error:
        got: dict[str, Any] = {"graph_status": "GRAPH_FAILED", "reason": error.message}
        return Outcome(got, compare(_compared(expected), got))
    got = {
        "graph_status": "GRAPH_SUCCESS",
        "block_dim": result.block_dim,
        "tiling_key": result.key,
        "workspace": list(result.workspace),
        "workspace_slots": len(result.workspace),
        "tiling_data": result.data.as_dict(),
        **binding.tiling_extras(result, given),
    }
    return Outcome(got, compare(_compared(expected), got))


def _compared(expected: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in expected.items() if key not in _NOT_COMPARED}


def _desc(given: Mapping[str, Any] | None) -> TensorDesc | None:
    if given is None:
        return None
    return TensorDesc(tuple(given["shape"]), as_data_type(as_dtype(given["dtype"]).numpy))


@case_kind("core_split")
def core_split(case: Mapping[str, Any]) -> Outcome:
    """Work of each listed core, and that no other core has any where all are listed."""
    split = binding_of(case).core_split
    if split is None:
        raise CaseUnsupportedError(f"core split of {case['op']}")
    expected = case["expect"]
    got = [split(case["input"], entry["core"]) for entry in expected["cores"]]
    differences = [
        f"core {want['core']}: {line}"
        for want, have in zip(expected["cores"], got, strict=True)
        for line in compare({k: v for k, v in want.items() if k != "core"}, have)
    ]
    block_dim = case["input"]["block_dim"]
    if expected["cores_listed"] == "all" and len(got) != block_dim:
        differences.append(f"{len(got)} cores are listed, the block dim is {block_dim}")
    return Outcome(got, differences)
