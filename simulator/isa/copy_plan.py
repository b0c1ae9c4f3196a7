"""Copies between global memory and the unified buffer: geometry in bytes, checks, execution.

A copy is a number of bursts with a step between their starts on each side, inside up to two outer
loops. The calls in ``data_copy``, ``data_copy_pad`` and their neighbours turn their arguments into
a :class:`Geometry`; everything behind that is here.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.enums import PipeID
from simulator.errors import ArgumentError, DTypeError, OutOfBoundsError
from simulator.instruction import READ, WRITE, Access, CopyWork, Operand, Plan
from simulator.isa.atomic import combiner
from simulator.isa.lanes import BLOCK, check_tensor
from simulator.memory import POISON
from simulator.tensor import GlobalTensor, LocalTensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from simulator.core import AICore
    from simulator.instruction import InstructionSpec
    from simulator.memory import GlobalAddress

    Bytes = NDArray[np.uint8]

GM_TO_UB: Final = "GM->UB"
UB_TO_GM: Final = "UB->GM"
UB_TO_UB: Final = "UB->UB"

FIRST_ELEMENT: Final = "first element"
PADDING_VALUE: Final = "padding value"
PAD_REGISTER: Final = "pad register"
UNDEFINED: Final = "undefined"

_POISON: Final = np.uint16(POISON).tobytes()


class Geometry(NamedTuple):
    """A copy in bytes.

    Attributes
    ----------
    rows, nbytes : int
        Bursts and the bytes that each moves.
    gm_step, ub_step : int
        From the start of a burst to the start of the next.
    loops : tuple of (size, GM stride, UB stride)
        Loops around the bursts, outermost first.
    """

    rows: int
    nbytes: int
    gm_step: int
    ub_step: int
    loops: tuple[tuple[int, int, int], ...] = ()

    @property
    def bursts(self) -> int:
        """Bursts in all loops."""
        return self.rows * prod(size for size, _, _ in self.loops)


NOTHING: Final = Geometry(0, 0, 0, 0)


class Fill(NamedTuple):
    """Bytes that a copy writes to UB besides its data.

    ``left`` stand in front of each burst and ``right`` behind it, or ``right`` behind all bursts of
    a ``compact`` copy. ``value`` is repeated over them; None repeats the first ``unit`` bytes of
    the burst. ``kind`` says what they hold: FIRST_ELEMENT, PADDING_VALUE, PAD_REGISTER, UNDEFINED.
    """

    left: int = 0
    right: int = 0
    kind: str = ""
    value: bytes | None = None
    unit: int = 1
    compact: bool = False


class Filler(NamedTuple):
    """Filler bytes of a plan, for whoever checks what reads them: kind and UB bytes."""

    kind: str
    access: Access


NO_FILL: Final = Fill()


def sides(api: str, dst: Any, src: Any) -> tuple[AICore, str]:
    """Return the core and the direction of a copy.

    Raises
    ------
    ArgumentError
        If the operands are not a GlobalTensor and a LocalTensor, or two LocalTensors.
    """
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


def alignment(ptr: GlobalAddress) -> int:
    """Return 512, 32 or 1: what a GM address is a multiple of, as far as copies care."""
    at = ptr.allocation.address + ptr.offset
    return 512 if at % 512 == 0 else 32 if at % 32 == 0 else 1


def issue(core: AICore, plan: Plan, remote: GlobalTensor, ptr: GlobalAddress, frame: Any) -> None:
    """Check the GM side of a prepared copy against its memory and issue it.

    Raises
    ------
    OutOfBoundsError
        If it leaves what the tensor was given.
    """
    reach: int = plan.details["reach"]
    declared = ptr.offset + (remote.length * remote.dtype.bits >> 3)
    end = declared if declared < ptr.end else ptr.end
    if reach and (ptr.offset < 0 or ptr.offset + reach > end):
        raise _out_of_bounds(plan, remote, ptr, reach, end)
    if plan.pipe == PipeID.PIPE_MTE3:
        core.keep_initial(ptr.allocation)
    if remote.bypass_l2:
        plan = _around_l2(core, plan)
    core.issue(plan, (ptr,), frame)


def _around_l2(core: AICore, plan: Plan) -> Plan:
    """Return ``plan`` as a copy that bypasses L2 (SetL2CacheHint): same bytes, another time."""
    key = ("around L2", plan)
    found = core.plans.get(key)
    if found is None:
        found = core.plans[key] = Plan(
            plan.spec, plan.form, plan.operands, plan.run, pipe=PipeID(plan.pipe), work=plan.work,
            details={**plan.details, "l2": "bypass"},
        )  # fmt: skip
    return found


def _out_of_bounds(
    plan: Plan, remote: GlobalTensor, ptr: GlobalAddress, reach: int, end: int
) -> OutOfBoundsError:
    size = max(1, remote.dtype.itemsize)
    name = ptr.allocation.name or "global memory"
    wanted = ptr.offset + reach
    reading = plan.pipe == PipeID.PIPE_MTE2
    # Boxes and column blocks have no rows with a gap between them.
    count, nbytes = plan.details.get("blockCount", 1), plan.details.get("blockBytes", 0)
    gap = plan.details.get("gmStep", nbytes) - nbytes
    # The copy would fit if the gap between rows were the distance of their starts.
    is_pitch = count > 1 and gap >= nbytes and ptr.offset + (count - 1) * gap + nbytes <= end
    return OutOfBoundsError(
        f"{'reads' if reading else 'writes'} {max(wanted - end, 0) or -ptr.offset} bytes "
        f"outside {name}",
        code="memory.gm_bounds",
        api=plan.spec.name,
        got=f"bytes {ptr.offset}..{wanted} (elements {ptr.offset // size}..{-(-wanted // size)} of "
        f"{remote.dtype})",
        legal=f"bytes 0..{end} ({end // size} elements)",
        fix=f"the gap of {gap} bytes looks like the pitch of the rows: it counts from the end of a "
        f"row to the start of the next one, {gap - nbytes} bytes"
        if is_pitch
        else "check the block's offset and the length of its last tile",
        pipe=PipeID(plan.pipe).label,
        pitch_as_gap=is_pitch or None,
    )


def require_equal_types(spec: InstructionSpec, dst: Any, src: Any) -> None:
    """Refuse operands of different element types.

    Raises
    ------
    DTypeError
    """
    if dst.dtype is not src.dtype:
        raise DTypeError(
            "dst and src must have the same element type",
            api=spec.name,
            got=f"dst {dst.dtype}, src {src.dtype}",
            legal="equal types",
            fix=f"tensor.ReinterpretCast({dst.dtype})",
            source=spec.source,
        )


def plan_gm(
    core: AICore,
    spec: InstructionSpec,
    direction: str,
    local: LocalTensor,
    remote: GlobalTensor,
    shape: Geometry,
    fill: Fill = NO_FILL,
    **details: Any,
) -> Plan:
    """Check the UB side of a copy and bind it to memory.

    Raises
    ------
    ArgumentError, DTypeError, AlignmentError, OutOfBoundsError
    """
    inward = direction == GM_TO_UB
    dst, src = (local, remote) if inward else (remote, local)
    require_equal_types(spec, dst, src)
    spec.require(core.arch, local.dtype, "count")
    held = shape.nbytes if fill.compact else fill.left + shape.nbytes + fill.right
    ub = _access(local.addr, held, shape.rows, shape.ub_step, [(n, u) for n, _, u in shape.loops])
    gm = _access(0, shape.nbytes, shape.rows, shape.gm_step, [(n, g) for n, g, _ in shape.loops])
    fillers = _fillers(local.addr, shape, fill)
    nothing = shape.bursts == 0
    ends = [a.span()[1] for a in (ub, *(f.access for f in fillers))]
    used = 0 if nothing else max(ends) - local.addr
    check_tensor(spec.name, "dst" if inward else "src", local, used, spec.source)
    written = () if nothing else (ub, *(f.access for f in fillers if fill.compact))
    here = Operand(
        "dst" if inward else "src", WRITE if inward else READ, "UB", local.dtype, written
    )
    there = Operand(
        "src" if inward else "dst",
        READ if inward else WRITE,
        "GM",
        remote.dtype,
        () if nothing else (gm,),
    )
    run: Any = None
    if not nothing:
        memory = core.local.ub[local.addr : local.addr + used]
        run = (
            _reader(memory, shape, fill)
            if inward
            else _writer(memory, shape, combiner(core, spec, local.dtype))
        )
    return Plan(
        spec,
        "bursts" if shape.bursts != 1 else "one burst",
        (here, there) if inward else (there, here),
        run,
        pipe=PipeID.PIPE_MTE2 if inward else PipeID.PIPE_MTE3,
        work=CopyWork(
            direction,
            shape.bursts * shape.nbytes,
            shape.bursts,
            shape.nbytes,
            alignment(remote._pointer()),
        ),
        details={
            "direction": direction,
            "blockCount": shape.rows,
            "blockBytes": shape.nbytes,
            "gmStep": shape.gm_step,
            "ubStep": shape.ub_step,
            "reach": 0 if nothing else gm.span()[1],
            **({"loops": shape.loops} if shape.loops else {}),
            **({"filler": fillers} if fillers and not nothing else {}),
            **details,
        },
    )


def _access(start: int, inner: int, count: int, step: int, loops: list[tuple[int, int]]) -> Access:
    return Access(start, inner, (*loops, (count, step)))


def _fillers(addr: int, shape: Geometry, fill: Fill) -> tuple[Filler, ...]:
    loops = [(n, u) for n, _, u in shape.loops]
    if fill.compact:
        end = addr + shape.rows * shape.nbytes
        return (Filler(fill.kind, Access(end, fill.right, tuple(loops))),) if fill.right else ()
    parts = ((addr, fill.left), (addr + fill.left + shape.nbytes, fill.right))
    return tuple(
        Filler(fill.kind, _access(start, size, shape.rows, shape.ub_step, loops))
        for start, size in parts
        if size
    )


# -- execution ------------------------------------------------------------------------------------


def view(memory: Bytes, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> Bytes:
    """Return an array over ``memory`` from byte ``offset`` on, with strides in bytes."""
    return np.ndarray(shape, np.uint8, memory, offset, strides)


def _reader(ub: Bytes, shape: Geometry, fill: Fill) -> Callable[..., None]:
    if shape.rows == 1 and not shape.loops:
        body = ub[fill.left : fill.left + shape.nbytes]
        if len(body) == len(ub):
            return partial(_read_plain, body, shape.nbytes)
        rows, inner = body.reshape(1, -1), shape
    else:
        inner = shape
        rows = _ub_rows(ub, fill.left, shape.nbytes, shape)
    return partial(_read_rows, rows, _gm_layout(inner), _fill_views(ub, shape, fill, rows))


def _ub_rows(ub: Bytes, offset: int, inner: int, shape: Geometry) -> Bytes:
    sizes = tuple(n for n, _, _ in shape.loops)
    strides = tuple(u for _, _, u in shape.loops)
    return view(ub, offset, (*sizes, shape.rows, inner), (*strides, shape.ub_step, 1))


def _gm_layout(shape: Geometry) -> tuple[tuple[int, ...], tuple[int, ...]]:
    sizes = tuple(n for n, _, _ in shape.loops)
    strides = tuple(g for _, g, _ in shape.loops)
    return (*sizes, shape.rows, shape.nbytes), (*strides, shape.gm_step, 1)


def _fill_views(ub: Bytes, shape: Geometry, fill: Fill, rows: Bytes) -> list[tuple[Bytes, Bytes]]:
    """Return (target, pattern) pairs; a pattern that is a view of UB holds the first element."""
    if fill.compact:
        loops = [(n, u) for n, _, u in shape.loops]
        sizes = (*(n for n, _ in loops), fill.right)
        strides = (*(u for _, u in loops), 1)
        targets = [view(ub, shape.rows * shape.nbytes, sizes, strides)] if fill.right else []
        first = rows[..., 0, : fill.unit]
    else:
        places = ((0, fill.left), (fill.left + shape.nbytes, fill.right))
        targets = [_ub_rows(ub, at, size, shape) for at, size in places if size]
        first = rows[..., : fill.unit]
    if fill.value is None:
        return [(target, first) for target in targets]
    whole = max((t.shape[-1] for t in targets), default=0)
    pattern = np.frombuffer(fill.value * -(-whole // len(fill.value)), np.uint8)
    return [(target, pattern) for target in targets]


def _read_plain(ub: Bytes, nbytes: int, ptr: GlobalAddress) -> None:
    ub[:] = ptr.allocation.data[ptr.offset : ptr.offset + nbytes]


def _read_rows(
    rows: Bytes,
    layout: tuple[tuple[int, ...], tuple[int, ...]],
    fills: list[tuple[Bytes, Bytes]],
    ptr: GlobalAddress,
) -> None:
    source = view(ptr.allocation.data, ptr.offset, *layout)
    rows[:] = source if source.shape == rows.shape else source.reshape(rows.shape)
    for target, pattern in fills:
        width = target.shape[-1]
        if pattern.ndim == 1:
            target[:] = pattern[:width]
        else:
            target[:] = np.tile(pattern, -(-width // pattern.shape[-1]))[..., :width]


def _writer(ub: Bytes, shape: Geometry, combine: Any) -> Callable[..., None]:
    if combine is None and shape.rows == 1 and not shape.loops:
        return partial(_write_plain, ub[: shape.nbytes], shape.nbytes)
    rows = _ub_rows(ub, 0, shape.nbytes, shape)
    layout = _gm_layout(shape)
    if combine is None and not _rewrites(layout):
        return partial(_write_rows, rows, layout)
    if not _rewrites(layout):
        return partial(_combine_rows, rows, layout, combine)
    flat = [rows[index] for index in np.ndindex(rows.shape[:-1])]
    starts = [
        sum(i * step for i, step in zip(index, layout[1], strict=False))
        for index in np.ndindex(rows.shape[:-1])
    ]
    return partial(_write_in_order, flat, starts, combine or np.copyto)


def _rewrites(layout: tuple[tuple[int, ...], tuple[int, ...]]) -> bool:
    """Whether bursts may touch the same GM bytes, so that their order matters."""
    extent = layout[0][-1]
    for size, stride in sorted(
        zip(layout[0][:-1], layout[1][:-1], strict=True), key=lambda d: d[1]
    ):
        if size > 1 and stride < extent:
            return True
        extent += (size - 1) * stride
    return False


def _write_plain(ub: Bytes, nbytes: int, ptr: GlobalAddress) -> None:
    ptr.allocation.data[ptr.offset : ptr.offset + nbytes] = ub


def _write_rows(
    rows: Bytes, layout: tuple[tuple[int, ...], tuple[int, ...]], ptr: GlobalAddress
) -> None:
    view(ptr.allocation.data, ptr.offset, *layout)[:] = rows


def _combine_rows(
    rows: Bytes,
    layout: tuple[tuple[int, ...], tuple[int, ...]],
    combine: Callable[[Bytes, Bytes], None],
    ptr: GlobalAddress,
) -> None:
    combine(view(ptr.allocation.data, ptr.offset, *layout), rows)


def _write_in_order(
    rows: list[Bytes],
    starts: list[int],
    combine: Callable[[Bytes, Bytes], None],
    ptr: GlobalAddress,
) -> None:
    data = ptr.allocation.data
    for row, start in zip(rows, starts, strict=True):
        combine(data[ptr.offset + start : ptr.offset + start + len(row)], row)


def undefined_bytes() -> bytes:
    """Return what stands for bytes of unspecified value: the poison pattern."""
    return _POISON


def whole_blocks(nbytes: int) -> int:
    """Return ``nbytes`` rounded up to 32."""
    return -(-nbytes // BLOCK) * BLOCK
