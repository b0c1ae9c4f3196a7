"""TPipe, TQue, TQueBind and TBuf: buffer management on top of the event flags.

A queue owns physical buffers and inserts the flags that order the pipes which fill and drain
them. States of a buffer: FREE, OCCUPIED (AllocTensor), ENQUE (EnQue), DEQUE (DeQue), FREE again.
Source: mirror-cann/asc-devkit impl/basic_api/kernel_tpipe_impl.h, kernel_tquebind_impl.h and
kernel_event.h.
"""

from __future__ import annotations

import sys
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from simulator.core import current_core
from simulator.dtypes import as_dtype
from simulator.enums import HardEvent, PipeID, TBufState, TPosition
from simulator.errors import ArgumentError, QueueError, UbExhaustedError
from simulator.isa.params import check_range
from simulator.isa.sync import VECTOR_CORE_EVENTS, barrier, set_flag, wait_flag
from simulator.tensor import LocalTensor

if TYPE_CHECKING:
    from types import FrameType

    from simulator.core import AICore

_PIPE_SOURCE: Final = "mirror-cann/asc-devkit impl/basic_api/kernel_tpipe_impl.h"
_QUEUE_SOURCE: Final = "mirror-cann/asc-devkit impl/basic_api/kernel_tquebind_impl.h"

MAX_BUFFERS: Final = 64
BLOCK: Final = 32

_FILLED_BY: Final = {
    TPosition.VECIN: PipeID.PIPE_MTE2,
    TPosition.VECOUT: PipeID.PIPE_V,
    TPosition.VECCALC: PipeID.PIPE_V,
}
_DRAINED_BY: Final = {
    TPosition.VECIN: PipeID.PIPE_V,
    TPosition.VECOUT: PipeID.PIPE_MTE3,
    TPosition.VECCALC: PipeID.PIPE_V,
}


class Buffer:
    """One physical buffer of a queue: its place in UB, its state and the ids it holds."""

    __slots__ = ("addr", "filled_id", "free_id", "length", "state", "tensor")

    def __init__(self, addr: int, length: int) -> None:
        self.addr = addr
        self.length = length
        self.state = TBufState.FREE
        self.free_id = -1
        self.filled_id = -1
        self.tensor: LocalTensor | None = None

    def __repr__(self) -> str:
        return f"<{self.length} B at UB {self.addr:#x}: {self.state.name}>"


class TPipe:
    """Manager of the unified buffer and of the event ids of one core.

    Buffers are laid out one behind another from UB address 0 in the order of ``InitBuffer``; a
    length is rounded up to 32 bytes; at most 64 buffers in all.
    """

    def __init__(self) -> None:
        core = current_core()
        if core.pipe is not None and not core.pipe.destroyed:
            core.pipe.Destroy()
        self._core: AICore = core
        self._used = 0
        self._buffers = 0
        self._ids: dict[HardEvent, set[int]] = {}
        self._queues: list[TQueBind] = []
        self.layout: list[tuple[str, int, int]] = []
        self.destroyed = False
        core.pipe = self

    # -- memory --------------------------------------------------------------------------------

    def InitBuffer(self, que: TQueBind | TBuf, num: int, length: int | None = None) -> None:
        """``InitBuffer(queue, num, len)`` or ``InitBuffer(tbuf, len)``; ``len`` in bytes."""
        if isinstance(que, TBuf):
            if length is not None:
                raise ArgumentError(
                    "a TBuf has one buffer",
                    api="TPipe.InitBuffer",
                    got=f"num {num}, len {length}",
                    legal="InitBuffer(tbuf, len)",
                )
            que._attach(self._core, self._take("TBuf", 1, num)[0])
            return
        if not isinstance(que, TQueBind):
            raise ArgumentError(
                "needs a TQue, TQueBind or TBuf",
                api="TPipe.InitBuffer",
                got=type(que).__name__,
                legal="TQue, TQueBind, TBuf",
            )
        if length is None:
            raise ArgumentError(
                "a queue needs a number of buffers and a length",
                api="TPipe.InitBuffer",
                got=f"InitBuffer(queue, {num})",
                legal="InitBuffer(queue, num, len)",
            )
        check_range("TPipe.InitBuffer", "num", num, 1, MAX_BUFFERS, _PIPE_SOURCE)
        que._attach(self, self._take(que.name, num, length))
        self._queues.append(que)

    def _take(self, name: str, num: int, length: Any) -> list[Buffer]:
        check_range("TPipe.InitBuffer", "len", length, 1, 2**31 - 1, _PIPE_SOURCE)
        size = -(-int(length) // BLOCK) * BLOCK
        capacity = self._core.platform.memory.ub_bytes
        if self._used + size * num > capacity:
            raise UbExhaustedError(
                f"{num} x {size} bytes do not fit: {capacity - self._used} of {capacity} bytes of UB "
                "are left",
                api="TPipe.InitBuffer",
                got=f"{self._used + size * num} bytes in all ({self._describe_layout()})",
                legal=f"<= {capacity} bytes on {self._core.platform.name}",
                fix="use smaller tiles or fewer buffers",
                source=_PIPE_SOURCE,
            )
        if self._buffers + num > MAX_BUFFERS:
            raise QueueError(
                f"{self._buffers + num} buffers are too many",
                code="queue.too_many_buffers",
                api="TPipe.InitBuffer",
                got=self._buffers + num,
                legal=f"<= {MAX_BUFFERS} buffers over all queues and TBufs",
                source=_PIPE_SOURCE,
            )
        self._buffers += num
        buffers = []
        for _ in range(num):
            buffers.append(Buffer(self._used, size))
            self.layout.append((name, self._used, size))
            self._used += size
        return buffers

    def _describe_layout(self) -> str:
        return ", ".join(f"{name} {size}" for name, _, size in self.layout) or "nothing before"

    def Reset(self) -> None:
        """Give all buffers and event ids back; queues must be initialised again."""
        frame = sys._getframe(1)
        for queue in self._queues:
            queue._drain(frame)
        self._used = 0
        self._buffers = 0
        self._queues.clear()
        self.layout.clear()
        self._ids.clear()

    def Destroy(self) -> None:
        """Wait for the free events of all queues and for every pipe, as the destructor does."""
        if self.destroyed:
            return
        self.destroyed = True
        frame = self._core.kernel_site or sys._getframe(1)
        for queue in self._queues:
            queue._drain(frame)
        barrier(self._core, PipeID.PIPE_ALL, frame)

    def Init(self) -> None:
        """Start over after ``Destroy``."""
        self.__init__()  # type: ignore[misc]

    # -- event ids -----------------------------------------------------------------------------

    def AllocEventID(self, event: HardEvent) -> int:
        """Reserve and return the lowest free id (0..7) of ``event``."""
        number = self.FetchEventID(event)
        self._ids.setdefault(HardEvent(event), set()).add(number)
        return number

    def FetchEventID(self, event: HardEvent) -> int:
        """Return the lowest free id (0..7) of ``event`` without reserving it."""
        if event not in VECTOR_CORE_EVENTS:
            raise ArgumentError(
                f"{event!r} is no event of the vector core",
                api="TPipe.FetchEventID",
                got=repr(event),
                legal=", ".join(e.name for e in sorted(VECTOR_CORE_EVENTS)),
            )
        taken = self._ids.get(HardEvent(event), set())
        for number in range(self._core.local.EVENT_IDS):
            if number not in taken:
                return number
        raise QueueError(
            f"all {self._core.local.EVENT_IDS} ids of {HardEvent(event).name} are in use",
            code="queue.event_ids",
            api="TPipe.AllocEventID",
            got=f"{len(taken)} ids in use",
            legal=f"<= {self._core.local.EVENT_IDS} per event: each busy buffer of a queue holds one",
            fix="use fewer buffers (num) in queues of this direction, or ReleaseEventID",
            source="mirror-cann/asc-devkit impl/basic_api/kernel_event.h",
        )

    def ReleaseEventID(self, event: HardEvent, eventID: int) -> None:
        """Give an id of ``AllocEventID`` back."""
        taken = self._ids.get(HardEvent(event), set())
        if eventID not in taken:
            raise QueueError(
                f"id {eventID} of {HardEvent(event).name} is not allocated",
                code="queue.event_ids",
                api="TPipe.ReleaseEventID",
                got=eventID,
                legal=f"one of {sorted(taken)}",
            )
        taken.discard(eventID)


class TQueBind:
    """A queue between two positions: whoever fills ``src`` hands buffers to whoever drains ``dst``.

    ``depth`` is how many EnQue may precede a DeQue; ``depth=0`` is the in-place mode. The number of
    physical buffers is set by ``InitBuffer``.
    """

    def __init__(self, src: TPosition, dst: TPosition, depth: int = 1) -> None:
        check_range(type(self).__name__, "depth", depth, 0, MAX_BUFFERS, _QUEUE_SOURCE)
        for position in (src, dst):
            if position not in _FILLED_BY and position != TPosition.GM:
                raise ArgumentError(
                    f"{position!r} is no position of the vector core",
                    api=type(self).__name__,
                    got=repr(position),
                    legal="VECIN, VECOUT, VECCALC, GM",
                    source=_QUEUE_SOURCE,
                )
        self.src = TPosition(src)
        self.dst = TPosition(dst)
        self.depth = depth
        filler = _FILLED_BY.get(self.src, PipeID.PIPE_MTE2)
        drainer = _DRAINED_BY.get(self.dst, PipeID.PIPE_MTE3)
        self.filled = HardEvent[f"{filler.label}_{drainer.label}"]
        self.freed = (
            HardEvent.V_V if filler is drainer else HardEvent[f"{drainer.label}_{filler.label}"]
        )
        self.position = self.src if self.src != TPosition.GM else self.dst
        self._pipe: TPipe | None = None
        self.buffers: list[Buffer] = []
        self._queued: deque[Buffer] = deque()
        self._next = 0

    @property
    def name(self) -> str:
        """Name for messages, for example ``VECIN queue``."""
        return f"{self.position.name} queue"

    @property
    def _in_place(self) -> bool:
        return self.depth == 0

    def _attach(self, pipe: TPipe, buffers: list[Buffer]) -> None:
        self._pipe = pipe
        self.buffers = buffers
        self._queued.clear()
        self._next = 0
        if self._in_place and self.filled is not HardEvent.V_V:
            frame = sys._getframe(2)
            for buffer in buffers:
                buffer.filled_id = pipe.AllocEventID(self.filled)
                buffer.free_id = pipe.AllocEventID(self.freed)
                set_flag(pipe._core, self.freed, buffer.free_id, frame)

    def _ready(self, api: str) -> TPipe:
        if self._pipe is None:
            raise QueueError(
                "the queue has no buffers yet",
                code="queue.not_initialised",
                api=f"{type(self).__name__}.{api}",
                fix="call pipe.InitBuffer(queue, num, len) first",
                source=_QUEUE_SOURCE,
            )
        return self._pipe

    def _find(self, api: str, tensor: Any) -> Buffer:
        for buffer in self.buffers:
            if isinstance(tensor, LocalTensor) and buffer.addr == tensor.addr:
                return buffer
        raise QueueError(
            "the tensor does not belong to this queue",
            code="queue.foreign_tensor",
            api=f"{type(self).__name__}.{api}",
            got=repr(tensor),
            legal="a tensor from AllocTensor or DeQue of the same queue",
            source=_QUEUE_SOURCE,
        )

    def _wrong_state(self, api: str, buffer: Buffer, legal: str, fix: str) -> QueueError:
        return QueueError(
            f"the buffer is {buffer.state.name}",
            code=f"queue.{api.lower()}_state",
            api=f"{type(self).__name__}.{api}",
            got=repr(buffer),
            legal=legal,
            fix=fix,
            source=_QUEUE_SOURCE,
        )

    # -- the four steps ------------------------------------------------------------------------

    def AllocTensor(self, dtype: Any) -> LocalTensor:
        """Take the next free buffer; waits until its last reader has finished with it."""
        pipe = self._ready("AllocTensor")
        target = as_dtype(dtype)
        for step in range(len(self.buffers)):
            index = (self._next + step) % len(self.buffers)
            buffer = self.buffers[index]
            if buffer.state is TBufState.FREE:
                break
        else:
            raise QueueError(
                f"all {len(self.buffers)} buffers of the {self.name} are in use; a board waits here "
                "for ever",
                code="queue.no_free_buffer",
                api=f"{type(self).__name__}.AllocTensor",
                got="; ".join(repr(b) for b in self.buffers),
                legal="a FREE buffer",
                fix="FreeTensor a tensor of this queue first, or InitBuffer with a larger num",
                source=_QUEUE_SOURCE,
            )
        self._next = (index + 1) % len(self.buffers)
        buffer.state = TBufState.OCCUPIED
        if buffer.free_id >= 0:
            wait_flag(pipe._core, self.freed, buffer.free_id, sys._getframe(1))
            if not self._in_place:
                pipe.ReleaseEventID(self.freed, buffer.free_id)
                buffer.free_id = -1
        length = buffer.length * 8 // target.bits
        tensor = LocalTensor(pipe._core, buffer.addr, target, length, self.position)
        buffer.tensor = tensor
        return tensor

    def EnQue(self, tensor: LocalTensor) -> bool:
        """Hand a filled tensor to the draining side; the flag says when it is complete."""
        pipe = self._ready("EnQue")
        buffer = self._find("EnQue", tensor)
        if buffer.state not in (TBufState.OCCUPIED, TBufState.DEQUE):
            raise self._wrong_state(
                "EnQue", buffer, "OCCUPIED (after AllocTensor) or DEQUE (after DeQue)",
                "AllocTensor, fill, then EnQue once",
            )  # fmt: skip
        if not self._in_place and len(self._queued) >= self.depth:
            raise QueueError(
                f"{len(self._queued) + 1} tensors are queued and the depth is {self.depth}",
                code="queue.full",
                api=f"{type(self).__name__}.EnQue",
                got=len(self._queued) + 1,
                legal=f"<= {self.depth} EnQue before a DeQue",
                fix="DeQue first, or declare the queue with a larger depth",
                source=_QUEUE_SOURCE,
            )
        buffer.state = TBufState.ENQUE
        buffer.tensor = tensor
        self._queued.append(buffer)
        frame = sys._getframe(1)
        if self.filled is HardEvent.V_V:
            barrier(pipe._core, PipeID.PIPE_V, frame)
            return True
        if not self._in_place:
            buffer.filled_id = pipe.AllocEventID(self.filled)
        set_flag(pipe._core, self.filled, buffer.filled_id, frame)
        return True

    def DeQue(self, dtype: Any = None) -> LocalTensor:
        """Take the oldest queued tensor; the draining pipe waits until it is complete."""
        pipe = self._ready("DeQue")
        if not self._queued:
            raise QueueError(
                f"the {self.name} is empty; a board returns an invalid tensor",
                code="queue.empty",
                api=f"{type(self).__name__}.DeQue",
                got="no queued tensor",
                legal="one EnQue before each DeQue",
                fix="EnQue the tensor before DeQue",
                source=_QUEUE_SOURCE,
            )
        buffer = self._queued.popleft()
        buffer.state = TBufState.DEQUE
        if self.filled is not HardEvent.V_V:
            wait_flag(pipe._core, self.filled, buffer.filled_id, sys._getframe(1))
            if not self._in_place:
                pipe.ReleaseEventID(self.filled, buffer.filled_id)
                buffer.filled_id = -1
        queued = buffer.tensor
        target = as_dtype(dtype) if dtype is not None else (queued.dtype if queued else None)
        if target is None:
            raise ArgumentError("needs an element type", api="DeQue", fix="DeQue(half)")
        return LocalTensor(
            pipe._core, buffer.addr, target, buffer.length * 8 // target.bits, self.position
        )

    def FreeTensor(self, tensor: LocalTensor) -> None:
        """Give a buffer back; a flag tells the filling pipe when it may be overwritten."""
        pipe = self._ready("FreeTensor")
        buffer = self._find("FreeTensor", tensor)
        if buffer.state is TBufState.FREE:
            raise self._wrong_state(
                "FreeTensor", buffer, "any state but FREE", "free each allocated tensor once"
            )
        if buffer.state is TBufState.ENQUE and buffer in self._queued:
            self._queued.remove(buffer)
        buffer.state = TBufState.FREE
        if self.freed is HardEvent.V_V:
            return
        if not self._in_place:
            buffer.free_id = pipe.AllocEventID(self.freed)
        set_flag(pipe._core, self.freed, buffer.free_id, sys._getframe(1))

    def _drain(self, frame: FrameType) -> None:
        """Wait for what FreeTensor set and nobody has waited for."""
        if self._pipe is None:
            return
        for buffer in self.buffers:
            if buffer.free_id >= 0 and buffer.state is TBufState.FREE:
                wait_flag(self._pipe._core, self.freed, buffer.free_id, frame)
                if not self._in_place:
                    self._pipe.ReleaseEventID(self.freed, buffer.free_id)
                buffer.free_id = -1

    # -- questions -----------------------------------------------------------------------------

    def _counted(self, api: str) -> None:
        self._ready(api)
        if self._in_place:
            raise QueueError(
                "not available for a queue of depth 0",
                code="queue.depth0",
                api=f"{type(self).__name__}.{api}",
                legal="depth >= 1",
                source=_QUEUE_SOURCE,
            )

    def GetTensorCountInQue(self) -> int:
        """Return how many tensors are queued."""
        self._counted("GetTensorCountInQue")
        return len(self._queued)

    def HasTensorInQue(self) -> bool:
        """Return whether a tensor is queued."""
        self._counted("HasTensorInQue")
        return bool(self._queued)

    def VacantInQue(self) -> bool:
        """Return whether another EnQue fits."""
        self._counted("VacantInQue")
        return len(self._queued) < self.depth

    def HasIdleBuffer(self) -> bool:
        """Return whether a buffer is free."""
        self._counted("HasIdleBuffer")
        return any(b.state is TBufState.FREE for b in self.buffers)

    def FreeAllEvent(self) -> None:
        """Wait for all outstanding free events."""
        self._counted("FreeAllEvent")
        self._drain(sys._getframe(1))

    def __repr__(self) -> str:
        return f"<{self.name} depth {self.depth}: {self.buffers}>"


class TQue(TQueBind):
    """A queue at one position: ``TQue(TPosition.VECIN, depth)``."""

    def __init__(self, position: TPosition, depth: int = 1) -> None:
        if position not in _FILLED_BY:
            raise ArgumentError(
                f"{position!r} is no queue position of the vector core",
                api="TQue",
                got=repr(position),
                legal="VECIN, VECOUT, VECCALC",
                source=_QUEUE_SOURCE,
            )
        super().__init__(position, position, depth)


class TBuf:
    """A piece of UB without a queue: it inserts no flags. ``TBuf(TPosition.VECCALC)``."""

    def __init__(self, position: TPosition = TPosition.VECCALC) -> None:
        self.position = TPosition(position)
        self._core: AICore | None = None
        self.buffer: Buffer | None = None

    def _attach(self, core: AICore, buffer: Buffer) -> None:
        self._core = core
        self.buffer = buffer

    def Get(self, dtype: Any, length: int | None = None) -> LocalTensor:
        """Return the buffer as a tensor of ``length`` elements (default: all that fit)."""
        return self.GetWithOffset(length, 0, dtype)

    def GetWithOffset(self, size: int | None, bufOffset: int, dtype: Any) -> LocalTensor:
        """Return ``size`` elements from byte ``bufOffset`` of the buffer on."""
        target = as_dtype(dtype)
        if self.buffer is None or self._core is None:
            raise QueueError(
                "the TBuf has no memory yet",
                code="queue.not_initialised",
                api="TBuf.Get",
                fix="call pipe.InitBuffer(tbuf, len) first",
                source=_PIPE_SOURCE,
            )
        room = (self.buffer.length - bufOffset) * 8 // target.bits
        length = room if size is None else size
        if bufOffset < 0 or not 0 <= length <= room:
            raise UbExhaustedError(
                f"{length} elements of {target} do not fit the TBuf",
                code="memory.bounds",
                api="TBuf.Get",
                got=f"{length} elements from byte {bufOffset}",
                legal=f"<= {max(room, 0)} elements ({self.buffer.length} bytes)",
                source=_PIPE_SOURCE,
            )
        return LocalTensor(
            self._core, self.buffer.addr + bufOffset, target, length, self.position
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
        )
    pipe: TPipe = core.pipe
    return pipe
