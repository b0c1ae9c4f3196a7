"""The basic calls that a high-level call consists of, and their form on UB (910B).

On 910B the library sets the mask register to Counter mode and issues basic calls on temporary
tensors, with a barrier after each. On 950 the same calls work in registers (``registers.py``).
Either way every step is in the record under the name of its basic call and is costed as that call.

Source: mirror-cann/asc-devkit impl/adv_api/detail (math, activation).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from simulator.dtypes import uint16_t
from simulator.enums import CMPMODE, MaskMode, PipeID, RoundMode
from simulator.isa.arithmetic import Add, Div, Max, Min, Mul, Sub
from simulator.isa.cmpmask import SetCmpMask
from simulator.isa.compare import Compare, CompareScalar
from simulator.isa.conversion import Cast
from simulator.isa.fill import Duplicate
from simulator.isa.logic import And, Or
from simulator.isa.masks import MASK_PLACEHOLDER
from simulator.isa.params import BinaryRepeatParams, UnaryRepeatParams
from simulator.isa.select import Select
from simulator.isa.sync import PipeBarrier
from simulator.isa.system import SetVectorMask
from simulator.isa.unary_math import Abs, Exp, Ln, Reciprocal, Rsqrt, Sqrt
from simulator.isa.vector_scalar import Adds, Maxs, Mins, Muls
from simulator.tensor import LocalTensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.dtypes import DType

_UNARY = UnaryRepeatParams()
_BINARY = BinaryRepeatParams()


class Steps(ABC):
    """Basic calls over all elements in hand; ``dst`` and ``src`` are what the back end works on."""

    def muls(self, dst: Any, src: Any, scalar: float) -> None:
        """``dst = src * scalar``."""
        self._scalar(Muls, dst, src, scalar)

    def adds(self, dst: Any, src: Any, scalar: float) -> None:
        """``dst = src + scalar``."""
        self._scalar(Adds, dst, src, scalar)

    def maxs(self, dst: Any, src: Any, scalar: float) -> None:
        """``dst = max(src, scalar)``."""
        self._scalar(Maxs, dst, src, scalar)

    def mins(self, dst: Any, src: Any, scalar: float) -> None:
        """``dst = min(src, scalar)``."""
        self._scalar(Mins, dst, src, scalar)

    def add(self, dst: Any, src0: Any, src1: Any) -> None:
        """``dst = src0 + src1``."""
        self.tensors(Add, dst, src0, src1)

    def sub(self, dst: Any, src0: Any, src1: Any) -> None:
        """``dst = src0 - src1``."""
        self.tensors(Sub, dst, src0, src1)

    def mul(self, dst: Any, src0: Any, src1: Any) -> None:
        """``dst = src0 * src1``."""
        self.tensors(Mul, dst, src0, src1)

    def div(self, dst: Any, src0: Any, src1: Any) -> None:
        """``dst = src0 / src1``."""
        self.tensors(Div, dst, src0, src1)

    def div_small(self, dst: Any, src0: Any, src1: Any) -> None:
        """``dst = src0 / src1`` where ``src1`` may be subnormal."""
        self.div(dst, src0, src1)

    def max(self, dst: Any, src0: Any, src1: Any) -> None:
        """``dst = max(src0, src1)``."""
        self.tensors(Max, dst, src0, src1)

    def min(self, dst: Any, src0: Any, src1: Any) -> None:
        """``dst = min(src0, src1)``."""
        self.tensors(Min, dst, src0, src1)

    def abs(self, dst: Any, src: Any) -> None:
        """``dst = |src|``."""
        self.tensors(Abs, dst, src)

    def exp(self, dst: Any, src: Any) -> None:
        """``dst = e ** src``."""
        self.tensors(Exp, dst, src)

    def ln(self, dst: Any, src: Any) -> None:
        """``dst = ln(src)``."""
        self.tensors(Ln, dst, src)

    def sqrt(self, dst: Any, src: Any) -> None:
        """``dst = sqrt(src)``."""
        self.tensors(Sqrt, dst, src)

    def rsqrt(self, dst: Any, src: Any) -> None:
        """``dst = 1 / sqrt(src)``."""
        self.tensors(Rsqrt, dst, src)

    def reciprocal(self, dst: Any, src: Any) -> None:
        """``dst = 1 / src``."""
        self.tensors(Reciprocal, dst, src)

    @abstractmethod
    def cast(self, dst: Any, src: Any, mode: RoundMode = RoundMode.CAST_NONE) -> None:
        """``dst = convert(src)``."""

    @abstractmethod
    def duplicate(self, dst: Any, scalar: float) -> None:
        """``dst = scalar``."""

    @abstractmethod
    def space(self, values: Any, dtype: DType) -> Any:
        """Return space for elements of ``dtype`` where ``values`` are no longer needed."""

    @abstractmethod
    def _scalar(self, call: Callable[..., Any], dst: Any, src: Any, scalar: float) -> None:
        """``dst = call(src, scalar)``."""

    @abstractmethod
    def tensors(self, call: Callable[..., Any], dst: Any, *srcs: Any) -> None:
        """``dst = call(*srcs)`` of one or two sources."""


class UbSteps(Steps):
    """Basic calls on UB tensors under the mask register, in Counter mode, each with a barrier.

    ``count`` is what the mask register holds.
    """

    def __init__(self, count: int) -> None:
        self.count = count

    def _scalar(self, call: Callable[..., Any], dst: Any, src: Any, scalar: float) -> None:
        call(dst, src, scalar, MASK_PLACEHOLDER, 1, _UNARY, False)
        PipeBarrier(PipeID.PIPE_V)

    def tensors(self, call: Callable[..., Any], dst: Any, *srcs: Any) -> None:
        """``dst = call(*srcs)`` of one or two sources."""
        params = _UNARY if len(srcs) == 1 else _BINARY
        call(dst, *srcs, MASK_PLACEHOLDER, 1, params, False)
        PipeBarrier(PipeID.PIPE_V)

    def cast(self, dst: Any, src: Any, mode: RoundMode = RoundMode.CAST_NONE) -> None:
        """``dst = convert(src)``; the narrower operand advances by half a repeat."""
        sizes = dst.dtype.itemsize, src.dtype.itemsize
        strides = tuple(8 * size // max(sizes) for size in sizes)
        Cast(dst, src, mode, MASK_PLACEHOLDER, 1, UnaryRepeatParams(1, 1, *strides), False)
        PipeBarrier(PipeID.PIPE_V)

    def duplicate(self, dst: Any, scalar: float) -> None:
        """``dst = scalar``."""
        Duplicate(dst, scalar, MASK_PLACEHOLDER, 1, 1, 8, False)
        PipeBarrier(PipeID.PIPE_V)

    def space(self, values: LocalTensor, dtype: DType) -> LocalTensor:
        """Return the bytes of ``values`` as ``dtype``."""
        return values.ReinterpretCast(dtype)

    def compare(self, bits: LocalTensor, src: Any, other: Any, mode: CMPMODE) -> None:
        """``bits = src <mode> other``, one bit an element; ``other`` is a tensor or a number."""
        repeats = -(-self.count * src.dtype.itemsize // 256)
        first = _whole_repeats(src, repeats)
        if isinstance(other, int | float):
            CompareScalar(bits, first, other, mode, MASK_PLACEHOLDER, repeats, _UNARY, False)
        else:
            second = _whole_repeats(other, repeats)
            Compare(bits, first, second, mode, MASK_PLACEHOLDER, repeats, _BINARY, False)
        PipeBarrier(PipeID.PIPE_V)

    def both(self, bits: LocalTensor, other: LocalTensor) -> None:
        """``bits = bits & other``."""
        self._logic(And, bits, other)

    def either(self, bits: LocalTensor, other: LocalTensor) -> None:
        """``bits = bits | other``."""
        self._logic(Or, bits, other)

    def _logic(self, call: Callable[..., Any], bits: LocalTensor, other: LocalTensor) -> None:
        words, others = (t.ReinterpretCast(uint16_t) for t in (bits, other))
        with_count(-(-self.count // 16))
        call(words, others, words, MASK_PLACEHOLDER, 1, _BINARY, False)
        PipeBarrier(PipeID.PIPE_V)
        with_count(self.count)

    def choose(self, dst: Any, bits: LocalTensor, src: Any, scalar: LocalTensor) -> None:
        """``dst = src`` where the bit is 1, else the first element of ``scalar``."""
        SetCmpMask(scalar)
        PipeBarrier(PipeID.PIPE_V)
        Select(dst, bits, src, 1, _BINARY)
        PipeBarrier(PipeID.PIPE_V)


def _whole_repeats(tensor: LocalTensor, repeats: int) -> LocalTensor:
    """Return the tensor as long as the repeats that a comparison reads whatever the count is."""
    length = repeats * 256 // tensor.dtype.itemsize
    if tensor.length >= length:
        return tensor
    return LocalTensor(tensor._core, tensor.addr, tensor.dtype, length, tensor.position)


def with_count(count: int) -> None:
    """Set the mask register to ``count`` elements, for Counter mode."""
    SetVectorMask(0, count, mode=MaskMode.COUNTER)
