"""What kernels print, and Trap.

Formats: mirror-cann/asc-devkit docs/zh/api/Utils-API/调测接口/printf.md and
docs/zh/api/SIMD-API/基础API/调试接口/上板打印/DumpTensor.md.
"""

from __future__ import annotations

import re
import sys
from itertools import islice
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.core import AICore, current_core
from simulator.dtypes import DType, hifloat8_t
from simulator.enums import Arch, PipeID
from simulator.errors import ArgumentError, OutOfBoundsError, SimulatorError
from simulator.instruction import READ, Access, Operand, Plan
from simulator.isa.families import declare, publish
from simulator.isa.params import check_range
from simulator.isa.system import state_plan
from simulator.numerics import hif8_values
from simulator.tensor import GlobalTensor, LocalTensor, ShapeInfo, as_shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_API = "mirror-cann/asc-devkit docs/zh/api/{}.md"
_ALL: dict[Arch, str] = dict.fromkeys((Arch.DAV_2201, Arch.DAV_3510, Arch.DAV_1001), "")

LIMIT: Final = 30 * 1024
"""Bytes that one call may print by default; longer output is dropped."""

_CONVERSION: Final = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?(?:ll?)?[a-zA-Z%]")
_PRINTED: Final = frozenset("diuxfFsp%")

_DATA_TYPES: Final = {
    "half": "float16", "float": "float32", "bfloat16_t": "bfloat16", "bool": "bool",
    "hifloat8_t": "hifloat8", "fp8_e4m3fn_t": "float8_e4m3fn", "fp8_e5m2_t": "float8_e5m2",
    "fp8_e8m0_t": "float8_e8m0",
}  # fmt: skip
"""Names that DumpTensor prints; integer types lose their ``_t``."""


def _printf_rule() -> None:
    """Print formatted text from a kernel."""


def _dump_rule() -> None:
    """Print ``dumpSize`` elements of a tensor under a number of the user's choice."""


def _trap_rule() -> None:
    """Stop the core."""


_INTEGERS = "bool int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t"
_DUMPED = _INTEGERS + " half bfloat16_t float"
_PRINTF = declare(
    _printf_rule, "debug", (), _ALL, _API.format("Utils-API/调测接口/printf"),
    pipe=PipeID.PIPE_S, forms=("scalar",), name="printf",
)  # fmt: skip
_DUMP = declare(
    _dump_rule, "debug", (("tensor", READ),),
    {
        Arch.DAV_2201: _DUMPED,
        Arch.DAV_3510: _DUMPED + " hifloat8_t fp8_e8m0_t fp8_e5m2_t fp8_e4m3fn_t",
        Arch.DAV_1001: _DUMPED,
    },
    _API.format("SIMD-API/基础API/调试接口/上板打印/DumpTensor"),
    pipe=PipeID.PIPE_S, forms=("scalar",), name="DumpTensor",
)  # fmt: skip
_TRAP = declare(
    _trap_rule, "debug", (), _ALL, _API.format("SIMD-API/基础API/调试接口/异常检测/Trap"),
    pipe=PipeID.PIPE_S, forms=("scalar",), name="Trap",
)  # fmt: skip


def printf(fmt: str, *args: Any) -> None:
    """Print as C does with %d %i %u %x %f %F %s %p (and l, ll), after the block's number."""
    core = current_core()
    used = [m.group(0) for m in _CONVERSION.finditer(fmt)]
    unknown = [u for u in used if u[-1] not in _PRINTED]
    wanted = sum(u != "%%" for u in used)
    if unknown or wanted != len(args):
        raise ArgumentError(
            f"{unknown[0]} is no conversion of the device's printf"
            if unknown
            else f"the format needs {wanted} values and got {len(args)}",
            api="printf",
            argument="fmt",
            got=repr(fmt),
            legal="%d %i %u %x %f %F %s %p with optional l or ll, one value each",
            source=_PRINTF.source,
        )
    python_fmt = _CONVERSION.sub(_python_conversion, fmt)
    text = python_fmt % tuple(int(a) if _is_int(a) else a for a in args)
    core.issue(state_plan(core, _PRINTF), (text,), sys._getframe(1))
    _print(core, f"[AIV Block {core.block_idx}/{core.blocks.count}] {text}")


def _python_conversion(match: re.Match[str]) -> str:
    flags, kind = match.group(0)[:-1].rstrip("l"), match.group(0)[-1]
    if kind == "p":
        return f"{flags.replace('#', '').replace('%', '%#')}x"
    return flags + ("d" if kind == "u" else kind)


def _is_int(value: Any) -> bool:
    return isinstance(value, int | np.integer) or hasattr(value, "allocation")


def _print(core: AICore, text: str) -> None:
    if len(text.encode()) <= LIMIT:
        core.output.append(text)
        sys.stdout.write(text)


def DumpTensor(tensor: Any, desc: int, dumpSize: int, shapeInfo: Any = None) -> None:
    """Print header (desc, addr, data_type, position, dump_size) and ``dumpSize`` values.

    ``shapeInfo`` arranges the values; places without a value show ``-``.
    """
    core = current_core()
    if not isinstance(tensor, LocalTensor | GlobalTensor):
        raise ArgumentError(
            "needs a tensor",
            api="DumpTensor",
            argument="tensor",
            got=type(tensor).__name__,
            legal="LocalTensor or GlobalTensor",
            source=_DUMP.source,
        )
    check_range("DumpTensor", "desc", desc, 0, 2**32 - 1, _DUMP.source)
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
    params: tuple[Any, ...] = ()
    if isinstance(tensor, LocalTensor):
        address, space, start = tensor.addr, "UB", tensor.addr
        raw = core.local.ub[start : start + nbytes]
    else:
        ptr = tensor._pointer()
        address, space, start = ptr.address, "GM", 0
        raw = ptr.allocation.data[ptr.offset : ptr.offset + nbytes]
        params = (ptr,)
    key = ("DumpTensor", space, start, nbytes, tensor.dtype.code)
    plan = core.plans.get(key)
    if plan is None:
        operand = Operand("tensor", READ, space, tensor.dtype, (Access(start, nbytes),))
        plan = core.plans[key] = Plan(_DUMP, "scalar", [operand])
    core.issue(plan, params, sys._getframe(1))
    values = _numbers(raw.tobytes(), tensor.dtype)
    shape = as_shape(shapeInfo) if shapeInfo is not None else None
    _print(core, format_dump(desc, address, tensor.dtype, space, values, shape))


def _numbers(raw: bytes, dtype: DType) -> list[str]:
    stored = np.frombuffer(raw, dtype.numpy)
    if dtype is hifloat8_t:
        return [f"{v:f}" for v in hif8_values()[stored]]
    if dtype.is_float:
        return [f"{float(v):f}" for v in stored]
    return [str(int(v)) for v in stored]


def format_dump(
    desc: int,
    address: int,
    dtype: DType,
    position: str,
    values: list[str],
    shape: ShapeInfo | None = None,
) -> str:
    """Return the text of a DumpTensor: a header line and the values in brackets."""
    kind = _DATA_TYPES.get(dtype.name, dtype.name.removesuffix("_t"))
    lines = [
        f"DumpTensor: desc={desc}, addr={address:#x}, data_type={kind}, position={position}, "
        f"dump_size={len(values)}"
    ]
    if shape is None or not shape.shape:
        return f"{lines[0]}\n[{', '.join(values)}]\n"
    wanted = prod(shape.shape)
    if wanted != len(values):
        remark = (
            "dumpSize is greater than shapeSize" if wanted < len(values) else "data is not enough"
        )
        listed = ", ".join(map(str, shape.shape))
        lines.append(f"shape is [{listed}], dumpSize is {len(values)}, {remark}.")
    padded = iter(values + ["-"] * (wanted - len(values)))
    lines.append(_nested(padded, shape.shape))
    return "\n".join(lines) + "\n"


def _nested(values: Iterator[str], shape: tuple[int, ...]) -> str:
    if len(shape) == 1:
        parts: Iterable[str] = islice(values, shape[0])
        return f"[{','.join(parts)}]"
    return "[" + ",\n".join(_nested(values, shape[1:]) for _ in range(shape[0])) + "]"


def Trap() -> None:
    """Stop the kernel.

    Raises
    ------
    SimulatorError
    """
    core = current_core()
    core.issue(state_plan(core, _TRAP), (), sys._getframe(1))
    raise SimulatorError(
        "the kernel called Trap", code="kernel.trap", api="Trap", source=_TRAP.source
    )


publish(printf, _PRINTF)
publish(DumpTensor, _DUMP)
publish(Trap, _TRAP)
