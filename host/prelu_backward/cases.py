"""How case files of prelu_backward are run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from host.cases.binding import OperatorBinding, bind
from host.p_relu_grad_reduce.axes import merged_shape, pattern_name, reduce_axes
from host.prelu_backward.api import (
    API,
    aclnn_prelu_backward,
    aclnn_prelu_backward_get_workspace_size,
)
from host.prelu_backward.call import prelu_backward
from kernels.p_relu_grad_reduce_apt.tiling_data import ReduceKey, ReduceOpTilingData
from kernels.p_relu_grad_update_apt.tiling_data import (
    INPUTS,
    PARTS,
    SCH_MODES,
    SCH_NDDMA,
    SCH_UB_BROADCAST,
    SCH_UB_BROADCAST_ANY_RANK,
    BroadcastOneDimTilingData,
    BroadcastTilingData,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from host.tiling import TilingResult

_TENSORS: Final = ("grads", "features", "weights", "out")
_ONE_DIM_FIELDS: Final = (
    "scalarFlag",
    "ubFormer",
    "ubTail",
    "blockNum",
    "blockFormer",
    "blockTail",
)
_BROADCAST_FIELDS: Final = (
    "shapeLen",
    "ubSplitAxis",
    "ubFormer",
    "ubOuter",
    "ubTail",
    "blockFormer",
    "blockTail",
    "blockNum",
    "dimProductBeforeUbInner",
    "elemNum",
)


def _numeric(given: Mapping[str, Any], tensors: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    self_ = tensors["self"]
    result = prelu_backward.run(tensors["gradOutput"], self_, tensors["weight"])
    outputs = dict(zip(("gradInput", "gradWeight"), result.outputs, strict=True))
    # The update lives in the workspace; the second kernel was launched with its address.
    (address,) = (value for name, value in result.runs[-1].arguments if name == "updates")
    start = address.offset
    held = address.allocation.data[start : start + self_.nbytes]
    outputs["update"] = np.frombuffer(held.tobytes(), self_.dtype).reshape(self_.shape)
    return outputs


def _tiling_extras(result: TilingResult, given: Mapping[str, Any]) -> dict[str, Any]:
    data = result.data
    if isinstance(data, BroadcastOneDimTilingData):
        return _one_dim(result.key, data)
    if isinstance(data, BroadcastTilingData):
        return _broadcast(result.key, data)
    if isinstance(data, ReduceOpTilingData):
        return _reduce(result.key, data, given["tensors"])
    return {}


def _schedule(key: int) -> dict[str, Any]:
    mode = SCH_MODES[key]
    inside_ub = SCH_UB_BROADCAST < mode <= SCH_UB_BROADCAST_ANY_RANK
    return {
        "sch_mode": mode,
        "ub_buffer_count": PARTS[SCH_UB_BROADCAST if inside_ub else SCH_NDDMA],
    }


def _one_dim(key: int, data: BroadcastOneDimTilingData) -> dict[str, Any]:
    tiles = (data.blockNum - 1) * data.blockFormer + data.blockTail
    length = (tiles - 1) * data.ubFormer + data.ubTail
    sizes = [1 if data.scalarFlag >> k & 1 else length for k in range(INPUTS)] + [length]
    return {
        **_schedule(key),
        "tiling_data": {name: getattr(data, name) for name in _ONE_DIM_FIELDS},
        "collapsed_dims": {name: [size] for name, size in zip(_TENSORS, sizes, strict=True)},
        "collapsed_strides": {
            name: [int(size == length)] for name, size in zip(_TENSORS, sizes, strict=True)
        },
    }


def _broadcast(key: int, data: BroadcastTilingData) -> dict[str, Any]:
    dims = [data.brc_dims(k) for k in range(INPUTS)] + [data.outputDims[: data.shapeLen]]
    strides = [data.brc_strides(k) for k in range(INPUTS)] + [data.outputStrides[: data.shapeLen]]
    return {
        **_schedule(key),
        "tiling_data": {name: getattr(data, name) for name in _BROADCAST_FIELDS},
        "collapsed_dims": {n: list(d) for n, d in zip(_TENSORS, dims, strict=True)},
        "collapsed_strides": {n: list(s) for n, s in zip(_TENSORS, strides, strict=True)},
    }


def _reduce(key: int, data: ReduceOpTilingData, tensors: Mapping[str, Any]) -> dict[str, Any]:
    features, weights, updates = (
        tuple(tensors[name]["shape"]) or (1,) for name in ("features", "weights", "updates")
    )
    axes = reduce_axes(features, weights)
    parameters = ReduceKey.decode(key)
    wanted = int(np.prod(weights))
    return {
        "reduce_axes": axes,
        "merged_shape": merged_shape(updates, axes),
        "pattern": pattern_name(parameters.rank),
        "pattern_id": parameters.pattern_id,
        "out_size": data.outSize,
        "hazard": None if data.outSize == wanted else "wrong_axes",
    }


bind(
    OperatorBinding(
        op="prelu_backward",
        op_type="PReluGrad",
        api=API,
        parameters=("gradOutput", "self", "weight", "gradInput", "gradWeight"),
        plan=aclnn_prelu_backward_get_workspace_size,
        launch=aclnn_prelu_backward,
        numeric=_numeric,
        tiling_extras=_tiling_extras,
    )
)
