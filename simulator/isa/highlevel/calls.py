"""What the high-level calls share: arguments, temporary buffer, splitting, records.

A call is ``(dst, src[, sharedTmpBuffer][, calCount])``. On 910B the elements are worked on in
pieces that fit the temporary buffer; without ``sharedTmpBuffer`` the call takes what the TPipe has
not handed out ("stack buffer"). On 950 the temporary buffer is not used.

Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/高阶API, impl/adv_api/detail and
impl/basic_api/kernel_pop_stack_buffer.h.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simulator.dtypes import DType, uint8_t
from simulator.enums import Arch, TPosition
from simulator.errors import ArgumentError, OutOfBoundsError
from simulator.instruction import READ, WRITE, Plan
from simulator.isa.checks import check_count, fail_unless_tensor, require_local, spec_for
from simulator.isa.declarations import declare, publish
from simulator.isa.highlevel.registers import RegisterSteps, issue_all
from simulator.isa.highlevel.steps import UbSteps, with_count
from simulator.isa.lanes import check_tensor
from simulator.isa.system import ResetMask, SetMaskCount, SetMaskNorm
from simulator.tensor import LocalTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType

    from simulator.core import AICore
    from simulator.instruction import InstructionSpec

PAGE: Final = "mirror-cann/asc-devkit docs/zh/api/SIMD-API/高阶API/{}.md"

KFC_BYTES: Final = 64
"""Bytes at the end of UB that a stack buffer leaves free on 910B."""

_GRAIN: Final = 32
"""Elements that a piece is a multiple of."""


class Scratch(NamedTuple):
    """Temporary space of one element type on 910B: ``slots`` arrays of ``dtype`` elements.

    ``grain`` is what the elements of a piece are a multiple of.
    """

    dtype: DType | None = None
    slots: int = 0
    grain: int = _GRAIN


NO_SCRATCH: Final = Scratch()
HALF_FLOAT: Final = {Arch.DAV_2201: "half float", Arch.DAV_3510: "half float"}


@contextmanager
def composite(core: AICore, frame: FrameType) -> Iterator[None]:
    """Let the basic calls inside be recorded at the user's line."""
    outer = core.caller
    if outer is None:
        core.caller = frame
    try:
        yield
    finally:
        core.caller = outer


def declare_high_level(
    call: Callable[..., Any], dtypes: dict[Arch, str], page: str, sources: Sequence[str] = ("src",)
) -> InstructionSpec:
    """Declare a high-level call for the references; its steps are declared by themselves."""
    operands = (("dst", WRITE), *((name, READ) for name in sources))
    spec = declare(call, "high-level", operands, dtypes, PAGE.format(page), forms=("count",))
    publish(call, spec)
    return spec


def parse_unary(name: str, args: tuple[Any, ...], calCount: Any) -> tuple[LocalTensor | None, Any]:
    """Split ``([sharedTmpBuffer][, calCount])`` into both; the missing one is None.

    Raises
    ------
    ArgumentError
    """
    rest = list(args)
    tmp = rest.pop(0) if rest and isinstance(rest[0], LocalTensor) else None
    if rest and calCount is None:
        calCount = rest.pop(0)
    if rest:
        raise ArgumentError(
            "takes (dst, src[, sharedTmpBuffer][, calCount])",
            api=name,
            got=f"{len(args) + 2} arguments",
            legal="at most 4 arguments",
        )
    return tmp, calCount


def checked(
    name: str, tensors: Sequence[Any], labels: Sequence[str], count: Any
) -> tuple[AICore, InstructionSpec, int]:
    """Check the tensors of a call, all of one element type, and the number of elements.

    Raises
    ------
    SimulatorError
    """
    try:
        core: AICore = tensors[0]._core
    except AttributeError as error:
        raise fail_unless_tensor(error, name, *tensors) from None
    spec = spec_for(name, core)
    for label, tensor in zip(labels, tensors, strict=True):
        require_local(name, label, tensor)
    types = tuple(tensor.dtype for tensor in tensors)
    spec.require(core.arch, types[0] if len(set(types)) == 1 else types, "count")
    number = check_count(spec, tensors[1].length if count is None else count)
    for label, tensor in zip(labels, tensors, strict=True):
        check_tensor(name, label, tensor, tensor.dtype.bytes_for(number), spec.source)
    return core, spec, number


def scratch_tensors(
    core: AICore, spec: InstructionSpec, tmp: LocalTensor | None, scratch: Scratch
) -> tuple[int, list[LocalTensor]]:
    """Return the elements of a piece and its temporary tensors in ``tmp`` or the stack buffer.

    Raises
    ------
    ArgumentError, OutOfBoundsError
    """
    space = temporary_bytes(core, spec, tmp)
    split = piece_size(spec, space.nbytes, scratch)
    typed = space.ReinterpretCast(scratch.dtype or uint8_t)
    return split, [typed[slot * split] for slot in range(scratch.slots)]


def temporary_bytes(core: AICore, spec: InstructionSpec, tmp: LocalTensor | None) -> LocalTensor:
    """Return ``tmp``, or the stack buffer when it is None.

    Raises
    ------
    ArgumentError
        If ``tmp`` is not a tensor of bytes.
    """
    space = stack_buffer(core, spec) if tmp is None else tmp
    if space.dtype is not uint8_t:
        raise ArgumentError(
            "the temporary buffer is a tensor of bytes",
            api=spec.name,
            argument="sharedTmpBuffer",
            got=space.dtype.name,
            legal="LocalTensor of uint8_t",
            source=spec.source,
        )
    check_tensor(spec.name, "sharedTmpBuffer", space, space.nbytes, spec.source)
    return space


def piece_size(spec: InstructionSpec, nbytes: int, scratch: Scratch, fixed: int = 0) -> int:
    """Return how many elements at once ``nbytes`` suffice for, ``fixed`` of them used otherwise.

    Raises
    ------
    OutOfBoundsError
        If they do not suffice for the smallest piece.
    """
    dtype = scratch.dtype or uint8_t
    rows = max(nbytes - fixed, 0) // dtype.itemsize // scratch.slots
    split = rows // scratch.grain * scratch.grain
    if not split:
        raise OutOfBoundsError(
            "the temporary buffer is too small for one piece",
            api=spec.name,
            argument="sharedTmpBuffer",
            got=f"{nbytes} bytes",
            legal=f">= {fixed + scratch.grain * scratch.slots * dtype.itemsize} bytes",
            source=spec.source,
        )
    return split


def stack_buffer(core: AICore, spec: InstructionSpec) -> LocalTensor:
    """Return the bytes of UB that the TPipe has not handed out.

    Raises
    ------
    ArgumentError
        Without a TPipe, or when nothing is left.
    """
    if core.pipe is None:
        raise ArgumentError(
            "the form without sharedTmpBuffer takes its space from the TPipe",
            api=spec.name,
            got="a kernel without TPipe",
            fix="create a TPipe, or pass sharedTmpBuffer",
            source=spec.source,
        )
    start = core.pipe.used
    end = core.platform.memory.ub_bytes - KFC_BYTES
    if end <= start:
        raise ArgumentError(
            "the buffers of the TPipe leave no space for temporary values",
            api=spec.name,
            got=f"{start} of {end} bytes used",
            fix="make the queues smaller, or pass sharedTmpBuffer",
            source=spec.source,
        )
    return LocalTensor(core, start, uint8_t, end - start, TPosition.VECCALC)


def in_pieces(count: int, split: int, body: Callable[[UbSteps, int], None]) -> None:
    """Run ``body(steps, offset)`` over pieces of ``split`` elements in Counter mode."""
    SetMaskCount()
    with_count(split)
    steps = UbSteps(split)
    for offset in range(0, count - split + 1, split):
        body(steps, offset)
    rest = count % split
    if rest:
        with_count(rest)
        body(UbSteps(rest), count - rest)
    SetMaskNorm()
    ResetMask()


def run_registers(
    core: AICore,
    key: tuple[Any, ...],
    name: str,
    count: int,
    build: Callable[[RegisterSteps], list[Plan]],
    frame: FrameType,
) -> None:
    """Issue the steps of a vector function on 950, from the cache when an equal call was made."""
    if not count:
        return
    holder = core.plans.get(key)
    if holder is None:
        plans = build(RegisterSteps(core, name, count))
        holder = core.plans[key] = Plan(plans[0].spec, "steps", details={"steps": plans})
    issue_all(core, holder.details["steps"], frame)
