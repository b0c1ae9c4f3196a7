"""Opening a run of 100,000 instructions in the debugger, and jumping in it.

Budget: 2 s to open, 0.2 s for any jump, memory below twice the run's own and 200 MiB.
Run it with ``python tests/benchmarks/bench_debugger.py``.
"""

from __future__ import annotations

import random
import resource
import time

import numpy as np

from simulator.ascendc import (
    Add,
    DataCopy,
    GlobalTensor,
    TPipe,
    TPosition,
    TQue,
    float32,
    kernel,
    launch,
)
from simulator.debug import MACHINE, PROGRAM, Session, record_for_debug

TILE = 4864
TILES = 9100
"""11 instructions each."""


@kernel
def twice(x, y, tiles):
    pipe = TPipe()
    source, target = TQue(TPosition.VECIN, 2), TQue(TPosition.VECOUT, 2)
    pipe.InitBuffer(source, 2, TILE * 4)
    pipe.InitBuffer(target, 2, TILE * 4)
    xGm, yGm = GlobalTensor(float32), GlobalTensor(float32)
    xGm.SetGlobalBuffer(x)
    yGm.SetGlobalBuffer(y)
    for tile in range(tiles):
        start = tile % 64 * TILE
        a = source.AllocTensor(float32)
        DataCopy(a, xGm[start], TILE)
        source.EnQue(a)
        a = source.DeQue(float32)
        b = target.AllocTensor(float32)
        Add(b, a, a, TILE)
        source.FreeTensor(a)
        target.EnQue(b)
        b = target.DeQue(float32)
        DataCopy(yGm[start], b, TILE)
        target.FreeTensor(b)


def main() -> None:
    """Print the figures."""
    x = np.ones(64 * TILE, np.float32)
    y = np.zeros_like(x)
    started = time.perf_counter()
    with record_for_debug() as recorder:
        launch(twice, 1, x, y, TILES, check="off")
    print(f"record   {time.perf_counter() - started:6.2f} s")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    session = Session(recorder.launches[0])
    count = len(session.here)
    session.moment.pipes  # noqa: B018 - the first look builds the arrays
    print(f"open     {time.perf_counter() - started:6.2f} s for {count} instructions")
    generator = random.Random(0)
    for clock in (PROGRAM, MACHINE):
        session.set_clock(clock)
        slowest = 0.0
        for _ in range(60):
            index = generator.randrange(count)
            started = time.perf_counter()
            session.to_instruction(index)
            moment = session.moment
            _ = moment.ub, moment.pipes, moment.flags, moment.memory, moment.areas
            moment.locals()
            slowest = max(slowest, time.perf_counter() - started)
        print(f"jump     {slowest:6.2f} s at most, {clock} clock")
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"memory   {(after - before) / 1024:6.0f} MiB more than the {before / 1024:.0f} before")


if __name__ == "__main__":
    main()
