"""DataCopy between rows (ND) and 32-byte column blocks (NZ), which the library emulates.

The rule of the documents is what is computed. Source: mirror-cann/asc-devkit
docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据搬运
(DataCopy（GMToUB随路转换ND2NZ搬运）.md,
DataCopy（UBToGM随路转换NZ2ND搬运）.md).
"""

# ruff: noqa: RUF001, RUF002 - the names of pages of the manual

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simulator.enums import Arch, PipeID
from simulator.errors import ArgumentError
from simulator.instruction import READ, WRITE, Access, CopyWork, Operand, Plan
from simulator.isa.atomic import combiner
from simulator.isa.copy_plan import GM_TO_UB, UB_TO_GM, alignment, require_equal_types, view
from simulator.isa.families import declare, spec_for
from simulator.isa.lanes import BLOCK, check_tensor
from simulator.isa.params import check_range

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from simulator.core import AICore
    from simulator.instruction import InstructionSpec
    from simulator.isa.copy_params import Nd2NzParams, Nz2NdParamsFull
    from simulator.memory import GlobalAddress
    from simulator.tensor import GlobalTensor, LocalTensor

    Bytes = NDArray[np.uint8]

_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据搬运/{}.md"
_NARROW = "int8_t uint8_t int16_t uint16_t half bfloat16_t int32_t uint32_t float"
_FP8 = "hifloat8_t fp8_e8m0_t fp8_e5m2_t fp8_e4m3fn_t"


def _nd_to_nz_rule() -> None:
    """Copy matrices from rows in GM to column blocks of 32 bytes in UB."""


def _nz_to_nd_rule() -> None:
    """Copy matrices from column blocks of 16 elements in UB to rows in GM."""


declare(
    _nd_to_nz_rule, "copy", (("dst", WRITE), ("src", READ)),
    {Arch.DAV_2201: _NARROW, Arch.DAV_3510: f"bool {_NARROW} {_FP8} complex32"},
    _PAGE.format("DataCopy（GMToUB随路转换ND2NZ搬运）"),
    pipe=PipeID.PIPE_MTE2, forms=("ND2NZ",), name="DataCopy[ND2NZ]",
)  # fmt: skip
declare(
    _nz_to_nd_rule, "copy", (("dst", WRITE), ("src", READ)),
    {
        Arch.DAV_2201: "int16_t uint16_t half bfloat16_t int32_t uint32_t float",
        Arch.DAV_3510: f"bool {_NARROW} {_FP8} complex32 int64_t uint64_t double complex64",
    },
    _PAGE.format("DataCopy（UBToGM随路转换NZ2ND搬运）"),
    pipe=PipeID.PIPE_MTE3, forms=("NZ2ND",), name="DataCopy[NZ2ND]",
)  # fmt: skip

CUBE: Final = 16
"""Elements of a column block of NZ2ND (BLOCK_CUBE)."""


class Box(NamedTuple):
    """A part of the copy: runs of ``inner`` bytes in three nested steps on both sides."""

    inner: int
    sizes: tuple[int, int, int]
    gm_start: int
    gm_strides: tuple[int, int, int]
    ub_start: int
    ub_strides: tuple[int, int, int]

    def gm(self) -> Access:
        """Return the bytes of global memory."""
        return Access(
            self.gm_start, self.inner, tuple(zip(self.sizes, self.gm_strides, strict=True))
        )

    def ub(self, addr: int) -> Access:
        """Return the bytes of UB when the tensor starts at ``addr``."""
        steps = tuple(zip(self.sizes, self.ub_strides, strict=True))
        return Access(addr + self.ub_start, self.inner, steps)


def nd_to_nz(
    core: AICore,
    direction: str,
    local: LocalTensor,
    remote: GlobalTensor,
    params: Nd2NzParams,
) -> Plan:
    """Bind a copy of ND matrices in GM to NZ matrices in UB; short rows end in zeros.

    Raises
    ------
    ArgumentError, DTypeError, AlignmentError, OutOfBoundsError
    """
    spec = spec_for("DataCopy[ND2NZ]", core)
    _require_direction(spec, direction, GM_TO_UB, "Nd2NzParams")
    for name, low, high in (
        ("ndNum", 0, 4095), ("nValue", 0, 16384), ("dValue", 0, 65535),
        ("srcNdMatrixStride", 0, 65535), ("srcDValue", 1, 65535), ("dstNzC0Stride", 1, 16384),
        ("dstNzNStride", 1, 16384), ("dstNzMatrixStride", 0, 65535),
    ):  # fmt: skip
        check_range(spec.name, name, getattr(params, name), low, high, spec.source)
    spec.require(core.arch, local.dtype, "count")
    size = local.dtype.itemsize
    per_block = BLOCK // size
    full, rest = divmod(params.dValue, per_block)
    gm = (params.srcNdMatrixStride * size, BLOCK, params.srcDValue * size)
    ub = (
        params.dstNzMatrixStride * size,
        params.dstNzC0Stride * BLOCK,
        params.dstNzNStride * BLOCK,
    )
    boxes = []
    if full:
        boxes.append(Box(BLOCK, (params.ndNum, full, params.nValue), 0, gm, 0, ub))
    zeros = None
    if rest:
        sizes = (params.ndNum, 1, params.nValue)
        boxes.append(Box(rest * size, sizes, full * BLOCK, gm, full * ub[1], ub))
        zeros = Box(BLOCK - rest * size, sizes, 0, gm, full * ub[1] + rest * size, ub)
    return _plan(core, spec, direction, local, remote, boxes, zeros, params)


def nz_to_nd(
    core: AICore,
    direction: str,
    local: LocalTensor,
    remote: GlobalTensor,
    params: Nz2NdParamsFull,
) -> Plan:
    """Bind a copy of NZ matrices in UB to ND matrices in GM.

    Raises
    ------
    ArgumentError, DTypeError, AlignmentError, OutOfBoundsError
    """
    spec = spec_for("DataCopy[NZ2ND]", core)
    _require_direction(spec, direction, UB_TO_GM, "Nz2NdParamsFull")
    for name, low, high in (
        ("ndNum", 0, 4095), ("nValue", 1, 8192), ("dValue", 1, 8192), ("srcNdMatrixStride", 1, 512),
        ("srcNStride", 0, 4096), ("dstDStride", 1, 65535), ("dstNdMatrixStride", 1, 65535),
    ):  # fmt: skip
        check_range(spec.name, name, getattr(params, name), low, high, spec.source)
    if params.dValue % CUBE:
        raise ArgumentError(
            "dValue is not a multiple of 16",
            api=spec.name,
            argument="dValue",
            got=params.dValue,
            legal="a multiple of 16",
            source=spec.source,
        )
    spec.require(core.arch, local.dtype, "count")
    size = local.dtype.itemsize
    box = Box(
        CUBE * size,
        (params.ndNum, params.dValue // CUBE, params.nValue),
        0,
        (params.dstNdMatrixStride * size, CUBE * size, params.dstDStride * size),
        0,
        (
            params.srcNdMatrixStride * CUBE * CUBE * size,
            params.srcNStride * CUBE * size,
            CUBE * size,
        ),
    )
    return _plan(core, spec, direction, local, remote, [box], None, params)


def _plan(
    core: AICore,
    spec: InstructionSpec,
    direction: str,
    local: LocalTensor,
    remote: GlobalTensor,
    boxes: list[Box],
    zeros: Box | None,
    params: Any,
) -> Plan:
    inward = direction == GM_TO_UB
    require_equal_types(spec, *((local, remote) if inward else (remote, local)))
    moved = [box for box in boxes if all(box.sizes)]
    filled = [zeros] if moved and zeros is not None else []
    near = tuple(box.ub(local.addr) for box in (*moved, *filled))
    far = tuple(box.gm() for box in moved)
    reach = max((a.span()[1] for a in near), default=local.addr) - local.addr
    check_tensor(spec.name, "dst" if inward else "src", local, reach, spec.source)
    here = Operand("dst" if inward else "src", WRITE if inward else READ, "UB", local.dtype, near)
    there = Operand("src" if inward else "dst", READ if inward else WRITE, "GM", remote.dtype, far)
    pairs = [
        (view(core.local.ub, local.addr + b.ub_start, (*b.sizes, b.inner), (*b.ub_strides, 1)), b)
        for b in (*moved, *filled)
    ]
    run: Callable[..., None] | None = None
    if moved and inward:
        run = partial(_read, pairs[: len(moved)], [rows for rows, _ in pairs[len(moved) :]])
    elif moved:
        run = partial(_write, pairs, combiner(core, spec, local.dtype))
    bursts = sum(b.sizes[0] * b.sizes[1] * b.sizes[2] for b in moved)
    total = sum(a.nbytes for a in far)
    inner = moved[0].inner if moved else 0
    return Plan(
        spec,
        "bursts",
        (here, there) if inward else (there, here),
        run,
        pipe=PipeID.PIPE_MTE2 if inward else PipeID.PIPE_MTE3,
        work=CopyWork(direction, total, bursts, inner, alignment(remote._pointer())),
        details={
            "direction": direction,
            "reach": max((a.span()[1] for a in far), default=0),
            **params._asdict(),
        },
    )


def _read(pairs: list[tuple[Bytes, Box]], zeros: list[Bytes], ptr: GlobalAddress) -> None:
    data = ptr.allocation.data
    for rows, box in pairs:
        rows[:] = view(data, ptr.offset + box.gm_start, rows.shape, (*box.gm_strides, 1))
    for rows in zeros:
        rows[:] = 0


def _write(pairs: list[tuple[Bytes, Box]], combine: Any, ptr: GlobalAddress) -> None:
    data = ptr.allocation.data
    for rows, box in pairs:
        target = view(data, ptr.offset + box.gm_start, rows.shape, (*box.gm_strides, 1))
        if combine is None:
            target[:] = rows
        else:
            combine(target, rows)


def _require_direction(spec: InstructionSpec, direction: str, wanted: str, what: str) -> None:
    if direction != wanted:
        raise ArgumentError(
            f"{what} is for copies {wanted}",
            api=spec.name,
            argument="params",
            got=direction,
            legal=wanted,
            source=spec.source,
        )
