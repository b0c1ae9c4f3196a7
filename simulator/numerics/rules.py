"""Which Cast pairs exist on an architecture, in which round modes, and what happens out of range.

The facts are rows of ``cast_rules.csv``; each row names the vendor pages and code it comes from.
Where page and code accept different round modes the row lists what the code accepts.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from simulator.dtypes import BY_NAME, DType
from simulator.enums import Arch, RoundMode

if TYPE_CHECKING:
    from collections.abc import Mapping

_TABLE: Final = Path(__file__).with_name("cast_rules.csv")


class Overflow(Enum):
    """What a conversion does with inf, NaN and values beyond the destination."""

    EXACT = "exact"
    """Every source value has an equal destination value."""
    ROUNDED = "rounded"
    """Values are rounded; none is out of range."""
    IEEE = "ieee"
    """Overflow gives inf; inf and NaN pass; CTRL[48] has no effect."""
    FLOAT = "float"
    """CTRL[48] = 1: as IEEE. CTRL[48] = 0: overflow and inf give +-MAX, NaN gives 0."""
    FP8 = "fp8"
    """As FLOAT, but CTRL[50] = 1 keeps NaN while saturating; without an inf code, NaN instead."""
    EXTREME = "extreme"
    """The destination has neither inf nor NaN: overflow and inf give +-MAX, NaN gives 0."""
    CLAMP = "clamp"
    """Integer destination: out of range and inf give the nearest extreme, NaN gives 0."""
    CLAMP_OR_LOW_BITS = "clamp or low bits"
    """CTRL[59] = 0: as CLAMP. CTRL[59] = 1: finite values keep the low bits of the integer."""
    INTEGRAL = "integral"
    """Float to the same float: rounded to an integral value; inf and NaN pass."""
    INTEGRAL_POSITIVE_ZERO = "integral, +0"
    """As INTEGRAL, and a zero result is +0."""


@dataclass(frozen=True)
class CastRule:
    """One legal pair of Cast.

    Parameters
    ----------
    src, dst : DType
        The pair.
    modes : frozenset of RoundMode
        Round modes the call accepts.
    ignores_mode : bool
        Whether the round mode has no influence on the result.
    cast_none : str
        What ``CAST_NONE`` means for this pair.
    overflow : Overflow
        What happens out of range.
    note, source : str
        Remark and origin of the row.
    """

    src: DType
    dst: DType
    modes: frozenset[RoundMode]
    ignores_mode: bool
    cast_none: str
    overflow: Overflow
    note: str
    source: str


def _modes(words: str) -> frozenset[RoundMode]:
    if words == "any":
        return frozenset(mode for mode in RoundMode if mode <= RoundMode.CAST_HYBRID)
    return frozenset(RoundMode[f"CAST_{word}"] for word in words.split())


@cache
def cast_rules(arch: Arch) -> Mapping[tuple[DType, DType], CastRule]:
    """Return every legal Cast pair of ``arch``; empty when no table of it is published here."""
    rules: dict[tuple[DType, DType], CastRule] = {}
    with _TABLE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["arch"] != arch.value:
                continue
            src, dst = BY_NAME[row["src"]], BY_NAME[row["dst"]]
            rules[src, dst] = CastRule(
                src,
                dst,
                _modes(row["modes"]),
                row["cast_none"] == "ignored",
                row["cast_none"],
                Overflow(row["overflow"]),
                row["note"],
                row["source"],
            )
    return MappingProxyType(rules)
