"""DataCopy: bulk moves between global memory and the unified buffer, and inside UB.

Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据搬运 (DataCopy pages)
and impl/basic_api/kernel_operator_data_copy_intf_impl.h.
"""

# ruff: noqa: RUF001 - the names of pages of the manual

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.dtypes import BY_NAME
from simulator.enums import Arch, PipeID
from simulator.errors import AlignmentError, ArgumentError
from simulator.instruction import READ, WRITE, Access, Operand, Plan, VectorWork
from simulator.isa.copy_modes import looped
from simulator.isa.copy_nz import nd_to_nz, nz_to_nd
from simulator.isa.copy_params import Nd2NzParams, NdDmaParams, Nz2NdParamsFull
from simulator.isa.copy_plan import (
    GM_TO_UB,
    NOTHING,
    UB_TO_UB,
    Geometry,
    alignment,
    issue,
    plan_gm,
    require_equal_types,
    sides,
    view,
)
from simulator.isa.copy_slice import copy_slices
from simulator.isa.families import declare, publish, spec_for
from simulator.isa.lanes import BLOCK, check_tensor
from simulator.isa.nddma import nddma
from simulator.isa.params import DataCopyExtParams, DataCopyParams, check_range, plain

if TYPE_CHECKING:
    from simulator.core import AICore
    from simulator.dtypes import DType
    from simulator.instruction import InstructionSpec
    from simulator.tensor import LocalTensor

_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据搬运/{}.md"

MAX_BLOCK_COUNT: Final = 4095
MAX_BLOCK_UNITS: Final = 65535

_MOVED = (
    "int8_t uint8_t int16_t uint16_t half bfloat16_t int32_t uint32_t float int64_t uint64_t double"
)
_MOVED_950 = " ".join(n for n, d in BY_NAME.items() if d.bits >= 8)


def _data_copy_rule() -> None:
    """Copy whole 32-byte blocks between GM and UB or inside UB.

    ``count`` must be a multiple of 32 bytes; with ``strict=False`` the device's silent
    round-down to whole blocks is reproduced.
    """


def _slice_rule() -> None:
    """Copy the parts of a strided sub-box of one tensor to those of a sub-box of another."""


_COPY = declare(
    _data_copy_rule,
    "copy",
    (("dst", WRITE), ("src", READ)),
    {Arch.DAV_2201: _MOVED, Arch.DAV_3510: _MOVED_950, Arch.DAV_1001: _MOVED},
    _PAGE.format("DataCopy（GM与UB连续数据搬运）"),
    pipe=PipeID.PIPE_MTE2,
    forms=("count", "params"),
    name="DataCopy",
)
declare(
    _slice_rule,
    "copy",
    (("dst", WRITE), ("src", READ)),
    {Arch.DAV_2201: _MOVED, Arch.DAV_3510: _MOVED_950},
    _PAGE.format("DataCopy（GM与UB切片数据搬运）"),
    pipe=PipeID.PIPE_MTE2,
    forms=("slice",),
    cost="DataCopy",
    name="DataCopy[SliceInfo]",
)


def DataCopy(
    dst: Any,
    src: Any,
    params: Any = None,
    srcSliceInfo: Any = None,
    dimValue: int = 1,
    *,
    count: Any = None,
    config: Any = None,
) -> None:
    """``DataCopy(dst, src, count)``, or with a parameter struct in place of the count.

    Forms: an element count; DataCopyParams; ``(dst, src, dstSliceInfo, srcSliceInfo, dimValue)``;
    Nd2NzParams (GM to UB); Nz2NdParamsFull (UB to GM); NdDmaParams with ``config=NdDmaConfig(…)``
    (GM to UB, 950).
    """
    amount = params if count is None else count
    frame = sys._getframe(1)
    core, direction = sides("DataCopy", dst, src)
    if direction == UB_TO_UB:
        key: tuple[Any, ...] = ("DataCopy", dst._key, src._key, amount)
        plan = core.plans.get(key)
        if plan is None:
            plan = core.plans[key] = _plan_inside(core, dst, src, amount)
        core.issue(plan, (), frame)
        return
    if srcSliceInfo is not None:
        spec = spec_for("DataCopy[SliceInfo]", core)
        copy_slices(core, spec, direction, dst, src, amount, srcSliceInfo, dimValue, frame)
        return
    local, remote = (dst, src) if direction == GM_TO_UB else (src, dst)
    ptr = remote._pointer()
    key = (
        "DataCopy", direction, local._key, amount, alignment(ptr), remote.dtype, core.copy_state,
        config,
    )  # fmt: skip
    plan = core.plans.get(key)
    if plan is None:
        plan = core.plans[key] = _plan(core, direction, local, remote, amount, config)
    issue(core, plan, remote, ptr, frame)


publish(DataCopy, _COPY)


def _plan(
    core: AICore,
    direction: str,
    local: LocalTensor,
    remote: Any,
    amount: Any,
    config: Any,
) -> Plan:
    if isinstance(amount, NdDmaParams):
        return nddma(core, direction, local, remote, amount, config)
    if isinstance(amount, Nd2NzParams):
        return nd_to_nz(core, direction, local, remote, amount)
    if isinstance(amount, Nz2NdParamsFull):
        return nz_to_nd(core, direction, local, remote, amount)
    spec = spec_for("DataCopy", core)
    bursts = _block_bursts(core, spec, local.dtype, amount)
    if direction != GM_TO_UB:
        bursts = bursts._replace(gm_step=bursts.ub_step, ub_step=bursts.gm_step)
    return plan_gm(core, spec, direction, local, remote, looped(core, direction, bursts))


def _block_bursts(core: AICore, spec: InstructionSpec, dtype: DType, amount: Any) -> Geometry:
    """Return a copy from a count or DataCopyParams, with the source's step as ``gm_step``."""
    if isinstance(amount, DataCopyParams):
        amount = plain(amount)
        check_range(spec.name, "blockCount", amount.blockCount, 0, MAX_BLOCK_COUNT, spec.source)
        for name in ("blockLen", "srcStride", "dstStride"):
            check_range(spec.name, name, getattr(amount, name), 0, MAX_BLOCK_UNITS, spec.source)
        if not amount.blockCount or not amount.blockLen:
            return NOTHING
        nbytes = amount.blockLen * BLOCK
        return Geometry(
            amount.blockCount,
            nbytes,
            nbytes + amount.srcStride * BLOCK,
            nbytes + amount.dstStride * BLOCK,
        )
    if isinstance(amount, DataCopyExtParams):
        raise ArgumentError(
            "DataCopyExtParams belongs to DataCopyPad",
            api=spec.name,
            got="DataCopyExtParams",
            legal="an element count or DataCopyParams",
            fix="call DataCopyPad, or use DataCopyParams with 32-byte block units",
        )
    check_range(spec.name, "count", amount, 0, 2**31 - 1, spec.source)
    nbytes = dtype.bytes_for(int(amount))
    rest = nbytes % BLOCK
    if rest and core.strict:
        raise AlignmentError(
            f"{amount} elements of {dtype} are {nbytes} bytes, which is not a multiple of 32; a "
            f"board copies only {nbytes - rest}",
            code="copy.len",
            api=spec.name,
            argument="count",
            got=amount,
            legal=f"a multiple of {BLOCK * 8 // dtype.bits} elements",
            fix="use DataCopyPad for the tail, or launch with strict=False to see the round-down",
            source=spec.source,
        )
    nbytes -= rest
    return Geometry(1, nbytes, nbytes, nbytes) if nbytes else NOTHING


def _plan_inside(core: AICore, dst: LocalTensor, src: LocalTensor, amount: Any) -> Plan:
    """Bind a copy inside UB, which the vector pipe executes."""
    spec = spec_for("DataCopy", core)
    require_equal_types(spec, dst, src)
    spec.require(core.arch, dst.dtype, "count")
    count, nbytes, src_step, dst_step, _ = _block_bursts(core, spec, dst.dtype, amount)
    rows: list[Any] = []
    operands = []
    for name, role, tensor, step in (("dst", WRITE, dst, dst_step), ("src", READ, src, src_step)):
        check_tensor(
            spec.name, name, tensor, (count - 1) * step + nbytes if count else 0, spec.source
        )
        accesses = (Access(tensor.addr, nbytes, ((count, step),)),) if count else ()
        operands.append(Operand(name, role, "UB", tensor.dtype, accesses))
        rows.append(view(core.local.ub, tensor.addr, (count, nbytes), (step, 1)))
    total = count * nbytes
    return Plan(
        spec,
        "UB to UB",
        operands,
        partial(np.copyto, *rows) if count else None,
        pipe=PipeID.PIPE_V,
        work=VectorWork(
            dst.dtype.name, -(-total // 256), total // dst.dtype.itemsize, False, False
        ),
        details={"direction": UB_TO_UB, "blockCount": count, "blockBytes": nbytes},
    )
