"""z = 2 * x + 1 in tiles, with every flag and barrier in a place of its own to leave out."""

from __future__ import annotations

import numpy as np

from simulator.ascendc import (
    PIPE_V,
    Adds,
    DataCopy,
    GetBlockIdx,
    GlobalTensor,
    HardEvent,
    LocalTensor,
    Muls,
    PipeBarrier,
    SetFlag,
    TPosition,
    WaitFlag,
    float32,
    kernel,
)

TILE = 1024
TILES = 6
BLOCKS = 2
COUNT = TILE * TILES * BLOCKS


def whole(address, dtype=float32):
    """Return all of the memory at an address as a tensor."""
    tensor = GlobalTensor(dtype)
    tensor.SetGlobalBuffer(address)
    return tensor


def pipeline(without=""):
    """Return the kernel, without one of ``MTE2_V``, ``V_MTE3``, ``V_MTE2``, ``MTE3_V``, ``V``."""

    def pair(name):
        if name != without:
            SetFlag(HardEvent[name], 0)
            WaitFlag(HardEvent[name], 0)

    @kernel(auto_sync=False)
    def affine(x, z):
        start = GetBlockIdx() * TILE * TILES
        source, target = whole(x), whole(z)
        a = LocalTensor(float32, TPosition.VECIN, 0, TILE)
        b = LocalTensor(float32, TPosition.VECCALC, 8192, TILE)
        c = LocalTensor(float32, TPosition.VECOUT, 16384, TILE)
        for tile in range(TILES):
            at, last = start + tile * TILE, tile == TILES - 1
            if tile and without != "V_MTE2":
                WaitFlag(HardEvent.V_MTE2, 0)
            DataCopy(a, source[at], TILE)
            pair("MTE2_V")
            Muls(b, a, 2.0, TILE)
            if not last and without != "V_MTE2":
                SetFlag(HardEvent.V_MTE2, 0)
            if without != "V":
                PipeBarrier(PIPE_V)
            if tile and without != "MTE3_V":
                WaitFlag(HardEvent.MTE3_V, 0)
            Adds(c, b, 1.0, TILE)
            pair("V_MTE3")
            DataCopy(target[at], c, TILE)
            if not last and without != "MTE3_V":
                SetFlag(HardEvent.MTE3_V, 0)
            PipeBarrier(PIPE_V)

    return affine


def arrays():
    """Return x and z; z of a right kernel is 1, 3, 5 ..."""
    return np.arange(COUNT, dtype=np.float32), np.full(COUNT, -1, np.float32)


RIGHT = 2 * np.arange(COUNT) + 1
