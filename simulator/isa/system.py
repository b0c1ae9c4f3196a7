"""System variables, mask control, printf and DumpTensor.

Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API (系统变量访问, 掩码操作, 调测接口).
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.core import FULL_MASK, current_core
from simulator.dtypes import BY_NAME
from simulator.enums import Arch, MaskMode, PipeID
from simulator.errors import ArgumentError, OutOfBoundsError
from simulator.instruction import READ, Access, Operand, Plan
from simulator.isa.families import declare, prefix_mask, publish
from simulator.tensor import GlobalTensor, LocalTensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.instruction import InstructionSpec

_API = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/{}.md"
_NO_TENSOR: dict[Arch, str] = {Arch.DAV_2201: "", Arch.DAV_3510: "", Arch.DAV_1001: ""}


def _scalar(name: str, rule: Callable[..., None], page: str) -> InstructionSpec:
    return declare(
        rule, "system", (), _NO_TENSOR, _API.format(page),
        pipe=PipeID.PIPE_S, forms=("scalar",), name=name,
    )  # fmt: skip


def _block_idx_rule() -> None:
    """Return the index of the running block, 0 .. GetBlockNum() - 1."""


def _block_num_rule() -> None:
    """Return how many blocks were launched."""


def _set_mask_rule() -> None:
    """Set the vector mask register: a bit pattern (Normal mode) or an element count (Counter)."""


def _reset_mask_rule() -> None:
    """Enable every lane."""


def _mask_count_rule() -> None:
    """Switch to Counter mode: the mask register holds the number of elements of a call."""


def _mask_norm_rule() -> None:
    """Switch to Normal mode: the mask register holds one bit a lane."""


_GET_BLOCK_IDX = _scalar("GetBlockIdx", _block_idx_rule, "系统变量访问/GetBlockIdx")
_GET_BLOCK_NUM = _scalar("GetBlockNum", _block_num_rule, "系统变量访问/GetBlockNum")
_SET_VECTOR_MASK = _scalar("SetVectorMask", _set_mask_rule, "掩码操作/SetVectorMask")
_RESET_MASK = _scalar("ResetMask", _reset_mask_rule, "掩码操作/ResetMask")
_SET_MASK_COUNT = _scalar("SetMaskCount", _mask_count_rule, "掩码操作/SetMaskCount")
_SET_MASK_NORM = _scalar("SetMaskNorm", _mask_norm_rule, "掩码操作/SetMaskNorm")


def GetBlockIdx() -> int:
    """Return the index of the running block, 0 .. GetBlockNum() - 1."""
    return current_core().block_idx


def GetBlockNum() -> int:
    """Return how many blocks were launched."""
    return current_core().block_num


def SetVectorMask(
    maskHigh: Any, maskLow: Any = None, *, mode: MaskMode = MaskMode.NORMAL
) -> None:
    """``SetVectorMask(maskHigh, maskLow)`` or ``SetVectorMask(length)``.

    In Normal mode ``length`` enables the first lanes (0..128); in Counter mode it is the number of
    elements of the whole call.
    """
    core = current_core()
    words = [maskHigh] if maskLow is None else [maskHigh, maskLow]
    if any(not isinstance(w, int | np.integer) or not 0 <= int(w) < 1 << 64 for w in words):
        raise ArgumentError(
            "mask words are unsigned 64-bit integers",
            api="SetVectorMask",
            got=words,
            legal="0 .. 2**64 - 1",
        )
    if maskLow is not None:
        core.mask = (int(maskLow), int(maskHigh))
    elif mode == MaskMode.COUNTER or core.counter_mode:
        core.mask = (int(maskHigh), 0)
    else:
        core.mask = prefix_mask(min(int(maskHigh), 128))
    core.issue(_state_plan(core, _SET_VECTOR_MASK), (core.mask,), sys._getframe(1))


def ResetMask() -> None:
    """Enable every lane."""
    core = current_core()
    core.mask = FULL_MASK
    core.issue(_state_plan(core, _RESET_MASK), (), sys._getframe(1))


def SetMaskCount() -> None:
    """Switch the mask to Counter mode."""
    core = current_core()
    core.counter_mode = True
    core.issue(_state_plan(core, _SET_MASK_COUNT), (), sys._getframe(1))


def SetMaskNorm() -> None:
    """Switch the mask to Normal mode."""
    core = current_core()
    core.counter_mode = False
    core.issue(_state_plan(core, _SET_MASK_NORM), (), sys._getframe(1))


def _state_plan(core: Any, spec: InstructionSpec) -> Plan:
    plan = core.plans.get(spec.name)
    if plan is None:
        plan = core.plans[spec.name] = Plan(spec, "scalar")
    return plan


# -- output ------------------------------------------------------------------------------------


def _printf_rule() -> None:
    """Print formatted text from a kernel."""


def _dump_rule() -> None:
    """Print ``dumpSize`` elements of a tensor under a number of the user's choice."""


_DUMPED = " ".join(n for n, d in BY_NAME.items() if d.bits >= 8 and d.kind != "c")
_PRINTF = _scalar("printf", _printf_rule, "调测接口/printf")
_DUMP = declare(
    _dump_rule, "debug", (("tensor", READ),),
    {a: _DUMPED for a in _NO_TENSOR}, _API.format("调测接口/DumpTensor"),
    pipe=PipeID.PIPE_S, forms=("scalar",), name="DumpTensor",
)  # fmt: skip

_CONVERSION = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?(?:l|ll)?[a-zA-Z%]")
_PRINTED = frozenset("diuxfFsp%")


def printf(fmt: str, *args: Any) -> None:
    """Print like C ``printf`` with %d %i %u %x %f %F %s %p (and l, ll)."""
    core = current_core()
    used = [m.group(0) for m in _CONVERSION.finditer(fmt)]
    unknown = [u for u in used if u[-1] not in _PRINTED]
    wanted = sum(u != "%%" for u in used)
    if unknown or wanted != len(args):
        raise ArgumentError(
            f"the format needs {wanted} values and got {len(args)}"
            if not unknown
            else f"{unknown[0]} is no conversion of the device's printf",
            api="printf",
            argument="fmt",
            got=repr(fmt),
            legal="%d %i %u %x %f %F %s %p with optional l or ll, one value each",
            source=_PRINTF.source,
        )
    python_fmt = _CONVERSION.sub(lambda m: re.sub("l+", "", m.group(0)).replace("u", "d"), fmt)
    text = python_fmt.replace("%p", "%#x") % tuple(int(a) if _is_int(a) else a for a in args)
    core.issue(_state_plan(core, _PRINTF), (text,), sys._getframe(1))
    core.output.append(text)
    sys.stdout.write(text)


def _is_int(value: Any) -> bool:
    return isinstance(value, int | np.integer) or hasattr(value, "allocation")


def DumpTensor(tensor: Any, desc: int, dumpSize: int, shapeInfo: Any = None) -> None:
    """Print header (desc, addr, data_type, position, dump_size) and ``dumpSize`` values."""
    core = current_core()
    if not isinstance(tensor, LocalTensor | GlobalTensor):
        raise ArgumentError(
            "needs a tensor", api="DumpTensor", got=type(tensor).__name__, legal="Local/GlobalTensor"
        )
    if not 0 <= dumpSize <= tensor.length:
        raise OutOfBoundsError(
            "dumpSize is larger than the tensor",
            api="DumpTensor",
            argument="dumpSize",
            got=dumpSize,
            legal=f"0..{tensor.length}",
            source=_DUMP.source,
        )
    _DUMP.require(core.arch, tensor.dtype, "count")
    nbytes = tensor.dtype.bytes_for(dumpSize)
    if isinstance(tensor, LocalTensor):
        start, space, place = tensor.addr, "UB", tensor.position.name
        raw = core.local.ub[start : start + nbytes]
        operand = Operand("tensor", READ, space, tensor.dtype, (Access(start, nbytes),))
        params: tuple[Any, ...] = ()
    else:
        ptr = tensor._pointer()
        start, space, place = ptr.address, "GM", "GM"
        raw = ptr.allocation.data[ptr.offset : ptr.offset + nbytes]
        operand = Operand("tensor", READ, space, tensor.dtype, (Access(0, nbytes),))
        params = (ptr,)
    core.issue(Plan(_DUMP, "scalar", [operand]), params, sys._getframe(1))
    values = np.frombuffer(raw.tobytes(), tensor.dtype.numpy)
    text = format_dump(desc, start, tensor.dtype.name, place, values, shapeInfo)
    core.output.append(text)
    sys.stdout.write(text)


def format_dump(
    desc: int, address: int, dtype: str, position: str, values: Any, shape: Any = None
) -> str:
    """Return the text of a DumpTensor: a header line and bracketed values."""
    shown = np.array2string(
        values.reshape(shape) if shape else values, separator=", ", threshold=sys.maxsize
    )
    return (
        f"DumpTensor: desc={desc}, addr={address:x}, data_type={dtype}, position={position}, "
        f"dump_size={len(values)}\n{shown}\n"
    )


publish(GetBlockIdx, _GET_BLOCK_IDX)
publish(GetBlockNum, _GET_BLOCK_NUM)
publish(SetVectorMask, _SET_VECTOR_MASK)
publish(ResetMask, _RESET_MASK)
publish(SetMaskCount, _SET_MASK_COUNT)
publish(SetMaskNorm, _SET_MASK_NORM)
publish(printf, _PRINTF)
publish(DumpTensor, _DUMP)
