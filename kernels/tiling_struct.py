"""``TilingData``: a C struct shared by host tiling and kernel, with named, typed, checked fields.

The host fills the fields, ``pack()`` gives the bytes that the device would receive, and the
kernel reads the same names. Layout is little-endian with C alignment. A field that was never
assigned keeps a poison pattern, as a forgotten assignment leaves arbitrary bytes on the device.

Source of the two styles that this replaces (macro-defined and plain struct) and of their limits:
mirror-cann/asc-devkit docs/zh/guide, host tiling pages.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, ClassVar, Final, TypeVar, overload

from simulator.core import ACTIVE, user_frame
from simulator.errors import ArgumentError, SourceLocation

_T = TypeVar("_T", bound="TilingData")

POISON_BYTE: Final = 0xA5
"""Value of every byte that no assignment has written."""

_FORMATS: Final = {
    "int8_t": "b",
    "uint8_t": "B",
    "int16_t": "h",
    "uint16_t": "H",
    "int32_t": "i",
    "uint32_t": "I",
    "int64_t": "q",
    "uint64_t": "Q",
    "float": "f",
    "double": "d",
}


@dataclass(frozen=True)
class FieldInfo:
    """Place of one field: C type, element count, byte offset."""

    name: str
    c_type: str
    count: int
    offset: int

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return struct.calcsize("<" + _FORMATS[self.c_type])

    @property
    def nbytes(self) -> int:
        """Bytes of the whole field."""
        return self.itemsize * self.count


class _Field:
    """Common part of scalar and array fields: name, type and checked writing."""

    def __init__(self, c_type: str, count: int = 1) -> None:
        if c_type not in _FORMATS:
            raise ArgumentError(
                f"{c_type!r} is not a tiling field type", got=c_type, legal=", ".join(_FORMATS)
            )
        if count < 1:
            raise ArgumentError(f"a tiling field cannot hold {count} elements", got=count)
        self.c_type = c_type
        self.count = count
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @property
    def itemsize(self) -> int:
        return struct.calcsize("<" + _FORMATS[self.c_type])

    def _write(self, target: TilingData, index: int, value: Any) -> None:
        code = _FORMATS[self.c_type]
        at = type(target).layout[self.name].offset + index * self.itemsize
        is_float = code in "fd"
        try:
            number = float(value) if is_float else value.__index__()
        except (AttributeError, TypeError, ValueError):
            raise self._error(target, index, value, "not a number of that kind") from None
        try:
            struct.pack_into("<" + code, target._bytes, at, number)
        except (struct.error, OverflowError):
            raise self._error(target, index, value, "out of range") from None

    def _read(self, source: TilingData, index: int) -> Any:
        if self.name not in source._assigned and ACTIVE.core is not None:
            source.stale_reads.setdefault(self.name, _reader())
        at = type(source).layout[self.name].offset + index * self.itemsize
        return struct.unpack_from("<" + _FORMATS[self.c_type], source._bytes, at)[0]

    def _error(self, target: TilingData, index: int, value: object, why: str) -> ArgumentError:
        place = f"{type(target).__name__}.{self.name}"
        place += f"[{index}]" if self.count > 1 else ""
        return ArgumentError(
            f"{place} is {self.c_type}: {value!r} is {why}",
            code="host.tiling_field",
            got=repr(value),
            legal=_legal(self.c_type),
        )


def _reader() -> SourceLocation:
    """Return the line outside this file that reads a field."""
    frame = user_frame(2)
    while frame.f_code.co_filename == __file__ and frame.f_back is not None:
        frame = frame.f_back
    return SourceLocation(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


def _legal(c_type: str) -> str:
    if c_type in ("float", "double"):
        return f"a number that fits {c_type}"
    bits = int("".join(ch for ch in c_type if ch.isdigit()))
    signed = not c_type.startswith("u")
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return f"an integer from {low} to {high}"


class Int(_Field):
    """An integer field, for example ``elementNum = Int("int64_t")``."""

    @overload
    def __get__(self, instance: None, owner: type) -> Int: ...
    @overload
    def __get__(self, instance: TilingData, owner: type) -> int: ...
    def __get__(self, instance: TilingData | None, owner: type) -> Int | int:
        return self if instance is None else int(self._read(instance, 0))

    def __set__(self, instance: TilingData, value: int) -> None:
        self._write(instance, 0, value)
        instance._assigned.add(self.name)
        instance.stale_reads.pop(self.name, None)


class Float(_Field):
    """A ``float`` or ``double`` field."""

    @overload
    def __get__(self, instance: None, owner: type) -> Float: ...
    @overload
    def __get__(self, instance: TilingData, owner: type) -> float: ...
    def __get__(self, instance: TilingData | None, owner: type) -> Float | float:
        return self if instance is None else float(self._read(instance, 0))

    def __set__(self, instance: TilingData, value: float) -> None:
        self._write(instance, 0, value)
        instance._assigned.add(self.name)
        instance.stale_reads.pop(self.name, None)


class IntArray(_Field):
    """A fixed-length integer array; assign a whole sequence, read a tuple.

    A shorter sequence leaves the remaining elements zero.
    """

    @overload
    def __get__(self, instance: None, owner: type) -> IntArray: ...
    @overload
    def __get__(self, instance: TilingData, owner: type) -> tuple[int, ...]: ...
    def __get__(self, instance: TilingData | None, owner: type) -> IntArray | tuple[int, ...]:
        if instance is None:
            return self
        return tuple(int(self._read(instance, i)) for i in range(self.count))

    def __set__(self, instance: TilingData, value: tuple[int, ...] | list[int]) -> None:
        values = list(value)
        if len(values) > self.count:
            raise self._error(instance, len(values) - 1, value, f"longer than {self.count}")
        for index, item in enumerate(values + [0] * (self.count - len(values))):
            self._write(instance, index, item)
        instance._assigned.add(self.name)
        instance.stale_reads.pop(self.name, None)


class TilingData:
    """Base class of tiling structs.

    A subclass lists its fields in the order of the C struct::

        class AddTilingData(TilingData):
            totalLength = Int("uint32_t")
            tileNum = Int("uint32_t")

    Assigning a value outside a field's range raises ``ArgumentError``.

    Attributes
    ----------
    stale_reads : dict
        Fields that a running kernel has read although nothing was assigned to them, with the line
        that read them first.
    """

    layout: ClassVar[dict[str, FieldInfo]] = {}
    size: ClassVar[int] = 0

    def __init_subclass__(cls) -> None:
        offset, widest = 0, 1
        layout: dict[str, FieldInfo] = {}
        fields = {k: v for base in reversed(cls.__mro__) for k, v in vars(base).items()}
        for name, member in fields.items():
            if isinstance(member, _Field):
                width = member.itemsize
                offset = -(-offset // width) * width
                layout[name] = FieldInfo(name, member.c_type, member.count, offset)
                offset += width * member.count
                widest = max(widest, width)
        cls.layout = layout
        cls.size = -(-offset // widest) * widest

    def __init__(self, **values: Any) -> None:
        self._bytes = bytearray([POISON_BYTE]) * type(self).size
        self._assigned: set[str] = set()
        self.stale_reads: dict[str, SourceLocation] = {}
        for name, value in values.items():
            if name not in type(self).layout:
                raise ArgumentError(
                    f"{type(self).__name__} has no field {name!r}",
                    got=name,
                    legal=", ".join(type(self).layout),
                )
            setattr(self, name, value)

    @property
    def unassigned(self) -> tuple[str, ...]:
        """Fields that no assignment has written; they hold poison."""
        return tuple(name for name in type(self).layout if name not in self._assigned)

    def clear(self) -> None:
        """Set every byte to zero, as ``memset`` on the struct does."""
        self._bytes[:] = bytes(len(self._bytes))
        self._assigned.update(type(self).layout)

    def pack(self) -> bytes:
        """Return the struct's bytes: little-endian, C alignment."""
        return bytes(self._bytes)

    @classmethod
    def unpack(cls: type[_T], data: bytes) -> _T:
        """Return a struct read from ``data``, which must have exactly ``size`` bytes."""
        if len(data) != cls.size:
            raise ArgumentError(
                f"{cls.__name__} has {cls.size} bytes, got {len(data)}",
                got=len(data),
                legal=str(cls.size),
            )
        made = cls()
        made._bytes[:] = data
        made._assigned.update(cls.layout)
        return made

    def as_dict(self) -> dict[str, Any]:
        """Return all fields by name."""
        return {name: getattr(self, name) for name in type(self).layout}

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.pack() == self.pack()

    __hash__ = None  # type: ignore[assignment]  # mutable: no key

    def __repr__(self) -> str:
        shown = [
            f"{name}={getattr(self, name) if name in self._assigned else 'unassigned'}"
            for name in type(self).layout
        ]
        return f"{type(self).__name__}({', '.join(shown)})"
