"""The slice form of DataCopy: a software loop of copies over a strided sub-box of a tensor.

Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据搬运/
DataCopy（GM与UB切片数据搬运）.md and impl/basic_api/kernel_operator_data_copy_base_impl.h.
"""

# ruff: noqa: RUF002 - the names of pages of the manual

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from simulator.errors import AlignmentError, ArgumentError
from simulator.isa.copy_params import SliceInfo
from simulator.isa.copy_plan import GM_TO_UB, Geometry, issue, plan_gm, whole_blocks
from simulator.isa.lanes import BLOCK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.core import AICore
    from simulator.instruction import InstructionSpec

MAX_DIMS = 8
"""K_MAX_SHAPE_DIM of the headers."""


def copy_slices(
    core: AICore,
    spec: InstructionSpec,
    direction: str,
    dst: Any,
    src: Any,
    dst_slices: Any,
    src_slices: Any,
    dims: Any,
    frame: Any,
) -> None:
    """Copy the parts of the innermost dimension, once for every position in the outer ones.

    Raises
    ------
    ArgumentError, AlignmentError, OutOfBoundsError
    """
    pair = _checked(spec, (dst, src), (dst_slices, src_slices), dims)
    outward = direction != GM_TO_UB
    local, remote = (src, dst) if outward else (dst, src)
    ub_slices, gm_slices = pair[::-1] if outward else pair
    size = local.dtype.itemsize
    nbytes = gm_slices[0].burstLen * BLOCK
    counts = [_parts(s, local.dtype.bits) for s in (ub_slices[0], gm_slices[0])]
    ub_starts, gm_starts = (_starts(slices) for slices in (ub_slices, gm_slices))
    if counts[0] != counts[1] or len(ub_starts) != len(gm_starts):
        raise ArgumentError(
            "source and destination slices hold different numbers of parts",
            api=spec.name,
            got=f"UB {counts[0]} x {len(ub_starts)}, GM {counts[1]} x {len(gm_starts)}",
            legal="equal numbers",
            source=spec.source,
        )
    ub_gap = ub_slices[0].stride * size
    if ub_gap % BLOCK:
        raise AlignmentError(
            "the gap on the UB side is not a whole number of 32-byte blocks",
            api=spec.name,
            argument="stride",
            got=f"{ub_slices[0].stride} elements ({ub_gap} bytes)",
            legal=f"a multiple of {BLOCK // size} elements",
            source=spec.source,
        )
    gm_gap = gm_slices[0].stride * size
    shape = Geometry(counts[0], nbytes, nbytes + gm_gap, whole_blocks(nbytes) + ub_gap)
    for ub_start, gm_start in zip(ub_starts, gm_starts, strict=True):
        near, far = local[ub_start], remote[gm_start]
        key = ("DataCopy slice", direction, near._key, shape, core.copy_state, spec.name)
        plan = core.plans.get(key)
        if plan is None:
            plan = core.plans[key] = plan_gm(core, spec, direction, near, far, shape)
        issue(core, plan, far, far._pointer(), frame)


def _checked(
    spec: InstructionSpec, tensors: tuple[Any, Any], slices: tuple[Any, Any], dims: Any
) -> tuple[tuple[SliceInfo, ...], tuple[SliceInfo, ...]]:
    """Return both slice lists with their shapes filled in from the tensors where they are 0."""
    whole = isinstance(dims, int) and 1 <= dims <= MAX_DIMS
    if not whole or any(not isinstance(part, list | tuple) or len(part) < dims for part in slices):
        raise ArgumentError(
            "needs a list of SliceInfo for both sides, one entry a dimension",
            api=spec.name,
            got=f"dimValue {dims!r}, {slices!r}",
            legal=f"dimValue 1..{MAX_DIMS}, lists at least as long",
            source=spec.source,
        )
    taken = [tuple(SliceInfo(*part) for part in side[:dims]) for side in slices]
    if any(a.burstLen != b.burstLen for a, b in zip(*taken, strict=True)):
        raise ArgumentError(
            "burstLen differs between source and destination",
            api=spec.name,
            argument="burstLen",
            got=", ".join(str([s.burstLen for s in side]) for side in taken),
            legal="equal in every dimension",
            source=spec.source,
        )
    if any(s.burstLen != 1 for s in taken[0][1:]):
        raise ArgumentError(
            "burstLen beyond the innermost dimension must be 1",
            api=spec.name,
            argument="burstLen",
            got=[s.burstLen for s in taken[0]],
            legal="1 in dimensions 1 and up",
            source=spec.source,
        )
    if not taken[1][0].shapeValue:
        taken = [
            tuple(
                s._replace(shapeValue=n) for s, n in zip(side, _shape(spec, t, dims), strict=True)
            )
            for side, t in zip(taken, tensors, strict=True)
        ]
    for side in taken:
        for number, part in enumerate(side):
            if not 0 <= part.startIndex <= part.endIndex < part.shapeValue:
                raise ArgumentError(
                    f"dimension {number} of a slice leaves its shape",
                    api=spec.name,
                    got=f"elements {part.startIndex}..{part.endIndex} of {part.shapeValue}",
                    legal="0 <= startIndex <= endIndex < shapeValue",
                    source=spec.source,
                )
    return taken[0], taken[1]


def _shape(spec: InstructionSpec, tensor: Any, dims: int) -> Sequence[int]:
    shape: tuple[int, ...] = tensor.GetShapeInfo().shape
    if len(shape) < dims:
        raise ArgumentError(
            "shapeValue is 0 and the tensor has no shape of that many dimensions",
            api=spec.name,
            got=f"{len(shape)} dimensions",
            legal=f">= {dims}",
            fix="give shapeValue in SliceInfo, or tensor.SetShapeInfo(shape)",
            source=spec.source,
        )
    return shape[:dims]


def _parts(innermost: SliceInfo, bits: int) -> int:
    """Return the number of bursts in one row of a slice."""
    elements = innermost.endIndex - innermost.startIndex + 1
    period = innermost.burstLen * BLOCK * 8 // bits + innermost.stride
    return (elements + innermost.stride) // period


def _starts(slices: Sequence[SliceInfo]) -> list[int]:
    """Return the element offset of every row of a slice, innermost outer dimension fastest."""
    pitch, steps = 1, []
    for number, part in enumerate(slices):
        if number:
            picked = range(part.startIndex, part.endIndex + 1, part.stride + 1)
            steps.append([i * pitch for i in picked])
        pitch *= part.shapeValue
    return [slices[0].startIndex + sum(offsets) for offsets in product(*steps[::-1])]
