"""SetDeqScale and CastDequant (CastDeq): integers scaled down to half or to 8 bits.

Sources: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算 (类型转换辅助配置接口/
SetDeqScale.md, 复合计算/CastDequant.md) and impl/basic_api (dav_c220 and dav_3510,
kernel_operator_vec_vconv_impl.h).
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.core import FULL_MASK, AICore, current_core
from simulator.dtypes import float32, half, int8_t, int16_t, int32_t, uint64_t
from simulator.enums import Arch, PipeID, RoundMode
from simulator.errors import ArgumentError, OutOfBoundsError
from simulator.instruction import READ, WRITE, Access, Operand, Plan, VectorWork
from simulator.isa.checks import (
    check_count,
    check_scalar,
    fail_unless_tensor,
    require_local,
    spec_for,
)
from simulator.isa.conversion import counted_cast, masked_cast
from simulator.isa.declarations import declare, publish
from simulator.isa.lanes import BLOCK, Active, check_tensor
from simulator.isa.masks import resolve_mask
from simulator.isa.params import UnaryRepeatParams, check_range
from simulator.isa.plans import lanes_of
from simulator.numerics import dequantizer
from simulator.tensor import LocalTensor, scalar_access

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

    from numpy.typing import NDArray

    from simulator.instruction import InstructionSpec

_PAGE: Final = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/{}.md"

SETS: Final = 16
"""Parameter sets of the vector mode: one for each 16-bit lane of a 32-byte block."""

LANES: Final = 128
_OFFSET_BIT: Final = 37
_SIGN_BIT: Final = 46


class VdeqInfo(NamedTuple):
    """Sixteen scales (float), offsets (9 signed bits) and sign modes of vector dequantisation."""

    vdeqScale: Sequence[float]
    vdeqOffset: Sequence[int]
    vdeqSignMode: Sequence[bool]


class DeqScale(NamedTuple):
    """What SetDeqScale wrote: ``form`` is ``half``, ``tensor`` (one set) or ``vector`` (a table).

    ``half_bits`` is the scale that int32_t to half reads; ``word`` holds the set of the tensor
    form, ``address`` and ``signs`` describe the table of the vector form.
    """

    form: str
    half_bits: int
    word: int = 0
    address: int = 0
    signs: tuple[bool, ...] = ()

    @property
    def half_scale(self) -> float:
        """Scale of int32_t to half."""
        return float(np.array(self.half_bits, np.uint16).view(np.float16))


def half_scale(core: AICore) -> float:
    """Return the scale of int32_t to half; 1 before the first SetDeqScale."""
    return 1.0 if core.deq_scale is None else float(core.deq_scale.half_scale)


# -- SetDeqScale -------------------------------------------------------------------------------


def _set_rule() -> None:
    """Write the DEQSCALE register: one scale, one (scale, offset, signMode), or a table in UB."""


_NO_TENSOR: dict[Arch, str] = {Arch.DAV_2201: "", Arch.DAV_3510: ""}
_SET = declare(
    _set_rule,
    "register",
    (),
    _NO_TENSOR,
    _PAGE.format("类型转换辅助配置接口/SetDeqScale"),
    pipe=PipeID.PIPE_S,
    forms=("half", "tensor", "vector"),
    name="SetDeqScale",
)


def SetDeqScale(scale: Any, offset: Any = None, signMode: Any = None) -> None:
    """Set the parameters of Cast from int32_t to half, AddDeqRelu and CastDequant.

    ``SetDeqScale(scale)``: a half scale, for int32_t to half. ``SetDeqScale(scale, offset,
    signMode)``: a float scale, an offset of 9 signed bits and whether the result is signed.
    ``SetDeqScale(vdeq, vdeqInfo)``: 16 such sets, stored by the scalar unit in the uint64_t tensor
    ``vdeq`` of at least 128 bytes, which CastDequant reads.
    """
    frame = sys._getframe(1)
    if isinstance(scale, LocalTensor):
        core = scale._core
        state = _write_table(core, scale, offset, frame)
        details = {"form": "vector", "address": state.address}
    elif offset is None and signMode is None:
        core = current_core()
        bits = int(
            check_scalar(spec_for("SetDeqScale", core), half, scale, "scale").view(np.uint16)
        )
        state = DeqScale("half", bits)
        details = {"form": "half", "scale": state.half_scale}
    else:
        core = current_core()
        word = _config(spec_for("SetDeqScale", core), scale, offset, signMode)
        state = DeqScale("tensor", _kept_half(core, word), word)
        details = {"form": "tensor", "scale": float(scale), "offset": int(offset)}
    core.deq_scale = state
    core.issue(Plan(_SET, str(details["form"]), details=details), (), frame)


def _kept_half(core: AICore, word: int) -> int:
    """Half scale after another form: 950 keeps it elsewhere, 910B has one register for all."""
    if core.arch is Arch.DAV_3510:
        return 0x3C00 if core.deq_scale is None else int(core.deq_scale.half_bits)
    return word & 0xFFFF


def _config(spec: InstructionSpec, scale: Any, offset: Any, sign_mode: Any) -> int:
    number = check_scalar(spec, float32, scale, "scale")
    check_range(spec.name, "offset", offset, -256, 255, spec.source)
    if not isinstance(sign_mode, bool | np.bool_ | int):
        raise ArgumentError(
            "signMode says whether the result is signed",
            api=spec.name,
            argument="signMode",
            got=repr(sign_mode),
            legal="True (int8_t) or False (uint8_t)",
            source=spec.source,
        )
    bits = int(number.view(np.uint32))
    return bits | (int(offset) & 0x1FF) << _OFFSET_BIT | bool(sign_mode) << _SIGN_BIT


def _write_table(core: AICore, vdeq: LocalTensor, info: Any, frame: FrameType) -> DeqScale:
    spec = spec_for("SetDeqScale", core)
    if vdeq.dtype is not uint64_t:
        raise ArgumentError(
            "vdeq holds 64-bit words",
            api=spec.name,
            argument="vdeq",
            got=vdeq.dtype.name,
            legal="uint64_t",
            source=spec.source,
        )
    check_tensor(spec.name, "vdeq", vdeq, SETS * 8, spec.source)
    if not isinstance(info, VdeqInfo) or any(len(column) != SETS for column in info):
        raise ArgumentError(
            "vdeqInfo holds 16 scales, offsets and sign modes",
            api=spec.name,
            argument="vdeqInfo",
            got=repr(info),
            legal="VdeqInfo with three sequences of 16",
            source=spec.source,
        )
    for index, (scale, offset, sign) in enumerate(zip(*info, strict=True)):
        scalar_access.write_local(vdeq, index, _config(spec, scale, offset, sign), frame)
    address = vdeq.addr >> 5
    signs = tuple(bool(sign) for sign in info.vdeqSignMode)
    return DeqScale("vector", _kept_half(core, address), 0, vdeq.addr, signs)


# -- CastDequant -------------------------------------------------------------------------------


def _dequant_rule(out: Any, source: Any) -> None:
    """``dst[i] = clamp(src[i] * scale + offset)`` with the parameters of SetDeqScale.

    From int16_t to 8 bits each 32-byte block of ``src`` gives 16 bytes in the upper
    (``halfBlock=True``) or lower half of a 32-byte block of ``dst``; with ``isVecDeq`` lane ``j``
    of a block uses set ``j``. From int32_t to half it is Cast.
    """


_DTYPES = "int8_t:int16_t uint8_t:int16_t half:int32_t"
_DEQUANT = declare(
    _dequant_rule,
    "cast",
    (("dst", WRITE), ("src", READ)),
    {Arch.DAV_2201: _DTYPES, Arch.DAV_3510: _DTYPES},
    _PAGE.format("复合计算/CastDequant"),
    name="CastDequant",
)


def CastDequant(
    dst: Any,
    src: Any,
    count: Any = None,
    repeatTime: Any = None,
    repeatParams: Any = None,
    isSetMask: bool = True,
    *,
    mask: Any = None,
    isVecDeq: bool = True,
    halfBlock: bool = True,
) -> None:
    """``(dst, src, count)`` or ``(dst, src, mask, repeatTime, repeatParams)``."""
    try:
        core = dst._core
        key: Any = (
            "CastDequant", dst._key, src._key, count, core.numeric_mode, core.deq_scale,
            isVecDeq, halfBlock,
        )  # fmt: skip
    except AttributeError as error:
        raise fail_unless_tensor(error, "CastDequant", dst, src) from None
    options = (bool(isVecDeq), bool(halfBlock))
    if repeatTime is None:
        plan = core.plans.get(key)
        if plan is None:
            plan = core.plans[key] = _plan_count(core, dst, src, count, options)
        if core.count_resets_mask:
            core.mask = FULL_MASK
            core.counter_mode = False
    else:
        spec = _checked_spec(core, dst, src)
        chosen = mask if count is None else count
        lanes = LANES if src.dtype is int16_t else lanes_of((dst, src))
        active = resolve_mask(core, spec, chosen, repeatTime, isSetMask, lanes)
        params = UnaryRepeatParams() if repeatParams is None else repeatParams
        key = ("CastDequant", active, params, *key[1:3], *key[4:])
        plan = core.plans.get(key)
        if plan is None:
            plan = core.plans[key] = _plan_mask(core, dst, src, active, params, options)
    core.issue(plan, (), sys._getframe(1))


publish(CastDequant, _DEQUANT)
publish(SetDeqScale, _SET)

CastDeq = CastDequant
"""The former name of CastDequant."""


def _checked_spec(core: AICore, dst: Any, src: Any) -> InstructionSpec:
    spec = spec_for("CastDequant", core)
    for name, tensor in (("dst", dst), ("src", src)):
        require_local(spec.name, name, tensor)
    spec.require(core.arch, (dst.dtype, src.dtype), "count")
    return spec


def _plan_count(core: AICore, dst: Any, src: Any, count: Any, options: tuple[bool, bool]) -> Plan:
    spec = _checked_spec(core, dst, src)
    if src.dtype is int32_t:
        return counted_cast(core, spec, dst, src, RoundMode.CAST_RINT, count)
    number = check_count(spec, count)
    full, rest = divmod(number, LANES)
    segments = [(0, full, LANES)] if full else []
    if rest:
        segments.append((full, 1, rest))
    active = Active(tuple(segments))
    return _to_bytes(core, spec, dst, src, active, UnaryRepeatParams(), options, number)


def _plan_mask(
    core: AICore, dst: Any, src: Any, active: Active, params: Any, options: tuple[bool, bool]
) -> Plan:
    spec = spec_for("CastDequant", core)
    if src.dtype is int32_t:
        return masked_cast(core, spec, dst, src, RoundMode.CAST_RINT, active, params)
    if not isinstance(params, UnaryRepeatParams):
        raise ArgumentError(
            "repeatParams is of the wrong kind",
            api=spec.name,
            argument="repeatParams",
            got=f"{params!r}",
            legal="UnaryRepeatParams",
        )
    params.check(spec.name)
    return _to_bytes(core, spec, dst, src, active, params, options, None)


class _Layout(NamedTuple):
    """Addresses of the active lanes, shape (repeats, lanes), and the lane of each in its block."""

    dst: NDArray[np.int64]
    src: NDArray[np.int64]
    lane: NDArray[np.int64]


def _layout(
    dst: LocalTensor, src: LocalTensor, active: Active, params: UnaryRepeatParams, upper: bool
) -> list[_Layout]:
    layouts = []
    for first, count, width in active.segments:
        lanes = np.arange(width) if active.lanes is None else np.array(active.lanes)
        repeats = np.arange(first, first + count)[:, None]
        block, inside = np.divmod(lanes, BLOCK // 2)
        to = BLOCK * (repeats * params.dstRepStride + block * params.dstBlkStride) + inside
        at = BLOCK * (repeats * params.srcRepStride + block * params.srcBlkStride) + 2 * inside
        layouts.append(_Layout(dst.addr + BLOCK // 2 * upper + to, src.addr + at, inside))
    return layouts


def _to_bytes(
    core: AICore,
    spec: InstructionSpec,
    dst: LocalTensor,
    src: LocalTensor,
    active: Active,
    params: UnaryRepeatParams,
    options: tuple[bool, bool],
    count: int | None,
) -> Plan:
    """Bind int16_t to 8 bits; ``count`` is None for a mask form."""
    vector, upper = options
    state = _required(core, spec, dst, vector)
    layouts = _layout(dst, src, active, params, upper)
    # The count form of the 950 stores whole repeats, with zeros where there is no result.
    whole = core.arch is Arch.DAV_3510 and count is not None
    reach = -(-count // LANES) * 256 if whole and count is not None else 0
    # A count form promises room for ``count`` elements only; the results may reach further.
    for name, tensor, at in (("dst", dst, "dst"), ("src", src, "src")):
        ends = [int(getattr(a, at).max()) + tensor.dtype.itemsize for a in layouts]
        nbytes = max([*ends, tensor.addr]) - tensor.addr
        if count is not None:
            nbytes = count * tensor.dtype.itemsize
        check_tensor(spec.name, name, tensor, nbytes, spec.source)
    _check_end(core, spec, dst, max([reach, *(int(a.dst.max()) + 1 - dst.addr for a in layouts)]))
    operands = [
        _operand("dst", WRITE, dst, [a.dst for a in layouts], 1)
        if not whole
        else Operand("dst", WRITE, "UB", dst.dtype, (Access(dst.addr, reach),)),
        _operand("src", READ, src, [a.src for a in layouts], 2),
    ]
    if vector:
        table = Operand("vdeq", READ, "UB", uint64_t, (Access(state.address, 8 * SETS),))
        operands.append(table)
        words = core.local.typed(np.dtype(np.uint64))[state.address // 8 :][:SETS]
    else:
        words = np.array([state.word] * SETS, np.uint64)
    blank = core.local.ub[dst.addr : dst.addr + reach]
    out = core.local.typed(dst.dtype.numpy)
    source = core.local.typed(src.dtype.numpy)
    in_order = (dst.addr, *params[::2]) != (src.addr, *params[1::2])
    steps = [a for layout in layouts for a in (_single_repeats(layout) if in_order else [layout])]
    run = partial(_run, dst.dtype, words, out, source, blank, steps) if active.elements else None
    form = "count" if count is not None else "mask" if active.lanes is None else "bit mask"
    lanes = active.elements
    partial_repeat = count is not None and count % LANES > 0
    return Plan(
        spec,
        form,
        operands,
        run,
        work=VectorWork(
            f"{src.dtype.name}:{dst.dtype.name}",
            active.repeats,
            lanes,
            count is not None and core.count_resets_mask,
            partial_repeat,
        ),
        details={"isVecDeq": vector, "halfBlock": upper, "elements": lanes, **params._asdict()},
    )


def _check_end(core: AICore, spec: InstructionSpec, dst: LocalTensor, nbytes: int) -> None:
    end = len(core.local.ub)
    if dst.addr + nbytes > end:
        raise OutOfBoundsError(
            "the results reach past the unified buffer",
            api=spec.name,
            argument="dst",
            got=f"UB bytes {dst.addr}..{dst.addr + nbytes}",
            legal=f"0..{end}",
            source=spec.source,
        )


def _single_repeats(layout: _Layout) -> list[_Layout]:
    return [
        _Layout(to[None], at[None], layout.lane)
        for to, at in zip(layout.dst, layout.src, strict=True)
    ]


def _run(
    dtype: Any,
    words: NDArray[np.uint64],
    out: NDArray[Any],
    source: NDArray[Any],
    blank: NDArray[np.uint8],
    steps: Sequence[_Layout],
) -> None:
    scale = (words & np.uint64(0xFFFF_FFFF)).astype(np.uint32).view(np.float32)
    offset = (words >> np.uint64(_OFFSET_BIT)).astype(np.int64) & 0x1FF
    offset -= (offset & 0x100) << 1
    results = []
    for layout in steps:
        values = np.empty(layout.dst.shape, dtype.numpy)
        convert = dequantizer(dtype, scale[layout.lane], offset[layout.lane])
        convert(source[layout.src >> 1], values)
        if blank.size:
            results.append((layout.dst, values))
        else:
            out[layout.dst] = values
    if blank.size:
        blank[:] = 0
        for at, values in results:
            out[at] = values


def _operand(
    name: str, role: str, tensor: LocalTensor, at: Sequence[NDArray[np.int64]], size: int
) -> Operand:
    accesses: list[Access] = []
    for addresses in at:
        for row in addresses:
            # Runs of neighbouring lanes, so that a dense repeat has one entry a block.
            cuts = np.flatnonzero(np.diff(row) != size) + 1
            accesses.extend(Access(int(r[0]), len(r) * size) for r in np.split(row, cuts) if len(r))
    return Operand(name, role, "UB", tensor.dtype, tuple(accesses))


def _required(core: AICore, spec: InstructionSpec, dst: LocalTensor, vector: bool) -> DeqScale:
    """Return the register if it holds parameters of the kind that the call needs.

    Raises
    ------
    ArgumentError
    """
    state: DeqScale | None = core.deq_scale
    wanted = "vector" if vector else "tensor"
    if state is None or state.form != wanted:
        raise ArgumentError(
            "DEQSCALE does not hold the parameters of this form",
            api=spec.name,
            argument="isVecDeq",
            got=f"isVecDeq={vector} after "
            + ("no SetDeqScale" if state is None else f"the {state.form} form of SetDeqScale"),
            legal="SetDeqScale(vdeq, vdeqInfo)"
            if vector
            else "SetDeqScale(scale, offset, signMode)",
            source=spec.source,
        )
    signed = dst.dtype is int8_t
    signs = state.signs if vector else (bool(state.word >> _SIGN_BIT & 1),)
    if any(sign != signed for sign in signs):
        raise ArgumentError(
            "signMode and the element type of dst disagree",
            api=spec.name,
            argument="dst",
            got=f"{dst.dtype} with signMode {not signed}",
            legal="int8_t with signMode True, uint8_t with signMode False",
            source=spec.source,
        )
    return state
