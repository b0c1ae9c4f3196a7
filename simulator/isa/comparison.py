"""The comparisons of CMPMODE on each architecture, and their binding to strided operands.

Source: mirror-cann/asc-devkit docs/zh/api/附录/Memory矢量计算接口边界值汇总.md (910B) and
Reg矢量计算接口边界值汇总.md (950).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.dtypes import int32_t
from simulator.enums import CMPMODE, Arch
from simulator.errors import ArgumentError
from simulator.isa.blocks import lane_rows, prefix_parts
from simulator.isa.lanes import BLOCK

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulator.core import AICore
    from simulator.dtypes import DType
    from simulator.instruction import InstructionSpec
    from simulator.isa.lanes import Active, Strided

    Comparison = Callable[..., Any]

_OPERATORS: Final[dict[CMPMODE, Comparison]] = {
    CMPMODE.LT: np.less,
    CMPMODE.GT: np.greater,
    CMPMODE.EQ: np.equal,
    CMPMODE.LE: np.less_equal,
    CMPMODE.GE: np.greater_equal,
    CMPMODE.NE: np.not_equal,
}

SWAPPED: Final = {
    CMPMODE.LT: CMPMODE.GT,
    CMPMODE.GT: CMPMODE.LT,
    CMPMODE.EQ: CMPMODE.EQ,
    CMPMODE.LE: CMPMODE.GE,
    CMPMODE.GE: CMPMODE.LE,
    CMPMODE.NE: CMPMODE.NE,
}
"""Mode that gives the same bits with the operands exchanged."""


def _not_equal_ordered(left: Any, right: Any, out: Any = None) -> Any:
    """NE of the 910B: false when either operand is NaN."""
    out = np.less(left, right, out)
    return np.logical_or(out, np.greater(left, right), out)


def as_mode(api: str, mode: Any) -> CMPMODE:
    """Return ``mode`` as a CMPMODE.

    Raises
    ------
    ArgumentError
    """
    try:
        return CMPMODE(mode)
    except ValueError:
        raise ArgumentError(
            "cmpMode is no comparison",
            api=api,
            argument="cmpMode",
            got=repr(mode),
            legal=", ".join(f"CMPMODE.{m.name}" for m in CMPMODE),
        ) from None


def comparison(core: AICore, spec: InstructionSpec, dtype: DType, mode: CMPMODE) -> Comparison:
    """Return ``f(left, right, out=None)`` that compares elements of ``dtype``.

    A NaN operand makes every mode false on 910B, NE included; 950 follows IEEE.

    Raises
    ------
    ArgumentError
        If the architecture compares the type for equality only.
    """
    if dtype is int32_t and core.arch is Arch.DAV_2201 and mode is not CMPMODE.EQ:
        raise ArgumentError(
            "int32_t compares for equality only on 910B; a board executes EQ silently",
            api=spec.name,
            argument="cmpMode",
            got=mode.name,
            legal="CMPMODE.EQ",
            fix="Cast to float first, or compare with CMPMODE.EQ",
            source=spec.source,
        )
    if mode is CMPMODE.NE and core.arch is not Arch.DAV_3510 and dtype.is_float:
        return _not_equal_ordered
    return _OPERATORS[mode]


def bind_comparison(
    core: AICore,
    compare: Comparison,
    ops: Sequence[Strided],
    active: Active,
    shape: tuple[int, int],
    bits: Any,
    extra: Sequence[Any] = (),
) -> Comparison:
    """Return ``run(*scalars)`` that compares the active lanes and packs all lanes into ``bits``.

    ``shape`` is (repeats, lanes); lanes that are not active give 0. ``extra`` operands follow the
    strided ones as they are.
    """
    matrix = np.zeros(shape, bool)
    if active.lanes is not None:
        arrays = [core.local.typed(op.tensor.dtype.numpy) for op in ops]
        indices = [lane_rows(op, active) for op in ops]
        chosen = list(active.lanes)
        return partial(_compare_lanes, compare, bits, matrix, chosen, arrays, indices, extra)
    per_block = BLOCK // ops[0].tensor.dtype.itemsize
    parts = [
        (
            part.of(matrix, per_block),
            *(
                part.view(core, op.tensor, op.tensor.dtype.numpy, op.blk_stride, op.rep_stride)
                for op in ops
            ),
            *extra,
        )
        for part in prefix_parts(active, shape[1], per_block)
    ]
    return partial(_compare_parts, compare, bits, matrix, parts)


def _compare_parts(
    compare: Comparison, bits: Any, matrix: Any, parts: list[tuple[Any, ...]], *scalars: Any
) -> None:
    for out, *sources in parts:
        compare(*sources, *scalars, out)
    bits[:] = np.packbits(matrix, bitorder="little")


def _compare_lanes(
    compare: Comparison,
    bits: Any,
    matrix: Any,
    lanes: list[int],
    arrays: list[Any],
    indices: list[Any],
    extra: Sequence[Any],
    *scalars: Any,
) -> None:
    values = [array[index] for array, index in zip(arrays, indices, strict=True)]
    matrix[:, lanes] = compare(*values, *extra, *scalars)
    bits[:] = np.packbits(matrix, bitorder="little")
