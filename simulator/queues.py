"""TQue, TQueBind and TBuf: buffers that pipes hand to each other, on top of the event flags.

A queue owns physical buffers and inserts the flags that order the pipes which fill and drain
them. States of a buffer: FREE, OCCUPIED (AllocTensor), ENQUE (EnQue), DEQUE (DeQue), FREE again.
Where a board would spin for ever or go on with a stale buffer, an error says so. Source:
mirror-cann/asc-devkit impl/basic_api/kernel_tquebind_impl.h and kernel_event.h.
"""

from __future__ import annotations

import sys
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from simulator.dtypes import as_dtype
from simulator.enums import HardEvent, PipeID, TBufState, TPosition
from simulator.errors import AlignmentError, ArgumentError, QueueError, UbExhaustedError
from simulator.isa.params import check_range
from simulator.isa.sync import barrier, set_flag, wait_flag
from simulator.tensor import LocalTensor

if TYPE_CHECKING:
    from types import FrameType

    from simulator.core import AICore, Site
    from simulator.tpipe import TPipe

PIPE_SOURCE: Final = "mirror-cann/asc-devkit impl/basic_api/kernel_tpipe_impl.h"
QUEUE_SOURCE: Final = "mirror-cann/asc-devkit impl/basic_api/kernel_tquebind_impl.h"

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

    __slots__ = ("addr", "filled", "filled_id", "free_id", "length", "state", "tensor")

    def __init__(self, addr: int, length: int) -> None:
        self.addr = addr
        self.length = length
        self.state = TBufState.FREE
        self.free_id = -1
        self.filled: HardEvent | None = None
        self.filled_id = -1
        self.tensor: LocalTensor | None = None

    def __repr__(self) -> str:
        return f"<{self.length} B at UB {self.addr:#x}: {self.state.name}>"


def events_between(src: TPosition, dst: TPosition) -> tuple[HardEvent, HardEvent]:
    """Return the event of a full buffer and that of a free one."""
    filler = _FILLED_BY.get(src, PipeID.PIPE_MTE2)
    drainer = _DRAINED_BY.get(dst, PipeID.PIPE_MTE3)
    if filler is drainer:
        return HardEvent.V_V, HardEvent.V_V
    return HardEvent[f"{filler.label}_{drainer.label}"], HardEvent[
        f"{drainer.label}_{filler.label}"
    ]


def user_event(src: Any, dst: Any) -> HardEvent:
    """Return the event of EnQue and DeQue with user positions; UB to UB is a barrier of V."""
    legal = (TPosition.GM, *_FILLED_BY)
    if src not in legal or dst not in legal or (src, dst) == (TPosition.GM, TPosition.GM):
        raise ArgumentError(
            "these positions hand nothing to each other on the vector core",
            api="EnQue/DeQue",
            got=f"{src!r}, {dst!r}",
            legal="GM, VECIN, VECOUT, VECCALC, not both GM",
            source=QUEUE_SOURCE,
        )
    if src == TPosition.GM:
        return HardEvent.MTE2_V
    return HardEvent.V_MTE3 if dst == TPosition.GM else HardEvent.V_V


class TQueBind:
    """A queue between two positions: whoever fills ``src`` hands buffers to whoever drains ``dst``.

    ``depth`` is how many EnQue may precede a DeQue; ``depth=0`` is the in-place mode, in which
    DeQue takes the tensor. The number of physical buffers is set by ``InitBuffer``.
    """

    def __init__(self, src: TPosition, dst: TPosition, depth: int = 1) -> None:
        check_range(type(self).__name__, "depth", depth, 0, MAX_BUFFERS, QUEUE_SOURCE)
        for position in (src, dst):
            if position not in _FILLED_BY and position != TPosition.GM:
                raise ArgumentError(
                    f"{position!r} is no position of the vector core",
                    api=type(self).__name__,
                    got=repr(position),
                    legal="VECIN, VECOUT, VECCALC, GM",
                    source=QUEUE_SOURCE,
                )
        if src == TPosition.GM and dst == TPosition.GM:
            raise ArgumentError(
                "a queue holds buffers in UB",
                api=type(self).__name__,
                got="GM, GM",
                legal="at least one of VECIN, VECOUT, VECCALC",
                source=QUEUE_SOURCE,
            )
        self.src = TPosition(src)
        self.dst = TPosition(dst)
        self.depth = depth
        self.filled, self.freed = events_between(self.src, self.dst)
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
    def in_place(self) -> bool:
        """Whether the depth is 0."""
        return self.depth == 0

    def attach(self, pipe: TPipe, buffers: list[Buffer], frame: FrameType) -> None:
        """Take the buffers of InitBuffer; in-place queues reserve and free them at once."""
        self._pipe = pipe
        self.buffers = buffers
        self._queued.clear()
        self._next = 0
        if self.in_place and self.filled is not HardEvent.V_V:
            for buffer in buffers:
                buffer.filled_id = pipe.AllocEventID(self.filled)
                buffer.free_id = pipe.AllocEventID(self.freed)
                set_flag(pipe.core, self.freed, buffer.free_id, frame)

    def _ready(self, api: str) -> TPipe:
        if self._pipe is None:
            raise QueueError(
                "the queue has no buffers yet",
                code="queue.not_initialised",
                api=f"{type(self).__name__}.{api}",
                fix="call pipe.InitBuffer(queue, num, len) first",
                source=QUEUE_SOURCE,
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
            source=QUEUE_SOURCE,
        )

    def _wrong_state(self, api: str, buffer: Buffer, legal: str, fix: str) -> QueueError:
        return QueueError(
            f"the buffer is {buffer.state.name}",
            code=f"queue.{api.lower()}_state",
            api=f"{type(self).__name__}.{api}",
            got=repr(buffer),
            legal=legal,
            fix=fix,
            source=QUEUE_SOURCE,
        )

    # -- the four steps ------------------------------------------------------------------------

    def AllocTensor(self, dtype: Any) -> LocalTensor:
        """Take the next free buffer; waits until its last reader has finished with it."""
        pipe = self._ready("AllocTensor")
        target = as_dtype(dtype)
        count = len(self.buffers)
        for step in range(count):
            index = (self._next + step) % count
            buffer = self.buffers[index]
            if buffer.state is TBufState.FREE:
                break
        else:
            raise QueueError(
                f"all {count} buffers of the {self.name} are in use; a board waits here for ever",
                code="queue.no_free_buffer",
                api=f"{type(self).__name__}.AllocTensor",
                got="; ".join(repr(b) for b in self.buffers),
                legal="a FREE buffer",
                fix="FreeTensor a tensor of this queue first, or InitBuffer with a larger num",
                source=QUEUE_SOURCE,
            )
        self._next = (index + 1) % count
        buffer.state = TBufState.OCCUPIED
        if buffer.free_id >= 0:
            wait_flag(pipe.core, self.freed, buffer.free_id, sys._getframe(1))
            if not self.in_place:
                pipe.ReleaseEventID(self.freed, buffer.free_id)
                buffer.free_id = -1
        length = buffer.length * 8 // target.bits
        tensor = LocalTensor(pipe.core, buffer.addr, target, length, self.position)
        buffer.tensor = tensor
        return tensor

    def EnQue(self, *args: Any) -> bool:
        """``EnQue(tensor)`` or ``EnQue(src, dst, tensor)``: hand a filled tensor on.

        The flag says when it is complete; user positions that are both in UB give a barrier of V.
        """
        pipe = self._ready("EnQue")
        tensor = args[-1] if len(args) in (1, 3) else None
        buffer = self._find("EnQue", tensor)
        if buffer.state not in (TBufState.OCCUPIED, TBufState.DEQUE):
            raise self._wrong_state(
                "EnQue", buffer, "OCCUPIED (after AllocTensor) or DEQUE (after DeQue)",
                "AllocTensor, fill, then EnQue once",
            )  # fmt: skip
        event = self.filled
        if len(args) == 3:
            self._counted("EnQue")
            event = user_event(args[0], args[1])
        if not self.in_place:
            if len(self._queued) >= self.depth:
                raise QueueError(
                    f"{len(self._queued) + 1} tensors are queued and the depth is {self.depth}",
                    code="queue.full",
                    api=f"{type(self).__name__}.EnQue",
                    got=len(self._queued) + 1,
                    legal=f"<= {self.depth} EnQue before a DeQue",
                    fix="DeQue first, or declare the queue with a larger depth",
                    source=QUEUE_SOURCE,
                )
            self._queued.append(buffer)
        buffer.state = TBufState.ENQUE
        buffer.tensor = tensor
        buffer.filled = event
        frame = sys._getframe(1)
        if event is HardEvent.V_V:
            barrier(pipe.core, PipeID.PIPE_V, frame)
            return True
        if not self.in_place:
            buffer.filled_id = pipe.AllocEventID(event)
        set_flag(pipe.core, event, buffer.filled_id, frame)
        return True

    def DeQue(self, *args: Any) -> LocalTensor:
        """``DeQue(dtype)``, ``DeQue(src, dst, dtype)`` or, at depth 0, ``DeQue(tensor)``.

        Takes the oldest queued tensor; the draining pipe waits until it is complete. Without a type
        it is that of the queued tensor.
        """
        pipe = self._ready("DeQue")
        if self.in_place:
            return self._dequeue_in_place(pipe, args, sys._getframe(1))
        if not self._queued:
            raise QueueError(
                f"the {self.name} is empty; a board returns an invalid tensor",
                code="queue.empty",
                api=f"{type(self).__name__}.DeQue",
                got="no queued tensor",
                legal="one EnQue before each DeQue",
                fix="EnQue the tensor before DeQue",
                source=QUEUE_SOURCE,
            )
        buffer = self._queued[0]
        if buffer.state is not TBufState.ENQUE:
            raise self._wrong_state(
                "DeQue", buffer, "ENQUE", "do not FreeTensor a tensor that is still queued"
            )
        wanted = user_event(args[0], args[1]) if len(args) >= 2 else self.filled
        if buffer.filled is not wanted:
            raise QueueError(
                "EnQue and DeQue name different positions",
                code="queue.positions",
                api=f"{type(self).__name__}.DeQue",
                got=f"EnQue set {buffer.filled.name if buffer.filled else 'nothing'}, DeQue waits "
                f"for {wanted.name}",
                legal="the same positions in both",
                source=QUEUE_SOURCE,
            )
        self._queued.popleft()
        buffer.state = TBufState.DEQUE
        if wanted is not HardEvent.V_V:
            wait_flag(pipe.core, wanted, buffer.filled_id, sys._getframe(1))
            pipe.ReleaseEventID(wanted, buffer.filled_id)
            buffer.filled_id = -1
        dtype = args[-1] if len(args) in (1, 3) else None
        queued = buffer.tensor
        target = as_dtype(dtype) if dtype is not None or queued is None else queued.dtype
        return LocalTensor(
            pipe.core, buffer.addr, target, buffer.length * 8 // target.bits, self.position
        )

    def _dequeue_in_place(
        self, pipe: TPipe, args: tuple[Any, ...], frame: FrameType
    ) -> LocalTensor:
        if len(args) != 1 or not isinstance(args[0], LocalTensor):
            raise QueueError(
                "a queue of depth 0 works in place: it takes the tensor",
                code="queue.depth0",
                api=f"{type(self).__name__}.DeQue",
                got=repr(args),
                legal="DeQue(tensor)",
                source=QUEUE_SOURCE,
            )
        tensor = args[0]
        buffer = self._find("DeQue", tensor)
        if buffer.state is not TBufState.ENQUE:
            raise self._wrong_state("DeQue", buffer, "ENQUE", "EnQue the tensor before DeQue")
        buffer.state = TBufState.DEQUE
        wait_flag(pipe.core, self.filled, buffer.filled_id, frame)
        return tensor

    def FreeTensor(self, tensor: LocalTensor) -> None:
        """Give a buffer back; a flag tells the filling pipe when it may be overwritten."""
        pipe = self._ready("FreeTensor")
        buffer = self._find("FreeTensor", tensor)
        if buffer.state is TBufState.FREE:
            raise self._wrong_state(
                "FreeTensor", buffer, "any state but FREE", "free each allocated tensor once"
            )
        buffer.state = TBufState.FREE
        if self.freed is HardEvent.V_V:
            return
        if not self.in_place:
            buffer.free_id = pipe.AllocEventID(self.freed)
        set_flag(pipe.core, self.freed, buffer.free_id, sys._getframe(1))

    def drain(self, frame: FrameType | Site, *, release: bool = True) -> None:
        """Wait for what FreeTensor set and nobody has waited for."""
        if self._pipe is None:
            return
        for buffer in self.buffers:
            if buffer.free_id >= 0 and buffer.state is TBufState.FREE:
                wait_flag(self._pipe.core, self.freed, buffer.free_id, frame)
                if release and not self.in_place:
                    self._pipe.ReleaseEventID(self.freed, buffer.free_id)
                buffer.free_id = -1

    # -- questions -----------------------------------------------------------------------------

    def _counted(self, api: str) -> None:
        self._ready(api)
        if self.in_place:
            raise QueueError(
                "not available for a queue of depth 0",
                code="queue.depth0",
                api=f"{type(self).__name__}.{api}",
                legal="depth >= 1",
                source=QUEUE_SOURCE,
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

    def GetState(self, tensor: LocalTensor) -> TBufState:
        """Return the state of a tensor's buffer."""
        self._ready("GetState")
        return self._find("GetState", tensor).state

    def FreeAllEvent(self) -> None:
        """Wait for all outstanding free events; no tensor may be queued."""
        self._counted("FreeAllEvent")
        if self._queued:
            raise self._wrong_state(
                "FreeAllEvent", self._queued[0], "no tensor in the queue", "DeQue all tensors first"
            )
        self.drain(sys._getframe(1))

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
                source=QUEUE_SOURCE,
            )
        super().__init__(position, position, depth)


class TBuf:
    """A piece of UB without a queue: it inserts no flags. ``TBuf(TPosition.VECCALC)``."""

    def __init__(self, position: TPosition = TPosition.VECCALC) -> None:
        if position not in _FILLED_BY:
            raise ArgumentError(
                f"{position!r} is no position in UB",
                api="TBuf",
                got=repr(position),
                legal="VECIN, VECOUT, VECCALC",
                source=PIPE_SOURCE,
            )
        self.position = TPosition(position)
        self._core: AICore | None = None
        self.buffer: Buffer | None = None

    def attach(self, core: AICore, buffer: Buffer) -> None:
        """Take the buffer of InitBuffer."""
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
                source=PIPE_SOURCE,
            )
        if bufOffset % BLOCK:
            raise AlignmentError(
                "an offset in a TBuf is a multiple of 32 bytes",
                api="TBuf.GetWithOffset",
                argument="bufOffset",
                got=bufOffset,
                legal="a multiple of 32",
                source=PIPE_SOURCE,
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
                source=PIPE_SOURCE,
            )
        return LocalTensor(self._core, self.buffer.addr + bufOffset, target, length, self.position)

    def __repr__(self) -> str:
        where = "without memory" if self.buffer is None else repr(self.buffer)
        return f"<TBuf {self.position.name} {where}>"
