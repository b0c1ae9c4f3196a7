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


def prelu_backward(
    grad_output: NDArray[Any], self_: NDArray[Any], weight: NDArray[Any]
) -> tuple[NDArray[Any], ...]:
    """grad_input = self_ > 0 ? grad_output : w * grad_output, with w of the channel, axis 1.

    grad_weight = sum of self_ * grad_output where self_ is not above 0. Products are rounded to the
    element type; their sum, here in double, is rounded once more.

    Source: hicann/ops-nn activation/p_relu_grad_update (docs/aclnnPreluBackward.md, and
    op_kernel/arch35/prelu_grad_update_dag.h for the roundings).
    """
    several = weight.size > 1
    w = weight.reshape(-1, *[1] * (self_.ndim - 2)) if several else weight.reshape(())
    axes = tuple(axis for axis in range(self_.ndim) if not several or axis != 1)
    dtype = self_.dtype
    with np.errstate(all="ignore"):
        grad = np.broadcast_to(grad_output, self_.shape).astype(np.float32)
        product = (w.astype(np.float32) * grad).astype(dtype)
        update = (self_.astype(np.float32) * grad).astype(dtype)
        positive = self_ > 0
        grad_input = np.where(positive, grad.astype(dtype), product)
        total = np.where(positive, np.zeros((), dtype), update).astype(np.float64).sum(axis=axes)
        grad_weight = (
            np.asarray(total).astype(dtype).reshape(weight.size if several else weight.shape)
        )
    return grad_input, grad_weight
