"""Small graphs of operators, passes that rewrite them, and their execution node by node."""

from __future__ import annotations

from host.fusion.graph import Graph, GraphNode, Value
from host.fusion.passes import FusionPass, PassStatus, register_pass, registered_passes, run_pass

__all__ = [
    "FusionPass",
    "Graph",
    "GraphNode",
    "PassStatus",
    "Value",
    "register_pass",
    "registered_passes",
    "run_pass",
]
