"""z = x + y on a matrix of half elements, in the steps of a tuning tutorial.

Each variant changes one thing: scalar loop, vector call, one or all cores, tile size, double
buffering, inputs that bypass L2, operands in different bank groups. Loop and flags follow
mirror-cann/asc-devkit examples/01_simd_cpp_api/05_best_practices/00_vector_compute/
add_high_performance/add.asc.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from simulator.ascendc import (
    EVENT_ID0,
    EVENT_ID1,
    PIPE_ALL,
    Add,
    DataCopy,
    GetBlockIdx,
    GlobalTensor,
    HardEvent,
    LocalTensor,
    PipeBarrier,
    SetFlag,
    TPosition,
    WaitFlag,
    half,
    kernel,
)
from simulator.enums import CacheMode

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR


@dataclass(frozen=True)
class AddTiling:
    """How the matrix is cut.

    Attributes
    ----------
    rows, columns : int
        The matrix; rows are dealt out to the blocks.
    tile : int
        Elements of one copy.
    buffer : int
        Elements between two buffers in UB.
    shift : int
        Elements by which the second input and the output are moved closer, so that the operands of
        an Add lie in different bank groups.
    bypass : bool
        Whether the inputs go around L2.
    """

    rows: int
    columns: int
    tile: int
    buffer: int
    shift: int = 0
    bypass: bool = False


class Buffers(NamedTuple):
    """The three tensors that one event id guards."""

    x: LocalTensor
    y: LocalTensor
    z: LocalTensor
    event: int


class Share:
    """The rows of one block: its global tensors and its tiles."""

    def __init__(self, x: GM_ADDR, y: GM_ADDR, z: GM_ADDR, tiling: AddTiling, blocks: int) -> None:
        each, left = divmod(tiling.rows, blocks)
        block = GetBlockIdx()
        first = block * each + min(block, left)
        elements = (each + (block < left)) * tiling.columns
        self.tensors = []
        for address in (x, y, z):
            tensor = GlobalTensor(half)
            start = first * tiling.columns * half.itemsize
            tensor.SetGlobalBuffer(address + start, elements)
            self.tensors.append(tensor)
        self.x, self.y, self.z = self.tensors
        if tiling.bypass:
            self.x.SetL2CacheHint(CacheMode.CACHE_MODE_DISABLE)
            self.y.SetL2CacheHint(CacheMode.CACHE_MODE_DISABLE)
        self.tiles = [
            (start, min(tiling.tile, elements - start)) for start in range(0, elements, tiling.tile)
        ]


def buffers_at(tiling: AddTiling, *starts: int, event: int) -> Buffers:
    """Return tensors for x, y and z at the given element offsets in UB."""
    x, y, z = (
        LocalTensor(half, TPosition.VECCALC, start * half.itemsize, tiling.buffer)
        for start in starts
    )
    return Buffers(x, y, z, event)


def _single_buffer(share: Share, tiling: AddTiling, scalar: bool) -> None:
    """Work tile by tile: the inputs are fetched again when the Add has read them."""
    own = buffers_at(tiling, 0, tiling.buffer, 2 * tiling.buffer, event=EVENT_ID0)
    last = len(share.tiles) - 1
    for number, (start, count) in enumerate(share.tiles):
        if number:
            WaitFlag(HardEvent.V_MTE2, own.event)
        DataCopy(own.x, share.x[start], count)
        DataCopy(own.y, share.y[start], count)
        SetFlag(HardEvent.MTE2_V, own.event)
        WaitFlag(HardEvent.MTE2_V, own.event)
        if number:
            WaitFlag(HardEvent.MTE3_V, own.event)
        if scalar:
            for i in range(count):
                own.z.SetValue(i, own.x.GetValue(i) + own.y.GetValue(i))
        else:
            Add(own.z, own.x, own.y, count)
        if number < last:
            SetFlag(HardEvent.V_MTE2, own.event)
        SetFlag(HardEvent.V_MTE3, own.event)
        WaitFlag(HardEvent.V_MTE3, own.event)
        DataCopy(share.z[start], own.z, count)
        if number < last:
            SetFlag(HardEvent.MTE3_V, own.event)


def _double_buffer(share: Share, tiling: AddTiling) -> None:
    """Alternate between two sets of buffers: one is filled while the other is worked on."""
    n, shift = tiling.buffer, tiling.shift
    if shift:
        # Inputs of one set side by side, both outputs behind all inputs.
        ping = buffers_at(tiling, 0, n - shift, 4 * n, event=EVENT_ID0)
        pong = buffers_at(tiling, 2 * n, 3 * n - shift, 5 * n - shift, event=EVENT_ID1)
    else:
        ping = buffers_at(tiling, 0, n, 2 * n, event=EVENT_ID0)
        pong = buffers_at(tiling, 3 * n, 4 * n, 5 * n, event=EVENT_ID1)
    for own in (ping, pong):
        SetFlag(HardEvent.V_MTE2, own.event)
        SetFlag(HardEvent.MTE3_V, own.event)
    for number, (start, count) in enumerate(share.tiles):
        own = pong if number % 2 else ping
        WaitFlag(HardEvent.V_MTE2, own.event)
        DataCopy(own.x, share.x[start], count)
        DataCopy(own.y, share.y[start], count)
        SetFlag(HardEvent.MTE2_V, own.event)
        WaitFlag(HardEvent.MTE2_V, own.event)
        WaitFlag(HardEvent.MTE3_V, own.event)
        Add(own.z, own.x, own.y, count)
        SetFlag(HardEvent.V_MTE2, own.event)
        SetFlag(HardEvent.V_MTE3, own.event)
        WaitFlag(HardEvent.V_MTE3, own.event)
        DataCopy(share.z[start], own.z, count)
        SetFlag(HardEvent.MTE3_V, own.event)
    for own in (ping, pong):
        WaitFlag(HardEvent.V_MTE2, own.event)
        WaitFlag(HardEvent.MTE3_V, own.event)


@kernel
def add_scalar(x: GM_ADDR, y: GM_ADDR, z: GM_ADDR, tiling: AddTiling, blocks: int) -> None:
    """Add element by element with GetValue and SetValue."""
    _single_buffer(Share(x, y, z, tiling, blocks), tiling, scalar=True)
    PipeBarrier(PIPE_ALL)


@kernel
def add_single_buffer(x: GM_ADDR, y: GM_ADDR, z: GM_ADDR, tiling: AddTiling, blocks: int) -> None:
    """Add with one vector call a tile and one buffer for each operand."""
    _single_buffer(Share(x, y, z, tiling, blocks), tiling, scalar=False)
    PipeBarrier(PIPE_ALL)


@kernel
def add_double_buffer(x: GM_ADDR, y: GM_ADDR, z: GM_ADDR, tiling: AddTiling, blocks: int) -> None:
    """Add with two buffers for each operand."""
    _double_buffer(Share(x, y, z, tiling, blocks), tiling)
    PipeBarrier(PIPE_ALL)
