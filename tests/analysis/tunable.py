"""One kernel whose tile, buffers, barriers, alignment and number of blocks are arguments."""

import numpy as np

from simulator.ascendc import (
    PIPE_ALL,
    Add,
    DataCopy,
    GetBlockIdx,
    GlobalTensor,
    PipeBarrier,
    TPipe,
    TPosition,
    TQue,
    half,
    kernel,
)


@kernel
def tunable(x, y, z, tiles, length, buffers, barriers, work, shift, looped):
    """Adds two inputs ``work`` times, tile by tile, with a barrier a tile if asked for.

    ``looped`` copies both inputs in by one line of the kernel.
    """
    sources, target = [GlobalTensor(half), GlobalTensor(half)], GlobalTensor(half)
    offset = (GetBlockIdx() * tiles * length + shift) * half.itemsize
    for gm, address in zip((*sources, target), (x, y, z), strict=True):
        gm.SetGlobalBuffer(address + offset, tiles * length)
    pipe = TPipe()
    inputs = [TQue(TPosition.VECIN, buffers) for _ in sources]
    outputs = TQue(TPosition.VECOUT, buffers)
    for queue in (*inputs, outputs):
        pipe.InitBuffer(queue, buffers, length * half.itemsize)
    for tile in range(tiles):
        if looped:
            for queue, source in zip(inputs, sources, strict=True):
                local = queue.AllocTensor(half)
                DataCopy(local, source[tile * length], length)
                queue.EnQue(local)
        else:
            local_x = inputs[0].AllocTensor(half)
            DataCopy(local_x, sources[0][tile * length], length)
            inputs[0].EnQue(local_x)
            local_y = inputs[1].AllocTensor(half)
            DataCopy(local_y, sources[1][tile * length], length)
            inputs[1].EnQue(local_y)
        local_x, local_y = inputs[0].DeQue(half), inputs[1].DeQue(half)
        result = outputs.AllocTensor(half)
        for _ in range(work):
            Add(result, local_x, local_y, length)
        outputs.EnQue(result)
        inputs[0].FreeTensor(local_x)
        inputs[1].FreeTensor(local_y)
        result = outputs.DeQue(half)
        DataCopy(target[tile * length], result, length)
        outputs.FreeTensor(result)
        if barriers:
            PipeBarrier(PIPE_ALL)


def launch(
    platform="910b",
    *,
    blocks=8,
    tiles=16,
    length=2048,
    buffers=2,
    barriers=False,
    work=1,
    shift=0,
    looped=False,
):
    """Run it; the total work is ``blocks * tiles * length`` elements."""
    x = np.ones(blocks * tiles * length + shift, np.float16)
    return tunable.launch(
        blocks, x, x.copy(), np.zeros_like(x), tiles, length, buffers, barriers, work, shift,
        looped, platform=platform,
    )  # fmt: skip
