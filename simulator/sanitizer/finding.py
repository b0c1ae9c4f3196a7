"""What a check has to say: one finding with its code, both source lines and the fix.

The same object is a dictionary for tests and JSON and a text for people. Codes are listed in
``catalog``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from simulator.sanitizer.catalog import CATALOG, ERROR

if TYPE_CHECKING:
    from simulator.errors import SourceLocation


class Insertion(NamedTuple):
    """A statement to put into the user's source: behind or in front of a line."""

    file: str
    line: int
    where: str
    statement: str


@dataclass
class Finding:
    """One fault, however often it happened.

    Attributes
    ----------
    code : str
        Stable name of the kind, for example ``race.raw``.
    message : str
        What is wrong, in one sentence.
    location : SourceLocation
        The user's line that shows the fault.
    other : SourceLocation or None
        The other party, for example the write that a read overtakes.
    fix : str
        What to change, with the concrete call.
    block, pipe, api, tensor : int, str, str, str
        First occurrence. The block is -1 for a fault of a host program.
    bytes, elements : (int, int) or None
        Half-open range of the tensor's space and of its elements.
    index : int
        Position of the call in the program order of its block.
    count : int
        How many times it happened.
    insert : tuple of Insertion
        The fix as statements, where it is nothing but that.
    details : dict
        Further facts of the kind.
    """

    code: str
    message: str
    location: SourceLocation
    fix: str = ""
    other: SourceLocation | None = None
    block: int = 0
    pipe: str = ""
    api: str = ""
    tensor: str = ""
    bytes: tuple[int, int] | None = None
    elements: tuple[int, int] | None = None
    index: int = 0
    count: int = 1
    severity: str = ""
    platform: str = ""
    insert: tuple[Insertion, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.severity = self.severity or CATALOG[self.code].severity

    @property
    def is_error(self) -> bool:
        """Whether a launch with ``check="raise"`` fails for it."""
        return self.severity == ERROR

    @property
    def source(self) -> str:
        """Where the broken rule is documented."""
        return CATALOG[self.code].source

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "file": self.location.file,
            "line": self.location.line,
            "function": self.location.function,
            "other_file": self.other.file if self.other else None,
            "other_line": self.other.line if self.other else None,
            "platform": self.platform,
            "block": None if self.block < 0 else self.block,
            "pipe": self.pipe,
            "api": self.api,
            "tensor": self.tensor,
            "bytes": list(self.bytes) if self.bytes else None,
            "elements": list(self.elements) if self.elements else None,
            "instruction": self.index,
            "count": self.count,
            "fix": self.fix,
            "insert": [dict(i._asdict()) for i in self.insert],
            "source": self.source,
            **self.details,
        }

    def __str__(self) -> str:
        where = [] if self.block < 0 else [f"block {self.block}"]
        where += [f"pipe {self.pipe}"] if self.pipe else []
        lines = [
            f"[{self.code}] {self.message}",
            f"  at:     {', '.join([str(self.location), *where])}",
        ]
        if self.other:
            lines.append(f"  other:  {self.other}")
        if self.count > 1:
            lines.append(f"  count:  {self.count} times")
        if self.fix:
            lines.append(f"  fix:    {self.fix}")
        lines.append(f"  source: {self.source}")
        return "\n".join(lines)
