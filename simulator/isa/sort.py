"""Sort32 and MrgSort: sort scores with their indices, and merge sorted queues.

A record is 8 bytes: the score in the low bytes (half: 2, float: 4), the index in the upper four.
Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算, the pages Sort32.md,
MrgSort.md and GetMrgSortResult.md, docs/zh/api/SIMD-API/高阶API/排序操作/MrgSort-93.md,
hicann/asc-tools cpudebug/src/api_check/kernel_vec_proposal_check.cpp.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.core import current_core
from simulator.dtypes import DType, uint32_t
from simulator.enums import Arch
from simulator.errors import AlignmentError, ArgumentError, DTypeError, OutOfBoundsError
from simulator.instruction import READ, WRITE, Access, Operand, Plan, VectorWork
from simulator.isa.blocks import as_params
from simulator.isa.families import declare, fail_unless_tensor, publish, require_local, spec_for
from simulator.isa.lanes import check_tensor, dense_operand, dense_view
from simulator.isa.params import check_range
from simulator.isa.rearrange_params import MrgSort4Info
from simulator.isa.results import ResultPlan, issue_for_result, last_result, with_result

if TYPE_CHECKING:
    from types import FrameType

    from numpy.typing import NDArray

    from simulator.core import AICore
    from simulator.instruction import InstructionSpec
    from simulator.tensor import LocalTensor

_PAGE: Final = (
    "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/"
    "排序组合\uff08ISASI\uff09/{}.md"
)
_TYPES = {Arch.DAV_2201: "half float", Arch.DAV_3510: "half float"}

RECORD: Final = 8
"""Bytes of a record."""

SORTED: Final = 32
"""Elements that a repeat of Sort32 sorts."""


def descending(scores: NDArray[Any]) -> NDArray[np.int64]:
    """Return the stable order of the last axis from the largest score to the smallest; NaN last."""
    keys = np.negative(scores.astype(np.float32))
    return np.argsort(keys, axis=-1, kind="stable")


# -- Sort32 ------------------------------------------------------------------------------------


def _sort32_rule() -> None:
    """Each 32 scores of ``src0`` with their indices of ``src1`` as records, descending.

    Of equal scores the earlier one comes first. The two bytes between a half score and its index
    are 0 here and unspecified on the device.
    """


_SORT32 = declare(
    _sort32_rule,
    "sort",
    (("dst", WRITE), ("src0", READ)),
    _TYPES,
    _PAGE.format("Sort32"),
    forms=("repeat",),
    name="Sort32",
)


def Sort32(dst: Any, src0: Any, src1: Any, repeatTime: Any) -> None:
    """Sort 32 scores per repeat."""
    try:
        core = dst._core
        key = ("Sort32", dst._key, src0._key, src1._key, repeatTime)
    except AttributeError as error:
        raise fail_unless_tensor(error, "Sort32", dst, src0, src1) from None
    plan = core.plans.get(key)
    if plan is None:
        plan = core.plans[key] = _plan_sort32(core, dst, src0, src1, repeatTime)
    core.issue(plan, (), sys._getframe(1))


publish(Sort32, _SORT32)


def _plan_sort32(
    core: AICore, dst: LocalTensor, src0: LocalTensor, src1: LocalTensor, repeat_time: Any
) -> Plan:
    spec = spec_for("Sort32", core)
    types = dst.dtype if dst.dtype is src0.dtype else (dst.dtype, src0.dtype)
    spec.require(core.arch, types, "repeat")
    require_indices("Sort32", "src1", src1, spec)
    check_range("Sort32", "repeatTime", repeat_time, 0, 255, spec.source)
    repeats = int(repeat_time)
    number = repeats * SORTED
    nbytes = number * RECORD
    check_tensor("Sort32", "dst", dst, nbytes, spec.source)
    check_tensor("Sort32", "src0", src0, number * src0.dtype.itemsize, spec.source)
    check_tensor("Sort32", "src1", src1, number * 4, spec.source)
    run = partial(
        _sort32,
        core.local.ub[dst.addr : dst.addr + nbytes].view(np.uint64).reshape(repeats, SORTED),
        dense_view(core, src0, number).reshape(repeats, SORTED),
        dense_view(core, src1, number).reshape(repeats, SORTED),
    )
    return Plan(
        spec,
        "repeat",
        [
            Operand("dst", WRITE, "UB", dst.dtype, (Access(dst.addr, nbytes),)),
            dense_operand("src0", READ, src0, number),
            dense_operand("src1", READ, src1, number),
        ],
        run if repeats else None,
        work=VectorWork(dst.dtype.name, repeats, number, False, False),
        details={"repeatTime": repeats},
    )


def require_indices(api: str, name: str, tensor: Any, spec: InstructionSpec) -> None:
    """Refuse indices that are not a tensor of uint32_t.

    Raises
    ------
    ArgumentError, DTypeError
    """
    if require_local(api, name, tensor).dtype is not uint32_t:
        raise DTypeError(
            "indices are unsigned 32-bit integers",
            api=api,
            argument=name,
            got=tensor.dtype.name,
            legal="uint32_t",
            source=spec.source,
        )


def _sort32(out: Any, scores: Any, indices: Any) -> None:
    order = descending(scores)
    words = scores.view(f"u{scores.itemsize}").astype(np.uint64)
    records = words | indices.astype(np.uint64) << np.uint64(32)
    out[:] = np.take_along_axis(records, order, axis=1)


# -- MrgSort -----------------------------------------------------------------------------------


def _mrg_sort_rule() -> None:
    """Merge up to four descending queues of records; of equal scores the earlier queue first.

    With ``ifExhaustedSuspension`` the merge stops when a queue runs out. ``repeatTimes`` counts
    only for four queues of one length one behind the other, without suspension. Also
    ``MrgSort(dst, sortList, elementCountList, sortedNum, validBit, repeatTime)`` with
    ``isExhaustedSuspension``; ``sortedNum`` then gets how many records of each queue were taken.
    """


_MRG_SORT = declare(
    _mrg_sort_rule,
    "sort",
    (("dst", WRITE), ("src", READ)),
    _TYPES,
    _PAGE.format("MrgSort"),
    forms=("queues",),
    name="MrgSort",
)


class _Queue(NamedTuple):
    name: str
    tensor: Any
    length: int


def MrgSort(
    dst: Any,
    src: Any,
    params: Any,
    sortedNum: Any = None,
    validBit: Any = None,
    repeatTime: Any = None,
    *,
    isExhaustedSuspension: bool = False,
) -> None:
    """Merge sorted queues."""
    if validBit is not None:
        params = MrgSort4Info(tuple(params), isExhaustedSuspension, validBit, repeatTime)
    info = as_params("MrgSort", params, MrgSort4Info, "params")
    taken = _merge(dst, src, info, sys._getframe(1))
    if sortedNum is not None and info.ifExhaustedSuspension:
        sortedNum[:] = taken


publish(MrgSort, _MRG_SORT)


def GetMrgSortResult() -> tuple[int, int, int, int]:
    """Return how many records of each queue the last MrgSort took."""
    first, second, third, fourth = last_result(current_core(), ("MrgSort",)) or [0, 0, 0, 0]
    return first, second, third, fourth


def _merge(dst: Any, src: Any, info: MrgSort4Info, frame: FrameType) -> list[int]:
    core = require_local("MrgSort", "dst", dst)._core
    given = list(src) if isinstance(src, tuple | list) else []
    used = {3: 2, 7: 3, 15: 4}[info.validBit]
    if len(given) < used or len(given) > 4:
        raise ArgumentError(
            f"validBit {info.validBit} takes {used} queues",
            api="MrgSort",
            argument="src",
            got=f"{len(given)} queues" if given else repr(src),
            legal="MrgSortSrcList(src1, src2, src3, src4)",
        )
    queues = [
        _Queue(f"src{k + 1}", require_local("MrgSort", f"src{k + 1}", given[k]), int(length))
        for k, length in zip(range(used), info.elementLengths, strict=False)
    ]
    lengths = tuple(queue.length for queue in queues)
    key = (
        "MrgSort", dst._key, *(queue.tensor._key for queue in queues), lengths,
        bool(info.ifExhaustedSuspension), info.repeatTimes,
    )  # fmt: skip
    plan: Any = core.plans.get(key)
    if plan is None:
        plan = core.plans[key] = _plan_merge(core, dst, queues, info)
    return issue_for_result(core, plan, frame)


def _plan_merge(
    core: AICore, dst: LocalTensor, queues: list[_Queue], info: MrgSort4Info
) -> ResultPlan:
    spec = spec_for("MrgSort", core)
    for queue in queues:
        types = dst.dtype if queue.tensor.dtype is dst.dtype else (dst.dtype, queue.tensor.dtype)
        spec.require(core.arch, types, "queues")
    repeats = info.repeatTimes if _repeats_count(queues, info) else min(info.repeatTimes, 1)
    total = sum(queue.length for queue in queues)
    for queue in queues:
        _check_queue(core, spec, queue, ((repeats - 1) * total + queue.length) * RECORD)
    suspends = bool(info.ifExhaustedSuspension)
    check_tensor("MrgSort", "dst", dst, 0 if suspends else repeats * total * RECORD, spec.source)
    result = np.zeros(4, np.int64)
    step = (repeats, total * RECORD)
    operands = [
        Operand("dst", WRITE, "UB", dst.dtype, (Access(dst.addr, repeats * total * RECORD),))
    ]
    operands += [
        Operand(
            queue.name,
            READ,
            "UB",
            dst.dtype,
            (Access(queue.tensor.addr, queue.length * RECORD, (step,)),),
        )
        for queue in queues
    ]
    starts = [queue.tensor.addr for queue in queues]
    lengths = [queue.length for queue in queues]
    run = partial(
        _merge_repeats,
        core.local.ub,
        (dst.addr, dst.nbytes),
        starts,
        lengths,
        (repeats, suspends),
        dst.dtype,
        result,
    )
    plan = Plan(
        spec,
        "queues",
        operands,
        run if repeats and total else partial(result.fill, 0),
        work=VectorWork(dst.dtype.name, repeats, repeats * total, False, False),
        details={"elementLengths": lengths, "repeatTimes": repeats, "suspension": suspends},
    )
    return with_result(plan, result)


def _repeats_count(queues: list[_Queue], info: MrgSort4Info) -> bool:
    """Whether more than one repeat takes place: four equal queues one behind the other."""
    if info.validBit != 15 or info.ifExhaustedSuspension:
        return False
    length, start = queues[0].length, queues[0].tensor.addr
    return all(
        queue.length == length and queue.tensor.addr == start + k * length * RECORD
        for k, queue in enumerate(queues)
    )


def _check_queue(core: AICore, spec: InstructionSpec, queue: _Queue, nbytes: int) -> None:
    tensor = queue.tensor
    if tensor.addr % RECORD:
        raise AlignmentError(
            f"{queue.name} does not start a record",
            api=spec.name,
            argument=queue.name,
            got=f"address {tensor.addr}",
            legal="a multiple of 8",
            source=spec.source,
        )
    if queue.length and (nbytes > tensor.nbytes or tensor.addr + nbytes > len(core.local.ub)):
        raise OutOfBoundsError(
            f"{queue.name} is shorter than its length says",
            api=spec.name,
            argument=queue.name,
            got=f"{queue.length} records, {nbytes} bytes in all repeats",
            legal=f"<= {tensor.nbytes} bytes",
            source=spec.source,
        )


def _merge_repeats(
    ub: Any,
    dst: tuple[int, int],
    starts: list[int],
    lengths: list[int],
    how: tuple[int, bool],
    dtype: DType,
    result: NDArray[np.int64],
) -> None:
    repeats, suspends = how
    total = sum(lengths) * RECORD
    for repeat in range(repeats):
        records = [
            ub[start + repeat * total : start + repeat * total + length * RECORD].view(np.uint64)
            for start, length in zip(starts, lengths, strict=True)
        ]
        merged, owners = merge_queues(records, dtype)
        if suspends:
            merged, owners = _until_exhausted(merged, owners, lengths)
        if len(merged) * RECORD > dst[1]:
            raise OutOfBoundsError(
                "dst is too small for the merged records",
                api="MrgSort",
                argument="dst",
                got=f"{len(merged)} records",
                legal=f"<= {dst[1] // RECORD} records",
            )
        at = dst[0] + repeat * total
        ub[at : at + len(merged) * RECORD].view(np.uint64)[:] = merged
        result[:] = np.bincount(owners, minlength=4)


def merge_queues(
    queues: list[NDArray[np.uint64]], dtype: DType
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the merged records and which queue each came from."""
    records = np.concatenate(queues)
    owners = np.repeat(np.arange(len(queues)), [len(queue) for queue in queues])
    scores = [_scores(queue, dtype) for queue in queues]
    if all((s[:-1] >= s[1:]).all() for s in scores):
        order = descending(np.concatenate(scores))
    else:
        order = _head_by_head(scores)
    return records[order], owners[order]


def _scores(records: NDArray[np.uint64], dtype: DType) -> NDArray[np.float32]:
    words = records.astype(f"u{dtype.itemsize}")
    return words.view(dtype.numpy).astype(np.float32)


def _head_by_head(scores: list[NDArray[np.float32]]) -> NDArray[np.int64]:
    """Merge queues that are not in order: always the largest head, the earlier queue first."""
    starts = np.cumsum([0] + [len(s) for s in scores])
    heads = [0] * len(scores)
    order: list[int] = []
    while True:
        best = -1
        for k, queue in enumerate(scores):
            if heads[k] < len(queue) and (best < 0 or queue[heads[k]] > scores[best][heads[best]]):
                best = k
        if best < 0:
            return np.array(order, np.int64)
        order.append(int(starts[best]) + heads[best])
        heads[best] += 1


def _until_exhausted(
    merged: NDArray[np.uint64], owners: NDArray[np.int64], lengths: list[int]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Cut the merge behind the first queue that runs out."""
    last = min(int(np.flatnonzero(owners == k)[-1]) for k, n in enumerate(lengths) if n)
    return merged[: last + 1], owners[: last + 1]
