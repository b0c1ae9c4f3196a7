"""PReluGradFusionPass: on 950, PReluGrad becomes PReluGradUpdate and PReluGradReduce.

Source: hicann/ops-nn
activation/p_relu_grad_update/op_graph/fusion_pass/prelu_grad_fusion_pass.cpp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from host.fusion.passes import FusionPass, register_pass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from host.fusion.graph import Graph, GraphNode, Value
    from host.platform_ascendc import PlatformInfo

_TARGET: Final = "Ascend950"


class PReluGradFusionPass(FusionPass):
    """Splits the operator; the new nodes' outputs are described like features and weights."""

    name: ClassVar[str] = "PReluGradFusionPass"
    pattern: ClassVar[str] = "PReluGrad"

    def MeetRequirements(self, node: GraphNode, platform: PlatformInfo) -> bool:
        """Whether the short SoC name is Ascend950; nothing else is looked at."""
        return platform.short_soc_version == _TARGET

    def Replacement(self, graph: Graph, node: GraphNode) -> Mapping[Value, Value]:
        """Add the update node and, behind it, the node that sums its second output."""
        grads, features, weights = node.inputs
        update = graph.add(
            "PReluGradUpdate",
            grads,
            features,
            weights,
            outputs=(features.desc, features.desc),
        )
        dx, updates = update.outputs
        reduce = graph.add(
            "PReluGradReduce", grads, features, weights, updates, outputs=(weights.desc,)
        )
        return dict(zip(node.outputs, (dx, *reduce.outputs), strict=True))


PRELU_GRAD_FUSION_PASS: Final = register_pass(PReluGradFusionPass())
