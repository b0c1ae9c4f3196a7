"""Cost of the timeline by number of instructions: linear, and 48 equal cores cost as one.

``python tests/benchmarks/bench_timeline.py`` prints seconds for records of up to 10^6 instructions
on 48 cores, once with another number of tiles on every core and once with equal cores; nothing is
asserted.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from simulator.ascendc import (
    Add,
    Adds,
    DataCopy,
    GetBlockIdx,
    GlobalTensor,
    Mul,
    TPipe,
    TPosition,
    TQue,
    half,
    kernel,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR
    from simulator.run import Run

CORES = 48
TILE = 2048
PLACES = 512
"""Tiles of the arrays; longer kernels come back to them."""
CALLS_A_TILE = 13


@kernel
def three_calls(x: GM_ADDR, y: GM_ADDR, tiles: int, more: int) -> None:
    """Three dependent calls on each tile; core i has ``more * i`` tiles more."""
    pipe = TPipe()
    inputs, outputs = TQue(TPosition.VECIN, 2), TQue(TPosition.VECOUT, 2)
    for queue in (inputs, outputs):
        pipe.InitBuffer(queue, 2, TILE * half.itemsize)
    source, target = GlobalTensor(half), GlobalTensor(half)
    source.SetGlobalBuffer(x)
    target.SetGlobalBuffer(y)
    block = GetBlockIdx()
    for number in range(tiles + more * block):
        at = (block * tiles + number) % PLACES * TILE
        tile = inputs.AllocTensor(half)
        DataCopy(tile, source[at], TILE)
        inputs.EnQue(tile)
        tile, out = inputs.DeQue(half), outputs.AllocTensor(half)
        Add(out, tile, tile, TILE)
        Mul(out, out, tile, TILE)
        Adds(out, out, 1.0, TILE)
        outputs.EnQue(out)
        inputs.FreeTensor(tile)
        out = outputs.DeQue(half)
        DataCopy(target[at], out, TILE)
        outputs.FreeTensor(out)


def launch(instructions: int, more: int) -> Run:
    """Launch with about so many instructions over all cores."""
    x = np.zeros(PLACES * TILE, np.float16)
    tiles = instructions // (CORES * CALLS_A_TILE)
    return three_calls.launch(CORES, x, np.zeros_like(x), tiles, more, check="off")


def main() -> None:
    """Print the table."""
    print("cores      instructions    seconds   us each   schedules")
    for name, more in (("different", 1), ("equal", 0)):
        for instructions in (10**4, 10**5, 10**6):
            run = launch(instructions, more)
            number = len(run.instructions)
            begin = time.process_time()
            streams = run.timeline.distinct_streams
            seconds = time.process_time() - begin
            print(
                f"{name:<9}{number:>14,}{seconds:>11.3f}{1e6 * seconds / number:>10.2f}"
                f"{streams:>12}"
            )


if __name__ == "__main__":
    main()
