"""Choosing between two values by the sign of one of them."""

from __future__ import annotations

from typing import Any

import numpy as np


def negative_or(out: Any, negative: Any, values: Any) -> None:
    """``out = values``, or ``negative`` where the sign bit of ``values`` is set.

    The sign bit decides: -0 counts as negative
    (mirror-cann/asc-devkit docs/zh/api/附录/Memory矢量计算接口边界值汇总.md, LeakyRelu).
    """
    np.copyto(out, np.where(np.signbit(values), negative, values))


def rectify(out: Any, values: Any) -> None:
    """``out = max(0, values)``; NaN stays NaN, -0 becomes +0."""
    np.maximum(values, values.dtype.type(0), out=out)
    if out.dtype.kind not in "iu":
        np.add(out, out.dtype.type(0), out)
