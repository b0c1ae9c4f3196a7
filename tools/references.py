"""What an operator must return, computed with numpy alone.

Each function follows the documented order of the arithmetic, rounding included, and shares no code
with the simulator, so that a result that agrees with it bit for bit says something.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def hardswish_backward_v2(
    grad_output: NDArray[Any], self_: NDArray[Any]
) -> tuple[NDArray[Any], ...]:
    """Out = grad_output * d(self_), all in float32, rounded once to the type of ``self_``.

    d = self_ * 0.33333334 + 0.5, rounded after each step; 0 unless self_ > -3; 1 unless self_ < 3,
    so that NaN in ``self_`` gives d = 1.

    Source: hicann/ops-nn activation/hard_swish_grad_v2 (docs/aclnnHardswishBackwardV2.md, and
    op_kernel/hard_swish_grad_v2_220.h for the order of the steps).
    """
    with np.errstate(all="ignore"):
        grad, x = grad_output.astype(np.float32), self_.astype(np.float32)
        d = x * np.float32(0.33333334)
        d = d + np.float32(0.5)
        d = np.where(x > -3, d, np.float32(0))
        d = np.where(x < 3, d, np.float32(1))
        return ((grad * d).astype(self_.dtype),)


def hardswish_backward(grad_output: NDArray[Any], self_: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """As the second version, with -3 and 3 on the line: d = 0 unless self_ >= -3; 1 unless <= 3.

    Source: hicann/ops-nn activation/hard_swish_grad (docs/aclnnHardswishBackward.md, and
    op_kernel/arch35/hard_swish_grad.h for the order of the steps).
    """
    with np.errstate(all="ignore"):
        grad, x = grad_output.astype(np.float32), self_.astype(np.float32)
        d = x * np.float32(0.33333334) + np.float32(0.5)
        d = np.where(x >= -3, d, np.float32(0))
        d = np.where(x <= 3, d, np.float32(1))
        return ((grad * d).astype(self_.dtype),)


def max_pooling_grad(
    dy: NDArray[Any], x: NDArray[Any], y: NDArray[Any]
) -> tuple[NDArray[Any], ...]:
    """Dx = dy where x equals y, else +0; NaN equals nothing.

    Source: hicann/ops-nn experimental/pooling/max_pooling_grad (docs/aclnnMaxPoolingGrad.md).
    """
    return (np.where(x == y, dy, np.zeros((), dy.dtype)),)
