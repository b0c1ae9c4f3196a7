"""aclnnPreluBackward, and PReluGrad, the operator that stands for it in a graph."""

from __future__ import annotations

from host.prelu_backward import definition, fusion_pass, infershape

__all__ = ["definition", "fusion_pass", "infershape"]
