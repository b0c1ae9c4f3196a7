"""The scalar unit's data cache: cleaning, invalidating and preloading lines of 64 bytes.

Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/缓存控制 (DataCacheCleanAndInvalid.md,
DataCachePreload.md).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from simulator.core import AICore, current_core
from simulator.dtypes import as_dtype, uint8_t
from simulator.enums import Arch, CacheLine, DcciDst, PipeID
from simulator.errors import ArgumentError, OutOfBoundsError
from simulator.instruction import UPDATE, Access, Operand, Plan
from simulator.isa.families import declare, publish, spec_for
from simulator.isa.params import check_range
from simulator.memory import DataCache, GlobalAddress
from simulator.tensor import GlobalTensor, LocalTensor

if TYPE_CHECKING:
    from simulator.instruction import InstructionSpec

_PAGE = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/缓存控制/{}.md"
_ARCHES = {Arch.DAV_2201: "", Arch.DAV_3510: ""}


def _clean_rule() -> None:
    """Write dirty lines of the data cache back to GM and forget them."""


def _preload_rule() -> None:
    """Load one line of GM into the data cache."""


_CLEAN = declare(
    _clean_rule, "cache", (("dst", UPDATE),), _ARCHES, _PAGE.format("DataCacheCleanAndInvalid"),
    pipe=PipeID.PIPE_S, forms=("line", "entire"), name="DataCacheCleanAndInvalid",
)  # fmt: skip
_PRELOAD = declare(
    _preload_rule, "cache", (), _ARCHES, _PAGE.format("DataCachePreload"),
    pipe=PipeID.PIPE_S, forms=("line",), name="DataCachePreload",
)  # fmt: skip


def DataCacheCleanAndInvalid(entireType: CacheLine, dcciDst: Any, dst: Any = None) -> None:
    """``DataCacheCleanAndInvalid(CacheLine.SINGLE_CACHE_LINE, DcciDst.CACHELINE_OUT, tensor)``.

    SINGLE_CACHE_LINE works on the line of the tensor's first element, ENTIRE_DATA_CACHE on all
    lines. ``dcciDst`` may be left out. A line written by this core goes back as a whole.
    """
    core = current_core()
    spec = spec_for("DataCacheCleanAndInvalid", core)
    if dst is None:
        dst, dcciDst = dcciDst, DcciDst.CACHELINE_OUT
    if entireType not in CacheLine.__members__.values() or dcciDst not in tuple(DcciDst):
        raise ArgumentError(
            "needs the extent and the memory to be consistent with",
            api=spec.name,
            got=f"{entireType!r}, {dcciDst!r}",
            legal="CacheLine.SINGLE_CACHE_LINE or ENTIRE_DATA_CACHE; DcciDst.CACHELINE_ALL, _UB, "
            "_OUT, _ATOMIC",
            source=spec.source,
        )
    if not isinstance(dst, GlobalTensor | LocalTensor):
        raise ArgumentError(
            "needs a tensor",
            api=spec.name,
            argument="dst",
            got=repr(dst),
            legal="GlobalTensor, or LocalTensor with DcciDst.CACHELINE_UB",
            source=spec.source,
        )
    details = {"extent": CacheLine(entireType).name, "memory": DcciDst(dcciDst).name}
    frame = sys._getframe(1)
    if isinstance(dst, LocalTensor) or dcciDst == DcciDst.CACHELINE_UB:
        # Scalar access to UB is not cached here, so that there is nothing to make consistent.
        core.issue(_plan(core, spec, "UB", (), None, details), (), frame)
    elif entireType == CacheLine.ENTIRE_DATA_CACHE:
        core.issue(_plan(core, spec, "entire", (), _clean_all, details), (core.cache,), frame)
    else:
        ptr = dst._pointer()
        inside = ptr.offset % DataCache.LINE
        end = min(DataCache.LINE, len(ptr.allocation.data) - ptr.offset + inside)
        line = Access(-inside, end)
        operand = Operand("dst", UPDATE, "GM", uint8_t, (line,))
        plan = _plan(core, spec, (inside, end), (operand,), _clean_line, details)
        core.issue(plan, (ptr, core.cache), frame)


def DataCachePreload(src: Any, cacheOffset: int) -> None:
    """Load the line that is ``cacheOffset`` bytes behind the start of ``src`` (uint64_t)."""
    core = current_core()
    spec = spec_for("DataCachePreload", core)
    if not isinstance(src, GlobalTensor) or src.dtype is not as_dtype("uint64_t"):
        raise ArgumentError(
            "needs a GlobalTensor of uint64_t",
            api=spec.name,
            argument="src",
            got=repr(src),
            legal="GlobalTensor(uint64_t)",
            source=spec.source,
        )
    check_range(spec.name, "cacheOffset", cacheOffset, -(2**63), 2**63 - 1, spec.source)
    ptr = src._pointer() + cacheOffset
    if not 0 <= ptr.offset < len(ptr.allocation.data):
        raise OutOfBoundsError(
            "the line is outside the memory the kernel was given",
            api=spec.name,
            argument="cacheOffset",
            got=cacheOffset,
            legal=f"0..{len(ptr.allocation.data) - 1} from the start of {ptr.allocation!r}",
            source=spec.source,
        )
    core.issue(_plan(core, spec, "line", (), _load_line, {}), (ptr, core.cache), sys._getframe(1))


publish(DataCacheCleanAndInvalid, _CLEAN)
publish(DataCachePreload, _PRELOAD)


def write_back(core: AICore) -> None:
    """Write dirty lines back at the end of a block.

    The public documents do not say what becomes of them; that they reach GM before the next kernel
    starts is assumed here.
    """
    if core.cache.dirty:
        details = {"extent": CacheLine.ENTIRE_DATA_CACHE.name, "memory": "end of the kernel"}
        plan = _plan(core, _CLEAN, "end", (), _clean_all, details)
        core.issue(plan, (core.cache,), core.kernel_site)


def _plan(
    core: AICore,
    spec: InstructionSpec,
    what: Any,
    operands: tuple[Operand, ...],
    run: Any,
    details: dict[str, Any],
) -> Plan:
    key = (spec.name, what, *details.values())
    plan = core.plans.get(key)
    if plan is None:
        plan = core.plans[key] = Plan(spec, "scalar", operands, run, details=details)
    return plan


def _clean_line(ptr: GlobalAddress, cache: DataCache) -> None:
    cache.clean(ptr)


def _clean_all(cache: DataCache) -> None:
    cache.clean_all()


def _load_line(ptr: GlobalAddress, cache: DataCache) -> None:
    cache.read(ptr, 1)
