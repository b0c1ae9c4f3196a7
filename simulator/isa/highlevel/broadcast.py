"""Broadcast: repeat a tensor along axes of length 1.

On 910B (one or two axes) the library issues basic calls, see ``broadcast_steps``. On 950 it is one
vector function for one to nine axes. ``BroadCast`` is another name of it.
Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/高阶API/张量变换/Broadcast.md,
impl/adv_api/detail/pad/broadcast.
"""

from __future__ import annotations

import math
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.dtypes import DType, as_dtype, uint8_t
from simulator.enums import Arch
from simulator.errors import ArgumentError, DTypeError
from simulator.instruction import READ, WRITE, Plan, VectorWork
from simulator.isa.blocks import UNSIGNED
from simulator.isa.checks import require_local, spec_for
from simulator.isa.composite import recorded_at
from simulator.isa.declarations import declare, publish
from simulator.isa.highlevel.broadcast_steps import broadcast_on_910b
from simulator.isa.highlevel.calls import PAGE, stack_buffer
from simulator.isa.lanes import BLOCK, REPEAT, check_tensor, dense_operand
from simulator.isa.params import check_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.core import AICore
    from simulator.instruction import InstructionSpec
    from simulator.tensor import LocalTensor

_MAX_RANK: Final = 9
_MAX_LENGTH: Final = 65536
"""Longest axis on 950, after axes that behave alike have been joined."""

_TYPES_950 = (
    "int8_t uint8_t bool fp4x2_e2m1_t fp4x2_e1m2_t hifloat8_t fp8_e8m0_t fp8_e5m2_t fp8_e4m3fn_t "
    "int16_t uint16_t half bfloat16_t int32_t uint32_t float complex32 "
    "int64_t uint64_t double complex64"
)

Shape = tuple[int, ...]


class BroadcastTiling:
    """What GetBroadcastTilingInfo finds out; the fields that users can rely on.

    Attributes
    ----------
    oriRank : int
        Number of axes.
    oriDstShape, oriSrcShape : tuple of int
    """

    def __init__(self) -> None:
        self.oriRank = 0
        self.oriDstShape: Shape = ()
        self.oriSrcShape: Shape = ()


def GetBroadcastTilingInfo(
    rank: Any,
    dstShape: Any,
    srcShape: Any,
    srcInnerPad: bool,
    tiling: BroadcastTiling,
    *,
    T: Any = None,
    constRank: int = -1,
) -> None:
    """Fill ``tiling`` for the form of Broadcast on 950 that takes one."""
    check_range("GetBroadcastTilingInfo", "rank", rank, 1, _MAX_RANK)
    if srcInnerPad or constRank not in (-1, rank):
        raise ArgumentError(
            "srcInnerPad must be false, and constRank -1 or the rank",
            api="GetBroadcastTilingInfo",
            argument="srcInnerPad" if srcInnerPad else "constRank",
            got=f"srcInnerPad {srcInnerPad}, constRank {constRank}",
            legal=f"False, and -1 or {rank}",
        )
    tiling.oriRank = int(rank)
    tiling.oriDstShape, tiling.oriSrcShape = (
        tuple(int(n) for n in shape[:rank]) for shape in (dstShape, srcShape)
    )


def _broadcast_rule() -> None:
    """``dst`` = ``src`` repeated along the axes on which ``srcShape`` is 1 and ``dstShape`` is not.

    ``Broadcast(dst, src, dstShape, srcShape[, sharedTmpBuffer])`` with the template arguments
    ``T``, ``dim`` and ``axis`` first or as keywords; those that are left out follow from the
    shapes. 910B: one or two axes; along axis 0 a row must fill whole 32-byte blocks. 950: up to
    nine axes if ``dim`` is left out, also as ``Broadcast(dst, src, dstShape, srcShape, tiling)``;
    equal shapes copy whole blocks: up to 31 bytes behind ``dst`` change.
    """


_BROADCAST = declare(
    _broadcast_rule,
    "high-level",
    (("dst", WRITE), ("src", READ)),
    {Arch.DAV_2201: "int8_t uint8_t half float", Arch.DAV_3510: _TYPES_950},
    PAGE.format("张量变换/Broadcast"),
    forms=("shape",),
    name="Broadcast",
)


class _Template(NamedTuple):
    dtype: DType | None
    dim: int | None
    axis: int | None


def Broadcast(
    dst: Any,
    src: Any,
    dstShape: Any,
    srcShape: Any,
    sharedTmpBuffer: Any = None,
    *rest: Any,
    T: Any = None,
    dim: int | None = None,
    axis: int | None = None,
    isReuseSource: bool = False,
) -> None:
    """Repeat a tensor along axes of length 1."""
    frame = sys._getframe(1)
    if isinstance(dst, DType):
        # Template arguments first: Broadcast(T, dim, axis[, isReuseSource], dst, src, ...).
        T, dim, axis = dst, src, dstShape
        given = (srcShape, sharedTmpBuffer, *rest)
        dst, src, dstShape, srcShape, *more = given[1:] if isinstance(srcShape, bool) else given
        sharedTmpBuffer = more[0] if more else None
    template = _Template(None if T is None else as_dtype(T), dim, axis)
    for name, tensor in (("dst", dst), ("src", src)):
        require_local("Broadcast", name, tensor)
    core = dst._core
    spec = spec_for("Broadcast", core)
    types = dst.dtype if dst.dtype is src.dtype else (dst.dtype, src.dtype)
    if template.dtype not in (None, dst.dtype):
        types = (template.dtype, dst.dtype)
    spec.require(core.arch, types, "shape")
    to, of = (tuple(int(n) for n in shape) for shape in (dstShape, srcShape))
    if isinstance(sharedTmpBuffer, BroadcastTiling):
        to, of = _tiled(spec, sharedTmpBuffer, to, of)
        sharedTmpBuffer = None
    _check_shapes(core, spec, to, of, template)
    _check_tensors(spec, dst, src, (math.prod(to), math.prod(of)))
    if core.arch is Arch.DAV_3510:
        key = ("Broadcast", dst._key, src._key, to, of)
        plan = core.plans.get(key)
        if plan is None:
            _check_950(spec, dst, to, of, template)
            plan = core.plans[key] = _plan(core, spec, dst, src, to, of)
        core.issue(plan, (), frame)
        return
    tmp = stack_buffer(core, spec) if sharedTmpBuffer is None else sharedTmpBuffer
    if require_local("Broadcast", "sharedTmpBuffer", tmp).dtype is not uint8_t:
        raise DTypeError(
            "sharedTmpBuffer is a tensor of bytes",
            api="Broadcast",
            argument="sharedTmpBuffer",
            got=tmp.dtype.name,
            legal="uint8_t",
            source=spec.source,
        )
    with recorded_at(core, frame):
        broadcast_on_910b(spec, dst, src, to, of, tmp, frame)


BroadCast = Broadcast
publish(Broadcast, _BROADCAST)


def _wrong(
    spec: InstructionSpec, problem: str, argument: str, got: object, legal: str
) -> ArgumentError:
    return ArgumentError(
        problem, api="Broadcast", argument=argument, got=str(got), legal=legal, source=spec.source
    )


def _tiled(
    spec: InstructionSpec, tiling: BroadcastTiling, to: Shape, of: Shape
) -> tuple[Shape, Shape]:
    rank = tiling.oriRank
    if (to[:rank], of[:rank]) != (tiling.oriDstShape, tiling.oriSrcShape) or not rank:
        raise _wrong(
            spec,
            "the shapes are not those of the tiling",
            "tiling",
            f"dstShape {to}, srcShape {of}",
            f"dstShape {tiling.oriDstShape}, srcShape {tiling.oriSrcShape}",
        )
    return to[:rank], of[:rank]


def _check_shapes(
    core: AICore, spec: InstructionSpec, to: Shape, of: Shape, template: _Template
) -> None:
    on_950 = core.arch is Arch.DAV_3510
    most = _MAX_RANK if on_950 and template.dim is None else 2
    if len(to) != len(of) or not 1 <= len(to) <= most or template.dim not in (None, len(to)):
        given = "" if template.dim is None else f", dim {template.dim}"
        raise _wrong(
            spec,
            "both shapes have one length",
            "dstShape, srcShape",
            f"{to}, {of}{given}",
            f"two shapes of {template.dim or f'1 to {most}'} numbers",
        )
    if any(s not in (1, d) for d, s in zip(to, of, strict=True)) or 0 in of or 0 in to:
        raise _wrong(
            spec,
            f"{of} does not repeat to {to}",
            "srcShape",
            of,
            "each axis as long as that of dstShape, or 1; no axis of length 0",
        )
    repeated = [k for k, (d, s) in enumerate(zip(to, of, strict=True)) if d != s]
    if on_950 or template.axis is None or len(to) == 1 or math.prod(of) == 1:
        return
    if repeated and repeated != [template.axis]:
        raise _wrong(spec, "axis is the axis that repeats", "axis", template.axis, str(repeated[0]))


def _check_tensors(
    spec: InstructionSpec, dst: LocalTensor, src: LocalTensor, counts: tuple[int, int]
) -> None:
    spans = []
    for name, tensor, count in (("dst", dst, counts[0]), ("src", src, counts[1])):
        nbytes = count * tensor.dtype.itemsize
        check_tensor(spec.name, name, tensor, nbytes, spec.source)
        spans.append((tensor.addr, tensor.addr + nbytes))
    if spans[0][0] < spans[1][1] and spans[1][0] < spans[0][1]:
        raise _wrong(
            spec, "dst and src overlap", "dst, src", f"bytes {spans[0]} and {spans[1]}", "apart"
        )


# -- 950 ---------------------------------------------------------------------------------------


def _check_950(
    spec: InstructionSpec, dst: LocalTensor, to: Shape, of: Shape, template: _Template
) -> None:
    if template.dim is not None and dst.dtype.itemsize > 4:
        raise DTypeError(
            "the form with dim and axis has elements of up to four bytes",
            api="Broadcast",
            argument="T",
            got=dst.dtype.name,
            legal="8-, 16- and 32-bit types; for others leave out dim and axis",
            source=spec.source,
        )
    lengths = to if template.dim is not None else _joined(to, of)
    if max(lengths) > _MAX_LENGTH:
        raise _wrong(
            spec, "an axis is too long", "dstShape", f"{to}, joined {lengths}", f"<= {_MAX_LENGTH}"
        )


def _joined(to: Shape, of: Shape) -> Sequence[int]:
    """Return the axes of ``to`` with neighbours joined that are both repeated or both not."""
    lengths: list[int] = []
    before = None
    for length, source in zip(to, of, strict=True):
        repeats = source != length
        if repeats is before:
            lengths[-1] *= length
        else:
            lengths.append(length)
        before = repeats
    return lengths


def _plan(
    core: AICore, spec: InstructionSpec, dst: LocalTensor, src: LocalTensor, to: Shape, of: Shape
) -> Plan:
    size = dst.dtype.itemsize
    counts = [math.prod(to), math.prod(of)]
    if counts[0] == counts[1]:
        per = BLOCK // size
        counts = [-(-counts[0] // per) * per] * 2
        to = of = (counts[0],)
        for name, tensor in (("dst", dst), ("src", src)):
            check_tensor(spec.name, name, tensor, counts[0] * size, spec.source)
    out, values = (
        core.local.ub[t.addr : t.addr + n * size].view(UNSIGNED[size]).reshape(shape)
        for t, n, shape in ((dst, counts[0], to), (src, counts[1], of))
    )
    return Plan(
        spec,
        "shape",
        [dense_operand("dst", WRITE, dst, counts[0]), dense_operand("src", READ, src, counts[1])],
        partial(np.copyto, out, values),
        work=VectorWork(dst.dtype.name, -(-counts[0] * size // REPEAT), counts[0], False, False),
        details={"dstShape": to, "srcShape": of},
    )
