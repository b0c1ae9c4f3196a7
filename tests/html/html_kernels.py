"""Kernels for the reports: one whose blocks all differ, and one that races."""

import numpy as np

from simulator.ascendc import (
    GM_ADDR,
    Add,
    Adds,
    DataCopy,
    GetBlockIdx,
    GlobalTensor,
    TBuf,
    TPipe,
    TPosition,
    TQue,
    half,
    kernel,
)

BUFFER = 4096


@kernel
def uneven(x: GM_ADDR, z: GM_ADDR, tiles: int) -> None:
    """Copy, add twice and copy back pieces of a random size, another one in each block."""
    pipe = TPipe()
    taken, given = TQue(TPosition.VECIN, 2), TQue(TPosition.VECOUT, 2)
    for queue in (taken, given):
        pipe.InitBuffer(queue, 2, BUFFER)
    source, target = GlobalTensor(half), GlobalTensor(half)
    source.SetGlobalBuffer(x, 2048)
    target.SetGlobalBuffer(z + GetBlockIdx() * tiles * BUFFER, tiles * 2048)
    sizes = np.random.default_rng(GetBlockIdx()).integers(1, 128, tiles) * 16
    for tile, n in enumerate(map(int, sizes)):
        into = taken.AllocTensor(half)
        DataCopy(into, source, n)
        taken.EnQue(into)
        work, out = taken.DeQue(half), given.AllocTensor(half)
        Add(out, work, work, n)
        Adds(out, out, 1.0, n)
        given.EnQue(out)
        taken.FreeTensor(work)
        done = given.DeQue(half)
        DataCopy(target[tile * 2048], done, n)
        given.FreeTensor(done)


def run_uneven(blocks, tiles):
    x = np.ones(2048, np.float16)
    return uneven[blocks](x, np.zeros(2048 * blocks * tiles, np.float16), tiles)


@kernel
def racing(x: GM_ADDR, z: GM_ADDR) -> None:
    """Add before the copy has arrived: no flag orders MTE2 and V."""
    pipe, buffer = TPipe(), TBuf(TPosition.VECCALC)
    pipe.InitBuffer(buffer, 512)
    source, target = GlobalTensor(half), GlobalTensor(half)
    source.SetGlobalBuffer(x, 256)
    target.SetGlobalBuffer(z, 256)
    local = buffer.Get(half)
    DataCopy(local, source, 256)
    Adds(local, local, 1.0, 256)
    DataCopy(target, local, 256)


def run_racing():
    return racing[1](np.ones(256, np.float16), np.zeros(256, np.float16))
