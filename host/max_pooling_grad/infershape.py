"""Infershape of MaxPoolingGrad: dx has the shape of dy, which x and y must have as well.

Unknown dims and unknown rank are compared literally. Used by graph mode only. Source:
hicann/ops-nn experimental/pooling/max_pooling_grad/op_host/max_pooling_grad_infershape.cpp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from host.registry import IMPL_OP_INFERSHAPE
from host.status import GRAPH_SUCCESS, GraphStatus

if TYPE_CHECKING:
    from host.contexts import InferShapeContext


@IMPL_OP_INFERSHAPE("MaxPoolingGrad")
def infer_shape(context: InferShapeContext) -> GraphStatus:
    """Compare x and y with dy, dim by dim, and copy the shape of dy to dx."""
    dy = context.GetInputShape(0)
    out = context.GetOutputShape(0)
    if dy is None or out is None:
        return context.Fail("the shape of dy or dx is missing")
    for index, name in ((1, "x"), (2, "y")):
        shape = context.GetInputShape(index)
        if shape is None:
            return context.Fail(f"the shape of {name} is missing")
        if shape != dy:
            return context.Fail(f"{name} has shape {shape}, dy has {dy}")
    out.assign(dy)
    return GRAPH_SUCCESS
