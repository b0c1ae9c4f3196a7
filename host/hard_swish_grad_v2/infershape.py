"""Infershape of HardSwishGradV2: the output has gradOutput's shape and data type.

The shape of self is not looked at, and unknown dims and rank pass through. Source: hicann/ops-nn
activation/hard_swish_grad_v2/op_host/hard_swish_grad_v2_infershape.cpp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from host.registry import IMPL_OP_INFERSHAPE
from host.status import GRAPH_SUCCESS, GraphStatus

if TYPE_CHECKING:
    from host.contexts import InferShapeContext


@IMPL_OP_INFERSHAPE("HardSwishGradV2")
def infer_shape(context: InferShapeContext) -> GraphStatus:
    """Copy the shape of input 0 to output 0."""
    grad = context.GetInputShape(0)
    out = context.GetOutputShape(0)
    if grad is None or out is None:
        return context.Fail("the shape of gradOutput or out is missing")
    out.assign(grad)
    return GRAPH_SUCCESS
