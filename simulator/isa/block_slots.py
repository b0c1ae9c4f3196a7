"""What the waits through global memory share: slots of 32 bytes a block, flags, polling."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.dtypes import int32_t
from simulator.errors import ArgumentError, OutOfBoundsError, QueueError
from simulator.instruction import Plan
from simulator.isa.sync import set_flag, wait_flag
from simulator.tensor import GlobalTensor, LocalTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simulator.core import AICore
    from simulator.enums import HardEvent
    from simulator.instruction import InstructionSpec

SLOT: Final = 8
"""int32_t elements of a block's slot in a workspace: 32 bytes."""


@contextmanager
def called_from(core: AICore, frame: Any) -> Iterator[None]:
    """Attribute the basic calls of a library call to the user's line."""
    before = core.caller
    core.caller = before or frame
    try:
        yield
    finally:
        core.caller = before


def flag(core: AICore, event: HardEvent) -> None:
    """Set a flag and wait for it, with a free event id."""
    if core.pipe is None:
        raise QueueError(
            "the block has no TPipe to take an event id from",
            code="queue.no_pipe",
            api="GetTPipePtr",
            fix="create a TPipe before calls that synchronise through GM",
            source="mirror-cann/asc-devkit impl/basic_api/kernel_operator_block_sync_intf_impl.h",
        )
    number = core.pipe.FetchEventID(event)
    frame = core.caller or core.kernel_site
    set_flag(core, event, number, frame)
    wait_flag(core, event, number, frame)


def poll(
    core: AICore, spec: InstructionSpec, ready: Callable[[], bool], describe: Callable[[], str]
) -> None:
    """Record a wait for GM and stop the block until ``ready()``."""
    key = (spec.name, "poll")
    plan = core.plans.get(key)
    if plan is None:
        plan = core.plans[key] = Plan(spec, "poll")
    frame = core.caller or core.kernel_site
    core.issue(plan, (), frame)
    core.wait_until(ready, describe, frame)


def slots(gm: GlobalTensor, count: int) -> Any:
    """Return the first word of each of ``count`` slots, as GM holds it now."""
    ptr = gm._pointer()
    raw = ptr.allocation.data[ptr.offset : ptr.offset + 32 * (count - 1) + 4]
    words = np.frombuffer(raw.tobytes(), np.int32)
    return words[::SLOT]


def check_workspaces(
    spec: InstructionSpec, gm: Any, ub: Any, gm_elements: int, ub_elements: int
) -> None:
    """Refuse workspaces of another kind, or smaller than the numbers of elements given.

    Raises
    ------
    ArgumentError, OutOfBoundsError
    """
    wanted = (
        ("gmWorkspace", gm, GlobalTensor, gm_elements),
        ("ubWorkspace", ub, LocalTensor, ub_elements),
    )
    for name, tensor, kind, elements in wanted:
        if not isinstance(tensor, kind) or tensor.dtype is not int32_t:
            raise ArgumentError(
                f"{name} must be a {kind.__name__} of int32_t",
                api=spec.name,
                argument=name,
                got=repr(tensor),
                legal=f"{kind.__name__}(int32_t)",
                source=spec.source,
            )
        room = tensor.length
        if isinstance(tensor, GlobalTensor):
            room = min(room, tensor._pointer().size // 4)
        if room < elements:
            raise OutOfBoundsError(
                f"{name} is too small",
                api=spec.name,
                argument=name,
                got=f"{room * 4} bytes",
                legal=f">= {elements * 4} bytes: 32 a block (and a last slot of 32 where the call "
                "needs it)",
                source=spec.source,
            )
