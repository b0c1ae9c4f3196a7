"""Shapes and data types of an operator's outputs, as graph mode computes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from host.contexts import InferDataTypeContext, InferShapeContext
from host.errors import InferShapeError
from host.registry import infershape_impl, op_def
from host.status import GRAPH_SUCCESS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from host.datatypes import DataType


def infer(
    op_type: str,
    shapes: Sequence[Sequence[int] | None],
    dtypes: Sequence[DataType],
    attrs: Mapping[str, Any] | None = None,
) -> list[tuple[tuple[int, ...], DataType]]:
    """Return (shape, data type) of every output of ``op_type``.

    Parameters
    ----------
    shapes : sequence
        Input shapes in order; -1 is an unknown dim, ``[-2]`` an unknown rank, ``None`` missing.
    dtypes : sequence of DataType
        Input data types.

    Raises
    ------
    InferShapeError
        561001 with the reason, when a function returns GRAPH_FAILED or sets no data type.
    """
    impl = infershape_impl(op_type)
    count = len(op_def(op_type).outputs)
    context = InferShapeContext(op_type, shapes, count, attrs)
    if impl.infer_shape(context) != GRAPH_SUCCESS:
        raise InferShapeError(_reason(op_type, context.messages), op_type=op_type)
    types = InferDataTypeContext(op_type, dtypes, count, attrs)
    if impl.infer_data_type(types) != GRAPH_SUCCESS:
        raise InferShapeError(_reason(op_type, types.messages), op_type=op_type)
    result = []
    for index in range(count):
        dtype = types.outputs[index]
        if dtype is None:
            raise InferShapeError(f"{op_type} sets no data type for output {index}")
        shape = context.GetOutputShape(index)
        result.append((tuple(shape or ()), dtype))
    return result


def _reason(op_type: str, messages: list[str]) -> str:
    return f"infershape of {op_type} failed: {'; '.join(messages) or 'no reason given'}"
