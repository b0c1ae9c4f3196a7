"""Fusion passes: a condition on a node and its platform, and what replaces the node.

Source of the frame: hicann/ops-nn
activation/p_relu_grad_update/op_graph/fusion_pass/prelu_grad_fusion_pass.h.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, Final

from host.errors import RegistrationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from host.fusion.graph import Graph, GraphNode, Value
    from host.platform_ascendc import PlatformInfo


class PassStatus(Enum):
    """What a pass did to a graph."""

    SUCCESS = "SUCCESS"
    GRAPH_NOT_CHANGED = "GRAPH_NOT_CHANGED"


class FusionPass(ABC):
    """One rewriting of one operator type."""

    name: ClassVar[str]
    pattern: ClassVar[str]
    """Operator type that the pass looks for."""

    def MeetRequirements(self, node: GraphNode, platform: PlatformInfo) -> bool:
        """Whether this node is to be replaced on this platform; yes unless overridden."""
        return True

    @abstractmethod
    def Replacement(self, graph: Graph, node: GraphNode) -> Mapping[Value, Value]:
        """Add the nodes that replace ``node``; returns its outputs and what stands for each."""


_PASSES: Final[dict[str, FusionPass]] = {}


def register_pass(fusion_pass: FusionPass) -> FusionPass:
    """Register a pass under its name and return it.

    Raises
    ------
    RegistrationError
        If the name is taken.
    """
    if fusion_pass.name in _PASSES:
        raise RegistrationError(f"fusion pass {fusion_pass.name} is registered twice")
    _PASSES[fusion_pass.name] = fusion_pass
    return fusion_pass


def registered_passes() -> tuple[FusionPass, ...]:
    """All passes, in order of registration."""
    from host.registry import load_operators

    load_operators()
    return tuple(_PASSES.values())


def run_pass(fusion_pass: FusionPass, graph: Graph, platform: PlatformInfo) -> PassStatus:
    """Apply a pass to every node that it fits."""
    status = PassStatus.GRAPH_NOT_CHANGED
    for node in [node for node in graph.nodes if node.op_type == fusion_pass.pattern]:
        if fusion_pass.MeetRequirements(node, platform):
            graph.replace(node, fusion_pass.Replacement(graph, node))
            status = PassStatus.SUCCESS
    return status
