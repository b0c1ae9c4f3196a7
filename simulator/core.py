"""One AI vector core: it takes instructions in program order, runs them and records them.

The kernel is ordinary Python. Each call becomes a :class:`~simulator.instruction.Plan`, goes to the
FIFO of its pipe and runs at once unless that pipe waits for an event flag. As long as nothing
waits, the FIFOs are not used at all. Source of the pipe and flag rules:
mirror-cann/asc-devkit docs/zh/api (intra-core synchronisation) and impl/basic_api/kernel_event.h.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from simulator.enums import Arch, HardEvent, PipeID
from simulator.errors import (
    ConfigError,
    DeadlockError,
    FlagError,
    SimulatorError,
    SourceLocation,
)
from simulator.instruction import Plan, locate

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

    from simulator.dtypes import DType

    from simulator.memory import Allocation, Bytes, LocalMemory
    from simulator.platforms import Platform

    Entry = tuple[Plan, CodeType, int, tuple[Any, ...]]

PIPES: Final = (PipeID.PIPE_S, PipeID.PIPE_V, PipeID.PIPE_MTE2, PipeID.PIPE_MTE3)
"""The pipes of a vector core, in report order."""

FULL_MASK: Final = (0xFFFF_FFFF_FFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF)

_PACKAGE: Final = __name__.rpartition(".")[0] + "."


class AICore:
    """State of one core while it runs one block.

    Attributes
    ----------
    record : list
        Issued instructions in program order: ``(plan, code, lasti, params)``.
    counter_mode, mask : bool, tuple
        Vector mask mode and register (low word, high word); both outlive a call, as on the device.
    count_resets_mask : bool
        Whether a count form leaves Normal mode and an all-ones mask (910B: it is executed with the
        mask register; mirror-cann/asc-devkit impl/basic_api/dav_c220).
    numeric_mode : int
        Bits of the CTRL register that change results; part of every plan key.
    deq_scale : object
        What SetDeqScale wrote last (``simulator.isa.dequant``); None before the first call.
    """

    def __init__(
        self,
        platform: Platform,
        local: LocalMemory,
        block_idx: int,
        block_num: int,
        written: dict[Allocation, Bytes],
        *,
        auto_sync: bool,
        strict: bool = True,
    ) -> None:
        self.platform = platform
        self.arch = platform.arch
        self.local = local
        self.plans = local.plans
        self.block_idx = block_idx
        self.block_num = block_num
        self.written = written
        self.auto_sync = auto_sync
        self.strict = strict
        self.record: list[Entry] = []
        self.caller: FrameType | None = None
        self.kernel_site: Any = None
        self.stalled: dict[int, deque[Entry]] = {}
        self.count_resets_mask = platform.arch is not Arch.DAV_3510
        self.counter_mode = False
        self.mask = FULL_MASK
        self.numeric_mode = 0
        self.deq_scale: Any = None
        self.atomic = ""
        self.pipe: Any = None
        self.output: list[str] = []

    # -- issuing -----------------------------------------------------------------------------

    def issue(self, plan: Plan, params: tuple[Any, ...], frame: FrameType) -> None:
        """Record a call and run it, or queue it when a pipe is waiting."""
        if self.caller is not None:
            frame = self.caller
        entry = (plan, frame.f_code, frame.f_lasti, params)
        self.record.append(entry)
        if self.stalled:
            self._dispatch(entry)
        else:
            plan.run(*params)

    def set_flag(self, plan: Plan, frame: FrameType) -> None:
        """Issue a SetFlag: the flag rises when the source pipe reaches it."""
        if self.caller is not None:
            frame = self.caller
        entry = (plan, frame.f_code, frame.f_lasti, ())
        self.record.append(entry)
        if self.stalled:
            self._dispatch(entry)
        else:
            self._raise_flag(entry)

    def wait_flag(self, plan: Plan, frame: FrameType) -> None:
        """Issue a WaitFlag: the destination pipe stops until the flag is up, then lowers it."""
        if self.caller is not None:
            frame = self.caller
        entry = (plan, frame.f_code, frame.f_lasti, ())
        self.record.append(entry)
        flags = self.local.flags
        if not self.stalled and flags[plan.flag]:
            flags[plan.flag] = 0
        else:
            self._dispatch(entry)

    def barrier(self, plan: Plan, frame: FrameType) -> None:
        """Issue a PipeBarrier; ``PIPE_ALL`` stops the scalar unit until every pipe is idle."""
        if self.caller is not None:
            frame = self.caller
        entry = (plan, frame.f_code, frame.f_lasti, ())
        self.record.append(entry)
        if self.stalled:
            if plan.details["pipe"] == PipeID.PIPE_ALL.name:
                raise self._deadlock(scalar=entry)
            self._dispatch(entry)

    def atomic_rule(self, api: str, dtype: DType) -> Callable[..., Any] | None:
        """Return how a copy to GM combines with the old value, or None for a plain store."""
        return None

    def keep_initial(self, allocation: Allocation) -> None:
        """Remember the bytes of an allocation before the launch first writes to it."""
        if allocation not in self.written:
            self.written[allocation] = allocation.data.copy()

    # -- pipes -------------------------------------------------------------------------------

    def _dispatch(self, entry: Entry) -> None:
        queue = self.stalled.get(entry[0].pipe)
        if queue is not None:
            queue.append(entry)
        else:
            self._execute(entry)
            self._pump()

    def _execute(self, entry: Entry) -> None:
        plan = entry[0]
        if plan.event < 0:
            plan.run(*entry[3])
        elif plan.flag < 0:
            return
        elif plan.form == "set":
            self._raise_flag(entry)
        elif self.local.flags[plan.flag]:
            self.local.flags[plan.flag] = 0
        elif plan.pipe == PipeID.PIPE_S:
            raise self._deadlock(scalar=entry)
        else:
            self.stalled[plan.pipe] = deque((entry,))

    def _raise_flag(self, entry: Entry) -> None:
        plan = entry[0]
        flags = self.local.flags
        if flags[plan.flag]:
            event = HardEvent(plan.event)
            number = plan.flag % self.local.EVENT_IDS
            raise FlagError(
                f"flag {event.name} id {number} is set again before anything waited for it",
                code="sync.double_set",
                api="SetFlag",
                got="two SetFlag without a WaitFlag between them",
                legal="SetFlag and WaitFlag strictly in pairs per event and id",
                fix=f"WaitFlag(HardEvent.{event.name}, {number}) before this SetFlag, or use another event id",
                source="mirror-cann/asc-devkit docs/zh/api SetFlag-WaitFlag(ISASI).md",
                pipe=PipeID(plan.pipe).label,
            )
        flags[plan.flag] = 1

    def _pump(self) -> None:
        """Let every waiting pipe go on as far as it can."""
        moved = True
        while moved and self.stalled:
            moved = False
            for pipe, queue in list(self.stalled.items()):
                head = queue[0][0]
                if not self.local.flags[head.flag]:
                    continue
                moved = True
                self.local.flags[head.flag] = 0
                queue.popleft()
                del self.stalled[pipe]
                while queue and pipe not in self.stalled:
                    self._execute(queue.popleft())
                if queue:
                    self.stalled[pipe].extend(queue)

    # -- end of a block ----------------------------------------------------------------------

    def finish(self) -> None:
        """Close the block: destroy its TPipe and make sure that every pipe has run dry.

        Raises
        ------
        DeadlockError
            If a pipe still waits for a flag.
        """
        if self.pipe is not None:
            self.pipe.Destroy()
        if self.stalled:
            raise self._deadlock()

    def raised_flags(self) -> list[tuple[HardEvent, int]]:
        """Return the flags that are up, as (event, id)."""
        ids = self.local.EVENT_IDS
        return [
            (HardEvent(i // ids), i % ids) for i, up in enumerate(self.local.flags) if up
        ]

    def _deadlock(self, scalar: Entry | None = None) -> DeadlockError:
        waits = [(PipeID(pipe), queue[0]) for pipe, queue in sorted(self.stalled.items())]
        if scalar is not None:
            waits.insert(0, (PipeID.PIPE_S, scalar))
        described = []
        for pipe, entry in waits:
            place = locate(entry[1], entry[2])
            described.append(f"{pipe.label} waits at {place} for {self._awaited(entry)}")
        pipe, first = waits[-1] if scalar is not None and first_is_barrier(scalar) else waits[0]
        place = locate(first[1], first[2])
        plan = first[0]
        event = HardEvent(plan.event).name if plan.event >= 0 and plan.flag >= 0 else None
        number = plan.flag % self.local.EVENT_IDS if plan.flag >= 0 else None
        up = ", ".join(f"{e.name} id {i}" for e, i in self.raised_flags()) or "none"
        fix = (
            f"issue SetFlag(HardEvent.{event}, {number}) on pipe {event.split('_')[0]}, "
            "before the wait is reached"
            if event
            else "set the flag that the waiting pipe needs before this barrier"
        )
        return DeadlockError(
            "the block can never finish: " + "; ".join(described),
            got=f"flags that are up: {up}; waiting to be set behind a wait: {self._behind()}",
            fix=fix,
            source="mirror-cann/asc-devkit docs/zh/api SetFlag-WaitFlag(ISASI).md",
            location=place,
            block=self.block_idx,
            pipe=pipe.label,
            event=event,
            event_id=number,
            line=place.line,
            waits=described,
        )

    def _awaited(self, entry: Entry) -> str:
        plan = entry[0]
        if plan.flag < 0:
            return "all pipes (PipeBarrier PIPE_ALL)"
        event = HardEvent(plan.event)
        number = plan.flag % self.local.EVENT_IDS
        setters = [
            locate(e[1], e[2])
            for queue in self.stalled.values()
            for e in list(queue)[1:]
            if e[0].flag == plan.flag and e[0].form == "set"
        ]
        blocked = f", whose SetFlag at {setters[0]} is itself blocked" if setters else ""
        never = "" if setters else ", which nothing sets"
        return f"flag {event.name} id {number}{blocked}{never}"

    def _behind(self) -> str:
        found = [
            f"{HardEvent(e[0].event).name} id {e[0].flag % self.local.EVENT_IDS}"
            for queue in self.stalled.values()
            for e in queue
            if e[0].form == "set" and e[0].flag >= 0
        ]
        return ", ".join(found) or "none"


def first_is_barrier(entry: Entry) -> bool:
    """Whether a scalar wait is a PipeBarrier rather than a WaitFlag."""
    return entry[0].flag < 0


class _Active(threading.local):
    core: AICore | None = None


ACTIVE: Final = _Active()


def current_core() -> AICore:
    """Return the core that runs the calling kernel.

    Raises
    ------
    ConfigError
        Outside a kernel launch.
    """
    core = ACTIVE.core
    if core is None:
        raise ConfigError(
            "AscendC calls work inside a running kernel only",
            fix="launch the kernel, for example my_kernel[8](x, y, z)",
        )
    return core


def user_frame(depth: int = 1) -> FrameType:
    """Return the nearest calling frame outside the simulator."""
    frame: FrameType | None = sys._getframe(depth)
    found = frame
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        frame = frame.f_back
    return frame or found  # type: ignore[return-value]


def user_location(error: BaseException) -> SourceLocation | None:
    """Return the innermost place outside the simulator that an error passed through."""
    place = None
    trace = error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        if not frame.f_globals.get("__name__", "").startswith(_PACKAGE):
            place = SourceLocation(frame.f_code.co_filename, trace.tb_lineno, frame.f_code.co_name)
        trace = trace.tb_next
    return place


def trim_traceback(error: SimulatorError) -> SimulatorError:
    """Drop the simulator's own frames, so that a traceback ends at the user's line."""
    kept = []
    trace = error.__traceback__
    while trace is not None:
        if not trace.tb_frame.f_globals.get("__name__", "").startswith(_PACKAGE):
            kept.append(trace)
        trace = trace.tb_next
    chain = None
    for trace in reversed(kept):
        chain = type(trace)(chain, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)
    return error.with_traceback(chain)
