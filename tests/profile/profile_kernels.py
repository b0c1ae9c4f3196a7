"""Kernels of known shape for the profile tests."""

from datetime import datetime

import numpy as np

from simulator.ascendc import (
    Add,
    DataCopy,
    DataCopyExtParams,
    DataCopyPad,
    DataCopyPadExtParams,
    GetBlockIdx,
    GlobalTensor,
    TPipe,
    TPosition,
    TQue,
    half,
    kernel,
)

NOON = datetime(2026, 3, 1, 12, 0, 0, 7000)


@kernel
def add_tiles(x, z, tiles, length, buffers):
    """Doubles ``tiles`` tiles of ``length`` half elements a block."""
    source, target = GlobalTensor(half), GlobalTensor(half)
    offset = GetBlockIdx() * tiles * length * half.itemsize
    source.SetGlobalBuffer(x + offset, tiles * length)
    target.SetGlobalBuffer(z + offset, tiles * length)
    pipe = TPipe()
    inputs, outputs = TQue(TPosition.VECIN, buffers), TQue(TPosition.VECOUT, buffers)
    pipe.InitBuffer(inputs, buffers, length * half.itemsize)
    pipe.InitBuffer(outputs, buffers, length * half.itemsize)
    for tile in range(tiles):
        local = inputs.AllocTensor(half)
        DataCopy(local, source[tile * length], length)
        inputs.EnQue(local)
        local, result = inputs.DeQue(half), outputs.AllocTensor(half)
        Add(result, local, local, length)
        outputs.EnQue(result)
        inputs.FreeTensor(local)
        result = outputs.DeQue(half)
        DataCopy(target[tile * length], result, length)
        outputs.FreeTensor(result)


@kernel
def odd_rows(x, z, rows, length):
    """Moves rows that end inside a block of 32 bytes, and reads one value."""
    source, target = GlobalTensor(half), GlobalTensor(half)
    source.SetGlobalBuffer(x, rows * length)
    target.SetGlobalBuffer(z, rows * length)
    pipe = TPipe()
    inputs, outputs = TQue(TPosition.VECIN, 1), TQue(TPosition.VECOUT, 1)
    padded = -(-length // 16) * 16
    pipe.InitBuffer(inputs, 1, rows * padded * half.itemsize)
    pipe.InitBuffer(outputs, 1, rows * padded * half.itemsize)
    local = inputs.AllocTensor(half)
    params = DataCopyExtParams(rows, length * half.itemsize, 0, 0, 0)
    DataCopyPad(local, source, params, DataCopyPadExtParams(False, 0, 0, 0))
    inputs.EnQue(local)
    local, result = inputs.DeQue(half), outputs.AllocTensor(half)
    Add(result, local, local, rows * padded)
    outputs.EnQue(result)
    inputs.FreeTensor(local)
    result = outputs.DeQue(half)
    result.GetValue(0)
    DataCopyPad(target, result, params)
    outputs.FreeTensor(result)


def launch_add(platform, blocks=3, tiles=4, length=1024, buffers=2):
    x = np.ones(blocks * tiles * length, np.float16)
    z = np.empty_like(x)
    return add_tiles.launch(blocks, x, z, tiles, length, buffers, platform=platform)


def launch_rows(platform):
    x = np.ones(8 * 100, np.float16)
    return odd_rows.launch(1, x, np.empty_like(x), 8, 100, platform=platform)
