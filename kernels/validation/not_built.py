"""Why a row of the table is not rebuilt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kernels.validation.single_calls import FITTED_950, STREAMED_910B, call_of

if TYPE_CHECKING:
    from kernels.validation.rows import MeasuredRow

_CUBE: Final = "copies into the cube core's L1, which the simulator does not have"
_REGISTERS: Final = "written with register-level vector functions, not with AscendC's vector calls"
_SOURCE: Final = "the source or the sizes of the measured kernel are not public"
_SCALAR: Final = "plain scalar arithmetic between calls, which is not recorded"
_NO_FIGURE: Final = "the page gives no measured time, only a saving or a bound"
_TILE: Final = "a tile operation of several instructions"
_SUSPECT: Final = "the table marks the figure as suspect"

_REASONS: Final = {
    **dict.fromkeys(("V051", "V054"), _CUBE),
    **dict.fromkeys(
        (
            "V023", "V024", "V026", "V027", "V030", "V031", "V032", "V033", "V034", "V057", "V060",
            "V063", "V064", "V065", "V066", "V067", "V083", "V084", "V086", "V088", "V089", "V090",
            "V091", "V093", "V096", "V099", "V100",
        ),
        _REGISTERS,
    ),
    **dict.fromkeys(("V095", "V103", "V104"), _SOURCE),
    "V105": _SCALAR,
    **dict.fromkeys(("V106", "V107"), _NO_FIGURE),
}  # fmt: skip


def reason_not_built(row: MeasuredRow) -> str | None:
    """Return why nothing stands for a row, or None if it may be rebuilt."""
    if "suspect" in row.kind:
        return _SUSPECT
    known = _REASONS.get(row.id)
    if known is not None or row.chip not in (STREAMED_910B, FITTED_950):
        return known
    return None if call_of(row) is not None else _tile_reason(row)


def _tile_reason(row: MeasuredRow) -> str:
    if row.chip == FITTED_950:
        return "its element type is not one that the call takes"
    return _TILE
