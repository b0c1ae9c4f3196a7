"""Sum and Mean: of each row of a matrix, as trees of repeats and then trees of their sums.

Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/高阶API/归约操作 (Sum, Mean) and
impl/adv_api/detail/reduce. On 950 the library keeps the sums of all rows in the temporary buffer,
more than its tiling function says; here they stay in registers.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.dtypes import DType, float32, half
from simulator.enums import Arch, PipeID
from simulator.errors import AlignmentError, ArgumentError, OutOfBoundsError
from simulator.isa.highlevel.calls import (
    HALF_FLOAT,
    checked,
    composite,
    declare_high_level,
    run_registers,
    temporary_bytes,
)
from simulator.isa.highlevel.steps import UbSteps, with_count
from simulator.isa.lanes import BLOCK, REPEAT, check_tensor
from simulator.isa.masks import MASK_PLACEHOLDER
from simulator.isa.params import check_range
from simulator.isa.reduction import RepeatReduceSum
from simulator.isa.reduction_rules import tree_sum
from simulator.isa.sync import PipeBarrier
from simulator.isa.system import ResetMask, SetMaskCount, SetMaskNorm

if TYPE_CHECKING:
    from types import FrameType

    from simulator.core import AICore
    from simulator.instruction import InstructionSpec, Plan
    from simulator.isa.highlevel.registers import Register, RegisterSteps
    from simulator.tensor import LocalTensor

_PAGE: Final = "归约操作/{0}接口/{0}"


class SumParams(NamedTuple):
    """Rows, elements from row to row, and elements of a row that count."""

    outter: int = 1
    inner: int = 0
    n: int = 0


class MeanParams(NamedTuple):
    """Rows, elements from row to row, and elements of a row that count."""

    outter: int = 1
    inner: int = 0
    n: int = 0


def Sum(dst: Any, src: Any, *args: Any) -> None:
    """``dst[r]`` = the sum of the first ``n`` elements of row ``r``.

    ``(dst, src[, sharedTmpBuffer], SumParams(outter, inner, n))``; ``inner`` is ``n`` rounded up to
    32 bytes.
    """
    call = _parse("Sum", SumParams, dst, src, args)
    with composite(call.core, frame := sys._getframe(1)):
        if call.core.arch is Arch.DAV_3510:
            _on_950(call, None, frame)
        else:
            SetMaskCount()
            _rows_910b(call)
            SetMaskNorm()
            if call.repeats == 1:
                ResetMask()


def Mean(dst: Any, src: Any, *args: Any, accType: Any = None) -> None:
    """``dst[r]`` = the sum of the first ``n`` elements of row ``r``, times ``1 / n``.

    ``(dst, src[, sharedTmpBuffer], MeanParams(outter, inner, n))``; ``inner`` is ``n`` rounded up
    to 32 bytes. With ``accType=float32`` half is added up in float.
    """
    call = _parse("Mean", MeanParams, dst, src, args)
    kind = _accumulator(call, accType)
    with composite(call.core, frame := sys._getframe(1)):
        if call.core.arch is Arch.DAV_3510:
            _on_950(call, kind, frame)
        elif kind is not call.dst.dtype:
            _mean_in_float(call)
        else:
            SetMaskCount()
            _rows_910b(call)
            if call.repeats == 1:
                PipeBarrier(PipeID.PIPE_V)
            _times(call.dst, call.dst, call.params.outter, _inverse(call.params.n))
            SetMaskNorm()
            if call.repeats == 1:
                ResetMask()


for _call in (Sum, Mean):
    declare_high_level(_call, HALF_FLOAT, _PAGE.format(_call.__name__))


class _Rows(NamedTuple):
    """The checked arguments of a call."""

    core: AICore
    spec: InstructionSpec
    dst: LocalTensor
    src: LocalTensor
    tmp: LocalTensor | None
    params: Any

    @property
    def repeats(self) -> int:
        """Repeats of a row."""
        lanes: int = REPEAT // self.src.dtype.itemsize
        return -(-int(self.params.n) // lanes)


def _parse(name: str, kind: type[Any], dst: Any, src: Any, args: tuple[Any, ...]) -> _Rows:
    params = args[-1] if args else None
    tmp = args[0] if len(args) == 2 else None
    if len(args) not in (1, 2) or not isinstance(params, kind):
        raise ArgumentError(
            f"takes (dst, src[, sharedTmpBuffer], {kind.__name__})",
            api=name,
            got=f"{len(args) + 2} arguments, the last {params!r}",
            legal=f"{kind.__name__}(outter, inner, n)",
        )
    for label, value in params._asdict().items():
        check_range(name, label, value, 1, 2**31 - 1)
    core, spec, _ = checked(name, (dst, src), ("dst", "src"), params.outter)
    itemsize = src.dtype.itemsize
    check_tensor(name, "src", src, params.outter * params.inner * itemsize, spec.source)
    check_range(name, "n", params.n, 1, params.inner, spec.source)
    if params.inner * itemsize % BLOCK:
        raise AlignmentError(
            "rows start at multiples of 32 bytes",
            api=name,
            argument="inner",
            got=f"{params.inner} elements of {src.dtype}",
            legal=f"a multiple of {BLOCK // itemsize}",
            source=spec.source,
        )
    return _Rows(core, spec, dst, src, tmp, params)


def _accumulator(call: _Rows, chosen: Any) -> DType:
    dtype = call.dst.dtype
    kind: DType = dtype if chosen is None else chosen
    if kind is dtype or (dtype is half and kind == float32):
        return kind
    raise ArgumentError(
        "accType is the type that rows are added up in",
        api="Mean",
        argument="accType",
        got=f"{chosen} for {dtype}",
        legal="the element type, or float for half",
        source=call.spec.source,
    )


def _inverse(n: int) -> float:
    """Return 1 / n as the library divides it, in float."""
    return float(np.float32(1) / np.float32(n))


# -- 910B --------------------------------------------------------------------------------------


def _space(call: _Rows, dtype: DType, elements: int) -> LocalTensor:
    """Return the temporary buffer as ``dtype``, of at least ``elements`` elements."""
    space = temporary_bytes(call.core, call.spec, call.tmp)
    if space.nbytes < elements * dtype.itemsize:
        raise OutOfBoundsError(
            "the temporary buffer is too small for the sums of a row",
            api=call.spec.name,
            argument="sharedTmpBuffer",
            got=f"{space.nbytes} bytes",
            legal=f">= {elements * dtype.itemsize} bytes",
            fix="pass a larger one; GetMeanMaxMinTmpSize gives too little for many repeats",
            source=call.spec.source,
        )
    return space.ReinterpretCast(dtype)


def _reduce(dst: LocalTensor, src: LocalTensor, count: int) -> None:
    """Sum each repeat of ``count`` elements."""
    with_count(count)
    RepeatReduceSum(dst, src, 1, MASK_PLACEHOLDER, 1, 1, 1, 8, isSetMask=False)


def _times(dst: LocalTensor, src: LocalTensor, count: int, factor: float) -> None:
    with_count(count)
    UbSteps(count).muls(dst, src, factor)


def _rows_910b(call: _Rows) -> None:
    rows, inner, n = call.params
    lanes = REPEAT // call.src.dtype.itemsize
    if call.repeats == 1:
        for row in range(rows):
            _reduce(call.dst[row], call.src[row * inner], n)
        return
    tmp = _space(call, call.src.dtype, call.repeats)
    for row in range(rows):
        _reduce(tmp, call.src[row * inner], n)
        PipeBarrier(PipeID.PIPE_V)
        left = call.repeats
        while left > 1:
            after = -(-left // lanes)
            _reduce(call.dst[row] if after == 1 else tmp, tmp, left)
            PipeBarrier(PipeID.PIPE_V)
            left = after


def _mean_in_float(call: _Rows) -> None:
    rows, inner, n = call.params
    lanes = REPEAT // float32.itemsize
    repeats = -(-n // lanes)
    values = _space(call, float32, inner + repeats)
    sums, narrow = values[inner], values.ReinterpretCast(half)
    SetMaskCount()
    for row in range(rows):
        with_count(n)
        UbSteps(n).cast(values, call.src[row * inner])
        left = n
        source = values
        while True:
            _reduce(sums, source, left)
            PipeBarrier(PipeID.PIPE_V)
            left, source = -(-left // lanes), sums
            if left == 1:
                break
        _times(sums, sums, 1, _inverse(n))
        UbSteps(1).cast(narrow, sums)
        _reduce(call.dst[row], narrow, 1)
    SetMaskNorm()
    ResetMask()


# -- 950 ---------------------------------------------------------------------------------------


def _on_950(call: _Rows, kind: DType | None, frame: FrameType) -> None:
    """Sum the rows in ``kind``; the mean if it is not None."""
    name, core = call.spec.name, call.core
    key = (name, call.dst._key, call.src._key, call.params, kind, core.numeric_mode)
    run_registers(core, key, name, call.params.outter, partial(_steps_950, call, kind), frame)


def _steps_950(call: _Rows, kind: DType | None, steps: RegisterSteps) -> list[Plan]:
    rows, inner, n = call.params
    dtype = call.src.dtype if kind is None else kind
    source = steps.load(call.src, rows * inner)
    values: Register = source
    if dtype is not source.dtype:
        values = steps.register(dtype, rows * inner)
        steps.apply("Cast", values, (source,), np.copyto, rows * n)
    lanes = REPEAT // dtype.itemsize
    left, width = n, inner
    while True:
        repeats = -(-left // lanes)
        sums = steps.register(dtype, rows * repeats)
        rule = partial(_sum_rows, (rows, width, left, lanes), dtype, steps.core.numeric_mode)
        steps.apply("WholeReduceSum", sums, (values,), rule, rows * repeats * lanes)
        values, left, width = sums, repeats, repeats
        if repeats == 1:
            break
    if kind is not None:
        steps.muls(values, values, _inverse(n))
    if dtype is not source.dtype:
        stored = steps.register(source.dtype)
        steps.cast(stored, values)
        values = stored
    return steps.finish(call.dst, values)


def _sum_rows(
    shape: tuple[int, int, int, int], dtype: DType, numeric_mode: int, out: Any, values: Any
) -> None:
    rows, width, count, lanes = shape
    padded = np.zeros((rows, -(-count // lanes) * lanes), dtype.numpy)
    padded[:, :count] = values.reshape(rows, width)[:, :count]
    out[:] = tree_sum(padded.reshape(-1, lanes), dtype, numeric_mode)
