"""ReduceSum, ReduceMax and ReduceMin on 910B, as the passes that the library issues.

The first pass reduces each repeat into ``sharedTmpBuffer``; further passes reduce the results
until one is left, which the scalar unit stores. Source: mirror-cann/asc-devkit impl/basic_api
(dav_c220/kernel_operator_vec_reduce_impl.h, kernel_operator_vec_reduce_intf_impl.h).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.core import FULL_MASK
from simulator.dtypes import uint16_t, uint32_t
from simulator.enums import HardEvent, PipeID, ReduceOrder
from simulator.errors import OutOfBoundsError
from simulator.instruction import READ, Plan, VectorWork
from simulator.isa.lanes import (
    BLOCK,
    Active,
    Strided,
    check_tensor,
    dense_view,
    strided_operand,
)
from simulator.isa.masks import active_lanes, counted, prefix_mask
from simulator.isa.reduction_plans import REPEATS, Shape, check_result, plan_reduction
from simulator.isa.reduction_rules import SUM, absent, add_in_order, tree_sum
from simulator.isa.sync import barrier, set_flag, wait_flag
from simulator.tensor import LocalTensor, scalar_access

if TYPE_CHECKING:
    from types import FrameType

    from numpy.typing import NDArray

    from simulator.core import AICore
    from simulator.dtypes import DType
    from simulator.instruction import InstructionSpec

    Tensors = tuple[LocalTensor, LocalTensor, LocalTensor]

_CHUNK: Final = 255
"""Repeats of one instruction."""


def order_pipes(core: AICore, event: HardEvent, frame: FrameType) -> None:
    """Issue SetFlag and WaitFlag of ``event`` with the id that FetchEventID gives."""
    number = core.pipe.FetchEventID(event) if core.pipe is not None else 0
    set_flag(core, event, number, frame)
    wait_flag(core, event, number, frame)


def _words(tensor: LocalTensor) -> LocalTensor:
    """Return the tensor as unsigned integers, so that patterns pass through scalar access."""
    return tensor.ReinterpretCast(uint16_t if tensor.dtype.itemsize == 2 else uint32_t)


def _read(tensor: LocalTensor, index: int, frame: FrameType) -> int:
    return int(scalar_access.read_local(_words(tensor), index, frame))


def _write(tensor: LocalTensor, index: int, word: int, frame: FrameType) -> None:
    scalar_access.write_local(_words(tensor), index, word, frame)


def _after_scalar_store(core: AICore, frame: FrameType) -> None:
    order_pipes(core, HardEvent.S_V, frame)
    order_pipes(core, HardEvent.S_MTE3, frame)


# -- one instruction ---------------------------------------------------------------------------


def _pass(
    core: AICore,
    spec: InstructionSpec,
    kind: str,
    dst: LocalTensor,
    src: LocalTensor,
    repeats: int,
    src_rep: int,
    frame: FrameType,
) -> None:
    """Issue one reduction of repeats under the present mask."""
    active = active_lanes(core, repeats, 256 // src.dtype.itemsize)
    key = (spec.name, "pass", dst._key, src._key, active, src_rep, core.numeric_mode)
    plan = core.plans.get(key)
    if plan is None:
        order = ReduceOrder.ORDER_ONLY_VALUE if kind == SUM else ReduceOrder.ORDER_VALUE_INDEX
        shape = Shape(REPEATS, kind, order)
        plan = plan_reduction(core, spec, shape, dst, src, active, (1, 1, src_rep))
        core.plans[key] = plan
    core.issue(plan, (), frame)


def _first_pass(
    core: AICore,
    spec: InstructionSpec,
    kind: str,
    src: LocalTensor,
    tmp: LocalTensor,
    repeats: int,
    src_rep: int,
    frame: FrameType,
) -> None:
    """Reduce every repeat of ``src`` into ``tmp``, 255 repeats an instruction."""
    results = 1 if kind == SUM else 2
    step = _CHUNK * src_rep * BLOCK // src.dtype.itemsize
    for chunk, start in enumerate(range(0, repeats, _CHUNK)):
        number = min(_CHUNK, repeats - start)
        _pass(
            core, spec, kind, tmp[start * results], src[chunk * step], number, src_rep, frame
        )  # fmt: skip


def _every_second(number: int) -> tuple[int, int]:
    """Return the mask of ``number`` values that alternate with indices."""
    bits = sum(1 << (2 * k) for k in range(number))
    return bits & FULL_MASK[0], bits >> 64


# -- ReduceSum ---------------------------------------------------------------------------------


def sum_count(
    core: AICore,
    spec: InstructionSpec,
    tensors: Tensors,
    count: int,
    is_set_mask: bool,
    frame: FrameType,
) -> None:
    """Accumulate the repeats in a register, from which the scalar unit stores the total.

    Without ``is_set_mask`` the mask register and its mode are the caller's, and ``count`` is not
    used.
    """
    dst, src, _ = tensors
    lanes = 256 // src.dtype.itemsize
    active = counted(count, lanes) if is_set_mask else active_lanes(core, 1, lanes)
    key = (spec.name, src._key, dst._key, active, core.numeric_mode)
    plan = core.plans.get(key)
    if plan is None:
        plan = core.plans[key] = _plan_sum(core, spec, dst, src, active, lanes)
    core.issue(plan, (), frame)
    order_pipes(core, HardEvent.V_S, frame)
    _write(dst, 0, int(core.local.reduce_registers[0]), frame)
    _after_scalar_store(core, frame)
    if is_set_mask:
        core.mask, core.counter_mode = FULL_MASK, False


def _plan_sum(
    core: AICore,
    spec: InstructionSpec,
    dst: LocalTensor,
    src: LocalTensor,
    active: Active,
    lanes: int,
) -> Plan:
    check_result(spec, dst, dst.dtype.itemsize, dst.dtype.itemsize)
    source = strided_operand(Strided("src", READ, src, 1, 8), active, lanes)
    reach = max((a.span()[1] for a in source.accesses), default=src.addr) - src.addr
    check_tensor(spec.name, "src", src, reach, spec.source)
    values = dense_view(core, src, reach // src.dtype.itemsize)
    neutral = absent(core.arch, src.dtype, SUM)
    run = partial(
        _accumulate,
        values,
        neutral,
        src.dtype,
        lanes,
        active.lanes,
        core.numeric_mode,
        core.local.reduce_registers,
    )
    elements = active.elements
    return Plan(
        spec,
        "count",
        [source],
        run if elements else None,
        work=VectorWork(src.dtype.name, active.repeats, elements, True, elements % lanes > 0),
        details={"count": elements},
    )


def _accumulate(
    values: NDArray[Any],
    neutral: Any,
    dtype: DType,
    lanes: int,
    chosen: tuple[int, ...] | None,
    mode: int,
    register: NDArray[np.uint64],
) -> None:
    full = len(values) // lanes if chosen is None else 0
    partials = [tree_sum(values[: full * lanes].reshape(full, lanes), dtype, mode)]
    left = values[full * lanes :]
    if len(left):
        rest = np.full((1, lanes), neutral)
        rest[0, : len(left)] = left
        if chosen is not None:
            rest[0, np.isin(np.arange(lanes), chosen, invert=True)] = neutral
        partials.append(tree_sum(rest, dtype, mode))
    total = np.array([add_in_order(np.concatenate(partials), dtype, mode)], dtype.numpy)
    register[0] = total.view(np.uint16 if dtype.itemsize == 2 else np.uint32)[0]


def _sum(
    core: AICore,
    spec: InstructionSpec,
    tensors: Tensors,
    repeats: int,
    src_rep: int,
    frame: FrameType,
) -> None:
    dst, src, tmp = tensors
    lanes = 256 // src.dtype.itemsize
    _first_pass(core, spec, SUM, src, tmp, repeats, src_rep, frame)
    barrier(core, PipeID.PIPE_V, frame)
    core.counter_mode, core.mask = True, (repeats, 0)
    _pass(core, spec, SUM, tmp, tmp, 1, 8, frame)
    core.counter_mode = False
    barrier(core, PipeID.PIPE_V, frame)
    sums = -(-repeats // lanes)
    if sums == 1:
        order_pipes(core, HardEvent.V_S, frame)
        _write(dst, 0, _read(tmp, 0, frame), frame)
        _after_scalar_store(core, frame)
    else:
        core.mask = prefix_mask(sums)
        _pass(core, spec, SUM, dst, tmp, 1, 8, frame)


# -- ReduceMax and ReduceMin -------------------------------------------------------------------


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
    """Reduce ``repeats`` repeats under the mask that is set; ``repeats`` is at least 1."""
    dst, src, tmp = tensors
    _check_tmp(spec, kind, tmp, repeats, index)
    if repeats == 1 and index:
        _pass(core, spec, kind, dst, src, 1, src_rep, frame)
    elif repeats == 1:
        _pass(core, spec, kind, tmp, src, 1, src_rep, frame)
        _store(core, dst, tmp, 0, frame)
    elif kind == SUM:
        _sum(core, spec, tensors, repeats, src_rep, frame)
    elif index:
        _extreme_with_index(core, spec, kind, tensors, repeats, src_rep, frame)
    else:
        _extreme(core, spec, kind, tensors, repeats, src_rep, frame)


def _store(core: AICore, dst: LocalTensor, tmp: LocalTensor, at: int, frame: FrameType) -> None:
    order_pipes(core, HardEvent.V_S, frame)
    _write(dst, 0, _read(tmp, at, frame), frame)
    _after_scalar_store(core, frame)


def _extreme(
    core: AICore,
    spec: InstructionSpec,
    kind: str,
    tensors: Tensors,
    repeats: int,
    src_rep: int,
    frame: FrameType,
) -> None:
    dst, src, tmp = tensors
    lanes = 256 // src.dtype.itemsize
    _first_pass(core, spec, kind, src, tmp, repeats, src_rep, frame)
    barrier(core, PipeID.PIPE_V, frame)
    elements = _next_level(core, spec, kind, tmp, 0, 0, 2 * repeats, frame)
    if elements > lanes:
        barrier(core, PipeID.PIPE_V, frame)
        elements = _next_level(core, spec, kind, tmp, 0, 0, elements, frame)
    barrier(core, PipeID.PIPE_V, frame)
    core.mask = _every_second(elements // 2)
    _pass(core, spec, kind, tmp, tmp, 1, 8, frame)
    _store(core, dst, tmp, 0, frame)


def _next_level(
    core: AICore,
    spec: InstructionSpec,
    kind: str,
    tmp: LocalTensor,
    start: int,
    to: int,
    elements: int,
    frame: FrameType,
) -> int:
    """Reduce ``elements`` (values and indices) from ``start`` to ``to`` and return how many."""
    lanes = 256 // tmp.dtype.itemsize
    repeats, rest = divmod(elements, lanes)
    if repeats:
        core.mask = _every_second(lanes // 2)
        _pass(core, spec, kind, tmp[to], tmp[start], repeats, 8, frame)
    if rest:
        core.mask = _every_second(rest // 2)
        _pass(
            core, spec, kind, tmp[to + 2 * repeats], tmp[start + repeats * lanes], 1, 8, frame
        )  # fmt: skip
    return 2 * (repeats + (rest > 0))


def _extreme_with_index(
    core: AICore,
    spec: InstructionSpec,
    kind: str,
    tensors: Tensors,
    repeats: int,
    src_rep: int,
    frame: FrameType,
) -> None:
    dst, src, tmp = tensors
    lanes = 256 // src.dtype.itemsize
    _first_pass(core, spec, kind, src, tmp, repeats, src_rep, frame)
    starts, elements = [0], 2 * repeats
    while elements > 2:
        barrier(core, PipeID.PIPE_V, frame)
        starts.append(_aligned(starts[-1] + elements, src.dtype.itemsize))
        elements = _next_level(core, spec, kind, tmp, starts[-2], starts[-1], elements, frame)
    order_pipes(core, HardEvent.V_S, frame)
    value = _read(tmp, starts[-1], frame)
    # Each level holds, beside the value, its lane in the level before; the lane of a value there
    # is even, so half of it counts values.
    place = 0
    for start in reversed(starts[1:]):
        place = lanes // 2 * place + _read(tmp, start + 2 * place + 1, frame) // 2
    lane = _read(tmp, 2 * place + 1, frame)
    index = lane + place * src_rep * (BLOCK // src.dtype.itemsize)
    _write(dst, 0, value, frame)
    _write(dst, 1, index & ((1 << src.dtype.bits) - 1), frame)
    _after_scalar_store(core, frame)


def _aligned(elements: int, size: int) -> int:
    """Return ``elements`` rounded up to whole 32-byte blocks."""
    per_block = BLOCK // size
    return -(-elements // per_block) * per_block


def extreme_count(
    core: AICore,
    spec: InstructionSpec,
    kind: str,
    tensors: Tensors,
    count: int,
    index: bool,
    frame: FrameType,
) -> None:
    """Reduce full repeats, then what is left over, then both results; ``count`` is at least 1."""
    dst, src, tmp = tensors
    lanes = 256 // src.dtype.itemsize
    repeats, rest = divmod(count, lanes)
    core.counter_mode = False
    core.mask = prefix_mask(lanes if repeats else rest)
    masked(core, spec, kind, tensors, max(repeats, 1), 8, index, frame)
    if not repeats or not rest:
        return
    order_pipes(core, HardEvent.V_S, frame)
    body = [_read(dst, i, frame) for i in range(1 + index)]
    core.mask = prefix_mask(rest)
    masked(core, spec, kind, (dst, src[repeats * lanes], tmp), 1, 8, index, frame)
    order_pipes(core, HardEvent.V_S, frame)
    tail = [_read(dst, i, frame) for i in range(1 + index)]
    _write(tmp, 0, body[0], frame)
    _write(tmp, 1, tail[0], frame)
    order_pipes(core, HardEvent.S_V, frame)
    core.mask = prefix_mask(2)
    masked(core, spec, kind, (dst, tmp, tmp), 1, 8, index, frame)
    if index:
        order_pipes(core, HardEvent.V_S, frame)
        in_tail = _read(dst, 1, frame) == 1
        found = repeats * lanes + tail[1] if in_tail else body[1]
        _write(dst, 1, found & ((1 << src.dtype.bits) - 1), frame)
        _after_scalar_store(core, frame)


def _check_tmp(
    spec: InstructionSpec, kind: str, tmp: LocalTensor, repeats: int, index: bool
) -> None:
    """Refuse a temporary buffer that the passes would overrun."""
    size = tmp.dtype.itemsize
    if repeats == 1 and index:
        return
    needed = _aligned(repeats * (1 if kind == SUM else 2), size)
    if index:
        elements, last = 2 * repeats, needed
        while elements > 2:
            elements = 2 * -(-elements // (256 // size))
            last = _aligned(elements, size)
            needed += last
    if tmp.length < needed:
        raise OutOfBoundsError(
            "sharedTmpBuffer is too small for the results of the repeats",
            api=spec.name,
            argument="sharedTmpBuffer",
            got=f"{tmp.length} elements",
            legal=f">= {needed} elements for {repeats} repeats" + (" with index" if index else ""),
            source=spec.source,
        )
