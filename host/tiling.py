"""Tiling of an operator without any device: ``tiling(op, platform, shapes, dtypes)``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from host.contexts import TensorDesc, TilingContext
from host.datatypes import as_data_type
from host.errors import TilingError
from host.platform_ascendc import PlatformInfo
from host.registry import arch_of, op_def, tiling_impl
from host.status import GRAPH_SUCCESS
from simulator.errors import InternalError, SourceLocation
from simulator.platforms import Platform, load_platform

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from host.registry import TilingFunction
    from kernels.tiling_struct import TilingData

    Shapes = Sequence[Sequence[int]] | Mapping[str, Sequence[int]]
    DTypes = Sequence[object] | Mapping[str, object] | object


@dataclass(frozen=True)
class TilingResult:
    """What a tiling function decided.

    Attributes
    ----------
    data : TilingData
        Struct for the kernel; compare by field or by ``pack()``.
    block_dim : int
        Number of kernel instances.
    key : int
        Tiling key.
    workspace : tuple of int
        Bytes per workspace slot.
    schedule_mode : int
        1 when all blocks must be resident at once.
    """

    data: TilingData
    block_dim: int
    key: int
    workspace: tuple[int, ...]
    schedule_mode: int

    @property
    def workspace_bytes(self) -> int:
        """Sum over the workspace slots."""
        return sum(self.workspace)


def run_tiling(
    op_type: str,
    arch: str,
    platform: PlatformInfo,
    inputs: Sequence[TensorDesc | None],
    outputs: Sequence[TensorDesc | None],
    attrs: Mapping[str, Any] | None = None,
) -> TilingResult:
    """Run the registered tiling function on tensor descriptions.

    Raises
    ------
    TilingError
        561002 with the reason, when the function returns GRAPH_FAILED, leaves a field of its
        tiling data unassigned or never sets a block dim.
    RegistrationError
        If there is no tiling function for the operator and generation.
    """
    impl = tiling_impl(op_type, arch)
    context = TilingContext(op_type, inputs, outputs, platform, attrs)
    if impl.tiling_parse is not None:
        context = TilingContext(
            op_type, inputs, outputs, platform, attrs, impl.tiling_parse(context)
        )
    return decide(impl.tiling, context)


def decide(function: TilingFunction, context: TilingContext) -> TilingResult:
    """Run one tiling function and return what it decided.

    Raises
    ------
    TilingError
        561002, as for :func:`run_tiling`.
    """
    op_type = context.op_type
    try:
        status = function(context)
    except ZeroDivisionError as error:
        shapes = ", ".join(str(list(d.shape)) for d in context.inputs if d is not None)
        raise TilingError(
            f"tiling of {op_type} divides by a value that came out as 0",
            code="host.tiling_zero",
            check="tile.zero",
            op_type=op_type,
            location=_innermost(error),
            got=f"inputs of shape {shapes}",
            fix="return an empty output before the tiling, or let the divisor be 1 at least; on a "
            "board the host program crashes",
        ) from error
    if status != GRAPH_SUCCESS:
        raise TilingError(
            f"tiling of {op_type} failed: {'; '.join(context.messages) or 'no reason given'}",
            op_type=op_type,
        )
    data = context.tiling_data
    if data is None or data.unassigned or context.block_dim == 0:
        missing = "tiling data" if data is None else ", ".join(data.unassigned) or "the block dim"
        raise TilingError(
            f"tiling of {op_type} succeeded without setting {missing}",
            op_type=op_type,
            fix="assign every field: the device would read arbitrary bytes",
        )
    return TilingResult(
        data,
        context.block_dim,
        context.tiling_key,
        tuple(context.workspaces),
        context.schedule_mode,
    )


def _innermost(error: Exception) -> SourceLocation:
    trace = error.__traceback__
    if trace is None:
        raise InternalError("a caught exception has no traceback")
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    return SourceLocation(code.co_filename, trace.tb_lineno, code.co_name)


def tiling(
    op: str,
    platform: str | Platform | PlatformInfo,
    shapes: Shapes,
    dtypes: DTypes,
    *,
    attrs: Mapping[str, Any] | None = None,
    arch: str | None = None,
) -> TilingResult:
    """Return the tiling of operator type ``op`` for the given shapes.

    Parameters
    ----------
    op : str
        Operator type, for example ``"HardSwishGradV2"``.
    platform : str, Platform or PlatformInfo
        A profile name (``"910b"``) or what the framework knows of a device; the latter lets a
        sweep change core counts and sizes with ``replace``.
    shapes : sequence or mapping
        One shape per input and output, in the order of the definition or by name. Outputs that
        are left out get the first input's shape.
    dtypes : one dtype, sequence or mapping
        One for all tensors, or one each as for ``shapes``.
    arch : str, optional
        ``"arch22"`` or ``"arch35"``; follows from the platform when omitted.

    Raises
    ------
    TilingError
        If the tiling function fails.
    """
    info = (
        platform
        if isinstance(platform, PlatformInfo)
        else PlatformInfo.from_platform(load_platform(platform))
    )
    definition = op_def(op)
    params = (*definition.inputs, *definition.outputs)
    names = [p.name for p in params]
    by_name = _named(names, shapes, "shape", op)
    count = len(names)
    # A numpy dtype has a length, which counts the fields of a struct.
    if isinstance(dtypes, str | np.dtype) or not hasattr(dtypes, "__len__"):
        types: dict[str, Any] = dict.fromkeys(names, dtypes)
    else:
        types = _named(names, dtypes, "dtype", op)  # type: ignore[arg-type]
    for name in names[len(definition.inputs) : count]:
        by_name.setdefault(name, by_name[names[0]])
        types.setdefault(name, types[names[0]])
    descs = [
        TensorDesc(tuple(by_name[name]), as_data_type(types[name])) if name in by_name else None
        for name in names
    ]
    cut = len(definition.inputs)
    return run_tiling(op, arch or arch_of(info.npu_arch), info, descs[:cut], descs[cut:], attrs)


def _named(
    names: Sequence[str], given: Sequence[Any] | Mapping[str, Any], what: str, op: str
) -> dict[str, Any]:
    """Turn values in order into values by name and refuse what does not belong."""
    if not hasattr(given, "keys"):
        if len(given) > len(names):
            raise TilingError(
                f"{op} has {len(names)} tensors, {len(given)} {what}s are given",
                legal=", ".join(names),
            )
        return dict(zip(names, given, strict=False))
    unknown = [name for name in given if name not in names]
    if unknown:
        raise TilingError(f"{op} has no tensor {unknown[0]!r}", legal=", ".join(names))
    return dict(given)
