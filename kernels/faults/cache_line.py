"""cache.line: four blocks store one result each into the same 64-byte line.

Scalar stores go to the data cache of the core, and lines are written back whole: the last one to be
cleaned brings old values back for all the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernels.faults.tensors import gm
from simulator.ascendc import (
    CacheLine,
    DataCacheCleanAndInvalid,
    DcciDst,
    GetBlockIdx,
    float32,
    kernel,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "cache.line"


@kernel
def broken(z: GM_ADDR) -> None:
    results = gm(float32, z)
    results.SetValue(GetBlockIdx(), 1.0)
    DataCacheCleanAndInvalid(CacheLine.ENTIRE_DATA_CACHE, DcciDst.CACHELINE_OUT, results)


@kernel
def fixed(z: GM_ADDR) -> None:
    results = gm(float32, z)
    results.SetValue(GetBlockIdx() * 16, 1.0)
    DataCacheCleanAndInvalid(CacheLine.ENTIRE_DATA_CACHE, DcciDst.CACHELINE_OUT, results)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on 4 blocks."""
    z = np.zeros(64, np.float32)
    return variant.launch(4, z, **options)
