"""Operators on whole tensors: ``dst[:] = a + b`` is ``Add(dst, a, b, length of dst)``.

The element count is the length of ``dst``; for a comparison, whose ``dst`` holds bits, that of the
left operand. Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算 (the pages
of the calls, overloaded operators).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.enums import CMPMODE
from simulator.errors import ArgumentError
from simulator.isa.arithmetic import Add, Div, Mul, Sub
from simulator.isa.checks import require_local
from simulator.isa.compare import Compare
from simulator.isa.composite import recorded_at
from simulator.isa.logic import And, Or
from simulator.tensor import tensor_operators

if TYPE_CHECKING:
    from types import FrameType

    from simulator.tensor import LocalTensor, TensorExpression

_ARITHMETIC: Final[dict[str, Any]] = {
    "+": Add,
    "-": Sub,
    "*": Mul,
    "/": Div,
    "&": And,
    "|": Or,
}
_COMPARISONS: Final = {
    "<": CMPMODE.LT,
    ">": CMPMODE.GT,
    "<=": CMPMODE.LE,
    ">=": CMPMODE.GE,
}


def _assign(dst: LocalTensor, expression: TensorExpression, frame: FrameType) -> None:
    """Issue the instruction of ``expression`` into ``dst`` for the code at ``frame``."""
    operator, left, right = expression
    for name, tensor in (("left operand", left), ("right operand", right)):
        require_local(f"operator{operator}", name, tensor)
    with recorded_at(dst._core, frame):
        if operator in _COMPARISONS:
            Compare(dst, left, right, _COMPARISONS[operator], left.length)
            return
        if min(left.length, right.length) < dst.length:
            raise ArgumentError(
                "an operand is shorter than the destination",
                api=f"operator{operator}",
                got=f"operands of {left.length} and {right.length} elements",
                legal=f">= {dst.length} elements, the length of the destination",
                fix="set the lengths with SetSize, or call the instruction with a count",
            )
        _ARITHMETIC[operator](dst, left, right, dst.length)


tensor_operators.assign = _assign
