"""The memories of the device: global memory (GM) and what one vector core holds locally.

GM is a set of allocations at simulated addresses with guard gaps between them; an array of the
caller is adopted without a copy. Fresh device memory holds a poison pattern that reads as NaN in
every floating-point format, so that uninitialised reads are visible.
"""

from __future__ import annotations

from bisect import bisect_right
from threading import RLock
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.errors import ArgumentError, ConfigError, MemoryFault, OutOfBoundsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simulator.instruction import Plan

    Bytes = NDArray[np.uint8]
    Saved = tuple[Bytes, Bytes, NDArray[np.uint64], bytes]

POISON: Final = 0x7FFB
"""Sixteen-bit poison word; a NaN as half, bfloat16_t, float and double."""

GM_ALIGNMENT: Final = 512
GM_GUARD: Final = 4096
_GM_BASE: Final = 0x1200_0000_0000


def poison(memory: Bytes) -> None:
    """Fill ``memory`` with the poison pattern."""
    even = len(memory) & ~1
    memory[:even].view(np.uint16)[:] = POISON
    if even != len(memory):
        memory[-1] = POISON & 0xFF


class Allocation:
    """A block of global memory: simulated address, bytes and a name for messages."""

    __slots__ = ("address", "data", "name", "owner")

    def __init__(self, address: int, data: Bytes, name: str, owner: object = None) -> None:
        self.address = address
        self.data = data
        self.name = name
        self.owner = owner

    def __repr__(self) -> str:
        return f"<{self.name or 'allocation'}: {len(self.data)} B at {self.address:#x}>"


class GlobalAddress:
    """A pointer into global memory (``GM_ADDR``): an allocation, a byte offset and a byte limit.

    Adding an integer moves the pointer by that many *bytes*, as for AscendC's ``GM_ADDR``.
    """

    __slots__ = ("allocation", "offset", "end")

    def __init__(self, allocation: Allocation, offset: int = 0, size: int | None = None) -> None:
        self.allocation = allocation
        self.offset = offset
        self.end = len(allocation.data) if size is None else offset + size

    @property
    def address(self) -> int:
        """Simulated byte address."""
        return self.allocation.address + self.offset

    @property
    def size(self) -> int:
        """Bytes between the pointer and its limit."""
        return self.end - self.offset

    def __add__(self, nbytes: int) -> GlobalAddress:
        moved = GlobalAddress(self.allocation, self.offset + int(nbytes))
        moved.end = self.end
        return moved

    def __int__(self) -> int:
        return self.address

    def __repr__(self) -> str:
        return f"<GM {self.address:#x}, {self.size} B of {self.allocation.name or 'memory'}>"


class GlobalMemory:
    """Global memory of one device: allocations that never touch each other.

    Parameters
    ----------
    capacity : int, optional
        Bytes that ``allocate`` may hand out in total; unlimited when omitted.
    """

    def __init__(self, capacity: int | None = None) -> None:
        self.capacity = capacity
        self.used = 0
        self._next = _GM_BASE
        self._allocations: dict[int, Allocation] = {}
        self._adopted: dict[tuple[int, int], Allocation] = {}

    def allocate(self, nbytes: int, name: str = "", *, poisoned: bool = True) -> Allocation:
        """Reserve ``nbytes`` (>= 0) of device memory.

        The bytes hold the poison pattern, or zeros with ``poisoned=False``.

        Raises
        ------
        MemoryFault
            If the device memory is used up.
        """
        if nbytes < 0:
            raise ArgumentError(f"cannot allocate {nbytes} bytes", got=nbytes, legal=">= 0")
        if self.capacity is not None and self.used + nbytes > self.capacity:
            raise MemoryFault(
                f"device memory is used up: {nbytes} bytes wanted, "
                f"{self.capacity - self.used} left",
                code="memory.gm_exhausted",
                got=nbytes,
                legal=f"<= {self.capacity - self.used} bytes",
            )
        data = np.zeros(nbytes, np.uint8) if not poisoned else np.empty(nbytes, np.uint8)
        if poisoned:
            poison(data)
        self.used += nbytes
        return self._place(data, name, None)

    def adopt(self, array: NDArray[Any], name: str = "") -> GlobalAddress:
        """Make a caller's array visible to kernels without copying it.

        Views of one array share one allocation, so that aliasing is seen as on the device.

        Raises
        ------
        ConfigError
            If the array is not C-contiguous or not writeable.
        """
        if not array.flags.c_contiguous:
            raise ConfigError(
                f"kernel argument {name or 'array'} is not C-contiguous",
                got=f"shape {array.shape}, strides {array.strides} bytes",
                legal="a C-contiguous numpy array",
                fix="pass np.ascontiguousarray(...), or describe the strides to the host API",
            )
        if not array.flags.writeable:
            raise ConfigError(
                f"kernel argument {name or 'array'} is read-only memory",
                legal="a writeable numpy array",
                fix="pass a copy: np.array(...)",
            )
        root = _root(array)
        start = _pointer(root)
        key = (start, root.nbytes)
        allocation = self._adopted.get(key)
        if allocation is None:
            flat = root.reshape(-1) if root.flags.c_contiguous else root.ravel(order="K")
            allocation = self._place(flat.view(np.uint8), name, root)
            self._adopted[key] = allocation
        return GlobalAddress(allocation, _pointer(array) - start, array.nbytes)

    def adopt_list(self, arrays: Sequence[NDArray[Any]], name: str = "") -> GlobalAddress:
        """Make a list of arrays visible as a dynamic input: the address of its tensor list.

        The list holds the offset of its data pointers, a shape record for each tensor and the
        pointers; tensors of different rank share a list without shapes. Layout:
        mirror-cann/asc-devkit impl/basic_api/dav_c220/kernel_operator_list_tensor_impl.h.

        Raises
        ------
        ConfigError
            If an array is not C-contiguous or not writeable.
        """
        pointers = [self.adopt(a, f"{name}[{i}]").address for i, a in enumerate(arrays)]
        rank = arrays[0].ndim
        if rank and all(a.ndim == rank for a in arrays):
            words = [8 * (1 + len(arrays) * (1 + rank))]
            for index, array in enumerate(arrays):
                words += [index << 32 | rank, *array.shape]
        else:
            words = [24, len(arrays) << 32, 0xFFFF_FFFF]
        data = np.array(words + pointers, np.uint64).view(np.uint8)
        return GlobalAddress(self._place(data, name, arrays))

    def free(self, allocation: Allocation) -> None:
        """Give an allocation back.

        Raises
        ------
        MemoryFault
            If it is not (or no longer) allocated here.
        """
        if self._allocations.pop(allocation.address, None) is not allocation:
            raise MemoryFault(f"{allocation!r} is not allocated here", code="memory.bad_free")
        self.used -= len(allocation.data)

    def find(self, address: int) -> tuple[Allocation, int]:
        """Return the allocation that holds ``address`` and the byte offset in it.

        Raises
        ------
        OutOfBoundsError
            If no allocation holds the address.
        """
        starts = sorted(self._allocations)
        at = bisect_right(starts, address) - 1
        if at >= 0:
            allocation = self._allocations[starts[at]]
            offset = address - allocation.address
            if offset < max(1, len(allocation.data)):
                return allocation, offset
        raise OutOfBoundsError(f"no allocation holds global address {address:#x}", got=hex(address))

    @property
    def allocations(self) -> tuple[Allocation, ...]:
        """Live allocations in order of their address."""
        return tuple(self._allocations[k] for k in sorted(self._allocations))

    def _place(self, data: Bytes, name: str, owner: object) -> Allocation:
        allocation = Allocation(self._next, data, name, owner)
        self._allocations[allocation.address] = allocation
        end = self._next + len(data) + GM_GUARD
        self._next = -(-end // GM_ALIGNMENT) * GM_ALIGNMENT
        return allocation


def _root(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array that owns the memory behind a view, if it is one flat block."""
    base = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    return base if base.flags.forc and base.flags.writeable else array


def _pointer(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


class DataCache:
    """The scalar unit's cache of global memory: lines of 64 bytes, written back only on demand.

    A line is loaded when an element of it is first read or written and then answers all reads, so
    that what copies or other cores do to global memory meanwhile is not seen. A written line stays
    here until it is cleaned; whole lines go back. The device also evicts lines when it likes; that
    is not modelled. Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/缓存控制
    (系统缓存概述.md, DataCacheCleanAndInvalid.md).
    """

    LINE: Final = 64

    __slots__ = ("_dirty", "_lines")

    def __init__(self) -> None:
        self._lines: dict[tuple[Allocation, int], Bytes] = {}
        self._dirty: set[tuple[Allocation, int]] = set()

    @property
    def dirty(self) -> bool:
        """Whether a line holds writes that global memory does not have."""
        return bool(self._dirty)

    def holds(self, ptr: GlobalAddress, nbytes: int) -> bool:
        """Whether ``nbytes`` at ``ptr`` are cached."""
        return all(key in self._lines for key, _ in self._parts(ptr, nbytes))

    def read(self, ptr: GlobalAddress, nbytes: int) -> bytes:
        """Return ``nbytes`` at ``ptr``; loads the lines that are not cached."""
        return b"".join(self._line(key)[part].tobytes() for key, part in self._parts(ptr, nbytes))

    def write(self, ptr: GlobalAddress, raw: bytes) -> None:
        """Write ``raw`` at ``ptr`` into the cache only."""
        done = 0
        for key, part in self._parts(ptr, len(raw)):
            size = part.stop - part.start
            self._line(key)[part] = np.frombuffer(raw[done : done + size], np.uint8)
            self._dirty.add(key)
            done += size

    def clean(self, ptr: GlobalAddress) -> None:
        """Write the line of ``ptr`` back if it is dirty, and forget it."""
        self._clean((ptr.allocation, ptr.offset // self.LINE))

    def clean_all(self) -> None:
        """Write all dirty lines back and forget everything."""
        for key in list(self._lines):
            self._clean(key)

    def _clean(self, key: tuple[Allocation, int]) -> None:
        line = self._lines.pop(key, None)
        if line is not None and key in self._dirty:
            self._dirty.discard(key)
            start = key[1] * self.LINE
            key[0].data[start : start + len(line)] = line

    def _line(self, key: tuple[Allocation, int]) -> Bytes:
        line = self._lines.get(key)
        if line is None:
            start = key[1] * self.LINE
            line = self._lines[key] = key[0].data[start : start + self.LINE].copy()
        return line

    def _parts(self, ptr: GlobalAddress, nbytes: int) -> list[tuple[tuple[Allocation, int], slice]]:
        """Return (line, bytes inside it) for ``nbytes`` at ``ptr``."""
        parts = []
        at, end = ptr.offset, ptr.offset + nbytes
        while at < end:
            number, inside = divmod(at, self.LINE)
            size = min(self.LINE - inside, end - at)
            parts.append(((ptr.allocation, number), slice(inside, inside + size)))
            at += size
        return parts

    def __repr__(self) -> str:
        return f"<data cache: {len(self._lines)} lines, {len(self._dirty)} dirty>"


class LocalMemory:
    """What a vector core holds: the unified buffer, registers that vector calls write, event flags.

    ``reduce_registers`` holds bit patterns: the accumulator of ReduceSum, then value and index of
    the last extreme.

    Plans (prepared instructions) are bound to these bytes, so they live here as well: blocks that
    run one after another on the same local memory share them. ``clean`` holds what the checks of a
    run have found nothing in: sequences of these plans. Whoever executes plans holds ``lock``,
    because launches that follow each other share a local memory, too.
    """

    EVENT_IDS: Final = 8

    def __init__(self, ub_bytes: int) -> None:
        self.ub: Bytes = np.empty(ub_bytes, np.uint8)
        self.cmpmask: Bytes = np.zeros(16, np.uint8)
        self.reduce_registers = np.zeros(3, np.uint64)
        self.flags = bytearray(64 * self.EVENT_IDS)
        self.plans: dict[Any, Plan] = {}
        self.clean: set[Any] = set()
        self.launches = 0
        self.lock = RLock()
        self._typed: dict[np.dtype[Any], NDArray[Any]] = {}
        self.reset()

    def reset(self) -> None:
        """Bring all bytes to the state a kernel finds at its start."""
        poison(self.ub)
        self.cmpmask[:] = 0
        self.reduce_registers[:] = 0
        self.flags[:] = bytes(len(self.flags))

    def save(self) -> Saved:
        """Return copies of everything a block may find changed when it is resumed."""
        return self.ub.copy(), self.cmpmask.copy(), self.reduce_registers.copy(), bytes(self.flags)

    def restore(self, saved: Saved) -> None:
        """Bring back what :meth:`save` returned."""
        self.ub[:], self.cmpmask[:], self.reduce_registers[:], self.flags[:] = saved

    def typed(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return the whole unified buffer as an array of ``dtype``."""
        view = self._typed.get(dtype)
        if view is None:
            whole = len(self.ub) // dtype.itemsize * dtype.itemsize
            view = self._typed[dtype] = self.ub[:whole].view(dtype)
        return view
