"""The NDDMA form of DataCopy (950): a box of 1 to 5 dimensions with free strides and padding.

Element ``(i0, …)`` of the box, paddings included, goes to the sum of ``i * loopDstStride`` in UB
and comes from the sum of ``(i - left padding) * loopSrcStride`` in GM; padding takes the constant
or the nearest element. Source: mirror-cann/asc-devkit
docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据搬运/DataCopy（GMToUB多维数据搬运NDDMA）.md and
impl/basic_api/dav_3510/kernel_operator_data_copy_impl.h.
"""

# ruff: noqa: RUF001, RUF002 - the names of pages of the manual

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.core import current_core
from simulator.enums import Arch, PipeID
from simulator.errors import ArgumentError, OutOfBoundsError
from simulator.instruction import READ, WRITE, Access, CopyWork, Operand, Plan
from simulator.isa.copy_params import UNSET_PAD, NdDmaConfig, NdDmaLoopInfo, NdDmaParams
from simulator.isa.copy_plan import (
    GM_TO_UB,
    PADDING_VALUE,
    Filler,
    alignment,
    require_equal_types,
    view,
)
from simulator.isa.families import check_scalar, declare, publish, spec_for
from simulator.isa.lanes import check_capacity
from simulator.isa.params import check_range

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.core import AICore
    from simulator.instruction import InstructionSpec
    from simulator.memory import GlobalAddress
    from simulator.tensor import GlobalTensor, LocalTensor

_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/{}.md"


def _nddma_rule() -> None:
    """Copy a box of 1 to 5 dimensions from GM to UB, with strides and padding."""


def _dci_rule() -> None:
    """Empty the cache of NDDMA copies."""


_NDDMA = declare(
    _nddma_rule, "copy", (("dst", WRITE), ("src", READ)),
    {
        Arch.DAV_3510: "bool int8_t uint8_t int16_t uint16_t half bfloat16_t int32_t uint32_t "
        "float complex32 int64_t uint64_t double complex64"
    },
    _PAGE.format("数据搬运/DataCopy（GMToUB多维数据搬运NDDMA）"),
    pipe=PipeID.PIPE_MTE2, forms=("NDDMA",), name="DataCopy[NDDMA]",
)  # fmt: skip
_DCI = declare(
    _dci_rule, "copy", (), {Arch.DAV_3510: ""}, _PAGE.format("数据搬运辅助配置接口/NdDmaDci"),
    pipe=PipeID.PIPE_S, forms=("scalar",), name="NdDmaDci",
)  # fmt: skip


def NdDmaDci() -> None:
    """Empty the cache of NDDMA copies, before GM that others have written is copied (950)."""
    core = current_core()
    plan = core.plans.get("NdDmaDci")
    if plan is None:
        plan = core.plans["NdDmaDci"] = Plan(spec_for("NdDmaDci", core), "scalar")
    core.issue(plan, (), sys._getframe(1))


publish(NdDmaDci, _DCI)


def nddma(
    core: AICore,
    direction: str,
    local: LocalTensor,
    remote: GlobalTensor,
    params: NdDmaParams,
    config: Any,
) -> Plan:
    """Check an NDDMA copy and bind it to memory.

    Raises
    ------
    ArgumentError, DTypeError, OutOfBoundsError, UnsupportedError
    """
    spec = spec_for("DataCopy[NDDMA]", core)
    settings = NdDmaConfig() if config is None else config
    _check(spec, direction, params, settings)
    require_equal_types(spec, local, remote)
    spec.require(core.arch, local.dtype, "count")
    loops = params.loopInfo
    left, right = _paddings(loops, settings)
    if local.dtype.bits == 64 and (settings.isNearestValueMode or params.constantValue != 0):
        raise ArgumentError(
            "64-bit types pad with the constant zero only",
            api=spec.name,
            argument="constantValue, isNearestValueMode",
            got=f"{params.constantValue}, {settings.isNearestValueMode}",
            legal="0, False",
            source=spec.source,
        )
    value = check_scalar(spec, local.dtype, params.constantValue, "constantValue")
    size = local.dtype.itemsize
    sizes = [a + n + b for a, n, b in zip(left, loops.loopSize, right, strict=True)]
    ub = _outermost_first(sizes, loops.loopDstStride, size)
    gm = _outermost_first(loops.loopSize, loops.loopSrcStride, size)
    written = Access(local.addr, size, ub)
    read = Access(0, size, gm)
    _check_ub(spec, local, written)
    whole = view(
        core.local.ub,
        local.addr,
        (*(n for n, _ in ub), size),
        (*(step for _, step in ub), 1),
    )
    inside = tuple(slice(a, a + n) for a, n in zip(left[::-1], loops.loopSize[::-1], strict=True))
    padded = any(left) or any(right)
    if padded and settings.isNearestValueMode:
        nearest = [
            np.clip(np.arange(total) - a, 0, n - 1)
            for total, a, n in zip(sizes[::-1], left[::-1], loops.loopSize[::-1], strict=True)
        ]
        run: Any = partial(_copy_nearest, whole, gm, np.ix_(*nearest))
    else:
        raw = np.frombuffer(value.tobytes(), np.uint8) if padded else None
        run = partial(_copy_constant, whole, gm, inside, raw)
    total = int(np.prod(sizes))
    moved = int(np.prod(loops.loopSize))
    fillers = _fillers(local.addr, size, ub, left, right) if padded else ()
    return Plan(
        spec,
        "bursts",
        (
            Operand("dst", WRITE, "UB", local.dtype, (written,)),
            Operand("src", READ, "GM", remote.dtype, (read,)),
        ),
        run,
        pipe=PipeID.PIPE_MTE2,
        work=_work(loops, size, moved, total, remote),
        details={
            "direction": GM_TO_UB,
            "reach": read.span()[1],
            "nearest": bool(settings.isNearestValueMode),
            **loops._asdict(),
            **({"filler": fillers} if fillers else {}),
        },
    )


def _work(
    loops: NdDmaLoopInfo, size: int, moved: int, total: int, remote: GlobalTensor
) -> CopyWork:
    """Return the size of the copy: runs of the innermost dimension when it is dense in GM."""
    dense = loops.loopSrcStride[0] == 1
    burst = loops.loopSize[0] * size if dense else size
    bursts = moved // loops.loopSize[0] if dense else moved
    return CopyWork(GM_TO_UB, total * size, bursts, burst, alignment(remote._pointer()))


def _outermost_first(
    sizes: Any, strides: tuple[int, ...], size: int
) -> tuple[tuple[int, int], ...]:
    return tuple((n, s * size) for n, s in zip(sizes[::-1], strides[::-1], strict=True))


def _paddings(loops: NdDmaLoopInfo, config: NdDmaConfig) -> tuple[tuple[int, ...], tuple[int, ...]]:
    dims = len(loops.loopSize)
    left = loops.loopLpSize if config.loopLpSize == UNSET_PAD else (config.loopLpSize,) * dims
    right = loops.loopRpSize if config.loopRpSize == UNSET_PAD else (config.loopRpSize,) * dims
    return left, right


def _check(spec: InstructionSpec, direction: str, params: Any, config: Any) -> None:
    if direction != GM_TO_UB:
        raise ArgumentError(
            "NdDmaParams is for copies GM->UB",
            api=spec.name,
            argument="params",
            got=direction,
            legal=GM_TO_UB,
            source=spec.source,
        )
    if not isinstance(params.loopInfo, NdDmaLoopInfo) or not isinstance(config, NdDmaConfig):
        raise ArgumentError(
            "needs NdDmaParams(NdDmaLoopInfo(…), constantValue), and config=NdDmaConfig(…)",
            api=spec.name,
            got=f"{params!r}, config {config!r}",
            legal="NdDmaParams and NdDmaConfig",
            source=spec.source,
        )
    params.loopInfo.check(spec.name, spec.source)
    for name in ("loopLpSize", "loopRpSize"):
        if getattr(config, name) != UNSET_PAD:
            check_range(spec.name, f"config.{name}", getattr(config, name), 0, 255, spec.source)


def _check_ub(spec: InstructionSpec, local: LocalTensor, written: Access) -> None:
    """Check the reach in UB; an NDDMA copy needs no 32-byte alignment there."""
    reach = written.span()[1] - local.addr
    if reach > local.nbytes:
        raise OutOfBoundsError(
            f"dst is too small: the copy reaches {reach} bytes, the tensor holds {local.nbytes}",
            api=spec.name,
            argument="dst",
            got=f"{reach} bytes",
            legal=f"<= {local.nbytes} bytes ({local.length} elements)",
            source=spec.source,
        )
    check_capacity(spec.name, "dst", local, spec.source)


def _fillers(
    addr: int,
    size: int,
    ub: tuple[tuple[int, int], ...],
    left: tuple[int, ...],
    right: tuple[int, ...],
) -> tuple[Filler, ...]:
    """Return the padding as one slab for each padded side of each dimension."""
    slabs = []
    for number, (a, b) in enumerate(zip(left[::-1], right[::-1], strict=True)):
        total, step = ub[number]
        for first, width in ((0, a), (total - b, b)):
            if width:
                dims = (*ub[:number], (width, step), *ub[number + 1 :])
                slabs.append(Filler(PADDING_VALUE, Access(addr + first * step, size, dims)))
    return tuple(slabs)


def _source(gm: tuple[tuple[int, int], ...], size: int, ptr: GlobalAddress) -> NDArray[np.uint8]:
    shape, strides = (*(n for n, _ in gm), size), (*(step for _, step in gm), 1)
    return view(ptr.allocation.data, ptr.offset, shape, strides)


def _copy_constant(
    whole: NDArray[np.uint8],
    gm: tuple[tuple[int, int], ...],
    inside: tuple[slice, ...],
    constant: NDArray[np.uint8] | None,
    ptr: GlobalAddress,
) -> None:
    if constant is not None:
        whole[:] = constant
    whole[inside] = _source(gm, whole.shape[-1], ptr)


def _copy_nearest(
    whole: NDArray[np.uint8],
    gm: tuple[tuple[int, int], ...],
    nearest: Any,
    ptr: GlobalAddress,
) -> None:
    whole[:] = _source(gm, whole.shape[-1], ptr)[nearest]
