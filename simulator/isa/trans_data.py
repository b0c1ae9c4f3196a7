"""TransDataTo5HD: transpose 16 blocks that may lie anywhere in UB.

Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据排布转换/
TransDataTo5HD.md.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.core import current_core
from simulator.dtypes import DType, as_dtype, uint64_t
from simulator.enums import Arch
from simulator.errors import AlignmentError, ArgumentError, DTypeError, OutOfBoundsError
from simulator.instruction import READ, WRITE, Access, Operand, Plan, VectorWork
from simulator.isa.blocks import UNSIGNED, as_params
from simulator.isa.families import declare, publish, spec_for
from simulator.isa.lanes import BLOCK, check_tensor
from simulator.isa.rearrange_params import TransDataTo5HDParams
from simulator.tensor import LocalTensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.core import AICore
    from simulator.instruction import InstructionSpec

_PAGE: Final = (
    "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/数据排布转换/"
    "TransDataTo5HD.md"
)
_BLOCKS: Final = 16


def _trans_data_rule() -> None:
    """16-bit types: ``dst block i [j] = src block j [i]`` for 16 x 16 elements.

    32-bit types: 16 blocks of 8 elements become 8 columns of 16; column ``i`` fills destination
    blocks ``2*i`` and ``2*i + 1``. 8-bit types: 16 x 16 bytes of the lower or upper halves that
    ``srcHighHalf`` and ``dstHighHalf`` choose; the other half of a destination block stays.

    Lists hold 16 LocalTensors or UB addresses (then ``T`` is the element type), or are tensors of
    uint64_t that hold the addresses. With one repeat both lists are moved by the repeat strides;
    with more the first repeat takes the lists as they are.
    """


_TYPES_910B = "int8_t uint8_t int16_t uint16_t half int32_t uint32_t float"
_TRANS_DATA = declare(
    _trans_data_rule,
    "rearrange",
    (("dst", WRITE), ("src", READ)),
    {Arch.DAV_2201: _TYPES_910B, Arch.DAV_3510: f"{_TYPES_910B} bfloat16_t"},
    _PAGE,
    forms=("repeat",),
    name="TransDataTo5HD",
)


class _List(NamedTuple):
    """The 16 start addresses of one side, and the tensor that held them, if one did."""

    name: str
    addresses: tuple[int, ...]
    holder: LocalTensor | None = None


def TransDataTo5HD(
    dstList: Any, srcList: Any, nchwconvParams: Any = None, *rest: Any, T: Any = None
) -> None:
    """Transpose 16 blocks; with addresses as ``TransDataTo5HD(T, dstList, srcList, params)``."""
    if isinstance(dstList, DType) and len(rest) == 1:
        T, dstList, srcList, nchwconvParams = dstList, srcList, nchwconvParams, rest[0]
    params = as_params("TransDataTo5HD", nchwconvParams, TransDataTo5HDParams, "nchwconvParams")
    core = current_core()
    spec = spec_for("TransDataTo5HD", core)
    dtype = None if T is None else as_dtype(T)
    dst, dtype = _addresses(core, spec, "dst", dstList, dtype)
    src, dtype = _addresses(core, spec, "src", srcList, dtype)
    if dtype is None:
        raise ArgumentError(
            "addresses have no element type",
            api="TransDataTo5HD",
            argument="T",
            got="lists of addresses",
            legal="TransDataTo5HD(T, dstList, srcList, nchwconvParams)",
            source=spec.source,
        )
    holders = tuple(side.holder._key if side.holder is not None else None for side in (dst, src))
    key = ("TransDataTo5HD", dtype.code, dst.addresses, src.addresses, holders, params)
    plan = core.plans.get(key)
    if plan is None:
        spec.require(core.arch, dtype, "repeat")
        plan = core.plans[key] = _plan(core, spec, dtype, dst, src, params)
    core.issue(plan, (), sys._getframe(1))


publish(TransDataTo5HD, _TRANS_DATA)


def _addresses(
    core: AICore, spec: InstructionSpec, side: str, given: Any, dtype: DType | None
) -> tuple[_List, DType | None]:
    """Return the addresses of one side and the element type as far as it is known."""
    name = f"{side}List"
    if isinstance(given, LocalTensor):
        if given.dtype is not uint64_t:
            raise DTypeError(
                f"{side} as one tensor holds addresses",
                api=spec.name,
                argument=side,
                got=given.dtype.name,
                legal="a tensor of uint64_t, or a list of 16 tensors",
                source=spec.source,
            )
        check_tensor(spec.name, side, given, 8 * _BLOCKS, spec.source)
        words = core.local.ub[given.addr : given.addr + 8 * _BLOCKS].view(np.uint64)
        return _List(side, tuple(int(word) for word in words), given), dtype
    entries = list(given) if isinstance(given, tuple | list | np.ndarray) else []
    if len(entries) != _BLOCKS:
        raise ArgumentError(
            f"{name} has 16 entries",
            api=spec.name,
            argument=name,
            got=f"{len(entries)} entries" if entries else repr(given),
            legal="16 LocalTensors or 16 UB addresses",
            source=spec.source,
        )
    found = []
    for entry in entries:
        if not isinstance(entry, LocalTensor):
            found.append(int(entry))
            continue
        if dtype is not None and entry.dtype is not dtype:
            spec.require(core.arch, (dtype, entry.dtype), "repeat")
        dtype = entry.dtype
        found.append(entry.addr)
    return _List(name, tuple(found)), dtype


def _plan(
    core: AICore,
    spec: InstructionSpec,
    dtype: DType,
    dst: _List,
    src: _List,
    params: TransDataTo5HDParams,
) -> Plan:
    repeats = params.repeatTimes
    size = dtype.itemsize
    per = BLOCK // size
    first = 1 if repeats == 1 else 0
    lists = []
    for side, stride in ((dst, params.dstRepStride), (src, params.srcRepStride)):
        steps = BLOCK * stride * (first + np.arange(repeats))
        places = np.array(side.addresses, np.int64) + steps[:, None]
        _check_places(core, spec, side, places)
        lists.append(places)
    to, of = lists
    lanes = np.arange(_BLOCKS if size == 1 else per)
    low = [(16 if high and size == 1 else 0) for high in (params.dstHighHalf, params.srcHighHalf)]
    targets = (to[:, :, None] + low[0]) // size + lanes
    sources = (of[:, :, None] + low[1]) // size + lanes
    moved = BLOCK if size > 1 else BLOCK // 2
    operands = [
        Operand(
            name, role, "UB", dtype,
            tuple(Access(0, moved, (), tuple(int(p) + start for p in row)) for row in places),
        )
        for name, role, places, start in (("dst", WRITE, to, low[0]), ("src", READ, of, low[1]))
    ]  # fmt: skip
    for side in (dst, src):
        if side.holder is not None:
            used = Access(side.holder.addr, 8 * _BLOCKS)
            operands.append(Operand(f"{side.name} addresses", READ, "UB", uint64_t, (used,)))
    return Plan(
        spec,
        "repeat",
        operands,
        partial(_transpose, core.local.typed(UNSIGNED[size]), targets, sources)
        if repeats
        else None,
        work=VectorWork(dtype.name, repeats, int(targets.size), False, False),
        details=params._asdict(),
    )


def _check_places(
    core: AICore, spec: InstructionSpec, side: _List, places: NDArray[np.int64]
) -> None:
    if (places % BLOCK).any():
        at = int(np.argwhere(places % BLOCK)[0][1])
        raise AlignmentError(
            f"entry {at} of {side.name} is not 32-byte aligned",
            api=spec.name,
            argument=side.name,
            got=f"address {side.addresses[at]}",
            legal="a multiple of 32",
            source=spec.source,
        )
    top = len(core.local.ub)
    if places.size and (places.min() < 0 or places.max() + BLOCK > top):
        raise OutOfBoundsError(
            f"{side.name} reaches outside the unified buffer",
            api=spec.name,
            argument=side.name,
            got=f"blocks at {int(places.min())}..{int(places.max())}",
            legal=f"0..{top - BLOCK}",
            source=spec.source,
        )


def _transpose(typed: Any, targets: NDArray[np.int64], sources: NDArray[np.int64]) -> None:
    """Exchange block and lane; columns fill the destination blocks in their order."""
    typed[targets] = typed[sources].transpose(0, 2, 1).reshape(targets.shape)
