"""A tensor and a scalar: Adds, Subs, Muls, Divs, Maxs, Mins and LeakyRelu.

Rounding, integers and special values are those of the calls on two tensors
(``simulator.isa.arithmetic``). On 950 the scalar may stand first, and may be one element of a
tensor (``simulator.isa.flexible_scalar``), except in LeakyRelu.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from simulator.enums import Arch
from simulator.isa.arithmetic import (
    B8_B64,
    COMPLEX,
    PAGE,
    REAL,
    maximum,
    minimum,
    quotient_rule,
)
from simulator.isa.complex_math import complex_add, complex_multiply, complex_subtract
from simulator.isa.families import vector_scalar
from simulator.isa.rules import integer_or
from simulator.isa.selection import negative_or

_WIDE: Final = "int8_t uint8_t int16_t half bfloat16_t int32_t float int64_t uint64_t"
_WIDER: Final = f"int16_t half bfloat16_t int32_t float int64_t uint64_t {COMPLEX}"
_FLEXIBLE: Final = "{}（灵活标量位置）"  # noqa: RUF001 - the name of the page


@vector_scalar(
    {Arch.DAV_2201: REAL, Arch.DAV_3510: f"{_WIDE} {COMPLEX}"},
    PAGE.format("Adds"),
    count_only={Arch.DAV_3510: f"{B8_B64} {COMPLEX}"},
    build=integer_or("add", complex_add),
    flexible=True,
)
def Adds(out: Any, left: Any, right: Any) -> None:
    """``dst[i] = src[i] + scalarValue``; integers wrap, or clamp in saturation mode."""
    np.add(left, right, out)


@vector_scalar(
    {Arch.DAV_3510: _WIDER},
    PAGE.format(_FLEXIBLE.format("Subs")),
    count_only={Arch.DAV_3510: f"int64_t uint64_t {COMPLEX}"},
    build=integer_or("sub", complex_subtract),
    flexible=True,
)
def Subs(out: Any, left: Any, right: Any) -> None:
    """``dst[i] = src[i] - scalarValue``, or ``scalarValue - src[i]`` with the scalar first."""
    np.subtract(left, right, out)


@vector_scalar(
    {Arch.DAV_2201: REAL, Arch.DAV_3510: _WIDER},
    PAGE.format("Muls"),
    count_only={Arch.DAV_3510: f"int64_t uint64_t {COMPLEX}"},
    build=integer_or("mul", complex_multiply),
    flexible=True,
)
def Muls(out: Any, left: Any, right: Any) -> None:
    """``dst[i] = src[i] * scalarValue``; integers wrap, or clamp in saturation mode."""
    np.multiply(left, right, out)


@vector_scalar(
    {Arch.DAV_3510: f"half float int64_t uint64_t {COMPLEX}"},
    PAGE.format(_FLEXIBLE.format("Divs")),
    count_only={Arch.DAV_3510: f"int64_t uint64_t {COMPLEX}"},
    build=quotient_rule,
    flexible=True,
)
def Divs(out: Any, left: Any, right: Any) -> None:
    """``dst[i] = src[i] / scalarValue``, or ``scalarValue / src[i]`` with the scalar first.

    Rounding, subnormals and integers as in Div.
    """
    np.divide(left, right, out)


@vector_scalar(
    {Arch.DAV_2201: REAL, Arch.DAV_3510: _WIDE},
    PAGE.format("Maxs"),
    count_only={Arch.DAV_3510: B8_B64},
    flexible=True,
)
def Maxs(out: Any, left: Any, right: Any) -> None:
    """``dst[i] = max(src[i], scalarValue)``; NaN and zeros as in Max."""
    maximum(out, left, right)


@vector_scalar(
    {Arch.DAV_2201: REAL, Arch.DAV_3510: _WIDE},
    PAGE.format("Mins"),
    count_only={Arch.DAV_3510: B8_B64},
    flexible=True,
)
def Mins(out: Any, left: Any, right: Any) -> None:
    """``dst[i] = min(src[i], scalarValue)``; NaN and zeros as in Min."""
    minimum(out, left, right)


@vector_scalar({Arch.DAV_2201: "half float", Arch.DAV_3510: "half float"}, PAGE.format("LeakyRelu"))
def LeakyRelu(out: Any, src: Any, scalar: Any) -> None:
    """``dst[i] = src[i]``, or ``src[i] * scalarValue`` where the sign of ``src`` is negative.

    -0 is multiplied too; NaN stays NaN.
    """
    negative_or(out, np.multiply(src, scalar), src)
