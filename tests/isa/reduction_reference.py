"""Reductions one lane at a time with Python numbers; what the reduction tests compare with."""

from __future__ import annotations

import math
import random

import numpy as np

LANES = {np.dtype(np.float16): 128, np.dtype(np.float32): 64}


def rounded(dtype, value):
    """One rounding of an exact (or harmlessly rounded) double to the element type."""
    with np.errstate(over="ignore"):
        return float(np.dtype(dtype).type(value))


def tree(lanes, dtype, keep_absent):
    """Sum neighbours, then sums of neighbours; ``None`` is a lane that takes no part.

    With ``keep_absent`` it leaves its partner as it is, otherwise it counts as +0.
    """
    row = list(lanes) if keep_absent else [0.0 if v is None else v for v in lanes]
    while len(row) > 1:
        row = [node(a, b, dtype) for a, b in zip(row[::2], row[1::2], strict=True)]
    return row[0]


def node(a, b, dtype):
    if a is None or b is None:
        return b if a is None else a
    return rounded(dtype, a + b)


def best(lanes, kind):
    """Value and lane of the extreme: NaN first, then the first of equal lanes."""
    present = [(lane, v) for lane, v in enumerate(lanes) if v is not None]
    for lane, value in present:
        if math.isnan(value):
            return value, lane
    found, where = None, None
    for lane, value in present:
        better = found is None or (value > found if kind == "max" else value < found)
        if better:
            found, where = value, lane
    return found, where


def mixed(dtype, size, seed=1):
    """Values of different magnitude, so that the order of additions shows in the result."""
    rng = random.Random(seed)
    values = [rng.uniform(-1, 1) * 2.0 ** rng.randint(-6, 6) for _ in range(size)]
    return np.array(values, dtype)


def bits(values):
    values = np.atleast_1d(values)
    return values.view(f"u{values.dtype.itemsize}")


def lane_rows(values, active, repeats, blk, rep):
    """Values of each repeat, ``None`` for lanes that are not active."""
    per_block = 32 // values.itemsize
    return [
        [
            float(values[(r * rep + lane // per_block * blk) * per_block + lane % per_block])
            if lane in active
            else None
            for lane in range(256 // values.itemsize)
        ]
        for r in range(repeats)
    ]
