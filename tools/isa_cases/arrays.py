"""The compact array notation of the page examples."""

from __future__ import annotations

import math
from typing import Any

from simulator.errors import ConfigError


def unfold(array: Any) -> list[Any]:
    """Return the elements of the file's compact array notation.

    Raises
    ------
    ConfigError
        For a notation that is not known.
    """
    if isinstance(array, list):
        return [_scalar(v) for v in array]
    kind, given = next(iter(array.items()))
    if kind == "arange":
        start, stop, step = given
        count = max(0, math.ceil((stop - start) / step))
        return [start + i * step for i in range(count)]
    if kind == "full":
        return [_scalar(given[0])] * given[1]
    if kind == "concat":
        return [v for part in given for v in unfold(part)]
    if kind == "fill_at":
        filled = [_scalar(given["fill"])] * given["n"]
        for index, value in given["at"]:
            filled[index] = _scalar(value)
        return filled
    if kind == "scalar":
        return [_scalar(given)]
    raise ConfigError(f"{kind} is no array notation", legal="arange, full, concat, fill_at, scalar")


def _scalar(value: Any) -> Any:
    if isinstance(value, str):
        return int(value, 16) if value.startswith("0x") else float(value)
    return value
