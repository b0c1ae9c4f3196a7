"""Recording launches for the debugger: source lines, locals, queue states and scalar registers.

Only while :func:`record_for_debug` is active does a trace function follow the kernels' own code; an
ordinary launch pays nothing.
"""

from __future__ import annotations

import copy
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.core import ACTIVE, AICore
from simulator.debug.history import inputs_of
from simulator.debug.trace import BACK, LINE, UNSET, Frame, QueueState, Trace
from simulator.errors import SourceLocation
from simulator.queues import TBuf
from simulator.watching import watched_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType

    from simulator.memory import Allocation, Bytes
    from simulator.queues import Buffer
    from simulator.run import Run

_OURS: Final = __name__.partition(".")[0]
_LIBRARIES: Final = frozenset({*sys.stdlib_module_names, "numpy", "ml_dtypes", "greenlet", _OURS})
_SMALL: Final = 4096


class _Follower:
    """Writes the trace of one block while it runs."""

    def __init__(self, core: AICore) -> None:
        self.core = core
        self.trace = Trace()
        self._numbers: dict[FrameType, int] = {}
        self._known: dict[int, dict[str, Any]] = {}
        self._layout: tuple[Any, ...] = ()
        self._buffers: list[Buffer] = []
        self._queues: tuple[QueueState, ...] = ()
        self._states: tuple[Any, ...] | None = None
        self._registers: tuple[Any, ...] | None = None
        self._unwinding: FrameType | None = None

    def called(self, frame: FrameType) -> bool:
        """Begin to follow a call; False for what Python does by itself to import a module."""
        if frame in self._numbers:
            return True
        caller = frame.f_back
        while caller is not None and caller not in self._numbers:
            if caller.f_code.co_filename.startswith("<frozen importlib"):
                return False
            caller = caller.f_back
        parent = -1 if caller is None else self._numbers[caller]
        trace = self.trace
        self._numbers[frame] = len(trace.frames)
        self._known[len(trace.frames)] = {}
        called_at = len(trace.at) - 1
        trace.frames.append(Frame(frame.f_code, parent, called_at, frame.f_globals))
        return True

    def event(self, frame: FrameType, kind: str) -> None:
        number = self._numbers[frame]
        self._unwinding = None
        trace = self.trace
        trace.at.append(len(self.core.record))
        trace.kind.append(kind)
        trace.frame.append(number)
        trace.line.append(frame.f_lineno)
        trace.changes.append(self._changes(frame, number))
        self._note_core()

    def returned(self, frame: FrameType, value: Any) -> None:
        unwinding = self._unwinding is frame and value is None
        self._unwinding = None
        number = self._numbers.pop(frame, None)
        if number is None:
            return
        self._known.pop(number, None)
        parent = self.trace.frames[number].parent
        if unwinding or parent < 0:
            return
        caller = frame.f_back
        while caller is not None and self._numbers.get(caller) != parent:
            caller = caller.f_back
        if caller is not None:
            self.event(caller, BACK)

    def raised(self, frame: FrameType) -> None:
        self._unwinding = frame

    def _changes(self, frame: FrameType, number: int) -> dict[str, Any]:
        known = self._known[number]
        changed: dict[str, Any] = {}
        current = frame.f_locals
        for name, value in current.items():
            before = known.get(name, UNSET)
            if before is value or (before is not UNSET and _is_copy(before, value)):
                continue
            changed[name] = known[name] = _keep(value)
        if len(known) > len(current):
            for name in [n for n in known if n not in current]:
                del known[name]
                changed[name] = UNSET
        return changed

    def _note_core(self) -> None:
        core, trace = self.core, self.trace
        pipe = core.pipe
        if pipe is not None:
            layout = (pipe, len(pipe.queues))
            if layout != self._layout:
                self._layout = layout
                self._queues = tuple(QueueState(q, _buffers_of(q)) for q in pipe.queues)
                self._buffers = [b for q in self._queues for b in q.buffers]
                self._states = None
            states = tuple([b.state for b in self._buffers])
            if states != self._states:
                self._states = states
                trace.queues[len(trace.at) - 1] = (self._queues, states)
        registers = (
            core.counter_mode, core.mask, core.ctrl, core.atomic, core.pad_value, core.deq_scale,
        )  # fmt: skip
        if registers != self._registers:
            self._registers = registers
            trace.registers[len(trace.at) - 1] = {
                "mask mode": "counter" if core.counter_mode else "normal",
                "mask": f"{core.mask[1]:#018x} {core.mask[0]:#018x}",
                "CTRL": f"{core.ctrl:#018x}",
                "atomic": "none" if core.atomic is None else f"{core.atomic[0]} {core.atomic[1]}",
                "pad value": "none" if core.pad_value is None else core.pad_value.hex(),
                "deq scale": "none" if core.deq_scale is None else str(core.deq_scale),
            }


def _buffers_of(queue: Any) -> tuple[Buffer, ...]:
    if isinstance(queue, TBuf):
        return () if queue.buffer is None else (queue.buffer,)
    return tuple(queue.buffers)


def _is_plain_object(value: Any) -> bool:
    kind = type(value)
    return (
        hasattr(value, "__dict__")
        and not isinstance(value, type)
        and kind.__module__.partition(".")[0] not in _LIBRARIES
        and kind.__module__ != "builtins"
    )


def _keep(value: Any) -> Any:
    """Return what stands for a value later: a copy of what may change, else the value."""
    if isinstance(value, list | dict | set | bytearray) and len(value) <= _SMALL:
        return copy.copy(value)
    if isinstance(value, np.ndarray) and value.nbytes <= _SMALL:
        return value.copy()
    if _is_plain_object(value):
        try:
            return copy.copy(value)
        except Exception:  # An object that refuses to be copied is shown as it is at the end.
            return value
    return value


def _is_copy(kept: Any, value: Any) -> bool:
    """Whether ``kept`` still says what ``value`` is."""
    if type(kept) is not type(value):
        return False
    if isinstance(value, list):
        return len(kept) == len(value) and all(map(_same, kept, value))
    if isinstance(value, dict):
        return _same_dicts(kept, value)
    if isinstance(value, set | bytearray):
        return bool(kept == value)
    if isinstance(value, np.ndarray):
        return value.nbytes <= _SMALL and kept.tobytes() == value.tobytes()
    if _is_plain_object(value):
        return _same_dicts(vars(kept), vars(value))
    return False


def _same(one: Any, other: Any) -> bool:
    return one is other


def _same_dicts(kept: dict[Any, Any], value: dict[Any, Any]) -> bool:
    return len(kept) == len(value) and all(
        name in kept and kept[name] is content for name, content in value.items()
    )


class Launch(NamedTuple):
    """A recorded launch.

    Attributes
    ----------
    run : Run
        As far as it came.
    traces : dict of int to Trace
        By block index.
    inputs : dict
        Bytes of what it only reads.
    block_count : int
        Blocks of the launch, those that were not started included.
    cores : dict of int to AICore
    error : Exception or None
        What ended it.
    location : SourceLocation or None
        The kernel's line where the error came up.
    """

    run: Run
    traces: dict[int, Trace]
    inputs: dict[Allocation, Bytes]
    block_count: int
    cores: dict[int, AICore]
    error: Exception | None = None
    location: SourceLocation | None = None


class Recorder:
    """Collects what happens in launches; see :func:`record_for_debug`.

    Attributes
    ----------
    launches : list of Launch
        In the order in which they ended.
    """

    def __init__(self) -> None:
        self.launches: list[Launch] = []
        self._followers: dict[int, _Follower] = {}
        self._ended: dict[int, _Follower] = {}
        self._verdicts: dict[CodeType, bool] = {}

    @contextmanager
    def launching(self, result: Callable[[], Run]) -> Iterator[None]:
        """Follow the code of the kernel while its blocks run."""
        outer, self._followers = self._followers, {}
        before = sys.gettrace()
        sys.settrace(self._trace)
        try:
            yield
        except Exception as error:
            sys.settrace(before)
            self._keep(result(), error)
            self._followers = outer
            raise
        finally:
            sys.settrace(before)
        self._ended, self._followers = self._followers, outer

    def started(self, core: AICore) -> None:
        """Follow a core."""
        self._followers[core.block_idx] = _Follower(core)
        # A block that starts in a greenlet of its own finds no trace function there.
        sys.settrace(self._trace)

    def finished(self, run: Run) -> None:
        """Keep a launch that went to its end."""
        outer, self._followers = self._followers, self._ended
        self._keep(run, None)
        self._followers = outer

    def _keep(self, run: Run, error: Exception | None) -> None:
        followers = self._followers
        count = max((f.core.blocks.count for f in followers.values()), default=len(run.blocks))
        self.launches.append(
            Launch(
                run,
                {index: f.trace for index, f in followers.items()},
                inputs_of(run),
                count,
                {index: f.core for index, f in followers.items()},
                error,
                None if error is None else self._place_of(error),
            )
        )

    def _place_of(self, error: Exception) -> SourceLocation | None:
        place = getattr(error, "fields", {}).get("location")
        if isinstance(place, SourceLocation):
            return place
        found, trace = None, error.__traceback__
        while trace is not None:
            if self._follows(trace.tb_frame):
                code = trace.tb_frame.f_code
                found = SourceLocation(code.co_filename, trace.tb_lineno, code.co_name)
            trace = trace.tb_next
        return found

    # -- tracing -------------------------------------------------------------------------------

    def _follows(self, frame: FrameType) -> bool:
        code = frame.f_code
        verdict = self._verdicts.get(code)
        if verdict is None:
            top = frame.f_globals.get("__name__", "").partition(".")[0]
            inside = top in _LIBRARIES or "site-packages/greenlet" in code.co_filename
            generated = code.co_filename.startswith(("<string>", "<frozen", "<__"))
            verdict = self._verdicts[code] = not inside and not generated
        return verdict

    def _trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event != "call" or not self._follows(frame):
            return None
        core = ACTIVE.core
        follower = None if core is None else self._followers.get(core.block_idx)
        if follower is None or not follower.called(frame):
            return None

        def local(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "line":
                follower.event(frame, LINE)
            elif event == "return":
                follower.returned(frame, argument)
            elif event == "exception":
                follower.raised(frame)
            return local

        return local


@contextmanager
def record_for_debug() -> Iterator[Recorder]:
    """Record all launches inside the ``with`` block with source lines, locals and queue states."""
    recorder = Recorder()
    with watched_by(recorder):
        yield recorder
