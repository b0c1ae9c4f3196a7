"""Cost of the checks by length of the record and by number of streams: it has to grow linearly.

``python tests/benchmarks/bench_checks.py`` prints the time of the launch and that of the checks for
10^4, 10^5 and 10^6 calls: in one block, and in 48 blocks that all issue different streams because
no two tiles are equally long. Nothing is asserted.
"""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.ascendc import (
    Add,
    DataCopy,
    GetBlockIdx,
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
LONGEST = 1024
CALLS_A_TILE = 16
"""Copies, vector calls and the flags of the queues."""


@kernel
def add_and_scale(x: GM_ADDR, y: GM_ADDR, z: GM_ADDR, lengths: list[list[int]], room: int) -> None:
    """z = 2 (x + y), tile by tile through queues of two buffers of ``room`` elements."""
    tensors = [GlobalTensor(float32) for _ in range(3)]
    for tensor, address in zip(tensors, (x, y, z), strict=True):
        tensor.SetGlobalBuffer(address)
    pipe = TPipe()
    queues = [TQue(TPosition.VECIN, 1), TQue(TPosition.VECIN, 1), TQue(TPosition.VECOUT, 1)]
    for queue in queues:
        pipe.InitBuffer(queue, 2, room * 4)
    mine = lengths[GetBlockIdx()]
    start = GetBlockIdx() * len(mine) * room
    for i, length in enumerate(mine):
        at = start + i * room
        for queue, tensor in zip(queues[:2], tensors[:2], strict=True):
            tile = queue.AllocTensor(float32)
            DataCopy(tile, tensor[at], length)
            queue.EnQue(tile)
        first, second = (queue.DeQue(float32) for queue in queues[:2])
        out = queues[2].AllocTensor(float32)
        Add(out, first, second, length)
        Muls(out, out, 2.0, length)
        queues[2].EnQue(out)
        queues[0].FreeTensor(first)
        queues[1].FreeTensor(second)
        out = queues[2].DeQue(float32)
        DataCopy(tensors[2][at], out, length)
        queues[2].FreeTensor(out)


def one_length(blocks: int, tiles: int) -> tuple[list[list[int]], int]:
    """Return the lengths of the tiles, all alike, and the longest."""
    return [[TILE] * tiles] * blocks, TILE


def all_lengths(blocks: int, tiles: int) -> tuple[list[list[int]], int]:
    """Return lengths at random, and the longest."""
    generator = random.Random(1)
    lengths = [
        [8 * generator.randint(1, LONGEST // 8) for _ in range(tiles)] for _ in range(blocks)
    ]
    return lengths, LONGEST


def measure(calls: int, blocks: int, choose: Any) -> tuple[int, float, float, int]:
    """Return calls, seconds of the launch, seconds of the checks and the number of findings."""
    lengths, room = choose(blocks, calls // CALLS_A_TILE // blocks)
    size = blocks * len(lengths[0]) * room
    arrays: list[Any] = [np.ones(size, np.float32) for _ in range(3)]
    begin = time.perf_counter()
    run = add_and_scale.launch(blocks, *arrays, lengths, room, platform="910b", check="off")
    launched = time.perf_counter() - begin
    for block in run.blocks:
        if block.local is not None:
            block.local.clean.clear()
    begin = time.perf_counter()
    found = find(run)
    checked = time.perf_counter() - begin
    return sum(len(block.entries) for block in run.blocks), launched, checked, len(found)


CASES = (
    ("one block", 1, one_length),
    ("one block, all lengths", 1, all_lengths),
    ("48 blocks, all lengths", 48, all_lengths),
)


def main() -> None:
    """Print a table."""
    print(f"{'':24} {'calls':>9} {'launch us/call':>15} {'checks us/call':>15} {'findings':>9}")
    for name, blocks, choose in CASES:
        for power in (4, 5, 6):
            calls, launched, checked, found = measure(10**power, blocks, choose)
            print(
                f"{name:24} {calls:>9} {launched / calls * 1e6:>15.2f} "
                f"{checked / calls * 1e6:>15.2f} {found:>9}"
            )


if __name__ == "__main__":
    main()
