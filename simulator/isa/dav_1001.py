"""Vector calls of the 910 (architecture 1001): half and float, as far as kernels here need them.

Comparisons take two tensors, and Select works in the mode that loads the compare mask register.
Values beyond half are treated as on 910B; nothing published says otherwise. Source of the forms:
mirror-cann/asc-devkit impl/basic_api/dav_c100 (kernel_operator_vec_cmpsel_impl.h,
kernel_operator_vec_binary_impl.h, kernel_operator_vec_binary_scalar_impl.h,
kernel_operator_vec_duplicate_impl.h, kernel_operator_vec_vconv_impl.h).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from simulator.enums import Arch
from simulator.instruction import REGISTRY
from simulator.isa import (  # noqa: F401 - their declarations are taken over
    arithmetic,
    compare,
    conversion,
    fill,
    select,
    vector_scalar,
)
from simulator.isa.declarations import dtype_table
from simulator.numerics import cast_rules

if TYPE_CHECKING:
    from collections.abc import Mapping

_FOLDER: Final = "mirror-cann/asc-devkit impl/basic_api/dav_c100/{}"
_FLOATS: Final = "half float"
_MASKS: Final = ("uint8_t", "uint16_t", "uint32_t", "uint64_t")


def _declare(name: str, file: str, dtypes: Mapping[Arch, frozenset[Any]]) -> None:
    """Declare a call of 910B for 910 as well, with the given element types."""
    spec = REGISTRY[name][Arch.DAV_2201]
    REGISTRY.add(replace(spec, dtypes=dtypes, count_only=frozenset(), source=_FOLDER.format(file)))


def _types(text: str) -> dict[Arch, frozenset[Any]]:
    return dtype_table({Arch.DAV_1001: text})


_declare("Mul", "kernel_operator_vec_binary_impl.h", _types(_FLOATS))
for _name in ("Adds", "Muls"):
    _declare(_name, "kernel_operator_vec_binary_scalar_impl.h", _types(_FLOATS))
_declare("Duplicate", "kernel_operator_vec_duplicate_impl.h", _types(_FLOATS))
_declare(
    "Compare",
    "kernel_operator_vec_cmpsel_impl.h",
    _types(" ".join(f"{d}:{t}:{t}" for d in ("uint8_t", "int8_t") for t in _FLOATS.split())),
)
_declare(
    "Select",
    "kernel_operator_vec_cmpsel_impl.h",
    _types(" ".join(f"{t}:{m}:{t}" for t in _FLOATS.split() for m in _MASKS)),
)
_declare(
    "Cast",
    "kernel_operator_vec_vconv_impl.h",
    {Arch.DAV_1001: frozenset((dst, src) for src, dst in cast_rules(Arch.DAV_1001))},
)
