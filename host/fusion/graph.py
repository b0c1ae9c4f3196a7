"""A graph of operators: nodes whose inputs are graph inputs or outputs of other nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from host.contexts import TensorDesc
from host.datatypes import as_data_type
from host.infershape import infer
from host.registry import op_def
from simulator.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(eq=False)
class Value:
    """A tensor that flows along the edges of a graph.

    ``producer`` is ``None`` for a graph input; ``index`` counts the outputs of the producer.
    """

    name: str
    desc: TensorDesc
    producer: GraphNode | None = None
    index: int = 0

    def __repr__(self) -> str:
        return f"<{self.name} {list(self.desc.shape)} {self.desc.dtype.name}>"


@dataclass(eq=False)
class GraphNode:
    """One operator: its type, a name that is unique in the graph, what it reads and makes."""

    op_type: str
    name: str
    inputs: list[Value]
    outputs: list[Value] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<{self.name}: {self.op_type}>"


class Graph:
    """Nodes in an order in which they can run.

    ::

        graph = Graph()
        grads, features = (graph.input(n, (2, 3, 4), "float32") for n in ("grads", "features"))
        weights = graph.input("weights", (3,), "float32")
        node = graph.add("PReluGrad", grads, features, weights)
        graph.set_outputs(*node.outputs)
    """

    def __init__(self) -> None:
        self.inputs: list[Value] = []
        self.nodes: list[GraphNode] = []
        self.outputs: list[Value] = []

    def input(self, name: str, shape: Sequence[int], dtype: object) -> Value:
        """Add a graph input of that shape and data type."""
        if any(value.name == name for value in self.inputs):
            raise ConfigError(f"the graph has an input {name!r} already", got=name)
        value = Value(name, TensorDesc(tuple(shape), as_data_type(dtype)))
        self.inputs.append(value)
        return value

    def add(
        self, op_type: str, *inputs: Value, outputs: Sequence[TensorDesc] | None = None
    ) -> GraphNode:
        """Add a node behind all others.

        Its outputs follow from the operator's infershape, or are ``outputs`` for an operator that
        has none.

        Raises
        ------
        RegistrationError
            If there is no such operator, or no infershape function where one is needed.
        InferShapeError
            If infershape fails.
        ConfigError
            If an input does not belong to the graph or their number is wrong.
        """
        definition = op_def(op_type)
        for value in inputs:
            self._require(value)
        if len(inputs) != len(definition.inputs):
            raise ConfigError(
                f"{op_type} takes {len(definition.inputs)} inputs",
                got=len(inputs),
                legal=", ".join(param.name for param in definition.inputs),
            )
        if outputs is None:
            inferred = infer(
                op_type, [v.desc.shape for v in inputs], [v.desc.dtype for v in inputs]
            )
            outputs = [TensorDesc(shape, dtype) for shape, dtype in inferred]
        node = GraphNode(op_type, self._name(op_type), list(inputs))
        node.outputs = [
            Value(f"{node.name}:{param.name}", desc, node, index)
            for index, (param, desc) in enumerate(zip(definition.outputs, outputs, strict=True))
        ]
        self.nodes.append(node)
        return node

    def set_outputs(self, *values: Value) -> None:
        """Say which values are the results of the graph."""
        for value in values:
            self._require(value)
        self.outputs = list(values)

    def replace(self, old: GraphNode, values: Mapping[Value, Value]) -> None:
        """Remove ``old`` and let what read its outputs read ``values[output]`` instead.

        Nodes that were added since take its place in the order.
        """
        position = self.nodes.index(old)
        makers = {value.producer for value in values.values()}
        added = self._ancestors(makers, stop=position)
        rest = [node for node in self.nodes if node is not old and node not in added]
        self.nodes = rest[:position] + added + rest[position:]
        for node in self.nodes:
            node.inputs = [values.get(value, value) for value in node.inputs]
        self.outputs = [values.get(value, value) for value in self.outputs]

    def op_types(self) -> list[str]:
        """Operator types of the nodes in order."""
        return [node.op_type for node in self.nodes]

    def text(self) -> str:
        """Return one line per node."""
        return "\n".join(
            f"{node.name} = {node.op_type}({', '.join(v.name for v in node.inputs)}) -> "
            + ", ".join(f"{v.name} {list(v.desc.shape)} {v.desc.dtype.name}" for v in node.outputs)
            for node in self.nodes
        )

    def run(self, arrays: Mapping[str, Any], platform: Any) -> list[Any]:
        """Execute the graph on ``arrays`` by input name: :func:`host.fusion.execute.execute`."""
        from host.fusion.execute import execute

        return execute(self, arrays, platform).outputs

    def _ancestors(self, makers: set[GraphNode | None], stop: int) -> list[GraphNode]:
        """Nodes behind position ``stop`` that the given ones need, in order."""
        needed = {node for node in makers if node is not None}
        for node in reversed(self.nodes[stop:]):
            if node in needed:
                needed |= {value.producer for value in node.inputs if value.producer is not None}
        return [node for node in self.nodes[stop + 1 :] if node in needed]

    def _name(self, op_type: str) -> str:
        taken = {node.name for node in self.nodes}
        name, number = op_type, 1
        while name in taken:
            name, number = f"{op_type}_{number}", number + 1
        return name

    def _require(self, value: Value) -> None:
        known = [*self.inputs, *(v for node in self.nodes for v in node.outputs)]
        if not any(value is other for other in known):
            raise ConfigError(f"{value!r} does not belong to the graph")
