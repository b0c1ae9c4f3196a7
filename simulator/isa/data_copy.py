"""DataCopy and DataCopyPad: bulk moves between global memory and the unified buffer.

Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据搬运 (DataCopy,
DataCopyPad) and impl/basic_api/kernel_operator_data_copy_intf_impl.h.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.dtypes import BY_NAME
from simulator.enums import Arch, PipeID
from simulator.errors import AlignmentError, ArgumentError, OutOfBoundsError
from simulator.instruction import (
    READ,
    WRITE,
    Access,
    CopyWork,
    Operand,
    Plan,
    VectorWork,
)
from simulator.isa.families import check_scalar, declare, publish, spec_for
from simulator.isa.lanes import BLOCK, check_tensor
from simulator.isa.params import (
    DataCopyExtParams,
    DataCopyPadExtParams,
    DataCopyPadParams,
    DataCopyParams,
    check_range,
)
from simulator.tensor import GlobalTensor, LocalTensor

if TYPE_CHECKING:
    from simulator.core import AICore
    from simulator.dtypes import DType
    from simulator.instruction import InstructionSpec
    from simulator.memory import GlobalAddress

_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据搬运/{}.md"

MAX_BLOCK_COUNT: Final = 4095
MAX_BLOCK_UNITS: Final = 65535
MAX_PAD_BLOCK_BYTES: Final = 2097151

GM_TO_UB: Final = "GM->UB"
UB_TO_GM: Final = "UB->GM"
UB_TO_UB: Final = "UB->UB"

_MOVED = "int8_t uint8_t int16_t uint16_t half bfloat16_t int32_t uint32_t float int64_t uint64_t double"
_MOVED_950 = " ".join(n for n, d in BY_NAME.items() if d.bits >= 8)


def _data_copy_rule() -> None:
    """Copy whole 32-byte blocks between GM and UB or inside UB.

    ``count`` must be a multiple of 32 bytes; with ``strict=False`` the device's silent
    round-down to whole blocks is reproduced.
    """


def _data_copy_pad_rule() -> None:
    """Copy bursts of any byte length; UB blocks are padded to 32 bytes.

    Without padding values the rest of a block repeats its first element.
    """


_COPY = declare(
    _data_copy_rule,
    "copy",
    (("dst", WRITE), ("src", READ)),
    {Arch.DAV_2201: _MOVED, Arch.DAV_3510: _MOVED_950, Arch.DAV_1001: _MOVED},
    _PAGE.format("DataCopy"),
    pipe=PipeID.PIPE_MTE2,
    forms=("count", "params"),
    name="DataCopy",
)
_PAD = declare(
    _data_copy_pad_rule,
    "copy",
    (("dst", WRITE), ("src", READ)),
    {Arch.DAV_2201: _MOVED, Arch.DAV_3510: _MOVED_950},
    _PAGE.format("DataCopyPad（GMToUB非对齐数据搬运）"),
    pipe=PipeID.PIPE_MTE2,
    forms=("params",),
    name="DataCopyPad",
)


class Bursts(NamedTuple):
    """A copy in bytes: ``count`` bursts of ``nbytes``, with the step between starts on each side."""

    count: int
    nbytes: int
    gm_step: int
    ub_step: int


class Padding(NamedTuple):
    """Bytes in front of and behind each burst in UB, and the value that fills them."""

    left: int = 0
    right: int = 0
    value: bytes | None = None


_NO_PADDING: Final = Padding()


def DataCopy(dst: Any, src: Any, params: Any = None, *, count: Any = None) -> None:
    """``DataCopy(dst, src, count)`` or ``DataCopy(dst, src, DataCopyParams)``."""
    amount = params if count is None else count
    frame = sys._getframe(1)
    core, direction = _sides("DataCopy", dst, src)
    if direction == UB_TO_UB:
        key: tuple[Any, ...] = ("DataCopy", dst._key, src._key, amount)
        plan = core.plans.get(key)
        if plan is None:
            plan = core.plans[key] = _plan_inside(core, dst, src, amount)
        core.issue(plan, (), frame)
        return
    local, remote = (dst, src) if direction == GM_TO_UB else (src, dst)
    ptr = remote._pointer()
    key = ("DataCopy", direction, local._key, amount, _alignment(ptr), remote.dtype, core.atomic)
    plan = core.plans.get(key)
    if plan is None:
        spec = spec_for("DataCopy", core)
        bursts = _block_bursts(core, spec, local.dtype, amount)
        plan = _plan_gm(core, spec, direction, local, remote, bursts, _NO_PADDING)
        core.plans[key] = plan
    _issue_gm(core, plan, direction, remote, ptr, frame)


def DataCopyPad(dst: Any, src: Any, params: Any, padParams: Any = None) -> None:
    """``DataCopyPad(dst, src, DataCopyExtParams[, DataCopyPadExtParams])``."""
    frame = sys._getframe(1)
    core, direction = _sides("DataCopyPad", dst, src)
    local, remote = (dst, src) if direction == GM_TO_UB else (src, dst)
    if direction == UB_TO_UB:
        raise ArgumentError(
            "moves between GM and UB only",
            api="DataCopyPad",
            got="two local tensors",
            legal="one GlobalTensor and one LocalTensor",
            fix="use DataCopy or Copy inside UB",
        )
    ptr = remote._pointer()
    key = ("DataCopyPad", direction, local._key, params, padParams, _alignment(ptr), remote.dtype, core.atomic)
    plan = core.plans.get(key)
    if plan is None:
        spec = spec_for("DataCopyPad", core)
        padding = _padding(spec, direction, local.dtype, padParams)
        bursts = _byte_bursts(spec, direction, local.dtype, params, padding)
        plan = core.plans[key] = _plan_gm(core, spec, direction, local, remote, bursts, padding)
    _issue_gm(core, plan, direction, remote, ptr, frame)


publish(DataCopy, _COPY)
publish(DataCopyPad, _PAD)


def _sides(api: str, dst: Any, src: Any) -> tuple[AICore, str]:
    if isinstance(dst, LocalTensor):
        if isinstance(src, GlobalTensor):
            return dst._core, GM_TO_UB
        if isinstance(src, LocalTensor):
            return dst._core, UB_TO_UB
    elif isinstance(dst, GlobalTensor) and isinstance(src, LocalTensor):
        return src._core, UB_TO_GM
    raise ArgumentError(
        "dst and src must be a GlobalTensor and a LocalTensor, or two LocalTensors",
        api=api,
        got=f"dst {type(dst).__name__}, src {type(src).__name__}",
        legal="GM->UB, UB->GM, UB->UB",
    )


def _alignment(ptr: GlobalAddress) -> int:
    offset = ptr.allocation.address + ptr.offset
    return 512 if offset % 512 == 0 else 32 if offset % 32 == 0 else 1


def _issue_gm(
    core: AICore, plan: Plan, direction: str, remote: GlobalTensor, ptr: GlobalAddress, frame: Any
) -> None:
    reach: int = plan.details["reach"]
    declared = ptr.offset + (remote.length * remote.dtype.bits >> 3)
    end = declared if declared < ptr.end else ptr.end
    if reach and (ptr.offset < 0 or ptr.offset + reach > end):
        _out_of_bounds(plan, direction, remote, ptr, reach, end)
    if direction == UB_TO_GM:
        core.keep_initial(ptr.allocation)
    core.issue(plan, (ptr,), frame)


def _out_of_bounds(
    plan: Plan, direction: str, remote: GlobalTensor, ptr: GlobalAddress, reach: int, end: int
) -> None:
    size = max(1, remote.dtype.itemsize)
    name = ptr.allocation.name or "global memory"
    wanted = ptr.offset + reach
    raise OutOfBoundsError(
        f"{'reads' if direction == GM_TO_UB else 'writes'} {max(wanted - end, 0) or -ptr.offset} bytes "
        f"outside {name}",
        code="memory.gm_bounds",
        api=plan.spec.name,
        got=f"bytes {ptr.offset}..{wanted} (elements {ptr.offset // size}..{-(-wanted // size)} of "
        f"{remote.dtype})",
        legal=f"bytes 0..{end} ({end // size} elements)",
        fix="check the block's offset and the length of its last tile",
    )


# -- how many bursts of how many bytes ------------------------------------------------------------


def _block_bursts(core: AICore, spec: InstructionSpec, dtype: DType, amount: Any) -> Bursts:
    if isinstance(amount, DataCopyParams):
        check_range(spec.name, "blockCount", amount.blockCount, 0, MAX_BLOCK_COUNT, spec.source)
        for name in ("blockLen", "srcStride", "dstStride"):
            check_range(spec.name, name, getattr(amount, name), 0, MAX_BLOCK_UNITS, spec.source)
        if not amount.blockCount or not amount.blockLen:
            return Bursts(0, 0, 0, 0)
        nbytes = amount.blockLen * BLOCK
        return Bursts(
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
    nbytes = dtype.bytes_for(amount)
    rest = nbytes % BLOCK
    if rest and core.strict:
        per_block = BLOCK * 8 // dtype.bits
        raise AlignmentError(
            f"{amount} elements of {dtype} are {nbytes} bytes, which is not a multiple of 32; a "
            f"board copies only {nbytes - rest}",
            api=spec.name,
            argument="count",
            got=amount,
            legal=f"a multiple of {per_block} elements",
            fix="use DataCopyPad for the tail, or launch with strict=False to see the round-down",
            source=spec.source,
        )
    nbytes -= rest
    return Bursts(1, nbytes, nbytes, nbytes) if nbytes else Bursts(0, 0, 0, 0)


def _padding(spec: InstructionSpec, direction: str, dtype: DType, params: Any) -> Padding:
    if params is None:
        return _NO_PADDING
    if not isinstance(params, DataCopyPadExtParams | DataCopyPadParams):
        raise ArgumentError(
            "padParams is of the wrong kind",
            api=spec.name,
            got=type(params).__name__,
            legal="DataCopyPadExtParams or DataCopyPadParams",
        )
    if direction == UB_TO_GM:
        raise ArgumentError(
            "a copy to GM has no padding", api=spec.name, got=repr(params), legal="no padParams"
        )
    most = BLOCK // dtype.itemsize
    check_range(spec.name, "leftPadding", params.leftPadding, 0, most, spec.source)
    check_range(spec.name, "rightPadding", params.rightPadding, 0, most, spec.source)
    if dtype.bits == 64 and params.isPad and params.paddingValue != 0:
        raise ArgumentError(
            "64-bit types pad with zero only",
            api=spec.name,
            argument="paddingValue",
            got=params.paddingValue,
            legal=0,
            source=spec.source,
        )
    value = None
    if params.isPad:
        value = check_scalar(spec, dtype, params.paddingValue, "paddingValue").tobytes()
    return Padding(params.leftPadding * dtype.itemsize, params.rightPadding * dtype.itemsize, value)


def _byte_bursts(
    spec: InstructionSpec, direction: str, dtype: DType, params: Any, padding: Padding
) -> Bursts:
    if not isinstance(params, DataCopyExtParams | DataCopyParams):
        raise ArgumentError(
            "needs DataCopyExtParams",
            api=spec.name,
            argument="params",
            got=f"{params!r}",
            legal="DataCopyExtParams(blockCount, blockLen in bytes, srcStride, dstStride, rsv)",
        )
    most = MAX_PAD_BLOCK_BYTES if isinstance(params, DataCopyExtParams) else 65535
    check_range(spec.name, "blockCount", params.blockCount, 0, MAX_BLOCK_COUNT, spec.source)
    check_range(spec.name, "blockLen", params.blockLen, 0, most, spec.source)
    stride_limit = 2**32 - 1 if isinstance(params, DataCopyExtParams) else 65535
    for name in ("srcStride", "dstStride"):
        check_range(spec.name, name, getattr(params, name), 0, stride_limit, spec.source)
    if params.blockLen % dtype.itemsize:
        raise AlignmentError(
            "blockLen splits an element",
            api=spec.name,
            argument="blockLen",
            got=f"{params.blockLen} bytes",
            legal=f"a multiple of {dtype.itemsize} (sizeof {dtype})",
            source=spec.source,
        )
    if not params.blockCount or not params.blockLen:
        return Bursts(0, 0, 0, 0)
    gm_gap, ub_gap = (
        (params.srcStride, params.dstStride)
        if direction == GM_TO_UB
        else (params.dstStride, params.srcStride)
    )
    held = -(-(padding.left + params.blockLen + padding.right) // BLOCK) * BLOCK
    return Bursts(
        params.blockCount, params.blockLen, params.blockLen + gm_gap, held + ub_gap * BLOCK
    )


# -- plans ----------------------------------------------------------------------------------------


def _plan_gm(
    core: AICore,
    spec: InstructionSpec,
    direction: str,
    local: LocalTensor,
    remote: GlobalTensor,
    bursts: Bursts,
    padding: Padding,
) -> Plan:
    if local.dtype.bits != remote.dtype.bits or local.dtype is not remote.dtype:
        raise ArgumentError(
            "dst and src must have the same element type",
            api=spec.name,
            got=f"UB {local.dtype}, GM {remote.dtype}",
            legal="equal types",
            fix=f"tensor.ReinterpretCast({remote.dtype})",
        )
    spec.require(core.arch, local.dtype, "count")
    name = "dst" if direction == GM_TO_UB else "src"
    padded = spec is _PAD
    count, nbytes, gm_step, ub_step = bursts
    held = padding.left + nbytes + padding.right
    block = -(-held // BLOCK) * BLOCK if padded and direction == GM_TO_UB else held
    reach = (count - 1) * ub_step + block if count else 0
    check_tensor(spec.name, name, local, reach, spec.source)
    ub = core.local.ub[local.addr : local.addr + reach]
    ub_access = (Access(local.addr, block, ((count, ub_step),)),) if count else ()
    gm_access = (Access(0, nbytes, ((count, gm_step),)),) if count else ()
    here = Operand(name, WRITE if direction == GM_TO_UB else READ, "UB", local.dtype, ub_access)
    there = Operand(
        "src" if direction == GM_TO_UB else "dst",
        READ if direction == GM_TO_UB else WRITE,
        "GM",
        remote.dtype,
        gm_access,
    )
    operands = (here, there) if direction == GM_TO_UB else (there, here)
    run: Any = None
    if count and direction == GM_TO_UB:
        run = _reader(ub, bursts, padding, block, local.dtype.itemsize)
    elif count:
        combine = core.atomic_rule(spec.name, local.dtype)
        run = _writer(ub, bursts, combine, local.dtype.numpy)
    ptr = remote._pointer()
    return Plan(
        spec,
        "bursts" if count != 1 else "one burst",
        operands,
        run,
        pipe=PipeID.PIPE_MTE2 if direction == GM_TO_UB else PipeID.PIPE_MTE3,
        work=CopyWork(direction, count * nbytes, count, nbytes, _alignment(ptr)),
        details={
            "direction": direction,
            "blockCount": count,
            "blockBytes": nbytes,
            "gmStep": gm_step,
            "ubStep": ub_step,
            "reach": (count - 1) * gm_step + nbytes if count else 0,
        },
    )


def _reader(ub: Any, bursts: Bursts, padding: Padding, block: int, item: int) -> Any:
    count, nbytes, gm_step, ub_step = bursts
    left, right, value = padding
    tail = block - left - nbytes
    if count == 1 and not left and not tail:
        return partial(_read_plain, ub, nbytes)
    rows = np.lib.stride_tricks.as_strided(ub, (count, block), (ub_step, 1))
    body = rows[:, left : left + nbytes]
    fills: list[tuple[Any, Any]] = []
    if left or tail:
        before, behind = rows[:, :left], rows[:, left + nbytes :]
        if value is not None and (left or right):
            fills = [(part, np.frombuffer(value * (part.shape[1] // item + 1), np.uint8)) for part in (before, behind)]
        elif not left and not right:
            first = rows[:, left : left + item]
            fills = [(behind, first)]
    return partial(_read_rows, body, gm_step, fills)


def _read_plain(ub: Any, nbytes: int, ptr: GlobalAddress) -> None:
    ub[:] = ptr.allocation.data[ptr.offset : ptr.offset + nbytes]


def _gm_rows(ptr: GlobalAddress, count: int, nbytes: int, step: int) -> Any:
    data = ptr.allocation.data
    return np.lib.stride_tricks.as_strided(data[ptr.offset :], (count, nbytes), (step, 1))


def _read_rows(body: Any, gm_step: int, fills: list[tuple[Any, Any]], ptr: GlobalAddress) -> None:
    count, nbytes = body.shape
    body[:] = _gm_rows(ptr, count, nbytes, gm_step)
    for part, fill in fills:
        width = part.shape[1]
        if fill.ndim == 1:
            part[:] = fill[:width]
        else:
            part[:] = np.tile(fill, (1, -(-width // fill.shape[1])))[:, :width]


def _writer(ub: Any, bursts: Bursts, combine: Any, dtype: Any) -> Any:
    count, nbytes, gm_step, ub_step = bursts
    if combine is None and count == 1:
        return partial(_write_plain, ub[:nbytes], nbytes)
    rows = np.lib.stride_tricks.as_strided(ub, (count, nbytes), (ub_step, 1))
    if combine is None:
        return partial(_write_rows, rows, gm_step)
    return partial(_write_combined, rows, gm_step, combine, dtype)


def _write_plain(ub: Any, nbytes: int, ptr: GlobalAddress) -> None:
    ptr.allocation.data[ptr.offset : ptr.offset + nbytes] = ub


def _write_rows(rows: Any, gm_step: int, ptr: GlobalAddress) -> None:
    count, nbytes = rows.shape
    _gm_rows(ptr, count, nbytes, gm_step)[:] = rows


def _write_combined(rows: Any, gm_step: int, combine: Any, dtype: Any, ptr: GlobalAddress) -> None:
    for index, row in enumerate(rows):
        start = ptr.offset + index * gm_step
        target = ptr.allocation.data[start : start + len(row)]
        old = np.frombuffer(target.tobytes(), dtype)
        new = combine(old, np.frombuffer(row.tobytes(), dtype)).astype(dtype)
        target[:] = np.frombuffer(new.tobytes(), np.uint8)


def _plan_inside(core: AICore, dst: LocalTensor, src: LocalTensor, amount: Any) -> Plan:
    spec = spec_for("DataCopy", core)
    if dst.dtype is not src.dtype:
        raise ArgumentError(
            "dst and src must have the same element type",
            api=spec.name,
            got=f"dst {dst.dtype}, src {src.dtype}",
            legal="equal types",
        )
    spec.require(core.arch, dst.dtype, "count")
    count, nbytes, src_step, dst_step = _block_bursts(core, spec, dst.dtype, amount)
    spans = []
    for name, tensor, step in (("dst", dst, dst_step), ("src", src, src_step)):
        reach = (count - 1) * step + nbytes if count else 0
        check_tensor(spec.name, name, tensor, reach, spec.source)
        spans.append(core.local.ub[tensor.addr : tensor.addr + reach])
    run: Any = None
    if count:
        strided = np.lib.stride_tricks.as_strided
        run = partial(
            np.copyto,
            strided(spans[0], (count, nbytes), (dst_step, 1)),
            strided(spans[1], (count, nbytes), (src_step, 1)),
        )
    total = count * nbytes
    return Plan(
        spec,
        "UB to UB",
        [
            Operand(name, role, "UB", t.dtype, (Access(t.addr, nbytes, ((count, step),)),))
            for name, role, t, step in (
                ("dst", WRITE, dst, dst_step),
                ("src", READ, src, src_step),
            )
        ],
        run,
        pipe=PipeID.PIPE_V,
        work=VectorWork(dst.dtype.name, -(-total // 256), total // dst.dtype.itemsize, False, False),
        details={"direction": UB_TO_UB, "blockCount": count, "blockBytes": nbytes},
    )
