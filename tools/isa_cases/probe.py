"""One kernel on one core around a few vector calls: buffers in, calls, buffers out.

The whole unified buffer is loaded from global memory before the calls and stored after them, so
that a caller sees every byte that a call wrote and every byte that it left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.ascendc import (
    PIPE_ALL,
    DataCopy,
    GlobalTensor,
    PipeBarrier,
    TBuf,
    TPipe,
    TPosition,
    kernel,
    launch,
)
from simulator.dtypes import DType, as_dtype, uint8_t
from simulator.errors import ConfigError
from simulator.platforms import load_platform

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from simulator.run import Run

PLATFORM_OF_ARCH: Final = {"2201": "910b", "3510": "950"}

BACKGROUND: Final = 0xA5
"""Byte that fills the unified buffer outside the given tensors."""

ALIGNMENT: Final = 512
"""Start address of each tensor; larger than any instruction asks for."""


class Filled(NamedTuple):
    """Content of a tensor with its element type, for types that numpy cannot tell apart.

    ``values`` is an array of the type's storage, or of anything that converts to it.
    """

    dtype: Any
    values: Any


@dataclass(frozen=True)
class Probe:
    """What a probe left behind.

    Attributes
    ----------
    before, after : numpy.ndarray
        All bytes of the unified buffer before and after the calls.
    places : dict
        First byte and one past the last byte of each tensor in the unified buffer.
    gm : dict
        The arrays in global memory, by name.
    returned : object
        What the body returned.
    """

    before: NDArray[np.uint8]
    after: NDArray[np.uint8]
    places: dict[str, tuple[int, int]]
    dtypes: dict[str, DType]
    gm: dict[str, NDArray[Any]]
    returned: Any
    run: Run

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Values of a tensor after the calls, in the storage of its element type."""
        if name in self.gm:
            return self.gm[name]
        start, stop = self.places[name]
        return self.after[start:stop].view(self.dtypes[name].numpy)

    def changed(self) -> NDArray[np.int64]:
        """Byte addresses of the unified buffer that hold something else than before."""
        return np.flatnonzero(self.before != self.after)

    def changed_outside(self, *names: str) -> NDArray[np.int64]:
        """Changed byte addresses that belong to none of the named tensors."""
        changed = self.changed()
        for start, stop in (self.places[name] for name in names):
            changed = changed[(changed < start) | (changed >= stop)]
        return changed


def run_probe(
    body: Callable[[Any], Any],
    tensors: Mapping[str, Any],
    *,
    platform: str = "910b",
    gm: Mapping[str, Any] | None = None,
    strict: bool = True,
    background: int = BACKGROUND,
    blocks: int = 1,
) -> Probe:
    """Run ``body(t)`` as a kernel, with ``t.<name>`` a LocalTensor for each of ``tensors``.

    Parameters
    ----------
    body : callable
        Makes the calls; its argument has one attribute a tensor. It may return anything.
    tensors : mapping
        Name to array (its numpy dtype is the element type) or :class:`Filled`.
    gm : mapping, optional
        Name to array in global memory, seen as a GlobalTensor of the same name.
    blocks : int, optional
        Number of blocks; each loads the same unified buffer, ``after`` is that of the last one.

    Raises
    ------
    ConfigError
        If the tensors do not fit the unified buffer.
    SimulatorError
        Whatever the calls raise.
    """
    profile = load_platform(platform)
    before = np.full(profile.memory.ub_bytes, background, np.uint8)
    places: dict[str, tuple[int, int]] = {}
    dtypes: dict[str, DType] = {}
    top = 0
    for name, given in tensors.items():
        dtype, values = _content(given)
        raw = np.ascontiguousarray(values).view(np.uint8).reshape(-1)
        if top + len(raw) > profile.memory.ub_reserved_offset:
            raise ConfigError(
                f"{name} does not fit the unified buffer of {profile.name}",
                got=f"{top + len(raw)} bytes",
                legal=f"<= {profile.memory.ub_reserved_offset} bytes",
            )
        before[top : top + len(raw)] = raw
        places[name], dtypes[name] = (top, top + len(raw)), dtype
        top = -(-(top + len(raw)) // ALIGNMENT) * ALIGNMENT
    after = before.copy()
    outside = {name: _content(given) for name, given in (gm or {}).items()}
    arrays = {name: np.ascontiguousarray(values).copy() for name, (_, values) in outside.items()}
    returned: list[Any] = []

    def probe(image: Any, *addresses: Any) -> None:
        whole = GlobalTensor(uint8_t)
        whole.SetGlobalBuffer(image, len(after))
        pipe = TPipe()
        DataCopy(_buffer(pipe, len(after)).Get(uint8_t), whole, len(after))
        PipeBarrier(PIPE_ALL)
        # What lies behind the tensors is free for calls that take temporary space themselves.
        pipe.Reset()
        buffer = _buffer(pipe, max(top, ALIGNMENT))
        seen: dict[str, Any] = {"pipe": pipe}
        for name, (start, stop) in places.items():
            count = (stop - start) * 8 // dtypes[name].bits
            seen[name] = buffer.GetWithOffset(count, start, dtypes[name])
        for (name, (dtype, _)), address in zip(outside.items(), addresses, strict=True):
            tensor = GlobalTensor(dtype)
            tensor.SetGlobalBuffer(address)
            seen[name] = tensor
        returned.append(body(SimpleNamespace(**seen)))
        PipeBarrier(PIPE_ALL)
        pipe.Reset()
        DataCopy(whole, _buffer(pipe, len(after)).Get(uint8_t), len(after))

    # The probe itself does what the checks object to: it fills and stores all of UB.
    run = launch(
        kernel(probe),
        blocks,
        after,
        *arrays.values(),
        platform=profile,
        strict=strict,
        check="off",
        name="probe",
    )
    return Probe(before, after, places, dtypes, arrays, returned[-1], run)


def _buffer(pipe: TPipe, size: int) -> TBuf:
    buffer = TBuf(TPosition.VECCALC)
    pipe.InitBuffer(buffer, size)
    return buffer


def _content(given: Any) -> tuple[DType, NDArray[Any]]:
    if isinstance(given, Filled):
        dtype = as_dtype(given.dtype)
        return dtype, np.asarray(given.values, dtype.numpy)
    values = np.asarray(given)
    return as_dtype(values.dtype), values
