"""ReduceSum, ReduceMax and ReduceMin on 950: one vector function a call.

The orders of additions and the treatment of extremes follow mirror-cann/asc-devkit
impl/basic_api/dav_3510/kernel_operator_vec_reduce_impl.h. Extremes start from the largest finite
value of the other sign, so that ReduceMax of nothing but -inf gives the lowest finite value.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simulator.dtypes import float32, half, uint16_t, uint32_t
from simulator.enums import HardEvent
from simulator.errors import OutOfBoundsError
from simulator.instruction import READ, UPDATE, WRITE, Access, Operand, Plan, VectorWork
from simulator.isa.lanes import BLOCK, Active, Strided, check_tensor, strided_operand
from simulator.isa.masks import active_lanes, counted
from simulator.isa.reduction_2201 import order_pipes
from simulator.isa.reduction_plans import check_result
from simulator.isa.reduction_rules import MAX, SUM, adder, extreme, tree_sum
from simulator.isa.saturation import SATURATE_FLOAT
from simulator.numerics import saturate_float
from simulator.tensor import scalar_access

if TYPE_CHECKING:
    from types import FrameType

    from numpy.typing import NDArray

    from simulator.core import AICore
    from simulator.dtypes import DType
    from simulator.instruction import InstructionSpec
    from simulator.tensor import LocalTensor

    Array = NDArray[Any]
    Tensors = tuple[LocalTensor, LocalTensor, LocalTensor]


class _Rows(NamedTuple):
    """The elements of a call as rows of lanes.

    ``at`` and ``number`` are addresses in the typed UB and indices that ReduceMax reports; ``mask``
    tells which lanes take part. All have the shape (repeats, lanes).
    """

    whole: Array
    at: NDArray[np.int64]
    number: NDArray[np.int64]
    mask: NDArray[np.bool_]

    def read(self) -> Array:
        """Return the present values, those of inactive lanes included."""
        # A register may reach past the end of UB where no lane is active.
        return self.whole.take(self.at, mode="clip")


def _rows(
    core: AICore, spec: InstructionSpec, src: LocalTensor, active: Active, src_rep: int
) -> tuple[_Rows, Operand]:
    size = src.dtype.itemsize
    lanes = 256 // size
    operand = strided_operand(Strided("src", READ, src, 1, src_rep), active, lanes)
    reach = max((a.span()[1] for a in operand.accesses), default=src.addr)
    check_tensor(spec.name, "src", src, reach - src.addr, spec.source)
    repeats = active.repeats
    mask = np.zeros((repeats, lanes), bool)
    for first, number, width in active.segments:
        chosen = slice(width) if active.lanes is None else list(active.lanes)
        mask[first : first + number, chosen] = True
    stride = src_rep * BLOCK // size
    index = stride * np.arange(repeats)[:, None] + np.arange(lanes)
    whole = core.local.typed(src.dtype.numpy)
    return _Rows(whole, src.addr // size + index, index, mask), operand


def _issue(
    core: AICore,
    spec: InstructionSpec,
    form: str,
    operands: list[Operand],
    run: Any,
    repeats: int,
    active: Active,
) -> Plan:
    """Return the plan of one call; ``repeats`` counts the passes over partial results too."""
    return Plan(
        spec,
        form,
        operands,
        run if active.elements else None,
        work=VectorWork(operands[1].dtype.name, repeats, active.elements, False, False),
        details={"elements": active.elements},
    )


def _form(active: Active, in_count_form: bool) -> str:
    return "count" if in_count_form else "mask" if active.lanes is None else "bit mask"


# -- sums --------------------------------------------------------------------------------------


def sum_count(
    core: AICore, spec: InstructionSpec, tensors: Tensors, count: int, frame: FrameType
) -> None:
    """Sum ``count`` elements, and keep the total of half and float for GetReduceRepeatSumSpr."""
    dst, src, _ = tensors
    active = counted(count, 256 // src.dtype.itemsize)
    _sum(core, spec, tensors, active, 8, True, True, frame)
    if src.dtype in (half, float32):
        order_pipes(core, HardEvent.V_S, frame)
        words = dst.ReinterpretCast(uint16_t if src.dtype is half else uint32_t)
        core.local.reduce_registers[0] = scalar_access.read_local(words, 0, frame)


def _sum(
    core: AICore,
    spec: InstructionSpec,
    tensors: Tensors,
    active: Active,
    src_rep: int,
    by_count: bool,
    in_count_form: bool,
    frame: FrameType,
) -> None:
    dst, src, tmp = tensors
    key = (
        spec.name, dst._key, src._key, tmp._key, active, src_rep, by_count, in_count_form,
        core.numeric_mode,
    )  # fmt: skip
    plan = core.plans.get(key)
    if plan is None:
        rows, source = _rows(core, spec, src, active, src_rep)
        size, lanes = src.dtype.itemsize, 256 // src.dtype.itemsize
        check_result(spec, dst, size, size)
        repeats = active.repeats
        stored = 0 if size == 8 or repeats <= (4 if by_count else 1) else repeats
        operands = [Operand("dst", WRITE, "UB", dst.dtype, (Access(dst.addr, size),)), source]
        if stored:
            _check_tmp(spec, tmp, stored * size)
            partials = (Access(tmp.addr, stored * size),)
            operands.append(Operand("sharedTmpBuffer", UPDATE, "UB", src.dtype, partials))
            repeats += -(-stored // lanes) + (stored > lanes)
        typed = core.local.typed(src.dtype.numpy)
        first = tmp.addr // size
        run = partial(
            _add_up,
            typed[dst.addr // size :][:1],
            typed[first : first + stored],
            rows,
            src.dtype,
            by_count,
            core.numeric_mode,
        )
        form = _form(active, in_count_form)
        plan = core.plans[key] = _issue(core, spec, form, operands, run, repeats, active)
    core.issue(plan, (), frame)


def _check_tmp(spec: InstructionSpec, tmp: LocalTensor, nbytes: int) -> None:
    if nbytes > tmp.nbytes:
        raise OutOfBoundsError(
            "sharedTmpBuffer is too small for the sums of the repeats",
            api=spec.name,
            argument="sharedTmpBuffer",
            got=f"{tmp.nbytes} bytes",
            legal=f">= {nbytes} bytes",
            source=spec.source,
        )
    check_tensor(spec.name, "sharedTmpBuffer", tmp, nbytes, spec.source)


def _add_up(out: Array, tmp: Array, rows: _Rows, dtype: DType, by_count: bool, mode: int) -> None:
    values = rows.read()
    np.copyto(values, dtype.numpy.type(0), where=~rows.mask)
    if dtype.itemsize == 8:
        out[0] = np.add.reduce(values, axis=None)
        return
    if by_count and len(values) <= 4:
        values = _into_one_row(values, rows.mask, adder(dtype, mode))
    sums = tree_sum(values, dtype, mode)
    while len(sums) > 1:
        tmp[: len(sums)] = sums
        padded = np.zeros(-(-len(sums) // rows.at.shape[1]) * rows.at.shape[1], dtype.numpy)
        padded[: len(sums)] = sums
        sums = tree_sum(padded.reshape(-1, rows.at.shape[1]), dtype, mode)
    out[0] = sums[0]


def _into_one_row(values: Array, mask: NDArray[np.bool_], add: Any) -> Array:
    """Add two to four rows lane by lane; the last one only where it has elements."""
    if len(values) == 1:
        return values
    last = values[-1:]
    if len(values) == 4:
        odd = np.where(mask[3:], add(values[2:3], last), values[2:3])
        return np.asarray(add(add(values[:1], values[1:2]), odd))
    row = values[:1] if len(values) == 2 else add(values[:1], values[1:2])
    return np.where(mask[-1:], add(row, last), row)


# -- extremes ----------------------------------------------------------------------------------


def extreme_count(
    core: AICore,
    spec: InstructionSpec,
    kind: str,
    tensors: Tensors,
    count: int,
    index: bool,
    frame: FrameType,
) -> None:
    """Extreme of ``count`` elements."""
    active = counted(count, 256 // tensors[1].dtype.itemsize)
    _extreme(core, spec, kind, tensors, active, 8, index, True, frame)


def masked(
    core: AICore,
    spec: InstructionSpec,
    kind: str,
    tensors: Tensors,
    repeats: int,
    src_rep: int,
    index: bool,
    frame: FrameType,
) -> None:
    """Reduce ``repeats`` repeats under the mask that is set."""
    active = active_lanes(core, repeats, 256 // tensors[1].dtype.itemsize)
    if kind == SUM:
        _sum(core, spec, tensors, active, src_rep, core.counter_mode, False, frame)
    else:
        _extreme(core, spec, kind, tensors, active, src_rep, index, False, frame)


def _extreme(
    core: AICore,
    spec: InstructionSpec,
    kind: str,
    tensors: Tensors,
    active: Active,
    src_rep: int,
    index: bool,
    in_count_form: bool,
    frame: FrameType,
) -> None:
    dst, src, _ = tensors
    key = (
        spec.name, dst._key, src._key, active, src_rep, index, in_count_form, core.numeric_mode
    )  # fmt: skip
    plan = core.plans.get(key)
    if plan is None:
        rows, source = _rows(core, spec, src, active, src_rep)
        size = dst.dtype.itemsize
        nbytes = size * (1 + index)
        check_result(spec, dst, nbytes, size)
        word = core.local.typed(np.dtype(f"u{size}"))[dst.addr // size :][: 1 + index]
        # Lanes beyond the elements of a counted call hold the start value and take part.
        everywhere = in_count_form or core.counter_mode
        run = partial(_find, word, rows, src.dtype, kind, everywhere, core.numeric_mode)
        plan = core.plans[key] = _issue(
            core,
            spec,
            _form(active, in_count_form),
            [Operand("dst", WRITE, "UB", dst.dtype, (Access(dst.addr, nbytes),)), source],
            run,
            active.repeats,
            active,
        )
    core.issue(plan, (), frame)


def _start_value(dtype: DType, kind: str) -> Any:
    info: Any = np.finfo(dtype.numpy) if dtype.is_float else np.iinfo(dtype.numpy)
    return dtype.numpy.type(info.min if kind == MAX else info.max)


def _find(out: Array, rows: _Rows, dtype: DType, kind: str, everywhere: bool, mode: int) -> None:
    values, start = rows.read(), _start_value(dtype, kind)
    if mode & SATURATE_FLOAT and dtype is half:
        values = _running(values, rows.mask, start, dtype, kind)
    candidates = np.append(values[rows.mask], start)
    best = extreme(candidates[None], dtype, kind, mode)[0]
    out[0] = best.view(out.dtype)[0]
    if len(out) == 1:
        return
    if best[0] != best[0]:
        # No lane compares equal to NaN: the least of no indices, less one.
        out[1] = (1 << min(dtype.bits, 32)) - 2
    elif best[0] == start:
        out[1] = 0 if everywhere else rows.number[0][rows.mask[0]].min()
    else:
        found = rows.number[rows.mask & (values == best[0])].min()
        out[1] = int(found) & ((1 << dtype.bits) - 1)


def _running(values: Array, mask: NDArray[np.bool_], start: Any, dtype: DType, kind: str) -> Array:
    """Return the extreme so far of every lane, clamped after each repeat (NaN becomes 0)."""
    choose = np.maximum if kind == MAX else np.minimum
    best = np.full(values.shape[1:], start)
    out = np.empty_like(values)
    for r, row in enumerate(values):
        clamped = choose(best, row)
        saturate_float(clamped, dtype)
        best = np.where(mask[r], clamped, best)
        out[r] = best
    return out
