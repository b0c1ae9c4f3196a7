"""num.zero_sign: a sign is tested by a comparison with 0, which takes -0 for +0.

To give x the sign of y, -0 has to count as negative: its sign bit is set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernels.faults.tensors import gm
from simulator.ascendc import (
    CMPMODE,
    SELMODE,
    And,
    Compare,
    DataCopy,
    Duplicate,
    HardEvent,
    LocalTensor,
    Muls,
    Or,
    Select,
    SetFlag,
    TPosition,
    WaitFlag,
    half,
    kernel,
    uint8_t,
    uint16_t,
)

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR
    from simulator.launch import Kernel
    from simulator.run import Run

CODE = "num.zero_sign"

N: Final = 256


@kernel
def broken(x: GM_ADDR, y: GM_ADDR, z: GM_ADDR) -> None:
    size = LocalTensor(half, TPosition.VECIN, 0, N)
    signed = LocalTensor(half, TPosition.VECIN, 2 * N, N)
    zero = LocalTensor(half, TPosition.VECCALC, 4 * N, N)
    mask = LocalTensor(uint8_t, TPosition.VECCALC, 6 * N, N // 8)
    out = LocalTensor(half, TPosition.VECOUT, 8 * N, N)
    DataCopy(size, gm(half, x), N)
    DataCopy(signed, gm(half, y), N)
    Duplicate(zero, 0.0, N)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Compare(mask, signed, zero, CMPMODE.LT, N)
    Muls(out, size, -1.0, N)
    Select(out, mask, out, size, SELMODE.VSEL_TENSOR_TENSOR_MODE, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(half, z), out, N)


@kernel
def fixed(x: GM_ADDR, y: GM_ADDR, z: GM_ADDR) -> None:
    size = LocalTensor(half, TPosition.VECIN, 0, N)
    signed = LocalTensor(half, TPosition.VECIN, 2 * N, N)
    bit = LocalTensor(uint16_t, TPosition.VECCALC, 4 * N, N)
    out = LocalTensor(half, TPosition.VECOUT, 6 * N, N)
    DataCopy(size, gm(half, x), N)
    DataCopy(signed, gm(half, y), N)
    Duplicate(bit, 0x8000, N)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    And(bit, bit, signed.ReinterpretCast(uint16_t), N)
    Or(out.ReinterpretCast(uint16_t), size.ReinterpretCast(uint16_t), bit, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(half, z), out, N)


def launch(variant: Kernel, **options: Any) -> Run:
    """Run one of the two kernels on one block."""
    x = np.arange(1, N + 1).astype(np.float16)
    y = np.ones(N, np.float16)
    y[::2] = -1
    y[[30, 31, 90]] = -0.0
    z = np.zeros(N, np.float16)
    return variant.launch(1, x, y, z, **options)
