"""How case files of hardswish_backward_v2 are run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from host.cases.binding import OperatorBinding, bind
from host.cases.runner import CaseUnsupportedError
from host.hard_swish_grad_v2.api import (
    API,
    aclnn_hardswish_backward_v2,
    aclnn_hardswish_backward_v2_get_workspace_size,
)
from host.hard_swish_grad_v2.call import hardswish_backward_v2
from kernels.hard_swish_grad_v2.core_split import tiles_2201, tiles_3510
from kernels.hard_swish_grad_v2.tiling_data import (
    HardSwishGradV2Arch35TilingData,
    HardSwishGradV2TilingData,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


def _numeric(given: Mapping[str, Any], tensors: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    if given.get("variant", "V2") != "V2":
        raise CaseUnsupportedError("HardSwishGrad, the first version of the operator")
    return {"out": hardswish_backward_v2(tensors["gradOutput"], tensors["self"])}


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
    )
)
