"""Log, Log2 and Log10.

Source: mirror-cann/asc-devkit impl/adv_api/detail/math/log.
"""

from __future__ import annotations

from typing import Any, Final

from simulator.dtypes import float32
from simulator.isa.highlevel.calls import Scratch
from simulator.isa.highlevel.unary import unary

_PAGE: Final = "数学计算/Log接口/{}"
_PER_LN_2: Final = 1.4426950408889634
_PER_LN_10: Final = 0.43429448190325176


@unary(_PAGE.format("Log"), convert_half=False, native_950=True)
def Log(steps: Any, dst: Any, src: Any) -> None:
    """``dst[i] = ln(src[i])``, in the element type."""
    steps.ln(dst, src)


@unary(_PAGE.format("Log2"), half_scratch=Scratch(float32, 1))
def Log2(steps: Any, dst: Any, src: Any) -> None:
    """``dst[i] = ln(src[i]) * (1 / ln 2)``; half is calculated in float."""
    steps.ln(dst, src)
    steps.muls(dst, dst, _PER_LN_2)


@unary(_PAGE.format("Log10"), convert_half=False)
def Log10(steps: Any, dst: Any, src: Any) -> None:
    """``dst[i] = ln(src[i]) * (1 / ln 10)``; 950 calculates half in float, 910B in half."""
    steps.ln(dst, src)
    steps.muls(dst, dst, _PER_LN_10)
