"""aclnnMaxPoolingGrad and its operator MaxPoolingGrad."""

from __future__ import annotations

from host.max_pooling_grad import definition, infershape, tiling_arch22

__all__ = ["definition", "infershape", "tiling_arch22"]
