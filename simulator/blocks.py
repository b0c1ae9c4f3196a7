"""The blocks of a launch: which runs, which waits for others, and the flags between their cores.

Blocks run one after another on one :class:`~simulator.memory.LocalMemory`. A block that must wait
for another is suspended: its local memory is put aside and other blocks go on, the lowest-numbered
one that can first, so that every launch takes the same course. As long as nothing waits, no block
is ever suspended. Blocks beyond the number of cores start when a block has finished, as on the
device, so that a wait for them cannot be satisfied; that is found and explained.

Rules of the flags: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/同步控制/核间同步
(CrossCoreSetFlag(ISASI).md, CrossCoreWaitFlag(ISASI).md, SyncAll.md).
"""

from __future__ import annotations

from contextvars import copy_context
from typing import TYPE_CHECKING, Any, Final

from simulator.core import ACTIVE
from simulator.errors import DeadlockError, FlagError
from simulator.stalls import FIRST_MODE_4

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.core import AICore
    from simulator.errors import SourceLocation
    from simulator.instruction import Plan
    from simulator.memory import LocalMemory

COUNTERS: Final = FIRST_MODE_4 + 32
MAX_COUNT: Final = 15
"""A cross-core counter has four bits."""

_SOURCE: Final = (
    "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/同步控制/核间同步/"
    "CrossCoreSetFlag(ISASI).md"
)
_SHOWN: Final = 6


class Abandoned(BaseException):
    """Unwinds a suspended block of a launch that has failed elsewhere."""


class Waiting:
    """A suspended block: what it waits for and how to resume it."""

    __slots__ = ("core", "describe", "greenlet", "place", "ready", "soft")

    def __init__(
        self,
        core: AICore,
        greenlet: Any,
        ready: Callable[[], bool],
        describe: Callable[[], str],
        place: SourceLocation,
        soft: bool,
    ) -> None:
        self.core = core
        self.greenlet = greenlet
        self.ready = ready
        self.describe = describe
        self.place = place
        self.soft = soft


class Blocks:
    """Blocks 0 .. ``count`` - 1 on ``cores`` cores.

    ``task_ratio`` blocks share an AI core (mode 1 of the cross-core flags). ``course`` notes whose
    turn it was: block, and how many instructions it had issued when its turn ended.
    """

    def __init__(self, local: LocalMemory, count: int, cores: int, task_ratio: int) -> None:
        self.local = local
        self.count = count
        self.cores = cores
        self.task_ratio = task_ratio
        self._begin: Callable[[int], None] | None = None
        self._fresh = True
        self._next = 0
        self._resident: AICore | None = None
        self._waiting: dict[int, Waiting] = {}
        self._root: Any = None
        self._starter: Any = None
        self._granted: Waiting | None = None
        self._failure: BaseException | None = None
        self._counters: dict[int, bytearray] = {}
        self._sets: dict[tuple[int, int, int], dict[int, int]] = {}
        self._tick = 0
        self._resumed: dict[int, int] = {}
        self.course: list[tuple[int, int]] = []

    # -- running -----------------------------------------------------------------------------

    def run(self, begin: Callable[[int], None]) -> None:
        """Run all blocks to their end; ``begin(index)`` runs one.

        Raises
        ------
        SimulatorError
            Whatever a block raises first.
        """
        outside = ACTIVE.core
        self._begin = begin
        try:
            while self._next < self.count or self._waiting:
                chosen = self._choose(None)
                if chosen is not None:
                    self._resume(chosen)
                elif self._has_room():
                    self._start()
                else:
                    self._blame()
                if self._failure is not None:
                    raise self._failure
        except Abandoned:
            if self._failure is None:
                raise
            raise self._failure from None
        finally:
            self._unwind()
            self._begin = None
            ACTIVE.core = outside

    def enter(self, core: AICore) -> None:
        """Make the local memory that of a starting block."""
        if not self._fresh:
            self.local.reset()
        self._fresh = False
        self._resident = core
        ACTIVE.core = core

    def leave(self) -> None:
        """Note that the running block has finished."""
        self._note_turn()
        self._resident = None
        ACTIVE.core = None

    def _start(self) -> None:
        index = self._next
        self._next += 1
        if self._begin is not None:
            self._begin(index)

    def _start_others(self) -> None:
        greenlet = type(self._starter)
        while True:
            child = greenlet(self._child, parent=self._root)
            child.gr_context = copy_context()
            child.switch()

    def _child(self) -> None:
        try:
            self._start()
        except Abandoned:
            pass
        except BaseException as error:
            self._failure = error

    def _has_room(self) -> bool:
        return self._next < self.count and len(self._waiting) < self.cores

    def _choose(self, current: Waiting | None) -> Waiting | None:
        """Return the waiting block to go on with, or None if a new one should start first."""
        for index in sorted(self._waiting):
            if self._waiting[index].ready():
                return self._waiting[index]
        if self._has_room():
            return None
        polling = [w for w in self._waiting.values() if w.soft and w is not current]
        if polling:
            return min(
                polling, key=lambda w: (self._resumed.get(w.core.block_idx, 0), w.core.block_idx)
            )
        return current if current is not None and current.soft else None

    def _resume(self, chosen: Waiting) -> None:
        self._tick += 1
        self._resumed[chosen.core.block_idx] = self._tick
        self._granted = chosen
        chosen.greenlet.switch()

    def _unwind(self) -> None:
        """Let every suspended block run its own clean-up."""
        for index in sorted(self._waiting):
            waiting = self._waiting.get(index)
            if waiting is not None and waiting.greenlet is not self._root:
                waiting.greenlet.throw(Abandoned())
        self._waiting.clear()
        if self._starter is not None:
            self._starter.throw()

    def _blame(self) -> None:
        """Fail the lowest suspended block: nothing can go on."""
        first = self._waiting[min(self._waiting)]
        first.greenlet.throw(self._deadlock(first))

    # -- waiting -----------------------------------------------------------------------------

    def wait(
        self,
        core: AICore,
        ready: Callable[[], bool],
        describe: Callable[[], str],
        place: SourceLocation,
    ) -> None:
        """Suspend the running block until ``ready()``.

        Raises
        ------
        DeadlockError
            If no block can go on.
        """
        if ready() and not self._lower_ready(core.block_idx):
            return
        self._suspend(core, ready, describe, place, soft=False)

    def give_way(self, core: AICore, place: SourceLocation) -> None:
        """Let lower-numbered blocks that can go on do so, as if passing a barrier together."""
        if self._lower_ready(core.block_idx):
            self._suspend(core, _always, lambda: "its turn", place, soft=False)

    def _lower_ready(self, index: int) -> bool:
        return any(w.core.block_idx < index and w.ready() for w in self._waiting.values())

    def poll(
        self, core: AICore, describe: Callable[[], str], place: SourceLocation, hopeless: bool
    ) -> None:
        """Let other blocks go on before the running one looks at the same place again.

        Raises
        ------
        DeadlockError
            If ``hopeless`` and no other block can go on.
        """
        if hopeless and not self._has_room() and not any(w.ready() for w in self._waiting.values()):
            raise self._deadlock(Waiting(core, None, _never, describe, place, soft=True))
        if self.count > 1:
            self._suspend(core, _never, describe, place, soft=True)

    def _suspend(
        self,
        core: AICore,
        ready: Callable[[], bool],
        describe: Callable[[], str],
        place: SourceLocation,
        *,
        soft: bool,
    ) -> None:
        # Only a kernel that waits needs greenlet; the simulator's core does without.
        from greenlet import getcurrent, greenlet  # type: ignore[import-untyped]

        me = getcurrent()
        if self._root is None:
            self._root = me
            # Blocks start from here and not from the stack of the block that waits: a greenlet
            # counts the frames below its start towards the recursion limit.
            self._starter = greenlet(self._start_others)
            self._starter.gr_context = copy_context()
        waiting = Waiting(core, me, ready, describe, place, soft)
        self._waiting[core.block_idx] = waiting
        try:
            while self._failure is None:
                chosen = self._choose(waiting)
                if chosen is waiting:
                    return
                if chosen is None and not self._has_room():
                    raise self._deadlock(waiting)
                self._put_aside(core)
                if chosen is None:
                    self._starter.switch()
                else:
                    self._resume(chosen)
                if self._granted is waiting and self._failure is None:
                    return
            raise Abandoned
        finally:
            self._granted = None
            del self._waiting[core.block_idx]
            self._bring_back(core)

    def _put_aside(self, core: AICore) -> None:
        if self._resident is core:
            core.saved = self.local.save()
            self._note_turn()

    def _note_turn(self) -> None:
        if self._resident is not None:
            self.course.append((self._resident.block_idx, len(self._resident.record)))

    def _bring_back(self, core: AICore) -> None:
        if self._resident is not core and core.saved is not None:
            self.local.restore(core.saved)
        core.saved = None
        self._resident = core
        ACTIVE.core = core

    def _deadlock(self, blamed: Waiting) -> DeadlockError:
        waiting = dict(self._waiting)
        waiting[blamed.core.block_idx] = blamed
        lines = [
            f"block {index} at {waiting[index].place}: {waiting[index].describe()}"
            for index in sorted(waiting)
        ]
        more = f"; and {len(lines) - _SHOWN} more blocks" if len(lines) > _SHOWN else ""
        unstarted = self.count - self._next
        if unstarted:
            fix = (
                f"launch at most {self.cores // self.task_ratio} blocks: {unstarted} of "
                f"{self.count} blocks get no core, because every waiting block keeps its own"
            )
        elif blamed.soft:
            fix = "write what the block polls for in another block that can still run"
        else:
            fix = "let every block that takes part reach the matching call"
        return DeadlockError(
            "no block can go on: " + "; ".join(lines[:_SHOWN]) + more,
            code="sync.deadlock",
            got=f"{len(lines)} blocks wait, {self._next - len(lines)} have finished, "
            f"{unstarted} have not started",
            fix=fix,
            source=_SOURCE,
            location=blamed.place,
            block=blamed.core.block_idx,
            line=blamed.place.line,
            waits=lines,
        )

    # -- cross-core flags ----------------------------------------------------------------------

    def counters(self, block: int) -> bytearray:
        """Return the counters of the flags that ``block`` can wait for."""
        found = self._counters.get(block)
        if found is None:
            found = self._counters[block] = bytearray(COUNTERS)
        return found

    def peek(self, block: int) -> bytes:
        """Return the counters without creating them."""
        return bytes(self._counters.get(block, b""))

    def arrive(self, block: int, plan: Plan) -> None:
        """Take note of a CrossCoreSetFlag that ``block`` has executed.

        Raises
        ------
        FlagError
            If a counter passes 15.
        """
        mode, flag = plan.details["mode"], plan.details["flagId"]
        members = self._members(mode, block)
        sets = self._sets.setdefault((mode, flag, members.start), {})
        before = min((sets.get(b, 0) for b in members), default=0)
        sets[block] = sets.get(block, 0) + 1
        if min((sets.get(b, 0) for b in members), default=0) == before:
            return
        for member in members:
            counters = self.counters(member)
            if counters[flag] == MAX_COUNT:
                raise FlagError(
                    f"the counter of cross-core flag {flag} of block {member} overflows",
                    code="sync.cross_overflow",
                    api="CrossCoreSetFlag",
                    got=f"{MAX_COUNT + 1} sets that nothing waited for",
                    legal=f"<= {MAX_COUNT}",
                    source=_SOURCE,
                )
            counters[flag] += 1

    def _members(self, mode: int, block: int) -> range:
        """Return the vector cores whose sets count together; none where a cube core is needed."""
        if mode == 0:
            return range(self.count)
        if mode == 1:
            first = block - block % self.task_ratio
            return range(first, first + self.task_ratio)
        return range(0)

    def describe_flag(self, block: int, plan: Plan) -> str:
        """Return what is missing for ``block`` to pass a CrossCoreWaitFlag."""
        flag, mode = plan.details["flagId"], plan.details["mode"]
        name = plan.spec.name
        what = name if name == "SyncAll" else f"cross-core flag {flag} ({name})"
        found = [
            (self._members(m, block), sets)
            for (m, f, first), sets in self._sets.items()
            if f == flag and m in (0, 1) and first == self._members(m, block).start
        ]
        if mode in (2, 4) and not found:
            return f"{what}: mode {mode} waits for the cube core, and none takes part in the launch"
        if not found:
            return f"{what}, which no block has set"
        phrases = []
        for members, sets in found:
            least = min(sets.get(b, 0) for b in members)
            missing = [b for b in members if sets.get(b, 0) == least]
            names = ", ".join(map(str, missing[:_SHOWN])) + (" …" if missing[_SHOWN:] else "")
            phrases.append(
                f"{what}: {len(members) - len(missing)} of {len(members)} blocks have arrived; "
                f"missing: block {names}"
            )
        return "; ".join(phrases)


def _never() -> bool:
    return False


def _always() -> bool:
    return True
