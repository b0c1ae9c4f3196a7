"""Every exception of the simulator.

Mistakes in user code derive from :class:`SimulatorError`; a fault of the simulator itself is an
:class:`InternalError`. A user error carries fields as well as text: what is wrong, the value got,
what is legal, where in the kernel, on which block and pipe, how to mend it, and the source of the
rule. ``code`` is a stable dotted name such as ``bounds.ub``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True)
class SourceLocation:
    """A place in the user's source."""

    file: str
    line: int
    function: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class SimulatorError(Exception):
    """Root of all errors that user code can cause.

    Parameters
    ----------
    message : str
        One sentence that says what is wrong.
    code : str, optional
        Stable name of the kind of error; every class has its own default.
    **fields
        Any of ``api``, ``got``, ``legal``, ``fix``, ``source``, ``location``, ``block``,
        ``pipe``, ``cycle`` and further details; shown in this order when set.
    """

    code: ClassVar[str] = "simulator"
    _SHOWN: ClassVar[tuple[str, ...]] = ("got", "legal", "fix", "source")

    def __init__(self, message: str, *, code: str | None = None, **fields: Any) -> None:
        super().__init__(message)
        self.message = message
        self.kind = code or type(self).code
        self.fields: dict[str, Any] = {k: v for k, v in fields.items() if v is not None}

    def __getattr__(self, name: str) -> Any:
        if name == "fields":
            raise AttributeError(name)
        try:
            return self.fields[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}") from None

    @property
    def check(self) -> str:
        """Code of the catalogue of checks; empty for a mistake that has no page there."""
        return str(self.fields.get("check", ""))

    def with_context(self, **fields: Any) -> SimulatorError:
        """Add fields that are not set yet and return the error."""
        for name, value in fields.items():
            if value is not None:
                self.fields.setdefault(name, value)
        return self

    def as_dict(self) -> dict[str, Any]:
        """Return code, message and all fields with plain values."""
        plain = {
            k: v if isinstance(v, int | float | str | bool | list | dict) else str(v)
            for k, v in self.fields.items()
        }
        return {"code": self.kind, "message": self.message, **plain}

    def __str__(self) -> str:
        fields = self.fields
        api = f"{fields['api']}: " if "api" in fields else ""
        lines = [f"[{self.kind}] {api}{self.message}"]
        where = [str(fields["location"])] if "location" in fields else []
        where += [f"{k} {fields[k]}" for k in ("block", "pipe", "cycle") if k in fields]
        if where:
            lines.append("  at:     " + ", ".join(where))
        lines += [f"  {k + ':':<7} {fields[k]}" for k in self._SHOWN if k in fields]
        return "\n".join(lines)


class ConfigError(SimulatorError, ValueError):
    """A platform profile, launch option or command argument is not usable."""

    code = "config"


class IsaError(SimulatorError):
    """An instruction was called in a way the architecture does not have."""

    code = "isa"


class DTypeError(IsaError, TypeError):
    """An element type is unknown or not supported by this call on this profile."""

    code = "isa.dtype"


class ArgumentError(IsaError, ValueError):
    """An argument is outside its documented range or of the wrong kind."""

    code = "isa.argument"


class UnsupportedError(IsaError):
    """The call, or this form of it, does not exist on this architecture."""

    code = "isa.unsupported"


class AlignmentError(IsaError, ValueError):
    """An address or length breaks an alignment rule."""

    code = "isa.alignment"


class MemoryFault(SimulatorError):
    """A memory access or an allocation is not possible."""

    code = "memory"


class OutOfBoundsError(MemoryFault, IndexError):
    """An access leaves its tensor, buffer or allocation."""

    code = "memory.bounds"


class UbExhaustedError(MemoryFault, MemoryError):
    """Buffers need more unified buffer than the core has."""

    code = "memory.ub_exhausted"


class QueueError(SimulatorError):
    """A TPipe, TQue or TBuf is used against its state machine or limits."""

    code = "queue"


class SyncError(SimulatorError):
    """Flags or barriers are used in a way that cannot work."""

    code = "sync"


class FlagError(SyncError, ValueError):
    """An event or event id is out of range, or a flag is set twice."""

    code = "sync.flag"


class DeadlockError(SyncError):
    """A pipe waits for something that will never happen."""

    code = "sync.deadlock"


class FindingError(SimulatorError):
    """The checks of a finished launch found an error; the outputs are complete.

    Attributes
    ----------
    findings : list of Finding
        All errors and warnings of the launch, the one that names the exception first.
    """

    code = "check"

    def __init__(self, message: str, *, findings: list[Any], **fields: Any) -> None:
        super().__init__(message, **fields)
        self.findings = findings


class DataRaceError(FindingError, SyncError):
    """Accesses to the same bytes, at least one a write, that nothing orders."""

    code = "race"


class LeftoverFlagError(FindingError, FlagError):
    """A flag, or the counter of a cross-core flag, is up when the kernel ends."""

    code = "flag.pair"


class StaleDataError(FindingError, MemoryFault):
    """Bytes that hold no data, or old data, reach a result."""

    code = "ub.uninit"


class HostError(SimulatorError):
    """A host program, infershape or tiling step failed."""

    code = "host"


class InternalError(Exception):
    """A fault of the simulator itself; please report it with the kernel that shows it."""
