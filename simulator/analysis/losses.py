"""What numeric triage has to say: where precision is lost, and how far results are off."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from simulator.errors import SourceLocation


class Source(NamedTuple):
    """An element that a lossy instruction read: its real and its exact value."""

    operand: str
    actual: float
    exact: float


@dataclass(frozen=True)
class Loss:
    """An instruction that leaves an element further from its exact value than the bound.

    Attributes
    ----------
    error : float
        Relative error of the element; infinite for an overflow or a NaN that should not be.
    own_error : float
        What this instruction alone adds: its error when its real sources are taken as exact.
    element : int
        Index in the tensor that the call writes.
    count : int
        Elements that pass the bound at this line, in all its calls.
    """

    block: int
    index: int
    api: str
    location: SourceLocation
    tensor: str
    dtype: str
    element: int
    actual: float
    exact: float
    error: float
    own_error: float
    sources: tuple[Source, ...]
    count: int = 1

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "block": self.block,
            "instruction": self.index,
            "api": self.api,
            "file": self.location.file,
            "line": self.location.line,
            "tensor": self.tensor,
            "dtype": self.dtype,
            "element": self.element,
            "actual": self.actual,
            "exact": self.exact,
            "error": self.error,
            "own_error": self.own_error,
            "sources": [source._asdict() for source in self.sources],
            "count": self.count,
        }

    def __str__(self) -> str:
        text = (
            f"{self.api} at {self.location}, block {self.block}: {self.tensor}[{self.element}] "
            f"({self.dtype}) is {self.actual:.9g}, exactly {self.exact:.9g}: relative error "
            f"{self.error:.2g}, {self.own_error:.2g} of it from this call"
        )
        for name, actual, exact in self.sources:
            text += f"\n    {name} is {actual:.9g}, exactly {exact:.9g}"
        return text


@dataclass(frozen=True)
class Precision:
    """What numeric triage found.

    Attributes
    ----------
    bound : float
        Relative error that counts as lost.
    losses : list of Loss
        First element past the bound of each source line, in the order of execution.
    worst : float
        Largest relative error of an element that a copy stored in global memory.
    not_carried : dict of str to int
        Calls on floating-point elements without a formula, and how often they ran; their results
        count as exact.
    """

    bound: float
    losses: list[Loss]
    worst: float
    not_carried: dict[str, int] = field(default_factory=dict)

    @property
    def first(self) -> Loss | None:
        """The first loss, or None."""
        return self.losses[0] if self.losses else None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "bound": self.bound,
            "worst_stored": self.worst,
            "losses": [loss.as_dict() for loss in self.losses],
            "not_carried": dict(self.not_carried),
        }

    def __str__(self) -> str:
        lines = [f"largest relative error of a stored element: {self.worst:.2g}"]
        if self.losses:
            lines.append(f"first past {self.bound:g}: {self.losses[0]}")
        else:
            lines.append(f"no element passes {self.bound:g}")
        lines += [
            f"then {loss.api} at {loss.location}: {loss.count} elements, up to block {loss.block}"
            for loss in self.losses[1:_SHOWN]
        ]
        if self.not_carried:
            calls = ", ".join(f"{name} ({n} times)" for name, n in self.not_carried.items())
            lines.append(f"results taken as exact, for want of a formula: {calls}")
        return "\n".join(lines)


_SHOWN: Final = 6
