"""aclnnHardswishBackwardV2 and its operator HardSwishGradV2."""

from __future__ import annotations

from host.hard_swish_grad_v2 import definition, infershape, tiling_arch22, tiling_arch35

__all__ = ["definition", "infershape", "tiling_arch22", "tiling_arch35"]
