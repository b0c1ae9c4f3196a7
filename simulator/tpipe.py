"""TPipe, TBufPool and LocalMemAllocator: who gets which piece of the unified buffer.

Source: mirror-cann/asc-devkit impl/basic_api/kernel_tpipe_impl.h, kernel_tbufpool_impl.h and
docs/zh/api/SIMD-API/基础API/资源管理.
"""

# ruff: noqa: N802, N803 - AscendC's own spelling

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from simulator.core import current_core
from simulator.enums import HardEvent, PipeID, TPosition
from simulator.errors import ArgumentError, QueueError, UbExhaustedError
from simulator.isa.control import init_soc_state
from simulator.isa.data_copy import DataCopy
from simulator.isa.params import DataCopyParams, check_range
from simulator.isa.sync import VECTOR_CORE_EVENTS, barrier, set_flag, wait_flag
from simulator.queues import BLOCK, MAX_BUFFERS, PIPE_SOURCE, Buffer, TBuf, TQueBind
from simulator.tensor import UB_POSITIONS, GlobalTensor, LocalTensor

if TYPE_CHECKING:
    from types import FrameType

    from simulator.core import AICore

_POOL_SOURCE: Final = "mirror-cann/asc-devkit impl/basic_api/kernel_tbufpool_impl.h"

POOL_BUFFERS: Final = 16
"""Buffers that a TBufPool can be declared for (QBUFPOOL_MAX_LEN)."""


def _whole_blocks(api: str, length: Any) -> int:
    check_range(api, "len", length, 1, 2**31 - 1, PIPE_SOURCE)
    return -(-int(length) // BLOCK) * BLOCK


class TPipe:
    """Manager of the unified buffer and of the event ids of one core.

    Buffers are laid out one behind another from UB address 0 in the order of ``InitBuffer``; a
    length is rounded up to 32 bytes; at most 64 buffers in all. Creating one resets the core's
    global state, as InitSocState does; a block has one TPipe at a time, and a new one destroys the
    old one, as leaving its C++ scope does.
    """

    def __init__(self) -> None:
        core = current_core()
        if core.pipe is not None and not core.pipe.destroyed:
            core.pipe.Destroy()
        self.core: AICore = core
        self.destroyed = False
        self._spm: GlobalTensor | None = None
        self._spm_bytes = 0
        self._start()

    def _start(self) -> None:
        init_soc_state(self.core)
        self.used = 0
        self._count = 0
        self._ids: dict[HardEvent, set[int]] = {}
        self._owned: list[TQueBind | TBuf] = []
        self.layout: list[tuple[str, int, int]] = []
        self.destroyed = False
        self.core.pipe = self

    @property
    def queues(self) -> list[TQueBind | TBuf]:
        """Queues and TBufs in the order of InitBuffer."""
        return list(self._owned)

    # -- memory --------------------------------------------------------------------------------

    def InitBuffer(self, que: TQueBind | TBuf, num: int, length: int | None = None) -> bool:
        """``InitBuffer(queue, num, len)`` or ``InitBuffer(tbuf, len)``; ``len`` in bytes."""
        count, size = _request("TPipe.InitBuffer", que, num, length, MAX_BUFFERS)
        name = que.name if isinstance(que, TQueBind) else "TBuf"
        self._own(que, self._take(name, count, size), sys._getframe(1))
        return True

    def InitBufPool(self, bufPool: TBufPool, len: int, shareBuf: TBufPool | None = None) -> bool:
        """Cut a pool of ``len`` bytes out of UB, or let it share the bytes of ``shareBuf``."""
        size = _whole_blocks("TPipe.InitBufPool", len)
        _require_pool("TPipe.InitBufPool", bufPool)
        if shareBuf is not None:
            bufPool._share("TPipe.InitBufPool", self, size, shareBuf)
            return True
        self._reserve("TPipe.InitBufPool", "TBufPool", 1, size)
        self.layout.append(("TBufPool", self.used, size))
        bufPool._open(self, self.used, size)
        self.used += size
        return True

    def _own(self, que: TQueBind | TBuf, buffers: list[Buffer], frame: FrameType) -> None:
        self._owned.append(que)
        if isinstance(que, TBuf):
            que.attach(self.core, buffers[0])
        else:
            que.attach(self, buffers, frame)

    def _reserve(self, api: str, what: str, num: int, size: int) -> None:
        capacity = self.core.platform.memory.ub_bytes
        if self.used + size * num > capacity:
            raise UbExhaustedError(
                f"{num} x {size} bytes do not fit: {capacity - self.used} of {capacity} bytes of "
                "UB are left",
                api=api,
                got=f"{self.used + size * num} bytes in all ({self._describe_layout()}, "
                f"{what} {num} x {size})",
                legal=f"<= {capacity} bytes on {self.core.platform.name}",
                fix="use smaller tiles or fewer buffers",
                source=PIPE_SOURCE,
            )

    def _take(self, name: str, num: int, size: int) -> list[Buffer]:
        self._reserve("TPipe.InitBuffer", name, num, size)
        if self._count + num > MAX_BUFFERS:
            raise QueueError(
                f"{self._count + num} buffers are too many",
                code="queue.too_many_buffers",
                api="TPipe.InitBuffer",
                got=self._count + num,
                legal=f"<= {MAX_BUFFERS} buffers over all queues and TBufs",
                source=PIPE_SOURCE,
            )
        self._count += num
        buffers = []
        for _ in range(num):
            buffers.append(Buffer(self.used, size))
            self.layout.append((name, self.used, size))
            self.used += size
        return buffers

    def _describe_layout(self) -> str:
        return ", ".join(f"{name} {size}" for name, _, size in self.layout) or "nothing before"

    def Reset(self) -> None:
        """Give all buffers and event ids back; queues must be initialised again."""
        self._drain(sys._getframe(1))
        self._start()

    def Destroy(self) -> None:
        """Wait for the free events of all queues and for every pipe, as the destructor does."""
        if not self.destroyed:
            self.DestroyWithoutPipeAll()
            barrier(self.core, PipeID.PIPE_ALL, self.core.kernel_site)

    def DestroyWithoutPipeAll(self) -> None:
        """Wait for the free events of all queues."""
        if not self.destroyed:
            self.destroyed = True
            self._drain(self.core.kernel_site)

    def _drain(self, frame: Any) -> None:
        for owned in self._owned:
            if isinstance(owned, TQueBind):
                owned.drain(frame, release=False)

    def Init(self) -> None:
        """Start over after ``Destroy``."""
        self._start()

    # -- event ids -----------------------------------------------------------------------------

    def AllocEventID(self, event: HardEvent) -> int:
        """Reserve and return the lowest free id (0..7) of ``event``."""
        number = self.FetchEventID(event)
        self._ids.setdefault(event, set()).add(number)
        return number

    def FetchEventID(self, event: HardEvent) -> int:
        """Return the lowest free id (0..7) of ``event`` without reserving it."""
        if event not in VECTOR_CORE_EVENTS:
            raise ArgumentError(
                f"{event!r} is no event of the vector core",
                api="TPipe.FetchEventID",
                got=repr(event),
                legal=", ".join(e.name for e in sorted(VECTOR_CORE_EVENTS)),
                source=PIPE_SOURCE,
            )
        taken = self._ids.get(event)
        if not taken:
            return 0
        for number in range(self.core.local.EVENT_IDS):
            if number not in taken:
                return number
        raise QueueError(
            f"all {self.core.local.EVENT_IDS} ids of {HardEvent(event).name} are in use",
            code="queue.event_ids",
            api="TPipe.AllocEventID",
            got=f"{len(taken)} ids in use",
            legal=f"<= {self.core.local.EVENT_IDS} per event: a busy buffer of a queue holds one",
            fix="use fewer buffers (num) in queues of this direction, or ReleaseEventID",
            source="mirror-cann/asc-devkit impl/basic_api/kernel_event.h",
        )

    def ReleaseEventID(self, event: HardEvent, eventID: int) -> None:
        """Give an id of ``AllocEventID`` back."""
        taken = self._ids.get(event, set())
        if eventID not in taken:
            raise QueueError(
                f"id {eventID} of {HardEvent(event).name} is not allocated",
                code="queue.event_ids",
                api="TPipe.ReleaseEventID",
                got=eventID,
                legal=f"one of {sorted(taken)}",
                source=PIPE_SOURCE,
            )
        taken.discard(eventID)

    # -- spill area ----------------------------------------------------------------------------

    def InitSpmBuffer(self, workspace: GlobalTensor, bufferSize: int) -> None:
        """Use ``bufferSize`` bytes of ``workspace`` as a spill area for UB."""
        if not isinstance(workspace, GlobalTensor):
            raise ArgumentError(
                "needs a workspace in GM",
                api="TPipe.InitSpmBuffer",
                argument="workspace",
                got=repr(workspace),
                legal="GlobalTensor (the form that spills to L1 does not exist here)",
                source=PIPE_SOURCE,
            )
        check_range("TPipe.InitSpmBuffer", "bufferSize", bufferSize, 0, 2**31 - 1, PIPE_SOURCE)
        self._spm, self._spm_bytes = workspace, bufferSize

    def WriteSpmBuffer(self, write: LocalTensor, size: Any, writeOffset: int = 0) -> None:
        """Copy ``size`` elements or DataCopyParams to element ``writeOffset`` of the spill area."""
        before = (HardEvent.V_MTE3, HardEvent.MTE2_MTE3)
        after = (HardEvent.MTE3_MTE2, HardEvent.MTE3_V)
        self._spill(write, size, writeOffset, before, after, sys._getframe(1), outward=True)

    def ReadSpmBuffer(self, read: LocalTensor, size: Any, readOffset: int = 0) -> None:
        """Copy ``size`` elements, or DataCopyParams, from element ``readOffset`` of the area."""
        after = (HardEvent.MTE2_V, HardEvent.MTE2_MTE3)
        self._spill(
            read, size, readOffset, (HardEvent.V_MTE2,), after, sys._getframe(1), outward=False
        )

    def _spill(
        self,
        local: LocalTensor,
        size: Any,
        offset: int,
        before: tuple[HardEvent, ...],
        after: tuple[HardEvent, ...],
        frame: FrameType,
        *,
        outward: bool,
    ) -> None:
        if self._spm is None:
            raise QueueError(
                "the spill area has no memory yet",
                code="queue.not_initialised",
                api="TPipe.WriteSpmBuffer" if outward else "TPipe.ReadSpmBuffer",
                fix="InitSpmBuffer(workspace, bufferSize) first",
                source=PIPE_SOURCE,
            )
        area = self._spm.ReinterpretCast(local.dtype)
        area.length = min(area.length, self._spm_bytes * 8 // local.dtype.bits)
        place = area[offset]
        amount = size if isinstance(size, DataCopyParams) else size or local.length
        core, caller = self.core, self.core.caller
        core.caller = caller or frame
        try:
            self._pass(before, frame)
            if outward:
                DataCopy(place, local, amount)
            else:
                DataCopy(local, place, amount)
            self._pass(after, frame)
        finally:
            core.caller = caller

    def _pass(self, events: tuple[HardEvent, ...], frame: FrameType) -> None:
        for event in events:
            number = self.FetchEventID(event)
            set_flag(self.core, event, number, frame)
            wait_flag(self.core, event, number, frame)

    def __repr__(self) -> str:
        state = "destroyed" if self.destroyed else f"{self.used} bytes of UB in use"
        ids = {e.name: sorted(i) for e, i in self._ids.items() if i}
        return f"<TPipe: {state}, {self._count} buffers, event ids {ids or 'all free'}>"


def _request(api: str, que: Any, num: Any, length: Any, most: int) -> tuple[int, int]:
    """Check the arguments of InitBuffer; return number and rounded length of the buffers."""
    if isinstance(que, TBuf):
        if length is not None:
            raise ArgumentError(
                "a TBuf has one buffer",
                api=api,
                got=f"num {num}, len {length}",
                legal="InitBuffer(tbuf, len)",
                source=PIPE_SOURCE,
            )
        return 1, _whole_blocks(api, num)
    if not isinstance(que, TQueBind):
        raise ArgumentError(
            "needs a TQue, TQueBind or TBuf",
            api=api,
            argument="que",
            got=type(que).__name__,
            legal="TQue, TQueBind, TBuf",
            source=PIPE_SOURCE,
        )
    if length is None:
        raise ArgumentError(
            "a queue needs a number of buffers and a length",
            api=api,
            got=f"InitBuffer(queue, {num})",
            legal="InitBuffer(queue, num, len)",
            source=PIPE_SOURCE,
        )
    check_range(api, "num", num, 1, most, PIPE_SOURCE)
    return int(num), _whole_blocks(api, length)


def _require_pool(api: str, pool: Any) -> None:
    if not isinstance(pool, TBufPool):
        raise ArgumentError(
            "needs a TBufPool",
            api=api,
            argument="bufPool",
            got=type(pool).__name__,
            legal="TBufPool",
            source=_POOL_SOURCE,
        )


class TBufPool:
    """A piece of UB that is divided on its own: ``TBufPool(TPosition.VECCALC, bufIDSize)``.

    Two pools may share their bytes; ``Reset`` ends the use of one before the other starts.
    """

    def __init__(self, pos: TPosition = TPosition.VECCALC, bufIDSize: int = 4) -> None:
        if pos not in UB_POSITIONS:
            raise ArgumentError(
                f"{pos!r} is no position in UB",
                api="TBufPool",
                got=repr(pos),
                legal="VECIN, VECOUT, VECCALC",
                source=_POOL_SOURCE,
            )
        check_range("TBufPool", "bufIDSize", bufIDSize, 1, POOL_BUFFERS, _POOL_SOURCE)
        self.position = TPosition(pos)
        self._most = bufIDSize
        self._pipe: TPipe | None = None
        self._first = 0
        self._used = 0
        self._bytes = 0
        self._count = 0
        self._owned: list[TQueBind] = []

    def _open(self, pipe: TPipe, first: int, size: int) -> None:
        self._pipe = pipe
        self._first = self._used = first
        self._bytes = size
        self._count = 0
        self._owned.clear()

    def _share(self, api: str, pipe: TPipe, size: int, other: TBufPool) -> None:
        _require_pool(api, other)
        if other._pipe is None or size > other._bytes:
            raise UbExhaustedError(
                "the pool to share is shorter",
                api=api,
                argument="len",
                got=f"{size} bytes",
                legal=f"<= {other._bytes} bytes",
                source=_POOL_SOURCE,
            )
        self._open(pipe, other._first, other._bytes)

    def _ready(self, api: str) -> TPipe:
        if self._pipe is None:
            raise QueueError(
                "the pool has no memory yet",
                code="queue.not_initialised",
                api=api,
                fix="call pipe.InitBufPool(pool, len) first",
                source=_POOL_SOURCE,
            )
        return self._pipe

    def _take(self, api: str, num: int, size: int) -> int:
        start = self._used
        if start + num * size > self._first + self._bytes:
            raise UbExhaustedError(
                f"{num} x {size} bytes do not fit the pool",
                api=api,
                got=f"{start - self._first + num * size} bytes in all",
                legal=f"<= {self._bytes} bytes",
                fix="use smaller buffers or a larger pool",
                source=_POOL_SOURCE,
            )
        self._used += num * size
        return start

    def InitBuffer(self, que: TQueBind | TBuf, num: int, length: int | None = None) -> bool:
        """``InitBuffer(queue, num, len)`` or ``InitBuffer(tbuf, len)`` inside the pool."""
        api = "TBufPool.InitBuffer"
        pipe = self._ready(api)
        count, size = _request(api, que, num, length, POOL_BUFFERS)
        if self._count + count > self._most:
            raise QueueError(
                f"{self._count + count} buffers are too many for the pool",
                code="queue.too_many_buffers",
                api=api,
                got=self._count + count,
                legal=f"<= {self._most} (bufIDSize, at most {POOL_BUFFERS})",
                source=_POOL_SOURCE,
            )
        start = self._take(api, count, size)
        self._count += count
        buffers = [Buffer(start + i * size, size) for i in range(count)]
        if isinstance(que, TQueBind):
            self._owned.append(que)
        pipe._own(que, buffers, sys._getframe(1))
        return True

    def InitBufPool(self, bufPool: TBufPool, len: int, shareBuf: TBufPool | None = None) -> bool:
        """Cut a pool out of this one, or let it share the bytes of ``shareBuf``."""
        api = "TBufPool.InitBufPool"
        pipe = self._ready(api)
        _require_pool(api, bufPool)
        size = _whole_blocks(api, len)
        if shareBuf is not None:
            bufPool._share(api, pipe, size, shareBuf)
        else:
            bufPool._open(pipe, self._take(api, 1, size), size)
        return True

    def Reset(self) -> None:
        """Wait for the free events of the pool's queues, before another pool uses its bytes."""
        self._ready("TBufPool.Reset")
        frame = sys._getframe(1)
        for queue in self._owned:
            queue.drain(frame)

    def __repr__(self) -> str:
        return (
            f"<TBufPool {self.position.name} at UB {self._first:#x}: "
            f"{self._used - self._first} of {self._bytes} bytes in use>"
        )


def GetTPipePtr() -> TPipe:
    """Return the TPipe of the running block."""
    core = current_core()
    if core.pipe is None:
        raise QueueError(
            "the block has no TPipe",
            code="queue.no_pipe",
            api="GetTPipePtr",
            fix="create one first: pipe = TPipe()",
            source=PIPE_SOURCE,
        )
    pipe: TPipe = core.pipe
    return pipe
