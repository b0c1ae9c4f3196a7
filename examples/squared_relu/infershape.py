"""The output has the shape and the element type of the input."""

from host.contexts import InferShapeContext
from host.registry import IMPL_OP_INFERSHAPE
from host.status import GRAPH_SUCCESS, GraphStatus


@IMPL_OP_INFERSHAPE("SquaredRelu")
def infer_shape(context: InferShapeContext) -> GraphStatus:
    """Copy the shape of input 0 to output 0."""
    shape, out = context.GetInputShape(0), context.GetOutputShape(0)
    if shape is None or out is None:
        return context.Fail("the shape of self or out is missing")
    out.assign(shape)
    return GRAPH_SUCCESS
