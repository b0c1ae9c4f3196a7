"""Cost of the checks by length of one instruction stream: it has to grow linearly.

``python tests/benchmarks/bench_checks.py`` prints the time of the launch and that of the checks for
one block of 10^4, 10^5 and 10^6 calls; nothing is asserted.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.ascendc import (
    Add,
    DataCopy,
    GlobalTensor,
    Muls,
    TPipe,
    TPosition,
    TQue,
    float32,
    kernel,
)
from simulator.sanitizer.check import find

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR

TILE = 64
CALLS_A_TILE = 16
"""Copies, vector calls and the flags of the queues."""


@kernel
def add_and_scale(x: GM_ADDR, y: GM_ADDR, z: GM_ADDR, tiles: int) -> None:
    """z = 2 (x + y), tile by tile through queues of two buffers."""
    tensors = [GlobalTensor(float32) for _ in range(3)]
    for tensor, address in zip(tensors, (x, y, z), strict=True):
        tensor.SetGlobalBuffer(address)
    pipe = TPipe()
    queues = [TQue(TPosition.VECIN, 1), TQue(TPosition.VECIN, 1), TQue(TPosition.VECOUT, 1)]
    for queue in queues:
        pipe.InitBuffer(queue, 2, TILE * 4)
    for i in range(tiles):
        for queue, tensor in zip(queues[:2], tensors[:2], strict=True):
            tile = queue.AllocTensor(float32)
            DataCopy(tile, tensor[i * TILE], TILE)
            queue.EnQue(tile)
        first, second = (queue.DeQue(float32) for queue in queues[:2])
        out = queues[2].AllocTensor(float32)
        Add(out, first, second, TILE)
        Muls(out, out, 2.0, TILE)
        queues[2].EnQue(out)
        queues[0].FreeTensor(first)
        queues[1].FreeTensor(second)
        out = queues[2].DeQue(float32)
        DataCopy(tensors[2][i * TILE], out, TILE)
        queues[2].FreeTensor(out)


def measure(calls: int) -> tuple[int, float, float, int]:
    """Return calls, seconds of the launch, seconds of the checks and the number of findings."""
    tiles = calls // CALLS_A_TILE
    arrays: list[Any] = [np.ones(tiles * TILE, np.float32) for _ in range(3)]
    begin = time.perf_counter()
    run = add_and_scale.launch(1, *arrays, tiles, platform="910b", check="off")
    launched = time.perf_counter() - begin
    for block in run.blocks:
        if block.local is not None:
            block.local.clean.clear()
    begin = time.perf_counter()
    found = find(run)
    return len(run.blocks[0].entries), launched, time.perf_counter() - begin, len(found)


def main() -> None:
    """Print a table."""
    print(f"{'calls':>9} {'launch us/call':>15} {'checks us/call':>15} {'findings':>9}")
    for power in (4, 5, 6):
        calls, launched, checked, found = measure(10**power)
        print(
            f"{calls:>9} {launched / calls * 1e6:>15.2f} {checked / calls * 1e6:>15.2f} {found:>9}"
        )


if __name__ == "__main__":
    main()
