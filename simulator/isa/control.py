"""The CTRL register and the state it shares with other calls: saturation and atomic copies.

Bits that matter here: 8..6 element type and 10..9 operation of atomic copies, 48 float saturation,
50 NaN of fp8 conversions, 53 integer saturation, 59 truncating conversions to integers, 60 whether
48 and 59 apply at all (950). Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/
特殊寄存器访问 (SetCtrlSpr(ISASI).md, SetSaturationFlag(ISASI).md) and
impl/basic_api/kernel_operator_common_intf_impl.h.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from simulator.core import CTRL_RESET, FULL_MASK, INF_NAN, AICore, current_core
from simulator.dtypes import BY_NAME, DType
from simulator.enums import Arch, OverrideStrategy, PipeID, SaturationMode
from simulator.errors import ArgumentError
from simulator.instruction import Plan
from simulator.isa.families import declare, publish, spec_for
from simulator.isa.params import check_range
from simulator.isa.saturation import KEEP_FP8_NAN, SATURATE_FLOAT, SATURATE_INT, TRUNCATE_CAST

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.instruction import InstructionSpec

_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/特殊寄存器访问/{}.md"

FLOAT_BIT: Final = 48
FP8_BIT: Final = 50
INT_BIT: Final = 53
CAST_BIT: Final = 59
GLOBAL_BIT: Final = 60

CTRL_ATOMIC: Final = 0x1F << 6
_ATOMIC_TYPES: Final = ("", "float", "half", "int16_t", "int32_t", "int8_t", "bfloat16_t", "")
_ATOMIC_OPERATIONS: Final = ("add", "max", "min", "")

_SINGLE_BITS: Final = {
    Arch.DAV_2201: frozenset((FLOAT_BIT,)),
    Arch.DAV_3510: frozenset((45, FLOAT_BIT, FP8_BIT, INT_BIT, CAST_BIT, GLOBAL_BIT)),
}
"""Bits that SetCtrlSpr reaches one at a time."""

_FLAG_BITS: Final = {
    SaturationMode.FLOAT: FLOAT_BIT,
    SaturationMode.FLOAT8: FP8_BIT,
    SaturationMode.INT: INT_BIT,
    SaturationMode.CAST: CAST_BIT,
}
_FLAGS: Final = {
    Arch.DAV_2201: (SaturationMode.FLOAT, SaturationMode.INT, SaturationMode.CAST),
    Arch.DAV_3510: tuple(SaturationMode),
}


def atomic_bits(operation: str, dtype: DType | None) -> int:
    """Return the CTRL bits of an atomic mode, 0 for none."""
    if dtype is None or not operation:
        return 0
    kind = _ATOMIC_TYPES.index(dtype.name)
    return kind << 6 | _ATOMIC_OPERATIONS.index(operation) << 9


def write_ctrl(core: AICore, value: int) -> None:
    """Write CTRL and bring everything that follows from it up to date."""
    core.ctrl = value
    kind, operation = _ATOMIC_TYPES[value >> 6 & 7], _ATOMIC_OPERATIONS[value >> 9 & 3]
    core.atomic = (operation, BY_NAME[kind]) if kind and operation else None
    core.numeric_mode = _numeric_mode(core.arch, value)
    note_copy_state(core)


def note_copy_state(core: AICore) -> None:
    """Sum up the state that copies depend on: part of their plan keys, None in the usual case."""
    core.copy_state = None
    if core.atomic is not None or core.loops:
        core.copy_state = (core.atomic, core.numeric_mode, tuple(sorted(core.loops.items())))


def _numeric_mode(arch: Arch, value: int) -> int:
    """Return the switches of ``simulator.isa.saturation`` for a CTRL value."""
    applies = arch is not Arch.DAV_3510 or value >> GLOBAL_BIT & 1
    mode = 0
    if applies and not value >> FLOAT_BIT & 1:
        mode |= SATURATE_FLOAT
    if applies and value >> CAST_BIT & 1:
        mode |= TRUNCATE_CAST
    if value >> INT_BIT & 1:
        mode |= SATURATE_INT
    if value >> FP8_BIT & 1:
        mode |= KEEP_FP8_NAN
    return mode


def init_soc_state(core: AICore) -> None:
    """Bring masks, atomic mode and, on 950, CTRL, DEQSCALE and loop mode to their defaults.

    CTRL[48] stays, and 910B leaves the rest of CTRL and DEQSCALE alone. Source:
    mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/工具接口/系统初始化/InitSocState.md.
    """
    core.mask = FULL_MASK
    core.counter_mode = False
    if core.arch is Arch.DAV_3510:
        core.loops.clear()
        core.deq_scale = None
        write_ctrl(core, CTRL_RESET | core.ctrl & INF_NAN)
    else:
        write_ctrl(core, core.ctrl & ~CTRL_ATOMIC)


# -- declarations ----------------------------------------------------------------------------------


def _set_ctrl_rule() -> None:
    """Write ``value`` to bits startBit..endBit of CTRL."""


def _get_ctrl_rule() -> None:
    """Return bits startBit..endBit of CTRL."""


def _reset_ctrl_rule() -> None:
    """Bring bits startBit..endBit of CTRL to their defaults."""


def _set_flag_rule() -> None:
    """Switch saturation of float results, fp8 conversions, integer results or conversions."""


def _get_flag_rule() -> None:
    """Return whether a saturation is on."""


def _set_strategy_rule() -> None:
    """Let calls or CTRL decide about saturation (CTRL[60])."""


def _get_strategy_rule() -> None:
    """Return who decides about saturation."""


def _init_rule() -> None:
    """Bring masks, atomic mode and, on 950, CTRL, DEQSCALE and loop mode to their defaults."""


_BOTH: Final = (Arch.DAV_2201, Arch.DAV_3510)
_INIT_PAGE = (
    "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/工具接口/系统初始化/InitSocState.md"
)


def _declare(
    rule: Callable[[], None], name: str, page: str, arches: tuple[Arch, ...]
) -> InstructionSpec:
    return declare(
        rule, "system", (), dict.fromkeys(arches, ""), page,
        pipe=PipeID.PIPE_S, forms=("scalar",), name=name,
    )  # fmt: skip


_SET_CTRL = _declare(_set_ctrl_rule, "SetCtrlSpr", _PAGE.format("SetCtrlSpr(ISASI)"), _BOTH)
_GET_CTRL = _declare(_get_ctrl_rule, "GetCtrlSpr", _PAGE.format("GetCtrlSpr(ISASI)"), _BOTH)
_RESET_CTRL = _declare(
    _reset_ctrl_rule, "ResetCtrlSpr", _PAGE.format("ResetCtrlSpr(ISASI)"), (Arch.DAV_3510,)
)
_SET_FLAG = _declare(
    _set_flag_rule, "SetSaturationFlag", _PAGE.format("SetSaturationFlag(ISASI)"), _BOTH
)
_GET_FLAG = _declare(
    _get_flag_rule, "GetSaturationFlag", _PAGE.format("GetSaturationFlag(ISASI)"), _BOTH
)
_STRATEGY_SOURCE = "mirror-cann/asc-devkit impl/basic_api/kernel_operator_common_intf_impl.h"
_SET_STRATEGY = _declare(
    _set_strategy_rule, "SetSaturationStrategy", _STRATEGY_SOURCE, (Arch.DAV_3510,)
)
_GET_STRATEGY = _declare(
    _get_strategy_rule, "GetSaturationStrategy", _STRATEGY_SOURCE, (Arch.DAV_3510,)
)
_INIT = _declare(_init_rule, "InitSocState", _INIT_PAGE, (*_BOTH, Arch.DAV_1001))


# -- calls -----------------------------------------------------------------------------------------


def SetCtrlSpr(startBit: int, endBit: int, value: int) -> None:
    """``SetCtrlSpr(48, 48, 1)``: write ``value`` to bits startBit..endBit of CTRL."""
    core = current_core()
    spec = spec_for("SetCtrlSpr", core)
    _check_bits(core, spec, startBit, endBit)
    check_range(spec.name, "value", value, 0, (1 << endBit - startBit + 1) - 1, spec.source)
    field = (1 << endBit - startBit + 1) - 1 << startBit
    _write(core, spec, core.ctrl & ~field | value << startBit, sys._getframe(1))


def GetCtrlSpr(startBit: int, endBit: int) -> int:
    """``GetCtrlSpr(48, 48)``: return bits startBit..endBit of CTRL."""
    core = current_core()
    spec = spec_for("GetCtrlSpr", core)
    if core.arch is not Arch.DAV_3510:
        _check_bits(core, spec, startBit, endBit)
    check_range(spec.name, "startBit", startBit, 0, 63, spec.source)
    check_range(spec.name, "endBit", endBit, startBit, 63, spec.source)
    core.issue(_plan(core, spec), (), sys._getframe(1))
    return core.ctrl >> startBit & (1 << endBit - startBit + 1) - 1


def ResetCtrlSpr(startBit: int, endBit: int) -> None:
    """``ResetCtrlSpr(48, 48)``: bring bits startBit..endBit of CTRL to their defaults (950)."""
    core = current_core()
    spec = spec_for("ResetCtrlSpr", core)
    _check_bits(core, spec, startBit, endBit)
    field = (1 << endBit - startBit + 1) - 1 << startBit
    _write(core, spec, core.ctrl & ~field | CTRL_RESET & field, sys._getframe(1))


def SetSaturationFlag(mode: SaturationMode, enableSat: bool) -> None:
    """``SetSaturationFlag(SaturationMode.FLOAT, True)``: switch one kind of saturation."""
    core = current_core()
    spec = spec_for("SetSaturationFlag", core)
    bit = _flag_bit(core, spec, mode)
    raised = bool(enableSat) == (bit == INT_BIT)
    value = core.ctrl | 1 << bit if raised else core.ctrl & ~(1 << bit)
    _write(core, spec, value, sys._getframe(1))


def GetSaturationFlag(mode: SaturationMode) -> bool:
    """``GetSaturationFlag(SaturationMode.FLOAT)``: return whether that saturation is on."""
    core = current_core()
    spec = spec_for("GetSaturationFlag", core)
    bit = _flag_bit(core, spec, mode)
    core.issue(_plan(core, spec), (), sys._getframe(1))
    return bool(core.ctrl >> bit & 1) == (bit == INT_BIT)


def SetSaturationStrategy(strategy: OverrideStrategy) -> None:
    """``SetSaturationStrategy(OverrideStrategy.USE_GLOBAL)``: CTRL, or each call, decides (950)."""
    core = current_core()
    spec = spec_for("SetSaturationStrategy", core)
    if strategy not in OverrideStrategy.__members__.values():
        raise ArgumentError(
            f"{strategy!r} is no strategy",
            api=spec.name,
            got=repr(strategy),
            legal="OverrideStrategy.USE_API, OverrideStrategy.USE_GLOBAL",
            source=spec.source,
        )
    bit = 1 << GLOBAL_BIT
    value = core.ctrl | bit if strategy == OverrideStrategy.USE_GLOBAL else core.ctrl & ~bit
    _write(core, spec, value, sys._getframe(1))


def GetSaturationStrategy() -> OverrideStrategy:
    """Return who decides about saturation (950)."""
    core = current_core()
    spec = spec_for("GetSaturationStrategy", core)
    core.issue(_plan(core, spec), (), sys._getframe(1))
    return OverrideStrategy(core.ctrl >> GLOBAL_BIT & 1)


def InitSocState() -> None:
    """Bring the core's global state to its defaults; a TPipe does it by itself."""
    core = current_core()
    spec = spec_for("InitSocState", core)
    init_soc_state(core)
    core.issue(_plan(core, spec), (), sys._getframe(1))


for _call, _spec in (
    (SetCtrlSpr, _SET_CTRL), (GetCtrlSpr, _GET_CTRL), (ResetCtrlSpr, _RESET_CTRL),
    (SetSaturationFlag, _SET_FLAG), (GetSaturationFlag, _GET_FLAG),
    (SetSaturationStrategy, _SET_STRATEGY), (GetSaturationStrategy, _GET_STRATEGY),
    (InitSocState, _INIT),
):  # fmt: skip
    publish(_call, _spec)


def _plan(core: AICore, spec: InstructionSpec) -> Plan:
    plan = core.plans.get(spec.name)
    if plan is None:
        plan = core.plans[spec.name] = Plan(spec, "scalar")
    return plan


def _write(core: AICore, spec: InstructionSpec, value: int, frame: Any) -> None:
    write_ctrl(core, value)
    core.issue(_plan(core, spec), (value,), frame)


def _check_bits(core: AICore, spec: InstructionSpec, start: Any, end: Any) -> None:
    singles = _SINGLE_BITS[core.arch]
    atomic = core.arch is Arch.DAV_3510
    legal = ", ".join(f"{b}" for b in sorted(singles)) + (", or inside 6..10" if atomic else "")
    if not (start == end and start in singles) and not (atomic and 6 <= start <= end <= 10):
        raise ArgumentError(
            f"CTRL[{end}:{start}] cannot be accessed on {core.arch.family}",
            api=spec.name,
            argument="startBit, endBit",
            got=f"{start}, {end}",
            legal=legal,
            source=spec.source,
        )


def _flag_bit(core: AICore, spec: InstructionSpec, mode: Any) -> int:
    if mode not in _FLAGS[core.arch]:
        raise ArgumentError(
            f"{mode!r} is no saturation of {core.arch.family}",
            api=spec.name,
            argument="mode",
            got=repr(mode),
            legal=", ".join(f"SaturationMode.{m.name}" for m in _FLAGS[core.arch]),
            source=spec.source,
        )
    return _FLAG_BITS[SaturationMode(mode)]
