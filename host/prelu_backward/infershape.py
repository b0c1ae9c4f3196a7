"""Infershape of PReluGrad: dx is like features, da like weights; nothing is checked.

Unknown dims and rank pass through. Source: hicann/ops-nn
activation/p_relu_grad_update/op_host/prelu_grad_infershape.cpp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from host.registry import IMPL_OP_INFERSHAPE
from host.status import GRAPH_SUCCESS, GraphStatus

if TYPE_CHECKING:
    from host.contexts import InferDataTypeContext, InferShapeContext


def infer_data_type(context: InferDataTypeContext) -> GraphStatus:
    """Give dx the data type of features and da that of weights."""
    context.SetOutputDataType(0, context.GetInputDataType(1))
    context.SetOutputDataType(1, context.GetInputDataType(2))
    return GRAPH_SUCCESS


@IMPL_OP_INFERSHAPE("PReluGrad", infer_data_type)
def infer_shape(context: InferShapeContext) -> GraphStatus:
    """Give dx the shape of features and da that of weights."""
    for output, source in ((0, 1), (1, 2)):
        given, inferred = context.GetInputShape(source), context.GetOutputShape(output)
        if given is None or inferred is None:
            return context.Fail("the shape of features, weights, dx or da is missing")
        inferred.assign(given)
    return GRAPH_SUCCESS
