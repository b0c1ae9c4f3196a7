"""The state behind a host program: runtime, devices, streams, device memory.

Everything hangs on a :class:`Runtime`. The functions of ``host.acl`` and ``host.rt`` work on the
current one: a process-wide default, or the innermost ``with Runtime(...)`` block. Work is executed
when a stream is synchronised, not when it is enqueued, so that a forgotten synchronise shows.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from host.callsite import callsite
from host.errors import AclError, HostProgramWarning, StatusError
from host.platform_ascendc import PlatformInfo
from host.status import Acl, Rt, status_name
from simulator.launch import default_options
from simulator.memory import GlobalMemory
from simulator.platforms import load_platform
from simulator.sanitizer.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType

    from host.tensor import Tensor
    from simulator.errors import SimulatorError, SourceLocation
    from simulator.memory import Allocation
    from simulator.platforms import Platform
    from simulator.run import Run


class DevicePtr:
    """An address in device memory. Adding an integer moves it by that many bytes.

    As in C it does not know its extent; the runtime looks the allocation up when it is used.
    A null pointer is ``None``.
    """

    __slots__ = ("address", "device_id")

    def __init__(self, address: int, device_id: int) -> None:
        self.address = address
        self.device_id = device_id

    def __add__(self, nbytes: int) -> DevicePtr:
        return DevicePtr(self.address + int(nbytes), self.device_id)

    def __int__(self) -> int:
        return self.address

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DevicePtr) and other.address == self.address

    def __hash__(self) -> int:
        return hash(self.address)

    def __repr__(self) -> str:
        return f"<device {self.device_id}: {self.address:#x}>"


@dataclass(frozen=True)
class MemoryRange:
    """Bytes ``[start, end)`` of device memory that a task reads or writes."""

    start: int
    end: int
    writes: bool
    label: str

    def overlaps(self, start: int, end: int) -> bool:
        """Whether any byte of ``[start, end)`` is in the range."""
        return self.start < end and start < self.end


class Task(Protocol):
    """Something that waits in a stream."""

    @property
    def name(self) -> str:
        """Name of the call that enqueued it."""
        ...

    @property
    def tensors(self) -> Sequence[Tensor]:
        """Tensors of the caller that it uses."""
        ...

    def ranges(self) -> list[MemoryRange]:
        """Device memory that it will touch."""
        ...

    def execute(self) -> None:
        """Do the work; raises a SimulatorError when the device faults."""
        ...


@dataclass(eq=False)
class Block:
    """One allocation made through the runtime."""

    allocation: Allocation
    requested: int
    location: SourceLocation


@dataclass(eq=False)
class Stream:
    """An ordered queue of tasks on one device.

    ``runs`` holds the Run of every kernel that it has executed.
    """

    device: Device
    location: SourceLocation
    tasks: list[Task] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    fault: int = 0
    destroyed: bool = False

    def submit(self, work: Callable[[], Any]) -> None:
        """Enqueue a kernel launch: ``kernel[block_dim, stream](...)`` calls this.

        It runs when the stream is synchronised, on the platform of the current runtime.
        """
        self.tasks.append(KernelTask(work, current().platform))

    def __repr__(self) -> str:
        return f"<stream on device {self.device.id}, {len(self.tasks)} pending>"


@dataclass(eq=False)
class KernelTask:
    """A kernel launched directly into a stream."""

    work: Callable[[], Any]
    platform: Platform
    name: str = "kernel"
    tensors: Sequence[Tensor] = ()

    def ranges(self) -> list[MemoryRange]:
        """Nothing: what a kernel will touch is not known before it runs."""
        return []

    def execute(self) -> None:
        """Run it."""
        with default_options(platform=self.platform):
            self.work()


@dataclass(eq=False)
class Device:
    """One device: its memory and its streams."""

    id: int
    memory: GlobalMemory
    blocks: dict[int, Block] = field(default_factory=dict)
    streams: list[Stream] = field(default_factory=list)

    def pending(self) -> list[Task]:
        """Tasks that no synchronise has executed yet."""
        return [task for stream in self.streams for task in stream.tasks]


class Runtime:
    """State of one host program.

    Parameters
    ----------
    platform : str or Platform
        Device to simulate, for example ``"910b"``.
    device_count : int
        Number of devices; ids run from 0.
    raise_on_error : bool
        Raise :class:`~host.errors.AclError` or :class:`~host.errors.AclnnError` where the C call
        would return a non-zero status.
    """

    def __init__(
        self,
        platform: str | Platform = "910b",
        *,
        device_count: int = 1,
        raise_on_error: bool = False,
    ) -> None:
        self.raise_on_error = raise_on_error
        self.initialised = False
        self.finalised = False
        self.device: Device | None = None
        self.devices: dict[int, Device] = {}
        self.tensors: dict[int, tuple[Tensor, SourceLocation]] = {}
        self.executors: dict[int, tuple[Any, SourceLocation]] = {}
        self.executor_space: dict[Any, Any] = {}
        self.findings: list[Finding] = []
        self.last_error: SimulatorError | None = None
        self._tokens: list[Token[Runtime | None]] = []
        self.configure(platform, device_count)

    def configure(self, platform: str | Platform, device_count: int = 1) -> None:
        """Choose the simulated device; allowed until ``acl.init`` has succeeded."""
        self.platform = load_platform(platform)
        self.platform_info = PlatformInfo.from_platform(self.platform)
        self.device_count = device_count

    def __enter__(self) -> Runtime:
        self._tokens.append(_CURRENT.set(self))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _CURRENT.reset(self._tokens.pop())

    # -- errors and findings -------------------------------------------------------------------

    def fail(self, status: int, message: str, **fields: Any) -> int:
        """Record a failed call and return its status, or raise it in ``raise_on_error`` mode."""
        return self.fail_with(AclError(message, status=status, location=callsite(), **fields))

    def fail_with(self, error: StatusError, cause: SimulatorError | None = None) -> int:
        """Record a failed call that is described by an exception already."""
        self.last_error = error
        if self.raise_on_error:
            raise error from cause
        return error.status

    def report(self, code: str, message: str, **fields: Any) -> None:
        """Record a fault of the host program that no status code tells, and warn about it.

        ``code`` is one of the catalogue of checks; ``fields`` are those of a Finding, and facts.
        """
        finding = self.note(code, message, **fields)
        if _COLLECTED.get() is not None:
            return
        text = f"[{code}] {message}" + (f" Fix: {finding.fix}" if finding.fix else "")
        where = finding.location
        warnings.warn_explicit(text, HostProgramWarning, where.file, where.line)

    def note(self, code: str, message: str, **fields: Any) -> Finding:
        """Record a finding without a Python warning: what was asked for may be what is wanted."""
        known = {name: fields.pop(name) for name in _FINDING_FIELDS if name in fields}
        known.setdefault("location", callsite())
        finding = Finding(
            code, message, block=-1, platform=self.platform.name, details=fields, **known
        )
        self.findings.append(finding)
        collected = _COLLECTED.get()
        if collected is not None:
            collected.append(finding)
        return finding

    @contextmanager
    def raising(self) -> Iterator[None]:
        """Let failed calls raise inside the block."""
        before, self.raise_on_error = self.raise_on_error, True
        try:
            yield
        finally:
            self.raise_on_error = before

    # -- what the calls need -------------------------------------------------------------------

    def require_device(self) -> tuple[int, Device | None]:
        """Return the active device, or the status of a call that needs one and has none."""
        if not self.initialised:
            return self.fail(
                Acl.UNINITIALIZE,
                "the runtime is not initialised",
                fix="call acl.init() first",
            ), None
        if self.device is None:
            return self.fail(
                Rt.CONTEXT_NULL,
                "no device is set, so there is no current context",
                fix="call rt.set_device(0) after acl.init()",
            ), None
        return Rt.SUCCESS, self.device

    def open_device(self, device_id: int) -> Device:
        """Return the device with this id, made on first use."""
        if device_id not in self.devices:
            memory = GlobalMemory(self.platform.memory.hbm_bytes)
            self.devices[device_id] = Device(device_id, memory)
        return self.devices[device_id]

    def close_device(self, device: Device, doing: str) -> None:
        """Drop a device and report what its program left on it."""
        for stream in device.streams:
            if stream.tasks:
                names = ", ".join(task.name for task in stream.tasks)
                self.report(
                    "host.pending_tasks",
                    f"{doing} while a stream still holds work that was never executed: {names}.",
                    fix="call rt.synchronize_stream(stream) before",
                )
            self.report(
                "host.leak_stream",
                f"{doing} with a stream left, created at {stream.location}.",
                fix="call rt.destroy_stream(stream)",
                location=stream.location,
                other=callsite(),
            )
        for block in device.blocks.values():
            name = block.allocation.name
            self.report(
                "host.leak_memory",
                f"{doing} with {block.requested} bytes of device memory left"
                f"{f' ({name})' if name else ''}, allocated at {block.location}.",
                fix="call rt.free(ptr)",
                location=block.location,
                other=callsite(),
                address=block.allocation.address,
                bytes=block.requested,
            )
        self.devices.pop(device.id, None)
        if self.device is device:
            self.device = None


_FINDING_FIELDS: Final = ("location", "other", "fix", "api", "tensor", "severity")

_COLLECTED: Final[ContextVar[list[Finding] | None]] = ContextVar("host_findings", default=None)


@contextmanager
def collect_findings() -> Iterator[list[Finding]]:
    """Give the reports of every runtime inside the block to the caller instead of warning."""
    found: list[Finding] = []
    token = _COLLECTED.set(found)
    try:
        yield found
    finally:
        _COLLECTED.reset(token)


_CURRENT: Final[ContextVar[Runtime | None]] = ContextVar("host_runtime", default=None)
_DEFAULT: Final[list[Runtime]] = []


def current() -> Runtime:
    """Return the runtime that the calls of this thread work on."""
    chosen = _CURRENT.get()
    if chosen is not None:
        return chosen
    if not _DEFAULT:
        _DEFAULT.append(Runtime())
    return _DEFAULT[0]


def describe(status: int) -> str:
    """Return ``"161002 ACLNN_ERR_PARAM_INVALID"`` for a status code."""
    return f"{int(status)} {status_name(status)}"
