"""How case files of hardswish_backward_v2 are run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from host.cases.binding import OperatorBinding, bind
from host.hard_swish_grad.call import hardswish_backward
from host.hard_swish_grad_v2.api import (
    API,
    aclnn_hardswish_backward_v2,
    aclnn_hardswish_backward_v2_get_workspace_size,
)
from host.hard_swish_grad_v2.call import hardswish_backward_v2
from kernels.hard_swish_grad_v2.core_split import tiles_2201, tiles_3510
from kernels.hard_swish_grad_v2.kernel_2201 import hard_swish_grad_v2
from kernels.hard_swish_grad_v2.tiling_data import (
    HardSwishGradV2Arch35TilingData,
    HardSwishGradV2TilingData,
)
from simulator.dtypes import as_dtype
from simulator.platforms import load_platform
from simulator.sanitizer.overlap import IN_ONE_REPEAT, overlaps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

_VERSIONS: Final[dict[str, Callable[..., NDArray[Any]]]] = {
    "V1": hardswish_backward,
    "V2": hardswish_backward_v2,
}


def _numeric(given: Mapping[str, Any], tensors: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    call = _VERSIONS[given.get("variant", "V2")]
    return {"out": call(tensors["gradOutput"], tensors["self"])}


def _core_split(given: Mapping[str, Any], core: int) -> dict[str, Any]:
    if given["arch"] == "arch22":
        tiles = tiles_2201(HardSwishGradV2TilingData(**given["tiling_data"]), core)
        return {"start": tiles[0][0], "loops": len(tiles), "tiles": [list(t) for t in tiles]}
    tiles = tiles_3510(HardSwishGradV2Arch35TilingData(**given["tiling_data"]), core)
    return {
        "offset": tiles[0][0],
        "count": sum(count for _, count in tiles),
        "loops": len(tiles),
        "tail": tiles[-1][1],
    }


def _hazard(given: Mapping[str, Any]) -> dict[str, Any]:
    """Run one tile on 910B and look for vector calls whose operands overlap within a repeat."""
    dtype, count = as_dtype(given["dtype"]), given["tile_count"]
    tiling = HardSwishGradV2TilingData(
        elementNum=count,
        needCoreNum=1,
        ubSize=load_platform("910b").memory.ub_tiling_bytes,
        elementNumEachCore=given["elementNumEachCore"],
    )
    arrays = [np.zeros(count, dtype.numpy) for _ in range(3)]
    run = hard_swish_grad_v2.specialise(dtype).launch(1, *arrays, 0, tiling, platform="910b")
    found = [overlap for call in run.instructions for overlap in overlaps(call.plan)]
    partial = [overlap for overlap in found if overlap.rule == IN_ONE_REPEAT]
    if not partial:
        return {"rule": None, "present": False, "repeat": None}
    return {"rule": IN_ONE_REPEAT, "present": True, "repeat": partial[0].repeat}


bind(
    OperatorBinding(
        op="hardswish_backward_v2",
        op_type="HardSwishGradV2",
        api=API,
        parameters=("gradOutput", "self", "out"),
        plan=aclnn_hardswish_backward_v2_get_workspace_size,
        launch=aclnn_hardswish_backward_v2,
        numeric=_numeric,
        core_split=_core_split,
        hazard=_hazard,
    )
)
