"""Concat, Sort, Extract and the sizes of sorted data.

On 910B and 950 Concat only makes ``concat`` another name of ``src``; Sort issues Sort32 and, for a
full sort, merges the runs of 32 records four at a time; Extract separates scores and indices.
Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/高阶API/排序操作 (Concat.md, Sort.md,
Extract.md), impl/basic_api/kernel_operator_proposal_intf_impl.h and
dav_c220/kernel_operator_proposal_impl.h.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.dtypes import DType, as_dtype, float32, half, uint32_t
from simulator.enums import Arch, PipeID
from simulator.errors import DTypeError
from simulator.instruction import READ, WRITE, Access, Operand, Plan, VectorWork
from simulator.isa.composite import recorded_at
from simulator.isa.data_copy import DataCopy
from simulator.isa.families import declare, publish, require_local, spec_for
from simulator.isa.gather_mask import GatherMask
from simulator.isa.lanes import check_tensor, dense_operand
from simulator.isa.params import check_range
from simulator.isa.rearrange_params import GatherMaskParams, MrgSort4Info, MrgSortSrcList
from simulator.isa.sort import RECORD, SORTED, MrgSort, Sort32, require_indices
from simulator.isa.sync import PipeBarrier

if TYPE_CHECKING:
    from simulator.core import AICore
    from simulator.instruction import InstructionSpec
    from simulator.tensor import LocalTensor

_PAGE: Final = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/高阶API/排序操作/{}.md"
_TYPES = {Arch.DAV_2201: "half float", Arch.DAV_3510: "half float"}
_QUEUES: Final = 4


# -- sizes -------------------------------------------------------------------------------------


def GetSortLen(T: Any, elemCount: int) -> int:
    """Return how many elements of ``T`` ``elemCount`` records occupy: 4 half or 2 float each."""
    return elemCount * RECORD // _score_type("GetSortLen", T).itemsize


def GetSortOffset(T: Any, elemOffset: int) -> int:
    """Return the element of type ``T`` at which record ``elemOffset`` starts."""
    return elemOffset * RECORD // _score_type("GetSortOffset", T).itemsize


def _score_type(api: str, given: Any) -> DType:
    dtype = as_dtype(given)
    if dtype not in (half, float32):
        raise DTypeError(
            "scores are half or float",
            api=api,
            argument="T",
            got=dtype.name,
            legal="half, float",
            source=_PAGE.format(api),
        )
    return dtype


# -- Concat ------------------------------------------------------------------------------------


def _concat_rule() -> None:
    """``concat`` becomes another name of ``src``; nothing moves, and ``tmp`` is not used."""


_CONCAT = declare(
    _concat_rule,
    "sort",
    (("concat", WRITE), ("src", READ)),
    _TYPES,
    _PAGE.format("Concat"),
    pipe=PipeID.PIPE_S,
    forms=("repeat",),
    name="Concat",
)


def Concat(concat: Any, src: Any, tmp: Any, repeatTime: Any) -> None:
    """Prepare scores for Sort."""
    for name, tensor in (("concat", concat), ("src", src), ("tmp", tmp)):
        require_local("Concat", name, tensor)
    core = src._core
    spec = spec_for("Concat", core)
    types = src.dtype if src.dtype is concat.dtype else (concat.dtype, src.dtype)
    spec.require(core.arch, types, "repeat")
    check_range("Concat", "repeatTime", repeatTime, 0, 255, spec.source)
    check_tensor("Concat", "src", src, 16 * int(repeatTime) * src.dtype.itemsize, spec.source)
    concat.addr, concat.length, concat.position = src.addr, src.length, src.position
    concat._key = src._key


publish(Concat, _CONCAT)


# -- Sort --------------------------------------------------------------------------------------


def _sort_rule() -> None:
    """Records of ``concat`` and ``index``, descending: each 32 of them, or all with ``isFullSort``.

    A full sort needs ``tmp`` as large as ``dst`` and leaves a copy of the result in it.
    """


_SORT = declare(
    _sort_rule,
    "sort",
    (("dst", WRITE), ("concat", READ)),
    _TYPES,
    _PAGE.format("Sort"),
    forms=("repeat",),
    name="Sort",
)


def Sort(
    dst: Any,
    concat: Any,
    index: Any,
    tmp: Any,
    repeatTime: Any = None,
    *rest: Any,
    T: Any = None,
    isFullSort: bool = False,
) -> None:
    """Sort scores with their indices; ``Sort(T, isFullSort, dst, …)`` or keywords."""
    if isinstance(dst, DType) and len(rest) == 2:
        T, isFullSort, dst, concat, index, (tmp, repeatTime) = (
            dst,
            concat,
            index,
            tmp,
            repeatTime,
            rest,
        )
    frame = sys._getframe(1)
    for name, tensor in (("dst", dst), ("concat", concat), ("tmp", tmp)):
        require_local("Sort", name, tensor)
    core = dst._core
    spec = spec_for("Sort", core)
    require_indices("Sort", "index", index, spec)
    types = dst.dtype if dst.dtype is concat.dtype else (dst.dtype, concat.dtype)
    spec.require(core.arch, types, "repeat")
    if T is not None and as_dtype(T) is not dst.dtype:
        spec.require(core.arch, (as_dtype(T), dst.dtype), "repeat")
    check_range("Sort", "repeatTime", repeatTime, 0, 255, spec.source)
    if isFullSort:
        check_tensor("Sort", "tmp", tmp, int(repeatTime) * SORTED * RECORD, spec.source)
    with recorded_at(core, frame):
        Sort32(dst, concat, index, repeatTime)
        if isFullSort:
            PipeBarrier(PipeID.PIPE_V)
            _merge_runs(dst, tmp, int(repeatTime) * SORTED)


publish(Sort, _SORT)


def _merge_runs(dst: LocalTensor, tmp: LocalTensor, total: int) -> None:
    """Merge runs of 32 records until one is left, from ``tmp`` to ``dst`` and back."""
    per = RECORD // dst.dtype.itemsize
    _copy(tmp, dst, total * per)
    run = SORTED
    while run < total:
        groups, rest = divmod(total, _QUEUES * run)
        if groups:
            _merge(dst, tmp, [run] * _QUEUES, run, groups)
            PipeBarrier(PipeID.PIPE_V)
        start = groups * _QUEUES * run * per
        lengths = [min(run, rest - k * run) for k in range(-(-rest // run))]
        if len(lengths) > 1:
            _merge(dst[start], tmp[start], lengths, run, 1)
            PipeBarrier(PipeID.PIPE_V)
        elif lengths:
            _copy(dst[start], tmp[start], rest * per)
        _copy(tmp, dst, total * per)
        run *= _QUEUES


def _copy(dst: LocalTensor, src: LocalTensor, count: int) -> None:
    DataCopy(dst, src, count)
    PipeBarrier(PipeID.PIPE_V)


def _merge(dst: LocalTensor, src: LocalTensor, lengths: list[int], run: int, repeats: int) -> None:
    step = run * RECORD // dst.dtype.itemsize
    queues = [src[k * step] for k in range(len(lengths))]
    padded = tuple(lengths + [0] * (_QUEUES - len(lengths)))
    info = MrgSort4Info(padded, False, (1 << len(lengths)) - 1, repeats)
    MrgSort(dst, MrgSortSrcList(*queues), info)


# -- Extract -----------------------------------------------------------------------------------


def _extract_rule() -> None:
    """``dstValue`` = the scores and ``dstIndex`` = the indices of 32 records per repeat."""


_EXTRACT = declare(
    _extract_rule,
    "sort",
    (("dstValue", WRITE), ("sorted", READ)),
    _TYPES,
    _PAGE.format("Extract"),
    forms=("repeat",),
    name="Extract",
)


def Extract(dstValue: Any, dstIndex: Any, sorted: Any, repeatTime: Any) -> None:
    """Separate scores and indices; on 910B two GatherMask calls."""
    frame = sys._getframe(1)
    for name, tensor in (("dstValue", dstValue), ("sorted", sorted)):
        require_local("Extract", name, tensor)
    core = dstValue._core
    spec = spec_for("Extract", core)
    require_indices("Extract", "dstIndex", dstIndex, spec)
    types = sorted.dtype if sorted.dtype is dstValue.dtype else (dstValue.dtype, sorted.dtype)
    spec.require(core.arch, types, "repeat")
    check_range("Extract", "repeatTime", repeatTime, 0, 255, spec.source)
    repeats = int(repeatTime)
    number = repeats * SORTED
    size = sorted.dtype.itemsize
    check_tensor("Extract", "sorted", sorted, number * RECORD, spec.source)
    check_tensor("Extract", "dstValue", dstValue, number * size, spec.source)
    check_tensor("Extract", "dstIndex", dstIndex, number * 4, spec.source)
    if core.arch is Arch.DAV_3510:
        key = ("Extract", dstValue._key, dstIndex._key, sorted._key, repeats)
        plan = core.plans.get(key)
        if plan is None:
            plan = core.plans[key] = _plan_extract(core, spec, dstValue, dstIndex, sorted, number)
        core.issue(plan, (), frame)
        return
    with recorded_at(core, frame):
        params = GatherMaskParams(1, repeats, 8, 0)
        GatherMask(dstValue, sorted, 3 if size == 2 else 1, False, 0, params)
        PipeBarrier(PipeID.PIPE_V)
        GatherMask(dstIndex, sorted.ReinterpretCast(uint32_t), 2, False, 0, params)


publish(Extract, _EXTRACT)


def _plan_extract(
    core: AICore,
    spec: InstructionSpec,
    values: LocalTensor,
    indices: LocalTensor,
    records: LocalTensor,
    number: int,
) -> Plan:
    source = core.local.ub[records.addr : records.addr + number * RECORD].reshape(number, RECORD)
    size = values.dtype.itemsize
    to_values, to_indices = (
        core.local.ub[t.addr : t.addr + number * n].reshape(number, n)
        for t, n in ((values, size), (indices, 4))
    )
    return Plan(
        spec,
        "repeat",
        [
            dense_operand("dstValue", WRITE, values, number),
            dense_operand("dstIndex", WRITE, indices, number),
            Operand("sorted", READ, "UB", records.dtype, (Access(records.addr, number * RECORD),)),
        ],
        partial(_extract, to_values, to_indices, source) if number else None,
        work=VectorWork(values.dtype.name, number // SORTED, number, False, False),
        details={"repeatTime": number // SORTED},
    )


def _extract(values: Any, indices: Any, records: Any) -> None:
    np.copyto(values, records[:, : values.shape[1]])
    np.copyto(indices, records[:, 4:])
