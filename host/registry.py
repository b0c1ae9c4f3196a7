"""Where operators are registered: definition, infershape and tiling by operator type.

An operator is one folder under ``host`` with a ``definition`` module; its package registers
everything when it is imported. Lookups import all such folders first, so adding an operator needs
no change here.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, TypeVar

import host
from host.errors import RegistrationError

if TYPE_CHECKING:
    from host.contexts import InferDataTypeContext, InferShapeContext, TilingContext
    from host.op_def import OpDef
    from host.status import GraphStatus

    InferShapeFunction = Callable[[InferShapeContext], GraphStatus]
    InferDataTypeFunction = Callable[[InferDataTypeContext], GraphStatus]
    TilingFunction = Callable[[TilingContext], GraphStatus]
    TilingParseFunction = Callable[[TilingContext], Any]

_F = TypeVar("_F", bound=Callable[..., Any])
_K = TypeVar("_K")
_V = TypeVar("_V")

ARCHES: Final = ("arch22", "arch35")
"""Tiling generations: arch22 serves 910, 910B and 910_93, arch35 serves 950."""

_ARCH_OF_NPU: Final = {"1001": "arch22", "2201": "arch22", "3510": "arch35"}


@dataclass(frozen=True)
class InferShapeImpl:
    """Infershape and inferdatatype functions of one operator."""

    infer_shape: InferShapeFunction
    infer_data_type: InferDataTypeFunction


@dataclass(frozen=True)
class TilingImpl:
    """Tiling function of one operator on one generation, with its compile-info step."""

    tiling: TilingFunction
    tiling_parse: TilingParseFunction | None


_OP_DEFS: Final[dict[str, OpDef]] = {}
_INFER: Final[dict[str, InferShapeImpl]] = {}
_TILING: Final[dict[tuple[str, str], TilingImpl]] = {}


def OP_ADD(definition: OpDef) -> OpDef:
    """Register an operator definition and return it."""
    _add(_OP_DEFS, definition.op_type, definition, f"the definition of {definition.op_type}")
    return definition


def IMPL_OP_INFERSHAPE(
    op_type: str, infer_data_type: InferDataTypeFunction | None = None
) -> Callable[[_F], _F]:
    """Register the decorated infershape function of ``op_type``.

    Without ``infer_data_type`` every output has the data type of input 0
    (``InferOutDataTypeSameWithFirstInput``).
    """

    def register(function: _F) -> _F:
        impl = InferShapeImpl(function, infer_data_type or _same_as_first_input)
        _add(_INFER, op_type, impl, f"infershape of {op_type}")
        return function

    return register


def IMPL_OP_OPTILING(
    op_type: str, arch: str, tiling_parse: TilingParseFunction | None = None
) -> Callable[[_F], _F]:
    """Register the decorated tiling function of ``op_type`` for ``arch22`` or ``arch35``.

    ``tiling_parse`` computes the compile info that ``GetCompileInfo`` returns.
    """
    if arch not in ARCHES:
        raise RegistrationError(f"there is no tiling generation {arch!r}", legal=", ".join(ARCHES))

    def register(function: _F) -> _F:
        impl = TilingImpl(function, tiling_parse)
        _add(_TILING, (op_type, arch), impl, f"{arch} tiling of {op_type}")
        return function

    return register


def op_def(op_type: str) -> OpDef:
    """Return the definition of an operator type.

    Raises
    ------
    RegistrationError
        If no such operator is registered.
    """
    load_operators()
    return _find(_OP_DEFS, op_type, op_type, "operator")


def has_infershape(op_type: str) -> bool:
    """Whether the operator type has an infershape function."""
    return op_type in _INFER


def infershape_impl(op_type: str) -> InferShapeImpl:
    """Return the infershape functions of an operator type.

    Raises
    ------
    RegistrationError
        If none are registered.
    """
    load_operators()
    return _find(_INFER, op_type, op_type, "infershape function of")


def tiling_impl(op_type: str, arch: str) -> TilingImpl:
    """Return the tiling function of an operator type on a generation.

    Raises
    ------
    RegistrationError
        If none is registered.
    """
    load_operators()
    return _find(_TILING, (op_type, arch), f"{op_type} on {arch}", "tiling function of")


def op_types() -> tuple[str, ...]:
    """All registered operator types, sorted."""
    load_operators()
    return tuple(sorted(_OP_DEFS))


def arch_of(npu_arch: str) -> str:
    """Return the tiling generation of an NPU arch number: 2201 → arch22.

    Raises
    ------
    RegistrationError
        If the number is not set or not known.
    """
    try:
        return _ARCH_OF_NPU[npu_arch]
    except KeyError:
        raise RegistrationError(
            f"no tiling generation belongs to NPU arch {npu_arch!r}",
            legal=", ".join(_ARCH_OF_NPU),
            fix="name the generation: arch='arch22' or 'arch35'",
        ) from None


@cache
def load_operators() -> tuple[str, ...]:
    """Import every operator folder under ``host`` and return their names."""
    found = [
        module.name
        for module in pkgutil.iter_modules(host.__path__)
        if module.ispkg and find_spec(f"host.{module.name}.definition") is not None
    ]
    for name in found:
        import_module(f"host.{name}")
    return tuple(found)


def _same_as_first_input(context: InferDataTypeContext) -> GraphStatus:
    from host.status import GRAPH_SUCCESS

    for index in range(context.output_count):
        context.SetOutputDataType(index, context.GetInputDataType(0))
    return GRAPH_SUCCESS


def _add(table: dict[_K, _V], key: _K, value: _V, what: str) -> None:
    if key in table:
        raise RegistrationError(f"{what} is registered twice", fix="register it in one place")
    table[key] = value


def _find(table: dict[_K, _V], key: _K, name: str, what: str) -> _V:
    try:
        return table[key]
    except KeyError:
        known = sorted(" on ".join(k) if isinstance(k, tuple) else str(k) for k in table)
        raise RegistrationError(
            f"there is no {what} {name}", got=name, legal=", ".join(known) or "none registered"
        ) from None
