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
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simulator.enums import Arch, HardEvent, PipeID
from simulator.errors import ConfigError, FlagError, SimulatorError, SourceLocation
from simulator.memory import DataCache
from simulator.stalls import (
    CROSS,
    MUTEX,
    FlagState,
    PipeState,
    deadlock,
    describe_waits,
    place_of,
    spinning,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

    from simulator.blocks import Blocks
    from simulator.dtypes import DType
    from simulator.instruction import Plan
    from simulator.memory import Allocation, Bytes, GlobalMemory, LocalMemory, Saved
    from simulator.platforms import Platform

    Entry = tuple[Plan, CodeType, int, tuple[Any, ...]]

PIPES: Final = (PipeID.PIPE_S, PipeID.PIPE_V, PipeID.PIPE_MTE2, PipeID.PIPE_MTE3)
"""The pipes of a vector core, in report order."""

FULL_MASK: Final = (0xFFFF_FFFF_FFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF)

CTRL_RESET: Final = 0x1000_0000_0000_0008
"""CTRL as InitSocState leaves it on 950, bit 48 apart (kernel_utils_base.h)."""

INF_NAN: Final = 1 << 48
"""CTRL[48] = 1: float results keep infinities and NaN; the assumed setting of the host."""

POLL_LIMIT: Final = 10_000
"""Equal reads of one place after which a block that nobody can help is taken to poll for ever."""

SPIN_LIMIT: Final = 100_000
"""Equal reads with nothing between them after which a block is taken to spin for ever."""

_PACKAGE: Final = __name__.rpartition(".")[0] + "."


class Site(NamedTuple):
    """Stand-in for a frame: where instructions that no line issues are attributed to."""

    f_code: CodeType
    f_lasti: int


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
    ctrl : int
        The 64-bit CTRL register.
    numeric_mode : int
        Bits of the CTRL register that change results; part of every plan key.
    deq_scale : object
        What SetDeqScale wrote last (``simulator.isa.dequant``); None before the first call.
    atomic : tuple or None
        (operation, element type) that copies to GM combine with; None for plain stores.
    pad_value : bytes or None
        What SetPadValue or a padded copy left in the pad register.
    loops : dict
        LoopModeParams in force per direction (950).
    copy_state : object
        What copies depend on besides their arguments; part of their plan keys.
    state_of : callable or None
        Set by a debugger that shows another moment: the state of UB bytes in words.
    cache : DataCache
        Lines of global memory that scalar reads and writes go through.
    rounded : dict
        Integers that became floating-point scalars of another value, by the position of their call
        in the record: the integer, the type, the scalar.
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
        strict: bool,
        blocks: Blocks,
        memory: GlobalMemory,
        site: Site,
        task_ratio: int = 1,
    ) -> None:
        self.platform = platform
        self.arch = platform.arch
        self.local = local
        self.plans = local.plans
        self.block_idx = block_idx
        self.block_num = block_num
        self.task_ratio = task_ratio
        self.written = written
        self.auto_sync = auto_sync
        self.strict = strict
        self.blocks = blocks
        self.memory = memory
        self.kernel_site = site
        self.record: list[Entry] = []
        self.caller: FrameType | None = None
        self.stalled: dict[int, deque[Entry]] = {}
        self.count_resets_mask = platform.arch is not Arch.DAV_3510
        self.counter_mode = False
        self.mask = FULL_MASK
        self.ctrl = CTRL_RESET | INF_NAN
        self.numeric_mode = 0
        self.deq_scale: Any = None
        self.atomic: tuple[str, DType] | None = None
        self.pad_value: bytes | None = None
        self.loops: dict[str, Any] = {}
        self.copy_state: Any = None
        self.sys_workspace: Any = None
        self.mutexes: dict[int, Any] = {}
        self.cache = DataCache()
        self.pipe: Any = None
        self.output: list[str] = []
        self.rounded: dict[int, tuple[int, str, Any]] = {}
        self.saved: Saved | None = None
        self.at_end: Callable[[AICore], None] | None = None
        self.clock: Callable[[AICore], int] | None = None
        self.state_of: Callable[[AICore, int, int], str] | None = None
        self._polled: Any = None
        self._polls = 0
        self._spins = 0
        self._polled_at = 0

    # -- issuing -----------------------------------------------------------------------------

    def issue(self, plan: Plan, params: tuple[Any, ...], frame: FrameType | Site) -> None:
        """Record a call and run it, or queue it when a pipe is waiting."""
        if self.caller is not None:
            frame = self.caller
        entry = (plan, frame.f_code, frame.f_lasti, params)
        self.record.append(entry)
        if self.stalled:
            self._dispatch(entry)
        else:
            plan.run(*params)

    def set_flag(self, plan: Plan, frame: FrameType | Site) -> None:
        """Issue a SetFlag: the flag rises when the source pipe reaches it."""
        if self.caller is not None:
            frame = self.caller
        entry = (plan, frame.f_code, frame.f_lasti, ())
        self.record.append(entry)
        if self.stalled:
            self._dispatch(entry)
        else:
            self._raise_flag(entry)

    def wait_flag(self, plan: Plan, frame: FrameType | Site) -> None:
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

    def order(self, plan: Plan, params: tuple[Any, ...], frame: FrameType | Site) -> None:
        """Issue a cross-core flag or a mutex call: it takes effect when its pipe reaches it."""
        if self.caller is not None:
            frame = self.caller
        entry = (plan, frame.f_code, frame.f_lasti, params)
        self.record.append(entry)
        self._dispatch(entry)

    def barrier(self, plan: Plan, frame: FrameType | Site) -> None:
        """Issue a barrier; one on the scalar pipe stops it until every pipe is idle."""
        if self.caller is not None:
            frame = self.caller
        entry = (plan, frame.f_code, frame.f_lasti, ())
        self.record.append(entry)
        if self.stalled:
            if plan.pipe == PipeID.PIPE_S:
                while self.stalled:
                    self._rest(entry)
            else:
                self._dispatch(entry)

    def keep_initial(self, allocation: Allocation) -> None:
        """Remember the bytes of an allocation before the launch first writes to it."""
        if allocation not in self.written:
            self.written[allocation] = allocation.data.copy()

    # -- pipes -------------------------------------------------------------------------------

    def ready(self, entry: Entry) -> bool:
        """Whether what a wait waits for has happened."""
        plan = entry[0]
        if plan.event == CROSS:
            return self.blocks.counters(self.block_idx)[plan.flag] > 0
        if plan.event == MUTEX:
            return bool(self.mutexes[plan.flag].released == entry[3][0])
        return self.local.flags[plan.flag] > 0

    def _take(self, entry: Entry) -> None:
        plan = entry[0]
        if plan.event == CROSS:
            self.blocks.counters(self.block_idx)[plan.flag] -= 1
        elif plan.event != MUTEX:
            self.local.flags[plan.flag] = 0

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
        elif plan.form == "set":
            self._raise_flag(entry)
        elif plan.form == "cross set":
            self.blocks.arrive(self.block_idx, plan)
        elif plan.form == "unlock":
            self.mutexes[plan.flag].released += 1
        elif plan.pipe == PipeID.PIPE_S:
            if plan.event == CROSS:
                self.blocks.give_way(self, place_of(entry))
            while not self.ready(entry):
                self._rest(entry)
            self._take(entry)
        elif self.ready(entry):
            self._take(entry)
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
                fix=f"WaitFlag(HardEvent.{event.name}, {number}) before this SetFlag, "
                "or use another event id",
                source="mirror-cann/asc-devkit docs/zh/api SetFlag-WaitFlag(ISASI).md",
                pipe=PipeID(plan.pipe).label,
                location=place_of(entry),
            )
        flags[plan.flag] = 1

    def _pump(self) -> None:
        """Let every waiting pipe go on as far as it can."""
        moved = True
        while moved and self.stalled:
            moved = False
            for pipe, queue in list(self.stalled.items()):
                if not self.ready(queue[0]):
                    continue
                moved = True
                self._take(queue.popleft())
                del self.stalled[pipe]
                while queue and pipe not in self.stalled:
                    self._execute(queue.popleft())
                if queue:
                    self.stalled[pipe].extend(queue)

    # -- waiting of the scalar unit ------------------------------------------------------------

    def _rest(self, entry: Entry | None) -> None:
        """Give other blocks a turn; ``entry`` is what the scalar unit stands at.

        Raises
        ------
        DeadlockError
            If no other block can ever help.
        """
        heads = [queue[0] for queue in self.stalled.values()]
        if entry is not None and entry[0].event >= 0:
            heads.append(entry)
        if not any(head[0].event == CROSS for head in heads):
            raise deadlock(self, entry)
        self.blocks.wait(
            self,
            lambda: any(self.ready(head) for head in heads),
            lambda: "; ".join(describe_waits(self, entry)),
            place_of(entry or heads[0]),
        )
        self._pump()

    def wait_until(
        self, ready: Callable[[], bool], describe: Callable[[], str], frame: FrameType | Site
    ) -> None:
        """Stop the scalar unit until ``ready()``, which other blocks bring about.

        Raises
        ------
        DeadlockError
            If no other block can.
        """
        site = self.caller or frame
        place = place_of((None, site.f_code, site.f_lasti, ()))
        self.blocks.wait(self, ready, describe, place)

    def watch(
        self, space: str, address: int, value: bytes, patience: int, frame: FrameType | Site
    ) -> None:
        """Count equal scalar reads of one place; a block that polls lets others go first.

        ``space`` is where the read was answered: ``GM``, ``UB`` or ``cache``. A loop that polls
        loads, copies to UB and synchronises; one that computes or stores is no poll. Reads of UB or
        of the cache find a change only after a copy or an invalidation.

        Raises
        ------
        DeadlockError
            If it polls for ever and no other block can go on.
        """
        seen = (space, address, value)
        before, self._polled_at = self._polled_at, len(self.record)
        if seen != self._polled:
            self._polled, self._polls, self._spins = seen, 0, 0
            return
        between = self.record[before:-1]
        if not between and space != "GM":
            self._spins += 1
            if self._spins > SPIN_LIMIT:
                raise spinning(self, space, address, value)
        elif space == "cache" or any(map(_works, between)):
            self._polls = 0
        else:
            self._polls += 1
            if self._polls >= patience:
                self._poll(space, address, value, frame, hopeless=self._polls > POLL_LIMIT)

    def _poll(
        self, space: str, address: int, value: bytes, frame: FrameType | Site, *, hopeless: bool
    ) -> None:
        site = self.caller or frame
        self.blocks.poll(
            self,
            lambda: f"{space} {address:#x} to hold something else than {value.hex()}",
            place_of((None, site.f_code, site.f_lasti, ())),
            hopeless,
        )

    # -- end of a block ----------------------------------------------------------------------

    def finish(self) -> None:
        """Close the block: destroy its TPipe, wait for every pipe, write the data cache back.

        Raises
        ------
        DeadlockError
            If a pipe waits for a flag that nothing sets.
        """
        if self.pipe is not None:
            self.pipe.Destroy()
        while self.stalled:
            self._rest(None)
        if self.at_end is not None:
            self.at_end(self)

    # -- looking -----------------------------------------------------------------------------

    @property
    def pipes(self) -> list[PipeState]:
        """What every pipe is doing: running, or waiting for what and with how much behind it."""
        return [PipeState(self, pipe) for pipe in PIPES]

    @property
    def flags(self) -> FlagState:
        """The event flags and cross-core counters that are up."""
        return FlagState(self)

    @property
    def cycle(self) -> int:
        """Cycles that the work of the block so far takes, if all blocks have done the same."""
        return self.clock(self) if self.clock is not None else 0

    @property
    def queues(self) -> list[Any]:
        """The queues and TBufs that the block's TPipe has given memory to."""
        return list(self.pipe.queues) if self.pipe is not None else []

    def raised_flags(self) -> list[tuple[HardEvent, int]]:
        """Return the flags that are up, as (event, id)."""
        ids = self.local.EVENT_IDS
        return [(HardEvent(i // ids), i % ids) for i, up in enumerate(self.local.flags) if up]

    def __repr__(self) -> str:
        waits = ", ".join(PipeID(pipe).label for pipe in sorted(self.stalled)) or "none"
        return (
            f"<core of block {self.block_idx} of {self.block_num} on {self.platform.name}: "
            f"{len(self.record)} instructions, waiting pipes: {waits}>"
        )


def _works(entry: Entry) -> bool:
    """Whether a call computes or stores, as no polling loop does."""
    plan = entry[0]
    return (
        plan.pipe in (PipeID.PIPE_V, PipeID.PIPE_MTE3)
        and plan.event < 0
        and plan.spec.family != "sync"
    )


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
