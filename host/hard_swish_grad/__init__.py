"""aclnnHardswishBackward and its operator HardSwishGrad."""

from __future__ import annotations

from host.hard_swish_grad import definition, infershape, tiling

__all__ = ["definition", "infershape", "tiling"]
