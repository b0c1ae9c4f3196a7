"""Cases of fusion passes: what they make of a graph of one node on some SoC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from host.cases.runner import CaseUnsupportedError, Outcome, case_kind, compare
from host.fusion import Graph, PassStatus, registered_passes, run_pass
from host.platform_ascendc import PlatformInfo
from host.registry import op_def

if TYPE_CHECKING:
    from collections.abc import Mapping


@case_kind("fusion")
def fusion(case: Mapping[str, Any]) -> Outcome:
    """Status of the passes that look for the node's type, and the nodes that are left."""
    given = case["input"]
    op_type = given["node"]
    platform = PlatformInfo(short_soc_version=given["short_soc_version"])
    passes = [p for p in registered_passes() if p.pattern == op_type]
    if not passes:
        raise CaseUnsupportedError(f"a fusion pass for {op_type}")
    graph = Graph()
    inputs = [graph.input(p.name, given[p.name], given["dtype"]) for p in op_def(op_type).inputs]
    graph.set_outputs(*graph.add(op_type, *inputs).outputs)
    statuses = [run_pass(p, graph, platform) for p in passes]
    changed = PassStatus.SUCCESS in statuses
    status = PassStatus.SUCCESS if changed else PassStatus.GRAPH_NOT_CHANGED
    got = {"status": status.value, "nodes_after": graph.op_types()}
    return Outcome(got, compare(case["expect"], got))
