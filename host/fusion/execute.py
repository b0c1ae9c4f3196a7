"""Execution of a graph: one launch per node, in order, on a runtime of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from host import acl, rt
from host.aclnn import get_workspace_size, run_executor
from host.executor import AclOpExecutor
from host.fusion.passes import registered_passes, run_pass
from host.runtime import current
from host.tensor import Tensor
from simulator.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from host.fusion.graph import Graph, Value
    from simulator.platforms import Platform
    from simulator.run import Run


@dataclass(frozen=True, eq=False)
class GraphResult:
    """Outputs of a graph in order, and the executor whose ``runs`` were launched."""

    outputs: list[NDArray[Any]]
    executor: AclOpExecutor

    @property
    def runs(self) -> list[Run]:
        """One Run per node."""
        return self.executor.runs


def execute(
    graph: Graph, arrays: Mapping[str, NDArray[Any]], platform: str | Platform
) -> GraphResult:
    """Apply the registered passes to ``graph``, then launch its nodes.

    Raises
    ------
    ConfigError
        If an input is missing or has another shape or data type than the graph says.
    AclnnError
        561003 when a node has no kernel for the device, 561002 when its tiling fails.
    AclError
        When the device faults; its cause is the simulator's error at the kernel's line.
    """
    with acl.Runtime(platform, raise_on_error=True) as runtime:
        for fusion_pass in registered_passes():
            run_pass(fusion_pass, graph, runtime.platform_info)
        acl.init()
        rt.set_device(0)
        _, stream = rt.create_stream()
        tensors: dict[Value, Tensor] = {}
        for value in graph.inputs:
            tensors[value] = Tensor.from_numpy(_checked(value, arrays), name=value.name)
        for value in graph.outputs:
            empty = np.zeros(value.desc.shape, value.desc.dtype.numpy)
            tensors.setdefault(value, Tensor.from_numpy(empty, name=value.name))
        _, size, executor = _plan(graph, tensors)
        workspace = rt.malloc(size, name="workspace")[1] if size else None
        run_executor("graph", workspace, size, executor, stream)
        rt.synchronize_stream(stream)
        if executor is None:
            raise acl.AclnnError("the graph made no executor", status=acl.Aclnn.INNER_NULLPTR)
        return GraphResult([tensors[value].to_numpy() for value in graph.outputs], executor)


@get_workspace_size("graph")
def _plan(graph: Graph, tensors: dict[Value, Tensor]) -> AclOpExecutor:
    plan = AclOpExecutor(current(), "graph", list(tensors.values()))
    for node in graph.nodes:
        for value in node.outputs:
            if value not in tensors:
                tensors[value] = plan.AllocTensor(value.desc.shape, value.desc.dtype)
        plan.launch(
            node.op_type,
            [tensors[value] for value in node.inputs],
            [tensors[value] for value in node.outputs],
        )
    return plan


def _checked(value: Value, arrays: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    if value.name not in arrays:
        raise ConfigError(
            f"the graph's input {value.name!r} is missing", legal=repr(value), got=list(arrays)
        )
    array = np.asarray(arrays[value.name])
    if array.shape != value.desc.shape or array.dtype != value.desc.dtype.numpy:
        raise ConfigError(
            f"the graph's input {value.name!r} is different",
            got=f"{list(array.shape)} {array.dtype}",
            legal=repr(value),
        )
    return np.ascontiguousarray(array)
