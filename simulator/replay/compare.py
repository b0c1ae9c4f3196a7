"""What differs after a replay, by argument and element, and which finding explains it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.dtypes import uint8_t
from simulator.instruction import locate
from simulator.memory import GlobalAddress
from simulator.replay.steps import pointer_of
from simulator.sanitizer.ranges import span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from simulator.dtypes import DType
    from simulator.errors import SourceLocation
    from simulator.memory import Allocation, Bytes
    from simulator.run import Run
    from simulator.sanitizer.finding import Finding

_GAP: Final = 16
"""Equal elements between two differing ones that do not end a range."""

_SHOWN: Final = 4


class Place(NamedTuple):
    """An instruction: its block and its position in the record."""

    block: int
    at: int


@dataclass(frozen=True)
class Difference:
    """A range of elements that holds other values than program order leaves there.

    Attributes
    ----------
    argument : str
        Kernel argument, or name of the memory.
    elements : (int, int)
        Half-open range of its elements; a few equal ones may lie between.
    count : int
        Elements that differ.
    dtype : DType
        Type that the kernel last stored there.
    expected, got : array
        Values of the range in program order and in this order.
    """

    argument: str
    elements: tuple[int, int]
    count: int
    dtype: DType
    expected: NDArray[Any] = field(repr=False)
    got: NDArray[Any] = field(repr=False)
    _run: Run = field(repr=False, compare=False)
    _allocation: Allocation = field(repr=False, compare=False)
    _bytes: tuple[int, int] = field(repr=False, compare=False)

    @cached_property
    def writer(self) -> Place | None:
        """The instruction that stores these bytes last in program order."""
        from simulator.replay.explain import last_writer

        return last_writer(self._run, self._allocation, self._bytes)

    @cached_property
    def findings(self) -> list[Finding]:
        """The findings of the run that explain the difference."""
        from simulator.replay.explain import explaining

        return explaining(self._run, self.writer) if self.writer is not None else []

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "argument": self.argument,
            "elements": list(self.elements),
            "count": self.count,
            "dtype": self.dtype.name,
            "expected": [_plain(v) for v in self.expected[:_SHOWN]],
            "got": [_plain(v) for v in self.got[:_SHOWN]],
            "findings": [
                {"code": f.code, "file": f.location.file, "line": f.location.line}
                for f in self.findings
            ],
        }

    def __str__(self) -> str:
        start, stop = self.elements
        text = (
            f"{self.argument}[{start}:{stop}]: {self.count} elements differ, expected "
            f"{_values(self.expected)}, got {_values(self.got)}"
        )
        for finding in self.findings[:_SHOWN]:
            text += f"\n    because of {finding.code} at {finding.location}: {finding.message}"
        return text


@dataclass(frozen=True)
class ScalarDifference:
    """A value that the scalar unit read, and what it reads in program order."""

    block: int
    index: int
    api: str
    location: SourceLocation
    expected: bytes
    got: bytes

    def as_dict(self) -> dict[str, Any]:
        """Return plain values; bytes in hexadecimal digits, as memory holds them."""
        return {
            "block": self.block,
            "instruction": self.index,
            "api": self.api,
            "file": self.location.file,
            "line": self.location.line,
            "expected": self.expected.hex(),
            "got": self.got.hex(),
        }

    def __str__(self) -> str:
        return (
            f"{self.api} at {self.location}, block {self.block}: the scalar unit gets bytes "
            f"{self.got.hex()} instead of {self.expected.hex()}"
        )


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.integer | np.bool_) else float(value)


def _values(values: NDArray[Any]) -> str:
    shown = ", ".join(f"{_plain(v):g}" for v in values[:_SHOWN])
    return f"{shown}{', …' if len(values) > _SHOWN else ''}"


def compare(run: Run, expected: dict[Allocation, Bytes]) -> list[Difference]:
    """Return where global memory differs from ``expected``."""
    return [
        difference
        for allocation, wanted in expected.items()
        for difference in _differences(run, allocation, wanted)
    ]


def _differences(run: Run, allocation: Allocation, wanted: Bytes) -> Iterator[Difference]:
    if np.array_equal(allocation.data, wanted):
        return
    dtype = _stored_type(run, allocation)
    size = dtype.itemsize
    for name, start, end in _parts(run, allocation):
        stop = end - (end - start) % size
        before, after = (data[start:stop].reshape(-1, size) for data in (wanted, allocation.data))
        changed = np.flatnonzero((before != after).any(axis=1))
        if not len(changed):
            continue
        breaks = np.flatnonzero(np.diff(changed) > _GAP) + 1
        for group in np.split(changed, breaks):
            low, high = int(group[0]), int(group[-1]) + 1
            yield Difference(
                name,
                (low, high),
                len(group),
                dtype,
                _typed(before[low:high], dtype),
                _typed(after[low:high], dtype),
                run,
                allocation,
                (start + low * size, start + high * size),
            )


def _typed(raw: Bytes, dtype: DType) -> NDArray[Any]:
    return np.frombuffer(raw.tobytes(), dtype.numpy)


def _stored_type(run: Run, allocation: Allocation) -> DType:
    """Return the element type of the first store into an allocation."""
    for block in run.blocks:
        for plan, _, _, params in block.entries:
            pointer = pointer_of(params)
            if pointer is not None and pointer.allocation is allocation:
                for op in plan.operands:
                    if op.space == "GM" and op.role != "read":
                        return op.dtype
    return uint8_t


def _parts(run: Run, allocation: Allocation) -> list[tuple[str, int, int]]:
    """Return (name, first byte, behind the last) of what the kernel knows of an allocation."""
    parts: dict[tuple[int, int], str] = {}
    base = allocation.data.__array_interface__["data"][0]
    for name, value in run.arguments:
        if isinstance(value, GlobalAddress) and value.allocation is allocation:
            parts.setdefault((value.offset, value.end), name)
        for label, array in _arrays(name, value):
            at = array.__array_interface__["data"][0] - base
            if at >= 0 and at + array.nbytes <= len(allocation.data) and array.nbytes:
                parts.setdefault((at, at + array.nbytes), label)
    if not parts:
        return [(allocation.name or "global memory", 0, len(allocation.data))]
    return [(name, start, stop) for (start, stop), name in sorted(parts.items())]


def _arrays(name: str, value: Any) -> list[tuple[str, NDArray[Any]]]:
    if isinstance(value, np.ndarray):
        return [(name, value)]
    if isinstance(value, list | tuple):
        return [(f"{name}[{i}]", v) for i, v in enumerate(value) if isinstance(v, np.ndarray)]
    return []


def scalar_differences(
    run: Run, expected: Sequence[dict[int, bytes]], got: Sequence[dict[int, bytes]]
) -> list[ScalarDifference]:
    """Return the scalar reads that found other bytes."""
    found = []
    for block, wanted, read in zip(run.blocks, expected, got, strict=True):
        if wanted == read:
            continue
        for index in sorted(wanted):
            if read.get(index) != wanted[index]:
                plan, code, lasti, _ = block.entries[index]
                found.append(
                    ScalarDifference(
                        block.index,
                        index,
                        plan.spec.name,
                        locate(code, lasti),
                        wanted[index],
                        read.get(index, b""),
                    )
                )
    return found


def touched(plan: Any, params: tuple[Any, ...]) -> tuple[Allocation, int, int] | None:
    """Return allocation and byte range of what a call stores in global memory."""
    pointer = pointer_of(params)
    if pointer is None:
        return None
    for op in plan.operands:
        if op.space == "GM" and op.role != "read" and op.accesses:
            low, high = span(op.accesses)
            return pointer.allocation, low + pointer.offset, high + pointer.offset
    return None
