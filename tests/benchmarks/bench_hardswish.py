"""Speed of a whole launch against the same tile loop in bare numpy, interleaved in one process.

``python tests/benchmarks/bench_hardswish.py`` prints the ratios; nothing is asserted.
"""

from __future__ import annotations

import argparse
import gc
import time
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from kernels.hard_swish_grad_v2.kernel_2201 import hard_swish_grad_v2
from kernels.hard_swish_grad_v2.tiling_data import HardSwishGradV2TilingData
from simulator.dtypes import as_dtype

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

TILE = 4864
UB_BYTES = 196352


def bare(grad: NDArray[np.float32], x: NDArray[np.float32], out: NDArray[np.float32]) -> None:
    """Work on tiles in scratch arrays, one numpy call per arithmetic step of the kernel."""
    g, d = np.empty(TILE, np.float32), np.empty(TILE, np.float32)
    zero, one = np.float32(0), np.float32(1)
    for start in range(0, x.size, TILE):
        n = min(TILE, x.size - start)
        g[:n] = grad[start : start + n]
        d[:n] = x[start : start + n]
        above, below = d[:n] > np.float32(-3), d[:n] < np.float32(3)
        np.multiply(d[:n], np.float32(0.33333334), out=d[:n])
        np.add(d[:n], np.float32(0.5), out=d[:n])
        np.copyto(d[:n], zero, where=~above)
        np.copyto(d[:n], one, where=~below)
        np.multiply(g[:n], d[:n], out=d[:n])
        out[start : start + n] = d[:n]


def simulated(
    grad: NDArray[np.float32],
    x: NDArray[np.float32],
    out: NDArray[np.float32],
    blocks: int,
    check: str,
) -> int:
    """Launch the kernel and compute its timeline; return the cycles."""
    tiling = HardSwishGradV2TilingData(
        elementNum=x.size, needCoreNum=blocks, ubSize=UB_BYTES, elementNumEachCore=TILE
    )
    kernel = hard_swish_grad_v2.specialise(as_dtype(np.float32))
    run = kernel.launch(blocks, grad, x, out, 0, tiling, platform="910b", check=check)
    return run.cycles


def clock(action: Callable[[], object]) -> float:
    """Return the seconds of one call."""
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def compare(elements: int, repeats: int) -> tuple[float, float, float]:
    """Return the median seconds of the bare loop, the launch, and the launch with all checks."""
    rng = np.random.default_rng(0)
    grad, x = (rng.standard_normal(elements).astype(np.float32) * 4 for _ in range(2))
    out, expected = np.empty_like(x), np.empty_like(x)
    blocks = min(48, max(1, -(-elements // TILE)))
    bare(grad, x, expected)
    simulated(grad, x, out, blocks, "off")
    if not np.array_equal(out, expected):
        raise SystemExit("the launch and the bare loop differ")
    pairs = []
    for _ in range(repeats):
        gc.collect()
        pairs.append(
            (
                clock(lambda: bare(grad, x, expected)),
                clock(lambda: simulated(grad, x, out, blocks, "off")),
                clock(lambda: simulated(grad, x, out, blocks, "raise")),
            )
        )
    return median(p[0] for p in pairs), median(p[1] for p in pairs), median(p[2] for p in pairs)


def main() -> None:
    """Print a table of ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    chosen = parser.parse_args()
    print(
        f"{'elements':>10} {'bare ms':>9} {'launch ms':>10} {'ratio':>6} {'us/call':>8} "
        f"{'everything on':>14} {'ratio':>6} {'us/call':>8}"
    )
    times = {}
    for power in (16, 18, 20, 22):
        elements = 1 << power
        floor, launch, checked = compare(elements, chosen.repeats)
        times[power] = checked
        calls = 23 * -(-elements // TILE)
        print(
            f"{'2^' + str(power):>10} {floor * 1e3:>9.2f} {launch * 1e3:>10.2f} "
            f"{launch / floor:>6.2f} {(launch - floor) / calls * 1e6:>8.2f} "
            f"{checked * 1e3:>14.2f} {checked / floor:>6.2f} "
            f"{(checked - floor) / calls * 1e6:>8.2f}"
        )
    print(f"everything on, 2^22 against 2^20: {times[22] / times[20]:.2f} x")


if __name__ == "__main__":
    main()
