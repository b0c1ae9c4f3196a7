"""Cost of executing a record in another order, with exact values, or with a look at all values.

``python tests/benchmarks/bench_replay.py`` prints milliseconds and ratios to program order; nothing
is asserted. The budget for hardware order is 1.5.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from simulator.analysis.numbers import find_numbers
from simulator.launch import collect_runs, default_options
from simulator.platforms import load_platform
from simulator.replay import Replayer
from tools.operators import OPERATORS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.run import Run

ROUNDS = 7
CASES = (
    ("hardswish_backward_v2", np.float32),
    ("hardswish_backward_v2", np.float16),
    ("max_pooling_grad", np.float32),
    ("prelu_backward", np.float16),
)


def clock(action: Callable[[], object]) -> float:
    """Return the milliseconds of one call."""
    begin = time.perf_counter()
    action()
    return 1000 * (time.perf_counter() - begin)


def measure(run: Run) -> dict[str, float]:
    """Return the best time of each order; a new replayer each time, so that nothing is reused."""
    best: dict[str, float] = {}
    for _ in range(ROUNDS):
        for order in ("program", "hardware", "latest", "random"):
            replayer = Replayer(run)
            taken = clock(lambda r=replayer, o=order: r.execute(o))
            best[order] = min(taken, best.get(order, taken))
    best["set-up"] = min(clock(lambda: Replayer(run)) for _ in range(ROUNDS))
    best["precise"] = clock(run.precision)
    best["numbers"] = min(clock(partial(find_numbers, run)) for _ in range(ROUNDS))
    return best


def main() -> None:
    """Print a line for each launch of each case."""
    print(f"{'launch':28}{'calls':>8}{'program':>12}  ratio to program order")
    for name, dtype in CASES:
        operator = OPERATORS[name]
        inputs = operator.inputs(np.random.default_rng(1), (1024, 1024), np.dtype(dtype))
        with default_options(check="off"), collect_runs() as runs:
            operator.run(inputs, load_platform("910b"))
        for run in runs:
            assert run.timeline.cycles > 0
            best = measure(run)
            base = best.pop("program")
            ratios = ", ".join(f"{order} {taken / base:.2f}" for order, taken in best.items())
            calls = sum(len(block.entries) for block in run.blocks)
            label = f"{run.name} {np.dtype(dtype).name}"
            print(f"{label:28}{calls:8}{base:9.2f} ms  {ratios}", flush=True)


if __name__ == "__main__":
    main()
