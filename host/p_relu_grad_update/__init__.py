"""PReluGradUpdate: the element-wise half of the gradient of PReLU."""

from __future__ import annotations

from host.p_relu_grad_update import definition, tiling_arch22, tiling_arch35

__all__ = ["definition", "tiling_arch22", "tiling_arch35"]
