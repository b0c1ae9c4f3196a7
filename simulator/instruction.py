"""What an instruction is: its declaration, its prepared form and one issued call of it.

:class:`InstructionSpec` is the declaration, made once in an ``isa`` file. :class:`Plan` is a call
with its operands resolved to bytes, checked and bound to memory; equal calls share one plan.
:class:`Instruction` is one entry of a run's record, built only when somebody looks at it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.errors import DTypeError, InternalError, SourceLocation, UnsupportedError
from simulator.memory import GlobalAddress

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence, Set
    from types import CodeType

    from numpy.typing import NDArray

    from simulator.dtypes import DType
    from simulator.enums import Arch, PipeID

READ: Final = "read"
WRITE: Final = "write"
UPDATE: Final = "read-write"


class Access(NamedTuple):
    """The bytes an operand touches: runs of ``inner`` bytes at ``start`` plus nested steps.

    ``dims`` holds (count, stride in bytes) pairs, outermost first. ``lanes``, when given, is the
    exact tuple of byte offsets (relative to ``start``) of the runs instead.
    """

    start: int
    inner: int
    dims: tuple[tuple[int, int], ...] = ()
    lanes: tuple[int, ...] | None = None

    def run_starts(self) -> NDArray[np.int64]:
        """Return the byte address of the first byte of every run."""
        if self.lanes is not None:
            return np.asarray(self.lanes, np.int64) + self.start
        starts = np.array([self.start], np.int64)
        for count, stride in self.dims:
            starts = (starts[:, None] + np.arange(count, dtype=np.int64) * stride).reshape(-1)
        return starts

    def span(self) -> tuple[int, int]:
        """Return the lowest byte address and one past the highest."""
        if self.inner == 0 or any(count == 0 for count, _ in self.dims):
            return self.start, self.start
        if self.lanes is not None:
            return self.start + min(self.lanes), self.start + max(self.lanes) + self.inner
        low = self.start + sum(min(0, (n - 1) * s) for n, s in self.dims)
        high = self.start + sum(max(0, (n - 1) * s) for n, s in self.dims) + self.inner
        return low, high

    @property
    def nbytes(self) -> int:
        """Bytes touched, counting a byte as often as it is touched."""
        runs = len(self.lanes) if self.lanes is not None else 1
        for count, _ in self.dims:
            runs *= count
        return runs * self.inner


class Operand(NamedTuple):
    """One operand of a plan: its role, where it lives and which bytes it touches."""

    name: str
    role: str
    space: str
    dtype: DType
    accesses: tuple[Access, ...]


@dataclass(frozen=True, eq=False)
class InstructionSpec:
    """The declaration of one instruction.

    Parameters
    ----------
    name : str
        AscendC's name of the call.
    family : str
        The call shape it belongs to (``binary``, ``unary``, …).
    pipe : PipeID
        Pipe that executes it.
    dtypes : mapping
        Legal element types per architecture: tuples in the order of ``operands``, or single types
        when all operands share one.
    operands : sequence of (name, role)
        Tensor operands in call order.
    rule : callable
        ``rule(out, *sources, *scalars)`` computes one call on arrays of any shape.
    source : str
        Where the facts come from.
    count_only : set
        (arch, dtype name) pairs that exist in the count form only.
    """

    name: str
    family: str
    pipe: PipeID
    dtypes: Mapping[Arch, frozenset[Any]]
    operands: tuple[tuple[str, str], ...]
    source: str
    rule: Callable[..., Any] | None = None
    forms: tuple[str, ...] = ()
    count_only: Set[tuple[Arch, str]] = frozenset()
    constraints: str = ""
    doc: str = ""
    cost_key: str = ""

    @property
    def summary(self) -> str:
        """First line of the documentation."""
        return self.doc.strip().splitlines()[0] if self.doc.strip() else ""

    def require(self, arch: Arch, dtypes: Any, form: str) -> None:
        """Refuse a combination of architecture, element types and form that is not declared.

        Raises
        ------
        UnsupportedError, DTypeError
        """
        legal = self.dtypes.get(arch)
        if legal is None:
            others = ", ".join(sorted(a.family for a in self.dtypes))
            raise UnsupportedError(
                f"does not exist on {arch.family}",
                api=self.name,
                got=f"{self.name} on {arch.family}",
                legal=f"only on {others}",
                source=self.source,
            )
        if dtypes not in legal:
            raise DTypeError(
                f"{describe_dtypes(dtypes)} is not supported on {arch.family}",
                api=self.name,
                got=describe_dtypes(dtypes),
                legal="; ".join(sorted(describe_dtypes(d) for d in legal)),
                source=self.source,
            )
        if form != "count" and (arch, describe_dtypes(dtypes)) in self.count_only:
            raise UnsupportedError(
                f"{describe_dtypes(dtypes)} exists in the count form only on {arch.family}",
                api=self.name,
                got=f"the {form} form with {describe_dtypes(dtypes)}",
                legal=f"{self.name}(..., count)",
                source=self.source,
            )


def describe_dtypes(dtypes: Any) -> str:
    """Return ``"half"`` for one type and ``"half, float"`` for a tuple of types."""
    return ", ".join(d.name for d in dtypes) if isinstance(dtypes, tuple) else str(dtypes)


class Registry:
    """All declared instructions by name; a name has one declaration per architecture."""

    def __init__(self) -> None:
        self._specs: dict[str, dict[Arch, InstructionSpec]] = {}

    def add(self, spec: InstructionSpec) -> InstructionSpec:
        """Register a declaration.

        Raises
        ------
        InternalError
            If it has no operand roles or no source, or is made twice for one architecture.
        """
        if not spec.source:
            raise InternalError(f"{spec.name} is declared without a source")
        if any(role not in (READ, WRITE, UPDATE) for _, role in spec.operands):
            raise InternalError(f"{spec.name} is declared without operand roles")
        by_arch = self._specs.setdefault(spec.name, {})
        for arch in spec.dtypes:
            if arch in by_arch:
                raise InternalError(f"{spec.name} is declared twice for {arch.family}")
            by_arch[arch] = spec
        return spec

    def __getitem__(self, name: str) -> Mapping[Arch, InstructionSpec]:
        return self._specs[name]

    def __contains__(self, name: object) -> bool:
        return name in self._specs

    def __iter__(self) -> Any:
        return iter(sorted(self._specs))

    def specs(self) -> list[InstructionSpec]:
        """Every declaration once, by name."""
        return [s for name in self for s in dict.fromkeys(self._specs[name].values())]


REGISTRY: Final = Registry()


class Plan:
    """A checked call: pipe, operands as byte patterns, and the function that executes it.

    ``run(*params)`` does the work. ``work`` describes the size of the call for the cost model:
    repeats and elements of a vector call, bytes and bursts of a copy.
    """

    __slots__ = (
        "details", "event", "flag", "form", "operands", "pipe", "run", "scalars", "spec", "work",
    )  # fmt: skip

    def __init__(
        self,
        spec: InstructionSpec,
        form: str,
        operands: Sequence[Operand] = (),
        run: Callable[..., Any] | None = None,
        *,
        pipe: PipeID | None = None,
        work: Any = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        self.spec = spec
        self.form = form
        self.pipe = int(spec.pipe if pipe is None else pipe)
        self.operands = tuple(operands)
        self.run = run or _nothing
        self.work = work
        self.details = details or {}
        self.flag = -1
        self.event = -1
        self.scalars: dict[float, Any] = {}

    def remember(self, value: Any, scalar: Any) -> None:
        """Keep the element-type form of a scalar argument for the next equal call.

        Zero is left out because +0 and -0 are equal keys, NaN because it equals nothing.
        """
        if type(value) is float and value and not isnan(value):
            self.scalars[value] = scalar

    def __repr__(self) -> str:
        return f"<plan {self.spec.name} {self.form}>"


def _nothing(*_: Any) -> None:
    return None


class VectorWork(NamedTuple):
    """Size of a vector call: cost row, repeats, elements, and how it sits in the mask state."""

    dtype_key: str
    repeats: int
    elements: int
    writes_mask: bool
    partial: bool


class CopyWork(NamedTuple):
    """Size of a copy: bytes moved, number of bursts, bytes a burst, alignment of the GM side."""

    direction: str
    nbytes: int
    bursts: int
    burst_bytes: int
    gm_alignment: int


@dataclass(frozen=True)
class Instruction:
    """One issued call of a run, with its timing.

    Attributes
    ----------
    index : int
        Position in the program order of its block.
    block : int
        Block that issued it.
    start, end : int
        Cycles on its pipe, from the start of the core's work.
    wait, waited_for : int, str
        Cycles the pipe stood idle before it, and why.
    """

    index: int
    block: int
    name: str
    pipe: str
    form: str
    location: SourceLocation
    plan: Plan = field(repr=False, compare=False)
    params: tuple[Any, ...] = ()
    start: int = 0
    end: int = 0
    issued: int = 0
    wait: int = 0
    waited_for: str = ""

    @cached_property
    def operands(self) -> tuple[Operand, ...]:
        """Operands with global-memory accesses at their simulated addresses."""
        point = next((p for p in self.params if isinstance(p, GlobalAddress)), None)
        if point is None:
            return self.plan.operands
        return tuple(
            op._replace(
                accesses=tuple(a._replace(start=a.start + point.address) for a in op.accesses)
            )
            if op.space == "GM"
            else op
            for op in self.plan.operands
        )

    @property
    def cycles(self) -> int:
        """Cycles between start and end on the pipe."""
        return self.end - self.start

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "index": self.index,
            "block": self.block,
            "name": self.name,
            "pipe": self.pipe,
            "form": self.form,
            "file": self.location.file,
            "line": self.location.line,
            "issued": self.issued,
            "start": self.start,
            "end": self.end,
            "wait": self.wait,
            "waited_for": self.waited_for,
            "operands": [
                {
                    "name": op.name,
                    "role": op.role,
                    "space": op.space,
                    "dtype": op.dtype.name,
                    "bytes": [list(a.span()) for a in op.accesses],
                }
                for op in self.operands
            ],
            "params": {k: v for k, v in self.plan.details.items()},
        }


def locate(code: CodeType, lasti: int) -> SourceLocation:
    """Translate a recorded call position into file and line."""
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= lasti < end and number is not None:
            line = number
            break
    return SourceLocation(code.co_filename, line, code.co_name)
