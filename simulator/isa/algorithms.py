"""Template configurations of the 950: which algorithm Exp, Ln, Sqrt, Rsqrt, Reciprocal and Div use.

The default (INTRINSIC) and the ``*_FTZ_TRUE`` algorithms flush subnormal inputs and results to
zero; the others keep them. Sources: mirror-cann/asc-devkit
docs/zh/api/SIMD-API/基础API/Memory矢量计算/基础算术 (Exp.md and the others),
include/basic_api/reg_compute/kernel_reg_compute_utils.h, impl/basic_api/reg_compute/dav_3510.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.dtypes import DType
from simulator.enums import (
    Arch,
    DivAlgo,
    ExpAlgo,
    LnAlgo,
    ReciprocalAlgo,
    RsqrtAlgo,
    SqrtAlgo,
)
from simulator.errors import ArgumentError, UnsupportedError
from simulator.isa.rules import Context, Rule, saturated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from simulator.core import AICore
    from simulator.instruction import InstructionSpec
    from simulator.tensor import LocalTensor


class ExpConfig(NamedTuple):
    """Template configuration of Exp (950)."""

    algo: ExpAlgo = ExpAlgo.INTRINSIC


class LnConfig(NamedTuple):
    """Template configuration of Ln (950)."""

    algo: LnAlgo = LnAlgo.INTRINSIC


class SqrtConfig(NamedTuple):
    """Template configuration of Sqrt (950)."""

    algo: SqrtAlgo = SqrtAlgo.INTRINSIC


class RsqrtConfig(NamedTuple):
    """Template configuration of Rsqrt (950)."""

    algo: RsqrtAlgo = RsqrtAlgo.INTRINSIC


class ReciprocalConfig(NamedTuple):
    """Template configuration of Reciprocal (950)."""

    algo: ReciprocalAlgo = ReciprocalAlgo.INTRINSIC


class DivConfig(NamedTuple):
    """Template configuration of Div (950)."""

    algo: DivAlgo = DivAlgo.INTRINSIC


_CONFIGS: Final[Mapping[str, type[Any]]] = {
    "Exp": ExpConfig,
    "Ln": LnConfig,
    "Sqrt": SqrtConfig,
    "Rsqrt": RsqrtConfig,
    "Reciprocal": ReciprocalConfig,
    "Div": DivConfig,
}

_FLUSHING: Final = frozenset(
    {
        "INTRINSIC",
        "DIFF_COMPENSATION",
        "PRECISION_1ULP_FTZ_TRUE",
        "PRECISION_0ULP_FTZ_TRUE",
    }
)

_ANY: Final = frozenset({"INTRINSIC", "PRECISION_1ULP_FTZ_TRUE"})
_TYPES: Final[Mapping[str, frozenset[str]]] = {
    "FAST_INVERSE": frozenset({"float"}),
    "DIFF_COMPENSATION": frozenset({"float", "complex64"}),
    "PRECISION_0ULP_FTZ_TRUE": frozenset({"float", "complex64"}),
    "PRECISION_0ULP_FTZ_FALSE": frozenset({"float"}),
    "PRECISION_1ULP_FTZ_FALSE": frozenset({"half", "float"}),
}
"""Element types of the algorithms that do not take every type of their call."""


def algorithm(
    spec: InstructionSpec, core: AICore, tensors: Sequence[LocalTensor], config: Any
) -> tuple[InstructionSpec, Any]:
    """Return the declaration to charge and the algorithm that ``config`` chooses (None: default).

    Raises
    ------
    ArgumentError
        If the call takes no configuration, or another one.
    UnsupportedError
        If the architecture or the element type has no such algorithm.
    """
    if config is None:
        return spec, None
    kind = _CONFIGS.get(spec.name)
    if kind is None or not isinstance(config, kind):
        raise ArgumentError(
            "config is not a configuration of this call",
            api=spec.name,
            argument="config",
            got=repr(config),
            legal=kind.__name__ if kind else "no configuration",
            source=spec.source,
        )
    if core.arch is not Arch.DAV_3510:
        raise UnsupportedError(
            f"has no algorithm configuration on {core.arch.family}",
            api=spec.name,
            got=repr(config),
            legal="a call without config; algorithms exist on 950 only",
            source=spec.source,
        )
    algo = config.algo
    dtype = getattr(tensors[0], "dtype", None)
    legal = _TYPES.get(algo.name)
    if legal is not None and isinstance(dtype, DType) and dtype.name not in legal:
        raise UnsupportedError(
            f"{algo.name} does not exist for {dtype}",
            api=spec.name,
            got=f"{type(algo).__name__}.{algo.name} of {dtype}",
            legal=", ".join(sorted(legal)),
            source=spec.source,
        )
    return (spec if algo.name in _ANY else _precise(spec)), algo


def _precise(spec: InstructionSpec) -> InstructionSpec:
    """Return the declaration with the cost of the software sequence."""
    return replace(spec, cost_key=f"{spec.cost_key}@precision")


def flushes(context: Context) -> bool:
    """Whether subnormal inputs and results become zero."""
    if context.arch is not Arch.DAV_3510 or context.dst.kind != "f":
        return False
    return context.algo is None or context.algo.name in _FLUSHING


def flushing(rule: Rule, context: Context) -> Rule:
    """Build a rule whose subnormal inputs and results are zero where the algorithm says so."""
    if not flushes(context):
        return saturated(rule, context)

    def flushed(out: Any, *sources: Any) -> None:
        rule(out, *(flush(source) for source in sources))
        flush_in_place(out)

    return saturated(flushed, context)


_WORDS: Final[dict[np.dtype[Any], tuple[np.dtype[Any], Any, Any]]] = {
    np.dtype(np.float16): (np.dtype(np.uint16), np.uint16(0x7C00), np.uint16(0x8000)),
    np.dtype(np.float32): (np.dtype(np.uint32), np.uint32(0x7F80_0000), np.uint32(0x8000_0000)),
}


def _subnormal(values: NDArray[Any]) -> Any:
    """Return where values are zero or subnormal, or None when that is nowhere."""
    words, exponent, _ = _WORDS[values.dtype]
    small = np.equal(np.bitwise_and(values.view(words), exponent), 0)
    return small if small.any() else None


def flush(values: NDArray[Any]) -> NDArray[Any]:
    """Return the half or float values with subnormals as zeros of the same sign."""
    if _subnormal(values) is None:
        return values
    copied = values.copy()
    flush_in_place(copied)
    return copied


def flush_in_place(values: NDArray[Any]) -> None:
    """Replace subnormal half or float values by zeros of the same sign."""
    small = _subnormal(values)
    if small is not None:
        words, _, sign = _WORDS[values.dtype]
        bits = values.view(words)
        np.bitwise_and(bits, sign, out=bits, where=small)
