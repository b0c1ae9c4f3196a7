"""Tiling keys that are generated from template parameters (``ASCENDC_TPL_*``).

Source of the encoding: mirror-cann/asc-devkit impl/utils/tiling/template_argument.cpp and
include/utils/tiling/template_argument.h.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from host.errors import RegistrationError
from simulator.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

_FIXED_BITS: Final = {"DTYPE": 8, "FORMAT": 8, "BOOL": 1}
_KEY_BITS: Final = 64


@dataclass(frozen=True)
class TemplateParam:
    """One declared template parameter.

    Parameters
    ----------
    name : str
        Name of the template parameter.
    kind : str
        ``"DTYPE"``, ``"FORMAT"``, ``"BOOL"`` (stored by value) or ``"UINT"`` (stored as the index
        of the value in ``values``).
    bits : int
        Width in the key; fixed at 8, 8 and 1 for the kinds stored by value.
    values : tuple of int
        Legal values, for UINT in the order of the expanded declaration.
    """

    name: str
    kind: str
    bits: int
    values: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.kind not in {*_FIXED_BITS, "UINT"}:
            raise RegistrationError(
                f"template parameter {self.name} has unknown kind {self.kind!r}",
                legal="DTYPE, FORMAT, BOOL, UINT",
            )
        if self.bits != _FIXED_BITS.get(self.kind, self.bits):
            raise RegistrationError(
                f"template parameter {self.name} of kind {self.kind} cannot have {self.bits} bits",
                legal=str(_FIXED_BITS[self.kind]),
            )

    def encode(self, value: int) -> int:
        """Return what the key stores for ``value``."""
        if value not in self.values:
            raise ArgumentError(
                f"template parameter {self.name} cannot be {value}",
                got=value,
                legal=", ".join(map(str, self.values)),
            )
        stored = self.values.index(value) if self.kind == "UINT" else int(value)
        if stored >> self.bits:
            raise ArgumentError(
                f"template parameter {self.name} = {value} does not fit {self.bits} bits",
                got=stored,
            )
        return stored


def encode_tiling_key(declared: Sequence[TemplateParam], arguments: Sequence[int]) -> int:
    """Key = encoded parameters packed from the lowest bits in declaration order.

    Raises
    ------
    ArgumentError
        If the counts differ, a value is not declared or the key needs more than 64 bits.
    """
    if len(declared) != len(arguments):
        raise ArgumentError(
            f"{len(declared)} template parameters are declared, {len(arguments)} given",
            got=len(arguments),
            legal=str(len(declared)),
        )
    key, shift = 0, 0
    for param, value in zip(declared, arguments, strict=True):
        key |= param.encode(value) << shift
        shift += param.bits
    if shift > _KEY_BITS:
        raise ArgumentError(f"the tiling key needs {shift} bits", got=shift, legal="<= 64")
    return key
