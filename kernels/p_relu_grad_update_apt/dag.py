"""The two computing nodes of PReluGradUpdate on 950.

update = x > 0 ? 0 : x * g and dx = x > 0 ? g : w * g; products are formed and rounded in the
element type, and the test is strictly greater than 0, so zeros and NaN take the product. Source:
hicann/ops-nn activation/p_relu_grad_update/op_kernel/arch35/prelu_grad_update_dag.h.

There the nodes are loops over vector registers; here they are the same steps in vector calls. A
register of compare bits becomes bytes of UB, for which the tiling leaves no room of their own: they
go to a buffer whose contents are not needed at that moment, so the update is computed first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.ascendc import (
    CMPMODE,
    SELMODE,
    Compares,
    Mul,
    Not,
    Select,
    uint8_t,
    uint16_t,
)

if TYPE_CHECKING:
    from simulator.ascendc import LocalTensor

_BLOCK: Final = 32


def compute(
    dx: LocalTensor,
    update: LocalTensor,
    grad: LocalTensor,
    features: LocalTensor,
    weight: LocalTensor,
    count: int,
) -> None:
    """Fill ``dx`` and ``update``; ``features`` is overwritten.

    Vector calls follow one another in order on 950, so there is no barrier between them.
    """
    # Bits of `count` compares, in whole blocks.
    held = -(-count // (8 * _BLOCK)) * _BLOCK
    words = held // 2
    positive = dx.ReinterpretCast(uint8_t)
    Compares(positive, features, 0.0, CMPMODE.GT, count)
    Mul(update, features, grad, count)
    scratch = features.ReinterpretCast(uint16_t)
    negated = scratch[words:]
    Not(negated, dx.ReinterpretCast(uint16_t), words)
    Select(
        update,
        negated.ReinterpretCast(uint8_t),
        update,
        0.0,
        SELMODE.VSEL_TENSOR_SCALAR_MODE,
        count,
    )
    Not(scratch, negated, words)
    Mul(dx, weight, grad, count)
    Select(
        dx,
        scratch.ReinterpretCast(uint8_t),
        grad,
        dx,
        SELMODE.VSEL_TENSOR_TENSOR_MODE,
        count,
    )
